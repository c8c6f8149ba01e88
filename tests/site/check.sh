#!/usr/bin/env bash
# Builds the site and looks at what a reader needs: its pages, its search, nothing from elsewhere. check.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
scripts/site
html=build/site/html
for page in index glossary tutorials/student evidence/validation mappers/gpu changelog; do
    [ -s "$html/$page.html" ] || { echo "there is no $page.html" >&2; exit 1; }
done
# The index finds a word of the glossary in the glossary.
python3 - "$html/search/search_index.json" <<'PY'
import json, sys
found = [entry["location"] for entry in json.load(open(sys.argv[1]))["docs"] if "equivalence class" in entry["text"]]
assert any(place.startswith("glossary.html") for place in found), f"found in {found}"
PY
# Scripts, styles, fonts and pictures are the site's own.
if grep -rnoE '<(script|link|img)[^>]*(src|href)="?https?://[^">]*' "$html" --include='*.html'; then
    echo "the site loads something from elsewhere" >&2
    exit 1
fi
