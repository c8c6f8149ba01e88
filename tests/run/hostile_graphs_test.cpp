// Node tests of ONNX with one operand emptied, removed, doubled or rewired: every question about such a file
// has an answer or is refused in a sentence. Mutants run in children, so that a crash is a finding with a
// name.

#include "support/operand_mutants.hpp"
#include "support/read_file.hpp"
#include "support/shipped_session.hpp"
#include "support/whole_path.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace archsim;
namespace fs = std::filesystem;

namespace {

/// model.onnx of every node test that is installed.
std::vector<fs::path> node_tests() {
    std::vector<fs::path> files;
    std::vector<fs::path> roots = {"/usr/share/libonnx-testdata/data"};
    if (const char* newer = std::getenv("ARCHSIM_ONNX_NODE_TESTS"))
        roots.emplace_back(newer);
    for (const fs::path& root : roots) {
        std::error_code missing;
        for (auto at = fs::recursive_directory_iterator(root, missing);
             !missing && at != fs::recursive_directory_iterator(); at.increment(missing))
            if (at->path().extension() == ".onnx")
                files.push_back(at->path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

/// What a child says of the mutant that it is at.
struct Progress {
    std::size_t at;
    char what[512];
};

struct MutantOutcome {
    std::size_t asked = 0;
    std::vector<std::string> faults;
};

/// A changed file: where it comes from and what was changed, its bytes.
struct Mutant {
    std::string name, bytes;
};

/// Every `stride`-th change of an operand in the files.
std::vector<Mutant> onnx_mutants(const std::vector<fs::path>& files, std::size_t stride) {
    std::vector<Mutant> mutants;
    std::size_t counted = 0;
    for (const fs::path& file : files)
        test::OperandMutator::each(test::read(file), [&](const std::string& bytes, const std::string& what) {
            if (counted++ % stride == 0)
                mutants.push_back(
                    {file.parent_path().filename().string() + "/" + file.filename().string() + ": " + what,
                     bytes});
        });
    return mutants;
}

/// TensorFlow Lite files with one small number changed: operands, counts of them, sizes.
std::vector<Mutant> tflite_mutants(std::size_t stride) {
    std::vector<Mutant> mutants;
    std::size_t counted = 0;
    for (const auto& entry : fs::directory_iterator(ARCHSIM_SOURCE_DIR "/tests/fuzz/corpus/tflite")) {
        const std::string bytes = test::read(entry.path());
        for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4) {
            std::int32_t word = 0;
            std::memcpy(&word, bytes.data() + at, sizeof word);
            constexpr std::int32_t kMostOperands = 64;
            if (word < -1 || word > kMostOperands)
                continue;
            for (const std::int32_t by : {-1, 0, 1, word + 1, word + 2, 1 << 20})
                if (by != word && counted++ % stride == 0) {
                    mutants.push_back({entry.path().filename().string() + ": " + std::to_string(at) +
                                           " made " + std::to_string(by),
                                       bytes});
                    std::memcpy(mutants.back().bytes.data() + at, &by, sizeof by);
                }
        }
    }
    return mutants;
}

/// Asks about each, in children that are replaced when they fall.
MutantOutcome ask_mutants(const std::vector<Mutant>& mutants, const char* extension, unsigned seconds_each) {
    MutantOutcome outcome;
    auto* progress = static_cast<Progress*>(
        mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    REQUIRE(progress != MAP_FAILED);
    const Session& session = test::shipped_session();
    const std::vector<std::string> devices = test::device_of_each_family(session);
    const fs::path scratch = fs::temp_directory_path() / ("hostile_" + std::to_string(getpid()) + extension);
    std::size_t next = 0;
    while (next < mutants.size()) {
        progress->at = next;
        const pid_t child = fork();
        if (child == 0) {
            for (std::size_t i = next; i < mutants.size(); ++i) {
                progress->at = i;
                std::ofstream(scratch, std::ios::binary) << mutants[i].bytes;
                alarm(seconds_each);
                try {
                    test::ask_everything(session, devices, scratch);
                } catch (const std::exception& fault) {
                    std::snprintf(progress->what, sizeof progress->what, "%s", fault.what());
                    _exit(70);
                }
                alarm(0);
            }
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
            break;
        outcome.faults.push_back(mutants[progress->at].name +
                                 (WIFSIGNALED(status) ? " -> signal " + std::to_string(WTERMSIG(status))
                                                      : std::string(" -> ") + progress->what));
        if (const char* keep = std::getenv("ARCHSIM_KEEP_HOSTILE"))
            std::ofstream(fs::path(keep) / (std::to_string(outcome.faults.size()) + ".onnx"),
                          std::ios::binary)
                << mutants[progress->at].bytes;
        next = progress->at + 1;
    }
    outcome.asked = mutants.size();
    std::error_code ignored;
    fs::remove(scratch, ignored);
    munmap(progress, sizeof(Progress));
    return outcome;
}

void check_none(const MutantOutcome& outcome) {
    INFO(outcome.asked << " mutants");
    CHECK(outcome.faults.size() == 0);
    for (const std::string& fault : outcome.faults)
        UNSCOPED_INFO(fault);
    CHECK(outcome.faults.empty());
}

} // namespace

TEST_CASE("a graph with a broken operand is answered or refused, never a fault") {
    constexpr std::size_t kStride = 211; // libonnx-testdata may not be installed: then there are none
    check_none(ask_mutants(onnx_mutants(node_tests(), kStride), ".onnx", 10));
}

TEST_CASE("a TensorFlow Lite file with a broken operand is answered or refused, never a fault") {
    constexpr std::size_t kStride = 41;
    check_none(ask_mutants(tflite_mutants(kStride), ".tflite", 10));
}

TEST_CASE("every graph with a broken operand is answered or refused", "[.][long]") {
    check_none(ask_mutants(onnx_mutants(node_tests(), 1), ".onnx", 10));
    check_none(ask_mutants(tflite_mutants(1), ".tflite", 10));
}
