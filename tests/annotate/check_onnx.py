"""The checker of the onnx package over annotated copies: check_onnx.py FILE..."""

import sys

import onnx

for file in sys.argv[1:]:
    model = onnx.load(file)
    assert model.ir_version >= 10, f"{file}: nodes have metadata from IR version 10 on"
    # Debian's checker ends earlier; what the copy has beyond it is unknown fields to it.
    model.ir_version = min(model.ir_version, onnx.IR_VERSION)
    onnx.checker.check_model(model)
    assert not any(tensor.ByteSize() > 65536 for tensor in model.graph.initializer), f"{file}: holds weights"
print(f"{len(sys.argv) - 1} copies pass onnx {onnx.__version__}'s checker")
