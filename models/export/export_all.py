#!/usr/bin/env python3
"""Export the vision models, check them against the published figures, write the catalogue.

Usage: export_all.py [NAME...]     without names: every model; with names: those files only
The catalogue is written from the tables whole, whatever the names.
"""
import csv
import fnmatch
import json
import os
import sys

import torch

import export_torchvision
import exporter
import static_eval
import strip
from entry import BATCH_NORM_BUFFERS, FOLDED_TABLES

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.dirname(HERE)
TABLES = (export_torchvision,)


def published_figures():
    with open(os.path.join(HERE, "published.csv"), newline="") as table:
        return {row["model"]: row for row in csv.DictReader(table)}


def path_of(entry):
    return os.path.join(MODELS, "onnx", entry.name + ".onnx")


def export(entry):
    """Write the entry's file; return the parameters that the module has and the file leaves out."""
    torch.manual_seed(0)
    module = entry.build()
    traced, named = entry.axes()
    axes = dict(traced, **{name: {0: "batch"} for name in entry.outputs})
    model = exporter.export(module, torch.zeros(1, 3, *entry.size), ["input"], list(entry.outputs), axes, named,
                            foldable=entry.spatial == "fixed")
    check_parameters(entry, module, model)
    strip.save(model, path_of(entry))


def counted_parameters(model):
    patterns = BATCH_NORM_BUFFERS + (FOLDED_TABLES,)
    return sum(strip.elements(t) for t in model.graph.initializer
               if t.data_type == strip.TensorProto.FLOAT and
               not any(fnmatch.fnmatchcase(t.name, p) for p in patterns))


def check_parameters(entry, module, model):
    """The file holds every parameter of the module, save those the entry declares as not exported."""
    left_out = entry.not_exported["pattern"] if entry.not_exported else ""
    expected = sum(p.numel() for n, p in module.named_parameters() if not fnmatch.fnmatchcase(n, left_out))
    if counted_parameters(model) != expected:
        raise SystemExit(f"{entry.name}: {counted_parameters(model)} parameters in the file, {expected} in torch")


def check_published(entry, model, row):
    parameters = counted_parameters(model)
    gmacs = static_eval.macs(model, entry.dims()) / 1e9
    line = f"{entry.name}: {parameters} parameters, {gmacs:.4f} GMACs"
    if row is None:
        print(line + ", nothing published")
        return
    missing = int(row["parameters"]) - parameters if row["parameters"] else 0
    if missing and not entry.not_exported:
        raise SystemExit(f"{line}; published {row['parameters']} parameters")
    if row["gmacs"]:
        distance = gmacs / float(row["gmacs"]) - 1
        line += f" ({100 * distance:+.2f} % of published)"
        if abs(gmacs - float(row["gmacs"])) > max(entry.tolerance * float(row["gmacs"]), 0.0006):
            raise SystemExit(line + f": more than {100 * entry.tolerance} % off")
    print(line + (f", {missing} not exported" if missing else ""), flush=True)


def catalogue_entry(entry, model, row):
    names = [t.name for t in model.graph.initializer]
    buffers = [p for p in BATCH_NORM_BUFFERS + (FOLDED_TABLES,) if fnmatch.filter(names, p)]
    item = {"name": entry.name, "file": f"onnx/{entry.name}.onnx", "family": entry.family, "task": entry.task,
            "aliases": entry.aliases, "title": entry.title, "dims": entry.dims(), "buffers": buffers,
            "source": entry.source}
    if row is None:
        return item
    item["published"] = {"input": int(row["input"]), "source": row["source"]}
    if row["parameters"]:
        item["published"]["parameters"] = int(row["parameters"])
    if row["gmacs"]:
        item["published"]["gmacs"] = float(row["gmacs"])
    if entry.not_exported:
        item["not_exported_parameters"] = {"count": int(row["parameters"]) - counted_parameters(model),
                                           **entry.not_exported}
    return item


def main(names):
    entries = sorted((e for table in TABLES for e in table.entries()), key=lambda e: e.name)
    unknown = set(names) - {e.name for e in entries}
    if unknown:
        raise SystemExit(f"unknown models: {', '.join(sorted(unknown))}; add them to a table first")
    published = published_figures()
    items = []
    for entry in entries:
        if not names or entry.name in names:
            export(entry)
            check_published(entry, strip.onnx.load(path_of(entry)), published.get(entry.name))
        if os.path.exists(path_of(entry)):
            items.append(catalogue_entry(entry, strip.onnx.load(path_of(entry)), published.get(entry.name)))
    with open(os.path.join(MODELS, "catalogue", "vision.json"), "w") as out:
        json.dump({"models": items}, out, indent=2)
        out.write("\n")


if __name__ == "__main__":
    main(sys.argv[1:])
