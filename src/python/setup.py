"""Builds the extension module and the tools with CMake and puts the data beside them.

pip install --no-build-isolation ./src/python    (needs the Debian packages of `scripts/setup test`, no network)
"""

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parents[2]
VERSION = re.search(r"project\(archsim VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
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
        build = ROOT / "build" / "release"  # that of scripts/run: what it has compiled is linked, not compiled again
        options = {"ARCHSIM_BUILD_PYTHON": "ON", "PYTHON_EXECUTABLE": sys.executable}
        if not (build / "CMakeCache.txt").exists():
            options["ARCHSIM_BUILD_TESTS"] = "OFF"
        flags = [f"-D{name}={value}" for name, value in options.items()]
        subprocess.run(["cmake", "--preset", "release", *flags], cwd=ROOT, check=True)
        subprocess.run(["cmake", "--build", build, "--target", "archsim_python_portable"], check=True)

        package.mkdir(parents=True, exist_ok=True)
        shutil.copy(next((build / "python_portable").glob("_archsim*.so")), module)
        shutil.copy(ROOT / "src" / "python" / "wheel" / "_tools.py", package)
        for tool in TOOLS:
            (package / f"{tool}.py").write_text(TOOL_MODULE.format(tool=tool))
        data = package / "share" / "archsim"
        shutil.copytree(ROOT / "hardware_db", data / "hardware_db", dirs_exist_ok=True)
        leave_out = shutil.ignore_patterns("export", "onnx")
        shutil.copytree(ROOT / "models", data / "models", ignore=leave_out, dirs_exist_ok=True)
        pack = [ROOT / "cmake" / "pack_models.sh", ROOT / "models" / "onnx", data / "models" / "onnx"]
        subprocess.run(pack, check=True)
        if (build / "release" / "NOTICES.gz").exists():  # where scripts/release makes the wheel
            shutil.copy(build / "release" / "NOTICES.gz", package)


def platform_of_wheel():
    """What is linked here runs with this version of the C library and newer ones."""
    library, version = os.confstr("CS_GNU_LIBC_VERSION").split()
    assert library == "glibc"
    return f"manylinux_{version.replace('.', '_')}_{platform.machine()}"


setup(
    version=VERSION,
    ext_modules=[Extension("archsim._archsim", [])],
    cmdclass={"build_ext": BuildWithCMake},
    entry_points={"console_scripts": [f"{tool} = archsim.{tool}:main" for tool in TOOLS]},
    options={"bdist_wheel": {"plat_name": platform_of_wheel()}},
)
