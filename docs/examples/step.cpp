#include <archsim/archsim.hpp>
#include <cstdio>

int main(int argc, char** argv) {
    const std::string model = argc > 1 ? argv[1] : "qwen3-8b", device = argc > 2 ? argv[2] : "H100";
    const archsim::Session session;
    const archsim::StepEngine engine(session, session.load(model), device);
    const std::vector<archsim::StepRequest> batch = {{1, 1000}, {1, 3000}, {512, 0}}; // new tokens, cached
    const archsim::EngineStep step = engine.step(batch);
    std::printf("%.3g ms (%.3g to %.3g), %.3g J\n", 1e3 * step.seconds, 1e3 * step.low_s, 1e3 * step.high_s,
                step.joules);
}
