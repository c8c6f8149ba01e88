"""Builds the extension module with CMake and puts the data beside it.

pip install --no-build-isolation ./src/python    (needs the Debian packages of `scripts/setup test`, no network)
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parents[2]
VERSION = re.search(r"project\(archsim VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]


class BuildWithCMake(build_ext):
    def build_extension(self, ext):
        module = Path(self.get_ext_fullpath(ext.name)).resolve()
        build = ROOT / "build" / "release"  # that of scripts/run: what it has compiled is linked, not compiled again
        options = {"ARCHSIM_BUILD_PYTHON": "ON", "PYTHON_EXECUTABLE": sys.executable}
        if not (build / "CMakeCache.txt").exists():
            options["ARCHSIM_BUILD_TESTS"] = "OFF"
        flags = [f"-D{name}={value}" for name, value in options.items()]
        subprocess.run(["cmake", "--preset", "release", *flags], cwd=ROOT, check=True)
        subprocess.run(["cmake", "--build", build, "--target", "archsim_python"], check=True)
        module.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(next((build / "python" / "archsim").glob("_archsim*.so")), module)
        for folder in ("hardware_db", "models"):
            shutil.copytree(
                ROOT / folder,
                module.parent / "share" / "archsim" / folder,
                ignore=shutil.ignore_patterns("export"),
                dirs_exist_ok=True,
            )


setup(version=VERSION, ext_modules=[Extension("archsim._archsim", [])], cmdclass={"build_ext": BuildWithCMake})
