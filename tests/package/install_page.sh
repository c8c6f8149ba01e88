#!/usr/bin/env bash
# Every command of docs/install.md, as its readers type it: those for Debian, for any Linux and for Python in the bare root beside
# what was released; those for Node.js are run by tests/npm/check.mjs.
#   install_page.sh FOLDER CACHE_DIR [arm64]      FOLDER: what scripts/release made; arm64: for 64-bit Arm, run by qemu, with the
#                                                 names of files that the page tells for it
set -euo pipefail
export LC_ALL=C
folder=$1
cache=$2
kind=${3:-}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
page=$here/../../docs/install.md
# shellcheck source=tests/package/root.sh
source "$here/root.sh"

# The commands below a heading that begins so.
commands() {
    awk -v wanted="## $1" '/^## /{on = index($0, wanted) == 1} /^```/{in_sh = on && $0 == "```sh"; next} on && in_sh' "$page" |
        if [ -n "$kind" ]; then sed 's/amd64/arm64/; s/x86_64/aarch64/'; else cat; fi
}
tr '\n' ' ' <"$page" | grep -q '`arm64` and `aarch64` in place of `amd64` and `x86_64`' ||
    fail "docs/install.md does not name the files for 64-bit Arm"
rm -rf "$root/install"
mkdir "$root/install"
cp "$folder"/* "$root/install"
ran=0
for heading in "On Debian" "On any Linux" "In Python"; do
    [ -n "$(commands "$heading")" ] || fail "docs/install.md has no commands below \"## $heading\""
    while read -r command; do
        # Without a network there is no NumPy to fetch, which these commands do without.
        said=$(in_root PIP_NO_INDEX=1 PIP_NO_DEPS=1 sh -c "cd /install && $command" 2>&1) || fail "$command: $said"
        [[ $command != *" compare "* || $said == *"Fastest: "* ]] || fail "$command printed: $said"
        [[ $command != *"latency_s"* || $said =~ ^0\.[0-9]+$ ]] || fail "$command printed: $said"
        ran=$((ran + 1))
    done < <(commands "$heading")
    in_root dpkg --purge archsim >/dev/null 2>&1 || true
done
[ "$ran" -ge 8 ] || fail "ran $ran commands of docs/install.md"
rm -rf "$root/install"
echo "docs/install.md: $ran commands"
