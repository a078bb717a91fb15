#!/usr/bin/env bash
# Fetches Playwright's own headless shell where no Chromium came with the system.
set -euo pipefail
source "$(dirname "$0")/common.sh"

# The same names as webserv.browser.executable looks for.
for name in ${WEBSERV_CHROMIUM:+"$WEBSERV_CHROMIUM"} \
  chromium-headless-shell chrome-headless-shell chromium chromium-browser google-chrome; do
  if command -v "$name" >/dev/null 2>&1; then exit 0; fi
done
cache="${PLAYWRIGHT_BROWSERS_PATH:-$HOME/.cache/ms-playwright}"
if [[ "$(uname -s)" == Darwin ]]; then cache="${PLAYWRIGHT_BROWSERS_PATH:-$HOME/Library/Caches/ms-playwright}"; fi
if compgen -G "$cache/chromium_headless_shell-*/INSTALLATION_COMPLETE" >/dev/null; then exit 0; fi

say "No Chromium on this system; fetching Playwright's headless shell (once)"
with_deps=()
if command -v apt-get >/dev/null 2>&1 && [[ "$(id -u)" == 0 ]]; then with_deps=(--with-deps); fi
.venv/bin/playwright install ${with_deps[@]+"${with_deps[@]}"} --only-shell chromium ||
  fail "No browser could be installed." \
    "Install Chromium with the system's package manager, or make Playwright's download reachable."
