#!/usr/bin/env bash
# Format, lint and types; changes nothing.
set -euo pipefail
source "$(dirname "$0")/common.sh"

say "ruff format --check" && .venv/bin/ruff format --check .
say "ruff check" && .venv/bin/ruff check .
say "mypy" && .venv/bin/mypy
