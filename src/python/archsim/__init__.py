"""What a neural network costs on a chip, estimated before you own the chip.

>>> import archsim
>>> session = archsim.Session()
>>> model = session.load("clip-vit-b32")
>>> result = session.estimate(model, "H100", batch=8, precision="fp16")
>>> 0 < result.latency_s < 0.01
True
"""

from ._archsim import (
    ArchitectureComparison,
    BatchAnalysis,
    Comparison,
    Difference,
    Error,
    Facts,
    HistoryChanges,
    HistoryRows,
    IncompleteError,
    InputError,
    LocalModels,
    MetricTable,
    Model,
    ModelClassComparison,
    Result,
    Serving,
    Session,
    Sizing,
    Step,
    StepEngine,
    Study,
    Subgraph,
    UsageError,
    __version__,
    compare_history,
    history_rows,
    save_results,
)
from ._compare import BACKENDS, Best, ComparisonRunner, compare, estimate, explain, local, size
from ._sweep import SweepRows, sweep
from ._torch import from_torch


def to_dataframe(results):
    """One row per result (a Comparison, or results of Session.estimate) as a pandas DataFrame.

    Needs pandas; raises ImportError without it.
    """
    import pandas

    rows = results.to_dict()["results"] if isinstance(results, Comparison) else [r.to_dict() for r in results]
    return pandas.DataFrame.from_records(rows)


Comparison.to_dataframe = to_dataframe

# What is for callers: everything here whose name begins with no underscore.
__all__ = sorted(name for name in globals() if not name.startswith("_"))
