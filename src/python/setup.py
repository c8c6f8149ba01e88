"""Builds the extension module and the tools with CMake and puts the data beside them.

pip install --no-build-isolation ./src/python    (needs the Debian packages of `scripts/setup test`, no network)

The environment's ARCHSIM_PRESET names another preset of CMake's than release: arm64 makes the wheel of another machine.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from wheel.bdist_wheel import bdist_wheel

ROOT = Path(__file__).resolve().parents[2]
VERSION = re.search(r"project\(archsim VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
PRESET = os.environ.get("ARCHSIM_PRESET", "release")
BUILD = ROOT / "build" / PRESET  # that of scripts/run: what it has compiled is linked, not compiled again
MODULE = BUILD / "python_portable" / "_archsim.abi3.so"
TOOLS = sorted(file.stem for file in (ROOT / "cli").glob("*.cpp"))

# What `python -m archsim.TOOL` runs, and what the command TOOL calls.
TOOL_MODULE = '''"""The tool {tool}, as a program."""

from archsim._tools import run


def main():
    run("{tool}")


if __name__ == "__main__":
    main()
'''


class BuildWithCMake(build_ext):
    def build_extension(self, ext):
        module = Path(self.get_ext_fullpath(ext.name)).resolve()
        package = module.parent
        options = {"ARCHSIM_BUILD_PYTHON": "ON"}
        if not (BUILD / "CMakeCache.txt").exists():
            options["ARCHSIM_BUILD_TESTS"] = "OFF"
        flags = [f"-D{name}={value}" for name, value in options.items()]
        subprocess.run(["cmake", "--preset", PRESET, *flags], cwd=ROOT, check=True)
        subprocess.run(["cmake", "--build", BUILD, "--target", "archsim_python_portable"], check=True)

        package.mkdir(parents=True, exist_ok=True)
        shutil.copy(MODULE, module)
        for file in (ROOT / "src" / "python" / "wheel").glob("*.py"):
            shutil.copy(file, package)
        for tool in TOOLS:
            (package / f"{tool}.py").write_text(TOOL_MODULE.format(tool=tool))
        data = package / "share" / "archsim"
        shutil.copytree(ROOT / "hardware_db", data / "hardware_db", dirs_exist_ok=True)
        leave_out = shutil.ignore_patterns("export", "onnx")
        shutil.copytree(ROOT / "models", data / "models", ignore=leave_out, dirs_exist_ok=True)
        pack = [ROOT / "cmake" / "pack_models.sh", ROOT / "models" / "onnx", data / "models" / "onnx"]
        subprocess.run(pack, check=True)
        if (BUILD / "release" / "NOTICES.gz").exists():  # where scripts/release makes the wheel
            shutil.copy(BUILD / "release" / "NOTICES.gz", package)


class Wheel(bdist_wheel):
    def get_tag(self):
        """Every Python since 3.9, on the machines that the module is linked for: its kind stands in its head (ELF's e_machine),
        the versions of the C library's functions among its texts."""
        module = MODULE.read_bytes()
        machine = {62: "x86_64", 183: "aarch64"}[int.from_bytes(module[18:20], "little")]
        versions = [tuple(map(int, found)) for found in re.findall(rb"\0GLIBC_(\d+)\.(\d+)", module)]
        return "cp39", "abi3", "manylinux_{}_{}_{}".format(*max(versions), machine)


setup(
    version=VERSION,
    ext_modules=[Extension("archsim._archsim", [], py_limited_api=True)],
    cmdclass={"build_ext": BuildWithCMake, "bdist_wheel": Wheel},
    entry_points={"console_scripts": ["archsim = archsim.__main__:main", *(f"{tool} = archsim.{tool}:main" for tool in TOOLS)]},
)
