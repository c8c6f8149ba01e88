#include "archsim/run/compare_architectures.hpp"

#include "run/architecture_choice.hpp"
#include "run/subject.hpp"

#include <algorithm>
#include <numeric>

namespace archsim {

namespace {

std::optional<std::size_t> choose_baseline(const ArchitectureComparison& c,
                                           const std::vector<ArchitectureChoice>& choices) {
    if (!c.request.baseline.empty())
        return find_architecture(choices, c.request.baseline, "--baseline");
    const auto fastest = find_winner(c.results, Objective::latency);
    return fastest ? std::optional(fastest->best) : std::nullopt;
}

void add_regions(ArchitectureComparison& c) {
    std::vector<const Result*> estimated;
    for (std::size_t i = 0; i < c.results.size(); ++i)
        if (c.results[i].ok()) {
            c.compared.push_back(i);
            estimated.push_back(&c.results[i]);
        }
    c.regions = common_regions(estimated);
}

} // namespace

ArchitectureComparison compare_architectures(const Session& session, CompareArchitecturesRequest request,
                                             const Bindings& bindings, const RunOptions& options) {
    ArchitectureComparison c;
    const auto choices = choose_architectures(session, request.architectures);
    for (const std::string& name : request.explain)
        find_architecture(choices, name, "--explain-difference");
    if (!request.architecture.empty())
        c.detailed.push_back(find_architecture(choices, request.architecture, "--architecture"));
    const Subject subject = make_subject(session, request.model, request.batch_size, bindings);
    c.model = subject.facts;
    c.request = std::move(request);
    for (const ArchitectureChoice& choice : choices) {
        c.labels.push_back(choice.label);
        c.results.push_back(subject.run(choice.hardware, options));
    }
    if (c.detailed.empty()) {
        c.detailed.resize(c.results.size());
        std::iota(c.detailed.begin(), c.detailed.end(), std::size_t{0});
    }
    c.baseline = choose_baseline(c, choices);
    add_regions(c);
    return c;
}

int exit_code(const ArchitectureComparison& comparison) {
    const bool incomplete =
        std::any_of(comparison.results.begin(), comparison.results.end(),
                    [](const Result& r) { return r.estimate.status == Status::incomplete; });
    return incomplete ? 3 : 0;
}

} // namespace archsim
