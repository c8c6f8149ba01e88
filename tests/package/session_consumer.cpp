// Uses the whole library as installed: estimates a model on a device. session_consumer [MODEL]

#include <archsim/archsim.h>
#include <archsim/archsim.hpp>

#include <cstdio>

int main(int argc, char** argv) try {
    const archsim::Session session;
    archsim::Workload workload{.model = session.load(argc > 1 ? argv[1] : "resnet18")};
    workload.sizes.dims = {{"height", 224}, {"width", 224}}; // what the catalogue says, and a file does not
    const archsim::Result result = session.estimate(workload, "H100");
    std::printf("archsim %s: %s\n", archsim_version(),
                result.ok() ? "estimated" : result.estimate.reason.c_str());
    return result.ok() ? 0 : 3;
} catch (const archsim::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
}
