#include "estimate/cold_start.hpp"

#include <limits>

namespace archsim {

ColdStart cold_start(const Machine& machine, double operators, double weight_bytes, double warm_s,
                     double largest_part) {
    ColdStart result;
    result.warm_s = warm_s;
    const Runtime& stack = *machine.runtime;
    result.build = &stack.compile_per_operator;
    const auto build = [&](double count) {
        return stack.compile_base.value + stack.compile_per_operator.value * count;
    };
    result.build_s = build(operators);
    result.largest_build_s = largest_part > 0 ? build(largest_part) : result.build_s;
    const double link = machine.rate(Resource::host_link_bytes), dram = machine.rate(Resource::dram_bytes);
    if (link > 0) {
        result.upload_s = weight_bytes / link;
        result.link = &machine.device->host_link_bandwidth;
    } else if (dram > 0) {
        result.upload_s = 2 * weight_bytes / dram;
        result.link = &machine.device->dram->bandwidth;
    } else {
        result.upload_s = std::numeric_limits<double>::quiet_NaN();
    }
    return result;
}

} // namespace archsim
