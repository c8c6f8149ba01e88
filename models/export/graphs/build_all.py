#!/usr/bin/env python3
"""Writes every graph of these families to models/onnx and their catalogue files to models/catalogue.

The output depends on these sources alone: running it again gives the same bytes.

Usage: build_all.py [NAME...]   (graphs of these names only; the catalogue is always written whole)
"""

import json
import sys
from pathlib import Path

import bert
import clap
import clip
import dlrm
import gpt2
import gptj
import llama_models
import llava
import log_mel
import micro
import t5
import tiny
import vit
import wav2vec2
import whisper
import xclip

MODELS = Path(__file__).resolve().parents[2]
sys.path.append(str(MODELS / "export"))

from compact import compact  # noqa: E402  (beside the folder of this file)

FAMILIES = [
    bert, gpt2, gptj, t5, llama_models, whisper, wav2vec2, clap, log_mel, vit, clip, xclip, llava, dlrm, micro, tiny,
]  # fmt: skip


def entries():
    return [entry for family in FAMILIES for entry in family.ENTRIES]


def write_graph(entry):
    path = MODELS / "onnx" / f"{entry.name}.onnx"
    path.write_bytes(compact(entry.build().model()).SerializeToString(deterministic=True))


def write_catalogue(name, group):
    lines = ",\n".join(json.dumps(entry.to_json(), separators=(", ", ": ")) for entry in group)
    (MODELS / "catalogue" / f"{name}.json").write_text('{"models": [\n' + lines + "\n]}\n")


def main(names):
    everything = entries()
    unknown = set(names) - {entry.name for entry in everything}
    if unknown:
        sys.exit(
            f"build_all.py: no such model: {', '.join(sorted(unknown))}; see models/catalogue for the names"
        )
    for entry in everything:
        if entry.build and (not names or entry.name in names):
            write_graph(entry)
    for group in sorted({entry.catalogue for entry in everything}):
        write_catalogue(group, [entry for entry in everything if entry.catalogue == group])


if __name__ == "__main__":
    main(sys.argv[1:])
