#!/usr/bin/env bash
# docs/examples/budgets.workflow.yaml as a runner executes it: its commands, read from the file, in the bare root with the
# package of a release; once with the model that the baseline was made of, once with a slower one.
#   workflow.sh PACKAGE CACHE_DIR
set -euo pipefail
export LC_ALL=C
package=$1
cache=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
project=$(cd "$here/../.." && pwd)
# shellcheck source=tests/package/root.sh
source "$here/root.sh"

# What every runner has and the bare root does not. Its user may become root without being asked; here it is root.
[ -e "$root/usr/bin/sudo" ] || { printf '#!/bin/sh\nexec "$@"\n' >"$root/usr/bin/sudo" && chmod +x "$root/usr/bin/sudo"; }
in_root dpkg --purge archsim >/dev/null 2>&1 || true
rm -rf "$root/runner"
mkdir -p "$root/runner/budgets"
cp "$package" "$root/runner/released.deb"

# One file per step that runs something, with the repository's variable filled in; nothing else may be left open.
/usr/bin/python3 - "$project/docs/examples/budgets.workflow.yaml" "$root/runner" <<'PYTHON'
import sys

import yaml

workflow = yaml.safe_load(open(sys.argv[1]))
assert workflow["jobs"]["budgets"]["runs-on"].startswith("ubuntu-")
steps = [step["run"] for step in workflow["jobs"]["budgets"]["steps"] if "run" in step]
for number, commands in enumerate(steps):
    commands = commands.replace("${{ vars.LIBARCHSIM_DEB }}", "file:///runner/released.deb")
    assert "${{" not in commands, commands
    with open(f"{sys.argv[2]}/step{number}.sh", "w") as script:
        script.write(commands)
assert len(steps) == 2, steps
PYTHON
step() { # as GitHub runs a step
    in_root GITHUB_STEP_SUMMARY=/runner/summary.md sh -c "cd /runner && exec bash -e /runner/step$1.sh"
}
said=$(step 0 2>&1) || fail "installing: $said"

# A graph of the catalogue at the size that its users give it.
model() {
    gzip --decompress --stdout "$root/usr/share/archsim/models/onnx/$1.onnx.gz" | /usr/bin/python3 -c '
import sys

import onnx

model = onnx.load_model_from_string(sys.stdin.buffer.read())
for image in model.graph.input:
    for dim in image.type.tensor_type.shape.dim:
        if dim.dim_param in ("height", "width"):
            dim.dim_value = 224
sys.stdout.buffer.write(model.SerializeToString())' >"$root/runner/model.onnx"
}

model resnet18
expect "" sh -c "cd /runner && check_budget model.onnx --hardware H100 Jetson-Orin-Nano@15W --precision fp16 --save-baseline budgets/baseline.json"
said=$(step 1 2>&1) || fail "an unchanged model: $said"
grep -q '^|' "$root/runner/summary.md" || fail "no table in the summary: $(cat "$root/runner/summary.md")"
/usr/bin/python3 -c 'import sys, xml.etree.ElementTree as xml
cases = list(xml.parse(sys.argv[1]).iter("testcase"))
assert cases and not any(case.find("failure") is not None for case in cases), cases' "$root/runner/budgets.xml" || fail "JUnit"

model resnet34
status=0
said=$(step 1 2>&1) || status=$?
[ "$status" = 4 ] || fail "a slower model: status $status, $said"
grep -q 'latency' "$root/runner/summary.md" || fail "the summary does not say what grew"
grep -q '<failure' "$root/runner/budgets.xml" || fail "no failure in JUnit"
in_root dpkg --purge archsim >/dev/null
rm -rf "$root/runner"
