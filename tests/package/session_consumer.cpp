// Uses the whole library as installed: estimates a model on a device. session_consumer [MODEL]

#include <archsim/archsim.h>
#include <archsim/run/session.hpp>

#include <cstdio>

int main(int argc, char** argv) try {
    const archsim::Session session;
    const archsim::Result result =
        session.run(session.bind(session.load(argc > 1 ? argv[1] : "resnet18"), 1), "H100", {});
    std::printf("archsim %s: %s\n", archsim_version(),
                result.ok() ? "estimated" : result.estimate.reason.c_str());
    return result.ok() ? 0 : 3;
} catch (const archsim::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.exit_code();
}
