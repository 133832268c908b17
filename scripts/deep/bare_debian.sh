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
. scripts/private_apt.sh

bare=$PWD/build/bare
root=$bare/root
rm -rf "$bare"
mkdir -p "$bare"
mirror=$(private_apt_mirrors | head -n 1)
[ -n "$mirror" ] || unavailable "this machine's apt configuration names no Debian archive"
debootstrap --variant=minbase --include=make,git bookworm "$root" "$mirror" >"$bare/debootstrap.log" 2>&1 ||
    unavailable "debootstrap failed: $(grep -m1 '^E:' "$bare/debootstrap.log")"

# What a person would have set up on such a machine: how the network is reached.
rm -f "$root/etc/apt/sources.list"
for file in /etc/apt/sources.list /etc/apt/sources.list.d /etc/apt/apt.conf.d /etc/apt/auth.conf.d /etc/apt/trusted.gpg.d \
    /etc/resolv.conf /etc/hosts /etc/pip.conf /usr/local/share/ca-certificates; do
    [ ! -e "$file" ] || { mkdir -p "$root/${file%/*}" && cp -rL "$file" "$root/${file%/*}/"; }
done
environment=(PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM="${TERM:-dumb}" LANG=C.UTF-8)
while read -r name; do
    case $name in
    *_proxy | *_PROXY | PIP_* | SSL_CERT_* | *_CA_BUNDLE | CCACHE_*) environment+=("$name=${!name}") ;;
    esac
done < <(compgen -e)

git clone -q --no-local --no-hardlinks . "$root/root/fabricvp"

# A mount namespace of its own, so that nothing stays mounted whatever happens.
for target in "$@"; do
    echo "bare Debian: make $target"
    start=$SECONDS
    unshare --mount --pid --fork --kill-child bash -c '
        mount -t proc proc "$0/proc" && mkdir -p "$0/dev/pts" "$0/dev/shm" &&
        mount -t devpts -o newinstance,ptmxmode=0666 devpts "$0/dev/pts" && mount -t tmpfs tmpfs "$0/dev/shm" &&
        root=$0 && exec chroot "$root" env -i "$@"' \
        "$root" "${environment[@]}" make -C /root/fabricvp "$target" </dev/null 2>&1 | tee "$bare/$target.log"
    echo "bare Debian: make $target took $((SECONDS - start)) s"
done
