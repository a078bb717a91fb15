"""How Chromium is started: its flags, and what a failed launch says of the cause."""

from __future__ import annotations

from urllib.parse import urlsplit

DISABLED_FEATURES = (
    # All frames of a page in one process: one CDP session sees them all, and a page with foreign frames costs less.
    "IsolateOrigins", "site-per-process",
    # What Playwright 1.65 switches off; Chromium heeds the last --disable-features only, so it is said again.
    "AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter", "PaintHolding", "ThirdPartyStoragePartitioning",
    "AvoidCorsURLLoaderRestartOnRedirect", "OptimizationHints", "NetworkTimeServiceQuerying", "PreconnectToSearch",
    "Translate", "DialMediaRouteProvider",
)  # fmt: skip

LAUNCH_FLAGS = (
    "--disable-gpu",
    "--font-render-hinting=none",
    "--disable-site-isolation-trials",
    # WebRTC sends UDP past a SOCKS proxy. Of Chromium 156's two flags of this policy only this one takes effect in
    # the headless shell.
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    f"--disable-features={','.join(DISABLED_FEATURES)}",
)
"""Besides Playwright's own, which already keep Chromium from syncing, updating, first-run pages and throttling."""


def launch_flags(proxy_host: str | None) -> list[str]:
    """The flags of a browser process.

    Args:
        proxy_host: Where the proxy of all its sessions is; None when they have none. Behind a proxy Chromium resolves
            no other name: pages' names are the proxy's to resolve, but WebRTC asks for those of its TURN servers
            itself, which would tell the host's name server whatever a page writes into a name.
    """
    if proxy_host is None:
        return list(LAUNCH_FLAGS)
    return [*LAUNCH_FLAGS, f"--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE {proxy_host}"]


def host_of(proxy_url: str | None) -> str | None:
    """The host that `proxy_url` names; None where there is no proxy."""
    return None if proxy_url is None else urlsplit(proxy_url).hostname


def is_sandbox_refused(exc: BaseException) -> bool:
    """Whether Chromium said that its sandbox cannot work here; in Playwright 1.65's words for its several reasons."""
    return "Chromium sandboxing failed" in str(exc)


def is_driver_gone(exc: BaseException) -> bool:
    """Whether Playwright's driver died rather than the browser that it started, of which there would be a log."""
    return "has been closed" in str(exc) and "Browser logs:" not in str(exc)
