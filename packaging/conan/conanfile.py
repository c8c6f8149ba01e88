"""The library without its tools: conan create . --name archsim, from a checkout (conan 2).

chart_library: Chart.js 3, minified, which reports hold; Debian has it in libjs-chart.js.
"""

from pathlib import Path

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy


class Archsim(ConanFile):
    name = "archsim"
    version = "0.1.0"
    description = "Estimates latency, energy, power, memory and cost of neural networks on architectures"
    license = "Apache-2.0"
    package_type = "static-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"chart_library": ["ANY"]}
    default_options = {"chart_library": "/usr/share/javascript/chart.js/chart.min.js"}

    def export_sources(self):
        sources = Path(self.recipe_folder).parents[1]
        for part in ("CMakeLists.txt", "LICENSE", "cmake/*", "hardware_db/*", "include/*", "models/*", "src/*"):
            copy(self, part, sources, self.export_sources_folder)

    def requirements(self):
        for library in (
            "boost/1.83.0", "eigen/3.4.0", "fmt/9.1.0", "libyaml/0.2.5", "nlohmann_json/3.11.3", "protozero/1.7.1", "sqlite3/3.45.0",
            "valijson/1.0.2", "zlib/1.3.1",
        ):
            self.requires(library, visible=False)

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("archsim builds on Linux")
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        for part in ("SHARED", "TOOLS", "TESTS"):
            toolchain.cache_variables[f"ARCHSIM_BUILD_{part}"] = False
        toolchain.cache_variables["ARCHSIM_CHART_LIBRARY"] = str(self.options.chart_library)
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        self.cpp_info.libs = ["archsim"]
        self.cpp_info.set_property("cmake_file_name", "archsim")
        self.cpp_info.set_property("cmake_target_name", "archsim::archsim")
        self.cpp_info.system_libs = ["dl", "pthread"]
