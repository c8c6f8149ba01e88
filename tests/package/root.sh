# Sourced by the tests of what is released: a root that has a compiler, CMake, pkg-config and Python, and nothing that the
# library was built with. It is made once, in $cache; needs root (chroot) and debootstrap.
root=$cache/bare_root
needs=(g++ make cmake pkg-config python3 python3-numpy python3-pip)

fail() {
    echo "$(basename "$0"): $*" >&2
    exit 1
}
# Without /proc and with an empty environment, as little as a program can have.
in_root() { chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/ LC_ALL=C "$@"; }
expect() { # what a command prints
    local wanted=$1
    shift
    said=$(in_root "$@" 2>&1) || fail "$*: $said"
    [[ $said == *"$wanted"* ]] || fail "$* printed: $said"
}
# A program that nobody ran before answers at once.
first_answer() { # WHAT COMMAND...
    local what=$1 started=${EPOCHREALTIME/./}
    shift
    said=$("$@" 2>&1) || fail "$what: $said"
    [[ $said == *"Hardware Comparison"* ]] || fail "$what printed: $said"
    local took=$(((${EPOCHREALTIME/./} - started) / 1000))
    echo "$what: first answer after $took ms"
    [ "$took" -lt 3000 ] || fail "$what: the first answer took $took ms"
}

if [ ! -f "$root/ready" ] || [ "$(cat "$root/ready")" != "${needs[*]}" ]; then
    rm -rf "$root"
    mkdir -p "$cache"
    debootstrap --variant=minbase bookworm "$root" >"$cache/bare_root.log" 2>&1 || fail "see $cache/bare_root.log"
    in_root DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends "${needs[@]}" \
        >>"$cache/bare_root.log" 2>&1 || fail "see $cache/bare_root.log"
    rm -f "$root"/var/cache/apt/archives/*.deb
    echo "${needs[*]}" >"$root/ready"
fi
