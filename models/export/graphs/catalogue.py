"""Catalogue entries as the build writes them: a family module yields `Entry` objects, each with its graph."""

from dataclasses import dataclass, field
from typing import Callable, Optional


@dataclass
class Entry:
    name: str
    family: str
    task: str
    kind: str
    title: str
    source: str
    dims: dict
    published: dict
    catalogue: str  # file of the catalogue: language, audio, multimodal, micro
    build: Optional[Callable] = None  # () -> GraphBuilder; None for an entry made of parts
    macs_formula: str = ""
    aliases: list = field(default_factory=list)
    parts: list = field(default_factory=list)
    buffers: list = field(default_factory=list)
    llm: Optional[dict] = None
    lm_head: str = ""
    note: str = ""

    def to_json(self):
        entry = {"name": self.name}
        if self.build:
            entry["file"] = f"onnx/{self.name}.onnx"
        entry.update(
            family=self.family,
            task=self.task,
            kind=self.kind,
            aliases=self.aliases,
            title=self.title,
            dims=self.dims,
            buffers=self.buffers,
        )
        optional = {
            "parts": self.parts,
            "llm": self.llm,
            "lm_head": self.lm_head,
            "macs_formula": self.macs_formula,
            "note": self.note,
        }
        entry.update({key: value for key, value in optional.items() if value})
        entry.update(source=self.source, published=self.published)
        return entry


def part(name, model, repeat=1, **dims):
    return {"name": name, "model": model, "repeat": repeat, "dims": dims}
