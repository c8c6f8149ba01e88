#include "report/blocks/explanations.hpp"

#include "core/lists.hpp"
#include "report/blocks/columns.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/ranking_table.hpp"
#include "report/blocks/result_text.hpp"
#include "report/blocks/shape_text.hpp"
#include "result/bound_shares.hpp"
#include "result/memory_fit.hpp"

#include <algorithm>
#include <fmt/ranges.h>

namespace archsim {

constexpr std::size_t kTopTensors = 8;

static std::string options_text(const std::vector<FitOption>& options, const Result& r) {
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

static std::vector<std::string> fit_notes(const Result& r, const MemoryFit& fit) {
    std::vector<std::string> notes;
    const std::string name = hardware_label(r);
    if (fit.pools.apart())
        notes.push_back(fmt::format("{}: {}", name, joined(fit.pools.pools, [](const MemoryPool& p) {
                                        return fmt::format("{} of {} {}", format_bytes(p.needed),
                                                           format_bytes(p.capacity),
                                                           p.name.empty() ? "in all" : p.name);
                                    })));
    if (!fit.in_device())
        notes.push_back(
            fmt::format("{}: does not fit the device; would: {}", name, options_text(fit.device_options, r)));
    if (!fit.on_chip_options.empty() || (fit.on_chip_bytes > 0 && !fit.activations_on_chip()))
        notes.push_back(fmt::format(
            "{}: activations of the whole batch leave the chip{}; would stay: {}", name,
            fit.pieces > 1 ? fmt::format(", so it runs in up to {:g} pieces", fit.pieces) : std::string(),
            options_text(fit.on_chip_options, r)));
    if (const auto levels = levels_without_time(r); !levels.empty())
        notes.push_back(
            fmt::format("{}: no time is counted for the bandwidth of {}", name, fmt::join(levels, ", ")));
    return notes;
}

/// The part of a network that stays on the chip between its layers.
static std::string_view stays_text(const Result& r, const MemoryFit& fit) {
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

static Table fit_table(std::span<const Result> results) {
    struct Row {
        const Result& result;
        MemoryFit fit;
        const MemoryPlan& plan() const { return result.work->memory; }
    };
    std::vector<Row> rows;
    for (const Result& r : results)
        if (auto fit = memory_fit(r))
            rows.push_back({r, std::move(*fit)});
    const auto of_fit = [](double MemoryFit::*bytes) {
        return [bytes](const Row& r) { return r.fit.*bytes; };
    };
    const auto of_plan = [](double MemoryPlan::*bytes) {
        return [bytes](const Row& r) { return r.plan().*bytes; };
    };
    Table table = table_of<Row>(
        "Memory",
        {{{"", "", "model"}, [](const Row& r) { return r.result.model->name; }},
         {{"Hardware", "", "hardware"}, [](const Row& r) { return hardware_label(r.result); }},
         {least_best("Weights", "MB", "weight_bytes"), 1e6, of_fit(&MemoryFit::weight_bytes)},
         {least_best("Arena", "MB", "arena_bytes"), 1e6, of_plan(&MemoryPlan::arena_bytes)},
         {least_best("Lower bound", "MB", "live_bytes", 2), 1e6, of_plan(&MemoryPlan::peak_live_bytes)},
         {least_best("KV cache", "MB", "kv_cache_bytes", 5), 1e6, of_plan(&MemoryPlan::kv_cache_bytes)},
         {least_best("Workspace", "MB", "workspace_bytes"), 1e6,
          [](const Row& r) { return known(r.result.ok(), r.fit.workspace_bytes); }},
         {least_best("Peak", "MB", "peak_bytes"), 1e6, of_fit(&MemoryFit::peak_bytes)},
         {most_best("Device", "MB", "capacity_bytes", 1), 1e6,
          [](const Row& r) { return positive(r.fit.capacity_bytes); }},
         {{"Fits", "", "fits_device"},
          [](const Row& r) {
              Cell cell = flag_cell(r.fit.capacity_bytes > 0, r.fit.in_device());
              cell.tone = r.fit.in_device() ? Tone::plain : Tone::bad;
              return cell;
          }},
         {most_best("On chip", "MB", "on_chip_bytes", 1), 1e6,
          [](const Row& r) { return positive(r.fit.on_chip_bytes + r.fit.weight_room_bytes); }},
         {least_best("Alive", "MB", "alive_bytes", 3), 1e6, of_fit(&MemoryFit::alive_bytes)},
         {{"Stays", "", "stays_on_chip"}, [](const Row& r) { return stays_text(r.result, r.fit); }},
         {least_best("Traffic", "MB/inf", "external_bytes_per_inference", 4), 1e6,
          [](const Row& r) { return positive(r.fit.traffic_bytes); }}},
        rows);
    table.notes = {{"Arena: offsets planned by size, best fit.", "arena_bytes"},
                   {"Lower bound: the most that is alive at one step.", "live_bytes"},
                   {"Alive: of the piece that runs at a time.", "alive_bytes"},
                   {"Stays: what the memory that software manages can hold.", "stays_on_chip"}};
    for (const Row& row : rows)
        append(table.notes, fit_notes(row.result, row.fit));
    return table;
}

/// The last two parts of a path.
static std::string tail_of(const std::string& name) {
    const auto last = name.rfind('/');
    if (last == std::string::npos || last == 0)
        return name;
    const auto before = name.rfind('/', last - 1);
    return before == std::string::npos ? name : name.substr(before + 1);
}

/// Where a tensor is made and last read, by the names of subgraphs.
static std::pair<std::string, std::string> life_of(const Result& r, TensorId tensor) {
    const auto& buffers = r.partition->buffers;
    const auto at = std::ranges::find(buffers, tensor, &Buffer::tensor);
    if (at == buffers.end())
        return {};
    const bool input = r.work->graph->tensors[tensor].role == TensorRole::input;
    return {input ? "input" : tail_of(r.partition->subgraphs[at->first].name),
            tail_of(r.partition->subgraphs[at->last].name)};
}

struct PeakTensor {
    const ShapedTensor* tensor = nullptr;
    double bytes = 0;
    std::string made, read;

    const std::string& name() const { return tensor->name; }
};

/// What is alive at the peak, the largest first; so many of them at most.
static std::vector<PeakTensor> peak_tensors(const Result& r, std::size_t most) {
    const MemoryPlan& plan = r.work->memory;
    return mapped(indices(std::min(most, plan.peak_tensors.size())), [&](const std::size_t i) {
        auto [made, read] = life_of(r, plan.peak_tensors[i]);
        return PeakTensor{&r.work->graph->tensors[plan.peak_tensors[i]], plan.peak_tensor_bytes[i],
                          std::move(made), std::move(read)};
    });
}

static Table top_tensors(const Result& r, const std::string& who) {
    const MemoryPlan& plan = r.work->memory;
    using Row = PeakTensor;
    Table table = table_of<Row>(
        fmt::format("Alive at the peak, {}: step {} of {}, {}", who, plan.peak_step + 1, plan.timeline.size(),
                    r.partition->subgraphs[plan.peak_step].name),
        {{{"", "", "hardware"}, [&](const Row&) { return hardware_label(r); }},
         {{"Tensor", "", "tensor"}, &Row::name},
         {{"Shape", "", "shape", Align::left, 1}, [](const Row& row) { return shape_text(*row.tensor); }},
         {{"Made by", "", "made_by"}, &Row::made},
         {{"Read until", "", "read_until", Align::left, 2}, &Row::read},
         {least_best("Bytes", "MB", "bytes"), 1e6, &Row::bytes},
         {least_best("Share", "%", "share"),
          [&](const Row& row) { return percent_cell(row.bytes / plan.peak_live_bytes); }}},
        peak_tensors(r, kTopTensors));
    if (plan.peak_tensors.size() > kTopTensors)
        table.notes.push_back(fmt::format("and {} smaller ones", plan.peak_tensors.size() - kTopTensors));
    return table;
}

/// Results that share a plan, in their order.
static std::vector<std::vector<const Result*>> by_plan(std::span<const Result> results) {
    std::vector<std::vector<const Result*>> groups;
    for (const Result& r : results) {
        if (!memory_fit(r) || !r.partition || r.work->memory.peak_live_bytes <= 0)
            continue;
        const auto same = std::ranges::find_if(groups, [&](const auto& group) {
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

/// A network that was planned.
struct PlannedMemory {
    const Result* result = nullptr;
    MemoryFit fit;

    const MemoryPlan& plan() const { return result->work->memory; }
};

static Members<FitOption> fit_option_members() {
    return {{"precision", "", [](auto& o) { return precision_name(o.precision); }},
            {"batch", "items", &FitOption::batch},
            {"bytes", "needed then", &FitOption::bytes}};
}

struct StepMemory {
    std::string subgraph;
    double bytes = 0;
};
static std::vector<StepMemory> memory_timeline(const PlannedMemory& p) {
    std::vector<StepMemory> steps;
    const std::vector<double>& timeline = p.plan().timeline;
    for (std::size_t i = 0; i < timeline.size() && i < p.result->partition->subgraphs.size(); ++i)
        steps.push_back({p.result->partition->subgraphs[i].name, timeline[i]});
    return steps;
}

static Members<PlannedMemory> planned_memory_members() {
    using P = PlannedMemory;
    return {
        {"weight_bytes", "", [](const P& p) { return p.fit.weight_bytes; }},
        {"arena_bytes", "of activations, as placed", [](const P& p) { return p.plan().arena_bytes; }},
        {"live_bytes", "lower bound of any arena", [](const P& p) { return p.plan().peak_live_bytes; }},
        {"kv_cache_bytes", "", [](const P& p) { return p.plan().kv_cache_bytes; }},
        {"workspace_bytes", "largest scratch memory of any kernel; null: no estimate",
         [](const P& p) { return known(p.result->ok(), p.fit.workspace_bytes); }},
        {"peak_bytes", "weights, arena, cache and workspace", [](const P& p) { return p.fit.peak_bytes; }},
        {"capacity_bytes", "of one chip's memory; null: not known",
         [](const P& p) { return positive(p.fit.capacity_bytes); }},
        {"memories", "that hold weights and data apart",
         [](const P& p) {
             return p.fit.pools.apart() ? std::span(p.fit.pools.pools) : std::span<const MemoryPool>();
         },
         Members<MemoryPool>{{"name", "", &MemoryPool::name},
                             {"needed_bytes", "", &MemoryPool::needed},
                             {"capacity_bytes", "", &MemoryPool::capacity}}},
        {"fits_device", "null: the capacity is not known",
         [](const P& p) {
             return p.fit.capacity_bytes > 0 ? std::optional(p.fit.in_device()) : std::nullopt;
         }},
        {"on_chip_bytes", "memory whose contents software decides; null: caches, or not known",
         [](const P& p) { return positive(p.fit.on_chip_bytes); }},
        {"weight_room_bytes", "on-chip memory of its own for weights",
         [](const P& p) { return positive(p.fit.weight_room_bytes); }},
        {"alive_bytes", "largest set of activations alive at once: of a piece where the batch is cut",
         [](const P& p) { return p.fit.alive_bytes; }},
        {"pieces", "parts of the batch that run one after another", [](const P& p) { return p.fit.pieces; }},
        {"activations_stay_on_chip", "null: caches decide, or not known",
         [](const P& p) {
             return p.fit.on_chip_bytes > 0 ? std::optional(p.fit.activations_on_chip()) : std::nullopt;
         }},
        {"stays_on_chip", "what of the network stays between its layers",
         [](const P& p) { return stays_text(*p.result, p.fit); }},
        {"external_bytes_per_inference", "to and from memory outside of the chip; null: no estimate",
         [](const P& p) { return known(p.result->ok(), p.fit.traffic_bytes); }},
        {"would_fit_device", "where it does not fit", [](const P& p) { return p.fit.device_options; },
         fit_option_members()},
        {"would_stay_on_chip", "where activations leave the chip",
         [](const P& p) { return p.fit.on_chip_options; }, fit_option_members()},
        {"peak_step", "index of the subgraph at the peak", [](const P& p) { return p.plan().peak_step; }},
        {"peak_tensors", "alive at the peak",
         [](const P& p) { return peak_tensors(*p.result, p.plan().peak_tensors.size()); },
         Members<PeakTensor>{{"tensor", "", &PeakTensor::name},
                             {"made_by", "subgraph", &PeakTensor::made},
                             {"bytes", "", &PeakTensor::bytes}}},
        {"timeline", "activations alive while each subgraph runs", memory_timeline,
         Members<StepMemory>{{"subgraph", "", &StepMemory::subgraph}, {"bytes", "", &StepMemory::bytes}}}};
}

/// A result: what was planned, or the parts that it consists of.
struct ResultMemory {
    const Result* result = nullptr;
    std::optional<PlannedMemory> planned;
    std::vector<ResultMemory> parts;
};

static ResultMemory memory_of(const Result& r) {
    ResultMemory memory{.result = &r, .planned = {}, .parts = {}};
    if (auto fit = memory_fit(r))
        memory.planned = PlannedMemory{&r, std::move(*fit)};
    else
        for (const ResultPart& part : r.parts)
            memory.parts.push_back(memory_of(*part.result));
    return memory;
}

/// Without the parts that have parts of their own: no result has.
static Members<ResultMemory> result_memory_members(bool of_part) {
    using M = ResultMemory;
    const auto parts = [](const M& m) {
        return Sometimes<std::vector<M>>{m.planned ? std::nullopt : std::optional(m.parts)};
    };
    const char* const meaning = "of a model of several networks, and of what was not planned";
    return Members<M>{{"model", "", [](const M& m) { return m.result->model->name; }},
                      {"hardware", "", [](const M& m) { return hardware_label(*m.result); }}}
        .with(planned_memory_members().of<M>([](const M& m) { return m.planned ? &*m.planned : nullptr; }))
        .with({of_part ? Member<M>{"parts", meaning, parts, Members<M>{}}
                       : Member<M>{"parts", meaning, parts, result_memory_members(true)}});
}

std::vector<Block> memory_blocks(std::span<const Result> results) {
    std::vector<Block> blocks;
    const bool any = std::ranges::any_of(results, [](const Result& r) { return memory_fit(r).has_value(); });
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
            append(blocks, memory_blocks(std::span(part.result.get(), 1)));
        }
        if (r.generation)
            blocks.push_back(Paragraph{
                fmt::format("{}: {} of weights, {} of activations, {} of KV cache, at the end of the answer.",
                            hardware_label(r), format_bytes(r.estimate.memory.weight_bytes),
                            format_bytes(r.estimate.memory.activation_bytes),
                            format_bytes(r.estimate.memory.kv_cache_bytes))});
    }
    return blocks;
}

Members<Explained> memory_members() {
    return {
        {"results", "",
         [](const Explained& e) { return mapped(e.results, [](const Result& r) { return memory_of(r); }); },
         result_memory_members(false)}};
}

} // namespace archsim
