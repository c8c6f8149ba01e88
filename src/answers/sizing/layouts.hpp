#pragma once
// The steps of sizing one device. A request and a way to share the model go in; the fewest replicas that hold
// its load, what they cost, and what would help where none does come out.

#include "answers/sizing/size_service.hpp"
#include "archsim/compare/cost.hpp"
#include "archsim/hardware/device.hpp"
#include "archsim/run/catalogue.hpp"
#include "archsim/serving/serving_result.hpp"
#include "archsim/serving/simulation.hpp"
#include "hardware/uncertainty.hpp"
#include "session/server/server.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace archsim {

/// Standard errors from the estimate below which `share` of the truth lies.
double deviation_of(double share);

/// The largest whole per cent, as a share, with which limits hold that hold up to some deviation; no less
/// than `known`, with which they do. What is asked for decides none of it, so that a layout has one
/// probability.
double largest_share(double known, const std::function<bool(double deviation)>& holds);

/// The factor on a wait so many standard errors from its estimate. Worked: 0.5 to 2 of the estimate at 90 %,
/// 2.132 deviations (kErrorReach) above: 2.
double wait_factor(const Spread& spread, double deviation);

/// The limit that the waits of a run are nearest to, those for first tokens `first` times as long.
SizingPressure nearest_limit(const ServiceLevel& level, const ServingSummary& run, double first = 1);

/// Simulations of one way under the load of a request.
class Replicas {
  public:
    /// `request.serving.parallelism` is the way, with one engine.
    Replicas(const Session& session, const Model& model, const std::string& hardware,
             const Conditions& conditions, const SizingRequest& request);

    /// Whether the model fits; the reason is that of `server().basis()`.
    bool ready() const { return server_.ready(); }
    Server& server() { return server_; }
    const Server& server() const { return server_; }

    /// Engines of which no fewer keep up with the arrivals, where steps lie `deviation` standard errors above
    /// their estimate; `quickly`: by the steps that generate alone, without a simulation.
    std::int64_t fewest(double deviation, bool quickly = false);
    /// The limit that so many engines are nearest to under `load_factor` times the load. Of many engines a
    /// few are simulated with their part of the load, unless `whole`: as serve_model does.
    SizingPressure pressure(std::int64_t engines, double deviation, double load_factor = 1,
                            bool whole = false);
    /// Whether they hold the limits under the load: pressure().ratio <= 1, of a run that ends as soon as that
    /// cannot be any more.
    bool holds(std::int64_t engines, double deviation, bool whole = false);
    /// One request alone on an engine: no number of engines is quicker.
    SizingPressure alone(double deviation);
    /// Intervals of the waits of so many engines, of which a few are simulated, around those of a run.
    WaitBounds bounds(std::int64_t engines, const ServingSummary& run);
    /// Probability that the limits hold on so many engines, by the error model: largest_share().
    double probability(std::int64_t engines, double known);

    /// The first failure of a step's estimate; empty when all were made.
    std::string problem() const { return server_.prices().problem(); }

  private:
    struct Factors {
        double first = 1, later = 1;
    };
    Factors factors(double deviation) const;
    double capacity();
    /// So many times the load, in rate or users and in number.
    std::vector<ServedRequest> requests(double load_factor, double count_factor) const;
    struct Asked;
    /// Absent: given up because a limit is missed, where `may_give_up`.
    std::optional<SizingPressure> simulated(const Asked& asked, bool may_give_up);
    const SizingPressure* known(const Asked& asked) const;
    double quickest_rate(double later);

    const SizingRequest& request_;
    Server server_;
    Spread first_, later_;
    double capacity_ = -1;
    /// Earlier runs are kept: the search, its last check and the probability meet in some runs.
    struct Asked {
        std::int64_t engines = 0, alike = 0; ///< of the service, and simulated
        double deviation = 0, load_factor = 1;
        bool operator==(const Asked&) const = default;
    };
    std::vector<std::pair<Asked, SizingPressure>> known_;
    std::vector<Asked> missed_; ///< of what no more is known
};

struct SizingBasis {
    const Session& session;
    const Model& model;
    const SizingRequest& request; ///< settled: with a number of requests
    CostOptions cost;             ///< with one basis
    double heads = 0;             ///< of attention; 0: the model does not say
    bool experts = false;
};

/// The device in the format of several that serves with the fewest; of each but the first no more are looked
/// at than another holds with. `chosen` is set where it is not the first. Never throws for a device: what
/// fails is its reason.
SizedDevice size_device(const SizingBasis& basis, const std::string& hardware,
                        std::span<const Conditions> formats, const Conditions** chosen = nullptr);

/// Adds the fewest devices of every ordered pair of the sized devices that serve in the same format, of those
/// that hold, and why others could not be estimated. Never throws for a pair.
void size_pairs(const SizingBasis& basis, const std::vector<const Conditions*>& conditions,
                SizingAnswer& answer);

/// One sentence: more devices, a narrower format, a longer limit, a smaller confidence or a larger budget,
/// each sized anew under all limits; empty where none of them helps.
std::string remedy(const SizingBasis& basis, const SizedDevice& miss, const Conditions& conditions);

/// Counts the requests of a run that wait longer than a limit: when more have than its P99 may leave out, the
/// run misses it, whatever follows.
class LimitMisses {
  public:
    LimitMisses(const ServiceLevel& level, const ServingPlan& plan, std::int64_t requests, double first)
        : level_(level), first_(first), warm_up_(plan.warm_up_of(requests)),
          // Refused ones and answers of one token do not count; fewer values leave out no more.
          left_out_(beyond_p99(requests - warm_up_)) {}

    /// Misses of a request that ended. The arithmetic is that of nearest_limit().
    bool can_hold(std::size_t index, const ServedRequest& r) {
        if (static_cast<std::int64_t>(index) < warm_up_)
            return true;
        const auto count = [](std::int64_t& misses, double value, double at_most) {
            if (at_most > 0 && value / at_most > 1)
                ++misses;
        };
        count(to_first_, r.time_to_first() * first_, level_.time_to_first_s);
        count(per_token_, r.time_per_token(), r.output_tokens > 1 ? level_.time_per_token_s : 0);
        count(end_to_end_, r.end_to_end(), level_.end_to_end_s);
        return std::max({to_first_, per_token_, end_to_end_}) <= left_out_;
    }

  private:
    const ServiceLevel& level_;
    double first_;
    std::int64_t warm_up_, left_out_;
    std::int64_t to_first_ = 0, per_token_ = 0, end_to_end_ = 0;
};

/// Dollars an hour of so many engines of `each` devices on the basis of `options`, what is rented in the
/// sizes that are let (rental()), without electricity; absent without a price. Worked: four at 2.50 USD/h
/// rented: 10; one at 30,000 USD over 5 years of 8,766 hours: 0.68.
std::optional<double> hourly_price(const Device& device, double each, double engines,
                                   const CostOptions& options, std::string* basis = nullptr,
                                   std::string* market = nullptr);

/// Ways of one engine, fewest devices first: tensor parallel in powers of two up to a node, that divide the
/// model's attention heads as engines require (vLLM: "total number of attention heads must be divisible by
/// tensor parallel size"); for experts also whole ones on each device with attention data-parallel; stages
/// over up to eight nodes; under a stack that divides by layers stages alone. One device alone where the
/// database knows no link.
std::vector<Parallelism> engine_ways(const Device& device, const ServerMemory& stack, double heads,
                                     bool experts);
/// The same for a device under the stack of its conditions, or the one that runs the model's file.
std::vector<Parallelism> engine_ways(const SizingBasis& basis, const std::string& hardware,
                                     const Conditions& conditions);

} // namespace archsim
