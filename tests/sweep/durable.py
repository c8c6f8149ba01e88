#!/usr/bin/env python3
"""Sweeps that are killed, started twice, damaged, or whose inputs change: the bytes of one clean run, or a refusal.

    durable.py TOOL [--kills N] [--damages N] [--pairs N] [--seed N]

The suite runs a few of each; `--kills 200 --damages 250 --pairs 50` takes some minutes.
"""

import argparse
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser()
parser.add_argument("tool")
parser.add_argument("--kills", type=int, default=6)
parser.add_argument("--damages", type=int, default=12)
parser.add_argument("--pairs", type=int, default=3)
parser.add_argument("--seed", type=int, default=1)
arguments = parser.parse_args()
chance = random.Random(arguments.seed)
source = pathlib.Path(__file__).resolve().parents[2]
models = source / "models" / "onnx"


def fail(what):
    sys.exit(f"durable.py: {what}")


def command(folder, *more, axis="peak=0.5x..2x:log12000"):
    return [arguments.tool, str(folder / "net.onnx"), "--hardware", str(folder / "chip.json"), "--vary", axis,
            "--dim", "height=224", "--dim", "width=224",
            "--threads", "2", "--quiet", "--output", str(folder / "points.csv"), *more]


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, timeout=300)


def expect_clean(folder, clean, what):
    """The file is that of the clean run, and nothing is left beside it but its description (and what a kill found under a
    temporary name)."""
    if (folder / "points.csv").read_bytes() != clean:
        fail(f"{what}: other bytes than those of one clean run")
    for path in folder.glob(".archsim-*"):
        path.unlink()
    left = {path.name for path in folder.iterdir()} - {"net.onnx", "chip.json", "points.csv", "points.csv.json"}
    if left:
        fail(f"{what}: left {sorted(left)}")


def refused(done, what):
    if done.returncode != 2 or done.stderr.count("\n") != 1:
        fail(f"{what}: status {done.returncode}, {done.stderr!r}")


def fresh(folder):
    for path in folder.glob("points.csv*"):
        path.unlink()


def wait_for_rows(folder, process, size=1):
    partial = folder / "points.csv.partial"
    while process.poll() is None and not (partial.exists() and partial.stat().st_size >= size):
        time.sleep(0.002)


def kills(folder, clean, seconds):
    """Killed until it is done, at times that leave it some work each time; then once more from the start."""
    killed = runs = 0
    while killed < arguments.kills:
        fresh(folder)
        runs += 1
        while killed < arguments.kills:
            process = subprocess.Popen(command(folder, "--resume"), stderr=subprocess.PIPE)
            time.sleep(chance.uniform(0, seconds))
            process.kill()
            if process.wait() == 0:
                break
            killed += 1
        done = run(*command(folder, "--resume"))
        if done.returncode != 0:
            fail(f"kills: status {done.returncode}, {done.stderr!r}")
        expect_clean(folder, clean, "kills")
    return f"{killed} kills in {runs} sweeps"


def pairs(folder, clean):
    refusals = 0
    for _ in range(arguments.pairs):
        fresh(folder)
        both = []
        for _ in range(2):
            both.append(subprocess.Popen(command(folder, *chance.choice([[], ["--resume"]])), stderr=subprocess.PIPE,
                                         text=True))
            time.sleep(chance.uniform(0, 0.05))
        said = [process.communicate()[1] for process in both]
        codes = sorted(process.returncode for process in both)
        if codes not in ([0, 0], [0, 2]) or (codes == [0, 2] and "another process" not in "".join(said)):
            fail(f"two processes: statuses {codes}, {said}")
        refusals += codes == [0, 2]
        expect_clean(folder, clean, "two processes")
    return f"{arguments.pairs} pairs of processes, {refusals} refusals"


def damages(folder, clean):
    fresh(folder)
    process = subprocess.Popen(command(folder))
    wait_for_rows(folder, process, len(clean) // 3)
    process.kill()
    if process.wait() == 0:
        fail("damages: the sweep was done before it was killed")
    kept = {name: (folder / name).read_bytes() for name in ("points.csv.partial", "points.csv.partial.log")}
    refusals = 0
    for _ in range(arguments.damages):
        fresh(folder)
        name = chance.choices(list(kept), weights=(3, 1))[0]
        for each, content in kept.items():
            content = bytearray(content)
            if each == name:
                at = chance.randrange(len(content))
                kind = chance.randrange(5)
                if kind == 0:
                    content[at] ^= 1 << chance.randrange(8)
                elif kind == 1:
                    del content[at:at + chance.randint(1, 2000)]
                elif kind == 2:
                    content[at:at] = content[at:at + chance.randint(1, 2000)]
                elif kind == 3:
                    content[at:] = bytes(len(content) - at)
                else:
                    line = content.find(b"\n", at) + 1
                    del content[line:content.find(b"\n", line) + 1]
            (folder / each).write_bytes(content)
        done = run(*command(folder, "--resume"))
        if done.returncode == 0:
            expect_clean(folder, clean, f"damage in {name}")
        else:
            refused(done, f"damage in {name}")
            refusals += 1
    return f"{arguments.damages} damaged, {refusals} of them refused"


def changes(folder, clean):
    """What decides a row changes between the runs: each is refused, and the run goes on when it is as before."""
    fresh(folder)
    process = subprocess.Popen(command(folder))
    wait_for_rows(folder, process)
    process.kill()
    if process.wait() == 0:
        fail("changes: the sweep was done before it was killed")
    chip = (folder / "chip.json").read_text()
    shutil.copy(models / "resnet18.onnx", folder / "net.onnx")
    refused(run(*command(folder, "--resume")), "another network under the same name")
    shutil.copy(models / "mobilenet_v2.onnx", folder / "net.onnx")
    (folder / "chip.json").write_text(chip.replace("1.41", "1.42", 1) if "1.41" in chip else chip.replace("80", "81", 1))
    refused(run(*command(folder, "--resume")), "another device under the same name")
    (folder / "chip.json").write_text(chip)
    for flags in (["--precision", "fp16"], ["--batch-size", "2"], ["--scope", "end_to_end"], ["--scenario", "throughput"],
                  ["--shard", "0/2"], ["--devices", "2"], ["--allow-unknown"], ["--strict-fp32"]):
        refused(run(*command(folder, "--resume", *flags)), " ".join(flags))
    refused(run(*command(folder, "--resume", axis="peak=0.5x..2x:log11999")), "another axis")
    done = run(*command(folder, "--resume"))
    if done.returncode != 0:
        fail(f"as it was: status {done.returncode}, {done.stderr!r}")
    expect_clean(folder, clean, "as it was")
    return "11 changes refused"


with tempfile.TemporaryDirectory(prefix="archsim-durable-") as name:
    place = pathlib.Path(name)
    shutil.copy(models / "mobilenet_v2.onnx", place / "net.onnx")
    shutil.copy(source / "hardware_db" / "gpu" / "A100.json", place / "chip.json")
    begin = time.monotonic()
    whole = run(*command(place))
    if whole.returncode != 0:
        fail(f"a clean run: status {whole.returncode}, {whole.stderr!r}")
    took = time.monotonic() - begin
    bytes_of_one_run = (place / "points.csv").read_bytes()
    said = [kills(place, bytes_of_one_run, took), pairs(place, bytes_of_one_run), damages(place, bytes_of_one_run),
            changes(place, bytes_of_one_run)]
    print("; ".join(said) + f": {bytes_of_one_run.count(10)} lines as one clean run of {took:.1f} s wrote them")
