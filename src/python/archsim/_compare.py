"""Comparisons as objects: backends by name, studies, architectures, batches, serving, files of results."""

import functools
import html
import json
import os
import pathlib
import re

from . import _archsim
from ._archsim import Comparison, IncompleteError, MetricTable, Result, Session, UsageError

# What a backend's name stands for where no device is chosen: a device that people have, and the stack on it. A device of
# one's own: {"device": "L4", "stack": "tensorrt"}.
BACKENDS = {
    "cpu": ("Xeon-8490H", ""),
    "openvino": ("Xeon-8490H", "openvino"),
    "onnxruntime": ("Xeon-8490H", "onnxruntime-cpu"),
    "cuda": ("H100", "pytorch-eager"),
    "tensorrt": ("H100", "tensorrt"),
    "rocm": ("MI300X", "pytorch-eager"),
    "migraphx": ("MI300X", "rocm-migraphx"),
    "directml": ("RTX-4090", "directml"),
    "webgpu": ("RTX-4090", "webgpu"),
    "webnn": ("RTX-4090", "webnn"),
    "metal": ("Apple-M3-Max-GPU", "metal"),
    "coreml": ("Apple-ANE-M3", "coreml"),
    "tpu": ("TPU-v4", ""),
    "qnn": ("Snapdragon-X-Elite-NPU", "qnn"),
    "hailo": ("Hailo-8", ""),
}


@functools.lru_cache(maxsize=1)
def default_session():
    """The Session that functions use when none is given."""
    return Session()


def _document(self, *metrics, **named):
    """The JSON document of the tools as a dictionary."""
    return json.loads(self.to_json(*metrics, **named))


@classmethod
def _schema(cls):
    """The JSON Schema (draft 7) of the document that to_dict() gives, as a dictionary."""
    return json.loads(cls.schema_json())


def _number(self, key):
    """Any other field of a result's document ("battery_hours", "rank"); what the document has not is no attribute."""
    row = {} if key.startswith("_") else self.to_dict()
    if key not in row:
        raise AttributeError(f"a Result has no {key}; it has {', '.join(row)}")
    return row[key]


def _best(self, metric="latency"):
    """The Result that ranks first by a metric, by the policy of every answer; None where nothing runs that may lead."""
    results = self.results
    return next((results[index] for index, place in _archsim.places(results, metric) if place), None)


def _save(self, path):
    """Writes a file in the format of its extension: .html, .md, .csv, .json, .txt."""
    path = pathlib.Path(path)
    writers = {".html": "to_html", ".md": "to_markdown", ".csv": "to_csv", ".json": "to_json", ".txt": "to_text"}
    if path.suffix not in writers:
        raise UsageError(f'"{path}": use an extension of {", ".join(writers)}')
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(getattr(self, writers[path.suffix])(), encoding="utf-8")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path


# A notebook's cell shows so many rows of an answer; all of them are in to_html() and to_dataframe().
ROWS_SHOWN = 20


def _verdict(self):
    """What the report says first: its title, and the lines below it up to an empty one."""
    first = "\n".join(part for part in self.to_text().split("\n\n")[:2])
    lines = "\n".join(line for line in first.split("\n") if line.strip("= "))
    return re.sub(r"--([a-z][a-z-]+)", lambda flag: flag[1].replace("-", "_"), lines)  # keywords here


def _advice(self):
    """What was tried and is better: for each the device, the sentence, and the keywords that ask for it."""
    helps = [helped for verdict in self.to_dict()["verdicts"] for helped in verdict["helps"]]
    return [{"hardware": helped["devices"][0], "text": helped["text"], "asks": helped["asks"]} for helped in helps]


def _table(rows, header=()):
    """An HTML table of texts; the first of a row is its head."""
    line = "".join(f"<th>{html.escape(name)}</th>" for name in header)
    cells = "".join(
        f"<tr><th>{html.escape(head)}</th>{''.join(f'<td>{html.escape(text)}</td>' for text in texts)}</tr>"
        for head, *texts in rows
    )
    return f"<table><tr>{line}</tr>{cells}</table>" if header else f"<table>{cells}</table>"


def _shown(numbers, columns):
    """The values of a result under their titles: [(title with unit, text)], those that it has."""
    return {
        f"{title} ({unit})" if unit else title: f"{numbers[field] * scale:.4g}"
        for title, field, scale, unit in columns
        if numbers[field] is not None
    }


def _repr_html(self):
    """The verdict and the first results as a table: small enough for a notebook to keep."""
    verdict = f"<p>{html.escape(_verdict(self))}</p>"
    results = getattr(self, "results", None)
    if not results:
        return verdict
    columns = MetricTable().columns
    shown = [(result, _shown(result.metrics(), columns) if result.ok else {}) for result in results[:ROWS_SHOWN]]
    titles = list(dict.fromkeys(title for _, values in shown for title in values))
    rows = [
        (f"{result.model} on {result.hardware}", "" if result.ok else result.reason, *(values.get(t, "") for t in titles))
        for result, values in shown
    ]
    more = f"<p>{len(results) - ROWS_SHOWN} more rows: to_html(), to_dataframe()</p>" if len(results) > ROWS_SHOWN else ""
    return verdict + _table(rows, ["", "", *titles]) + more


def _result_repr(self):
    head = f"{self.model} on {self.hardware}"
    if not self.ok:
        return f"<Result {head}: {self.status}: {self.reason}>"
    how = f"{head} in {self.executed_precision}, {self.stack}, batch {self.batch:g}"
    if token := self.time_per_output_token_s:  # an answer to a prompt
        return f"<Result {how}: {1 / token:.4g} tokens/s, first token {self.time_to_first_token_s * 1e3:.4g} ms>"
    low, high = self.latency_interval_s
    return f"<Result {how}: {self.latency_s * 1e3:.4g} ms ({low * 1e3:.4g} to {high * 1e3:.4g}, 90 %)>"


def _result_repr_html(self):
    rows = [("model", self.model), ("hardware", self.hardware), ("stack", self.stack), ("batch", f"{self.batch:g}")]
    if self.ok:
        rows += _shown(self.metrics(), MetricTable().columns).items()
        low, high = self.latency_interval_s
        rows.append(("90 % interval of the latency", f"{low * 1e3:.4g} to {high * 1e3:.4g} ms"))
    else:
        rows.append((self.status, self.reason))
    return _table(rows)


# Every class of answers.
for _answer in [kind for kind in vars(_archsim).values() if hasattr(kind, "to_markdown")]:
    _answer.to_dict, _answer.schema = _document, _schema
    _answer.save = _save
    _answer._repr_html_ = _repr_html
    _answer.__repr__ = _verdict
Comparison.to_dict = Result.to_dict = _document
Comparison.schema, Result.__getattr__ = _schema, _number
Comparison._repr_html_ = _repr_html
Comparison.__repr__ = _verdict
Comparison.advice = property(_advice)
Comparison.best = _best
Comparison.__iter__ = lambda self: iter(self.results)
Comparison.__len__ = lambda self: len(self.results)
Result._repr_html_ = _result_repr_html
Result.__repr__ = _result_repr


def _frame_of_results(self):
    """One row per result as a pandas DataFrame."""
    import pandas

    return pandas.DataFrame.from_records([json.loads(result.to_json()) for result in self.results])


for _answer in (_archsim.Study, _archsim.ArchitectureComparison, _archsim.BatchAnalysis):
    _answer.to_dataframe = _frame_of_results


def _frame_of_rows(self):
    """One row per row of the answer as a pandas DataFrame."""
    import pandas

    return pandas.DataFrame.from_records(self.to_dict()["rows"])


_archsim.HistoryRows.to_dataframe = _frame_of_rows
_archsim.ModelClassComparison.to_dataframe = _frame_of_rows


def _names(one_or_more):
    return [one_or_more] if isinstance(one_or_more, (str, os.PathLike)) else list(one_or_more)


# Functions whose first argument is a session are its methods.
Session.study = _archsim.read_study
for _name in ("architectures", "model_classes", "batches", "serve", "size", "local", "explain", "engine"):
    setattr(Session, _name, getattr(_archsim, _name))


def _of_session(name):
    """A method of Session as a function, of the session that is given or of the default one."""

    def call(*arguments, session=None, **how):
        return getattr(session or default_session(), name)(*arguments, **how)

    call.__name__, call.__doc__ = name, getattr(Session, name).__doc__
    return call


compare, estimate, size, local, explain = map(_of_session, ("compare", "estimate", "size", "local", "explain"))


def _place(session, backend):
    """A backend's name in tables, its device and its stack."""
    if isinstance(backend, dict):
        unknown = set(backend) - {"device", "stack", "name"}
        if unknown or "device" not in backend:
            raise UsageError(f"backend {backend}: give device, and stack and name where they matter")
        device, stack = backend["device"], backend.get("stack", "")
        return backend.get("name") or (f"{device} ({stack})" if stack else device), device, stack
    known = BACKENDS.get(backend.lower())
    if known is not None:
        return backend, *known
    if backend.split("@")[0] in session.hardware or backend.endswith(".json"):
        return backend, backend, ""
    raise UsageError(f'backend "{backend}": use {", ".join(BACKENDS)}, a device, or a dict with device and stack')


class Best(str):
    """A backend's name. `among`: what it was chosen among, best first; `left_out`: what may not lead, and why."""

    def __new__(cls, name, among, left_out):
        best = super().__new__(cls, name)
        best.among, best.left_out = among, left_out
        return best


class ComparisonRunner:
    """One model, or several, on backends at batch sizes.

    >>> runner = ComparisonRunner("resnet18", backends=["cpu", "cuda"], batch_sizes=[1, 4], precision="fp16")
    >>> runner.run().best("latency", batch=1)
    'cuda'

    model: a name, a path, a loaded Model, or a list of these.
    backends: names (BACKENDS: "cpu", "cuda", "rocm", "directml", ...), devices of the database, or
        {"device": "L4", "stack": "tensorrt"}.
    question: the other fields of a question, as Session.estimate takes them: precision, dims, scenario, scope, weights ...
        With prompt_tokens or generate_tokens language models answer a prompt, with prompt and steps apart.
    """

    def __init__(
        self,
        model,
        backends=("cpu", "cuda"),
        batch_sizes=(1,),
        *,
        session=None,
        **question,
    ):
        self.session = session if session is not None else default_session()
        self.models = list(model) if isinstance(model, (list, tuple)) else [model]
        self.places = [_place(self.session, backend) for backend in backends]
        self.batch_sizes = list(batch_sizes)
        if not (self.models and self.places and self.batch_sizes):
            raise UsageError("give at least one model, one backend and one batch size")
        self._how = question
        self.results = []  # (backend, Result), in the order of models, batch sizes, backends

    def run(self, progress=None):
        """Estimates every combination and returns the runner; progress(done, total) is called after each.

        Raises IncompleteError where no combination has an estimate because sizes of the model are open: the message says
        which `dims` they want.
        """
        models = [self.session.load(model) if isinstance(model, (str, os.PathLike)) else model for model in self.models]
        total = len(models) * len(self.batch_sizes) * len(self.places)
        self.results = []
        for model in models:
            for batch in self.batch_sizes:
                for name, device, stack in self.places:
                    result = self.session.estimate(model, device, batch=batch, stack=stack, **self._how)
                    self.results.append((name, result))
                    if progress is not None:
                        progress(len(self.results), total)
        if self.results and all(result.status == "incomplete" for _, result in self.results):
            raise IncompleteError(self.results[0][1].reason)
        return self

    def _ran(self):
        if not self.results:
            raise UsageError("nothing was estimated yet: call run() first")
        return self.results

    def study(self, title="Comparison"):
        """The results as a Study: ranked for every model and batch."""
        return _archsim.Study.of_results([result for _, result in self._ran()], title)

    def to_dataframe(self):
        """One row per combination as a pandas DataFrame, with the backend's name."""
        import pandas

        return pandas.DataFrame.from_records(
            [{"backend": name, **json.loads(result.to_json())} for name, result in self._ran()]
        )

    def best(self, metric="latency", *, batch=None, model=None):
        """The backend that ranks first by a metric, by the policy of every answer; None where nothing runs that may lead.

        It is a text that knows what it was chosen among: see Best.
        """
        fields = _archsim.MetricTable().fields
        if metric not in fields:
            raise UsageError(f'metric "{metric}": use {", ".join(fields)}')
        rows = [
            (name, result)
            for name, result in self._ran()
            if (batch is None or result.batch == batch) and (model is None or result.model == model)
        ]
        chosen, others = [], []
        for index, place in _archsim.places([result for _, result in rows], metric):
            name, result = rows[index]
            at = f"{name}: {result.hardware}, {result.stack}, batch {result.batch:g}"
            value = getattr(result, fields[metric][0])
            if place:
                chosen.append((name, f"{at}, {value:.4g}"))
            else:
                others.append(f"{at}: {json.loads(result.to_json())['evidence'] if result.ok else result.reason}")
        return Best(chosen[0][0], [text for _, text in chosen], others) if chosen else None

    def speedups(self, baseline=None):
        """{(model, batch): {backend: times faster than the baseline}}; the first backend where none is named."""
        base = baseline if baseline is not None else self.places[0][0]
        table = {}
        for name, result in self._ran():
            table.setdefault((result.model, int(result.batch)), {})[name] = result.latency_s if result.ok else None
        if base not in {name for name, _, _ in self.places}:
            raise UsageError(f'baseline "{base}" is not among the backends')
        return {
            key: {name: times[base] / value if times[base] and value else None for name, value in times.items()}
            for key, times in table.items()
        }

    def generate_report(self, path="comparison_report.html", title="Comparison"):
        """Writes the report in the format of the extension: .html, .md, .csv, .json, .txt."""
        return self.study(title).save(path)

    def save(self, file, title="ComparisonRunner"):
        """Adds the results to a file of results (SQLite); returns the run's number."""
        return _archsim.save_results(file, [result for _, result in self._ran()], title)

    def _repr_html_(self):
        return self.study()._repr_html_()
