#include "report/blocks/verdict.hpp"
#include "core/text.hpp"

#include "ops/given_values.hpp"
#include "report/blocks/advice.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/result_text.hpp"
#include "report/blocks/row_marks.hpp"
#include "result/bound_shares.hpp"
#include "result/generation_metrics.hpp"
#include "result/mixed_formats.hpp"
#include "result/ties.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

namespace archsim {

namespace {

/// Who is best by one metric.
struct Best {
    const Metric* metric = nullptr;
    Winner winner;
};

/// How many of those that run meet a limit.
struct LimitCount {
    const Constraint* constraint = nullptr;
    std::size_t met = 0, of = 0;
};

struct VerdictFacts {
    bool within = false; ///< `best` is of those that meet every limit
    bool mixed = false;  ///< estimates multiply in different formats
    std::vector<Best> best;
    std::vector<LimitCount> limits;
    std::size_t all_limits = 0; ///< results that meet every limit
    std::size_t running = 0;
};

/// The metric asked for first, then speed and energy.
std::vector<const Metric*> judged(const VerdictQuestion& q) {
    const bool text = compares_generation(q.results);
    std::vector<const Metric*> list = {&q.by};
    const auto add = [&](const Metric& m) {
        if (std::none_of(list.begin(), list.end(), [&](const Metric* known) { return *known == m; }))
            list.push_back(&m);
    };
    if (q.by != metric::throughput && q.by != metric::total_token_rate)
        add(text ? metric::token_rate : metric::latency);
    if (text)
        add(metric::first_token);
    add(text ? metric::token_energy : metric::energy);
    return list;
}

VerdictFacts facts_of(const VerdictQuestion& q) {
    VerdictFacts facts;
    facts.mixed = mixed_formats(q.results);
    facts.within = q.decision != nullptr && !q.decision->request.constraints.empty() &&
                   std::any_of(q.decision->qualifies.begin(), q.decision->qualifies.end(),
                               [](bool qualifies) { return qualifies; });
    for (const Metric* m : judged(q))
        if (auto winner = facts.within ? winner_within(q.results, *m, *q.decision)
                                       : find_winner(q.results, *m, q.conditions))
            facts.best.push_back({m, std::move(*winner)});
    facts.running = static_cast<std::size_t>(
        std::count_if(q.results.begin(), q.results.end(), [](const Result& r) { return r.ok(); }));
    if (q.decision == nullptr || q.decision->request.constraints.empty())
        return facts;
    const auto& constraints = q.decision->request.constraints;
    for (std::size_t c = 0; c < constraints.size(); ++c) {
        LimitCount count{&constraints[c], 0, facts.running};
        for (std::size_t i = 0; i < q.results.size(); ++i)
            count.met += q.results[i].ok() && q.decision->verdicts[i][c].met ? 1U : 0U;
        facts.limits.push_back(count);
    }
    for (std::size_t i = 0; i < q.results.size(); ++i)
        facts.all_limits += q.results[i].ok() && q.decision->qualifies[i] ? 1U : 0U;
    return facts;
}

std::string words_of(const Metric& m) {
    return m.best.empty() ? "Best by " + m.noun : m.best;
}

std::string value_text(const VerdictQuestion& q, const Metric& m, std::size_t index) {
    return format_value(m, *value_of(q.results[index], m, q.conditions));
}

std::vector<std::string> tied_names(const VerdictQuestion& q, const Winner& winner) {
    std::vector<std::string> names;
    for (const std::size_t i : winner.tied)
        names.push_back(q.labels[i]);
    return names;
}

/// "H100"; of mixed formats, or `first` where the question has not said it, "H100 in int8".
std::string named(const VerdictQuestion& q, const VerdictFacts& facts, std::size_t index,
                  bool first = false) {
    const std::string format = facts.mixed || (first && !q.results[index].generation)
                                   ? " in " + multiplied_format(q.results[index])
                                   : std::string();
    return q.labels[index].ends_with(format) ? q.labels[index] : q.labels[index] + format;
}

/// The results that may be named as best: those within the limits, where any is.
std::vector<double> shares_within(const VerdictQuestion& q, const VerdictFacts& facts, const Metric& metric) {
    if (!facts.within)
        return shares_of_best(q.results, metric, q.conditions);
    std::vector<Result> left;
    std::vector<std::size_t> index;
    for (std::size_t i = 0; i < q.results.size(); ++i)
        if (q.decision->qualifies[i]) {
            left.push_back(q.results[i]);
            index.push_back(i);
        }
    std::vector<double> shares(q.results.size(), 0);
    const std::vector<double> own = shares_of_best(left, metric, q.conditions);
    for (std::size_t k = 0; k < own.size(); ++k)
        shares[index[k]] = own[k];
    return shares;
}

/// " (82 % likely; else A100)"; where another is likelier, whose interval is wider, with its share: " (34 %
/// likely; A100 41 %)"; nothing where there is no other.
std::string odds_text(const VerdictQuestion& q, const VerdictFacts& facts, const Best& best) {
    const std::vector<double> shares = shares_within(q, facts, *best.metric);
    std::optional<std::size_t> next;
    for (std::size_t i = 0; i < shares.size(); ++i)
        if (i != best.winner.best && shares[i] > 0 && (!next || shares[i] > shares[*next]))
            next = i;
    constexpr double kCertain = 0.995;
    if (!next || shares[best.winner.best] >= kCertain)
        return {};
    const double own = shares[best.winner.best], other = shares[*next];
    return other > own ? fmt::format(" ({:.0f} % likely; {} {:.0f} %)", 100 * own, named(q, facts, *next),
                                     100 * other)
                       : fmt::format(" ({:.0f} % likely; else {})", 100 * own, named(q, facts, *next));
}

/// "512 tokens in, 128 out, in bf16. ": what answers to prompts are compared by.
std::string question_text(const VerdictQuestion& q, const VerdictFacts& facts) {
    const auto first = std::find_if(q.results.begin(), q.results.end(),
                                    [](const Result& r) { return r.ok() && r.generation; });
    if (first == q.results.end())
        return "";
    const GenerationEstimate& g = *first->generation;
    return fmt::format("{}{:.0f} tokens in, {:.0f} out{}. ",
                       g.batch > 1 ? fmt::format("{:.0f} sequences of ", g.batch) : std::string(),
                       g.prompt_tokens, g.generate_tokens,
                       facts.mixed ? std::string() : ", in " + multiplied_format(*first));
}

/// "Fastest: H100, 465 us (82 % likely; else A100)."
std::string best_text(const VerdictQuestion& q, const VerdictFacts& facts, const Best& best) {
    const Estimate& e = q.results[best.winner.best].estimate;
    const std::string text = fmt::format(
        "{}{}{}: {}, {}", words_of(*best.metric), e.uncounted.empty() ? "" : " in what is understood",
        e.projected ? " (projected)" : "", named(q, facts, best.winner.best, &best == facts.best.data()),
        value_text(q, *best.metric, best.winner.best));
    return text + odds_text(q, facts, best) + ".";
}

/// "int8 on QRB5165 and DPU-ZCU102, tf32 on Jetson-Orin-Nano@7W".
std::string formats_text(const VerdictQuestion& q) {
    std::vector<std::pair<std::string, std::vector<std::string>>> formats;
    for (std::size_t i = 0; i < q.results.size(); ++i) {
        if (!q.results[i].ok())
            continue;
        const std::string format = multiplied_format(q.results[i]);
        auto at =
            std::find_if(formats.begin(), formats.end(), [&](const auto& f) { return f.first == format; });
        if (at == formats.end())
            at = formats.insert(at, {format, {}});
        at->second.push_back(q.labels[i]);
    }
    std::string text;
    const std::string asked = precision_name(q.results.front().conditions.precision);
    std::stable_partition(formats.begin(), formats.end(), [&](const auto& f) { return f.first != asked; });
    for (const auto& [format, labels] : formats)
        if (format == asked && formats.size() > 1 && labels.size() > 1)
            text += fmt::format(", {} on the others", format);
        else
            text += fmt::format("{}{} on {}", text.empty() ? "" : ", ", format, names_text(labels, 2));
    return text;
}

/// Which formats are compared, where one was asked for and not all run it.
std::string mixed_text(const VerdictQuestion& q, const VerdictFacts& facts) {
    const auto& first = q.results.front().conditions.precision;
    const bool one_asked = std::all_of(q.results.begin(), q.results.end(),
                                       [&](const Result& r) { return r.conditions.precision == first; });
    if (!facts.mixed || !one_asked)
        return "";
    return fmt::format("Formats differ, not all run {}: {}.", precision_name(first), formats_text(q));
}

/// "Projected to do better, not measured: KPU-T64, 8.99 ms and 33.1 mJ."
std::string projected_text(const VerdictQuestion& q, const VerdictFacts& facts) {
    std::vector<std::size_t> order;
    std::map<std::size_t, std::string> values;
    for (const Best& best : facts.best) {
        if (!best.winner.projected)
            continue;
        std::string& text = values[*best.winner.projected];
        if (text.empty())
            order.push_back(*best.winner.projected);
        text += (text.empty() ? "" : " and ") + value_text(q, *best.metric, *best.winner.projected);
    }
    std::string text;
    for (const std::size_t i : order)
        text += fmt::format("{}{}, {}", text.empty() ? "Projected to do better, not measured: " : "; ",
                            q.labels[i], values[i]);
    return text.empty() ? text : text + ".";
}

std::string limit_words(const Constraint& c) {
    return fmt::format("{} {} {}", c.metric->noun,
                       c.metric->better == Better::higher ? "at least" : "at most",
                       format_value(*c.metric, c.limit));
}

/// "KPU-T256@15W (projected, 12.1 ms)": power modes that were not asked for and meet every limit; empty:
/// none.
std::string modes_text(const VerdictQuestion& q) {
    std::vector<std::string> names;
    for (const Result& mode : q.modes) {
        const auto value = value_of(mode, q.by, q.conditions);
        std::string more = mode.estimate.projected ? "projected" : "";
        if (value)
            more += (more.empty() ? "" : ", ") + format_value(q.by, *value);
        names.push_back(hardware_label(mode) + (more.empty() ? "" : " (" + more + ")"));
    }
    return names.empty() ? std::string() : names_text(names);
}

std::string limits_text(const VerdictQuestion& q, const VerdictFacts& facts) {
    if (facts.limits.empty())
        return "";
    const bool one = q.results.size() == 1;
    std::string text = facts.limits.size() == 1 ? "Limit " : "Limits: ";
    for (std::size_t i = 0; i < facts.limits.size(); ++i) {
        const LimitCount& count = facts.limits[i];
        text += fmt::format("{}{}: {}", i == 0 ? "" : "; ", limit_words(*count.constraint),
                            one ? std::string(count.met > 0 ? "met" : "missed")
                                : fmt::format("met by {} of {}", count.met, count.of));
    }
    if (facts.limits.size() > 1 && !one)
        text += fmt::format("; all: {} of {}", facts.all_limits, facts.running);
    text += ".";
    const std::string modes = modes_text(q);
    if (modes.empty() || (!facts.within && !one)) // stands in the first line
        return text;
    return text + fmt::format(" {} would meet {}.", modes, facts.limits.size() == 1 ? "it" : "them");
}

/// "None meets the limit; nearest is H100, average power of 223 W.", or the power mode that would."
std::string none_text(const VerdictQuestion& q, const VerdictFacts& facts) {
    if (facts.within || facts.limits.empty() || q.results.size() < 2)
        return "";
    std::string text = fmt::format("None meets {}", facts.limits.size() == 1 ? "the limit" : "all limits");
    if (const std::string modes = modes_text(q); !modes.empty())
        return fmt::format("{} as listed; another power mode would: {}.", text, modes);
    if (q.decision->nearest) {
        const Verdict& v = q.decision->verdicts[q.decision->nearest->result][q.decision->nearest->constraint];
        if (v.value)
            text +=
                fmt::format("; nearest is {}{}, {} of {}", q.labels[q.decision->nearest->result],
                            q.results[q.decision->nearest->result].estimate.projected ? " (projected)" : "",
                            v.constraint.metric->noun, format_value(*v.constraint.metric, *v.value));
    }
    return text + ".";
}

/// "H100 misses the limit: latency of 340 us, at most 100 us required." of one device.
std::string missed_text(const VerdictQuestion& q, const VerdictFacts& facts) {
    std::string text;
    if (facts.within || facts.limits.empty() || q.decision == nullptr)
        return text;
    for (const Verdict& v : q.decision->verdicts.front())
        if (!v.met)
            text += fmt::format("{}{}, {} {} required", text.empty() ? "" : "; ",
                                v.value ? fmt::format("{} of {}", v.constraint.metric->noun,
                                                      format_value(*v.constraint.metric, *v.value))
                                        : "unknown " + v.constraint.metric->noun,
                                v.constraint.metric->better == Better::higher ? "at least" : "at most",
                                format_value(*v.constraint.metric, v.constraint.limit));
    return text.empty() ? text
                        : fmt::format("{} misses {}: {}.", q.labels.front(),
                                      facts.limits.size() == 1 ? "the limit" : "its limits", text);
}

/// "2 of 7 cannot run it: A, B."
std::string failing_text(const VerdictQuestion& q) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < q.results.size(); ++i)
        if (!q.results[i].ok())
            names.push_back(q.labels[i]);
    if (names.empty())
        return "";
    return fmt::format("No estimate for {} of {}: {}.", names.size(), q.results.size(), names_text(names));
}

/// The one device's numbers, with the interval of what ranks.
std::string single_text(const VerdictQuestion& q) {
    const Result& r = q.results.front();
    std::string text;
    const auto add = [&](const Metric& m) {
        const auto measure = measure_of(r, m, q.conditions);
        if (!measure)
            return;
        const bool named = m != metric::token_rate && m != metric::total_token_rate; // its unit names it
        text += fmt::format("{}{}{}", text.empty() ? "" : ", ", named ? m.noun + " " : std::string(),
                            format_value(m, measure->value));
        if (measure->interval.high > measure->interval.low && m == q.by) // the table has the others
            text += fmt::format(" ({})", range_text(m, measure->interval));
    };
    for (const Metric* m : judged(q))
        add(*m);
    add(metric::power);
    return fmt::format("{}: {}{}.", q.labels.front(), text,
                       r.estimate.projected ? "; a projection: no comparable device was measured" : "");
}

/// "; would help: --precision fp8, 1.62x".
std::string advice_text(const VerdictQuestion& q) {
    const auto advice = advice_for(q.tried, q.results);
    return advice.empty() ? "" : "; would help: " + advice.front().text;
}

void add_line(std::vector<std::string>& lines, std::string line) {
    if (!line.empty())
        lines.push_back(std::move(line));
}

/// What the numbers leave out; empty for whole models.
std::string uncounted_line(const VerdictQuestion& q) {
    for (const Result& r : q.results)
        if (r.ok() && !r.estimate.uncounted.empty())
            return fmt::format("Incomplete: {}.", r.estimate.uncounted);
    return "";
}

/// "No estimate yet: the model needs a size; for example --dim H=224 --dim W=224."
std::string sizes_line(const VerdictQuestion& q) {
    std::vector<std::string> flags;
    for (const Result& r : q.results)
        for (std::string& flag : sizes_wanted(r.estimate.findings))
            if (std::find(flags.begin(), flags.end(), flag) == flags.end())
                flags.push_back(std::move(flag));
    if (flags.empty())
        return "";
    return fmt::format("No estimate yet: the model needs {}, for example {}.",
                       flags.size() == 1 ? "a size" : "sizes", fmt::join(flags, " "));
}

/// Where it is the model that is not understood, no device is to blame.
std::string none_runs_text(std::span<const Result> results) {
    const Result& first = results.front();
    const bool unknown = std::all_of(results.begin(), results.end(), [&](const Result& r) {
        return r.estimate.status == Status::incomplete && r.estimate.reason == first.estimate.reason;
    });
    return unknown
               ? fmt::format("No estimate: a part of the model is not understood: {}.", first.estimate.reason)
               : std::string("None of these devices runs it: the table says why.");
}

std::vector<std::string> lines_of(const VerdictQuestion& q, const VerdictFacts& facts) {
    std::vector<std::string> lines;
    add_line(lines, uncounted_line(q));
    if (facts.best.empty()) {
        if (std::string sizes = sizes_line(q); !sizes.empty())
            return {std::move(sizes)};
        lines.push_back(q.results.size() == 1
                            ? fmt::format("No estimate: {}.", q.results.front().estimate.reason)
                            : none_runs_text(q.results));
        return lines;
    }
    const bool one = q.results.size() == 1; // of several the end of the report says what would help
    std::string first;
    if (one) {
        add_line(lines, missed_text(q, facts));
        first = single_text(q);
    } else {
        for (const Best& best : facts.best)
            first += (first.empty() ? "" : " ") + best_text(q, facts, best);
        add_line(lines, none_text(q, facts));
        if (!facts.limits.empty())
            first = fmt::format("{} the limit{}, {}", facts.within ? "Within" : "Without",
                                facts.limits.size() == 1 ? "" : "s", first_lower(std::move(first)));
    }
    lines.push_back(question_text(q, facts) + first);
    if (q.by == metric::cost && !one)
        add_line(lines, cost_basis(q.results, q.conditions));
    add_line(lines, mixed_text(q, facts));
    const std::size_t leader = facts.best.front().winner.best;
    if (const std::string bound = bound_sentence(q.results[leader], q.labels[leader]); !bound.empty())
        lines.push_back(bound + (one ? advice_text(q) : std::string()) + ".");
    add_line(lines, projected_text(q, facts));
    add_line(lines, limits_text(q, facts));
    add_line(lines, failing_text(q));
    for (std::string& warning : device_warnings(q.results))
        lines.push_back(std::move(warning));
    return lines;
}

} // namespace

std::string names_text(const std::vector<std::string>& names, std::size_t most) {
    if (names.size() <= most + 1) // one more is as short as its count
        return fmt::format("{}", fmt::join(names, ", "));
    return fmt::format("{} and {} more",
                       fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(most), ", "),
                       names.size() - most);
}

Takeaway verdict_block(const VerdictQuestion& question) {
    return {lines_of(question, facts_of(question))};
}

std::vector<std::string> brief_lines(const VerdictQuestion& q) {
    const VerdictFacts facts = facts_of(q);
    const std::vector<std::string> lines = lines_of(q, facts);
    std::vector<std::string> brief = {lines.front()};
    if (facts.best.empty())
        return brief;
    if (lines.front() == none_text(q, facts))
        brief.push_back(lines[1]); // the best all the same
    else
        add_line(brief, mixed_text(q, facts));
    return brief;
}

VerdictRecord verdict_record(const VerdictQuestion& q) {
    const VerdictFacts facts = facts_of(q);
    VerdictRecord record;
    record.lines = lines_of(q, facts);
    for (const Best& b : facts.best)
        record.best.push_back(
            {.metric = b.metric,
             .device = q.labels[b.winner.best],
             .value = *value_of(q.results[b.winner.best], *b.metric, q.conditions),
             .tied = tied_names(q, b.winner),
             .measured = !q.results[b.winner.best].estimate.projected,
             .projected = b.winner.projected ? std::optional(q.labels[*b.winner.projected]) : std::nullopt});
    for (const LimitCount& count : facts.limits)
        record.limits.push_back(
            {count.constraint->metric->key, count.constraint->limit, count.met, count.of});
    if (!facts.best.empty()) {
        const std::size_t leader = facts.best.front().winner.best;
        if (const auto shares = bound_shares(q.results[leader]))
            record.bound = {q.labels[leader], shares->largest(), shares->of(shares->largest())};
    }
    for (const Result& r : q.results)
        if (!record.uncounted && r.ok() && !r.estimate.uncounted.empty())
            record.uncounted = r.estimate.uncounted;
    for (const Advice& advice : advice_for(q.tried, q.results))
        record.helps.push_back({{q.labels[advice.result]}, advice.text});
    return record;
}

Members<VerdictRecord> verdict_members() {
    using V = VerdictRecord;
    return {
        {"lines", "the answer in sentences, as reports show it", &V::lines},
        {"complete",
         "false where a result leaves a part of its network out (--allow-unknown): its totals are lower "
         "bounds",
         [](const V& v) { return !v.uncounted; }},
        {"uncounted", "what the first such result leaves out", &V::uncounted},
        {"best", "by each metric that decides", &V::best,
         Members<V::Best>{{"metric", "", [](auto& b) { return b.metric->key; }},
                          {"device", "", &V::Best::device},
                          {"value", "", &V::Best::value},
                          {"unit", "", [](auto& b) { return b.metric->unit; }},
                          {"tied", "devices that the estimates cannot tell from it", &V::Best::tied},
                          {"measured", "false: no comparable device was measured", &V::Best::measured},
                          {"projected", "a projection that is estimated to do better", &V::Best::projected}}},
        {"bound", "what the best device spends its time on", &V::bound,
         Members<V::BoundOf>{{"device", "", &V::BoundOf::device},
                             {"by", "", &V::BoundOf::by, UpTo{Bound::overhead}},
                             {"share", "of its time", &V::BoundOf::share}}},
        {"limits", "how many of those that run meet each", &V::limits,
         Members<V::Limit>{{"metric", "", &V::Limit::metric},
                           {"limit", "", &V::Limit::limit},
                           {"met", "", &V::Limit::met},
                           {"of", "", &V::Limit::of}}},
        {"helps", "changes that would help", &V::helps,
         Members<V::Help>{{"devices", "", &V::Help::devices}, {"text", "", &V::Help::text}}}};
}

} // namespace archsim
