// Everything that a tool does with a model file, on arbitrary bytes: an answer or the documented refusal. The
// mutator changes operands of nodes as often as bytes, which alone hardly ever leave a file that can be read.

#include "archsim/core/finding.hpp"
#include "scratch_file.hpp"
#include "support/operand_mutants.hpp"
#include "support/whole_path.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
    if (seed % 2 == 0)
        return LLVMFuzzerMutate(data, size, most);
    std::vector<std::string> mutants;
    constexpr std::size_t kMostMutants = 512;
    archsim::test::OperandMutator::each({reinterpret_cast<const char*>(data), size},
                                        [&](const std::string& bytes, const std::string&) {
                                            if (bytes.size() <= most && mutants.size() < kMostMutants)
                                                mutants.push_back(bytes);
                                        });
    if (mutants.empty())
        return LLVMFuzzerMutate(data, size, most);
    const std::string& chosen = mutants[seed / 2 % mutants.size()];
    std::memcpy(data, chosen.data(), chosen.size());
    return chosen.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace archsim;
    static const Session session;
    static const std::vector<std::string> devices = test::device_of_each_family(session);
    const bool tflite = size >= 8 && std::memcmp(data + 4, "TFL3", 4) == 0;
    test::ask_everything(session, devices, fuzz::scratch_file({data, size}, tflite ? ".tflite" : ".onnx"));
    return 0;
}
