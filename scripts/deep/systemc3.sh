#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# systemc3.sh JOBS: builds C++ and its tests against Debian 13's SystemC 3.0 in build/systemc3 and runs them.
# That library wants a newer C library than Debian 12's, so both come from a private apt root, and what is built here
# starts with the loader from there; without MPI, which nothing else tries. Exit status 3, and one line saying why, where it
# cannot be had.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/private_apt.sh
unavailable() { echo "SystemC 3.0: $*" >&2; exit 3; }
build=$PWD/build/systemc3
root=$build/apt/root

if ! [ -e "$root/complete" ]; then
    private_apt_open "$build/apt" trixie "$(dpkg --print-architecture)" || unavailable "$private_apt_why"
    private_apt_get libsystemc-dev libsystemc libc6 libstdc++6 libgcc-s1 || unavailable "$private_apt_why"
    touch "$root/complete"
fi
libraries=$(dirname "$(find "$root/usr/lib" -name libsystemc.so)")
loader=$(find "$libraries" -name 'ld-linux-*.so.*' | head -n 1)

cmake -G Ninja -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DFABRICVP_PYTHON=OFF -DFABRICVP_TESTS=ON -DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON \
    "-DSYSTEMC_INCLUDE_DIR=$root/usr/include" "-DSYSTEMC_LIBRARY=$libraries/libsystemc.so" \
    "-DCMAKE_EXE_LINKER_FLAGS=-Wl,--allow-shlib-undefined,--disable-new-dtags,-rpath,$libraries,--dynamic-linker,$loader"
cmake --build "$build" --parallel "$1"
ldd "$(find "$build/bin" -type f -executable | head -n 1)" | grep -F "$libraries/libsystemc" ||
    { echo "the programs do not use SystemC 3.0" >&2; exit 1; }
ctest --test-dir "$build" --output-on-failure --no-tests=error --parallel "$1"
