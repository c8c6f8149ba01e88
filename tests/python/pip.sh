#!/usr/bin/env bash
# Installs the Python package with pip, without network, into a scratch folder and estimates from another folder:
#   tests/python/pip.sh PYTHON SCRATCH
set -euo pipefail
python=$1 scratch=$(realpath -m "$2")
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
rm -rf "$scratch"
mkdir -p "$scratch"
# pip leaves its own files beside the sources of the package.
trap 'rm -rf "$project"/src/python/build "$project"/src/python/archsim.egg-info' EXIT
# Python tells its children of a UTF-8 locale where none is set; the compiler cache would take them for other compilations.
export PYTHONCOERCECLOCALE=0
"$python" -m pip install --quiet --root-user-action=ignore --no-index --no-build-isolation --no-deps --target "$scratch/site" "$project/src/python"
cd /
env --unset=ARCHSIM_DATA_DIR PYTHONPATH="$scratch/site" "$python" - <<'PYTHON'
import archsim

assert "site" in archsim.__file__, archsim.__file__
session = archsim.Session()
result = session.estimate("resnet18", "A100", precision="fp16")
assert result.latency_s > 0, result
print(archsim.__version__, result.latency_s)
PYTHON
