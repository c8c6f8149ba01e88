#!/usr/bin/env python3
"""Checks every catalogue file of this folder's models against its graphs: parameters against the published
figure, multiply-accumulates against the closed formula at several settings of the axes, published GMACs, and
that no weight has a payload. Exits with 1 and one line per difference.

Usage: check.py [NAME...]
"""

import json
import math
import sys
from fnmatch import fnmatch
from pathlib import Path

import onnx
from onnx import TensorProto

from shapes import Shapes, attributes, declared, evaluate, has_payload

MODELS = Path(__file__).resolve().parents[2]
CATALOGUES = ("language", "audio", "multimodal", "micro")
FLOATING = (TensorProto.FLOAT, TensorProto.FLOAT16)
LARGEST_CONSTANT = 4096


def macs_of(node, s):
    x = [s.shape[name] if name else None for name in node.input]
    y = s.shape[node.output[0]]
    if node.op_type == "MatMul":
        return math.prod(y) * x[0][-1]
    if node.op_type == "Gemm":
        return math.prod(y) * x[0][0 if attributes(node).get("transA") else 1]
    if node.op_type == "Conv":
        return math.prod(y) * math.prod(x[1][1:])
    if node.op_type == "GroupQueryAttention":
        a, (batch, length, width), past = attributes(node), x[0], x[3][2]
        window = a.get("local_window_size", -1)
        seen = (past + i for i in range(1, length + 1))
        return 2 * width * batch * sum(min(n, window) if window > 0 else n for n in seen)
    if node.op_type == "MoE":
        rows = math.prod(x[0][:-1])
        experts = sum(math.prod(x[i][1:]) for i in (2, 4, 6) if i < len(x) and x[i])
        return rows * attributes(node)["k"] * experts
    return 0


def parameters_of(graph, buffers):
    """Learned tensors by name: floating initialisers that are no buffers."""
    return {
        t.name: math.prod(t.dims)
        for t in graph.initializer
        if t.data_type in FLOATING and not any(fnmatch(t.name, pattern) for pattern in buffers)
    }


def structure_problems(graph):
    names = [node.name for node in graph.node]
    known = {t.name for t in graph.initializer} | {v.name for v in graph.input} | {""}
    used = set()
    for node in graph.node:
        for name in node.input:
            used.add(name)
            if name not in known:
                yield f"{node.name} reads {name} before it is made"
        known.update(node.output)
    if len(set(names)) != len(names):
        yield "node names are not unique"
    outputs = {v.name for v in graph.output}
    for tensor in graph.initializer:
        if math.prod(tensor.dims) > LARGEST_CONSTANT and has_payload(tensor):
            yield f"{tensor.name} has a payload"
        if tensor.name not in used:
            yield f"{tensor.name} is never used"
    for name in [v.name for v in graph.input] + [o for node in graph.node for o in node.output if o]:
        if name not in used and name not in outputs:
            yield f"{name} is never used"


def other_dims(dims):
    """A second setting: another batch, and every other axis larger by an amount of its own."""
    return {
        name: size + 2 if name == "batch" else size + 3 + i for i, (name, size) in enumerate(dims.items())
    }


class Checker:
    def __init__(self, entries):
        self.entries = {entry["name"]: entry for entry in entries}

    def graph(self, entry):
        return onnx.load(str(MODELS / entry["file"]), load_external_data=False).graph

    def macs(self, entry, dims):
        """Total and its formula (None for an entry made of parts) at these sizes."""
        if "file" not in entry:
            total = 0
            for part in entry["parts"]:
                inner = self.entries[part["model"]]
                shared = {k: v for k, v in dims.items() if k in inner["dims"]}
                total += part["repeat"] * self.macs(inner, inner["dims"] | shared | part["dims"])[0]
            return total, None
        graph = self.graph(entry)
        shapes = Shapes(graph, dims)
        for value in graph.output:
            found, stated = shapes.shape[value.name], declared(value, dims)
            if len(found) != len(stated) or any(s not in (None, f) for f, s in zip(found, stated)):
                raise ValueError(f"{entry['name']}: output {value.name} is {found}, declared {stated}")
        return sum(macs_of(node, shapes) for node in graph.node), evaluate(entry["macs_formula"], dims)

    def parameters(self, entry):
        if "file" in entry:
            return parameters_of(self.graph(entry), entry["buffers"])
        total = {}
        for part in entry["parts"]:
            total |= self.parameters(self.entries[part["model"]])
        return total

    def problems(self, entry):
        if "file" in entry:
            yield from structure_problems(self.graph(entry))
        count, published = sum(self.parameters(entry).values()), entry["published"]
        if "parameters" in published and count != published["parameters"]:
            yield f"{count:,} parameters, published {published['parameters']:,}"
        settings = [
            entry["dims"],
            {"batch": entry["dims"]["batch"] + 2} | {k: v for k, v in entry["dims"].items() if k != "batch"},
        ]
        if "file" in entry:
            settings.append(other_dims(entry["dims"]))
        for dims in settings:
            macs, formula = self.macs(entry, dims)
            if formula is not None and macs != formula:
                yield f"{macs:,} MACs at {dims}, by the formula {formula:,}"
        if "gmacs" in published:
            gmacs = self.macs(entry, entry["dims"] | published["dims"])[0] / 1e9
            if abs(gmacs / published["gmacs"] - 1) > 0.001:
                yield f"{gmacs:.4f} GMACs at {published['dims']}, published {published['gmacs']}"


def main(names):
    files = [MODELS / "catalogue" / f"{name}.json" for name in CATALOGUES]
    entries = [entry for path in files if path.exists() for entry in json.loads(path.read_text())["models"]]
    checker = Checker(entries)
    failed = 0
    for entry in entries:
        if names and entry["name"] not in names:
            continue
        problems = list(checker.problems(entry))
        macs = checker.macs(entry, entry["dims"])[0]
        count = sum(checker.parameters(entry).values())
        print(
            f"{entry['name']:32} {count:>15,} parameters {macs / 1e9:>12.4f} GMACs  "
            f"{'ok' if not problems else 'FAILED'}"
        )
        for problem in problems:
            print(f"    {problem}")
        failed += bool(problems)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
