"""Design-space sweeps as one call: on this machine, or in parts on the workers of a Dask cluster."""

import collections
import csv
import functools
import io
import os
import pathlib
import sys

from ._archsim import DesignSpace, Session, UsageError
from ._compare import _names

# Points of a part on a cluster: a second's work, so that a worker that dies takes little with it.
_POINTS_OF_A_PART = 50_000

_TEXTS = ("model", "hardware", "runtime", "precision", "executed_precision", "status", "evidence", "reason")
_INTEGERS = ("point", "batch_size")


@functools.lru_cache(maxsize=4)
def _session(hardware_db):
    return Session(hardware_db=list(hardware_db))


def _space(request, part=0, parts=1):
    arguments = dict(request)
    return DesignSpace(_session(tuple(arguments.pop("hardware_db"))), part=part, parts=parts, **arguments)


def _rows_of_part(request, format, part, parts):
    """What a worker computes; the session stays with its process for the next part."""
    return _space(request, part, parts).rows(format)


def _on_cluster(client, request, format, parts):
    """The rows of every part in order. A few parts per thread are under way or wait to be taken, no more; the scheduler
    gives the parts of a worker that died to the others."""
    ahead = 2 * max(1, sum(client.nthreads().values())) + 2
    waiting = collections.deque()
    submitted = 0
    try:
        while waiting or submitted < parts:
            while submitted < parts and len(waiting) < ahead:
                waiting.append(client.submit(_rows_of_part, request, format, submitted, parts, pure=False))
                submitted += 1
            yield waiting[0].result()
            waiting.popleft()
    finally:
        client.cancel(list(waiting))


def _here(request, format, parts, threads):
    for part in range(parts):
        yield _space(request, part, parts).rows(format, threads)


def _columns(header):
    return header.decode().rstrip("\n").split(",")


def _data_frame(text, header):
    import pandas

    columns = _columns(header)
    types = {name: str if name in _TEXTS else "int64" if name in _INTEGERS else "float64" for name in columns}
    numbers = {name: [""] for name in columns if types[name] == "float64"}
    return pandas.read_csv(
        io.BytesIO(text), names=columns, header=None, dtype=types, keep_default_na=False, na_values=numbers
    )


def _number(name, text):
    return None if text == "" else int(text) if name in _INTEGERS else float(text)


class _TextFile:
    def __init__(self, path, header):
        self._file = open(path, "wb")
        self._file.write(header)

    def add(self, rows):
        self._file.write(rows)

    def close(self):
        self._file.close()


class _ParquetFile:
    """One row group per part."""

    def __init__(self, path, header):
        import pyarrow
        import pyarrow.parquet

        types = {name: pyarrow.string() for name in _TEXTS} | {name: pyarrow.int64() for name in _INTEGERS}
        self._header = header
        self._schema = pyarrow.schema([(name, types.get(name, pyarrow.float64())) for name in _columns(header)])
        self._table = functools.partial(pyarrow.Table.from_pandas, schema=self._schema, preserve_index=False)
        self._file = pyarrow.parquet.ParquetWriter(path, self._schema)

    def add(self, rows):
        self._file.write_table(self._table(_data_frame(rows, self._header)))

    def close(self):
        self._file.close()


class _Memory(list):
    add = list.append


class SweepRows:
    """The rows of a sweep in memory: one per point, in the order of the points."""

    def __init__(self, header, parts, points):
        self._header = header
        self._parts = parts
        self._points = points

    def __len__(self):
        return self._points

    def __iter__(self):
        """A dictionary per point: numbers as numbers, None where there is none."""
        columns = _columns(self._header)
        for part in self._parts:
            for row in csv.DictReader(io.StringIO(part.decode()), columns):
                yield {name: text if name in _TEXTS else _number(name, text) for name, text in row.items()}

    def __repr__(self):
        """The number of points, and the fastest of those that may be named first."""
        said = f"{self._points:,} point{'s' * (self._points != 1)}; to_dataframe(), to_csv(), to_parquet()"
        looked_at = self if self._points <= _POINTS_OF_A_PART else ()  # a line should not take seconds
        leading = [row for row in looked_at if row["status"] == "ok" and row["evidence"] in ("measured", "related")]
        if leading:
            best = min(leading, key=lambda row: row["latency_s"])
            said = f"{said}; fastest {best['model']} on {best['hardware']}, point {best['point']}: {best['latency_s'] * 1e3:.4g} ms"
        return f"<SweepRows: {said}>"

    def _write(self, file):
        for rows in self._parts:
            file.add(rows)
        file.close()

    def to_dataframe(self):
        """A pandas DataFrame; SI units, NaN where a device cannot run the model."""
        return _data_frame(b"".join(self._parts), self._header)

    def to_csv(self, path):
        """Writes the file that `sweep_design_space --output` would write, byte for byte."""
        self._write(_TextFile(path, self._header))

    def to_parquet(self, path):
        """Writes an Apache Parquet file. Needs pandas and pyarrow; raises ImportError without them."""
        self._write(_ParquetFile(path, self._header))


def _axes(vary):
    """The axes as the tools take them: ["bandwidth=0.5x,1x"] as it is, {"bandwidth": [0.5, "1x"]} written so."""
    if hasattr(vary, "items"):
        words = {name: [f] if isinstance(f, str) else f for name, f in vary.items()}
        return [f"{name}=" + ",".join(f if isinstance(f, str) else f"{float(f)!r}x" for f in words[name]) for name in words]
    if not all("=" in axis for axis in _names(vary)):
        raise TypeError(f'vary: expected parts and how they change, {{"clock": [0.8, 1]}} or ["clock=0.8x,1x"], got {vary!r}')
    return _names(vary)


def _progress(progress):
    if progress is None:
        progress = sys.stderr.isatty()
    if callable(progress):
        return progress
    if not progress:
        return lambda done, points: None

    def show(done, points):
        end = "\n" if done == points else ""
        print(f"\r{done:,} of {points:,} points", end=end, file=sys.stderr, flush=True)

    return show


def sweep(
    models,
    hardware,
    *,
    vary=None,
    batches=(1,),
    precisions=None,
    hardware_db=(),
    client=None,
    output=None,
    progress=None,
    threads=None,
    **question,
):
    """Estimates every point of models x devices x formats x batches x changes of the device, as `sweep_design_space` does.

    vary: the parts of the device that change and how, {"bandwidth": "0.5x..4x:log8", "clock": [0.8, 1, "1.2x"]}, or as the
        tools take them, ["bandwidth=0.5x..4x:log8"].
    precisions: the models' own, fp32 of catalogue models and bf16 of answers to prompts, unless given.
    question: the other fields of a question, as Session.estimate takes them: dims, stack, scenario, scope, weights,
    kv_cache ... With prompt_tokens or generate_tokens language models answer a prompt, and the rows hold their metrics
    (tokens per second, time and energy per token).
    client: a `distributed.Client`; its workers, which have this package, compute parts of the points. A worker that dies
    costs its parts, which others compute; as many as the scheduler allows (three for one part).
    output: a .csv, .ndjson or .parquet file (pyarrow) to which the rows are streamed, with a few parts in memory; the file
    has its name when it is complete. Returns its path then, and else SweepRows.
    progress: called with the points done and all points after every part; True and False show and hide a line (default:
    shown on a terminal). threads: on this machine without a client (default: all).

    Raises InputError and UsageError for names and values that do not exist, before anything is computed.
    """
    request = {
        "models": _names(models),
        "hardware": _names(hardware),
        "vary": _axes(vary or ()),
        "batches": list(batches),
        "precisions": _names(precisions or []),
        **question,
        "hardware_db": [os.path.abspath(folder) for folder in _names(hardware_db)],
    }
    ending = pathlib.Path(output).suffix if output is not None else ".csv"
    if ending not in (".csv", ".ndjson", ".jsonl", ".parquet"):
        raise UsageError(f'output: no format known for "{output}": name a .csv, .ndjson or .parquet file')
    format = "ndjson" if ending in (".ndjson", ".jsonl") else "csv"

    space = _space(request)
    points = space.size
    parts = max(1, -(-points // _POINTS_OF_A_PART))
    header = space.header(format)
    partial = f"{output}.partial"
    if output is None:
        sink = _Memory()
    else:
        sink = (_ParquetFile if ending == ".parquet" else _TextFile)(partial, header)
    if client is not None:
        texts = _on_cluster(client, request, format, parts)
    else:
        texts = _here(request, format, parts, threads or os.cpu_count() or 1)
    show = _progress(progress)
    try:
        for part, rows in enumerate(texts):
            sink.add(rows)
            show(points * (part + 1) // parts, points)
    finally:
        texts.close()  # what is under way on a cluster ends with the call
        if output is not None:
            sink.close()
    if output is None:
        return SweepRows(header, sink, points)
    os.replace(partial, output)
    return pathlib.Path(output)
