#include "report/blocks/memory_report.hpp"

#include "report/answers/graph_mapping.hpp"
#include "report/blocks/cells.hpp"
#include "report/blocks/explanations_json.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/result_text.hpp"
#include "report/blocks/shape_text.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace archsim {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kTopTensors = 8;

std::string options_text(const std::vector<FitOption>& options, const Result& r) {
    std::string text;
    for (const FitOption& option : options) {
        std::string one;
        if (!(option.precision == r.estimate.executed))
            one = precision_name(option.precision);
        if (option.batch < r.work->batch || one.empty())
            one += fmt::format("{}batch {:g}", one.empty() ? "" : " at ", option.batch);
        text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", one, format_bytes(option.bytes));
    }
    return text.empty() ? "no batch or format of this device" : text;
}

std::vector<std::string> fit_notes(const Result& r, const MemoryFit& fit) {
    std::vector<std::string> notes;
    const std::string name = hardware_label(r);
    if (!fit.in_device())
        notes.push_back(
            fmt::format("{}: does not fit the device; would: {}", name, options_text(fit.device_options, r)));
    if (!fit.on_chip_options.empty() || (fit.on_chip_bytes > 0 && !fit.activations_on_chip()))
        notes.push_back(fmt::format(
            "{}: activations of the whole batch leave the chip{}; would stay: {}", name,
            fit.pieces > 1 ? fmt::format(", so it runs in up to {:g} pieces", fit.pieces) : std::string(),
            options_text(fit.on_chip_options, r)));
    return notes;
}

/// What of a network stays on the chip between its layers.
std::string_view stays_text(const Result& r, const MemoryFit& fit) {
    if (r.device->family.row().caches)
        return "caches decide";
    if (fit.all_on_chip())
        return "all";
    if (fit.activations_on_chip())
        return "activations";
    if (fit.weight_room_bytes > 0)
        return fit.weights_on_chip() ? "weights" : "weights in turn";
    return fit.on_chip_bytes > 0 ? "no" : "unknown";
}

Table fit_table(std::span<const Result> results) {
    Table table;
    table.title = "Memory";
    table.columns = {{"", "", "model"},
                     {"Hardware", "", "hardware"},
                     {"Weights", "MB", "weight_bytes", Align::right},
                     {"Arena", "MB", "arena_bytes", Align::right},
                     {"Lower bound", "MB", "live_bytes", Align::right, 2},
                     {"KV cache", "MB", "kv_cache_bytes", Align::right, 5},
                     {"Workspace", "MB", "workspace_bytes", Align::right},
                     {"Peak", "MB", "peak_bytes", Align::right},
                     {"Device", "MB", "capacity_bytes", Align::right, 1},
                     {"Fits", "", "fits_device"},
                     {"On chip", "MB", "on_chip_bytes", Align::right, 1},
                     {"Alive", "MB", "alive_bytes", Align::right, 3},
                     {"Stays", "", "stays_on_chip"},
                     {"Traffic", "MB/inf", "external_bytes_per_inference", Align::right, 4}};
    table.notes = {{"Arena: offsets planned by size, best fit.", "arena_bytes"},
                   {"Lower bound: the most that is alive at one step.", "live_bytes"},
                   {"Alive: of the piece that runs at a time.", "alive_bytes"},
                   {"Stays: what the memory that software manages can hold.", "stays_on_chip"}};
    const auto megabytes = [](double bytes, bool known = true) {
        return known ? cell_in(1e6, bytes) : Cell{"-"};
    };
    for (const Result& r : results) {
        const auto fit = memory_fit(r);
        if (!fit)
            continue;
        const MemoryPlan& plan = r.work->memory;
        const double on_chip = fit->on_chip_bytes + fit->weight_room_bytes;
        table.rows.push_back({{r.model->name},
                              {hardware_label(r)},
                              megabytes(fit->weight_bytes),
                              megabytes(plan.arena_bytes),
                              megabytes(plan.peak_live_bytes),
                              megabytes(plan.kv_cache_bytes),
                              megabytes(fit->workspace_bytes, r.ok()),
                              megabytes(fit->peak_bytes),
                              megabytes(fit->capacity_bytes, fit->capacity_bytes > 0),
                              {fit->capacity_bytes <= 0 ? "?"
                               : fit->in_device()       ? "yes"
                                                        : "no",
                               {},
                               fit->in_device() ? Tone::plain : Tone::bad},
                              megabytes(on_chip, on_chip > 0),
                              megabytes(fit->alive_bytes),
                              {std::string(stays_text(r, *fit))},
                              megabytes(fit->traffic_bytes, fit->traffic_bytes > 0)});
        for (std::string& note : fit_notes(r, *fit))
            table.notes.push_back(std::move(note));
    }
    return table;
}

/// The last two parts of a path.
std::string tail_of(const std::string& name) {
    const auto last = name.rfind('/');
    if (last == std::string::npos || last == 0)
        return name;
    const auto before = name.rfind('/', last - 1);
    return before == std::string::npos ? name : name.substr(before + 1);
}

/// Where a tensor is made and last read, by the names of subgraphs.
std::pair<std::string, std::string> life_of(const Result& r, TensorId tensor) {
    const auto& buffers = r.partition->buffers;
    const auto at =
        std::find_if(buffers.begin(), buffers.end(), [&](const Buffer& b) { return b.tensor == tensor; });
    if (at == buffers.end())
        return {};
    const bool input = r.work->graph->tensors[tensor].role == TensorRole::input;
    return {input ? "input" : tail_of(r.partition->subgraphs[at->first].name),
            tail_of(r.partition->subgraphs[at->last].name)};
}

Table top_tensors(const Result& r, const std::string& who) {
    const MemoryPlan& plan = r.work->memory;
    Table table;
    table.title = fmt::format("Alive at the peak, {}: step {} of {}, {}", who, plan.peak_step + 1,
                              plan.timeline.size(), r.partition->subgraphs[plan.peak_step].name);
    table.columns = {{"", "", "hardware"},
                     {"Tensor", "", "tensor"},
                     {"Shape", "", "shape", Align::left, 1},
                     {"Made by", "", "made_by"},
                     {"Read until", "", "read_until", Align::left, 2},
                     {"Bytes", "MB", "bytes", Align::right},
                     {"Share", "%", "share", Align::right}};
    for (std::size_t i = 0; i < std::min(kTopTensors, plan.peak_tensors.size()); ++i) {
        const ShapedTensor& tensor = r.work->graph->tensors[plan.peak_tensors[i]];
        const double bytes = plan.peak_tensor_bytes[i], share = bytes / plan.peak_live_bytes;
        const auto [made, read] = life_of(r, plan.peak_tensors[i]);
        table.rows.push_back({{hardware_label(r)},
                              {tensor.name},
                              {shape_text(tensor)},
                              {made},
                              {read},
                              cell_in(1e6, bytes),
                              percent_cell(share)});
    }
    if (plan.peak_tensors.size() > kTopTensors)
        table.notes.push_back(fmt::format("and {} smaller ones", plan.peak_tensors.size() - kTopTensors));
    return table;
}

/// Results that share a plan, in their order.
std::vector<std::vector<const Result*>> by_plan(std::span<const Result> results) {
    std::vector<std::vector<const Result*>> groups;
    for (const Result& r : results) {
        if (!memory_fit(r) || !r.partition || r.work->memory.peak_live_bytes <= 0)
            continue;
        const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
            const MemoryPlan &a = group.front()->work->memory, &b = r.work->memory;
            return group.front()->model == r.model && a.timeline == b.timeline;
        });
        if (same == groups.end())
            groups.push_back({&r});
        else
            same->push_back(&r);
    }
    return groups;
}

} // namespace

std::vector<Block> memory_blocks(std::span<const Result> results) {
    std::vector<Block> blocks;
    const bool any = std::any_of(results.begin(), results.end(),
                                 [](const Result& r) { return memory_fit(r).has_value(); });
    if (any)
        blocks.push_back(fit_table(results));
    for (const auto& group : by_plan(results)) {
        std::string who = hardware_label(*group.front());
        if (group.size() > 1)
            who += fmt::format(" and {} more of its equivalence class", group.size() - 1);
        blocks.push_back(top_tensors(*group.front(), who));
        Chart timeline = memory_chart(*group.front());
        timeline.title = fmt::format("Activations alive at every step, {}", who);
        blocks.push_back(std::move(timeline));
    }
    for (const Result& r : results) {
        for (const ResultPart& part : r.parts) {
            blocks.push_back(Heading{3, fmt::format("{}: {}", hardware_label(r), part.name)});
            for (Block& block : memory_blocks(std::span(part.result.get(), 1)))
                blocks.push_back(std::move(block));
        }
        if (r.generation)
            blocks.push_back(
                Paragraph{fmt::format("{}: {} of weights, {} of activations, {} of KV cache, at "
                                      "the end of the answer.",
                                      hardware_label(r), format_bytes(r.estimate.memory.weight_bytes),
                                      format_bytes(r.estimate.memory.activation_bytes),
                                      format_bytes(r.estimate.memory.kv_cache_bytes))});
    }
    return blocks;
}

namespace {

nlohmann::ordered_json options_json(const std::vector<FitOption>& options) {
    auto list = nlohmann::ordered_json::array();
    for (const FitOption& option : options)
        list.push_back({{"precision", precision_name(option.precision)},
                        {"batch", option.batch},
                        {"bytes", option.bytes}});
    return list;
}

nlohmann::ordered_json one_json(const Result& r) {
    Json entry = {{"model", r.model->name}, {"hardware", hardware_label(r)}};
    const auto fit = memory_fit(r);
    if (!fit) {
        Json parts = Json::array();
        for (const ResultPart& part : r.parts)
            parts.push_back(one_json(*part.result));
        entry["parts"] = std::move(parts);
        return entry;
    }
    const MemoryPlan& plan = r.work->memory;
    entry["weight_bytes"] = fit->weight_bytes;
    entry["arena_bytes"] = plan.arena_bytes;
    entry["live_bytes"] = plan.peak_live_bytes;
    entry["kv_cache_bytes"] = plan.kv_cache_bytes;
    entry["workspace_bytes"] = r.ok() ? Json(fit->workspace_bytes) : Json(nullptr);
    entry["peak_bytes"] = fit->peak_bytes;
    entry["capacity_bytes"] = fit->capacity_bytes > 0 ? Json(fit->capacity_bytes) : Json(nullptr);
    entry["fits_device"] = fit->capacity_bytes > 0 ? Json(fit->in_device()) : Json(nullptr);
    entry["on_chip_bytes"] = fit->on_chip_bytes > 0 ? Json(fit->on_chip_bytes) : Json(nullptr);
    entry["weight_room_bytes"] = fit->weight_room_bytes > 0 ? Json(fit->weight_room_bytes) : Json(nullptr);
    entry["alive_bytes"] = fit->alive_bytes;
    entry["pieces"] = fit->pieces;
    entry["activations_stay_on_chip"] =
        fit->on_chip_bytes > 0 ? Json(fit->activations_on_chip()) : Json(nullptr);
    entry["stays_on_chip"] = stays_text(r, *fit);
    entry["external_bytes_per_inference"] = r.ok() ? Json(fit->traffic_bytes) : Json(nullptr);
    entry["would_fit_device"] = options_json(fit->device_options);
    entry["would_stay_on_chip"] = options_json(fit->on_chip_options);
    entry["peak_step"] = plan.peak_step;
    Json tensors = Json::array(), timeline = Json::array();
    for (std::size_t i = 0; i < plan.peak_tensors.size(); ++i)
        tensors.push_back({{"tensor", r.work->graph->tensors[plan.peak_tensors[i]].name},
                           {"made_by", life_of(r, plan.peak_tensors[i]).first},
                           {"bytes", plan.peak_tensor_bytes[i]}});
    for (std::size_t i = 0; i < plan.timeline.size() && i < r.partition->subgraphs.size(); ++i)
        timeline.push_back({{"subgraph", r.partition->subgraphs[i].name}, {"bytes", plan.timeline[i]}});
    entry["peak_tensors"] = std::move(tensors);
    entry["timeline"] = std::move(timeline);
    return entry;
}

} // namespace

nlohmann::ordered_json memory_json(std::span<const Result> results) {
    auto list = nlohmann::ordered_json::array();
    for (const Result& r : results)
        list.push_back(one_json(r));
    return {{"results", std::move(list)}};
}

} // namespace archsim
