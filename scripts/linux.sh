#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes build/linux/Image and build/linux/initramfs.cpio: Debian 13's riscv64 kernel, and a busybox that gives a shell
# on the console, with lspci and the kernel's modules for virtio disks and ext4; and initramfs_rdma.cpio, the same with modules,
# libraries and tools of RDMA, and a subnet manager. Exit status 3, and one line saying why, where they cannot be had. Nothing of it is part of the project.
set -euo pipefail
cd "$(dirname "$0")/.."
out=build/linux
if [ "${1:-}" != --again ] && [ -s $out/Image ] && [ -s $out/initramfs.cpio ] && [ -s $out/initramfs_rdma.cpio ] &&
    [ $out/initramfs.cpio -nt scripts/linux.sh ] && [ $out/initramfs.cpio -nt scripts/initramfs.py ] &&
    [ -z "$(find tests/linux -newer $out/initramfs.cpio)" ]; then
    echo "linux: $out/Image, $out/initramfs.cpio and $out/initramfs_rdma.cpio are there already (scripts/linux.sh --again renews them)"
    exit 0
fi
. scripts/private_apt.sh
mkdir -p $out
unavailable() { echo "linux: $*" | tee $out/unavailable >&2; exit 3; }

private_apt_open "$PWD/$out/apt" trixie riscv64 || unavailable "$private_apt_why"
kernel=$(private_apt apt-cache depends linux-image-riscv64 | sed -n 's/^ *Depends: *\(linux-image-[0-9].*\)$/\1/p' | head -n 1)
[ -n "$kernel" ] || unavailable "the archive has no linux-image-riscv64"
tools="busybox-static pciutils libpci3 libkmod2 libudev1 libcap2 libzstd1 liblzma5 libssl3t64 zlib1g libc6"
tools="$tools libibverbs1 ibverbs-providers ibverbs-utils perftest librdmacm1t64 libibumad3 libnl-3-200 libnl-route-3-200"
tools="$tools opensm libopensm9 libosmcomp5 libosmvendor5 libwrap0 infiniband-diags libibmad5 libibnetdisc5t64 libibverbs-dev"
echo "linux: fetching $kernel and $tools"
private_apt_get "$kernel" $tools || unavailable "$private_apt_why"

# A program of ours that checks what RDMA adapters do, where there is a compiler for it.
rm -f $out/verbs_check
if command -v riscv64-linux-gnu-gcc >/dev/null; then
    riscv64-linux-gnu-gcc -O2 -Wall -Wextra -std=gnu11 -I $out/apt/root/usr/include tests/linux/*.c -o $out/verbs_check \
        "$(ls $out/apt/root/usr/lib/*/libibverbs.so.1)" -Wl,--allow-shlib-undefined
fi

image=$out/apt/root/boot/vmlinux-${kernel#linux-image-}
[ "$(dd if="$image" bs=1 skip=56 count=4 status=none | tr -d '\0')" = $'RSC\x05' ] || unavailable "$image is no uncompressed RISC-V Image"
python3 scripts/initramfs.py $out/apt/root $out/initramfs.cpio.part
python3 scripts/initramfs.py $out/apt/root $out/initramfs_rdma.cpio.part rdma $out/verbs_check
cp "$image" $out/Image
mv $out/initramfs_rdma.cpio.part $out/initramfs_rdma.cpio
mv $out/initramfs.cpio.part $out/initramfs.cpio
rm -f $out/unavailable
ls -l $out/Image $out/initramfs.cpio $out/initramfs_rdma.cpio
