#!/usr/bin/env bash
# What scripts/release --arch arm64 makes, used under qemu: its sizes, checksums and list of contents, the page on installing in a
# bare root for 64-bit Arm, the same bytes as the tools of this machine, and a C++ program linked with the library.
#   release_arm64.sh PROGRAM FOLDER CACHE_DIR      PROGRAM: archsim of this machine; FOLDER: made where it is not there; needs root
# Not part of .ci/run: compiling takes 714 s of processor time, the root 175 s. What Arm has of its own, a char without a sign, the build
# by clang has there.
set -euo pipefail
export LC_ALL=C
program=$(realpath "$1")
folder=$(realpath --canonicalize-missing "$2")
cache=$(realpath "$3")
kind=arm64
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
project=$(cd "$here/../.." && pwd)
"$project/scripts/setup" arm64
[ -f "$folder/SHA256SUMS" ] || "$project/scripts/release" --arch arm64 "$folder"
# shellcheck source=tests/package/root.sh
source "$here/root.sh"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export OBJDUMP=aarch64-linux-gnu-objdump

package=$(only "$folder" 'archsim_*_arm64.deb')
tarball=$(only "$folder" '*-linux-aarch64.tar.gz')
wheel=$(only "$folder" '*-cp39-abi3-manylinux_2_34_aarch64.whl')
check_list "$folder"
depends=$(dpkg-deb --field "$package" Depends)
for library in "libc6 (>= 2.34)" "libstdc++6 (>= 12)" "libgcc-s1 (>="; do
    [[ ", $depends" == *", $library"* ]] || fail "the package depends on $depends"
done
[[ $depends != *cross* && $depends != *:* ]] || fail "the package depends on $depends"

"$here/install_page.sh" "$folder" "$cache" "$kind"

tar --extract --file "$tarball" --directory "$scratch"
portable=$(echo "$scratch"/archsim-*/bin/archsim)
mkdir "$scratch/wheel"
python3 -m zipfile --extract "$wheel" "$scratch/wheel"
needs_at_most GLIBC_2.34 "$portable"
needs_at_most GLIBC_2.34 "$scratch/wheel/archsim/_archsim.abi3.so"
"$here/same_bytes.py" "$project" "$program" -- qemu-aarch64-static -L "$root" "$portable"

# A program of this language, linked with the library of the package in both ways.
in_root dpkg --purge archsim >/dev/null 2>&1 || true
cp "$package" "$root/package.deb"
in_root dpkg --install /package.deb >/dev/null || fail "the package lacks a dependency in a root with $(cat "$root/ready")"
for how in "$root/usr/lib/libarchsim.a" "-L$root/usr/lib -larchsim"; do
    # shellcheck disable=SC2086
    aarch64-linux-gnu-g++ -std=c++20 -I "$root/usr/include" "$project/docs/examples/estimate.cpp" -o "$root/linked" $how -pthread
    expect H100 /linked
done
in_root dpkg --purge archsim >/dev/null
rm -f "$root/linked" "$root/package.deb"
ls -l "$folder"
