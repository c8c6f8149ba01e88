#!/usr/bin/python3
"""The action and the hook as those run them who use them: check.py SOURCES BIN

SOURCES: the project, BIN: a folder with archsim or check_budget. The action's steps are executed with the variables that a runner
sets, the expressions in them filled in as it fills them in; the hook as pre-commit does, with the changed files behind its
arguments.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
from pathlib import Path

import yaml

SOURCES, BIN = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
ACTION = yaml.safe_load((SOURCES / "action.yml").read_text())
HOOKS = yaml.safe_load((SOURCES / ".pre-commit-hooks.yaml").read_text())
OK, INPUT, EXCEEDED = 0, 2, 4


def filled(text, inputs):
    """Expressions of inputs; nothing else may stand in a step."""
    text = re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda match: inputs[match[1]], text)
    assert "${{" not in text, text
    return text


def run_action(folder, with_, path):
    """Status, log, outputs, summary of the steps in order, until one fails."""
    inputs = {name: with_.get(name, one.get("default", "")) for name, one in ACTION["inputs"].items()}
    for name, one in ACTION["inputs"].items():
        assert name in with_ or not one.get("required"), f"{name} is missing"
    files = {name: folder / name for name in ("GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    for file in files.values():
        file.write_text("")
    environment = {"PATH": path, "HOME": str(folder), "RUNNER_TEMP": str(folder), "CI": "true", "LC_ALL": "C.UTF-8",
                   **{name: str(file) for name, file in files.items()}}
    if "ARCHSIM_DATA_DIR" in os.environ:
        environment["ARCHSIM_DATA_DIR"] = os.environ["ARCHSIM_DATA_DIR"]
    log, status = "", 0
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step["run"], "a text of somebody else's would become a command"
        own = {name: filled(text, inputs) for name, text in step.get("env", {}).items()}
        added = files["GITHUB_PATH"].read_text().split()
        script = folder / "step.sh"
        script.write_text(step["run"])
        assert step["shell"] == "bash"
        done = subprocess.run(["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)], cwd=folder,
                              env={**environment, **own, "PATH": ":".join([*added, path])}, capture_output=True, text=True)
        log, status = log + done.stdout + done.stderr, done.returncode
        if status:
            break
    outputs = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())
    return status, log, outputs, files["GITHUB_STEP_SUMMARY"].read_text()


def check_action(folder, path):
    model = {"model": "resnet18 resnet34", "hardware": "H100\nJetson-Orin-Nano@15W"}
    status, log, outputs, summary = run_action(folder, {**model, "limits": "--max-latency 1s --max-memory 1GB"}, path)
    assert status == OK and "::error" not in log, log
    assert outputs["status"] == "0" and summary.startswith("# ") and "|" in summary, (outputs, summary)
    cases = list(xml.parse(folder / outputs["junit"]).iter("testcase"))
    assert len(cases) == 8 and not any(case.find("failure") is not None for case in cases), cases
    assert json.loads((folder / outputs["sarif"]).read_text())["runs"][0]["results"] == []

    status, log, outputs, summary = run_action(
        folder, {**model, "limits": "--max-latency 1ms --fail-on memory>1GB", "arguments": "--precision fp16"}, path)
    assert status == EXCEEDED and "::error title=Budgets::" in log and outputs["status"] == "4", log
    assert "exceeded" in summary
    failed = [case for case in xml.parse(folder / outputs["junit"]).iter("testcase") if case.find("failure") is not None]
    sarif = json.loads((folder / outputs["sarif"]).read_text())
    run = sarif["runs"][0]
    assert sarif["version"] == "2.1.0" and len(run["results"]) == len(failed) > 0, sarif
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"], result
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] in ("resnet18", "resnet34") and place["region"]["startLine"] == 1, place
        assert "limit 1.00 ms" in result["message"]["text"], result

    # The estimate keeps the limit, but not with this certainty: the interval decides.
    one = {"model": "resnet18", "hardware": "H100"}
    estimated = json.loads(subprocess.run([*tool(path), "resnet18", "--hardware", "H100", "--max-latency", "1s", "--format", "json"],
                                          env={**os.environ, "PATH": path}, capture_output=True, text=True, check=True).stdout)
    outcome = estimated["estimates"][0]["outcomes"][0]
    limit = f"--max-latency {outcome['after'] * 1.05:.9f}s"
    assert run_action(folder, {**one, "limits": limit}, path)[0] == OK
    assert run_action(folder, {**one, "limits": limit, "certainty": "95"}, path)[0] == EXCEEDED
    assert run_action(folder, {**one, "limits": "--max-latency 1s", "certainty": "95"}, path)[0] == OK

    # Against a baseline, and with inputs that cannot be or would like to be commands.
    baseline = folder / "baseline.json"
    subprocess.run([*tool(path), "resnet18", "--hardware", "H100", "--save-baseline", str(baseline)], env={**os.environ, "PATH": path},
                   capture_output=True, check=True)
    assert run_action(folder, {**one, "baseline": "baseline.json", "limits": "--fail-on latency>+1%"}, path)[0] == OK
    status, log, _, _ = run_action(folder, {"model": "resnet81", "hardware": "H100", "limits": "--max-latency 1s"}, path)
    assert status == INPUT and "::error" in log and "resnet18" in log, log
    status, log, _, _ = run_action(folder, {"model": "$(touch${IFS}harm);`touch harm` x.onnx\n::set-output name=a::b", "hardware": "*"}, path)
    assert status == INPUT and not (folder / "harm").exists() and "\n::set-output" not in log, log

    # Inputs are values: no word of them is a flag, and no line of them an output.
    for inputs in ({"model": "resnet18 --help"}, {"model": "resnet18 --output=pwned.html"}, {"hardware": "H100 -opwned.html"},
                   {"arguments": "--output=pwned.html"}, {"limits": "--max-latency 1s --help"}, {"certainty": "90\n--help"},
                   {"reports": "b\nstatus=0"}, {"reports": "--help"}, {"baseline": "--help"}, {"baseline": "b\nc"}):
        status, log, outputs, _ = run_action(folder, {**one, "limits": "--max-latency 1ns", **inputs}, path)
        assert status not in (OK, EXCEEDED), (inputs, log)
        assert outputs.get("status") != "0" and not (folder / "pwned.html").exists(), (inputs, outputs)


def tool(path):
    found = subprocess.run(["sh", "-c", "command -v check_budget"], env={"PATH": path}, capture_output=True, text=True).stdout.strip()
    return [found] if found else ["archsim", "check_budget"]


def check_hook(folder, path):
    (hook,) = [one for one in HOOKS if one["id"] == "archsim-check-budget"]
    changed = []
    for name in ("resnet18", "mobilenet_v2"):
        file = folder / f"{name}.onnx"
        file.write_bytes((SOURCES / f"models/onnx/{name}.onnx").read_bytes())
        changed.append(file.name)
    assert all(re.search(hook["files"], name) for name in changed) and not re.search(hook["files"], "notes.md")
    sizes = ["--dim", "height=224", "--dim", "width=224"]
    for limit, wanted in (("1s", OK), ("1us", EXCEEDED)):
        words = [*hook["entry"].split(), "--hardware", "Jetson-Orin-Nano@15W", *sizes, "--max-latency", limit, "--model", *changed]
        done = subprocess.run(words, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True)
        assert done.returncode == wanted, (done.returncode, done.stdout, done.stderr)
        assert all(Path(name).stem in done.stdout for name in changed), done.stdout


with tempfile.TemporaryDirectory() as scratch:
    search = f"{BIN}:/usr/local/bin:/usr/bin:/bin"
    check_action(Path(scratch), search)
    check_hook(Path(scratch), search)
print("the action and the hook keep and break budgets as their users see it")
