#!/usr/bin/env bash
# Lint, then the test suite. Arguments go to pytest.
set -euo pipefail
source "$(dirname "$0")/common.sh"

scripts/lint.sh

# What this machine can run may not be skipped (tests/conftest.py). The probe is deliberately not WebServ's own:
# if that one broke, tests would vanish quietly.
if [[ -z "${WEBSERV_REQUIRE+set}" && "$(uname -s)" == Linux ]]; then
  WEBSERV_REQUIRE=browser,shop
  if [[ "$(id -u)" == 0 ]] && unshare --mount --pid --net --fork true 2>/dev/null; then
    WEBSERV_REQUIRE+=,root
  fi
  export WEBSERV_REQUIRE
fi
say "pytest (must run here: ${WEBSERV_REQUIRE:-nothing in particular})"
exec .venv/bin/python -m pytest "$@"
