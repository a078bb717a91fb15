#!/usr/bin/env bash
# All of the set-up: system packages, .venv from the lock, a browser, the built-in site. Done parts are skipped.
set -euo pipefail
source "$(dirname "$0")/common.sh"

scripts/system_packages.sh
scripts/venv.sh
scripts/browser.sh
.venv/bin/webserv setup
