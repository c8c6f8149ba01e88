#include "answers/architectures/model_classes.hpp"

#include "answers/architectures/architectures.hpp"
#include "core/lists.hpp"
#include "result/ties.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace archsim {

constexpr std::array kClasses = {
    ModelClass{"Convolutional network", "resnet50"},
    ModelClass{"Mobile network", "mobilenet_v2"},
    ModelClass{"Vision transformer", "vit_b_16"},
    ModelClass{"Object detection", "yolov8n"},
    ModelClass{"Semantic segmentation", "deeplabv3_resnet50"},
    ModelClass{"Text encoder", "bert-base"},
    ModelClass{"Text to text", "t5-small"},
    ModelClass{"Text generation", "tinyllama-1.1b"},
    ModelClass{"Speech recognition", "whisper-tiny"},
    ModelClass{"Audio and text", "clap"},
    ModelClass{"Image and text", "clip-vit-b32"},
    ModelClass{"Video and text", "xclip-base-patch32"},
    ModelClass{"Vision-language", "llava-1.5-7b"},
};
static_assert(kClasses.size() == 13);

constexpr std::size_t kClaims = 3; ///< of each sort per architecture: what stands out

static std::size_t choose_cpu(const std::vector<ArchitectureChoice>& choices, const ModelClassComparison& c) {
    if (!c.request.baseline.empty())
        return find_architecture(choices, c.request.baseline, "--baseline");
    for (std::size_t i = 0; i < choices.size(); ++i) {
        const auto& device = c.rows.front().results[i].device;
        if (device && device->family == Family("cpu"))
            return i;
    }
    throw UsageError(
        "--by-class: no CPU is among the architectures; name what to compare with: --baseline NAME");
}

/// How many times better `a` is than `b`: below 1 where it is worse. Nothing where one has no value, or it is
/// less than 95 % likely which is better.
static std::optional<double> surely_better(const Result& a, const Result& b, const Metric& metric) {
    const auto x = measure_of(a, metric), y = measure_of(b, metric);
    constexpr double kSure = 0.95;
    if (!x || !y || x->value <= 0 || y->value <= 0)
        return std::nullopt;
    if (const double p = probability_better(metric, a, *x, b, *y); p < kSure && 1 - p < kSure)
        return std::nullopt;
    return metric.better == Better::lower ? y->value / x->value : x->value / y->value;
}

/// Watts that a device may draw; 0: not known.
static double power_of(const Result& r) {
    return !r.machine                     ? 0
           : r.machine->power_limit_w > 0 ? r.machine->power_limit_w
                                          : r.machine->power_budget_w;
}

/// The best of the others; of speed, of those of comparable power. A projection is compared with what was
/// measured and with other projections, what was measured with its like alone, where there is any.
static std::optional<std::size_t> rival(const ModelClassRow& row, std::size_t self, const Metric& metric) {
    std::optional<std::size_t> found;
    const bool self_projected = !may_lead(row.results[self].estimate);
    const auto compares = [&](const Result& r) {
        return &r != &row.results[self] &&
               (metric != metric::latency || comparable_power(row.results[self], r));
    };
    const bool any_measured = std::ranges::any_of(
        row.results, [&](const Result& r) { return compares(r) && r.ok() && may_lead(r.estimate); });
    for (std::size_t i = 0; i < row.results.size(); ++i) {
        const auto value = value_of(row.results[i], metric);
        if (!compares(row.results[i]) || !value ||
            (!may_lead(row.results[i].estimate) && !self_projected && any_measured))
            continue;
        if (!found || better(metric, *value, *value_of(row.results[*found], metric)))
            found = i;
    }
    return found;
}

/// Times the throughput of the small batch at the large one.
static std::optional<double> batch_gain(const ModelClassRow& row, std::size_t i) {
    const auto alone = value_of(row.results[i], metric::throughput),
               many = value_of(row.batched[i], metric::throughput);
    return alone && many && *alone > 0 ? std::optional(*many / *alone) : std::nullopt;
}

/// Who gains most from batches is good at large ones, who gains least at small ones. What was measured is
/// compared with its like.
static void add_batch_claim(const ModelClassRow& row, std::size_t r, std::size_t self,
                            ArchitectureProfile& profile) {
    const auto own = batch_gain(row, self);
    if (!own)
        return;
    const bool projected = !may_lead(row.results[self].estimate);
    double most = 0, least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < row.results.size(); ++i)
        if (const auto gain = batch_gain(row, i);
            gain && i != self && (projected || may_lead(row.results[i].estimate))) {
            most = std::max(most, *gain);
            least = std::min(least, *gain);
        }
    constexpr double kClear = 1.5; // apart from the next: less is a matter of the network
    if (most > 0 && *own > kClear * most)
        profile.strengths.push_back({r, std::nullopt, false, &metric::throughput, *own, true});
    else if (most > 0 && *own * kClear < least)
        profile.strengths.push_back({r, std::nullopt, true, &metric::throughput, least / *own, true});
}

static void add_claims(const ModelClassComparison& c, std::size_t self, ArchitectureProfile& profile) {
    const std::vector<Result>& first = c.rows.front().results;
    for (std::size_t i = 0; i < first.size(); ++i)
        if (i != self && comparable_power(first[self], first[i]))
            profile.peers.push_back(i);
    for (std::size_t r = 0; r < c.rows.size(); ++r) {
        const ModelClassRow& row = c.rows[r];
        const Result& own = row.results[self];
        if (!own.ok()) {
            profile.unable.push_back(r);
            continue;
        }
        for (const Metric* metric : {&metric::latency, &metric::energy}) {
            const auto other = rival(row, self, *metric);
            const auto value = value_of(own, *metric);
            if (!other || !value)
                continue;
            if (better(*metric, *value, *value_of(row.results[*other], *metric)))
                (metric == &metric::latency ? profile.best_for : profile.frugal_for).push_back(r);
            if (const auto ratio = surely_better(own, row.results[*other], *metric)) {
                if (*ratio > 1)
                    profile.strengths.push_back({r, other, false, metric, *ratio, true});
                else
                    profile.weaknesses.push_back({r, other, false, metric, 1 / *ratio, false});
            }
        }
        add_batch_claim(row, r, self, profile);
    }
    for (auto* claims : {&profile.strengths, &profile.weaknesses}) {
        std::ranges::stable_sort(*claims, std::ranges::greater{}, &ClassClaim::ratio);
        // One claim per metric and sort of rival would hide how wide the strength is; three of each metric
        // show it.
        std::vector<ClassClaim> kept;
        for (const Metric* metric : {&metric::latency, &metric::energy, &metric::throughput}) {
            std::size_t count = 0;
            for (const ClassClaim& claim : *claims)
                if (claim.metric == metric && count++ < kClaims)
                    kept.push_back(claim);
        }
        *claims = std::move(kept);
    }
}

bool comparable_power(const Result& a, const Result& b) {
    const double x = power_of(a), y = power_of(b);
    return !(x > 0) || !(y > 0) || std::max(x, y) <= kComparablePower * std::min(x, y);
}

ModelClassComparison compare_model_classes(const Session& session, ModelClassRequest request) {
    ModelClassComparison c;
    const auto choices = choose_architectures(session, request.architectures);
    c.request = std::move(request);
    c.labels = mapped(choices, &ArchitectureChoice::label);
    c.request.conditions.keep_subgraphs = false;
    for (const ModelClass& what : kClasses) {
        ModelClassRow& row = c.rows.emplace_back();
        row.what = what;
        Workload workload;
        workload.model = session.load(std::string(what.model));
        workload.single_pass = true; // classes are compared by what one pass takes
        const Conditions& asked = c.request.conditions;
        for (const ArchitectureChoice& choice : choices) {
            workload.batch = c.request.batch;
            row.results.push_back(session.estimate(workload, choice.hardware, asked));
            workload.batch = c.request.larger_batch;
            row.batched.push_back(session.estimate(workload, choice.hardware, asked));
        }
    }
    c.baseline = choose_cpu(choices, c);
    for (std::size_t i = 0; i < choices.size(); ++i)
        add_claims(c, i, c.profiles.emplace_back());
    return c;
}

} // namespace archsim
