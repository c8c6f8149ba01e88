// Kendall's tau over groups of rows.

#include "fit/errors/validation.hpp"

#include <map>

namespace archsim {

namespace {

using Rows = std::vector<const ValidatedRow*>;
using Key = std::string (*)(const MeasuredRow&);

/// What both rankings hold fixed; '\n' cannot be part of a field.
std::string workload_key(const MeasuredRow& row) {
    return (row.batch ? std::to_string(*row.batch) : "best") + '\n' + row.precision + '\n' + row.scope +
           '\n' + std::string(name_of(row.metric)) + '\n' + row.phase + '\n' + row.prompt_tokens + '\n' +
           row.generated_tokens + '\n' + std::to_string(row.devices);
}

std::string model_name(const MeasuredRow& row) {
    return row.model + '\n' + (row.image_size ? std::to_string(*row.image_size) : "") + '\n' + row.sequence;
}

/// Two stacks on one device are no two devices.
std::string device_name(const MeasuredRow& row) {
    return row.hardware + '\n' + row.power_mode;
}

std::string model_key(const MeasuredRow& row) {
    return model_name(row) + '\n' + workload_key(row);
}

std::string device_key(const MeasuredRow& row) {
    return device_name(row) + '\n' + row.runtime + '\n' + workload_key(row);
}

/// Rows that agree in `held` are ranked by what `ranked` names.
RankAgreement agreement(const Rows& rows, Key held, Key ranked) {
    std::map<std::string, std::vector<RankedValue>> groups;
    for (const ValidatedRow* row : rows)
        if (row->prediction.ok())
            groups[held(row->measured)].push_back(
                {ranked(row->measured), row->measured.value, row->prediction.predicted});
    RankAgreement result;
    double balance = 0;
    for (const auto& [name, group] : groups) {
        const PairCounts pairs = count_pairs(group);
        if (pairs.comparable() == 0)
            continue;
        ++result.groups;
        result.pairs += pairs.comparable();
        balance += static_cast<double>(pairs.concordant) - static_cast<double>(pairs.discordant);
    }
    if (result.pairs > 0)
        result.tau = balance / static_cast<double>(result.pairs);
    return result;
}

} // namespace

PairCounts count_pairs(std::span<const RankedValue> values) {
    PairCounts counts;
    for (std::size_t i = 0; i < values.size(); ++i)
        for (std::size_t j = i + 1; j < values.size(); ++j) {
            const double truth = values[i].measured - values[j].measured;
            const double guess = values[i].predicted - values[j].predicted;
            if (truth == 0 || values[i].item == values[j].item)
                continue;
            if (guess == 0)
                ++counts.undecided;
            else if ((truth > 0) == (guess > 0))
                ++counts.concordant;
            else
                ++counts.discordant;
        }
    return counts;
}

RankAgreement tau_of_devices(const Rows& rows) {
    return agreement(rows, model_key, device_name);
}

RankAgreement tau_of_models(const Rows& rows) {
    return agreement(rows, device_key, model_name);
}

} // namespace archsim
