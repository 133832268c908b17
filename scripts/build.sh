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
package=build/release/python/fabricvp
mkdir -p "$package"
find "$package" -maxdepth 1 -type l -delete
for entry in "$PWD"/python/fabricvp/*; do
    [ "${entry##*/}" = __pycache__ ] || ln -s "$entry" "$package/"
done
ln -sfn "$PWD/configs" "$package/configs"
ln -sfn "$PWD/scripts" "$package/linux"
ln -sfn "$PWD/build/release/firmware" "$package/firmware"
# What firmware and kernels include, as an installed package has it: firmware's folders, and the ABI beside them.
rm -rf "$package/sdk"
mkdir "$package/sdk"
ln -s "$PWD"/firmware/* "$PWD/abi" "$package/sdk/"

cmake --build build/release --parallel "$jobs"

# The library, headers and CMake package for plug-ins, as a wheel has them in its folder `cpp`; links to the tree.
rm -rf "$package/cpp"
CMAKE_INSTALL_MODE=ABS_SYMLINK cmake --install build/release --component sdk --prefix "$PWD/build/release/python" >/dev/null
