// The queue of a simulation's events against a sorted list.

#include "serving/event_queue.hpp"

#include "serving/random.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

using archsim::serving::Event;
using archsim::serving::EventKind;
using archsim::serving::EventQueue;
using archsim::serving::RandomStream;

TEST_CASE("events are taken in their order, whatever is added between", "[serving]") {
    RandomStream random(1);
    for (int run = 0; run < 200; ++run) {
        EventQueue queue;
        std::vector<Event> all; // that were not taken
        std::uint64_t made = 0;
        const auto soonest = [&] {
            return std::min_element(all.begin(), all.end(),
                                    [](const Event& a, const Event& b) { return a.before(b); });
        };
        for (int i = 0; i < 100; ++i) {
            REQUIRE(queue.empty() == all.empty());
            CHECK(queue.next_time() == (all.empty() ? HUGE_VAL : soonest()->time));
            if (all.empty() || random.uniform() < 0.5) {
                // Few times, so that some are equal: the order of making decides.
                const Event event(std::floor(8 * random.uniform()), made++, EventKind::step_end, 0);
                queue.add(event);
                all.push_back(event);
                continue;
            }
            const auto first = soonest();
            CHECK(queue.take().order == first->order);
            all.erase(first);
        }
    }
}
