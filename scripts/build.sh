#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# build.sh JOBS [CMAKE OPTION...]: the release build with the Python module for .venv's interpreter.
# The tests are configured when asked for once, and stay so.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=$1
shift
options=(-DFABRICVP_PYTHON=ON "-DPython_EXECUTABLE=$PWD/.venv/bin/python" "$@")
[ -f build/release/CMakeCache.txt ] || [[ " $* " == *FABRICVP_TESTS* ]] || options+=(-DFABRICVP_TESTS=OFF)
log=build/release/configure.log
mkdir -p build/release
cmake --preset release "${options[@]}" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }

# The package as .venv sees it: beside the compiled module, links to the Python sources, machines, firmware images, and what
# firmware and kernels outside of the tree are built with. They precede the build, in which the package compiles kernels.
# Links that are right stay: runs that are under way start further processes from here.
package=build/release/python/fabricvp
link() { [ "$(readlink "$2")" = "$1" ] || ln -sfn "$1" "$2"; }
mkdir -p "$package/sdk"
for entry in "$PWD"/python/fabricvp/*; do
    [ "${entry##*/}" = __pycache__ ] || link "$entry" "$package/${entry##*/}"
done
link "$PWD/configs" "$package/configs"
link "$PWD/scripts" "$package/linux"
link "$PWD/build/release/firmware" "$package/firmware"
# What firmware and kernels include, as an installed package has it: firmware's folders, and the ABI beside them.
for entry in "$PWD"/firmware/* "$PWD/abi"; do link "$entry" "$package/sdk/${entry##*/}"; done
find "$package" "$package/sdk" -maxdepth 1 -xtype l -delete  # of what is no longer in the tree

cmake --build build/release --parallel "$jobs"

# The library, headers and CMake package for plug-ins, as a wheel has them in its folder `cpp`; links to the tree.
CMAKE_INSTALL_MODE=ABS_SYMLINK cmake --install build/release --component sdk --prefix "$PWD/build/release/python" >/dev/null
find "$package/cpp" -xtype l -delete
