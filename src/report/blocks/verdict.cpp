#include "report/blocks/verdict.hpp"

#include "archsim/run/workload.hpp"
#include "core/lists.hpp"
#include "hardware/uncertainty.hpp"
#include "ops/given_values.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/ranking_table.hpp"
#include "report/blocks/result_text.hpp"
#include "result/bound_shares.hpp"
#include "result/cost_terms.hpp"
#include "result/decisions.hpp"
#include "result/duty_cycle.hpp"
#include "result/format_parts.hpp"
#include "result/generation_metrics.hpp"
#include "result/memory_fit.hpp"
#include "result/ties.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace archsim {

struct Best {
    const Metric* metric = nullptr;
    Winner winner;
};

struct VerdictFacts {
    bool within = false; ///< `best` is of those that meet every limit
    bool mixed = false;  ///< estimates multiply in different formats
    std::vector<Best> best;
    std::vector<VerdictRecord::Limit> limits;
    std::size_t all_limits = 0; ///< results that meet every limit
    std::size_t running = 0;
};

/// The metric asked for first, then speed and energy.
static std::vector<const Metric*> judged(const VerdictQuestion& q) {
    const bool text = compares_generation(q.results);
    std::vector<const Metric*> list = {&q.by};
    const auto add = [&](const Metric& m) {
        if (std::ranges::none_of(list, [&](const Metric* known) { return *known == m; }))
            list.push_back(&m);
    };
    if (q.by != metric::throughput && q.by != metric::total_token_rate)
        add(text ? metric::token_rate : metric::latency);
    if (text)
        add(metric::first_token);
    add(text ? metric::token_energy : metric::energy);
    return list;
}

static VerdictFacts facts_of(const VerdictQuestion& q) {
    VerdictFacts facts;
    facts.mixed = mixed_formats(q.results);
    facts.within = q.decision != nullptr && !q.decision->request.constraints.empty() &&
                   std::ranges::any_of(q.decision->qualifies, [](bool qualifies) { return qualifies; });
    for (const Metric* m : judged(q))
        if (auto winner = facts.within ? winner_within(q.results, *m, *q.decision)
                                       : find_winner(q.results, *m, q.conditions))
            facts.best.push_back({m, std::move(*winner)});
    facts.running = static_cast<std::size_t>(std::ranges::count_if(q.results, &Result::ok));
    if (q.decision == nullptr || q.decision->request.constraints.empty())
        return facts;
    const auto& constraints = q.decision->request.constraints;
    for (std::size_t c = 0; c < constraints.size(); ++c) {
        VerdictRecord::Limit count{constraints[c], 0, facts.running};
        for (std::size_t i = 0; i < q.results.size(); ++i)
            count.met += q.results[i].ok() && q.decision->verdicts[i][c].met ? 1U : 0U;
        facts.limits.push_back(count);
    }
    for (std::size_t i = 0; i < q.results.size(); ++i)
        facts.all_limits += q.results[i].ok() && q.decision->qualifies[i] ? 1U : 0U;
    return facts;
}

/// "$2633 per million requests ($0.98 read, $16.7 written per million tokens)"
static std::string value_text(const VerdictQuestion& q, const Metric& m, std::size_t index) {
    std::string text = format_value(m, *value_of(q.results[index], m, q.conditions));
    if (const auto tokens = token_costs(q.results[index], q.conditions); m == metric::cost && tokens)
        if (const auto read = tokens->prompt.best(), written = tokens->output.best(); read && written)
            text += fmt::format(" (${} read, ${} written per million tokens)", format_number(*read * m.scale),
                                format_number(*written * m.scale));
    return text;
}

static std::vector<std::string> names_at(const VerdictQuestion& q, const std::vector<std::size_t>& indices) {
    return mapped(indices, [&](const std::size_t i) { return q.labels[i]; });
}

/// "H100"; of mixed formats, or `first` where the question has not said it, "H100 in int8".
static std::string named(const VerdictQuestion& q, const VerdictFacts& facts, std::size_t index,
                         bool first = false) {
    const Result& r = q.results[index];
    // Labels tell rows of one device apart by the formats that were asked for.
    const bool said = std::ranges::any_of(q.results, [&](const Result& other) {
        return hardware_label(other) == hardware_label(r) &&
               precision_name(other.conditions.precision) != precision_name(r.conditions.precision);
    });
    // "GPU (H100)": of a family the chip that stands for it.
    const bool chip =
        q.labels[index].find(hardware_label(r)) == std::string::npos && q.labels[index] != r.hardware;
    return q.labels[index] + (chip ? " (" + hardware_label(r) + ")" : "") +
           (!said && (facts.mixed || (first && !r.generation)) ? " in " + multiplied_format(r) : "");
}

/// "A, B and C between 11.7 ms and 12.0 ms".
static std::string close_text(const VerdictQuestion& q, const Best& best) {
    const std::vector<std::string> names = names_at(q, best.winner.close);
    std::string low = value_text(q, *best.metric, best.winner.close.front()),
                high = value_text(q, *best.metric, best.winner.close.back());
    if (best.metric->better == Better::higher) // the best comes first
        std::swap(low, high);
    return low == high ? fmt::format("{}, {}", names_text(names), low)
                       : fmt::format("{} between {} and {}", names_text(names), low, high);
}

/// " under llama.cpp" where that stack is one of two that answers to prompts are compared under.
static std::string stack_text(const Result& r, const Result& other) {
    return r.generation && other.generation && r.runtime->name != other.runtime->name
               ? " under " + r.runtime->name
               : std::string();
}

/// ", 1.76x ahead of A100 (82 % likely)", "of A100 in int8" where the best multiplies otherwise; nothing
/// where there is no other.
static std::string lead_text(const VerdictQuestion& q, const VerdictFacts& facts, const Best& best,
                             bool brief) {
    if (!best.winner.next)
        return {};
    const std::size_t next = *best.winner.next;
    const double own = *value_of(q.results[best.winner.best], *best.metric, q.conditions),
                 other = *value_of(q.results[next], *best.metric, q.conditions);
    const double ahead = best.metric->better == Better::higher ? own / other : other / own;
    const std::string odds = likely_text(best.winner.ahead);
    // A lead over other arithmetic says so.
    const bool otherwise =
        !brief && facts.mixed &&
        multiplied_format(q.results[best.winner.best]) != multiplied_format(q.results[next]);
    return std::isfinite(ahead) && ahead > 1
               ? fmt::format("{}, {} ahead of {}{}{}",
                             stack_text(q.results[best.winner.best], q.results[next]), format_ratio(ahead),
                             otherwise ? named(q, facts, next) : q.labels[next],
                             stack_text(q.results[next], q.results[best.winner.best]), odds)
               : odds;
}

/// "An inference: encoder, 200 x decoder. "; nothing where no part runs more than once.
static std::string parts_text(const VerdictQuestion& q) {
    const auto first = std::ranges::find_if(q.results, [](const Result& r) {
        return r.ok() && std::ranges::any_of(r.parts, [](const ResultPart& part) { return part.repeat > 1; });
    });
    return first == q.results.end()
               ? std::string()
               : fmt::format("An inference: {}. ", joined(first->parts, [](const ResultPart& part) {
                                 return part.repeat == 1 ? part.name
                                                         : fmt::format("{:g} x {}", part.repeat, part.name);
                             }));
}

/// "1024 x 1024 in 50 steps. "; nothing of what draws no images.
static std::string image_text(const VerdictQuestion& q) {
    const auto first = std::ranges::find_if(q.results, [](const Result& r) {
        return r.ok() && r.model && r.model->dims.contains("steps") && r.model->dims.contains("width") &&
               r.model->dims.contains("height");
    });
    if (first == q.results.end())
        return "";
    const auto& dims = first->model->dims;
    return fmt::format("{} x {} in {}. ", dims.at("width"), dims.at("height"),
                       plural(static_cast<std::size_t>(dims.at("steps")), "step"));
}

/// "512 tokens in, 128 out, in bf16. ": what answers to prompts are compared by.
static std::string question_text(const VerdictQuestion& q, const VerdictFacts& facts) {
    const auto first =
        std::ranges::find_if(q.results, [](const Result& r) { return r.ok() && r.generation; });
    if (first == q.results.end())
        return image_text(q);
    const GenerationEstimate& g = *first->generation;
    const auto& asked = first->workload ? first->workload->prompt : std::nullopt;
    return fmt::format("{}{:.0f} tokens in, {:.0f} out{}{}{}. ",
                       g.batch > 1 ? fmt::format("{:.0f} sequences of ", g.batch) : std::string(),
                       g.prompt_tokens, g.generate_tokens,
                       asked && asked->context > 0
                           ? fmt::format(", in a context of {} tokens", asked->context)
                           : std::string(),
                       facts.mixed ? std::string() : ", in " + multiplied_format(*first),
                       g.devices > first->devices() ? ", the layers divided among the devices" : "");
}

/// "23.9 to 58.4 tokens/s".
static std::string range_at(const VerdictQuestion& q, const Metric& m, std::size_t index) {
    return range_text(m, measure_of(q.results[index], m, q.conditions)->interval);
}

/// Whether what may not lead for want of measurements alone is better with all of its interval: nobody is
/// the best then. Of chips of whose vendor nothing was measured under the stack nobody knows how wide it is.
static bool outdone(const VerdictQuestion& q, const Best& best) {
    if (!best.winner.projected)
        return false;
    const Result& r = q.results[*best.winner.projected];
    if (standing_of(r.estimate) != Standing::projected || !r.machine || !r.machine->uncertainty ||
        !r.machine->uncertainty->held().same_vendor(*r.device, *r.runtime))
        return false;
    const auto other = measure_of(r, *best.metric, q.conditions),
               own = measure_of(q.results[best.winner.best], *best.metric, q.conditions);
    return best.metric->better == Better::higher ? other->interval.low > own->interval.high
                                                 : other->interval.high < own->interval.low;
}

/// "Fastest: H100, 465 us, 1.76x ahead of A100 (82 % likely)."; "Too close to call: A and B between 11.7 ms
/// and 12.0 ms." of the first metric, with its words of the others, where it is not best by them too.
static std::string best_text(const VerdictQuestion& q, const VerdictFacts& facts, const Best& best,
                             bool brief = false) {
    const bool first = &best == &facts.best.front();
    const std::string words = best_words(*best.metric);
    if (!best.winner.leads)
        return !first ? std::string()
                      : fmt::format("Not ranked, {}: {} is estimated {}, {}.",
                                    name_of(standing_of(q.results[best.winner.best].estimate)),
                                    named(q, facts, best.winner.best), first_lower(words),
                                    value_text(q, *best.metric, best.winner.best));
    if (!best.winner.close.empty())
        return fmt::format("{}: {}.", first ? "Too close to call" : words + " is too close to call",
                           close_text(q, best));
    if (outdone(q, best))
        return fmt::format("Ranked first by {}: {}, {}; unmeasured, but estimated wholly above it: {}, {}.",
                           best.metric->noun, named(q, facts, best.winner.best, first),
                           range_at(q, *best.metric, best.winner.best),
                           named(q, facts, *best.winner.projected),
                           range_at(q, *best.metric, *best.winner.projected));
    return fmt::format("{}: {}, {}{}.", words, named(q, facts, best.winner.best, first),
                       value_text(q, *best.metric, best.winner.best),
                       first ? lead_text(q, facts, best, brief) : std::string());
}

/// "Also best: time to first token, 27.5 ms, energy per token, 3.00 J. Least energy: L4, 4.40 J.": the
/// others.
static std::string others_text(const VerdictQuestion& q, const VerdictFacts& facts) {
    const auto leads_alone = [](const Best& best) { return best.winner.leads && best.winner.close.empty(); };
    const Best& lead = facts.best.front();
    std::string same, others;
    for (const Best& best : facts.best)
        if (&best == &lead || outdone(q, best)) // which the sentence on what is not ranked says
            continue;
        else if (leads_alone(best) && leads_alone(lead) && best.winner.best == lead.winner.best)
            same += fmt::format("{}{}, {}", same.empty() ? "Also best: " : "; ", best.metric->noun,
                                value_text(q, *best.metric, best.winner.best));
        else if (const std::string text = best_text(q, facts, best); !text.empty())
            others += (others.empty() ? "" : " ") + text;
    same += same.empty() ? "" : others.empty() ? "." : ". ";
    return same + others;
}

/// "Not ranked: KPU-T64, 8.99 ms, 33.1 mJ (projected); Coral-Edge-TPU, 15.7 ms (refuted):
/// detectors such as yolov8n were measured 2 to 5 times slower than estimated here (22 of 22 outside of their
/// intervals)." Who would be best, and who is refuted.
static std::string unranked_text(const VerdictQuestion& q, const VerdictFacts& facts, bool reasons) {
    std::map<std::size_t, std::string> values;
    for (const Best& best : facts.best)
        if (best.winner.projected) {
            const std::size_t i = *best.winner.projected;
            std::string& text = values[i];
            if (text.empty() && *best.metric != q.by) // in what is ranked by, where it has that
                text = value_of(q.results[i], q.by, q.conditions)
                           ? value_text(q, q.by, i)
                           : best.metric->noun + " " + value_text(q, *best.metric, i);
            else
                text += (text.empty() ? "" : ", ") + value_text(q, *best.metric, i);
        }
    // Few devices are named where nothing else does.
    constexpr std::size_t kFew = 3;
    const Winner& first = facts.best.front().winner;
    for (std::size_t i = 0; q.results.size() <= kFew && !(first.leads && first.next) && i < q.results.size();
         ++i)
        if (const Result& r = q.results[i]; r.ok() && i != first.best && !may_lead(r.estimate))
            if (value_of(r, q.by, q.conditions))
                values.try_emplace(i, value_text(q, q.by, i));
    std::vector<std::string> all;
    for (const auto& [i, value] : values)
        if (const Estimate& e = q.results[i].estimate; e.refuted.empty())
            all.push_back(fmt::format("{}, {} ({})", named(q, facts, i), value, name_of(standing_of(e))));
    for (std::size_t i = 0; i < q.results.size(); ++i)
        if (q.results[i].ok() && !q.results[i].estimate.refuted.empty())
            all.push_back(fmt::format("{}, {} (refuted){}", q.labels[i],
                                      value_of(q.results[i], q.by, q.conditions) ? value_text(q, q.by, i)
                                                                                 : std::string("no value"),
                                      reasons ? ": " + refuted_text(q.results[i].estimate) : std::string()));
    constexpr std::size_t kSaid = 2;
    const std::size_t more = all.size() > kSaid ? all.size() - kSaid : 0;
    all.resize(all.size() - more);
    return all.empty() ? std::string()
                       : fmt::format("Not ranked: {}{}.", fmt::join(all, "; "),
                                     more > 0 ? fmt::format("; and {} more", more) : std::string());
}

static bool is_rate(const Constraint& c) {
    return *c.metric == metric::time_at_work;
}

/// "the limit", "all limits"; of a rate alone "the rate".
static std::string limits_words(const VerdictFacts& facts, const char* several) {
    return facts.limits.size() > 1                    ? several
           : is_rate(facts.limits.front().constraint) ? "the rate"
                                                      : "the limit";
}

/// "at most 15 W".
static std::string bound_words(const Constraint& c) {
    return fmt::format("{} {}", c.metric->better == Better::higher ? "at least" : "at most",
                       format_value(*c.metric, c.limit));
}

/// Whether a rate is all that is asked for and everybody keeps it, which needs no words.
static bool is_rate_kept(const VerdictFacts& facts) {
    return facts.limits.size() == 1 && is_rate(facts.limits.front().constraint) &&
           facts.all_limits == facts.running;
}

/// "KPU-T256@15W (projected, 12.1 ms)", "Hailo-8 (--scenario throughput, 706 FPS)": power modes and work
/// ahead that were not asked for and meet every limit; empty: none.
static std::string modes_text(const VerdictQuestion& q) {
    std::vector<std::string> names;
    for (const Result& mode : q.modes) {
        const bool ahead = mode.conditions.scenario != q.results.front().conditions.scenario;
        const Metric& by = ahead ? metric::throughput : q.by;
        const auto value = value_of(mode, by, q.conditions);
        std::string more(may_lead(mode.estimate) ? "" : name_of(standing_of(mode.estimate)));
        if (ahead)
            more += more.empty() ? "--scenario throughput" : ", --scenario throughput";
        if (value)
            more += (more.empty() ? "" : ", ") + format_value(by, *value);
        names.push_back(hardware_label(mode) + (more.empty() ? "" : " (" + more + ")"));
    }
    return names_text(names);
}

/// "; T4 takes 2 devices": of a rate that is the one limit, how many of each that misses it carry it.
static std::string carrying_text(const VerdictQuestion& q) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < q.results.size() && q.results[i].beside.empty(); ++i)
        if (const Verdict* const v = q.results[i].ok() ? &q.decision->verdicts[i].front() : nullptr;
            v != nullptr && !v->met && v->value)
            names.push_back(fmt::format("{} takes {:.0f} devices", q.labels[i],
                                        std::ceil(*v->value / v->constraint.limit)));
    return names.empty() ? "" : "; " + names_text(names, 1);
}

static std::string limits_text(const VerdictQuestion& q, const VerdictFacts& facts) {
    if (facts.limits.empty() || is_rate_kept(facts))
        return "";
    const bool one = q.results.size() == 1;
    std::string text = facts.limits.size() == 1 ? "Limit " : "Limits: ";
    for (std::size_t i = 0; i < facts.limits.size(); ++i) {
        const VerdictRecord::Limit& count = facts.limits[i];
        text += fmt::format(
            "{}{}: {}", i == 0 ? "" : "; ",
            is_rate(count.constraint)
                ? fmt::format("{}/s", format_number(1 / q.results.front().conditions.duty.every_s))
                : count.constraint.metric->noun + " " + bound_words(count.constraint),
            one ? (count.met > 0 ? "met" : "missed") + standing_note(q.results.front().estimate)
                : fmt::format("met by {} of {}", count.met, count.of));
    }
    if (facts.limits.size() > 1 && !one)
        text += fmt::format("; all: {} of {}", facts.all_limits, facts.running);
    else if (is_rate(facts.limits.front().constraint))
        text += carrying_text(q);
    text += ".";
    const std::string modes = modes_text(q);
    if (modes.empty() || !facts.within) // stands in the first line
        return text;
    return text + fmt::format(" {} would meet {}.", modes, facts.limits.size() == 1 ? "it" : "them");
}

/// "None meets the limit; nearest is H100, average power of 223 W, at most 200 W required.", or the power
/// mode that would; of one device what it misses.
static std::string none_text(const VerdictQuestion& q, const VerdictFacts& facts) {
    if (facts.within || facts.limits.empty())
        return "";
    const bool one = q.results.size() == 1;
    const std::string limits = limits_words(facts, one ? "its limits" : "all limits");
    // A device that cannot keep up has no power and no price to be held against a limit.
    const bool late = is_rate(facts.limits.front().constraint) && facts.limits.front().met == 0;
    std::string text =
        one    ? fmt::format("{} {}", q.labels.front(), late ? "cannot keep up" : "misses " + limits)
        : late ? std::string("None keeps up")
               : "None meets " + limits;
    if (const std::string modes = modes_text(q); !modes.empty())
        return fmt::format("{} as listed; this would: {}.", text, modes);
    if (const auto& nearest = q.decision->nearest) {
        const Verdict& v = q.decision->verdicts[nearest->result][nearest->constraint];
        const Constraint& limit = v.constraint;
        text += one ? ": "
                    : fmt::format("; nearest is {}{}, ", q.labels[nearest->result],
                                  standing_note(q.results[nearest->result].estimate));
        if (v.value)
            text += fmt::format("{} of {}, {} required", limit.metric->noun,
                                format_value(*limit.metric, *v.value), bound_words(limit));
        if (is_rate(limit) && v.value && q.results[nearest->result].beside.empty())
            text += fmt::format("; {:.0f} devices carry the rate", std::ceil(*v.value / limit.limit));
    }
    return text + ".";
}

/// "No estimate for 2 of 7: A, B."; of few "A (needs 4.9 GB, has 0.2 GB)", with `reasons` each in full.
static std::string failing_text(const VerdictQuestion& q, bool reasons) {
    const std::vector<std::size_t> failing =
        kept(indices(q.results.size()), [&](std::size_t i) { return !q.results[i].ok(); });
    std::vector<std::string> names = names_at(q, failing);
    constexpr std::size_t kFew = 2;
    if (names.empty() || (reasons && names.size() > kFew))
        return "";
    for (std::size_t i = 0; i < names.size() && names.size() <= kFew; ++i) {
        const Estimate& e = q.results[failing[i]].estimate;
        if (reasons)
            names[i] += fmt::format(" ({})", e.reason);
        else if (e.status == Status::does_not_fit && e.memory.capacity_bytes > 0)
            names[i] += fmt::format(" (needs {}, has {})", format_bytes(e.memory.peak_bytes),
                                    format_bytes(e.memory.capacity_bytes));
    }
    return fmt::format("No estimate for {} of {}: {}.", names.size(), q.results.size(), names_text(names));
}

/// "bf16 needs 35 GB, RTX-4090 has 25.3 GB; offloading parts in turn: 30.3 s.": why a device runs fewer bits,
/// and what else would do.
static std::string too_large_text(const VerdictQuestion& q) {
    if (q.too_large.empty())
        return "";
    const Result& first = q.too_large.front();
    std::vector<std::string> names = mapped(q.too_large, [](const Result& r) { return hardware_label(r); });
    const MemoryEstimate& memory = first.estimate.memory;
    std::string text(name_of(first.conditions.precision.weights)); // it is they that do not fit
    text += names.size() > 1 ? fmt::format(" does not fit {}", names_text(names))
                             : fmt::format(" needs {:.3g} GB, {} has {:.3g} GB{}", memory.peak_bytes / 1e9,
                                           names.front(), memory.capacity_bytes / 1e9,
                                           first.machine && first.machine->devices > 1 ? " each" : "");
    if (const auto turn = parts_in_turn(first);
        names.size() == 1 && turn && turn->moved_s > 0 && turn->peak_bytes <= memory.capacity_bytes) {
        double seconds = turn->moved_s;
        for (const ResultPart& part : first.parts)
            seconds += part.repeat * part.result->estimate.latency_s;
        text += fmt::format("; offloading parts in turn: {}", format_time(seconds));
    }
    return text + ".";
}

/// The one device's numbers, with the interval of what ranks; `brief`: of its doubts the word alone.
static std::string single_text(const VerdictQuestion& q, const VerdictFacts& facts, bool brief) {
    const Result& r = q.results.front();
    std::string text;
    const auto add = [&](const Metric& m) {
        const auto measure = measure_of(r, m, q.conditions);
        if (!measure)
            return;
        const bool unit_names_it = m == metric::token_rate || m == metric::total_token_rate;
        text += fmt::format("{}{}{}", text.empty() ? "" : ", ", unit_names_it ? std::string() : m.noun + " ",
                            value_text(q, m, 0));
        if (measure->interval.high > measure->interval.low && m == q.by) // the table has the others
            text += fmt::format(" ({})", range_text(m, measure->interval));
    };
    for (const Metric* m : judged(q))
        add(*m);
    if (!brief && q.by != metric::power)
        add(metric::power);
    const std::string doubt = !r.estimate.refuted.empty() ? std::string() // a sentence of its own says it
                              : brief                     ? standing_note(r.estimate)
                                                          : doubt_of(r.estimate).text();
    return fmt::format("{}: {}{}{}.", named(q, facts, 0, true), text, brief || doubt.empty() ? "" : "; ",
                       doubt);
}

/// "; would help: --precision fp8, 1.62x".
static std::string advice_text(const VerdictQuestion& q, std::size_t i) {
    for (const Advice& advice : advice_for(q.tried, q.results))
        if (advice.result == i)
            return "; would help: " + advice.text;
    return {};
}

/// "Less sure: no transformer was measured on Hailo-8."
static std::string unlike_text(const VerdictQuestion& q, std::size_t i) {
    const Estimate& e = q.results[i].estimate;
    if (e.unlike.empty() || e.projected)
        return {};
    return fmt::format("Less sure: {} on {}.", e.unlike, q.labels[i]);
}

/// The part that the numbers leave out; absent for whole models.
static std::optional<std::string> uncounted_of(const VerdictQuestion& q) {
    for (const Result& r : q.results)
        if (r.ok() && !r.estimate.uncounted.empty())
            return r.estimate.uncounted;
    return std::nullopt;
}

/// "No estimate yet: the model needs a size; for example --dim H=224 --dim W=224."
static std::string sizes_line(const VerdictQuestion& q) {
    const std::vector<std::string> flags =
        distinct(flattened(q.results, [](const Result& r) { return sizes_wanted(r.estimate.findings); }));
    if (flags.empty())
        return "";
    return fmt::format("No estimate yet: the model needs {}, for example {}.",
                       flags.size() == 1 ? "a size" : "sizes", fmt::join(flags, " "));
}

/// Where it is the model that is not understood, no device is to blame.
static std::string none_runs_text(const VerdictQuestion& q) {
    const Estimate& first = q.results.front().estimate;
    if (q.results.size() == 1)
        return fmt::format("No estimate: {}.", first.reason);
    const bool alike = std::ranges::all_of(q.results, [&](const Result& r) {
        return r.estimate.status == first.status && r.estimate.reason == first.reason;
    });
    if (alike && first.status == Status::incomplete)
        return fmt::format("No estimate: a part of the model is not understood: {}.", first.reason);
    // The nearest to running: what needs least of the memory that there is.
    const auto lack = [](const Result& r) {
        const MemoryEstimate& m = r.estimate.memory;
        return r.estimate.status == Status::does_not_fit && m.capacity_bytes > 0
                   ? m.peak_bytes / m.capacity_bytes
                   : INFINITY;
    };
    const auto nearest = std::ranges::min_element(
        q.results, [&](const Result& a, const Result& b) { return lack(a) < lack(b); });
    return fmt::format("None of these {} runs it. {}: {}.", q.results.size(),
                       q.labels[static_cast<std::size_t>(nearest - q.results.begin())],
                       nearest->estimate.reason);
}

/// A sentence of the first lines. The least needed give way until kFirstRows rows of a narrow screen hold the
/// rest; the tables have what they said.
struct Sentence {
    int line = 0;      ///< sentences of one line follow each other
    int gives_way = 0; ///< the greatest first; 0: never
    std::string text, shorter = {};
    int keeps = 0; ///< then, of the shorter one
};
constexpr std::size_t kFirstRows = 4, kFirstColumns = 80;

/// Rows of a screen that a line takes, broken between words.
static std::size_t rows_of(const std::string& line) {
    std::size_t rows = 1, used = 0;
    for (std::size_t at = 0; at < line.size();) {
        const std::size_t end = std::min(line.find(' ', at), line.size());
        if (used > 0 && used + 1 + end - at > kFirstColumns) {
            ++rows;
            used = 0;
        }
        used += (used > 0 ? 1 : 0) + end - at;
        at = end + 1;
    }
    return rows;
}

static std::vector<std::string> joined(const std::vector<Sentence>& sentences) {
    std::map<int, std::string> lines;
    for (const Sentence& s : sentences)
        if (!s.text.empty())
            lines[s.line] += (lines[s.line].empty() ? "" : " ") + s.text;
    return mapped(lines, [](const auto& line) { return line.second; });
}

static std::vector<std::string> in_few_rows(std::vector<Sentence> sentences) {
    while (true) {
        std::vector<std::string> lines = joined(sentences);
        const std::size_t rows = sum_of(lines, rows_of);
        const auto next = std::ranges::max_element(sentences, [](const Sentence& a, const Sentence& b) {
            return (a.text.empty() ? 0 : a.gives_way) < (b.text.empty() ? 0 : b.gives_way);
        });
        if (rows <= kFirstRows || next == sentences.end() || next->text.empty() || next->gives_way == 0)
            return lines;
        next->gives_way = next->shorter.empty() ? next->gives_way : next->keeps;
        next->text = std::exchange(next->shorter, {});
    }
}

static std::vector<std::string> lines_of(const VerdictQuestion& q, const VerdictFacts& facts) {
    std::vector<Sentence> all;
    if (const auto uncounted = uncounted_of(q))
        all.push_back({0, 0, fmt::format("Incomplete: {}.", *uncounted)});
    all.push_back({1, 0, q.before});
    if (facts.best.empty()) {
        const std::string sizes = sizes_line(q);
        all.push_back({1, 0, sizes.empty() ? none_runs_text(q) : sizes});
        return in_few_rows(std::move(all));
    }
    const bool one = q.results.size() == 1;
    const std::size_t leader = facts.best.front().winner.best;
    const std::string asked = question_text(q, facts), whole = asked.empty() ? parts_text(q) : asked;
    all.push_back({1, 0, none_text(q, facts)});
    if (facts.within || facts.limits.size() > 1) // else the first line has it
        all.push_back({3, q.modes.empty() ? 6 : 0, limits_text(q, facts),
                       fmt::format("Limits: met by {} of {}.", facts.all_limits, facts.running), 1});
    all.push_back({3, 3, too_large_text(q)});
    if (one) {
        all.push_back({2, 9, whole + single_text(q, facts, false), asked + single_text(q, facts, true)});
        if (const Estimate& e = q.results.front().estimate; !e.refuted.empty())
            all.push_back({2, 7, "Refuted: " + refuted_text(e) + ".", "Refuted: " + e.refuted + "."});
    } else {
        const auto first = [&](bool brief) {
            std::string text = best_text(q, facts, facts.best.front(), brief);
            return !facts.limits.empty() && !is_rate_kept(facts)
                       ? fmt::format("{} {}, {}", facts.within ? "Within" : "Without",
                                     limits_words(facts, "the limits"), first_lower(std::move(text)))
                       : text;
        };
        all.push_back({2, 8, whole + first(false), asked + first(true)});
        all.push_back({2, 7, others_text(q, facts)});
        all.push_back({3, 10, unranked_text(q, facts, true), unranked_text(q, facts, false), 1});
    }
    if (const std::string bound = bound_sentence(q.results[leader], q.labels[leader]); !bound.empty()) {
        all.push_back({4, 8, bound + advice_text(q, leader) + ".", bound + ".", 5});
        all.push_back({4, 6, unlike_text(q, leader)});
    }
    all.push_back({4, 0, q.beside});
    all.push_back({4, 2, q.beside_more});
    const std::string failing = failing_text(q, false), why = failing_text(q, true);
    all.push_back({5, why.empty() ? 4 : 8, why.empty() ? failing : why, failing, 4});
    if (q.by == metric::cost && !one)
        all.push_back({5, 0, cost_basis(q.results, q.conditions)});
    int line = 5;
    for (std::string& warning : device_warnings(q.results))
        all.push_back({++line, 0, std::move(warning)});
    return in_few_rows(std::move(all));
}

std::vector<std::string> beyond_first_rows(std::vector<std::string>& lines) {
    std::size_t rows = 0, kept = 0;
    while (kept < lines.size() && (rows += rows_of(lines[kept])) <= kFirstRows)
        ++kept;
    const auto rest = lines.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(kept, 1));
    std::vector<std::string> more(rest, lines.end());
    lines.erase(rest, lines.end());
    return more;
}

Takeaway verdict_block(const VerdictQuestion& question) {
    return {lines_of(question, facts_of(question))};
}

std::vector<std::string> brief_lines(const VerdictQuestion& q) {
    const VerdictFacts facts = facts_of(q);
    std::vector<std::string> lines = lines_of(q, facts);
    const bool none = !facts.best.empty() && lines.size() > 1 && lines.front() == none_text(q, facts);
    lines.resize(none ? 2 : 1); // the best all the same
    return lines;
}

VerdictRecord verdict_record(const VerdictQuestion& q) {
    const VerdictFacts facts = facts_of(q);
    VerdictRecord record;
    record.lines = lines_of(q, facts);
    for (const Best& b : facts.best)
        record.best.push_back(
            {.metric = b.metric,
             .device = b.winner.leads ? std::optional(q.labels[b.winner.best]) : std::nullopt,
             .value = *value_of(q.results[b.winner.best], *b.metric, q.conditions),
             .probability = b.winner.leads ? std::optional(b.winner.probability) : std::nullopt,
             .tied = names_at(q, b.winner.tied),
             .close = names_at(q, b.winner.close),
             .projected = b.winner.projected ? std::optional(q.labels[*b.winner.projected])
                          : b.winner.leads   ? std::nullopt
                                             : std::optional(q.labels[b.winner.best])});
    record.limits = facts.limits;
    if (!facts.best.empty()) {
        const std::size_t leader = facts.best.front().winner.best;
        if (const auto shares = bound_shares(q.results[leader]))
            record.bound = {q.labels[leader], shares->largest(), shares->of(shares->largest())};
    }
    record.uncounted = uncounted_of(q);
    for (const Advice& advice : advice_for(q.tried, q.results))
        record.helps.push_back(
            {{q.labels[advice.result]}, advice.text, mapped(advice.asked, [](const std::string& change) {
                 return fields_of(change);
             })});
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
         Members<V::Best>{
             {"metric", "", [](auto& b) { return b.metric->key; }},
             {"device", "null: none may be named first", &V::Best::device},
             {"value", "", &V::Best::value},
             {"unit", "", [](auto& b) { return b.metric->unit; }},
             {"probability", "that it is the best of those that may lead", &V::Best::probability},
             {"tied", "devices that the estimates cannot tell from it", &V::Best::tied},
             {"close", "too close to call: all that may well be the best; empty: the device is",
              &V::Best::close},
             {"measured", "false: no estimate here may be named first",
              [](auto& b) { return b.device.has_value(); }},
             {"projected", "what may not lead and is estimated to do better", &V::Best::projected}}},
        {"bound", "what the best device spends its time on", &V::bound,
         Members<V::BoundOf>{{"device", "", &V::BoundOf::device},
                             {"by", "", &V::BoundOf::by, UpTo{Bound::overhead}},
                             {"share", "of its time", &V::BoundOf::share}}},
        {"limits", "how many of those that run meet each", &V::limits,
         Members<V::Limit>{{"metric", "", [](auto& l) { return l.constraint.metric->key; }},
                           {"limit", "", [](auto& l) { return l.constraint.limit; }},
                           {"met", "", &V::Limit::met},
                           {"of", "", &V::Limit::of}}},
        {"helps", "changes that would help", &V::helps,
         Members<V::Help>{{"devices", "", &V::Help::devices},
                          {"text", "", &V::Help::text},
                          {"asks", "each change as fields of a question, by their keys", &V::Help::asks}}}};
}

} // namespace archsim
