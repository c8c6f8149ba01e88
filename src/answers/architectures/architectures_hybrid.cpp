#include "answers/architectures/architectures.hpp"
#include "report/blocks/number_format.hpp"
#include "result/ranking.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace archsim {

namespace {

/// "GPU: conv1 to layer3.1 (17 subgraphs)" for each stretch of regions on one device.
Facts stretches(const ArchitectureComparison& c, const HybridPair& h) {
    Facts facts;
    const HybridSplit& s = h.split;
    for (std::size_t begin = 0; begin < s.regions.size();) {
        std::size_t end = begin;
        while (end + 1 < s.regions.size() && s.on_b[end + 1] == s.on_b[begin])
            ++end;
        facts.items.push_back({c.labels[s.on_b[begin] ? h.b : h.a],
                               begin == end ? s.regions[begin].name
                                            : fmt::format("{} to {} ({} subgraphs)", s.regions[begin].name,
                                                          s.regions[end].name, end - begin + 1)});
        begin = end + 1;
    }
    return facts;
}

/// "TPU (projected)": what nobody measured wins nothing unsaid.
std::string label_of(const ArchitectureComparison& c, std::size_t i) {
    return c.labels[i] + standing_note(c.results[i].estimate);
}

std::string transfers_text(const HybridSplit& s) {
    double bytes = 0, seconds = 0, joules = 0;
    for (const HybridTransfer& t : s.transfers) {
        bytes += t.bytes;
        seconds += t.seconds;
        joules += t.joules;
    }
    return fmt::format("{} {} of {} in all, {}, {}", s.transfers.size(),
                       s.transfers.size() == 1 ? "transfer" : "transfers", format_bytes(bytes),
                       format_time(seconds), format_energy(joules));
}

/// The value of a whole batch, which is what the values of splits compare with.
double region_total(const Result& result, const Metric& shown) {
    return shown == metric::latency ? result.estimate.latency_s : result.estimate.energy.total();
}

} // namespace

void add_hybrids(const ArchitectureComparison& c, Report& report) {
    if (c.hybrids.empty())
        return;
    const Metric& shown = regional(*c.request.metric);
    const auto best = std::find_if(c.hybrids.begin(), c.hybrids.end(), [&](const HybridPair& h) {
        return h.split.wins() && may_lead(c.results[h.a].estimate) && may_lead(c.results[h.b].estimate);
    });
    report.blocks.push_back(Heading{3, "Split over two devices:"});
    const std::size_t single = find_winner(c.results, shown)->best;
    const double least = region_total(c.results[single], shown);
    if (best == c.hybrids.end()) {
        const HybridPair& h = c.hybrids.front();
        report.blocks.push_back(Paragraph{fmt::format(
            "No split beats the better one of its devices alone. The best, {} with {}, takes {} against {}: "
            "{}.",
            label_of(c, h.a), label_of(c, h.b), format_value(shown, h.split.value),
            format_value(shown, std::min(h.split.a_value, h.split.b_value)), transfers_text(h.split))});
        return;
    }
    const double alone = std::min(best->split.a_value, best->split.b_value);
    if (best->split.value >= least)
        report.blocks.push_back(Paragraph{fmt::format(
            "No split beats {} alone ({}). Where only these two are at hand:", label_of(c, single),
            format_value(shown, least))});
    report.blocks.push_back(Paragraph{
        fmt::format("{} with {} takes {}, {} less than the better one of them alone ({}), with {}.",
                    label_of(c, best->a), label_of(c, best->b), format_value(shown, best->split.value),
                    format_percent(1 - best->split.value / alone), format_value(shown, alone),
                    transfers_text(best->split))});
    report.blocks.push_back(stretches(c, *best));
}

} // namespace archsim
