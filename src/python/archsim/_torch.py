"""PyTorch modules as models: exported to ONNX in memory."""

import contextlib
import inspect
import io
import os
import pathlib
import tempfile
import warnings

from ._archsim import UsageError


@contextlib.contextmanager
def _file_in_memory(name, content):
    """The path of a file that lies in memory: only its name is on a disk, and only for as long as it is used."""
    descriptor = os.memfd_create(name)
    try:
        with open(descriptor, "wb", closefd=False) as file:
            file.write(content)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / f"{name}.onnx"
            path.symlink_to(f"/proc/{os.getpid()}/fd/{descriptor}")
            yield path
    finally:
        os.close(descriptor)


def export_to_onnx(module, example_inputs, *, opset=17):
    """The bytes of the ONNX file that PyTorch exports; the first dimension of every input tensor is "batch".

    The module is traced as it infers (eval), its mode is put back afterwards. Nothing is fused or folded, so that its
    parameters stay countable. Needs torch.
    """
    try:
        import torch
    except ModuleNotFoundError as absent:
        raise ModuleNotFoundError("PyTorch exports the module, and is not installed: pip install torch", name="torch") from absent

    inputs = tuple(example_inputs) if isinstance(example_inputs, (list, tuple)) else (example_inputs,)
    if not all(isinstance(x, torch.Tensor) for x in inputs):
        raise UsageError("example_inputs: give a tensor, or a list of the tensors that the module is called with")
    names = [f"input_{i}" if len(inputs) > 1 else "input" for i in range(len(inputs))]
    options = {
        "input_names": names,
        "dynamic_axes": {name: {0: "batch"} for name, x in zip(names, inputs) if x.dim() > 0},
        "opset_version": opset,
        "do_constant_folding": False,
        "training": torch.onnx.TrainingMode.PRESERVE,
    }
    if "dynamo" in inspect.signature(torch.onnx.export).parameters:
        options["dynamo"] = False  # the tracer: its graphs keep one node per operator
    was_training = module.training
    content = io.BytesIO()
    try:
        module.eval()
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(module, inputs, content, **options)
    finally:
        module.train(was_training)
    return content.getvalue()


def from_torch(module, example_inputs, *, session=None, name=None, opset=17):
    """A PyTorch module as a Model: what Session.estimate(), ComparisonRunner and the others take.

    >>> import torch                                                                        # doctest: +SKIP
    >>> model = archsim.from_torch(torch.nn.Linear(512, 512), torch.zeros(1, 512))          # doctest: +SKIP
    >>> archsim.Session().estimate(model, "H100", batch=8, precision="fp16").latency_s      # doctest: +SKIP

    module: is traced with example_inputs (a tensor or a list of them, first dimension: the batch, which stays open).
    The exported graph lies in memory and no weights are written; modules of 2 GB and more do not fit the format: save
    them as .onnx with external data. Needs torch, on Linux.
    """
    from ._compare import default_session

    session = session if session is not None else default_session()
    name = name or type(module).__name__
    if not name.replace("_", "").replace("-", "").isalnum():
        raise UsageError(f'name: "{name}" has characters other than letters, digits, _ and -')
    with _file_in_memory(name, export_to_onnx(module, example_inputs, opset=opset)) as path:
        return session.load(str(path))
