#!/usr/bin/env bash
# Makes the package for Node.js twice, which gives the same bytes, and uses it: check.sh PROGRAM SCRATCH
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
# Assistants are answered by it as by the tools of this machine.
python3 tests/mcp/client.py models/onnx "$scratch/npm-test/node_modules/.bin/archsim" mcp
