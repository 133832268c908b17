# SPDX-License-Identifier: Apache-2.0
# For sourcing. Packages of another Debian suite or architecture without touching the system: a private apt root that
# takes mirror, proxies and keys from the machine's own apt configuration.
#
#   private_apt_open FOLDER SUITE ARCHITECTURE    makes the root and reads the package lists
#   private_apt_get PACKAGE...                    unpacks packages (no dependencies) into FOLDER/root
#
# Both return 3 when it cannot be had, and say in private_apt_why why.

private_apt_keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# Base addresses of the Debian archives that this machine uses, the main one first.
private_apt_mirrors() {
    apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null |
        awk '$3 == "main" && $2 !~ /-security|-updates|-backports/ && !seen[$1]++ { print $1 }'
}

private_apt() {
    local f=$private_apt_folder
    "$1" -q -o "Dir::Etc::sourcelist=$f/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=/dev/null \
        -o "Dir::State::lists=$f/lists" -o "Dir::State::status=$f/status" -o "Dir::Cache=$f/cache" \
        -o "APT::Architecture=$private_apt_architecture" -o "APT::Architectures=$private_apt_architecture" \
        -o Acquire::Languages=none -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false \
        -o APT::Sandbox::User=root -o Debug::NoLocking=1 "${@:2}"
}

private_apt_open() {
    private_apt_folder=$1
    private_apt_architecture=$3
    mkdir -p "$1/lists/partial" "$1/cache/archives/partial" "$1/root"
    : >"$1/status"
    [ -r "$private_apt_keyring" ] || { private_apt_why="no keyring $private_apt_keyring (package debian-archive-keyring)"; return 3; }
    local mirror
    while read -r mirror; do
        echo "deb [signed-by=$private_apt_keyring] $mirror $2 main" >"$1/sources.list"
        private_apt apt-get -o APT::Update::Error-Mode=any update >"$1/update.log" 2>&1 && return 0
    done < <(private_apt_mirrors)
    [ -s "$1/sources.list" ] || { private_apt_why="this machine's apt configuration names no Debian archive"; return 3; }
    private_apt_why="no Debian archive of this machine's apt configuration has $2 for $3: $(grep -m1 '^[EW]:' "$1/update.log")"
    return 3
}

private_apt_get() {
    local package archive
    for package in "$@"; do
        (cd "$private_apt_folder/cache/archives" && private_apt apt-get download "$package") >"$private_apt_folder/get.log" 2>&1 ||
            { private_apt_why="package $package cannot be fetched: $(grep -m1 '^E:' "$private_apt_folder/get.log")"; return 3; }
        archive=$(ls -t "$private_apt_folder/cache/archives/${package}"_*.deb | head -n 1)
        dpkg-deb -x "$archive" "$private_apt_folder/root"
        rm -f "$archive"
    done
}
