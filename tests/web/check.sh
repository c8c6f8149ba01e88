#!/usr/bin/env bash
# Builds the page, compares its numbers with the tools', opens it in headless Chromium: check.sh TOOLS SCRATCH
# scripts/setup test installs what it needs.
set -euo pipefail
tools=$1
scratch=$2/page
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
chromium=$(command -v chromium-headless-shell || command -v chromium || command -v chromium-browser || true)
if [ ! -e "$chromium" ]; then
    echo "the browser is missing: scripts/setup test installs it" >&2
    exit 1
fi
mkdir -p "$scratch"
scripts/web
for library in emscripten fmt nlohmann-json rapidjson boost protozero valijson chart.js dagre graphlib; do
    grep -q "$library" build/web/page/NOTICES || { echo "the page has no notice of $library" >&2 && exit 1; }
done
node tests/web/same_numbers.mjs "$tools" build/web/bin .
node tests/web/page.mjs "$chromium" build/packages build/web/page "$tools" "$scratch"
