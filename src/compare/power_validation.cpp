#include "archsim/compare/power_validation.hpp"

#include <array>
#include <cmath>
#include <map>
#include <tuple>

namespace archsim {

namespace {

using Rows = std::vector<const ValidatedRow*>;

PowerGroup group_of(const Rows& rows) {
    PowerGroup group;
    group.metric = rows.front()->measured.metric;
    group.errors = error_statistics(rows);
    group.devices = tau_of_devices(rows);
    double farthest = -1;
    for (const ValidatedRow* row : rows) {
        // Half and double are equally wrong.
        const double distance = std::abs(std::log(row->prediction.predicted / row->measured.value));
        if (distance <= farthest)
            continue;
        farthest = distance;
        group.worst = row->measured.id;
        group.worst_error = row->error();
    }
    return group;
}

} // namespace

std::vector<PowerGroup> power_groups(const Validation& validation) {
    std::vector<PowerGroup> groups;
    for (const MeasuredMetric metric : {MeasuredMetric::power_w, MeasuredMetric::energy_mj}) {
        Rows all;
        std::map<PowerBoundary, Rows> boundaries;
        std::map<std::tuple<PowerBoundary, std::string, std::string>, Rows> parts;
        for (const ValidatedRow& row : validation.rows) {
            if (row.measured.metric != metric || !row.prediction.ok() || row.measured.weight < kTrustedWeight)
                continue;
            all.push_back(&row);
            boundaries[row.measured.boundary].push_back(&row);
            parts[{row.measured.boundary, row.prediction.family, row.prediction.regime}].push_back(&row);
        }
        if (all.empty())
            continue;
        groups.push_back(group_of(all));
        for (const auto& [boundary, rows] : boundaries) {
            groups.push_back(group_of(rows));
            groups.back().boundary = boundary;
        }
        for (const auto& [key, rows] : parts) {
            groups.push_back(group_of(rows));
            std::tie(groups.back().boundary, groups.back().family, groups.back().regime) = key;
        }
    }
    return groups;
}

} // namespace archsim
