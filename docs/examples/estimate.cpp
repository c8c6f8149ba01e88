// Estimates a catalogue model on a few devices and prints what binds it: estimate [MODEL [DEVICE...]]

#include <archsim/archsim.hpp>

#include <cstdio>
#include <string>
#include <vector>

int main(int argc, char** argv) try {
    const std::string name = argc > 1 ? argv[1] : "resnet50";
    std::vector<std::string> devices(argv + std::min(argc, 2), argv + argc);
    if (devices.empty())
        devices = {"H100", "TPU-v4", "KPU-T64@6W"};

    const archsim::Session session;
    const archsim::Workload workload{.model = session.load(name)};
    archsim::Conditions conditions;
    conditions.precision = archsim::PrecisionConfig::uniform(archsim::Precision::fp16);
    for (const std::string& device : devices) {
        const archsim::Result result = session.estimate(workload, device, conditions);
        if (!result.ok()) {
            std::printf("%s: %s\n", device.c_str(), result.estimate.reason.c_str());
            continue;
        }
        const archsim::Estimate& e = result.estimate;
        std::printf("%s: %.3g ms (%.3g-%.3g), %.3g mJ, %d of %zu subgraphs compute-bound\n", device.c_str(),
                    1e3 * e.latency_s, 1e3 * e.latency_interval.low, 1e3 * e.latency_interval.high,
                    1e3 * e.energy_per_inference_j, e.compute_bound, e.subgraphs.size());
    }
} catch (const archsim::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
}
