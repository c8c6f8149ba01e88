"""Shape inference for the operators these graphs use, at fixed sizes of the symbolic axes, with the values of
small integer tensors. Written apart from the builders so that checking a graph does not trust its maker."""

import math

import numpy as np
from onnx import TensorProto, helper, numpy_helper

INTEGER = {TensorProto.INT64: np.int64, TensorProto.INT32: np.int32, TensorProto.BOOL: np.bool_}
ELEMENTWISE = {
    "Add",
    "Sub",
    "Mul",
    "Div",
    "Pow",
    "Where",
    "LessOrEqual",
    "Less",
    "Greater",
    "Min",
    "Max",
    "And",
    "Equal",
    "Mod",
}
SAME_SHAPE = {
    "Cast",
    "Erf",
    "Tanh",
    "Sigmoid",
    "Softmax",
    "Relu",
    "Identity",
    "Neg",
    "Abs",
    "Log",
    "Exp",
    "Sqrt",
    "LayerNormalization",
    "BatchNormalization",
    "InstanceNormalization",
    "Gelu",
    "Not",
    "ScatterND",
    "SimplifiedLayerNormalization",
    "SkipSimplifiedLayerNormalization",
    "MoE",
    "Reciprocal",
}
CONTRACTIONS = {"MatMul", "Gemm", "Conv", "GroupQueryAttention"}


def attributes(node):
    return {a.name: helper.get_attribute_value(a) for a in node.attribute}


class Shapes:
    """Shapes (`shape`) and known integer values (`value`) of every tensor of a graph."""

    def __init__(self, graph, dims):
        self.shape, self.value = {}, {}
        for tensor in graph.initializer:
            self.shape[tensor.name] = tuple(tensor.dims)
            if has_payload(tensor) and tensor.data_type in INTEGER:
                self.value[tensor.name] = numpy_helper.to_array(tensor)
        for value in graph.input:
            self.shape[value.name] = declared(value, dims)
        for node in graph.node:
            try:
                self.infer(node)
            except Exception as problem:
                shapes = [self.shape.get(name) for name in node.input]
                raise ValueError(f"{node.name} ({node.op_type}) on {shapes}: {problem}") from problem

    def infer(self, node):
        a = attributes(node)
        shapes = [self.shape[name] if name else None for name in node.input]
        values = [self.value.get(name) for name in node.input]
        op = node.op_type
        if op == "Split":
            outputs = split(shapes[0], values[1], a["axis"])
        elif op == "GroupQueryAttention":
            past = shapes[3]
            present = (past[0], past[1], past[2] + shapes[0][1], past[3])
            outputs = [shapes[0], present, present]
        elif op in SAME_SHAPE:
            outputs = [shapes[0]] * len(node.output)
        else:
            outputs = [output_shape(op, shapes, values, a)]
        for name, shape in zip(node.output, outputs):
            if name:
                self.shape[name] = tuple(int(d) for d in shape)
        result = fold(op, shapes, values, a)
        if result is not None:
            self.value[node.output[0]] = result
            self.shape[node.output[0]] = result.shape


def has_payload(tensor):
    return (
        bool(tensor.raw_data or tensor.float_data or tensor.int32_data or tensor.int64_data)
        or 0 in tensor.dims
    )


def declared(value, dims):
    """Shape of a graph input or output. A symbol may be a sum; None where no size is given for it."""
    out = []
    for d in value.type.tensor_type.shape.dim:
        known = all(part in dims for part in d.dim_param.split(" + ")) if d.dim_param else True
        out.append((evaluate(d.dim_param, dims) if d.dim_param else d.dim_value) if known else None)
    return tuple(out)


def evaluate(expression, dims):
    """An arithmetic expression in the names of axes, with floor()."""
    return eval(expression, {"__builtins__": {}, "floor": math.floor}, dict(dims))


def split(shape, sizes, axis):
    return [shape[:axis] + (int(s),) + shape[axis + 1 :] for s in sizes]


def output_shape(op, shapes, values, a):
    x = shapes[0] if shapes else None
    if op in ELEMENTWISE:
        return np.broadcast_shapes(*shapes)
    if op == "Constant":
        return tuple(a["value"].dims)
    if op == "MatMul":
        if x[-1] != shapes[1][-2]:
            raise ValueError("inner sizes differ")
        return np.broadcast_shapes(x[:-2], shapes[1][:-2]) + (x[-2], shapes[1][-1])
    if op == "Gemm":
        rows, inner = x[::-1] if a.get("transA") else x
        inner_w, columns = shapes[1][::-1] if a.get("transB") else shapes[1]
        if inner != inner_w:
            raise ValueError("inner sizes differ")
        return (rows, columns)
    if op == "Conv":
        return convolution(x, shapes[1], a)
    if op == "Reshape":
        return reshape(x, [int(v) for v in values[1]])
    if op == "Transpose":
        return tuple(x[p] for p in a["perm"])
    if op == "Gather":
        axis = a.get("axis", 0) % len(x)
        return x[:axis] + shapes[1] + x[axis + 1 :]
    if op == "GatherND":
        b = a.get("batch_dims", 0)
        return shapes[1][:-1] + x[b + shapes[1][-1] :]
    if op == "Concat":
        axis = a["axis"] % len(x)
        return x[:axis] + (sum(s[axis] for s in shapes),) + x[axis + 1 :]
    if op == "Slice":
        return sliced(x, *[list(v) for v in values[1:]])
    if op == "Unsqueeze":
        return unsqueeze(x, values[1])
    if op == "Squeeze":
        axes = [int(v) % len(x) for v in values[1]]
        return tuple(d for i, d in enumerate(x) if i not in axes)
    if op == "Expand":
        return np.broadcast_shapes(x, tuple(values[1]))
    if op == "Pad":
        return tuple(d + int(values[1][i]) + int(values[1][i + len(x)]) for i, d in enumerate(x))
    if op == "Shape":
        return (len(x),)
    if op == "Range":
        start, limit, step = (int(v) for v in values)
        return (max(0, math.ceil((limit - start) / step)),)
    if op == "STFT":
        step, length = int(values[1]), int(values[3])
        return (x[0], (x[1] - length) // step + 1, length // 2 + 1 if a.get("onesided", 1) else length, 2)
    if op in ("ReduceMean", "ReduceL2", "ReduceMax", "ReduceSumSquare", "ArgMax"):
        axes = [v % len(x) for v in (a["axes"] if "axes" in a else [a["axis"]])]
        keep = a.get("keepdims", 1)
        return tuple(1 if i in axes else d for i, d in enumerate(x) if keep or i not in axes)
    if op == "ReduceSum":
        axes = [int(v) % len(x) for v in values[1]]
        return tuple(1 if i in axes else d for i, d in enumerate(x) if a.get("keepdims", 1) or i not in axes)
    if op == "GlobalAveragePool":
        return x[:2] + (1,) * (len(x) - 2)
    if op == "Resize":
        return tuple(int(v) for v in values[3])
    raise ValueError("no rule for this operator")


def convolution(x, w, a):
    rank = len(x) - 2
    pads, strides = a.get("pads", [0] * 2 * rank), a.get("strides", [1] * rank)
    if x[1] != w[1] * a.get("group", 1):
        raise ValueError("input channels differ")
    spatial = ((x[2 + i] + pads[i] + pads[rank + i] - w[2 + i]) // strides[i] + 1 for i in range(rank))
    return (x[0], w[0], *spatial)


def reshape(x, target):
    out = [x[i] if d == 0 else d for i, d in enumerate(target)]
    if -1 in out:
        out[out.index(-1)] = math.prod(x) // -math.prod(out)
    if math.prod(out) != math.prod(x):
        raise ValueError(f"cannot become {out}")
    return tuple(out)


def unsqueeze(x, axes):
    rank = len(x) + len(axes)
    where = {int(v) % rank for v in axes}
    rest = iter(x)
    return tuple(1 if i in where else next(rest) for i in range(rank))


def sliced(x, starts, ends, axes=None, steps=None):
    out = list(x)
    for i, (start, end) in enumerate(zip(starts, ends)):
        axis = int(axes[i]) if axes else i
        out[axis] = len(range(x[axis])[int(start) : int(end) : int(steps[i]) if steps else None])
    return tuple(out)


def fold(op, shapes, values, a):
    """Value of an integer operator whose inputs are known, else None."""
    if op == "Shape":
        return np.array(shapes[0], np.int64)
    if op == "Constant":
        return numpy_helper.to_array(a["value"]) if a["value"].data_type in INTEGER else None
    if not values or any(v is None for v in values):
        return None
    binary = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.floor_divide}
    if op in binary:
        return np.asarray(binary[op](*values))
    if op == "Gather":
        return np.asarray(np.take(values[0], values[1], axis=a.get("axis", 0)))
    if op == "Concat":
        return np.concatenate(values, axis=a["axis"])
    if op == "Unsqueeze":
        return values[0].reshape(unsqueeze(values[0].shape, values[1]))
    if op == "Cast" and a["to"] in INTEGER:
        return values[0].astype(INTEGER[a["to"]])
    return None
