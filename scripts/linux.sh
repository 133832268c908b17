#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# linux.sh [--again]: makes Image and initramfs.cpio in build/linux: Debian's riscv64 kernel, and a busybox that gives a
# shell on the console, with lspci and the kernel's modules for virtio disks and ext4; and initramfs_rdma.cpio, the same
# with modules, libraries and tools of RDMA, and a subnet manager, and with our module peer_memory if it can be built;
# mpi.cpio has Open MPI, and opencl.cpio the loader of OpenCL's drivers, if the suite has them. sysroot has headers and libraries that programs may be
# linked with (`fabricvp cc -l`). Exit status 3, and one line saying why, where they
# cannot be had. Nothing of it is part of the project.
#   LINUX_OUT=FOLDER           in place of build/linux
#   LINUX_SUITE=NAME           the Debian suite; else trixie, or stable where trixie cannot be had
#   LINUX_IMAGE=FILE           a kernel of one's own in place of Debian's, which the modules must belong to
#   LINUX_INITRAMFS=FILE       an initramfs of one's own, for both; with LINUX_IMAGE, nothing is fetched
set -euo pipefail
scripts=$(cd "$(dirname "$0")" && pwd)
tests=$scripts/../tests/linux  # not where this is part of an installed package
module=$scripts/../firmware/linux/module/peer_memory.c
[ -r "$module" ] || module=$scripts/../sdk/linux/module/peer_memory.c
if [ -n "${LINUX_OUT:-}" ]; then
    out=$(mkdir -p "$LINUX_OUT" && cd "$LINUX_OUT" && pwd)
else
    cd "$scripts/.."
    out=build/linux
fi
for given in "${LINUX_IMAGE:-}" "${LINUX_INITRAMFS:-}"; do
    [ -z "$given" ] || [ -r "$given" ] || { echo "linux: $given (LINUX_IMAGE, LINUX_INITRAMFS) cannot be read" >&2; exit 2; }
done
is_image() { [ "$(dd if="$1" bs=1 skip=56 count=4 status=none | tr -d '\0')" = $'RSC\x05' ]; }
if [ -n "${LINUX_IMAGE:-}" ] && ! is_image "$LINUX_IMAGE"; then
    echo "linux: LINUX_IMAGE=$LINUX_IMAGE is no uncompressed RISC-V Image" >&2
    exit 2
fi
# Puts what the user has beside, or in place of, what has been made.
install_given() {
    [ -z "${LINUX_IMAGE:-}" ] || cp "$LINUX_IMAGE" "$out/Image"
    [ -z "${LINUX_INITRAMFS:-}" ] || { cp "$LINUX_INITRAMFS" "$out/initramfs.cpio"; cp "$LINUX_INITRAMFS" "$out/initramfs_rdma.cpio"; }
}
if [ -n "${LINUX_IMAGE:-}" ] && [ -n "${LINUX_INITRAMFS:-}" ]; then
    mkdir -p "$out/sysroot"
    install_given
    rm -f "$out/unavailable"
    ls -l "$out/Image" "$out/initramfs.cpio" "$out/initramfs_rdma.cpio"
    exit 0
fi
if [ "${1:-}" != --again ] && [ -z "${LINUX_SUITE:-}${LINUX_IMAGE:-}${LINUX_INITRAMFS:-}" ] &&
    [ -s "$out/Image" ] && [ -s "$out/initramfs.cpio" ] && [ -s "$out/initramfs_rdma.cpio" ] &&
    [ -d "$out/sysroot" ] && [ "$out/initramfs.cpio" -nt "$scripts/linux.sh" ] && [ "$out/initramfs.cpio" -nt "$scripts/initramfs.py" ] &&
    [ "$out/initramfs.cpio" -nt "$scripts/peer_memory.sh" ] && [ "$out/initramfs.cpio" -nt "$scripts/mpi_archive.py" ] && [ "$out/initramfs.cpio" -nt "$module" ] &&
    [ "$out/initramfs.cpio" -nt "$scripts/opencl_archive.py" ] &&
    { [ ! -d "$tests" ] || [ -z "$(find "$tests" -newer "$out/initramfs.cpio")" ]; } &&
    { [ ! -d "$tests" ] || [ -s "$out/verbs_check" ] || ! command -v riscv64-linux-gnu-gcc >/dev/null; }; then
    echo "linux: $out/Image, $out/initramfs.cpio and $out/initramfs_rdma.cpio are there already (--again renews them)"
    exit 0
fi
. "$scripts/private_apt.sh"
mkdir -p "$out"
unavailable() { echo "linux: $*" | tee "$out/unavailable" >&2; exit 3; }

# An archive between two updates has an index that is out of step with its packages: the next suite may be whole.
if [ -n "${LINUX_SUITE:-}" ]; then suites=$LINUX_SUITE; else suites="trixie stable"; fi
reasons=""
suite=""
for s in $suites; do
    if private_apt_open "$(cd "$out" && pwd)/apt" "$s" riscv64; then suite=$s; break; fi
    reasons="$reasons${reasons:+; }$private_apt_why"
done
[ -n "$suite" ] || unavailable "$reasons (LINUX_SUITE=NAME tries another suite)"
kernel=$(private_apt apt-cache depends linux-image-riscv64 | sed -n 's/^ *Depends: *\(linux-image-[0-9].*\)$/\1/p' | head -n 1)
[ -n "$kernel" ] || unavailable "the archive has no linux-image-riscv64"
rm -rf "$out/apt/root" # modules of an earlier kernel would stand beside this one's
mkdir -p "$out/apt/root"
tools="busybox-static pciutils libpci3 libkmod2 libudev1 libcap2 libzstd1 liblzma5 libssl3t64 zlib1g libc6"
tools="$tools libibverbs1 ibverbs-providers ibverbs-utils perftest librdmacm1t64 libibumad3 libnl-3-200 libnl-route-3-200"
tools="$tools opensm libopensm9 libosmcomp5 libosmvendor5 libwrap0 infiniband-diags libibmad5 libibnetdisc5t64 libibverbs-dev librdmacm-dev rdmacm-utils libgcc-s1"
echo "linux: fetching $kernel and $tools"
# From Linux 7 on, Debian's package of the kernel only depends on those that hold it and its modules.
parts=$(private_apt apt-cache depends "$kernel" | sed -n 's/^ *Depends: *\(linux-\(binary\|modules\)-[0-9].*\)$/\1/p')
private_apt_get "$kernel" $parts $tools || unavailable "$private_apt_why"

mpi="openmpi-bin openmpi-common libopenmpi40 libopenmpi-dev libpmix2t64 libevent-core-2.1-7t64 libevent-pthreads-2.1-7t64"
mpi="$mpi libhwloc15 libucx0 libfabric1 libmunge2"
echo "linux: fetching $mpi"
rm -f "$out/mpi.cpio"
if private_apt_get $mpi; then
    "${PYTHON:-python3}" "$scripts/mpi_archive.py" "$out/apt/root" "$out/mpi.cpio"
else
    echo "linux: no mpi.cpio, without which MPI programs do not run: $private_apt_why" >&2
fi

opencl="ocl-icd-libopencl1 libstdc++6 clinfo opencl-c-headers opencl-clhpp-headers"
echo "linux: fetching $opencl"
rm -f "$out/opencl.cpio" "$out/clinfo"
if private_apt_get $opencl; then
    "${PYTHON:-python3}" "$scripts/opencl_archive.py" "$out/apt/root" "$out/opencl.cpio"
    cp "$out/apt/root/usr/bin/clinfo" "$out/clinfo"
else
    echo "linux: no opencl.cpio, without which programs of libOpenCL do not run: $private_apt_why" >&2
fi

# A program of ours that checks what RDMA adapters do, where there is a compiler for it.
rm -f "$out/verbs_check"
if [ -d "$tests" ] && command -v riscv64-linux-gnu-gcc >/dev/null; then
    riscv64-linux-gnu-gcc -O2 -Wall -Wextra -std=gnu11 -I "$out/apt/root/usr/include" "$tests"/*.c -o "$out/verbs_check" \
        "$(ls "$out/apt/root/usr/lib/"*/libibverbs.so.1)" -Wl,--allow-shlib-undefined
fi

rm -f "$out/peer_memory.ko"
bash "$scripts/peer_memory.sh" "$suite" "${kernel#linux-image-}" "$module" "$out/peer_memory.ko" || [ $? -eq 3 ]

image=$out/apt/root/boot/vmlinux-${kernel#linux-image-}
[ -e "$image" ] || image=$out/apt/root/usr/lib/modules/${kernel#linux-image-}/vmlinuz
is_image "$image" || unavailable "$image is no uncompressed RISC-V Image"
"${PYTHON:-python3}" "$scripts/initramfs.py" "$out/apt/root" "$out/initramfs.cpio.part"
"${PYTHON:-python3}" "$scripts/initramfs.py" "$out/apt/root" "$out/initramfs_rdma.cpio.part" rdma "$out/verbs_check" \
    "$out/peer_memory.ko"
rm -rf "$out/sysroot"
mkdir -p "$out/sysroot/lib"
cp -r "$out/apt/root/usr/include" "$out/sysroot/include"
for library in ibverbs rdmacm; do
    cp "$(ls "$out/apt/root/usr/lib/"*/"lib$library.so.1")" "$out/sysroot/lib/lib$library.so"
done
if [ -s "$out/mpi.cpio" ]; then
    cp "$out/apt/root/usr/lib/"*/openmpi/include/{mpi,mpi_portable_platform}.h "$out/sysroot/include"
    cp "$(ls "$out/apt/root/usr/lib/"*/libmpi.so.40)" "$out/sysroot/lib/libmpi.so"
fi
[ ! -s "$out/opencl.cpio" ] || cp "$(ls "$out/apt/root/usr/lib/"*/libOpenCL.so.1)" "$out/sysroot/lib/libOpenCL.so"
cp "$image" "$out/Image"
mv "$out/initramfs_rdma.cpio.part" "$out/initramfs_rdma.cpio"
mv "$out/initramfs.cpio.part" "$out/initramfs.cpio"
install_given
rm -f "$out/unavailable"
ls -l "$out/Image" "$out/initramfs.cpio" "$out/initramfs_rdma.cpio"
