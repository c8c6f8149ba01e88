#!/usr/bin/env bash
# Makes HTML reports with the tools and reads them in headless Chromium: check.sh TOOLS SCRATCH
# scripts/setup test installs the browser and its driver.
set -euo pipefail
tools=$1
shots=$2/html
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
modules=$here/../../build/packages/browser/node_modules
chromium=$(command -v chromium-headless-shell || command -v chromium || command -v chromium-browser || true)
for needed in "$chromium" "$(command -v node || true)" "$modules/playwright-core" "$modules/axe-core"; do
    if [ ! -e "$needed" ]; then
        echo "the browser or its driver is missing: scripts/setup test installs them" >&2
        exit 1
    fi
done
mkdir -p "$shots"
"$tools/compare_models" resnet50 --deployment edge --output "$shots/compare_models.html"
"$tools/compare_architectures" resnet18 --output "$shots/compare_architectures.html"
"$tools/analyze_comprehensive" resnet50 --hardware A100 --precision fp16 --batch-sizes 1,8,32 --max-latency 1ms \
    --output "$shots/analyze_comprehensive.html"
"$tools/analyze_batch" mobilenet_v2 --hardware A100 KPU-T64 --output "$shots/analyze_batch.html"
"$tools/sweep_design_space" resnet18 --hardware A100 TPU-v4 --vary bandwidth=0.5x..2x:8 --pareto latency energy \
    --sensitivity latency --output "$shots/sweep_design_space.html"
"$tools/explain_difference" resnet50 --hardware H100 A100 --output "$shots/explain_difference.html"
"$tools/compare_models" llama-3-8b --hardware H100 T4 --precision fp16 --prompt-tokens 512 --generate-tokens 128 \
    --output "$shots/language_model.html"
"$tools/profile_graph" resnet18 --output "$shots/profile_graph.html"
"$tools/size_service" llama-3-8b --hardware H100 L4 --rate 4 --ttft-p99 1s --output "$shots/size_service.html"
"$tools/local_models" --on "RTX 4090" --top 20 --output "$shots/local_models.html"
node "$here/report_page.mjs" "$modules" "$chromium" "$shots" "$shots"/*.html
