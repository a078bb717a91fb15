#!/usr/bin/env bash
# Makes .venv from requirements/webserv.lock (hashes checked) and installs this tree into it, editable.
# A stamp inside .venv tells what it was made from; what has not changed is not done again. A .venv that still works
# is brought up to date in place; one that was moved, or whose Python went away, is made anew.
set -euo pipefail
source "$(dirname "$0")/common.sh"

if [[ -n "${PYTHON:-}" ]] && ! usable_python "$PYTHON"; then
  fail "PYTHON='$PYTHON' is no Python 3.11 or newer."
fi
python="$(find_python)"
[[ -n "$python" ]] || fail "There is no Python 3.11 or newer (tried python3, python3.11 … python3.14)." \
  "Install one, or name it: PYTHON=/path/to/python3.12 make setup"

lock_stamp="$(cksum <requirements/webserv.lock)"
tree_stamp="$(cksum <pyproject.toml)"
lock_file=.venv/.webserv-lock
tree_file=.venv/.webserv-tree

# A moved environment's programs still name the old folder in their first line.
works_here() { usable_python .venv/bin/python && grep -qF "$PWD/.venv" .venv/bin/activate && [[ -x .venv/bin/pip ]]; }

if ! works_here; then
  say "Making .venv with $("$python" --version)"
  rm -rf .venv
  "$python" -m venv .venv || fail "'$python -m venv .venv' failed." "On Debian and Ubuntu: apt-get install python3-venv"
fi
if [[ "$(cat "$lock_file" 2>/dev/null)" != "$lock_stamp" ]]; then
  say "Installing the locked requirements into .venv (once; about half a minute)"
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes \
    -r requirements/webserv.lock ||
    fail "The locked requirements could not be installed." "See pip's message above: is the package index reachable?"
  printf '%s\n' "$lock_stamp" >"$lock_file"
fi

if [[ "$(cat "$tree_file" 2>/dev/null)" != "$tree_stamp" ]]; then
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e . ||
    fail "WebServ itself could not be installed into .venv."
  printf '%s\n' "$tree_stamp" >"$tree_file"
fi
