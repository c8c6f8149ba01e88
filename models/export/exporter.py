"""From a torch module to a weights-free ModelProto whose node and tensor names follow the module's names."""
import io
import warnings
from unittest import mock

import onnx
import torch

import fold
import strip

OPSET = 17


def make_tensors_distinct(module):
    """The exporter merges initialisers of equal value, and fresh BatchNormalization tensors are all ones and
    zeros: give each a value of its own, so that none is lost from the parameter count."""
    tensors = list(module.named_parameters()) + list(module.named_buffers())
    for i, (_, tensor) in enumerate(tensors):
        if tensor.is_floating_point() and tensor.numel() > 0:
            tensor.data.view(-1)[0] = 1.0 + i * 1e-3


def trace(module, inputs, input_names, output_names, dynamic_axes):
    """Export unfused (Conv and BatchNormalization stay apart, so every published parameter stays countable)."""
    module = module.eval()
    make_tensors_distinct(module)
    buffer = io.BytesIO()
    # SwinV2 sets the bias of its keys to 0 in each pass, which has no counterpart in ONNX and changes no size.
    with warnings.catch_warnings(), mock.patch.object(torch.Tensor, "zero_", lambda tensor: tensor):
        warnings.simplefilter("ignore")
        torch.onnx.export(module, inputs, buffer, export_params=False, opset_version=OPSET,
                          training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False,
                          input_names=input_names, output_names=output_names, dynamic_axes=dynamic_axes)
    return onnx.load_from_string(buffer.getvalue())


def name_axes(values, axes_by_name):
    """Write symbolic dims onto graph inputs: for networks whose operators do not depend on the size that
    they were traced with, although the tracer asks for a fixed one."""
    for value in values:
        for axis, symbol in axes_by_name.get(value.name, {}).items():
            value.type.tensor_type.shape.dim[axis].dim_param = symbol


def drop_output_shapes(graph):
    """Shapes of the outputs follow from the inputs; the traced ones hold for one size only."""
    for value in graph.output:
        elem_type = value.type.tensor_type.elem_type
        value.ClearField("type")
        value.type.tensor_type.elem_type = elem_type


def export(module, inputs, input_names, output_names, dynamic_axes, named_axes=None, foldable=False):
    """dynamic_axes: traced as dynamic, {tensor: {axis: symbol}}. named_axes: see name_axes().
    foldable: fold the shape arithmetic of a network whose one symbolic dim is the batch."""
    model = trace(module, inputs, input_names, output_names, dynamic_axes)
    strip.parameters_to_initializers(model.graph, set(input_names))
    model = strip.strip(model)
    if foldable:
        fold.fold(model, ["batch"])
    name_axes(model.graph.input, named_axes or {})
    drop_output_shapes(model.graph)
    return model
