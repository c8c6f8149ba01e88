#!/usr/bin/python3
"""Strip the weights from an ONNX model and keep everything an estimate needs.

Kept: every operator, every name, the type and dims of every initialiser, the payload of the small
constants that shape arithmetic reads. Dropped: payloads of weights, documentation strings, producer noise,
inferred value types. The result of a run depends on the input alone, so a file is reproduced bit by bit.

Usage: strip.py IN.onnx OUT.onnx
"""
import sys

import onnx
from onnx import TensorProto, numpy_helper

# Shape arithmetic works on vectors of ranks, axes and sizes; 64 elements leave room for every one of them
# and keep the files small.
SMALL = 64
PAYLOAD_FIELDS = ("raw_data", "float_data", "int32_data", "int64_data", "double_data", "uint64_data",
                  "string_data", "external_data", "data_location", "doc_string")
INTEGER_TYPES = (TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL)


def elements(tensor):
    count = 1
    for dim in tensor.dims:
        count *= dim
    return count


def has_payload(tensor):
    return elements(tensor) == 0 or any(len(getattr(tensor, f)) > 0 for f in PAYLOAD_FIELDS[:7])


def drop_payload(tensor):
    for field in PAYLOAD_FIELDS:
        tensor.ClearField(field)


def parameters_to_initializers(graph, runtime_inputs):
    """Exports without weights list the parameters as graph inputs; make each a payload-free initialiser."""
    kept = [value for value in graph.input if value.name in runtime_inputs]
    for value in graph.input:
        if value.name in runtime_inputs:
            continue
        tensor = graph.initializer.add()
        tensor.name = value.name
        tensor.data_type = value.type.tensor_type.elem_type
        tensor.dims.extend(d.dim_value for d in value.type.tensor_type.shape.dim)
    del graph.input[:]
    graph.input.extend(kept)


def fold_parameter_transposes(graph):
    """torch writes a linear layer on a 3-D tensor as Transpose(weight) + MatMul; every exporter that holds the
    weights folds the Transpose into the stored weight. Do the same: it is a change of dims, not of size."""
    tensors = {t.name: t for t in graph.initializer}
    uses = {}
    for node in graph.node:
        for name in node.input:
            uses[name] = uses.get(name, 0) + 1
    renamed, kept = {}, []
    for node in graph.node:
        tensor = tensors.get(node.input[0]) if node.op_type == "Transpose" else None
        if tensor is None or uses[tensor.name] != 1 or has_payload(tensor):
            kept.append(node)
            continue
        perm = next((list(a.ints) for a in node.attribute if a.name == "perm"),
                    list(reversed(range(len(tensor.dims)))))
        dims = list(tensor.dims)
        del tensor.dims[:]
        tensor.dims.extend(dims[p] for p in perm)
        renamed[node.output[0]] = tensor.name
    del graph.node[:]
    graph.node.extend(kept)
    rename_inputs(graph, renamed)


def rename_inputs(graph, renamed):
    def last(name):
        while name in renamed:
            name = renamed[name]
        return name

    for node in graph.node:
        for i, name in enumerate(node.input):
            node.input[i] = last(name)


def drop_inactive_nodes(graph):
    """Identity, and Dropout that is not in training, pass their input on."""
    outputs = {o.name for o in graph.output}
    renamed, kept = {}, []
    for node in graph.node:
        if node.op_type in ("Identity", "Dropout") and node.output[0] not in outputs:
            renamed[node.output[0]] = node.input[0]
        else:
            kept.append(node)
    del graph.node[:]
    graph.node.extend(kept)
    rename_inputs(graph, renamed)


def merge_equal_constants(graph):
    """Exports repeat a Constant at each use; one of each value is enough."""
    first, renamed, kept = {}, {}, []
    for node in graph.node:
        if node.op_type != "Constant":
            kept.append(node)
            continue
        key = b"".join(a.SerializeToString(deterministic=True) for a in node.attribute)
        if key in first:
            renamed[node.output[0]] = first[key]
        else:
            first[key] = node.output[0]
            kept.append(node)
    del graph.node[:]
    graph.node.extend(kept)
    rename_inputs(graph, renamed)


def drop_dead_nodes(graph):
    needed = {o.name for o in graph.output}
    kept = []
    for node in reversed(graph.node):
        if any(name in needed for name in node.output):
            needed.update(node.input)
            kept.append(node)
    del graph.node[:]
    graph.node.extend(reversed(kept))


def drop_unused_initializers(graph):
    used = {name for node in graph.node for name in node.input} | {o.name for o in graph.output}
    kept = [t for t in graph.initializer if t.name in used]
    del graph.initializer[:]
    graph.initializer.extend(kept)


def strip_payloads(graph):
    for tensor in graph.initializer:
        if tensor.data_type not in INTEGER_TYPES and len(tensor.dims) > 0 or elements(tensor) > SMALL:
            drop_payload(tensor)
        else:
            tensor.ClearField("doc_string")
    for node in graph.node:
        node.ClearField("doc_string")
        for attribute in node.attribute:
            attribute.ClearField("doc_string")
            if attribute.type == onnx.AttributeProto.TENSOR and elements(attribute.t) > SMALL:
                drop_payload(attribute.t)
            if attribute.type == onnx.AttributeProto.GRAPH:
                strip_payloads(attribute.g)


def strip(model):
    """Strip `model` in place and return it."""
    graph = model.graph
    strip_payloads(graph)
    drop_inactive_nodes(graph)
    merge_equal_constants(graph)
    fold_parameter_transposes(graph)
    drop_unused_initializers(graph)
    graph.ClearField("doc_string")
    del graph.value_info[:]
    del model.metadata_props[:]
    for field in ("doc_string", "producer_version", "model_version", "domain"):
        model.ClearField(field)
    return model


def save(model, path):
    with open(path, "wb") as out:
        out.write(model.SerializeToString(deterministic=True))


def main(argv):
    if len(argv) != 3:
        sys.exit(__doc__)
    save(strip(onnx.load(argv[1], load_external_data=False)), argv[2])


if __name__ == "__main__":
    main(sys.argv)
