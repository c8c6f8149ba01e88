#include <archsim/archsim.hpp>
#include <cstdio>

int main(int, char** argv) {
    const archsim::Session session;
    const archsim::StepEngine engine(session, session.load(argv[1]), argv[2]);
    const std::vector<archsim::StepRequest> batch = {{1, 1000}, {1, 3000}, {512, 0}}; // new tokens, cached
    const archsim::EngineStep step = engine.step(batch);
    std::printf("%.3g ms (%.3g to %.3g), %.3g J\n", 1e3 * step.seconds, 1e3 * step.low_s, 1e3 * step.high_s,
                step.joules);
}
