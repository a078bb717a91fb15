"""Brings URLs to one form, so that two of them can be compared."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

_DEFAULT_PORTS = {"http": 80, "https": 443}


def origin_and_path(url: str) -> str:
    """Scheme, host, port and path of `url`: no capitals, default port, closing slash or escapes."""
    parts = urlsplit(url.strip())
    scheme = parts.scheme.lower()
    try:
        port = parts.port
    except ValueError:  # "http://host:port" with a port that is no number
        port = None
    host = (parts.hostname or "") + (f":{port}" if port and port != _DEFAULT_PORTS.get(scheme) else "")
    return f"{scheme}://{host}{unquote(parts.path).rstrip('/')}"


def query_pairs(url: str, *, ignore: Iterable[str] = ()) -> tuple[tuple[str, str], ...]:
    """The query's pairs, sorted; blank values count, `ignore` names those that do not."""
    left_out = frozenset(ignore)
    pairs = parse_qsl(urlsplit(url.strip()).query, keep_blank_values=True)
    return tuple(sorted(pair for pair in pairs if pair[0] not in left_out))


def normalize_url(url: str, *, ignore: Iterable[str] = ()) -> str:
    """`url` without fragment, with its query sorted; for comparison, not for loading."""
    pairs = query_pairs(url, ignore=ignore)
    return origin_and_path(url) + (f"?{urlencode(pairs)}" if pairs else "")
