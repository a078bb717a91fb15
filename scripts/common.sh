# Sourced by the other scripts: the repository's root, messages, and which Python to use.
# shellcheck shell=bash

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

# mkfs.xfs, runc and losetup live in sbin, which a plain user's PATH lacks on Debian.
export PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"

say() { printf '==> %s\n' "$*" >&2; }
fail() {
  printf 'error: %s\n' "$1" >&2
  shift
  for line in "$@"; do printf 'hint: %s\n' "$line" >&2; done
  exit 1
}

usable_python() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

# Prints a Python >= 3.11, or nothing. $PYTHON wins, so that a bad choice is named rather than passed over.
find_python() {
  local candidate
  for candidate in ${PYTHON:+"$PYTHON"} python3 python3.11 python3.12 python3.13 python3.14; do
    if usable_python "$candidate"; then
      printf '%s\n' "$candidate"
      return
    fi
  done
}
