#pragma once
// Compares everything that a mapper counted with hand-computed values: what is not expected must be absent.

#include "archsim/extend/mapper.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace archsim::test {

struct ExpectedDemand {
    Resource resource;
    Lane lane;
    double amount;
    double efficiency = 1;
};

inline void check_demands(const Mapping& mapping, std::initializer_list<ExpectedDemand> expected) {
    for (const Demand& d : mapping.all())
        UNSCOPED_INFO("counted: " << name_of(d.resource) << ", lane " << static_cast<int>(d.lane) << ", "
                                  << d.amount << " at " << d.efficiency);
    CHECK(mapping.demand_count == expected.size());
    for (const ExpectedDemand& e : expected) {
        INFO("expected: " << name_of(e.resource) << ", lane " << static_cast<int>(e.lane) << ", " << e.amount
                          << " at " << e.efficiency);
        const auto all = mapping.all();
        CHECK(std::any_of(all.begin(), all.end(), [&e](const Demand& d) {
            return d.resource == e.resource && d.lane == e.lane && d.amount == Approx(e.amount) &&
                   d.efficiency == Approx(e.efficiency);
        }));
    }
}

inline void check_events(const EventCounts& events, std::initializer_list<std::pair<Precision, double>> macs,
                         std::initializer_list<std::pair<Event, double>> expected) {
    EventCounts all;
    for (const auto& [precision, count] : macs)
        all.mac(precision) = count;
    for (const auto& [event, count] : expected)
        all[event] = count;
    for (Precision p : kPrecisions) {
        INFO("multiply-accumulates in " << name_of(p));
        CHECK(events.macs[static_cast<std::size_t>(p)] == Approx(all.mac(p)));
    }
    for (std::size_t e = 0; e < kEventCount; ++e) {
        INFO("event " << name_of(static_cast<Event>(e)));
        CHECK(events.counts[e] == Approx(all.counts[e]));
    }
}

inline void check_allocation(const Mapping& mapping, double units_used, double units_total, double waves,
                             double useful_fraction) {
    CHECK(mapping.allocation.units_used == Approx(units_used));
    CHECK(mapping.allocation.units_total == Approx(units_total));
    CHECK(mapping.allocation.waves == Approx(waves));
    CHECK(mapping.allocation.useful_fraction == Approx(useful_fraction));
}

} // namespace archsim::test
