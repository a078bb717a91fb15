#!/usr/bin/env bash
# Renews requirements/webserv.lock: the newest releases that pyproject.toml admits, for every platform, with hashes.
# Give --upgrade to move packages that are already locked. uv is used for this only, from an environment of its own.
set -euo pipefail
source "$(dirname "$0")/common.sh"

tools="$(mktemp -d)"
trap 'rm -rf "$tools"' EXIT
"$(find_python)" -m venv "$tools"
"$tools/bin/pip" install --quiet --disable-pip-version-check uv
"$tools/bin/uv" pip compile pyproject.toml requirements/build.in --extra dev \
  --universal --python-version 3.11 --generate-hashes --no-emit-index-url --quiet \
  --custom-compile-command "make lock" --output-file requirements/webserv.lock "$@"
say "requirements/webserv.lock: $(grep -c '^[a-zA-Z]' requirements/webserv.lock) packages"
