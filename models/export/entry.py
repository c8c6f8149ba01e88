"""One row of a table of vision models, and what a row becomes: an ONNX file and a catalogue entry."""
from dataclasses import dataclass, field
from typing import Callable, Dict, List, Optional, Tuple

IMAGE_AXES = {"input": {0: "batch", 2: "height", 3: "width"}}
BATCH_NORM_BUFFERS = ("*.running_mean", "*.running_var")
# Tables that fold.py computed from sizes alone.
FOLDED_TABLES = "*:constant"


@dataclass
class Entry:
    name: str
    title: str
    family: str
    task: str
    source: str
    build: Callable  # () -> torch.nn.Module
    size: Tuple[int, ...]  # the default height and width; before them the frames of a video
    # How the tracer is asked for symbolic sizes: "traced" marks height and width as dynamic, "named" writes
    # their symbols on the input afterwards (operators that the tracer wants fixed, yet do not depend on the
    # size), "fixed" leaves the architecture's only size.
    spatial: str = "traced"
    aliases: List[str] = field(default_factory=list)
    outputs: Tuple[str, ...] = ("output",)
    not_exported: Optional[Dict] = None  # {"pattern": module name pattern, "reason": ...}
    # Name patterns of float tensors that are constants of the architecture, beside the batch-norm statistics.
    buffers: Tuple[str, ...] = ()
    # Largest accepted relative distance from the published figures; of the MACs, where that is more.
    tolerance: float = 0.002
    macs_tolerance: float = 0.0

    def axes(self):
        """(traced, named) symbolic axes of the input."""
        batch = {"input": {0: "batch"}}
        spatial = {"input": {2: "height", 3: "width"}}
        return {"traced": (IMAGE_AXES, {}), "named": (batch, spatial), "fixed": (batch, {})}[self.spatial]

    def buffer_patterns(self):
        return BATCH_NORM_BUFFERS + (FOLDED_TABLES,) + self.buffers

    def dims(self):
        dims = {"batch": 1}
        if self.spatial != "fixed":
            dims.update(height=self.size[0], width=self.size[1])
        return dims
