#!/usr/bin/env bash
# Makes a root in which releases are made or tried, unless it is there; needs root (chroot) and mmdebstrap.
#   make_root.sh CACHE_DIR              CACHE_DIR/bare_root: a compiler, CMake, pkg-config, Python and curl, and nothing that the
#                                       library was built with
#   make_root.sh CACHE_DIR arm64        CACHE_DIR/arm64_root: what programs for 64-bit Arm are compiled with (cmake/arm64.cmake),
#                                       unpacked, and which versions of its libraries have which symbols
#   make_root.sh CACHE_DIR arm64_bare   CACHE_DIR/arm64_bare_root: Debian with Python for 64-bit Arm, which qemu runs
#                                       (minutes; scripts/setup arm64)
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$1"
cache=$(realpath "$1")
through=()
case ${2:-} in
arm64)
    root=$cache/arm64_root
    needs=(libc6 libgcc-s1 libstdc++6 zlib1g-dev libpython3.11-dev)
    # No program of it runs while it is made: this machine cannot. For dpkg-shlibdeps it is a package that was built.
    # shellcheck disable=SC2016
    how=(--variant=extract --architectures=arm64 --extract-hook='mkdir "$1/DEBIAN" && cd "$1/var/cache/apt/archives" &&
        for package in libc6_*.deb libgcc-s1_*.deb libstdc++6_*.deb; do
            dpkg-deb --info "$package" symbols || exit; done >"$1/DEBIAN/symbols"')
    ;;
arm64_bare)
    root=$cache/arm64_bare_root
    needs=(python3 python3-venv)
    how=(--variant=minbase --dpkgopt=force-unsafe-io --architectures=arm64 --skip=check/qemu)
    through=("$here/arm64.sh")
    ;;
*)
    root=$cache/bare_root
    needs=(g++ make cmake pkg-config python3 python3-numpy python3-pip python3-venv curl ca-certificates)
    how=(--variant=minbase --dpkgopt=force-unsafe-io)
    ;;
esac
log=$root.log

# Who comes while another makes it waits, and finds it.
exec 9>"$root.lock"
flock 9
[ ! -f "$root/ready" ] || [ "$(cat "$root/ready")" != "${needs[*]}" ] || exit 0
rm -rf "$root"
# From the release alone: updates change nothing of what is tried. Unpacked in one go, without waiting for the disk after every
# package: a root that the power fails on is made again.
if ! "${through[@]}" mmdebstrap "${how[@]}" --mode=root --include="$(IFS=, && echo "${needs[*]}")" \
    bookworm "$root" http://deb.debian.org/debian >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "make_root.sh: there is no root, see $log" >&2
    exit 1
fi
echo "${needs[*]}" >"$root/ready"
