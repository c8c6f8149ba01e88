// Sequences that are counted by beats are where they would be if each had been moved by itself.

#include "serving/generating.hpp"
#include "serving/random.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace archsim;
using namespace archsim::serving;

namespace {

struct Plain {
    std::vector<Sequence> all;

    ContextCounts contexts() const {
        ContextCounts counts;
        for (const Sequence& s : all)
            counts.add(s.context);
        return counts;
    }

    std::int64_t steps_alike() const {
        std::int64_t steps = all.empty() ? 0 : std::numeric_limits<std::int64_t>::max();
        for (const Sequence& s : all)
            steps = std::min({steps, s.left - 2, ContextCounts::last_of(s.context) - s.context});
        return std::max<std::int64_t>(0, steps);
    }

    std::vector<std::size_t> advance(const std::vector<std::int64_t>& tokens) {
        std::vector<std::size_t> ended;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const std::int64_t taken = std::min(tokens[i], all[i].left);
            all[i].context += taken;
            all[i].left -= taken;
            all[i].emitted += taken;
            if (all[i].left == 0)
                ended.push_back(all[i].request);
        }
        std::erase_if(all, [](const Sequence& s) { return s.left == 0; });
        return ended;
    }
};

} // namespace

TEST_CASE("sequences that generate are counted as if each were moved by itself", "[serving]") {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        const bool drafts = seed % 4 == 0;
        RandomStream random(seed);
        const auto up_to = [&](double most) { return static_cast<std::int64_t>(random.uniform() * most); };
        Generating counted(drafts);
        Plain plain;
        std::size_t requests = 0;
        for (int step = 0; step < 400; ++step) {
            for (std::int64_t i = up_to(4); i > 0; --i) {
                Sequence s;
                s.request = requests++;
                s.context = 1 + up_to(seed % 3 == 0 ? 200 : 5000);
                s.left = 1 + up_to(300);
                counted.add(s);
                plain.all.push_back(s);
            }
            // Now and then one gives way: the last that came, or the one with the shortest answer so far.
            if (seed % 5 == 1 && step % 3 == 0 && !plain.all.empty()) {
                const bool shortest = step % 2 == 0;
                auto gone = std::prev(plain.all.end());
                if (shortest)
                    for (auto s = plain.all.rbegin(); s != plain.all.rend(); ++s)
                        if (s->emitted < gone->emitted)
                            gone = std::prev(s.base());
                const Sequence taken = counted.take(shortest);
                REQUIRE(taken.request == gone->request);
                REQUIRE(taken.context == gone->context);
                REQUIRE(taken.left == gone->left);
                plain.all.erase(gone);
            }
            REQUIRE(counted.size() == plain.all.size());
            REQUIRE(counted.contexts().sequences == plain.contexts().sequences);
            REQUIRE(counted.contexts().positions == plain.contexts().positions);
            std::vector<std::int64_t> contexts;
            for (const Sequence& s : plain.all)
                contexts.push_back(s.context);
            REQUIRE(counted.contexts_in_turn() == contexts);
            if (!drafts)
                REQUIRE(counted.steps_alike() == plain.steps_alike());
            std::vector<std::int64_t> tokens(plain.all.size(), 1);
            if (drafts)
                std::generate(tokens.begin(), tokens.end(), [&] { return 1 + up_to(5); });
            std::vector<Sequence> ended;
            std::size_t next = 0;
            if (drafts)
                counted.advance_by([&] { return tokens[next++]; }, ended);
            else
                counted.advance(ended);
            std::vector<std::size_t> who;
            for (const Sequence& s : ended) {
                who.push_back(s.request);
                REQUIRE(s.left == 0);
            }
            REQUIRE(who == plain.advance(tokens));
        }
    }
}
