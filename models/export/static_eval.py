"""Shapes and integer values of every tensor of a model when its symbolic dims are bound to numbers.

One pass in graph order: an operator of shape arithmetic with known inputs is evaluated with numpy, any other
goes through onnx's own shape inference as a one-node model. Weights need no payload.
"""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, shape_inference

import strip

# Larger results are data, not shapes; the largest wanted one is the attention mask of a windowed transformer.
LARGEST_VALUE = 1 << 20


def attributes(node):
    return {a.name: helper.get_attribute_value(a) for a in node.attribute}


def _slice(attrs, data, starts, ends, axes=None, steps=None):
    axes = range(len(starts)) if axes is None else axes
    steps = [1] * len(starts) if steps is None else steps
    index = [slice(None)] * data.ndim
    for start, end, axis, step in zip(starts, ends, axes, steps):
        if step < 0 and end < -data.shape[axis]:
            end = None  # a negative step runs down to the first element, which a Python end cannot name
        index[axis] = slice(start, end, step)
    return data[tuple(index)]


def _scatter_nd(attrs, data, indices, updates):
    result = data.copy()
    for position in np.ndindex(indices.shape[:-1]):
        result[tuple(indices[position])] = updates[position]
    return result


def _reshape(attrs, data, shape):
    return data.reshape([data.shape[i] if d == 0 else d for i, d in enumerate(shape)])


def _div(attrs, a, b):
    # Integer division of ONNX truncates toward zero.
    return np.trunc(a / b).astype(a.dtype) if a.dtype.kind == "i" else a / b


def _unsqueeze(attrs, data, axes):
    for axis in sorted(int(a) % (data.ndim + len(axes)) for a in axes):
        data = np.expand_dims(data, axis)
    return data


EVALUATORS = {
    "Add": lambda attrs, a, b: a + b,
    "Cast": lambda attrs, a: a.astype(helper.mapping.TENSOR_TYPE_TO_NP_TYPE[attrs["to"]]),
    "Ceil": lambda attrs, a: np.ceil(a),
    "Concat": lambda attrs, *a: np.concatenate(a, axis=attrs["axis"]),
    "ConstantOfShape": lambda attrs, s: np.full(
        [int(d) for d in s],
        numpy_helper.to_array(attrs["value"])[0] if "value" in attrs else np.float32(0)),
    "Div": _div,
    "Equal": lambda attrs, a, b: a == b,
    "Expand": lambda attrs, a, s: np.broadcast_to(a, np.broadcast_shapes(a.shape, tuple(int(d) for d in s))),
    "Floor": lambda attrs, a: np.floor(a),
    "Gather": lambda attrs, a, i: np.take(a, i, axis=attrs.get("axis", 0)),
    "Identity": lambda attrs, a: a,
    "Mod": lambda attrs, a, b: np.fmod(a, b) if attrs.get("fmod", 0) else np.mod(a, b),
    "Mul": lambda attrs, a, b: a * b,
    "Neg": lambda attrs, a: -a,
    "Not": lambda attrs, a: ~a,
    "Pow": lambda attrs, a, b: np.power(a, b).astype(a.dtype),
    "Range": lambda attrs, a, b, c: np.arange(a.item(), b.item(), c.item()).astype(a.dtype),
    "Reshape": _reshape,
    "ScatterND": _scatter_nd,
    "Slice": _slice,
    "Sqrt": lambda attrs, a: np.sqrt(a),
    "Squeeze": lambda attrs, a, axes=None: np.squeeze(a, None if axes is None else tuple(map(int, axes))),
    "Sub": lambda attrs, a, b: a - b,
    "Transpose": lambda attrs, a: np.transpose(a, attrs.get("perm")),
    "Unsqueeze": _unsqueeze,
    "Where": lambda attrs, c, a, b: np.where(c, a, b),
}


class StaticEvaluation:
    """Holds `types` {tensor: element type}, `shapes` {tensor: tuple} and `values` {tensor: array}."""

    def __init__(self, model, bindings):
        self.types, self.shapes, self.values = {}, {}, {}
        self.opset = model.opset_import[0].version
        for value in model.graph.input:
            tensor_type = value.type.tensor_type
            self.types[value.name] = tensor_type.elem_type
            self.shapes[value.name] = tuple(bindings[d.dim_param] if d.dim_param else d.dim_value
                                            for d in tensor_type.shape.dim)
        for tensor in model.graph.initializer:
            self._add_constant(tensor.name, tensor)
        for node in model.graph.node:
            self._visit(node)

    def _add_constant(self, name, tensor):
        self.types[name] = tensor.data_type
        self.shapes[name] = tuple(tensor.dims)
        if strip.has_payload(tensor):
            self.values[name] = numpy_helper.to_array(tensor)

    def _set_value(self, name, array):
        array = np.asarray(array)
        self.types[name] = helper.mapping.NP_TYPE_TO_TENSOR_TYPE[array.dtype]
        self.shapes[name] = array.shape
        self.values[name] = array

    def _visit(self, node):
        attrs = attributes(node)
        if node.op_type == "Constant":
            self._add_constant(node.output[0], attrs["value"])
            return
        if node.op_type == "Shape" and node.input[0] in self.shapes:
            shape = self.shapes[node.input[0]][attrs.get("start", 0):attrs.get("end")]
            self._set_value(node.output[0], np.array(shape, dtype=np.int64))
            return
        inputs = [self.values.get(name) for name in node.input if name]
        if node.op_type in EVALUATORS and all(v is not None for v in inputs):
            with np.errstate(all="ignore"):
                result = EVALUATORS[node.op_type](attrs, *inputs)
            if np.size(result) <= LARGEST_VALUE:
                self._set_value(node.output[0], result)
                return
        self._infer(node)

    def _infer(self, node):
        if node.op_type == "Einsum":  # the checker knows no shapes of it
            sizes, result = letters_of(node, [self.shapes[n] for n in node.input])
            self.types[node.output[0]] = self.types[node.input[0]]
            self.shapes[node.output[0]] = tuple(sizes[letter] for letter in result)
            return
        inputs, constants = [], []
        for name in dict.fromkeys(n for n in node.input if n):
            value = self.values.get(name)
            if value is not None and value.size <= strip.SMALL:
                constants.append(numpy_helper.from_array(np.asarray(value, order="C"), name))
            else:
                inputs.append(helper.make_tensor_value_info(name, self.types[name], self.shapes[name]))
        outputs = [helper.make_tensor_value_info(n, TensorProto.UNDEFINED, None) for n in node.output if n]
        graph = helper.make_graph([node], "node", inputs, outputs, constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)])
        inferred = shape_inference.infer_shapes(model, strict_mode=False)
        for value in inferred.graph.output:
            tensor_type = value.type.tensor_type
            dims = tensor_type.shape.dim
            if not tensor_type.HasField("shape") or any(not d.HasField("dim_value") for d in dims):
                raise ValueError(f"{node.op_type} '{node.name}': shape of '{value.name}' cannot be inferred")
            self.types[value.name] = tensor_type.elem_type
            self.shapes[value.name] = tuple(d.dim_value for d in dims)


def letters_of(einsum, shapes):
    """The size of every letter of an Einsum without an ellipsis, and the letters of its result."""
    operands, result = attributes(einsum)["equation"].decode().replace(" ", "").split("->")
    sizes = {}
    for letters, shape in zip(operands.split(","), shapes):
        sizes.update(zip(letters, shape))
    return sizes, result


def macs(model, bindings):
    """Multiply-accumulates of the matrix operators, as the published figures count them."""
    evaluation = StaticEvaluation(model, bindings)
    total = 0
    for node in model.graph.node:
        attrs = attributes(node)
        shapes = [evaluation.shapes.get(name) for name in node.input]
        output = int(np.prod(evaluation.shapes[node.output[0]], dtype=np.int64))
        if node.op_type == "Conv":
            total += output * int(np.prod(shapes[1][1:]))
        elif node.op_type == "ConvTranspose":
            total += int(np.prod(shapes[0], dtype=np.int64)) * int(np.prod(shapes[1][1:]))
        elif node.op_type == "MatMul":
            total += output * shapes[0][-1]
        elif node.op_type == "Gemm":
            total += output * shapes[0][0 if attrs.get("transA", 0) else 1]
        elif node.op_type == "Einsum" and len(node.input) == 2:
            sizes, _ = letters_of(node, shapes)
            total += int(np.prod(list(sizes.values()), dtype=np.int64))
    return total
