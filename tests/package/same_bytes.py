#!/usr/bin/env python3
"""Two programs print the same bytes: same_bytes.py SOURCES PROGRAM [ARGUMENT...] -- OTHER [ARGUMENT...]

Both are archsim, of different machines or out of different packages. Asked are the commands of tests/cli/reference_commands.txt and
tests/npm/commands.txt, in a folder with the files that those name; compared are both streams, the exit status and the file that is
written. Both read the data of SOURCES, and know the same day.
"""

import gzip
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

DAY = "1769817600"  # 2026-01-31
SHOWN = 300  # letters of what differs


def commands(sources):
    for name in ("tests/cli/reference_commands.txt", "tests/npm/commands.txt"):
        for line in (sources / name).read_text().splitlines():
            if line and not line.startswith("#"):
                yield line.replace("SOURCES", str(sources)).split()


def run(program, words, folder, env):
    written = folder / words[words.index("--output") + 1] if "--output" in words else None
    if written:
        written.unlink(missing_ok=True)
    ran = subprocess.run([*program, *words], cwd=folder, env=env, capture_output=True)
    return {
        "status": ran.returncode,
        "stdout": ran.stdout,
        "stderr": ran.stderr,
        "file": written.read_bytes() if written and written.exists() else None,
    }


def main(sources, *programs):
    sources = Path(sources).resolve()
    split = programs.index("--")
    # They are run in another folder.
    programs = [str(Path(word).absolute()) if "/" in word and Path(word).exists() else word for word in programs]
    one, other = programs[:split], programs[split + 1 :]
    env = {"PATH": "/usr/bin:/bin", "HOME": "/", "SOURCE_DATE_EPOCH": DAY, "ARCHSIM_DATA_DIR": str(sources)}
    env |= {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    asked, differing = 0, []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        graph = (sources / "models/onnx/resnet18.onnx").read_bytes()
        (folder / "inside.onnx").write_bytes(graph)
        (folder / "packed.onnx.gz").write_bytes(gzip.compress(graph))
        shutil.copy(sources / "models/configs/qwen3-0.6b.json", folder / "config.json")
        for words in commands(sources):
            first, second = run(one, words, folder, env), run(other, words, folder, env)
            asked += 1
            parts = [part for part in first if first[part] != second[part]]
            if parts or first["status"] not in (0, 1, 2, 3, 4):
                told = "".join(f"\n  {part}: {first[part]!r:.{SHOWN}}\n  not {second[part]!r:.{SHOWN}}" for part in parts)
                differing.append(f"{' '.join(words)}: status {first['status']}, {second['status']}{told}")
    if asked < 40:
        differing.append(f"asked {asked} commands")
    for text in differing:
        print(f"same_bytes.py: {text}", file=sys.stderr)
    print(f"{asked} commands: {len(differing)} differ")
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
