from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Final, Literal, overload

from typing_extensions import TypedDict, Unpack

import numpy

__version__: str

class Error(Exception): ...
class UsageError(Error): ...
class InputError(Error): ...
class IncompleteError(Error): ...

Scenario = Literal["latency", "throughput"]
Scope = Literal["kernel", "end_to_end"]

class Model:
    name: Final[str]
    title: Final[str]
    parts: Final[list[str]]

class Facts:
    name: Final[str]
    parameters: Final[float]
    macs: Final[float]
    operations: Final[float]
    dims: Final[dict[str, int]]
    complete: Final[bool]
    findings: Final[list[str]]

class Subgraph:
    index: Final[int]
    latency_s: Final[float]
    bound: Final[Literal["compute", "memory", "overhead"]]
    binding_resource: Final[str]
    utilization: Final[float]
    dram_bytes: Final[float]
    energy_j: Final[float]
    allocation: Final[str]

class MetricTable:
    def __init__(self) -> None: ...
    keys: Final[list[str]]
    fields: Final[dict[str, tuple[str, bool]]]
    columns: Final[list[tuple[str, str, float, str]]]
    def with_metric(
        self,
        key: str,
        title: str,
        unit: str,
        *,
        higher_is_better: bool = False,
        value: Callable[[Result], float | None],
    ) -> MetricTable: ...

class Result:
    model: Final[str]
    hardware: Final[str]
    power_mode: Final[str]
    stack: Final[str]
    ok: Final[bool]
    status: Final[Literal["ok", "unsupported", "does_not_fit", "incomplete"]]
    reason: Final[str]
    precision: Final[str]  # that was asked for
    executed_precision: Final[str]  # that runs; empty where nothing does
    precision_note: Final[str]
    batch: Final[float]
    # Every number of the metrics by its key ("latency_s", "power_w"): see metrics(). Then what else to_dict() has
    # ("battery_hours").
    def __getattr__(self, key: str) -> Any: ...
    latency_interval_s: Final[tuple[float, float]]
    parts: Final[list[tuple[str, Result]]]
    time_to_first_token_s: Final[float | None]
    time_per_output_token_s: Final[float | None]
    subgraphs: Final[list[Subgraph]]
    def subgraph_name(self, index: int) -> str: ...
    def metrics(self, metrics: MetricTable | None = None) -> dict[str, float | None]: ...
    def to_json(self, metrics: MetricTable | None = None) -> str: ...
    def to_dict(self, metrics: MetricTable | None = None) -> dict[str, Any]: ...

class Comparison:
    results: Final[list[Result]]
    def __iter__(self) -> Iterator[Result]: ...
    def __len__(self) -> int: ...
    def best(self, metric: str = "latency") -> Result | None: ...
    @property
    def advice(self) -> list[dict[str, Any]]: ...
    def to_json(self) -> str: ...
    def to_dict(self) -> dict[str, Any]: ...
    def to_text(self, width: int = 100, verbose: bool = False) -> str: ...
    def to_html(self) -> str: ...
    def to_dataframe(self) -> Any: ...
    @classmethod
    def schema(cls) -> dict[str, Any]: ...

class Question(TypedDict, total=False):
    """The fields of a question: the keywords of whatever estimates. What is left out is as the tools take it."""

    precision: str
    batch: int | str
    dims: Mapping[str, int]
    inputs: Mapping[str, int | Sequence[int]]
    input_shapes: Mapping[str, Sequence[int]]
    real_inputs: Mapping[str, float | Sequence[float]]
    input_sequences: Sequence[str]
    steps: int | str
    image_size: int | str
    frames: int | str
    prompt_tokens: int | str | None
    generate_tokens: int | str | None
    context: int | str | None
    sampling: Literal["greedy", "top-p"]
    parallel: str | None
    beams: int
    activations: str | None
    weights: str | None
    kv_cache: str | None
    strict_fp32: bool
    runtime: str
    stack: str
    scenario: Scenario
    scope: Scope
    devices: int | Literal["auto"]
    allow_unknown: bool
    ideal_mapping: bool
    single_pass: bool
    changes: Mapping[str, float | str]
    fusion: str
    overrides: Sequence[str]
    every: str
    fps: float | str
    companions: Sequence[str]
    battery: str
    idle_power: str

class LimitedQuestion(Question, total=False):
    """What comparisons take beside the question: limits with a unit ("33ms") or in SI units, and the metrics of a front."""

    max_latency: float | str
    min_throughput: float | str
    max_power: float | str
    min_efficiency: float | str
    max_energy: float | str
    min_utilization: float | str
    max_memory: float | str
    max_cost: float | str
    max_carbon: float | str
    max_balance: float | str
    min_token_rate: float | str
    max_token_time: float | str
    max_first_token: float | str
    min_total_token_rate: float | str
    max_token_energy: float | str
    pareto: Sequence[str]

class ServerQuestion(Question, total=False):
    """The fields of a request to a server, beside those of the question: the flags of serve_model."""

    rate: float
    rate_per_s: float
    arrivals: Literal["poisson", "constant", "bursty"]
    burstiness: float
    concurrency: int
    requests: int
    warm_up: int
    output_tokens: float
    shape: Literal["constant", "uniform", "exponential"]
    length_range: str
    lengths: str
    trace: str
    distinct_prompts: int
    system_prompts: int
    system_tokens: int
    seed: int
    reserved_context: int
    admission: Literal["stack", "whole-answer", "prompt", "expected"]
    memory_share: float
    max_sequences: int
    step_tokens: int
    block_tokens: int
    whole_prompts: bool
    whole_graph: bool
    captured_tokens: int
    wait_tokens: float
    wait_prompts: int
    wait_steps: int
    poll_steps: int
    request_time: str
    side_by_side: bool
    stream_interval: int
    prefix_hit: float
    no_prefix_cache: bool
    drafted: int
    accepted: float
    draft_cost: float
    prompt_devices: int
    prompt_parallel: str
    pue: float
    grid_intensity: float | str

class SizingQuestion(ServerQuestion, total=False):
    """What size() takes beside the load: limits on waiting, and how sure they must hold."""

    ttft_p99: float | str
    tpot_p99: float | str
    e2e_p99: float | str
    confidence: float
    max_devices: int

class Session:
    def __init__(self, data: str = "", hardware_db: Sequence[str] = ()) -> None: ...
    hardware: Final[list[str]]
    models: Final[list[str]]
    def load(self, model: str | PathLike[str]) -> Model: ...
    def given(self, rows: Sequence[str]) -> None: ...
    def facts(self, model: Model | str, **question: Unpack[Question]) -> Facts: ...
    def estimate(self, model: Model | str | PathLike[str], device: str, **question: Unpack[Question]) -> Result: ...
    def compare(
        self,
        models: str | Sequence[str],
        hardware: str | Sequence[str] = (),
        *,
        deployment: str = "",
        stacks: Sequence[str] = (),
        **question: Unpack[LimitedQuestion],
    ) -> Comparison: ...
    def study(self, file: str | PathLike[str]) -> Study: ...
    def architectures(
        self,
        model: str,
        architectures: Sequence[str] = (),
        *,
        explain: Sequence[str] = (),
        metric: str = "energy",
        level: Literal["summary", "detailed", "subgraph"] = "summary",
        baseline: str = "",
        **question: Unpack[LimitedQuestion],
    ) -> ArchitectureComparison: ...
    def model_classes(
        self, architectures: Sequence[str] = (), *, baseline: str = "", **question: Unpack[Question]
    ) -> ModelClassComparison: ...
    def batches(
        self,
        model: str,
        hardware: str | Sequence[str],
        batches: Sequence[int | str] = ...,
        **question: Unpack[LimitedQuestion],
    ) -> BatchAnalysis: ...
    def serve(self, model: str, hardware: str | Sequence[str], **load: Unpack[ServerQuestion]) -> Serving: ...
    def size(self, model: str, hardware: str | Sequence[str], **load: Unpack[SizingQuestion]) -> Sizing: ...
    def local(
        self,
        device: str,
        models: str | Sequence[str] = (),
        *,
        host: str = "",
        kind: Literal["language", "vision", "speech"] = "language",
        context: int = 8000,
        formats: Sequence[str] = (),
        least_tokens_per_s: float | None = None,
        devices: int = 1,
    ) -> LocalModels: ...
    def explain(
        self,
        models: str | Sequence[str],
        hardware: str | Sequence[str],
        *,
        metric: str = "latency",
        **question: Any,
    ) -> Difference: ...
    def engine(self, model: Model | str, device: str, **load: Unpack[ServerQuestion]) -> StepEngine: ...
    def sweep(
        self,
        model: Model | str,
        hardware: Sequence[str],
        batches: Sequence[int | str],
        *,
        metrics: MetricTable | None = None,
        **question: Unpack[Question],
    ) -> dict[str, numpy.ndarray]: ...

class Step:
    seconds: float
    joules: float
    low_s: float
    high_s: float

class StepEngine:
    cache_room_bytes: float
    def step(self, requests: Sequence[tuple[int, int]]) -> Step: ...
    def cache_bytes(self, positions: float) -> float: ...

class _Answer:
    def to_text(self, width: int = 100) -> str: ...
    def to_markdown(self) -> str: ...
    def to_csv(self) -> str: ...
    def to_html(self) -> str: ...
    def to_json(self) -> str: ...
    def to_dict(self) -> dict[str, Any]: ...
    @classmethod
    def schema(cls) -> dict[str, Any]: ...
    def save(self, path: str | PathLike[str]) -> Path: ...

class Study(_Answer):
    results: Final[list[Result]]
    @staticmethod
    def of_results(results: Sequence[Result], title: str) -> Study: ...
    def to_dataframe(self) -> Any: ...

class ArchitectureComparison(_Answer):
    results: Final[list[Result]]
    labels: Final[list[str]]
    def to_dataframe(self) -> Any: ...

class BatchAnalysis(_Answer):
    results: Final[list[Result]]
    def to_dataframe(self) -> Any: ...

class ModelClassComparison(_Answer):
    def to_dataframe(self) -> Any: ...

class Serving(_Answer): ...
class Sizing(_Answer): ...
class LocalModels(_Answer): ...

class Difference(_Answer):
    results: Final[list[Result]]

class HistoryChanges(_Answer):
    worse: Final[int]

class HistoryRows(_Answer):
    def to_dataframe(self) -> Any: ...

def save_results(file: str | PathLike[str], results: Sequence[Result], title: str = ...) -> int: ...
def compare(
    models: str | Sequence[str],
    hardware: str | Sequence[str] = (),
    *,
    session: Session | None = None,
    deployment: str = "",
    stacks: Sequence[str] = (),
    **question: Unpack[LimitedQuestion],
) -> Comparison: ...
def estimate(model: Model | str | PathLike[str], device: str, *, session: Session | None = None, **question: Unpack[Question]) -> Result: ...
def size(model: str, hardware: str | Sequence[str], *, session: Session | None = None, **load: Unpack[SizingQuestion]) -> Sizing: ...
# Keywords are those of the methods of Session.
def local(device: str, models: str | Sequence[str] = (), *, session: Session | None = None, **how: Any) -> LocalModels: ...
def explain(models: str | Sequence[str], hardware: str | Sequence[str], *, session: Session | None = None, **how: Any) -> Difference: ...
def compare_history(
    file: str | PathLike[str],
    before: str = "previous",
    after: str = "last",
    *,
    metric: str = "latency",
    threshold: float = 0.0,
) -> HistoryChanges: ...
def history_rows(file: str | PathLike[str]) -> HistoryRows: ...

def from_torch(
    module: Any, example_inputs: Any, *, session: Session | None = None, name: str | None = None, opset: int = 17
) -> Model: ...

BACKENDS: dict[str, tuple[str, str]]

class Best(str):
    among: list[str]
    left_out: list[str]

class ComparisonRunner:
    session: Session
    results: list[tuple[str, Result]]
    def __init__(
        self,
        model: Model | str | Sequence[Model | str],
        backends: Sequence[str | Mapping[str, str]] = ...,
        batch_sizes: Sequence[int] = (1,),
        *,
        session: Session | None = None,
        **question: Unpack[Question],
    ) -> None: ...
    def run(self, progress: Callable[[int, int], object] | None = None) -> ComparisonRunner: ...
    def study(self, title: str = "Comparison") -> Study: ...
    def to_dataframe(self) -> Any: ...
    def best(self, metric: str = "latency", *, batch: int | None = None, model: str | None = None) -> Best | None: ...
    def speedups(self, baseline: str | None = None) -> dict[tuple[str, int], dict[str, float | None]]: ...
    def generate_report(self, path: str | PathLike[str] = "comparison_report.html", title: str = "Comparison") -> Path: ...
    def save(self, file: str | PathLike[str], title: str = "ComparisonRunner") -> int: ...

class SweepRows:
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[dict[str, Any]]: ...
    def to_dataframe(self) -> Any: ...
    def to_csv(self, path: str | PathLike[str]) -> None: ...
    def to_parquet(self, path: str | PathLike[str]) -> None: ...

class SweepQuestion(Question, total=False):
    """What sweep() takes beside the fields of the question."""

    vary: Mapping[str, str | Sequence[float | str]] | Sequence[str] | None
    batches: Sequence[int | str]
    precisions: str | Sequence[str] | None
    hardware_db: str | Sequence[str]
    client: Any
    progress: bool | Callable[[int, int], object] | None
    threads: int | None

@overload
def sweep(
    models: str | Sequence[str], hardware: str | Sequence[str], *, output: None = None, **how: Unpack[SweepQuestion]
) -> SweepRows: ...
@overload
def sweep(
    models: str | Sequence[str], hardware: str | Sequence[str], *, output: str | PathLike[str], **how: Unpack[SweepQuestion]
) -> Path: ...
def to_dataframe(results: Comparison | Iterable[Result]) -> Any: ...
