#include "run/portability/advice.hpp"

#include "run/portability/channel_rounding.hpp"
#include "run/portability/rewrites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace archsim {

namespace {

constexpr double kSaves = 0.995; ///< of the time before
constexpr std::array<std::int64_t, 5> kTiles = {8, 16, 32, 64, 128};
constexpr std::array<std::int64_t, 4> kLargerBatches = {2, 4, 8, 16};
constexpr std::array<std::int64_t, 3> kPaddings = {16, 64, 128};

/// Collects what saves; of one kind of change the best alone.
class Advice {
  public:
    explicit Advice(double before_s) : before_s_(before_s) {}

    void add(RewriteOutcome outcome, std::string name, std::string title, std::string note,
             std::size_t places) {
        if (!outcome.runs || outcome.per_item() >= kSaves * before_s_)
            return;
        outcome.name = std::move(name);
        outcome.title = std::move(title);
        outcome.note = std::move(note);
        outcome.places = places;
        const auto same = std::find_if(found_.begin(), found_.end(), [&](const RewriteOutcome& other) {
            return other.name == outcome.name;
        });
        if (same == found_.end())
            found_.push_back(std::move(outcome));
        else if (outcome.per_item() < same->per_item())
            *same = std::move(outcome);
    }

    std::vector<RewriteOutcome> best(std::size_t most) {
        std::stable_sort(found_.begin(), found_.end(), [](const RewriteOutcome& x, const RewriteOutcome& y) {
            return x.per_item() < y.per_item();
        });
        if (found_.size() > most)
            found_.resize(most);
        return std::move(found_);
    }

  private:
    double before_s_;
    std::vector<RewriteOutcome> found_;
};

} // namespace

std::vector<RewriteOutcome> advise(const Trial& trial, const Graph& graph, const PortabilityRequest& request,
                                   double before_s, std::size_t most) {
    Advice advice(before_s);
    for (const Rewrite& rewrite : known_rewrites())
        if (const auto [changed, places] = rewritten(graph, rewrite); changed)
            advice.add(trial(changed), std::string(rewrite.name), std::string(rewrite.title),
                       std::string(rewrite.note), places);
    for (const std::int64_t tile : kTiles)
        if (const auto [changed, places] = with_rounded_channels(graph, tile); changed)
            advice.add(trial(changed), "channels",
                       fmt::format("channels at the nearest multiple of {}", tile),
                       "another network: train it anew", places);
    const auto same = std::make_shared<const Graph>(graph);
    for (const std::int64_t batch : kLargerBatches)
        advice.add(trial(same, batch * request.workload.batch), "batch",
                   fmt::format("batch {}", batch * request.workload.batch),
                   "the same values; items wait for each other", 1);
    const std::string batch = batch_symbol(graph);
    for (const auto& [symbol, size] : request.workload.model.info.dims)
        for (const std::int64_t tile : kPaddings) {
            const std::int64_t padded = (size + tile - 1) / tile * tile;
            if (symbol == batch || padded == size)
                continue;
            Bindings sizes = request.workload.sizes;
            sizes.dims[symbol] = padded;
            advice.add(trial(same, {}, &sizes), "padding_" + symbol,
                       fmt::format("{} padded from {} to {}", symbol, size, padded),
                       "the same values where the padding is masked", 1);
        }
    return advice.best(most);
}

} // namespace archsim
