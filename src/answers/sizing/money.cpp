#include "answers/sizing/money.hpp"

#include <fmt/format.h>

namespace archsim {

std::optional<double> hourly_price(const Device& device, double devices, const CostOptions& options,
                                   std::string* basis) {
    const bool rent = options.tenure != Tenure::buy;
    const std::optional<Price>& stated = rent ? device.cloud_price : device.list_price;
    std::optional<double> each;
    std::string text;
    if (stated && stated->amount.known()) {
        each = stated->amount.value;
        text =
            stated->instance.empty() ? stated->date : fmt::format("{}, {}", stated->instance, stated->date);
    } else if (stated)
        text = fmt::format("not {}: {} ({})", rent ? "rented" : "sold", stated->amount.note, stated->date);
    for (const GivenPrice& given : options.prices)
        if (given.hardware == device.id && given.hourly == rent) {
            each = given.amount;
            text = "--price";
        }
    if (basis != nullptr)
        *basis = text;
    if (!each)
        return std::nullopt;
    if (rent)
        return devices * *each;
    return devices * (*each + (device.server_price ? device.server_price->amount.value : 0)) /
           (options.years * kHoursPerYear);
}

} // namespace archsim
