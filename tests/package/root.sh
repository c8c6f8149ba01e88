# Sourced by the tests of what is released: a root that has a compiler, CMake, pkg-config and Python, and nothing that the
# library was built with. make_root.sh makes it once, in $cache.
root=$cache/bare_root

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

"$here/make_root.sh" "$cache" || fail "there is no bare root"
