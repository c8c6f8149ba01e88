# Sourced by the tests of what is released: a root that has a compiler, CMake, pkg-config and Python, and nothing that the
# library was built with; with kind=arm64 one with Python alone, for 64-bit Arm. make_root.sh makes it once, in $cache.
root=$cache/${kind:+${kind}_}bare_root
through=()
[ -z "${kind:-}" ] || through=("$here/$kind.sh")

fail() {
    echo "$(basename "$0"): $*" >&2
    exit 1
}
# Without /proc and with an empty environment, as little as a program can have.
in_root() { "${through[@]}" chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/ LC_ALL=C "$@"; }
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
# What a release is made of: its checksums and its list of contents; each artefact has 13 MB at most.
check_list() { # FOLDER
    (cd "$1" && sha256sum --quiet --check SHA256SUMS) || fail "a checksum is wrong"
    [ "$(wc -l <"$1/SHA256SUMS")" = "$(ls "$1" | grep -vc '^SHA256SUMS$')" ] || fail "a file has no checksum"
    python3 "$here/check_sbom.py" "$1" || fail "see above"
}
only() { # the one artefact of a kind: FOLDER PATTERN
    local file
    file=$(ls "$1"/$2)
    [ "$(stat --format=%s "$file")" -le 13000000 ] || fail "$file has more than 13 MB"
    echo "$file"
}
needs_at_most() { # the C library's newest version that a program asks for
    local newest
    newest=$("${OBJDUMP:-objdump}" --dynamic-syms "$2" | grep -o 'GLIBC_[0-9.]*' | sort --version-sort | tail -1)
    [ -n "$newest" ] || fail "$2 asks for no C library"
    [ "$(printf '%s\n' "$newest" "$1" | sort --version-sort | tail -1)" = "$1" ] || fail "$2 needs $newest"
}

"$here/make_root.sh" "$cache" ${kind:+"${kind}_bare"} || fail "there is no bare root"
