#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# peer_memory.sh SUITE VERSION SOURCE OUTPUT: builds the kernel module of SOURCE (firmware/linux/module/peer_memory.c) for
# Debian's riscv64 kernel VERSION (6.12.1+deb13-riscv64, say) of a suite, and puts it at OUTPUT. Headers and the kernel's
# own build tools come from the Debian archive. Exit status 3, and one line saying why, where it cannot be built.
set -euo pipefail
[ $# -eq 4 ] || { echo "usage: peer_memory.sh SUITE VERSION SOURCE OUTPUT" >&2; exit 2; }
suite=$1 version=$2 source=$(realpath "$3") output=$(realpath -m "$4")
. "$(dirname "$0")/private_apt.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unavailable() { echo "linux: no module peer_memory, without which RDMA adapters do not reach GPUs: $*" >&2; exit 3; }

compiler=""
for each in riscv64-unknown-elf-gcc riscv64-linux-gnu-gcc; do command -v $each >/dev/null && compiler=$each && break; done
[ -n "$compiler" ] || unavailable "no riscv64-unknown-elf-gcc"
for each in make riscv64-linux-gnu-ld; do command -v $each >/dev/null || unavailable "no $each"; done

echo "linux: fetching headers of $version"
release=${version%-riscv64}
private_apt_open "$work/target" "$suite" riscv64 || unavailable "$private_apt_why"
private_apt_get "linux-headers-$version" "linux-headers-$release-common" || unavailable "$private_apt_why"
private_apt_open "$work/host" "$suite" "$(dpkg --print-architecture)" || unavailable "$private_apt_why"
private_apt_get "linux-kbuild-$release" libc6 || unavailable "$private_apt_why"

# The tools may be of a newer Debian than this one, so they get the C library of theirs.
kbuild=$work/target/root/usr/lib/linux-kbuild-$release
mkdir -p "$(dirname "$kbuild")"
cp -r "$work/host/root/usr/lib/linux-kbuild-$release" "$kbuild"
loader=$(find "$work/host/root/usr/lib" -path '*-linux-gnu*/ld-linux*.so*' | head -n 1)
wrap() {
    mv "$kbuild/scripts/$1" "$kbuild/scripts/$2.wrapped"
    printf '#!/bin/sh\nexec "%s" --library-path "%s" "%s" "$@"\n' "$loader" "$(dirname "$loader")" \
        "$kbuild/scripts/$2.wrapped" >"$kbuild/scripts/$2"
    chmod +x "$kbuild/scripts/$2"
}
wrap basic/fixdep basic/fixdep
wrap mod/modpost.real-lsb-64 mod/modpost

module=$(basename "$source" .c)
mkdir "$work/module"
cp "$source" "$work/module"
echo "obj-m := $module.o" >"$work/module/Kbuild"
# Without what the kernel's own debugger information would need.
make -s -C "$work/target/root/usr/src/linux-headers-$version" -f "../linux-headers-$release-common/Makefile" \
    M="$work/module" CC="$compiler" CONFIG_DEBUG_INFO_BTF_MODULES= modules >"$work/log" 2>&1 ||
    unavailable "$(grep -m1 -E 'error|Error' "$work/log")"
cp "$work/module/$module.ko" "$output"
