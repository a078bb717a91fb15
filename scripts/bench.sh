#!/usr/bin/env bash
# Runs every benchmark with the given arguments, one after another.
set -euo pipefail
source "$(dirname "$0")/common.sh"

for script in bench/[a-z]*.py; do
  # What has no main part is shared by the others.
  grep __main__ "$script" >/dev/null 2>&1 || continue
  say "$script $*"
  .venv/bin/python "$script" "$@"
done
