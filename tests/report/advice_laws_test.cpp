// Advice is what the same question answers: a format or a batch that is named, asked for, is faster. Language
// models on every kind of device, networks of one pass on GPUs: on processors with 8-bit products at a higher
// rate whole networks may still be slower in 8 bits, and DPUs take images one after another.

#include "laws/laws.hpp"
#include "report/blocks/advice.hpp"

#include <catch2/catch.hpp>

#include <charconv>
#include <string>
#include <vector>

using namespace archsim;

namespace {

struct Asked {
    std::string model;
    std::optional<Prompt> prompt = {};
    std::vector<std::string> formats;
};

/// What stands after a flag, up to the next space or bracket.
std::string after(const std::string& text, const std::string& flag) {
    const auto at = text.find(flag);
    if (at == std::string::npos)
        return "";
    const auto from = at + flag.size();
    return text.substr(from, text.find_first_of(" ),", from) - from);
}

double items_per_second(const Result& r) {
    return r.generation ? r.estimate.batch / r.estimate.latency_s : r.estimate.throughput_per_s;
}

/// Every `step`th mode of a device that there is.
std::vector<std::string> some_hardware(std::size_t step) {
    std::vector<std::string> some;
    for (std::size_t i = 0; i < laws::hardware().size(); i += step)
        some.push_back(laws::hardware()[i]);
    return some;
}

} // namespace

TEST_CASE("what advice names is faster when it is asked for", "[laws][advice]") {
    const std::vector<Asked> questions = {
        {"resnet50", {}, {"fp32", "fp16"}},
        {"mobilenet_v2", {}, {"fp32", "int8"}},
        {"bert-base", {}, {"fp32", "bf16"}},
        {"llama-3.2-1b", Prompt{.tokens = 256, .generate = 32}, {"bf16", "w4a16", "w8a8", "fp8"}},
    };
    int checked = 0;
    for (const Asked& asked : questions) {
        Workload workload{.model = laws::session().load(asked.model), .batch = 1};
        workload.prompt = asked.prompt;
        for (const std::string& device : some_hardware(asked.prompt ? 11 : 5))
            for (const std::string& format : asked.formats) {
                Conditions conditions;
                conditions.precision = *PrecisionConfig::parse(format);
                const Result now = laws::session().estimate(workload, device, conditions);
                if (!now.ok() || (!asked.prompt && now.device->family.row().name != "gpu"))
                    continue;
                for (const Advice& advice : advice_for(std::span(&now, 1))) {
                    INFO(asked.model << " on " << device << " in " << format << ": " << advice.text);
                    Conditions then = conditions;
                    Workload larger = workload;
                    if (const std::string name = after(advice.text, "--precision "); !name.empty())
                        then.precision = *PrecisionConfig::parse(name);
                    else if (const std::string batch = after(advice.text, "--batch-size "); !batch.empty())
                        std::from_chars(batch.data(), batch.data() + batch.size(), larger.batch);
                    else
                        continue;
                    const Result better = laws::session().estimate(larger, device, then);
                    INFO(better.estimate.reason);
                    if (better.estimate.status == Status::does_not_fit)
                        continue; // a batch for which the memory is too small is another matter
                    REQUIRE(better.ok());
                    CHECK(items_per_second(better) > items_per_second(now));
                    ++checked;
                }
            }
    }
    CHECK(checked > 100);
}
