#!/usr/bin/python3
"""Shorten the names of intermediate tensors, which nobody reads: the last step of every export.

Nodes, inputs, outputs, initialisers and Constants keep their names. Exporters call a tensor after the node that
makes it and write that at every use, which is half of a file. Doing it twice changes nothing.

Usage: compact.py FILE.onnx...   (in place)
"""
import sys

import onnx

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def short_name(number):
    digits = ""
    while True:
        number, digit = divmod(number, len(DIGITS))
        digits = DIGITS[digit] + digits
        if number == 0:
            return "t" + digits


def has_subgraphs(graph):
    return any(a.type in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS)
               for node in graph.node for a in node.attribute)


def compact(model):
    """Rename in place and return the model. Graphs with subgraphs, which see outer names, are left alone."""
    graph = model.graph
    if has_subgraphs(graph):
        return model
    kept = {v.name for v in graph.input} | {v.name for v in graph.output} | {t.name for t in graph.initializer}
    kept |= {name for node in graph.node if node.op_type == "Constant" for name in node.output}
    names, number = {"": ""}, 0
    for node in graph.node:
        for name in node.output:
            if name in kept or name in names:
                continue
            while short_name(number) in kept:
                number += 1
            names[name] = short_name(number)
            number += 1
    for node in graph.node:
        for tensors in (node.input, node.output):
            for i, name in enumerate(tensors):
                tensors[i] = names.get(name, name)
    for value in graph.value_info:
        value.name = names.get(value.name, value.name)
    return model


def main(paths):
    if not paths:
        sys.exit(__doc__)
    for path in paths:
        model = compact(onnx.load(path, load_external_data=False))
        with open(path, "wb") as out:
            out.write(model.SerializeToString(deterministic=True))


if __name__ == "__main__":
    main(sys.argv[1:])
