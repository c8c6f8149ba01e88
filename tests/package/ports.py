#!/usr/bin/env python3
"""The files for vcpkg, Conan and Homebrew: read by their languages, with stand-ins for what the package managers bring, they name
this version, every library that CMake looks for, and options that it has.   ports.py SOURCES"""

import json
import re
import subprocess
import sys
import tempfile
import types
from pathlib import Path

SOURCES = Path(sys.argv[1]).resolve()
PACKAGING = SOURCES / "packaging"
CMAKE = (SOURCES / "CMakeLists.txt").read_text()
VERSION = re.search(r"project\(archsim VERSION (\S+)", CMAKE)[1]
DEPENDENCIES = (SOURCES / "cmake/Dependencies.cmake").read_text().split("if(ARCHSIM_BUILD_TOOLS")[0]
SETTINGS = CMAKE + "".join(file.read_text() for file in (SOURCES / "cmake").glob("*.cmake"))

# By what CMake looks for: the packages' names.
NAMES = {
    "nlohmann_json": ("nlohmann-json", "nlohmann_json"),
    "fmt": ("fmt", "fmt"),
    "protozero/pbf_reader.hpp": ("protozero", "protozero"),
    "yaml.h": ("libyaml", "libyaml"),
    "sqlite3.h": ("sqlite3", "sqlite3"),
    "Eigen3": ("eigen3", "eigen"),
    "Boost": ("boost-graph", "boost"),
    "valijson": ("valijson", "valijson"),
    "zlib.h": ("zlib", "zlib"),
}


def wanted():
    looked_for = set(re.findall(r"find_package\((\w+)", DEPENDENCIES)) - {"Threads"}
    looked_for |= set(re.findall(r"find_path\(\w+ (\S+)", DEPENDENCIES))
    looked_for |= set(re.findall(r"find_path\(\w+ (\S+)", (SOURCES / "cmake/Zlib.cmake").read_text()))
    unknown = looked_for - set(NAMES)
    assert not unknown, f"tests/package/ports.py knows no package that has {unknown}"
    return [NAMES[name] for name in sorted(looked_for)]


def check_options(names, where):
    for name in names:
        assert re.search(rf"(option\(|CACHE|find_\w+\(|set\(){name}\b|\b{name}\b", SETTINGS), f"{where}: CMake has no {name}"


def vcpkg():
    manifest = json.loads((PACKAGING / "vcpkg/vcpkg.json").read_text())
    assert (manifest["name"], manifest["version"]) == ("archsim", VERSION), "vcpkg.json: another version"
    assert re.fullmatch(r"[a-z0-9-]+", manifest["name"]) and manifest["license"] == "Apache-2.0"
    named = [d if isinstance(d, str) else d["name"] for d in manifest["dependencies"]]
    assert named == sorted(named), "vcpkg.json: dependencies are sorted"
    for name, _ in wanted():
        assert name in named, f"vcpkg.json lacks {name}"
    portfile = PACKAGING / "vcpkg/portfile.cmake"
    calls = ("check_linkage", "from_github", "cmake_configure", "cmake_install", "cmake_config_fixup", "fixup_pkgconfig", "install_copyright")
    with tempfile.TemporaryDirectory() as folder:
        stubs = [f'function(vcpkg_{call})\n  message(STATUS "vcpkg_{call} ${{ARGN}}")\nendfunction()' for call in calls]
        program = Path(folder) / "port.cmake"
        program.write_text("\n".join([f"set(VERSION {VERSION})", f"set(CURRENT_PACKAGES_DIR {folder}/packages)",
                                      f"set(CURRENT_INSTALLED_DIR {folder}/installed)", *stubs, f"include({portfile})"]))
        ran = subprocess.run(["cmake", "-Wdev", "-P", program], capture_output=True, text=True)
    assert ran.returncode == 0 and not ran.stderr, ran.stderr
    for call in calls:
        assert f"vcpkg_{call} " in ran.stdout or f"vcpkg_{call}\n" in ran.stdout, f"portfile.cmake does not call vcpkg_{call}"
    assert f"v{VERSION}" in ran.stdout
    check_options(re.findall(r"-D(\w+)=", portfile.read_text()), "portfile.cmake")


def conan():
    called = []

    class Anything:
        def __init__(self, *_, **__):
            self.cache_variables = {}

        def __getattr__(self, name):
            return lambda *_, **__: called.append(name)

    class ConanFile(Anything):
        def requires(self, reference, **_):
            called.append(reference)

    def module(name, **members):
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(members)

    class Refused(Exception):
        pass

    module("conan", ConanFile=ConanFile)
    module("conan.errors", ConanInvalidConfiguration=Refused)
    module("conan.tools")
    module("conan.tools.build", check_min_cppstd=lambda *_: None)
    module("conan.tools.cmake", CMake=Anything, CMakeDeps=Anything, CMakeToolchain=Anything, cmake_layout=lambda *_: None)
    module("conan.tools.files", copy=lambda _, part, source, to: called.append(str(next(Path(source).glob(part)))))
    recipe = PACKAGING / "conan/conanfile.py"
    names = {}
    exec(compile(recipe.read_text(), recipe, "exec"), names)
    archsim = names["Archsim"]()
    assert (archsim.name, archsim.version) == ("archsim", VERSION), "conanfile.py: another version"
    archsim.recipe_folder, archsim.export_sources_folder = str(recipe.parent), "/nowhere"
    archsim.options = types.SimpleNamespace(**archsim.default_options)
    archsim.settings = types.SimpleNamespace(os="Linux")
    archsim.cpp_info = types.SimpleNamespace(set_property=lambda *_: None)
    for step in ("requirements", "validate", "layout", "export_sources", "generate", "build", "package", "package_info"):
        getattr(archsim, step)()
    for _, name in wanted():
        assert any(entry.startswith(f"{name}/") for entry in called), f"conanfile.py lacks {name}"
    archsim.settings.os = "Windows"
    try:
        archsim.validate()
    except Refused:
        pass
    else:
        raise AssertionError("conanfile.py builds where CMake does not")
    parts = [f"ARCHSIM_BUILD_{part}" for part in re.search(r"for part in \((\"SHARED.*?)\):", recipe.read_text())[1].replace('"', "").split(", ")]
    check_options([*parts, "ARCHSIM_CHART_LIBRARY"], "conanfile.py")


def homebrew():
    formula = PACKAGING / "homebrew/archsim.rb"
    ran = subprocess.run(["ruby", "-wc", formula], capture_output=True, text=True)
    assert ran.returncode == 0 and ran.stdout == "Syntax OK\n" and not ran.stderr, ran.stdout + ran.stderr
    # A stand-in notes what the formula says of itself, and runs its two blocks.
    program = """
class Formula
  def self.method_missing(name, *values, &block)
    puts "#{name} #{values.join(" ")}"
    new.instance_eval(&block) if block
  end
  def self.respond_to_missing?(*) = true
  def self.test(&block) = new.instance_eval(&block)
  def std_npm_args = ["--global"]
  def libexec = "/libexec"
  def bin = self
  def to_s = "/bin"
  def install_symlink(files) = puts("links #{files.class}")
  def system(*words) = puts("runs #{words.join(" ")}")
  def shell_output(command) = "Fastest: " + command
  def assert_match(wanted, text) = (text.include?(wanted) or raise)
end
load ARGV[0]
Archsim.new.install
"""
    ran = subprocess.run(["ruby", "-e", program, formula], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert f"archsim-{VERSION}.tgz" in ran.stdout and "runs npm install --global" in ran.stdout and "links Array" in ran.stdout, ran.stdout


for check in (vcpkg, conan, homebrew):
    check()
print("vcpkg, Conan and Homebrew: 3 passed, 0 failed")
