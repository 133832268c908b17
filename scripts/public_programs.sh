#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# public_programs.sh [--sources DIR | --rodinia URL --hip-examples URL] [OPTION...] [NAME...]: compiles public programs
# in CUDA and HIP by `fabricvp cc`, runs them on simulated Linux, and compares results with their CPU versions
# (public_programs.py has the options). DIR has the folders rodinia and hip-examples. Without it, both are cloned into
# build/public_programs, from GitHub or from the addresses that are given, and stay there. None is part of the project.
set -euo pipefail
here=$PWD
cd "$(dirname "$0")/.."
sources=
host=${GIT_HOST:-github.com}  # or a host that has the same repositories
declare -A address=([rodinia]=https://$host/yuhc/gpu-rodinia [hip-examples]=https://$host/ROCm/HIP-Examples)
others=()
while [ $# -gt 0 ]; do
    case $1 in
        --sources | --rodinia | --hip-examples | --out)
            [ $# -ge 2 ] || { echo "public_programs.sh: $1 needs a value" >&2; exit 2; } ;;&
        --sources) sources=$(cd "$here" && cd "$2" && pwd) || exit 2; shift 2 ;;
        --rodinia | --hip-examples) address[${1#--}]=$2; shift 2 ;;
        --out) others+=(--out "$(cd "$here" && realpath -m -- "$2")"); shift 2 ;;
        *) others+=("$1"); shift ;;
    esac
done
if [ -z "$sources" ]; then
    sources=build/public_programs
    for suite in rodinia hip-examples; do
        [ -d "$sources/$suite" ] && continue
        mkdir -p "$sources"
        git clone --quiet --depth 1 "${address[$suite]}" "$sources/$suite" ||
            { echo "public_programs.sh: ${address[$suite]} cannot be cloned: --sources DIR names a copy" >&2; exit 2; }
    done
fi
exec .venv/bin/python scripts/public_programs.py --sources "$sources" "${others[@]}"
