#!/usr/bin/env bash
# Makes the root in which releases are tried, CACHE_DIR/bare_root, unless it is there: a compiler, CMake, pkg-config, Python
# and curl, and nothing that the library was built with.
#   make_root.sh CACHE_DIR      needs root (chroot) and mmdebstrap
set -euo pipefail
export LC_ALL=C
mkdir -p "$1"
cache=$(realpath "$1")
root=$cache/bare_root
log=$cache/bare_root.log
needs=(g++ make cmake pkg-config python3 python3-numpy python3-pip python3-venv curl ca-certificates)

# Who comes while another makes it waits, and finds it.
exec 9>"$cache/bare_root.lock"
flock 9
[ ! -f "$root/ready" ] || [ "$(cat "$root/ready")" != "${needs[*]}" ] || exit 0
rm -rf "$root"
# From the release alone: updates change nothing of what is tried. Unpacked in one go, without waiting for the disk after every
# package: a root that the power fails on is made again.
if ! mmdebstrap --variant=minbase --mode=root --dpkgopt=force-unsafe-io \
    --include="$(IFS=, && echo "${needs[*]}")" bookworm "$root" http://deb.debian.org/debian >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "make_root.sh: there is no bare root, see $log" >&2
    exit 1
fi
echo "${needs[*]}" >"$root/ready"
