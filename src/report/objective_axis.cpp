#include "report/objective_axis.hpp"

namespace archsim {

ObjectiveAxis axis_of(Objective objective) {
    switch (objective) {
    case Objective::energy:
        return {1e3, "mJ"};
    case Objective::latency:
        return {1e3, "ms"};
    case Objective::memory:
        return {1e-6, "MB"};
    case Objective::throughput:
        return {1, "per s"};
    case Objective::cost:
        return {1e6, "USD per million"};
    case Objective::power:
    case Objective::balance:
        break;
    }
    return {1, std::string(info_of(objective).unit)};
}

} // namespace archsim
