# SPDX-License-Identifier: Apache-2.0
# For sourcing, as root, in the tree's folder. A Debian 12 with little more than its base, to try things as on a bare machine:
#
#   debian_root ROOT LOG PACKAGE,...    debootstraps it, with these packages
#   debian_root_run ROOT COMMAND...     runs a command there, in a mount and process namespace of its own
#
# The first returns 3 when it cannot be had, and says in debian_root_why why. Archive, proxies and certificates are this
# machine's.
. scripts/private_apt.sh

debian_root() {
    local root=$1 mirror file
    [ "$(id -u)" = 0 ] || { debian_root_why="needs root, for chroot"; return 3; }
    mirror=$(private_apt_mirrors | head -n 1)
    [ -n "$mirror" ] || { debian_root_why="this machine's apt configuration names no Debian archive"; return 3; }
    debootstrap --variant=minbase --include="$3" bookworm "$root" "$mirror" >"$2" 2>&1 ||
        { debian_root_why="debootstrap failed: $(grep -m1 '^E:' "$2")"; return 3; }
    # What a person would have set up on such a machine: how the network is reached.
    rm -f "$root/etc/apt/sources.list"
    for file in /etc/apt/sources.list /etc/apt/sources.list.d /etc/apt/apt.conf.d /etc/apt/auth.conf.d /etc/apt/trusted.gpg.d \
        /etc/resolv.conf /etc/hosts /etc/pip.conf /usr/local/share/ca-certificates; do
        [ ! -e "$file" ] || { mkdir -p "$root/${file%/*}" && cp -rL "$file" "$root/${file%/*}/"; }
    done
}

debian_root_run() {
    local environment=(PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM="${TERM:-dumb}" LANG=C.UTF-8) name
    while read -r name; do
        case $name in
        *_proxy | *_PROXY | PIP_* | SSL_CERT_* | *_CA_BUNDLE | CCACHE_*) environment+=("$name=${!name}") ;;
        esac
    done < <(compgen -e)
    # A mount namespace of its own, so that nothing stays mounted whatever happens.
    unshare --mount --pid --fork --kill-child bash -c '
        mount -t proc proc "$0/proc" && mkdir -p "$0/dev/pts" "$0/dev/shm" &&
        mount -t devpts -o newinstance,ptmxmode=0666 devpts "$0/dev/pts" && mount -t tmpfs tmpfs "$0/dev/shm" &&
        root=$0 && exec chroot "$root" env -i "$@"' "$1" "${environment[@]}" "${@:2}"
}
