// Reads arbitrary bytes as a configuration, a GGUF file or the header of a safetensors file (the first byte
// says which): a graph or the documented refusal. A graph of few layers is also given sizes.

#include "archsim/core/finding.hpp"
#include "archsim/ops/shaped_graph.hpp"
#include "checkpoint/checkpoint.hpp"
#include "scratch_file.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <unistd.h>

namespace {

/// A small decoder whose folder the bytes join as the only file of weights.
std::filesystem::path folder_with(std::span<const std::uint8_t> bytes) {
    const std::filesystem::path folder = "/dev/shm/archsim_fuzz_checkpoint_" + std::to_string(getpid());
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "config.json")
        << R"({"model_type": "llama", "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2,
               "intermediate_size": 16, "vocab_size": 10})";
    std::ofstream(folder / "model.safetensors", std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return folder;
}

archsim::Checkpoint read(std::uint8_t format, std::span<const std::uint8_t> bytes) {
    switch (format % 3) {
    case 0:
        return archsim::read_checkpoint_config({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                                               "config.json");
    case 1:
        return archsim::read_checkpoint(archsim::fuzz::scratch_file(bytes, ".gguf"));
    default:
        return archsim::read_checkpoint(folder_with(bytes));
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::int64_t kLayers = 8; // keeps a run in milliseconds
    if (size == 0)
        return 0;
    try {
        const archsim::Checkpoint checkpoint = read(data[0], {data + 1, size - 1});
        if (checkpoint.facts.layers <= kLayers)
            archsim::bind(checkpoint.graph, {}, checkpoint.dims);
    } catch (const archsim::Error&) {
        return 0;
    }
    return 0;
}
