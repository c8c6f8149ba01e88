#pragma once
// A hardware database in a temporary folder, for tests.

#include <atomic>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <unistd.h>

namespace archsim::test {

/// A complete, consistent device: 10 units x 1000 operations per clock x 1 GHz = 10 TFLOPS.
inline nlohmann::json small_device(const std::string& id) {
    using nlohmann::json;
    json device = json::parse(R"({
      "name": "Small chip", "aliases": [], "vendor": "Acme", "family": "gpu", "codename": "AC1",
      "generation": "acme-1", "year": 2024,
      "process": {"value": 5, "unit": "nm", "source": "S1"},
      "clocks": {"boost": {"value": 1.0, "unit": "GHz", "source": "S1"}},
      "engines": [
        {"name": "matrix core", "class": "matrix", "unit": "SM", "count": 10,
         "clock": {"value": 1000, "unit": "MHz", "source": "S1"},
         "ops_per_clock": {"fp16": 1000, "int8": 2000}, "source": "S2"},
        {"name": "lanes", "class": "vector", "unit": "SM", "count": 10,
         "clock": {"value": 1000, "unit": "MHz", "source": "S1"},
         "ops_per_clock": {"fp32": 100}, "source": "S2"}
      ],
      "peaks": {"matrix": {"fp16": {"value": 10, "unit": "TFLOPS", "source": "S1"}},
                "vector": {"fp32": {"value": 1, "unit": "TFLOPS", "source": "S1"}}},
      "memory": [{"name": "L2", "scope": "chip", "capacity": {"value": 4, "unit": "MiB", "source": "S1"}}],
      "dram": {"type": "GDDR6", "capacity": {"value": 8, "unit": "GB", "source": "S1"},
               "bandwidth": {"value": 200, "unit": "GB/s", "source": "S1"},
               "achievable_fraction": {"value": 0.9, "unit": "1", "source": "S3", "n": 4, "error": 0.05}},
      "power": {"tdp": {"value": 50, "unit": "W", "source": "S1"},
                "idle": {"value": 5000, "unit": "mW", "source": "S1"}},
      "power_modes": [
        {"name": "50W", "clock": {"value": 1000, "unit": "MHz", "source": "S1"},
         "limit": {"value": 50, "unit": "W", "source": "S1"}},
        {"name": "25W", "clock": {"value": 600, "unit": "MHz", "source": "S1"}, "limit": null, "uncapped": true}
      ],
      "default_power_mode": "50W", "peak_power_mode": "50W",
      "gpu": {"sm_count": {"value": 10, "unit": "1", "source": "S1"}},
      "runtimes": ["stack"], "default_runtime": "stack",
      "notes": ["a remark"],
      "sources": {"S1": {"kind": "datasheet", "cite": "Acme data sheet"},
                  "S2": {"kind": "derived", "cite": "peak / units / clock"},
                  "S3": {"kind": "fitted", "cite": "copy kernels"}}
    })");
    device["id"] = id;
    return device;
}

inline nlohmann::json small_runtime(const std::string& id) {
    using nlohmann::json;
    json runtime = json::parse(R"({
      "name": "A stack", "families": ["gpu"],
      "fusion": {"attention": false},
      "combine_exponent": {"value": 4, "unit": "1", "source": "S1"},
      "graph_capture": true, "precisions": ["fp16", "fp32"],
      "parameters": {
        "kernel_overhead": {"value": 2, "unit": "us", "source": "S1",
                            "by_generation": {"acme-1": {"value": 3, "unit": "us", "source": "S2"}}},
        "matrix_efficiency": {"value": 0.8, "unit": "1", "source": "S1"}
      },
      "fallback": "host",
      "operators": {"refused": [{"operators": ["Einsum"], "because": "it has no products of that kind", "source": "S1"}]},
      "sources": {"S1": {"kind": "assumed", "cite": "typical"}, "S2": {"kind": "paper", "cite": "a study"}}
    })");
    runtime["id"] = id;
    return runtime;
}

class TemporaryDatabase {
  public:
    TemporaryDatabase() {
        static std::atomic<int> counter = 0;
        root_ = std::filesystem::temp_directory_path() /
                ("archsim-hardware-" + std::to_string(::getpid()) + "-" + std::to_string(counter++));
        std::filesystem::create_directories(root_);
    }
    ~TemporaryDatabase() { std::filesystem::remove_all(root_); }
    TemporaryDatabase(const TemporaryDatabase&) = delete;
    TemporaryDatabase& operator=(const TemporaryDatabase&) = delete;

    const std::filesystem::path& root() const { return root_; }
    std::string write(const std::string& path, const std::string& text) const {
        const auto file = root_ / path;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text;
        return file.string();
    }
    std::string add_device(const nlohmann::json& device) const {
        return write("gpu/" + device["id"].get<std::string>() + ".json", device.dump(1));
    }
    std::string add_runtime(const nlohmann::json& runtime) const {
        return write("runtimes/" + runtime["id"].get<std::string>() + ".json", runtime.dump(1));
    }

  private:
    std::filesystem::path root_;
};

} // namespace archsim::test
