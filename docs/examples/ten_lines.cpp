#include <archsim/archsim.hpp>
#include <cstdio>

int main(int argc, char** argv) try {
    const archsim::Session session;
    const archsim::Workload workload{.model = session.load(argc > 1 ? argv[1] : "resnet50"), .batch = 1};
    archsim::Conditions conditions;
    conditions.precision = archsim::PrecisionConfig::uniform(archsim::Precision::fp16);
    const archsim::Result result = session.estimate(workload, "H100", conditions);
    if (!result.ok()) {
        std::fprintf(stderr, "%s\n", result.estimate.reason.c_str());
        return 1;
    }
    std::printf("%.3g ms, %.3g mJ\n", 1e3 * result.estimate.latency_s,
                1e3 * result.estimate.energy_per_inference_j);
} catch (const archsim::Error& problem) { // a name that does not exist
    std::fprintf(stderr, "%s\n", problem.what());
    return 2;
}
