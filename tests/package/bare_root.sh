#!/usr/bin/env bash
# The Debian package where it is used: in a bare root. Programs are linked in every way that README names, and run.
#   bare_root.sh PACKAGE CACHE_DIR
set -euo pipefail
export LC_ALL=C
package=$1
cache=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
project=$(cd "$here/../.." && pwd)
# shellcheck source=tests/package/root.sh
source "$here/root.sh"

# Without dpkg-dev there is no package rather than one that names no dependencies.
if said=$(cmake -D CPACK_GENERATOR=DEB -D CPACK_TEMPORARY_DIRECTORY=/no/such/folder -D ARCHSIM_SHLIBDEPS=/no/such/program \
    -P "$project/cmake/debian_depends.cmake" 2>&1); then
    fail "a package is made without dpkg-shlibdeps"
fi
[[ $said == *"apt-get install dpkg-dev"* ]] || fail "no hint at dpkg-dev: $said"

depends=$(dpkg-deb --field "$package" Depends)
for library in libc6 libstdc++6; do
    [[ $depends == *"$library "* ]] || fail "the package does not depend on $library: $depends"
done
recommends=$(dpkg-deb --field "$package" Recommends)
for library in libsqlite3-0 libyaml-0-2; do
    [[ $recommends == *"$library"* ]] || fail "the package does not recommend $library: $recommends"
done
for library in protobuf onnx fmt; do
    [[ $depends != *"$library"* ]] || fail "the package depends on $library: $depends"
done

dev=$(only "$(dirname "$package")" "libarchsim-dev_*_$(dpkg-deb --field "$package" Architecture).deb")
for one in "$package" "$dev"; do
    stated=$(dpkg-deb --field "$one" Installed-Size)
    rm -rf "$root/extracted"
    dpkg-deb --extract "$one" "$root/extracted"
    found=$(du --summarize --apparent-size --block-size=1024 "$root/extracted" | cut -f1)
    [ $((10 * stated)) -gt $((9 * found)) ] && [ $((9 * stated)) -lt $((10 * found)) ] || fail "$one: Installed-Size is $stated, $found are installed"
done
rm -rf "$root/extracted"
in_root dpkg --purge libarchsim-dev archsim >/dev/null 2>&1 || true
rm -rf "$root/consumer" "$root/package.deb" "$root/dev.deb"
mkdir "$root/consumer"
cp "$package" "$root/package.deb"
cp "$dev" "$root/dev.deb"
cp "$here"/*.cpp "$here/CMakeLists.txt" "$project"/docs/examples/estimate.* "$root/consumer"
in_root dpkg --install /package.deb >/dev/null || fail "the package lacks a dependency in a root with $(cat "$root/ready")"

first_answer "the Debian package" in_root compare_models resnet50 --deployment edge
loaded=$(in_root ldd /usr/bin/compare_models | sed -E 's/^\s*(\S+).*/\1/; s/.*\///; s/\.so.*//' | sort | tr '\n' ' ')
[ "$loaded" = "ld-linux-x86-64 libc libgcc_s libm libstdc++ linux-vdso " ] || fail "a tool loads $loaded"

# Nothing to compile with until that package is there too.
[ -z "$(find "$root/usr/include" "$root/usr/lib" -path '*archsim*' \( -name '*.hpp' -o -name '*.a' -o -name '*.pc' \))" ] || fail "headers are in the package of the tools"
in_root dpkg --install /dev.deb >/dev/null || fail "libarchsim-dev"
in_root cmake -S /consumer -B /consumer/build >/dev/null || fail "find_package"
in_root cmake --build /consumer/build >/dev/null || fail "building with find_package"
expect " MACs" /consumer/build/consumer /usr/share/archsim/models/onnx/resnet18.onnx batch=1 height=224 width=224
for program in static_consumer shared_consumer; do
    expect estimated "/consumer/build/$program"
done
expect H100 /consumer/build/readme_program
in_root sh -c 'g++ -std=c++20 /consumer/estimate.cpp -o /consumer/by_pkg_config $(pkg-config --cflags --libs archsim) &&
    gcc -std=c99 /consumer/estimate.c -o /consumer/in_c $(pkg-config --cflags --libs archsim)' || fail "pkg-config"
expect H100 /consumer/by_pkg_config
expect latency /consumer/in_c
if [ -d "$root/usr/lib/python3/dist-packages/archsim" ]; then
    cp "$project/docs/examples/batch_sweep.py" "$root/consumer"
    expect H100 python3 /consumer/batch_sweep.py
fi

# No data folder at all: the devices are in the library, and a model is a file, packed as it is installed.
cp "$root/usr/share/archsim/models/onnx/resnet18.onnx.gz" "$root/consumer"
mv "$root/usr/share/archsim" "$root/consumer/data"
for program in static_consumer shared_consumer; do
    expect estimated "/consumer/build/$program" /consumer/resnet18.onnx.gz
    ! said=$(in_root "/consumer/build/$program" 2>&1) || fail "$program found a catalogue"
    [[ $said == *"no catalogue of models in /usr/local/share/archsim/models, /usr/share/archsim/models"* ]] ||
        fail "$program without a catalogue: $said"
done
expect H100 list_hardware_mappers --names devices
mv "$root/consumer/data" "$root/usr/share/archsim"
in_root dpkg --purge libarchsim-dev archsim >/dev/null
left=$(cd "$root/usr" && find . -path '*archsim*' | head -n 3)
[ -z "$left" ] || fail "the package is removed, and there is still $left"
