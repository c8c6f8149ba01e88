#!/usr/bin/env bash
# Copies with notes in ONNX Runtime, which checks types and shapes of the whole graph before it makes a session, and in the
# checker of the ONNX package:   check.sh TOOLS SCRATCH MODEL...
# scripts/setup measure installs the runtime, scripts/setup test the checker.
set -euo pipefail
tools=$1
scratch=$2/annotate
shift 2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
modules=$here/../../build/packages/onnxruntime/node_modules
if [ ! -d "$modules/onnxruntime-node" ]; then
    echo "ONNX Runtime is missing: scripts/setup measure installs it" >&2
    exit 1
fi
rm -rf "$scratch"
mkdir -p "$scratch"
for model in "$@"; do
    "$tools/analyze_graph_mapping" "$model" --hardware H100 --precision fp16 --annotate "$scratch/$(basename "$model" .onnx).onnx" \
        --output "$scratch/report.txt"
done
/usr/bin/python3 "$here/check_onnx.py" "$scratch"/*.onnx
node "$here/load.mjs" "$modules" "$scratch"/*.onnx
