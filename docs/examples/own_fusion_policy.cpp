// What fusion is worth: the same model on the same device with the stack's policy, with none, and with one
// choice of our own.

#include <archsim/archsim.hpp>
#include <archsim/extend/fusion_policy.hpp>

#include <cstdio>

int main() try {
    using namespace archsim;
    const Session session;
    const Workload workload{.model = session.load("mobilenet_v2"), .batch = 64}; // more than its L2 holds
    Conditions as_shipped;
    as_shipped.precision = PrecisionConfig::uniform(Precision::fp16);
    Conditions unfused = as_shipped;
    unfused.fusion = FusionPolicy::unfused();
    Conditions own = as_shipped;
    own.fusion = FusionPolicy::unfused();
    own.fusion->batch_norm = own.fusion->activation = true; // what a first compiler of one's own would join
    for (const auto& [label, conditions] :
         {std::pair("fused", &as_shipped), std::pair("unfused", &unfused), std::pair("own", &own)}) {
        const Result result = session.estimate(workload, "A100", *conditions);
        std::printf("%s: %zu subgraphs, %.3g ms, %.3g MB from memory\n", label,
                    result.partition->subgraphs.size(), 1e3 * result.estimate.latency_s,
                    1e-6 * result.estimate.events[Event::dram_byte]);
    }
} catch (const archsim::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
}
