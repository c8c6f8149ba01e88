// Reads arbitrary bytes as a study file, in JSON and in YAML: a study or the documented refusal. A small
// study is also run.

#include "answers/study/study.hpp"
#include "archsim/core/finding.hpp"
#include "archsim/run/session.hpp"
#include "scratch_file.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::size_t kCells = 4; // keeps a run in milliseconds
    static const archsim::Session session;
    for (const char* extension : {".json", ".yaml"}) {
        try {
            const archsim::StudyRequest request =
                archsim::read_study(session, archsim::fuzz::scratch_file({data, size}, extension));
            if (request.models.size() * request.devices.size() * request.stacks.size() *
                    request.precisions.size() * request.batch_sizes.size() <=
                kCells)
                archsim::to_json(archsim::run_study(session, request));
        } catch (const archsim::Error&) {
            continue;
        }
    }
    return 0;
}
