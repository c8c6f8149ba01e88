#include "session/server/server.hpp"

#include "archsim/core/finding.hpp"
#include "core/json_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace archsim {

constexpr double kBytesPerGib = 1024.0 * 1024 * 1024;

/// A number above 0 under `key`; 0 where there is none.
static double positive_at(const JsonValue& row, std::string_view key, const std::string& file) {
    const JsonValue* value = row.find(key);
    if (value == nullptr)
        return 0;
    if (!value->is_number() || !(value->number() > 0))
        throw InputError(fmt::format("{}: {}: expected a number above 0, got {}", file, key, value->dump()));
    return value->number();
}

/// The first row of the stack `id` whose conditions hold; null where there is none.
static const JsonValue* row_of(const JsonValue& rows, std::string_view id, const Machine& machine,
                               const std::string& file) {
    for (const JsonValue& row : rows.items()) {
        const double least = positive_at(row, "memory_at_least_gib", file) * kBytesPerGib;
        const std::string_view generation = row.text_at("not_generation");
        if (row.text_at("runtime") == id && machine.memory_capacity_bytes >= least &&
            (generation.empty() || generation != machine.device->generation))
            return &row;
    }
    return nullptr;
}

/// The machine's row: that of its stack, else of the stack that it states its differences from.
static const JsonValue* row_for(const JsonValue& root, const Machine& machine, const std::string& file) {
    const JsonValue* rows = root.find("servers");
    if (rows == nullptr || !rows->is_array())
        throw InputError(fmt::format("{}: no list of \"servers\"", file));
    const JsonValue* own = row_of(*rows, machine.runtime->id, machine, file);
    return own != nullptr ? own : row_of(*rows, machine.runtime->base, machine, file);
}

/// The file's row for the machine, read by `use`; an empty one where there is none.
template <class Use>
static void with_row(const Machine& machine, const std::filesystem::path& file, Use&& use) {
    std::vector<Finding> findings;
    const auto document = parse_document(file.string(), findings);
    if (!document)
        throw InputError(findings.front());
    const JsonValue none{};
    const JsonValue* row = row_for(document->root, machine, file.string());
    use(row != nullptr ? *row : none);
}

ServerMemory server_memory(const Machine& machine, double asked, const std::filesystem::path& file) {
    ServerMemory memory;
    with_row(machine, file, [&](const JsonValue& row) {
        memory.row_weights = static_cast<std::int64_t>(positive_at(row, "row_weights", file.string()));
        memory.other_rows = std::max(1.0, positive_at(row, "other_rows", file.string()));
        memory.share = asked > 0 ? asked : positive_at(row, "memory_share", file.string());
        constexpr double kGiga = 1e9;
        const double reserved = kGiga * positive_at(row, "reserved_gb", file.string());
        memory.reserved_bytes = reserved > 0 ? reserved : machine.param(Parameter::reserved_memory, 0);
        const std::string_view of = row.text_at("memory_share_of");
        memory.of = of == "all"                 ? ServerMemory::Of::all
                    : of == "weights_and_cache" ? ServerMemory::Of::weights_and_cache
                                                : ServerMemory::Of::left;
        memory.states_per_request = positive_at(row, "states_per_request", file.string());
        memory.states_share = positive_at(row, "states_share", file.string());
        memory.by_layers = row.text_at("split") == "layers";
        memory.every_logit = row.text_at("logits") == "every_token";
    });
    return memory;
}

ServingPlan with_server_defaults(ServingPlan plan, const Machine& machine,
                                 const std::filesystem::path& file) {
    const EngineLimits usual;
    EngineLimits& engine = plan.engine;
    with_row(machine, file, [&](const JsonValue& row) {
        const auto whole = [&](const char* key, std::int64_t otherwise) {
            const double value = positive_at(row, key, file.string());
            return value > 0 ? static_cast<std::int64_t>(value) : otherwise;
        };
        if (engine.sequences == 0)
            engine.sequences = whole("sequences", usual.sequences);
        if (engine.step_tokens == 0)
            engine.step_tokens = whole("step_tokens", usual.step_tokens);
        if (row.text_at("limits") == "of_all_groups")
            engine.groups = 1;
        // A host that the device waits for makes up a step when the one before it has ended.
        engine.scheduled_ahead = engine.scheduled_ahead && machine.param(Parameter::sequence_time, 0) <= 0;
        engine.prompts_apart = engine.prompts_apart || row.text_at("prompts") == "apart";
        if (engine.admission == Admission::of_stack) {
            const std::string_view admission = row.text_at("admission");
            engine.admission = admission == "prompt"     ? Admission::prompt
                               : admission == "expected" ? Admission::expected
                                                         : Admission::whole_answer;
        }
        constexpr double kMilli = 1e-3;
        constexpr double kMicro = 1e-6;
        if (plan.request_s < 0)
            plan.request_s = kMilli * positive_at(row, "request_ms", file.string());
        if (plan.prompt_token_s < 0)
            plan.prompt_token_s = kMicro * positive_at(row, "prompt_token_us", file.string());
        if (plan.answer_token_s < 0)
            plan.answer_token_s = kMicro * positive_at(row, "answer_token_us", file.string());
    });
    constexpr double kAny = 1e9;
    engine.sequences =
        std::min(engine.sequences, static_cast<std::int64_t>(machine.param(Parameter::largest_batch, kAny)));
    return plan;
}

} // namespace archsim
