// An architecture of one's own: a mapper that counts, handed to the Session in place of the library's.
//
// The chip here is an in-memory array that holds every weight: it moves activations only, and computes one
// output pixel per pass. The mapper counts cycles, bytes and events; the library prices them with the
// device's clocks, bandwidths and energy table, so latency, energy, intervals, ranking and reports come
// without further code.

#include <archsim/archsim.hpp>
#include <archsim/extend/mapper.hpp>

#include <cstdio>
#include <memory>

namespace {

using namespace archsim;

class WeightsInPlaceMapper final : public Mapper {
  public:
    std::string_view name() const override { return "weights in place"; }

    void map(const SubgraphWork& work, const NetworkWork&, const Machine& machine,
             Mapping& out) const override {
        const double rate = machine.matrix_ops(work.precision);
        if (work.macs > 0 && rate > 0) {
            out.add(Resource::matrix_cycles, Lane::compute, 2 * work.macs / rate);
            out.ideal_cycles = 2 * work.macs / rate;
            out.events.mac(work.precision) += work.macs;
        }
        // Weights never move: only activations cross the memory interface.
        out.add(Resource::dram_bytes, Lane::memory, work.activation_bytes());
        out.events[Event::dram_byte] += work.activation_bytes();
        out.events[Event::vector_op] += work.vector_ops;
        out.events[Event::special_op] += work.special_ops;
        out.allocation.scheme = "weights in place";
    }
};

} // namespace

int main() try {
    SessionOptions options;
    options.mappers[Family("npu")] = std::make_shared<const WeightsInPlaceMapper>();
    const Session ours(options), standard;
    Conditions run;
    run.precision = PrecisionConfig::uniform(Precision::int8);
    for (const Session* session : {&standard, &ours}) {
        const Workload workload{.model = session->load("mobilenet_v2")};
        const Result result = session->estimate(workload, "RK3588-NPU", run);
        std::printf("%s: %.3g ms, %.3g MB from memory\n",
                    result.estimate.subgraphs.at(0).mapping.allocation.scheme,
                    1e3 * result.estimate.latency_s, 1e-6 * result.estimate.events[Event::dram_byte]);
    }
} catch (const archsim::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
}
