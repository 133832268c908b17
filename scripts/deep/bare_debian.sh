#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bare_debian.sh [TARGET...]: debootstraps Debian 12 (plus make and git) into build/bare/root, clones the committed
# state of this tree into it, and there runs `make TARGET` for each target (default: demo test) as root.
# The archive, proxies and certificates are this machine's. Exit status 3 where it cannot be had.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ $# -gt 0 ] || set -- demo test
unavailable() { echo "bare Debian: $*" >&2; exit 3; }
[ "$(id -u)" = 0 ] || unavailable "needs root, for chroot"
. scripts/deep/debian_root.sh

bare=$PWD/build/bare
root=$bare/root
rm -rf "$bare"
mkdir -p "$bare"
debian_root "$root" "$bare/debootstrap.log" make,git || unavailable "$debian_root_why"
git clone -q --no-local --no-hardlinks . "$root/root/fabricvp"

for target in "$@"; do
    echo "bare Debian: make $target"
    start=$SECONDS
    debian_root_run "$root" make -C /root/fabricvp "$target" </dev/null 2>&1 | tee "$bare/$target.log"
    echo "bare Debian: make $target took $((SECONDS - start)) s"
done
