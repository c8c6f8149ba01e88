"""docs/examples/sweep.kubernetes.yaml against the types of the Kubernetes interface, and its command as a pod runs it.

kubernetes_job.py FILE TOOL_DIR: every field exists, has the type that the interface asks for, and required ones are there
(the models of the official client); the shards of the container's command, with fewer points, merge to one whole run.
"""

import copy
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import kubernetes.client as api
import yaml

SCALARS = {"str": str, "int": int, "bool": bool, "float": (int, float), "object": object}


def check(value, type_name, where):
    """Raises ValueError where `value` is not of a type of the interface ("V1Job", "list[V1Container]", "int")."""
    if inner := re.fullmatch(r"list\[(.+)\]", type_name):
        if not isinstance(value, list):
            raise ValueError(f"{where}: not a list")
        for i, item in enumerate(value):
            check(item, inner[1], f"{where}[{i}]")
    elif inner := re.fullmatch(r"dict\(str, (.+)\)", type_name):
        if not isinstance(value, dict):
            raise ValueError(f"{where}: not a mapping")
        for key, item in value.items():
            check(item, inner[1], f"{where}.{key}")
    elif type_name in SCALARS:
        if not isinstance(value, SCALARS[type_name]) or (isinstance(value, bool) and type_name == "int"):
            raise ValueError(f"{where}: {value!r} is not of type {type_name}")
    else:
        model = getattr(api, type_name)
        fields = {model.attribute_map[name]: name for name in model.openapi_types}
        if not isinstance(value, dict):
            raise ValueError(f"{where}: not an object of fields")
        for key, item in value.items():
            if key not in fields:
                raise ValueError(f"{where}.{key}: {type_name} has no such field")
            check(item, model.openapi_types[fields[key]], f"{where}.{key}")
        # The client's own check of required and enumerated values.
        model(local_vars_configuration=api.Configuration(), **{fields[key]: item for key, item in value.items()})


def check_the_check(job):
    """A check that takes everything would prove nothing."""

    def changed(change):
        other = copy.deepcopy(job)
        change(other)
        try:
            check(other, "V1Job", "job")
        except ValueError:
            return
        raise SystemExit("kubernetes_job.py: a faulty job passes")

    pod = lambda other: other["spec"]["template"]["spec"]  # noqa: E731
    changed(lambda other: other["spec"].update(completionMood="Indexed"))
    changed(lambda other: other["spec"].update(completions="16"))
    changed(lambda other: pod(other)["containers"][0].pop("name"))
    changed(lambda other: pod(other).update(volumes={"name": "data"}))


def run_pods(job, tools):
    """The command of every pod with a folder for the volume, and fewer points."""
    container = job["spec"]["template"]["spec"]["containers"][0]
    completions = job["spec"]["completions"]
    with tempfile.TemporaryDirectory() as folder:
        command = container["command"] + [
            text.replace("/data/", f"{folder}/").replace("log1000000", "log100") for text in container["args"]
        ]
        environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
        for index in range(completions):
            subprocess.run(command, env={**environment, "JOB_COMPLETION_INDEX": str(index)}, check=True)
        parts = sorted(str(part) for part in Path(folder).glob("part*.csv"))
        merge = ["sweep_design_space", "--merge", *parts, "--output", f"{folder}/points.csv"]
        subprocess.run(merge, env=environment, check=True)
        whole = ["resnet50", "--hardware", "H100", "--vary", "peak=0.5x..2x:log100", "--quiet"]
        subprocess.run(
            ["sweep_design_space", *whole, "--output", f"{folder}/whole.csv"], env=environment, check=True
        )
        if Path(folder, "points.csv").read_bytes() != Path(folder, "whole.csv").read_bytes():
            raise SystemExit("kubernetes_job.py: the parts of the pods do not merge to one run")


def main(file, tools):
    job = yaml.safe_load(Path(file).read_text())
    if (job["apiVersion"], job["kind"]) != ("batch/v1", "Job"):
        raise SystemExit("kubernetes_job.py: not a job of batch/v1")
    try:
        check(job, "V1Job", "job")
    except ValueError as fault:
        raise SystemExit(f"kubernetes_job.py: {file}: {fault}")
    check_the_check(job)
    run_pods(job, tools)


main(*sys.argv[1:])
