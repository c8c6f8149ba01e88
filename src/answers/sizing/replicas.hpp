#pragma once
// One way to share a model on one device, times engines beside each other: how long clients wait, by the
// estimate or where every step takes longer.

#include "answers/sizing/size_service.hpp"
#include "hardware/uncertainty.hpp"
#include "session/server/server.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace archsim {

/// Deviations beyond which a probability is 0 or 1 for people: 0.7 % either way with 4 degrees of freedom.
inline constexpr double kFarthestDeviation = 4.2;

/// What a wait is multiplied by so many standard errors from its estimate. Worked: 0.5 to 2 of the estimate
/// at 90 %, 2.132 deviations (kErrorReach) above: 2.
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
    /// What so many engines are nearest to under `load_factor` times the load. Of many engines a few are
    /// simulated with their part of the load, unless `whole`: as serve_model does.
    SizingPressure pressure(std::int64_t engines, double deviation, double load_factor = 1,
                            bool whole = false);
    /// Whether they hold the limits under the load: pressure().ratio <= 1, of a run that ends as soon as that
    /// cannot be any more.
    bool holds(std::int64_t engines, double deviation, bool whole = false);
    /// One request alone on an engine: no number of engines is quicker.
    SizingPressure alone(double deviation);
    /// Intervals of the waits of so many engines, of which a few are simulated, around those of a run.
    WaitBounds bounds(std::int64_t engines, const ServingSummary& run);
    /// Probability that the limits hold on so many engines, by the error model; `holds_at`: a deviation at
    /// which they are known to.
    double probability(std::int64_t engines, std::optional<double> holds_at = {});

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
    /// What was asked before is known: the search, its last check and the probability meet in some runs.
    struct Asked {
        std::int64_t engines = 0, alike = 0; ///< of the service, and simulated
        double deviation = 0, load_factor = 1;
        bool operator==(const Asked&) const = default;
    };
    std::vector<std::pair<Asked, SizingPressure>> known_;
    std::vector<Asked> missed_; ///< of what no more is known
};

} // namespace archsim
