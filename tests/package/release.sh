#!/usr/bin/env bash
# What scripts/release makes: its sizes, checksums and list of contents, and each artefact used where nothing else is.
#   release.sh FOLDER CACHE_DIR      FOLDER: for the artefacts; needs root and mmdebstrap, as .ci/run has them
set -euo pipefail
export LC_ALL=C
folder=$1
cache=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
project=$(cd "$here/../.." && pwd)
# shellcheck source=tests/package/root.sh
source "$here/root.sh"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Without dpkg-dev there is nothing, rather than a package that names no dependencies.
ln -s /usr/bin/dirname "$scratch/dirname"
said=$(PATH=$scratch /bin/bash "$project/scripts/release" "$scratch/none" 2>&1) && fail "released without dpkg-dev"
[[ $said == *"apt-get install dpkg-dev"* && ! -e $scratch/none ]] || fail "no hint at dpkg-dev: $said"

"$project/scripts/release" --no-page "$folder" || fail "scripts/release: see build/release/release/log"
package=$(only "$folder" 'archsim_*.deb')
tarball=$(only "$folder" '*.tar.gz')
wheel=$(only "$folder" '*.whl')
check_list "$folder"

"$here/bare_root.sh" "$package" "$cache"
"$here/workflow.sh" "$package" "$cache"

# The tarball, where there is nothing but the C library, not even a shell, and an empty environment.
in_empty() { env --ignore-environment "$(command -v chroot)" "$scratch/empty" "$@"; }
mkdir -p "$scratch/empty/anywhere" "$scratch/empty/lib64" "$scratch/empty/lib/x86_64-linux-gnu"
cp "$root/lib64/ld-linux-x86-64.so.2" "$scratch/empty/lib64"
cp "$root"/lib/x86_64-linux-gnu/lib{c,m}.so.6 "$scratch/empty/lib/x86_64-linux-gnu"
tar --extract --file "$tarball" --directory "$scratch/empty/anywhere"
place=$(cd "$scratch/empty" && echo anywhere/archsim-*)
[ -f "$scratch/empty/$place/NOTICES" ] || fail "the tarball has no notices"
first_answer "the tarball" in_empty "/$place/bin/compare_models" resnet50 --deployment edge
first_answer "the tarball" in_empty "/$place/bin/archsim" compare_models resnet50 --deployment edge
for tool in "$project"/cli/*.cpp; do
    tool=$(basename "$tool" .cpp)
    said=$(in_empty "/$place/bin/$tool" --help 2>&1) || fail "$tool: $said"
    [[ $said == *"$tool"* ]] || fail "$tool --help printed: $said"
done
! said=$(in_empty "/$place/bin/archsim" no_such_tool 2>&1) || fail "there is a tool no_such_tool"
[[ $said == *'no tool "no_such_tool"'*compare_models* ]] || fail "an unknown tool: $said"
said=$(in_empty "/$place/bin/archsim" $'compare_mo\e[2Jdels' 2>&1) || true
[[ $said != *$'\e'* ]] || fail "an unknown tool's name reaches the terminal as it is"
said=$(in_empty "/$place/bin/archsim" comparemodels 2>&1) || true
[[ $said == *'is compare_models meant?'* ]] || fail "the nearest tool is not named: $said"
needs_at_most GLIBC_2.34 "$scratch/empty/$place/bin/archsim"
# A link to the tool from elsewhere, and the folder moved.
mv "$scratch/empty/anywhere" "$scratch/empty/moved"
ln -s "/moved/$(basename "$place")/bin/profile_graph" "$scratch/empty/profile_graph"
said=$(in_empty /profile_graph resnet18 --top 1 2>&1) || fail "moved: $said"

# The wheel, where there are Python, NumPy and pip.
rm -rf "$root/wheel" "$root"/archsim-*.whl
cp "$wheel" "$root"
in_root python3 -m pip --quiet install --no-index --no-deps --root-user-action=ignore --target /wheel \
    "/$(basename "$wheel")" || fail "pip"
[[ $wheel == *-cp39-abi3-manylinux_2_34_* ]] || fail "$wheel is not for every Python since 3.9"
needs_at_most GLIBC_2.34 "$root/wheel/archsim/_archsim.abi3.so"
first_answer "the wheel" in_root PYTHONPATH=/wheel python3 -m archsim compare resnet50 --deployment edge
first_answer "the wheel" in_root PYTHONPATH=/wheel /wheel/bin/archsim compare resnet50 --deployment edge
first_answer "the wheel" in_root PYTHONPATH=/wheel python3 -m archsim.compare_models resnet50 --deployment edge
first_answer "the wheel" in_root PYTHONPATH=/wheel /wheel/bin/compare_models resnet50 --deployment edge
expect "sweep_design_space" PYTHONPATH=/wheel python3 -m archsim.sweep_design_space --help
# Exit status and errors are the tool's.
status=0
said=$(in_root PYTHONPATH=/wheel python3 -m archsim.compare_models resnet81 --deployment edge 2>&1) || status=$?
[[ $status = 2 && $said == *'"resnet81"'*resnet18* ]] || fail "an unknown model: status $status, $said"
cp "$project/docs/examples/batch_sweep.py" "$root"
expect H100 PYTHONPATH=/wheel python3 /batch_sweep.py
# The same bytes as the tools that it was made beside.
PYTHONPATH=$(realpath "$root/wheel") "$here/same_bytes.py" "$project" "$project/build/release/multicall/installed/archsim" -- \
    python3 -m archsim || fail "the wheel: see above"
rm -rf "$root/wheel" "$root"/archsim-*.whl "$root/batch_sweep.py"
"$here/install_page.sh" "$folder" "$cache"
ls -l "$folder"
