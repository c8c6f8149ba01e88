#!/bin/sh
# Compresses graphs, the same bytes every time: pack_models.sh FROM TO
set -eu
mkdir -p "$2"
rm -f "$2"/*.onnx "$2"/*.onnx.gz
cp "$1"/*.onnx "$2"
gzip --best --no-name "$2"/*.onnx
chmod 644 "$2"/*.onnx.gz
