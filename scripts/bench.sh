#!/usr/bin/env bash
# Runs every benchmark with the given arguments, one after another.
set -euo pipefail
source "$(dirname "$0")/common.sh"

for script in bench/[a-z]*.py; do
  [[ -e "$script" ]] || fail "There is no benchmark under bench/."
  say "$script $*"
  .venv/bin/python "$script" "$@"
done
