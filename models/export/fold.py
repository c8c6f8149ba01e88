"""Fold the shape arithmetic of an export whose only symbolic dims are the given ones.

torch traces every `x.shape[i]` as Shape, Gather, Unsqueeze, Concat... even where the size is fixed. The model
is evaluated under several bindings of its symbolic dims; what is the same under all of them is a constant, and
a Reshape target with one varying element takes -1 there. Only integer and boolean arithmetic on shapes and
constant masks is folded: an operator that touches an activation or a parameter always stays.
"""
import numpy as np
from onnx import helper, numpy_helper

import strip
from static_eval import StaticEvaluation

PROBES = (2, 3, 5)


class _Folder:
    def __init__(self, model, symbols):
        self.graph = model.graph
        self.probes = [StaticEvaluation(model, {s: p for s in symbols}) for p in PROBES]
        self.initializers = {t.name: t for t in model.graph.initializer}
        self.constants = {n.output[0] for n in model.graph.node if n.op_type == "Constant"}
        self.literals, self.tables = {}, {}

    def constant(self, name):
        """The value that `name` has whatever the symbolic dims are, or None."""
        values = [probe.values.get(name) for probe in self.probes]
        if any(v is None for v in values):
            return None
        return values[0] if all(np.array_equal(values[0], v) for v in values[1:]) else None

    def reshape_target(self, name):
        """A Reshape target where one element varies, with -1 in its place, or None."""
        values = [probe.values.get(name) for probe in self.probes]
        if any(v is None or v.ndim != 1 or v.shape != values[0].shape for v in values):
            return None
        varying = [i for i in range(values[0].size) if len({int(v[i]) for v in values}) > 1]
        if len(varying) != 1 or any(int(x) in (-1, 0) for x in values[0]):
            return None
        target = values[0].copy()
        target[varying[0]] = -1
        return target

    def tensor_for(self, array, origin):
        """A literal becomes a Constant named after its value and shared by its uses; a table (an attention
        mask, say) becomes an initialiser, and its name sets it apart from the parameters."""
        array = np.asarray(array, order="C")
        if array.size > strip.SMALL:
            name = f"{origin}:constant"
            self.tables[name] = numpy_helper.from_array(array, name)
            return name
        name = f"{array.dtype.name}:{array.tolist()}".replace(" ", "")
        if name not in self.literals:
            self.literals[name] = helper.make_node("Constant", [], [name], value=numpy_helper.from_array(array))
        return name

    def run(self):
        for node in self.graph.node:
            for i, name in enumerate(node.input):
                if not name or name in self.initializers or name in self.constants:
                    continue
                array = self.constant(name)
                if array is None and node.op_type == "Reshape" and i == 1:
                    array = self.reshape_target(name)
                if array is not None:
                    node.input[i] = self.tensor_for(array, name)
        nodes = list(self.literals.values()) + list(self.graph.node)
        del self.graph.node[:]
        self.graph.node.extend(nodes)
        self.graph.initializer.extend(self.tables.values())


def fold(model, symbols):
    """Fold in place; payloads that exceed strip.SMALL go with the weights."""
    _Folder(model, symbols).run()
    strip.drop_dead_nodes(model.graph)
    strip.strip_payloads(model.graph)
    strip.drop_unused_initializers(model.graph)
