#!/usr/bin/env bash
# The GNU parallel example of docs/sweeps.md: shards run side by side and merge to what one run writes; a run that is
# killed continues. parallel.sh TOOL
set -euo pipefail
tool=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
sweep=("$tool" resnet50 --hardware H100 --vary "peak=0.5x..2x:log100" --quiet)
"${sweep[@]}" --output whole.csv
parallel --will-cite "${sweep[@]}" --shard '{}/4' --output 'part{}.csv' ::: 0 1 2 3
"$tool" --merge part?.csv --output points.csv
cmp whole.csv points.csv

# Kill a long run, continue it, compare with an undisturbed one.
long=("$tool" resnet50 --hardware H100 --vary "peak=0.5x..2x:log20000" --quiet)
"${long[@]}" --output long.csv
"${long[@]}" --output killed.csv &
until [ -s killed.csv.partial ] || [ -e killed.csv ]; do sleep 0.01; done # it has rows
kill -KILL $!
if wait $! 2>/dev/null; then
    echo "the long run ended before it was killed" >&2
    exit 1
fi
"${long[@]}" --output killed.csv --resume
cmp long.csv killed.csv
# What is complete stays as it is.
"${long[@]}" --output killed.csv --resume
cmp long.csv killed.csv
