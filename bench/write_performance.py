"""Measures tools and stages and prints them with their targets; as Markdown into a file when one is named.

write_performance.py TOOLS [--beside OLD_TOOLS] [DOCUMENT]     OLD_TOOLS: bin/ of the last release, measured in turn with TOOLS
"""

import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RUNS = 21
BATCHES, PRECISIONS = "1,2,4,8,16,32,64,128", "fp32,fp16,bf16,int8"
STAGES = ["import_bench", "estimate_bench", "report_bench", "scale_bench"]


def rows_of(name):
    for line in (ROOT / "bench" / name).read_text().splitlines():
        if line and not line.startswith("#"):
            yield [cell.strip() for cell in line.split("|")]


# Tools of a release find the data beside them: not those of these sources.
RELEASED = {name: value for name, value in os.environ.items() if name != "ARCHSIM_DATA_DIR"}


def measure(tools, runs, arguments, environment=None):
    """Median seconds and peak resident bytes of whole processes."""
    line = subprocess.run([str(tools / "measure_process"), str(runs), *arguments],
                          stdout=subprocess.PIPE, text=True, check=True, env=environment).stdout
    milliseconds, kilobytes = line.split()
    return float(milliseconds) / 1e3, int(kilobytes) * 1024


def beside(ours, theirs):
    """The cells "last release" and "ratio" of a time."""
    return [f"{1e3 * theirs:.1f} ms" if theirs < 1 else f"{theirs:.1f} s", f"{theirs / ours:.2f}"] if theirs else []


def instructions(arguments):
    log = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *arguments],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False).stderr
    count = re.search(r"Collected : (\d+)", log)
    return int(count.group(1)) if count else None


def commands(tools, weights, old=None):
    for _, targets, arguments in rows_of("commands.txt"):
        words = arguments.replace("{weights}", weights).split()
        process = [str(tools / words[0]), *words[1:]]
        seconds, peak = measure(tools, RUNS, process)
        before = measure(tools, RUNS, [str(old / words[0]), *words[1:]], RELEASED)[0] if old else None
        yield {
            "before": beside(seconds, before),
            "command": arguments.replace("{weights}", "resnet50.onnx (102 MB)"),
            "targets": targets.split(),
            "ms": 1e3 * seconds,
            "mb": peak / 1e6,
            "instructions": instructions(process),
        }


def stages(tools):
    """Median CPU time of each benchmark: on one thread the same as the time where nothing else runs."""
    for program in STAGES:
        if not (tools / program).exists():
            sys.exit(f"{tools / program}: not built; scripts/test builds it")
        text = subprocess.run(
            [str(tools / program), "--benchmark_format=json", "--benchmark_repetitions=5",
             "--benchmark_min_time=0.1", "--benchmark_report_aggregates_only=true"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
        for row in json.loads(text)["benchmarks"]:
            if row.get("aggregate_name") == "median":
                yield row["run_name"], row["cpu_time"], row["time_unit"]


def devices_of(tools, environment=None):
    return subprocess.run([str(tools / "list_hardware_mappers"), "--names", "devices"], stdout=subprocess.PIPE,
                          text=True, check=True, env=environment).stdout.split()


def catalogue_flags(tools, old):
    """Every network that has a graph on every device, 4 formats, 8 batches; on those that the last release has too."""
    networks = sorted(path.stem for path in (ROOT / "models" / "onnx").glob("*.onnx"))
    devices = devices_of(tools)
    if old:
        known = devices_of(old, RELEASED)
        devices = [device for device in devices if device in known]
        networks = [name for name in networks if (old.parent / f"share/archsim/models/onnx/{name}.onnx").exists()
                    or (old.parent / f"share/archsim/models/onnx/{name}.onnx.gz").exists()]
    return [*networks, "--hardware", ",".join(devices), "--precision", PRECISIONS, "--batch-sizes", BATCHES]


def space_flags(device, clocks, units, bandwidths):
    """ResNet-50 on variants of a device, in 4 formats at 5 batches."""
    return ["resnet50", "--hardware", device, "--precision", PRECISIONS, "--batch-sizes", "1,2,4,8,16",
            "--vary", f"clock=0.5x..1.5x:{clocks}", "--vary", f"units=0.5x..1.5x:{units}",
            "--vary", f"bandwidth=0.25x..4x:log{bandwidths}"]


# What is swept, the target of two cores in seconds, and whether the last release is asked too.
def sweeps(tools, old):
    yield "every network on every device", catalogue_flags(tools, None), 6, False
    if old:
        yield "those of the last release", catalogue_flags(tools, old), None, True
    for device in ("TPU-v4", "H100"):
        yield f"ResNet-50 on variants of {device}", space_flags(device, 20, 10, 250), 5, True
    yield "ResNet-50 on variants of TPU-v4", space_flags("TPU-v4", 50, 20, 500), 60, False


def lines_of(file):
    with open(file, "rb") as stream:
        return sum(block.count(b"\n") for block in iter(lambda: stream.read(1 << 20), b""))


def same_bytes(one, other):
    return subprocess.run(["cmp", "--silent", str(one), str(other)], check=False).returncode == 0


def sweep_rows(tools, folder, old):
    """A row per sweep and number of threads, and whether the files of any number of threads were the same."""
    same = True
    rows = []
    for name, flags, target, ask_old in sweeps(tools, old):
        first = None
        for threads in sorted({1, os.cpu_count() or 1})[0 if ask_old else -1:]:
            output = Path(folder) / f"sweep{threads}.csv"

            def run(place, environment=None, output=output, threads=threads, flags=flags):
                return measure(tools, 1, [str(place / "sweep_design_space"), *flags, "--threads", str(threads),
                                          "--output", str(output), "-q"], environment)

            before = run(old, RELEASED)[0] if old and ask_old else None
            seconds, peak = run(tools)
            points = lines_of(output) - 1
            if first:
                same = same and same_bytes(first, output)
            first = output
            told = beside(seconds, before) or (["", ""] if old else [])
            rows.append([name, f"{points:,}", str(threads), f"{seconds:.1f} s",
                         verdict(seconds, str(target)) if target and threads == 2 else "",
                         f"{1e6 * seconds * threads / points:.1f} us", f"{peak / 1e6:.0f} MB", *told])
        for output in Path(folder).glob("sweep*"):
            output.unlink()
    return rows, same


def machine():
    cpu = platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            cpu = line.split(":", 1)[1].strip()
            break
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    compiler = subprocess.run(["c++", "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return (f"{os.cpu_count()} cores of {cpu}, {memory:.0f} GB of memory, Linux {platform.release()}, "
            f"{compiler.splitlines()[0]}, `-O2`")


def verdict(value, target):
    if target == "-":
        return ""
    return f"{target} {'met' if value <= float(target) else '**missed**'}"


def table(header, rows):
    yield "| " + " | ".join(header) + " |"
    yield "|" + "---|" * len(header)
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def document(tools, old):
    load = os.getloadavg()[0]
    yield "# Performance"
    yield ""
    yield ("Written by `scripts/bench --write`, which measures everything below on the machine it runs on. The "
           "targets are those of the project for two cores of a server processor.")
    yield ""
    yield f"Machine: {machine()}. Load average at the start: {load:.1f}."
    yield ""
    columns = []
    if old:
        columns = ["last release", "times as fast"]
        yield "The tools of the last release were measured in turn with these."
        yield ""
    with tempfile.TemporaryDirectory() as folder:
        weights = str(Path(folder) / "resnet50.onnx")
        subprocess.run([str(tools / "write_weights"), str(ROOT / "models/onnx/resnet50.onnx"), weights],
                       check=True)
        yield "## Tools"
        yield ""
        yield f"Whole processes: median of {RUNS} runs, largest resident memory, instructions under callgrind."
        yield ""
        rows = []
        for row in commands(tools, weights, old):
            ms, mb = (*row["targets"], "-")[:2]
            count = f"{row['instructions'] / 1e6:.1f} M" if row["instructions"] else ""
            rows.append([f"`{row['command']}`", f"{row['ms']:.1f} ms", verdict(row["ms"], ms),
                         f"{row['mb']:.1f} MB", verdict(row["mb"], mb), count, *row["before"]])
        yield from table(["command", "time", "target (ms)", "memory", "target (MB)", "instructions", *columns], rows)

        yield "## Sweeps"
        yield ""
        rows, same = sweep_rows(tools, folder, old)
        yield (f"`sweep_design_space` to a CSV file. The files are {'the same bytes' if same else '**different**'} "
               "for any number of threads. Every network: all that have a graph, on all devices, in 4 formats at 8 "
               "batches. Variants: clock x units x bandwidth, in 4 formats at 5 batches.")
        yield ""
        yield from table(["sweep", "points", "threads", "time", "target (s)", "per point and thread", "memory",
                          *columns], rows)

    yield "## Stages of the library"
    yield ""
    yield ("Median CPU time of 5 repetitions on one thread (bench/*_bench.cpp say what each does): ResNet-50 in "
           "8 bits on one device of each architecture; networks of the catalogue; graphs of 100,000 operators.")
    yield ""
    targets = list(rows_of("targets.txt"))
    rows = []
    for name, value, unit in stages(tools):
        target = next((t for t in targets if re.fullmatch(t[0], name)), None)
        if target and target[2] != unit:
            sys.exit(f"bench/targets.txt: {target[0]} is in {target[2]}, the benchmark in {unit}")
        rows.append([name, f"{value:.3g} {unit}", verdict(value, target[1]) if target else "",
                     target[3] if target else ""])
    yield from table(["stage", "time", "target", ""], rows)
    yield "## Regressions"
    yield ""
    yield ("Time depends on the machine, instructions hardly do: `scripts/bench --check` fails where a tool takes "
           "10 % more of them than [recorded](../../bench/instructions.txt).")


def main():
    words = sys.argv[1:]
    old = None
    if "--beside" in words:
        at = words.index("--beside")
        old = Path(words[at + 1]).resolve()
        del words[at:at + 2]
    tools = Path(words[0]).resolve()
    lines = []
    for line in document(tools, old):
        lines.append(line)
        if len(words) < 2:
            print(line, flush=True)
    if len(words) > 1:
        Path(words[1]).write_text("\n".join(lines) + "\n")


main()
