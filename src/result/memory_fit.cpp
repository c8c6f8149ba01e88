#include "result/memory_fit.hpp"

#include "map/on_chip.hpp"

#include <array>
#include <cmath>
#include <functional>

namespace archsim {

constexpr std::array kNarrower = {"fp16", "bf16", "fp8", "int8", "w4a16", "int4"};

/// Formats that store less than the one that ran and that the device runs as asked.
static std::vector<PrecisionConfig> narrower_formats(const Result& r) {
    std::vector<PrecisionConfig> formats;
    const PrecisionConfig& ran = r.estimate.executed;
    for (const char* name : kNarrower) {
        const PrecisionConfig asked = *PrecisionConfig::parse(name);
        if (bits_of(asked.weights) + bits_of(asked.activations) >=
            bits_of(ran.weights) + bits_of(ran.activations))
            continue;
        const ExecutedPrecision executed = resolve_precision(*r.device, *r.runtime, asked);
        if (executed.supported && executed.note.empty())
            formats.push_back(executed.config);
    }
    return formats;
}

/// Bytes that a network needs with so many items; nothing where they do not fit.
using FitsWith = std::function<std::optional<double>(const NetworkWork&, double batch)>;

/// The largest batch, that asked for or a smaller one, that fits, in its format and narrower ones.
static std::vector<FitOption> options(const Result& r, const FitsWith& fits) {
    std::vector<FitOption> found;
    const auto add = [&](const NetworkWork& work) {
        double fit = 0, all = r.work->batch + 1;
        while (all - fit > 1) {
            const double batch = std::floor((fit + all) / 2);
            (fits(work, batch) ? fit : all) = batch;
        }
        const bool asked = fit == r.work->batch && work.precision == r.work->precision;
        if (fit >= 1 && !asked)
            found.push_back({work.precision, fit, *fits(work, fit)});
    };
    add(*r.work);
    for (const PrecisionConfig& format : narrower_formats(r))
        add(make_network_work(*r.work->graph, *r.work->partition, format, {}, r.work->derived));
    return found;
}

std::optional<MemoryFit> memory_fit(const Result& r) {
    if (!r.work || !r.machine || !r.parts.empty() || r.generation)
        return std::nullopt;
    const NetworkWork& work = *r.work;
    const Estimate& e = r.estimate;
    MemoryFit fit;
    fit.weight_bytes = work.weight_bytes;
    fit.workspace_bytes = e.memory.workspace_bytes;
    fit.peak_bytes = e.memory.peak_bytes;
    fit.capacity_bytes = memory_of_pools(*r.machine);
    fit.pools = memory_pools(e.memory, *r.machine);
    fit.on_chip_bytes = managed_memory_bytes(*r.machine);
    fit.pieces = e.pieces;
    fit.weight_room_bytes = weight_memory_bytes(*r.machine);
    fit.alive_bytes = work.memory.peak_live_bytes / fit.pieces;
    if (r.ok())
        fit.traffic_bytes = (e.events[Event::dram_byte] + e.events[Event::host_link_byte]) / e.batch;
    if (!fit.in_device())
        fit.device_options = options(r, [&](const NetworkWork& w, double items) -> std::optional<double> {
            MemoryEstimate need = e.memory;
            need.weight_bytes = w.weight_bytes;
            need.peak_bytes = w.weight_bytes + fit.workspace_bytes +
                              (w.memory.arena_bytes + w.memory.kv_cache_bytes) * items / w.batch;
            return memory_pools(need, *r.machine).fits() ? std::optional(need.peak_bytes) : std::nullopt;
        });
    if (fit.on_chip_bytes > 0 && work.memory.peak_live_bytes > fit.on_chip_bytes)
        fit.on_chip_options = options(r, [&](const NetworkWork& w, double items) -> std::optional<double> {
            const double bytes = w.memory.peak_live_bytes * items / w.batch;
            return bytes <= fit.on_chip_bytes ? std::optional(bytes) : std::nullopt;
        });
    return fit;
}

std::optional<PartsInTurn> parts_in_turn(const Result& result) {
    PartsInTurn turn;
    if (result.parts.size() < 2)
        return std::nullopt;
    for (const ResultPart& part : result.parts) {
        const MemoryEstimate& memory = part.result->estimate.memory;
        if (memory.peak_bytes <= 0)
            return std::nullopt;
        turn.moved_bytes += memory.weight_bytes;
        if (memory.peak_bytes > turn.peak_bytes) {
            turn.peak_bytes = memory.peak_bytes;
            turn.largest = part.name;
        }
    }
    if (!result.machine || result.machine->host)
        return turn;
    if (const double link = result.machine->rate(Resource::host_link_bytes); link > 0)
        turn.moved_s = turn.moved_bytes / link;
    return turn;
}

std::string in_words(const std::optional<PartsInTurn>& parts) {
    if (!parts)
        return {};
    std::string text =
        fmt::format("one part at a time takes {:.3g} GB ({})", parts->peak_bytes / 1e9, parts->largest);
    if (parts->moved_s > 0)
        text += fmt::format(", with {:.3g} GB over the link to the host, {:.3g} s more per batch",
                            parts->moved_bytes / 1e9, parts->moved_s);
    return text;
}

} // namespace archsim
