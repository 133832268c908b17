#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# setup.sh [PURPOSE...]: installs the Debian packages of each purpose that are missing (packages.txt), and for the
# purpose "build" makes the virtual environment .venv. Does nothing, quickly, when everything is there.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- build test

fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }
there() { installed "$1" || apt-cache show "$1" >/dev/null 2>&1; }
missing_packages() {
    local purposes=" $1 " purpose package when
    while read -r purpose package when; do
        [[ "$purposes" == *" $purpose "* && "${when/#unless */where-available}" == "$2" ]] || continue
        installed "$package" || { [[ $when == unless* ]] && there "${when#unless }"; } || echo "$package"
    done < <(grep -v '^#' scripts/packages.txt) | sort -u
}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"
    elif command -v sudo >/dev/null; then sudo --preserve-env=http_proxy,https_proxy,no_proxy,DEBIAN_FRONTEND "$@"
    else fail "neither root nor sudo; have these packages installed, then try again: ${missing[*]}"
    fi
}

command -v dpkg-query >/dev/null || fail "this is not a Debian system; install the equivalents of scripts/packages.txt by hand"
# Packages that only some suites have: those that the archive offers.
available() { local package; for package in "$@"; do ! apt-cache show "$package" >/dev/null 2>&1 || echo "$package"; done; }
mapfile -t missing < <(missing_packages "$*" "")
mapfile -t optional < <(missing_packages "$*" where-available)
if [ ${#missing[@]} = 0 ] && [ ${#optional[@]} -gt 0 ] && { [ "$(id -u)" = 0 ] || command -v sudo >/dev/null; }; then mapfile -t missing < <(available "${optional[@]}"); fi
if [ ${#missing[@]} -gt 0 ]; then
    echo "setup: installing ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    # An archive that does not answer may have nothing to do with us, so only the installation decides.
    as_root apt-get -q update >"$log" 2>&1 || true
    mapfile -t -O ${#missing[@]} missing < <(comm -13 <(printf '%s\n' "${missing[@]}" | sort) <(available "${optional[@]}" | sort))
    as_root apt-get -q -y --no-install-recommends install "${missing[@]}" >>"$log" 2>&1 || { tail -n 40 "$log" >&2; fail "apt-get install failed"; }
    rm -f "$log"
fi

[[ " $* " == *" build "* ]] || exit 0

# The first Python that is new enough and can compile extensions; Debian's own is the one that packages.txt equips.
usable() { command -v "$1" >/dev/null && "$1" -c 'import sys, venv, ensurepip, sysconfig, os
sys.exit(not (sys.version_info >= (3, 11) and os.path.exists(sysconfig.get_path("include") + "/Python.h")))' 2>/dev/null; }
if ! { [ -x .venv/bin/python ] && .venv/bin/python -c 'import pip' 2>/dev/null; }; then
    for python in ${PYTHON:-} /usr/bin/python3 python3 python3.13 python3.12 python3.11; do
        if usable "$python"; then
            echo "setup: virtual environment .venv with $python"
            rm -rf .venv
            "$python" -m venv .venv
            break
        fi
    done
    [ -x .venv/bin/python ] || fail "no python3 of at least 3.11 with venv and headers was found; name one with PYTHON=…"
fi

# What the project needs at run time and for its tests, as pyproject.toml says it.
extras=()
[[ " $* " != *" check "* && ! -x .venv/bin/ruff ]] || extras+=(check)
[[ " $* " != *" docs "* && ! -x .venv/bin/mkdocs ]] || extras+=(docs)
[[ " $* " != *" wheel "* && ! -x .venv/bin/auditwheel ]] || extras+=(wheel)
[[ " $* " != *" browser "* && ! -x .venv/bin/playwright ]] || extras+=(browser)
[[ " $* " != *" slurm "* ]] || extras+=(slurm)
[[ " $* " != *" coverage "* && ! -x .venv/bin/gcovr ]] || extras+=(coverage)
mapfile -t wanted < <(.venv/bin/python - "${extras[@]}" <<'PY'
import sys, tomllib
project = tomllib.load(open("pyproject.toml", "rb"))["project"]
for requirement in project.get("dependencies", []) + [
        one for purpose in ("sweeps", "monitor", "notebook", "test", *sys.argv[1:]) for one in project.get("optional-dependencies", {}).get(purpose, [])]:
    print(requirement)
PY
)
stamp=.venv/fabricvp.installed
if [ "$(cat "$stamp" 2>/dev/null)" != "${wanted[*]}" ]; then
    echo "setup: installing ${wanted[*]} into .venv"
    [ -r "${PIP_CERT:-/dev/null}" ] || unset PIP_CERT
    .venv/bin/python -m pip install -q --disable-pip-version-check "${wanted[@]}"
    printf '%s' "${wanted[*]}" >"$stamp"
fi

# The package runs from the release build's tree (build.sh lays it out).
.venv/bin/python - "$PWD/build/release/python" <<'PY'
import pathlib, sys, sysconfig
pathlib.Path(sysconfig.get_path("purelib"), "fabricvp_tree.pth").write_text(sys.argv[1] + "\n")
command = pathlib.Path(sys.prefix, "bin", "fabricvp")
command.write_text(f"#!{sys.prefix}/bin/python\nimport sys\nfrom fabricvp.__main__ import main\n"
                   "if __name__ == \"__main__\":  # experiments start processes that import this file\n    sys.exit(main())\n")
command.chmod(0o755)
PY
