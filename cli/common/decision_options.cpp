#include "archsim/core/finding.hpp"
#include "common/tool.hpp"
#include "core/parse_number.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace archsim::cli {

namespace {

constexpr const char* kGroup = "Limits and choices";
constexpr std::size_t kMostBatches = 64;

std::vector<std::string> pieces_of(const std::string& text) {
    std::vector<std::string> pieces;
    std::size_t begin = 0;
    while (begin <= text.size()) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        pieces.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return pieces;
}

std::int64_t parse_batch(const std::string& text, const std::string& flag) {
    const auto batch = parse_whole(text);
    if (!batch || *batch < 1 || *batch > kLargestBatch)
        throw UsageError(fmt::format("{}: \"{}\" is not a batch of 1 to {}", flag, text, kLargestBatch));
    return *batch;
}

/// Appends what "..." stands for between the last two numbers and `last`: geometric where these double (or
/// grow by another whole factor), else in equal steps.
void continue_to(std::int64_t last, const std::string& flag, std::vector<std::int64_t>& batches) {
    if (batches.size() < 2 || batches[batches.size() - 2] >= batches.back())
        throw UsageError(fmt::format("{}: \"...\" needs two rising numbers before it", flag));
    const std::int64_t before = batches[batches.size() - 2], step = batches.back() - before;
    const bool geometric =
        batches.back() % before == 0 &&
        (batches.size() < 3 || batches[1] != batches[0] + step || batches[2] != batches[1] + step);
    const std::int64_t factor = batches.back() / before;
    while (batches.size() < kMostBatches) {
        const std::int64_t next = geometric ? batches.back() * factor : batches.back() + step;
        if (next > last)
            break;
        batches.push_back(next);
    }
    if (batches.back() != last)
        batches.push_back(last);
}

} // namespace

std::string limit_flag(const Metric& metric) {
    return (metric.better == Better::higher ? "--min-" : "--max-") + metric.key;
}

void DecisionOptions::add_limits_to(Flags& flags) {
    for (const Metric* m : metrics->rows())
        flags.add_option(limit_flag(*m), limits[m->key], m->limit_help.empty() ? m->noun : m->limit_help)
            .value_named("LIMIT")
            .in_group(kGroup);
}

void DecisionOptions::add_to(Flags& flags) {
    add_limits_to(flags);
    flags.add_option("--pareto", pareto, "mark the Pareto front of these metrics, e.g. energy latency")
        .value_named("METRIC")
        .in_group(kGroup);
}

bool DecisionOptions::about_costs() const {
    const auto is_cost = [](const std::string& key) {
        return key == metric::cost.key || key == metric::carbon.key;
    };
    return std::any_of(limits.begin(), limits.end(),
                       [&](const auto& limit) { return is_cost(limit.first) && !limit.second.empty(); }) ||
           std::any_of(pareto.begin(), pareto.end(), is_cost);
}

DecisionRequest DecisionOptions::request(const Metric& preference) const {
    DecisionRequest request;
    request.preference = &preference;
    for (const Metric* m : metrics->rows())
        if (const auto given = limits.find(m->key); given != limits.end() && !given->second.empty())
            request.constraints.push_back(parse_constraint(*m, given->second, limit_flag(*m)));
    for (const std::string& name : pareto)
        request.pareto.push_back(&metrics->at(name, "--pareto"));
    return request;
}

std::vector<std::int64_t> parse_batches(const std::string& text, const std::string& flag) {
    std::vector<std::int64_t> batches;
    const std::vector<std::string> pieces = pieces_of(text);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        if (pieces[i] != "...") {
            batches.push_back(parse_batch(pieces[i], flag));
        } else {
            if (i + 1 == pieces.size())
                throw UsageError(fmt::format("{}: give the last batch after \"...\"", flag));
            continue_to(parse_batch(pieces[++i], flag), flag, batches);
        }
        if (batches.size() > kMostBatches)
            throw UsageError(fmt::format("{}: more than {} batches", flag, kMostBatches));
    }
    for (std::size_t i = 1; i < batches.size(); ++i)
        if (batches[i] <= batches[i - 1])
            throw UsageError(
                fmt::format("{}: batches must rise, {} comes after {}", flag, batches[i], batches[i - 1]));
    return batches;
}

} // namespace archsim::cli
