#!/usr/bin/python3
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

import compact
import export_networks
import export_torchvision
import exporter
import static_eval
import strip

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.dirname(HERE)
TABLES = (export_torchvision, export_networks)


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
    strip.save(compact.compact(model), path_of(entry))


def counted_parameters(entry, model):
    return sum(strip.elements(t) for t in model.graph.initializer
               if t.data_type == strip.TensorProto.FLOAT and
               not any(fnmatch.fnmatchcase(t.name, p) for p in entry.buffer_patterns()))


def check_parameters(entry, module, model):
    """The file holds every parameter of the module, save those the entry declares as not exported."""
    left_out = entry.not_exported["pattern"] if entry.not_exported else ""
    expected = sum(p.numel() for n, p in module.named_parameters() if not fnmatch.fnmatchcase(n, left_out))
    counted = counted_parameters(entry, model)
    if counted != expected:
        raise SystemExit(f"{entry.name}: {counted} parameters in the file, {expected} in torch")


def tolerance_of(entry, key, figure):
    """The entry's tolerance, or half a unit of the last digit that was published, if that is coarser."""
    decimals = len(figure.partition(".")[2])
    own = max(entry.tolerance, entry.macs_tolerance) if key == "gmacs" else entry.tolerance
    return max(own, round(0.5 * 10 ** -decimals / float(figure), 6))


def check_published(entry, model, row):
    parameters = counted_parameters(entry, model)
    gmacs = static_eval.macs(model, entry.dims()) / 1e9
    line = f"{entry.name}: {parameters} parameters, {gmacs:.4f} GMACs"
    if row is None:
        print(line + ", nothing published", flush=True)
        return
    if row["parameters"] and int(row["parameters"]) != parameters and not entry.not_exported:
        raise SystemExit(f"{line}; published are {row['parameters']} parameters")
    for counted, key in ((parameters / 1e6, "parameters_millions"), (gmacs, "gmacs")):
        if row[key]:
            distance = counted / float(row[key]) - 1
            line += f", {key} {100 * distance:+.2f} % of published"
            if abs(distance) > tolerance_of(entry, key, row[key]):
                raise SystemExit(f"{line}: more than {100 * tolerance_of(entry, key, row[key]):.2f} %")
    print(line, flush=True)


def published_entry(entry, row):
    """The published figures, which hold at the entry's own sizes."""
    item = {"source": row["source"]}
    if row["parameters"]:
        item["parameters"] = int(row["parameters"])
    for key in ("parameters_millions", "gmacs"):
        if row[key]:
            item[key] = float(row[key])
            item[key + "_tolerance"] = tolerance_of(entry, key, row[key])
    return item


def catalogue_entry(entry, model, row):
    names = [t.name for t in model.graph.initializer]
    names += [name for node in model.graph.node if node.op_type == "Constant" for name in node.output]
    item = {"name": entry.name, "aliases": entry.aliases, "file": f"onnx/{entry.name}.onnx", "family": entry.family,
            "task": entry.task, "title": entry.title, "dims": entry.dims(),
            "buffers": [p for p in entry.buffer_patterns() if fnmatch.filter(names, p)], "source": entry.source}
    item = {key: value for key, value in item.items() if value != []}
    if row is not None:
        item["published"] = published_entry(entry, row)
    if entry.not_exported:
        count = int(row["parameters"]) - counted_parameters(entry, model)
        item["not_exported_parameters"] = {"count": count, **entry.not_exported}
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
    # A line per entry, as in the other catalogues: every start reads through all of them.
    lines = ",\n".join(json.dumps(item, separators=(",", ":")) for item in items)
    with open(os.path.join(MODELS, "catalogue", "vision.json"), "w") as out:
        out.write('{"models": [\n' + lines + "\n]}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
