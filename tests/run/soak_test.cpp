// One process that is asked for a long time: its memory stays what it is, and the same question has the same
// bytes.

#include "support/shipped_session.hpp"

#include "report/blocks/result_row.hpp"

#include <catch2/catch.hpp>

#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

using namespace archsim;

namespace {

double resident_mb() {
    long pages = 0;
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    REQUIRE(file != nullptr);
    const int read = std::fscanf(file, "%*d %ld", &pages);
    std::fclose(file);
    REQUIRE(read == 1);
    return static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

/// Random questions, each of which is asked with a model that is loaded anew; answers to questions asked
/// before are compared. What the process holds after the first quarter bounds what it holds at the end.
void soak(std::size_t questions) {
    const Session& session = test::shipped_session();
    std::vector<Finding> findings;
    std::vector<std::string> devices;
    for (const auto& device : session.hardware().all_devices(findings))
        devices.push_back(device->id);
    const std::vector<std::string> models = {"mobilenet_v2",         "squeezenet1_0", "resnet18",
                                             "vit_tiny_patch16_224", "bert-tiny",     "no_such_model"};
    const std::vector<Precision> formats = {Precision::fp32, Precision::fp16, Precision::int8};
    std::mt19937 random(2026);
    const auto one_of = [&](const auto& list) -> const auto& {
        return list[random() % list.size()];
    };
    std::map<std::string, std::size_t> answers; // question -> hash of its JSON
    double settled_mb = 0;
    std::size_t repeated = 0;
    for (std::size_t i = 0; i < questions; ++i) {
        const std::string& model = one_of(models);
        const std::string& device = one_of(devices);
        const std::int64_t batch = std::int64_t{1} << random() % 4;
        const Precision format = one_of(formats);
        std::string said;
        try {
            Workload workload;
            workload.model = session.load(model);
            workload.batch = batch;
            Conditions conditions;
            conditions.precision = PrecisionConfig::uniform(format);
            conditions.keep_subgraphs = i % 2 == 0;
            said = to_json(session.estimate(workload, device, conditions));
        } catch (const Error& refused) {
            said = refused.what();
        }
        const std::string question = model + ' ' + device + ' ' + std::to_string(batch) + ' ' +
                                     std::string(name_of(format)) + (i % 2 == 0 ? " whole" : " totals");
        const auto [known, fresh] = answers.try_emplace(question, std::hash<std::string>()(said));
        if (!fresh) {
            ++repeated;
            if (known->second != std::hash<std::string>()(said))
                FAIL_CHECK(question << " has another answer than before");
        }
        if (i == questions / 4)
            settled_mb = resident_mb();
    }
    INFO(repeated << " questions were asked again; " << settled_mb << " MB, then " << resident_mb() << " MB");
    CHECK(repeated > 0);
    CHECK(resident_mb() < 1.1 * settled_mb + 20);
}

} // namespace

TEST_CASE("a process that is asked for long keeps its memory and its answers") {
    soak(2000);
}

TEST_CASE("a hundred thousand questions leave memory and answers as they were", "[.][long]") {
    soak(100'000);
}
