"""A small writer of weights-free ONNX graphs.

Weights are initialisers with a name, a type and dimensions but no payload, so a 70-billion-parameter model is
a file of a few hundred kilobytes. Constants that decide shapes (int64) and scalar factors keep their values.

Modules are addressed by a path such as "model/layers.0/self_attn/q_proj": nodes are called
"/<path>/<operator>" (the style of the PyTorch exporter) and parameters
"model.layers.0.self_attn.q_proj.weight" (the style of published checkpoints). Linear weights are stored
input x output, as MatMul needs them.
"""

from onnx import TensorProto, helper

FLOAT = TensorProto.FLOAT
FLOAT16 = TensorProto.FLOAT16
INT64 = TensorProto.INT64
INT32 = TensorProto.INT32
BOOL = TensorProto.BOOL
MICROSOFT = "com.microsoft"
OPSET = 17
INT64_MAX = 2**63 - 1


class GraphBuilder:
    """Collects inputs, initialisers and nodes in order and writes one ModelProto."""

    def __init__(self, name, elem=FLOAT):
        self.name = name
        self.elem = elem  # type of weights and activations
        self._inputs, self._outputs, self._nodes = [], [], []
        self._initializers = {}
        self._constants = {}
        self._node_names = {}
        self._domains = {""}

    def input(self, name, dims, elem=None):
        self._inputs.append(helper.make_tensor_value_info(name, self.elem if elem is None else elem, dims))
        return name

    def output(self, value, dims, elem=None):
        self._outputs.append(helper.make_tensor_value_info(value, self.elem if elem is None else elem, dims))

    def weight(self, name, dims, elem=None):
        """A parameter or table without payload. Asking twice for one name gives the same (tied) tensor."""
        tensor = TensorProto(name=name, data_type=self.elem if elem is None else elem, dims=dims)
        known = self._initializers.setdefault(name, tensor)
        if known != tensor:
            raise ValueError(f"initialiser {name} asked for twice with different dimensions")
        return name

    def ints(self, *values):
        """A one-dimensional int64 constant."""
        name = "ints_" + "_".join(str(v) for v in values)
        self._initializers.setdefault(name, helper.make_tensor(name, INT64, [len(values)], values))
        return name

    def int_scalar(self, value):
        name = f"int_{value}"
        self._initializers.setdefault(name, helper.make_tensor(name, INT64, [], [value]))
        return name

    def scalar(self, value):
        """A scalar factor of the graph's floating type, as a Constant node (so that it is no parameter)."""
        if value not in self._constants:
            name = f"/Constant_{len(self._constants)}"
            tensor = helper.make_tensor("value", self.elem, [], [value])
            self._nodes.append(helper.make_node("Constant", [], [name], name=name, value=tensor))
            self._constants[value] = name
        return self._constants[value]

    def node(self, op, path, inputs, outputs=1, domain="", out=None, label=None, **attributes):
        """Adds a node under module `path`. `outputs` is a count or a tuple of flags (False: output not used);
        `out` gives the outputs explicit names. Returns one name, or a list where several are asked for."""
        base = f"/{path}/{label or op}" if path else f"/{label or op}"
        seen = self._node_names.get(base, 0)
        self._node_names[base] = seen + 1
        name = f"{base}_{seen}" if seen else base
        flags = (True,) * outputs if isinstance(outputs, int) else outputs
        if out is None:
            names = [(f"{name}_output_{i}" if i else name) if used else "" for i, used in enumerate(flags)]
        else:
            names = [out] if isinstance(out, str) else list(out)
        self._domains.add(domain)
        self._nodes.append(
            helper.make_node(op, list(inputs), names, name=name, domain=domain or None, **attributes)
        )
        return names[0] if len(names) == 1 else names

    def model(self):
        graph = helper.make_graph(
            self._nodes, self.name, self._inputs, self._outputs, list(self._initializers.values())
        )
        versions = {"": OPSET, MICROSOFT: 1}
        imports = [helper.make_opsetid(domain, versions[domain]) for domain in sorted(self._domains)]
        return helper.make_model(graph, producer_name="archsim-graphs", ir_version=8, opset_imports=imports)
