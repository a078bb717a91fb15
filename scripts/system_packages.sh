#!/usr/bin/env bash
# Installs the system packages that are missing, by apt on Debian and Ubuntu; elsewhere says what to install.
# Calls apt only when something is missing, so that a second run costs a few milliseconds.
set -euo pipefail
source "$(dirname "$0")/common.sh"

have() { command -v "$1" >/dev/null 2>&1; }
have_package() { [[ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null)" == ii* ]]; }
# Not grep -q: it stops reading at the first hit, and under pipefail the writer's SIGPIPE would count as "no".
have_library() { ldconfig -p 2>/dev/null | grep -F "$1" >/dev/null; }
have_venv() {
  local python
  python="$(find_python)"
  [[ -n "$python" ]] && "$python" -c 'import ensurepip, venv' >/dev/null 2>&1
}

if [[ "$(uname -s)" != Linux ]] || ! have apt-get || ! have dpkg-query; then
  lacking=()
  have_venv || lacking+=("Python 3.11 or newer with the venv module")
  if [[ "$(uname -s)" == Linux ]]; then
    have bwrap || lacking+=("bubblewrap (bwrap)")
    have mkfs.xfs || lacking+=("xfsprogs (mkfs.xfs)")
    have_library libatomic.so.1 || lacking+=("libatomic, which Playwright's driver is linked to")
    have unshare || lacking+=("util-linux (unshare, setpriv, losetup)")
  fi
  if ((${#lacking[@]})); then
    say "This system has no apt. Please install with its own package manager:"
    for item in "${lacking[@]}"; do say "  - $item"; done
  fi
  # Without the rest WebServ still runs (the process engine; `webserv doctor` says what each lack costs).
  have_venv || fail "There is no Python 3.11 or newer with the venv module." \
    "Install one (macOS: brew install python@3.12), or name it: PYTHON=/path/to/python3.12 make setup"
  exit 0
fi

required=()
optional=()
if [[ -z "$(find_python)" ]]; then
  required+=(python3 python3-venv)
elif ! have_venv; then
  required+=(python3-venv)
fi
have bwrap || required+=(bubblewrap)
have mkfs.xfs || required+=(xfsprogs)
have unshare && have setpriv || required+=(util-linux)
have losetup && have mount || required+=(mount)
have_library libatomic.so.1 || required+=(libatomic1) # Playwright's driver is linked to it
have "${WEBSERV_CHROMIUM:-chromium-headless-shell}" || have chromium || have google-chrome ||
  required+=(chromium-headless-shell)
have_package fonts-liberation || have_package fonts-liberation2 || optional+=(fonts-liberation)
have_package fonts-dejavu-core || optional+=(fonts-dejavu-core)
have runc || have crun || optional+=(runc)

if ((${#required[@]} + ${#optional[@]} == 0)); then
  exit 0
fi

as_root=()
if [[ "$(id -u)" != 0 ]]; then
  if have sudo && sudo -n true 2>/dev/null; then
    as_root=(sudo -n)
  else
    say "Not root, and sudo asks for a password. As root, this gives WebServ all it can use:"
    say "  apt-get install --no-install-recommends ${required[*]} ${optional[*]}"
    have_venv || fail "There is no Python 3.11 or newer with the venv module, and no right to install one." \
      "Run the command above, or name one: PYTHON=/path/to/python3.12 make setup"
    exit 0
  fi
fi

apt() {
  # A lock held by another apt (unattended upgrades on a new machine) is waited for, not failed on.
  ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@"
}
candidate() { apt-cache policy "$1" 2>/dev/null | grep '^ *Candidate: [^(]' >/dev/null; }

say "Updating the package lists"
apt update || { say "apt-get update failed; once more"; apt update; } ||
  say "apt-get update failed twice; going on with the lists that are here"

install=()
for package in "${required[@]}"; do
  if [[ "$package" == chromium-headless-shell ]] && ! candidate chromium-headless-shell; then
    # Ubuntu's chromium is a stub for a snap; there Playwright's own browser is taken (scripts/browser.sh).
    # shellcheck disable=SC1091
    if [[ "$(. /etc/os-release && echo "${ID:-}")" != ubuntu ]] && candidate chromium; then
      install+=(chromium)
    fi
    continue
  fi
  install+=("$package")
done
for package in "${optional[@]}"; do
  if candidate "$package"; then install+=("$package"); fi
done

if ((${#install[@]})); then
  say "Installing ${install[*]}"
  apt install --no-install-recommends "${install[@]}" >/dev/null ||
    fail "apt-get could not install: ${install[*]}" "See its message above; then run the command again."
fi

have_venv || fail "This release has no Python 3.11 or newer (found: $(python3 --version 2>&1))." \
  "Use Debian 12, Ubuntu 24.04 or newer, or name a newer one: PYTHON=/path/to/python3.12 make setup"
