// Uses the whole library as installed: estimates a model on a device. session_consumer [MODEL]

#include <archsim/archsim.h>
#include <archsim/run/session.hpp>

#include <cstdio>

int main(int argc, char** argv) try {
    const archsim::Session session;
    archsim::Bindings image; // what the catalogue says of the model, and a file does not
    image.dims = {{"height", 224}, {"width", 224}};
    const auto model = session.bind(session.load(argc > 1 ? argv[1] : "resnet18"), /*batch=*/1, image);
    const archsim::Result result = session.run(model, "H100", {});
    std::printf("archsim %s: %s\n", archsim_version(),
                result.ok() ? "estimated" : result.estimate.reason.c_str());
    return result.ok() ? 0 : 3;
} catch (const archsim::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.exit_code();
}
