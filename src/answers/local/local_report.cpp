#include "answers/local/local_models.hpp"

#include "archsim/core/precision.hpp"
#include "core/lists.hpp"
#include "fields/question_json.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/result_text.hpp"
#include "result/ranking.hpp"
#include "session/named_format.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace archsim {

constexpr double kLocalGiga = 1e9;

using LocalColumn = ColumnOf<LocalModel>;

static std::string_view rate_unit(const LocalAnswer& answer) {
    return answer.request.kind != LocalKind::language ? "inferences/s" : "tokens/s";
}

/// The usual name of the format: under llama.cpp the type of its file.
static std::string_view file_type(const LocalModel& m) {
    const std::string_view type = m.command.empty() ? std::string_view() : gguf_type_of(m.format);
    return type.empty() ? std::string_view(m.format) : type;
}

/// A rate and its interval.
static std::vector<LocalColumn> rate_columns(const char* heading, std::string_view unit,
                                             const std::string& key, int priority,
                                             LocalRate LocalModel::*which) {
    return where<LocalModel>([which](const LocalModel& m) { return m.runs && (m.*which).per_s > 0; },
                             {{most_best(heading, std::string(unit), key + "_per_s"),
                               [which](const LocalModel& m) {
                                   const LocalRate& r = m.*which;
                                   Cell cell = cell_in(1, r.per_s);
                                   cell.interval = {r.low, r.per_s, r.high};
                                   return cell;
                               }},
                              {interval_column("90 %", std::string(unit), key + "_low_per_s",
                                               key + "_high_per_s", priority, BestIs::most),
                               [which](const LocalModel& m) {
                                   const LocalRate& r = m.*which;
                                   return interval_cell(1, r.low, r.per_s, r.high);
                               }}});
}

static std::vector<LocalColumn> local_columns(const LocalAnswer& answer, bool with_reasons) {
    const bool language = answer.request.kind == LocalKind::language;
    using M = LocalModel;
    std::vector<LocalColumn> columns = {{{"Model", "", "model"}, &M::name},
                                        {{"Format", "", "precision"}, [with_reasons](const M& m) {
                                             return with_reasons ? m.format : std::string(file_type(m));
                                         }}};
    if (with_reasons)
        columns.emplace_back(Column{"File type", "", "file_type"}, [](const M& m) {
            return std::string(m.command.empty() ? std::string_view() : file_type(m));
        });
    append(columns, rate_columns(language ? "Output" : "Rate", rate_unit(answer),
                                 language ? "output_tokens" : "inferences", 0, &M::output));
    append(columns, {{most_best("Parameters", "", "parameters"),
                      [](const M& m) { return m.parameters > 0 ? amount_cell(m.parameters) : Cell{}; }},
                     {most_best("Year", "", "year", 1),
                      [](const M& m) {
                          return m.year > 0 ? Cell{fmt::format("{}", m.year), double(m.year)} : Cell{};
                      }},
                     {least_best("Memory", "GB", "memory_bytes"), kLocalGiga,
                      [](const M& m) { return positive(m.memory_bytes); }}});
    if (language) {
        columns.emplace_back(most_best("On device", "layers", "device_layers", 1), [](const M& m) {
            if (!m.runs || m.layers <= 0)
                return Cell{};
            return Cell{m.expert_layers > 0 ? fmt::format("all but the experts of {}", m.expert_layers)
                                            : fmt::format("{} of {}", m.device_layers, m.layers),
                        static_cast<double>(m.device_layers)};
        });
        append(columns, rate_columns("Prompt", rate_unit(answer), "prompt_tokens", 2, &M::prompt));
    }
    columns.push_back(evidence_column<M>([](const M& m) { return evidence_of(m.runs, m.doubt); }));
    if (language)
        columns.emplace_back(Column{"Command", "", "command", Align::left, 3}, &M::command);
    if (with_reasons)
        append(columns, {{{"Status", "", "status"},
                          [](const M& m) {
                              return std::string(!m.runs ? "does not run" : m.too_slow ? "too slow" : "ok");
                          }},
                         {{"Why not", "", "reason"}, [](const M& m) { return text_cell(m.reason); }}});
    return columns;
}

static bool shown(const LocalModel& m) {
    return m.runs && !m.too_slow;
}

/// The rows shown: of each model the widest format that runs, or all of them.
static std::vector<LocalModel> rows_of(const LocalAnswer& answer, const LocalView& view) {
    std::vector<LocalModel> rows;
    for (const LocalModel& m : answer.models)
        if (shown(m) && (view.every_format || rows.empty() || rows.back().name != m.name))
            rows.push_back(m);
    if (view.by != LocalOrder::size) // as they come
        std::ranges::stable_sort(rows, [&](const LocalModel& a, const LocalModel& b) {
            return view.by == LocalOrder::speed ? a.output.per_s > b.output.per_s : a.year > b.year;
        });
    return rows;
}

/// All rows: those of the table in every format, in its order, then what does not run or is too slow.
static std::vector<LocalModel> data_of(const LocalAnswer& answer, const LocalView& view) {
    std::vector<LocalModel> rows = rows_of(answer, {.by = view.by, .every_format = true});
    append(rows, kept(answer.models, std::not_fn(shown)));
    return rows;
}

/// "qwen3-8b in int4, 62 tokens/s (41 to 94)", with what makes it doubtful.
static std::string rate_text(const LocalAnswer& answer, const LocalModel& m) {
    const std::string doubt = m.doubt.empty() ? std::string()
                              : m.doubt.standing == Standing::refuted
                                  ? "; " + m.doubt.brief()
                                  : fmt::format("; {}", name_of(m.doubt.standing));
    return fmt::format("{} in {}, {} {} ({} to {}{}){}{}.", m.name, file_type(m),
                       format_number(m.output.per_s), rate_unit(answer), format_number(m.output.low),
                       format_number(m.output.high), doubt,
                       m.device_layers < m.layers || m.expert_layers > 0 ? ", with the host" : "",
                       m.context > 0 && m.context < answer.request.context
                           ? fmt::format(", with its longest context, {}", m.context)
                           : std::string());
}

/// The models of which no format is listed, each counted once: with the listed ones they are all.
static Bullets misses(const LocalAnswer& answer) {
    std::size_t memory = 0, slow = 0;
    std::map<std::string, std::string> others;
    for (std::size_t first = 0, last = 0; first < answer.models.size(); first = last) {
        const LocalModel& model = answer.models[first];
        const bool named = !answer.request.models.empty();
        const LocalModel* narrowest = nullptr;
        bool lists = false, runs = false, full = false;
        for (; last < answer.models.size() && answer.models[last].name == model.name; ++last) {
            const LocalModel& m = answer.models[last];
            lists = lists || shown(m);
            runs = runs || m.runs;
            full = full || (!m.runs && m.memory_bytes > 0);
            narrowest = &m;
        }
        if (lists)
            continue;
        slow += runs;
        memory += !named && !runs && full;
        if (!runs && (named || !full)) {
            std::string& names = others[(full ? *narrowest : model).reason];
            names += (names.empty() ? "" : ", ") + model.name;
        }
    }
    Bullets out;
    if (memory > 0)
        out.items.push_back(fmt::format("{} {} not fit in any of these formats{}", plural(memory, "model"),
                                        memory == 1 ? "does" : "do",
                                        answer.request.kind == LocalKind::language && !answer.processor &&
                                                answer.request.host.empty() && answer.unused_bytes <= 0
                                            ? "; --host PROCESSOR keeps some of the layers in its memory"
                                            : ""));
    if (answer.unused_bytes > 0)
        out.items.push_back(fmt::format("the {:.0f} GB of the computer are not used: --host PROCESSOR keeps "
                                        "in them what does not fit",
                                        answer.unused_bytes / 0x1p30));
    if (slow > 0)
        out.items.push_back(
            fmt::format("{} {} slower than the limit", plural(slow, "model"), slow == 1 ? "is" : "are"));
    for (const auto& [why, names] : others)
        out.items.push_back(fmt::format("{}: {}", names, why));
    return out;
}

/// "2 x RTX-3090".
static std::string devices_text(const LocalAnswer& answer) {
    return answer.request.devices > 1 ? fmt::format("{} x {}", answer.request.devices, answer.device)
                                      : answer.device;
}

/// The models that people weigh: the newest, of one year the largest, then the largest of all, of those whose
/// rates may lead.
static Takeaway local_takeaway(const LocalAnswer& answer, const std::vector<LocalModel>& rows) {
    const bool language = answer.request.kind == LocalKind::language;
    const double capacity = peak_of(0.0, answer.models, &LocalModel::capacity_bytes);
    Takeaway out;
    std::string first = fmt::format(
        "{}{}: {} of {} {} models run", devices_text(answer),
        capacity > 0 ? fmt::format(" with {:.3g} GB", capacity / kLocalGiga) : std::string(),
        distinct(rows, &LocalModel::name).size(), answer.considered, name_of(answer.request.kind));
    if (language)
        first += fmt::format(" with a context of {}", answer.request.context);
    if (const double least = answer.request.least_tokens_per_s.value_or(0); least > 0)
        first += fmt::format(" at {} {} or more", format_number(least), rate_unit(answer));
    // As sold: memory modules in powers of two, else decimal gigabytes.
    const double bytes = answer.computer_bytes, binary = bytes / 0x1p30;
    if (bytes > capacity) // the system keeps a part of it
        first += fmt::format("; no size was named: {:.0f} GB is assumed",
                             binary == std::floor(binary) ? binary : std::round(bytes / kLocalGiga));
    out.lines.push_back(first + ".");
    std::vector<LocalModel> order = rows;
    std::ranges::stable_sort(order, [](const LocalModel& a, const LocalModel& b) {
        return std::pair(-a.year, -a.parameters) < std::pair(-b.year, -b.parameters);
    });
    if (!answer.request.models.empty()) { // each that was named
        if (order.empty())
            for (const std::string& why : misses(answer).items)
                out.lines.push_back(why + ".");
        constexpr std::size_t kNamed = 2;
        for (std::size_t i = 0; i < std::min(order.size(), kNamed); ++i)
            out.lines.push_back(rate_text(answer, order[i]));
    }
    if (!answer.request.models.empty() || order.empty())
        return out;
    // A model that measurements speak against, or that none stands behind, is no answer.
    const auto stands = [](const LocalModel& m) { return leads(m.doubt.standing); };
    if (std::ranges::any_of(order, stands))
        order = kept(order, stands);
    const LocalModel& largest = *std::ranges::max_element(order, {}, &LocalModel::parameters);
    const bool both = order.front().name == largest.name;
    if (const int year = order.front().year; year > 0)
        out.lines.push_back(fmt::format("{} ({}): {}", both ? "Newest and largest" : "Newest", year,
                                        rate_text(answer, order.front())));
    if (!both || order.front().year == 0)
        out.lines.push_back("Largest: " + rate_text(answer, largest));
    return out;
}

static Members<LocalModel> local_model_members() {
    using M = LocalModel;
    /// A rate and its interval.
    struct Shown {
        LocalRate rate;
    };
    const auto rate = [](LocalRate M::*which) {
        return [which](const M& m) {
            return m.runs && (m.*which).per_s > 0 ? std::optional(Shown{m.*which}) : std::nullopt;
        };
    };
    const auto layers = [](std::int64_t M::*which, bool always) {
        return [which, always](const M& m) {
            return m.layers > 0 && (always || m.runs) ? std::optional(m.*which) : std::nullopt;
        };
    };
    const Members<Shown> rates = {{"value", "", [](const Shown& s) { return s.rate.per_s; }},
                                  {"interval", "90 %", [](const Shown& s) {
                                       return std::array{s.rate.low, s.rate.high};
                                   }}};
    return {
        {"model", "", &M::name},
        {"precision", "of the weights; of a file that was named its type", &M::format},
        {"file_type", "of the file that llama.cpp runs, \"Q4_K_M\"; null: another stack runs it",
         [](const M& m) {
             return nonempty(std::string(m.command.empty() ? std::string_view() : file_type(m)));
         }},
        {"parameters", "null: not published", [](const M& m) { return positive(m.parameters); }},
        {"year", "in which its family came out; null: not known",
         [](const M& m) { return m.year > 0 ? std::optional(m.year) : std::nullopt; }},
        {"runs", "", &M::runs},
        {"fast_enough", "runs at the least rate asked for", [](const M& m) { return m.runs && !m.too_slow; }},
        {"context", "positions that it was asked for: fewer where no more were asked for and it has no more",
         [](const M& m) { return m.context > 0 ? std::optional(m.context) : std::nullopt; }},
        {"reason", "why it does not run", [](const M& m) { return nonempty(m.reason); }},
        evidence_member<M>([](const M& m) { return evidence_of(m.runs, m.doubt); }),
        {"doubt", "why its rates are doubtful", [](const M& m) { return nonempty(m.doubt.text()); }},
        {"prompt_tokens_per_s", "tokens read per second; null: it does not run, or is no language model",
         rate(&M::prompt), rates},
        {"output_per_s", "tokens written per second at the end of the context; of vision models inferences",
         rate(&M::output), rates},
        {"memory_bytes", "that it needs whole; where it surely does not fit, of the weights alone",
         [](const M& m) { return positive(m.memory_bytes); }},
        {"capacity_bytes", "of the device", [](const M& m) { return positive(m.capacity_bytes); }},
        {"layers", "", layers(&M::layers, true)},
        {"device_layers", "fewer than layers: the rest runs on the host", layers(&M::device_layers, false)},
        {"expert_layers_on_host", "layers of which the experts alone are in the host's memory",
         layers(&M::expert_layers, false)},
        {"host_bytes", "weights and cache in the host's memory", &M::host_bytes},
        {"command", "that serves it with llama.cpp", [](const M& m) { return nonempty(m.command); }}};
}

// More than any model has: all layers, and the output projection.
constexpr int kAllLayers = 999;

/// llama.cpp's name of a format of the cache (--cache-type-k).
static std::string_view cache_type(Precision format) {
    return format == Precision::int8   ? "q8_0"
           : format == Precision::int4 ? "q4_0"
           : format == Precision::fp16 ? "f16"
                                       : name_of(format);
}

Report describe(const LocalAnswer& answer, const LocalView& view, Format format) {
    Report report{"What runs on " + devices_text(answer), {}};
    if (format == Format::csv)
        return {report.title, {table_of("Models", local_columns(answer, true), data_of(answer, view))}};
    const std::vector<LocalModel> rows = rows_of(answer, view);
    add_blocks(report, Heading{1, report.title}, local_takeaway(answer, rows));
    Table table =
        table_of(fmt::format("Models under {}", answer.runtime), local_columns(answer, false), rows);
    if (answer.request.kind == LocalKind::language) {
        table.notes.emplace_back(fmt::format(
            "Prompt: of {} tokens; Output: one token after another at the end of the context{}.",
            answer.request.context - 128,
            answer.models.size() > answer.considered && !view.every_format
                ? fmt::format("; each in the widest of {} formats that runs", answer.request.formats.size())
                : std::string()));
        if (answer.request.devices > 1)
            table.notes.emplace_back("Each device has a part of the layers, one after the other: together "
                                     "they hold more and are no faster (llama.cpp's -sm layer).");
        if (!answer.request.host.empty())
            table.notes.emplace_back("Layers that are not on the device, or their experts, run on the host, "
                                     "one after the other; long prompts come sooner than estimated, since "
                                     "llama.cpp reads those layers' on the GPU too.");
    }
    if (rows.empty() && !answer.request.models.empty()) // the first lines say why
        return report;
    report.blocks.emplace_back(std::move(table));
    const auto command = std::ranges::find_if(rows, [](const LocalModel& m) { return !m.command.empty(); });
    if (command != rows.end())
        report.blocks.emplace_back(Command{command->command});
    if (Bullets why = misses(answer); !why.items.empty())
        report.blocks.emplace_back(std::move(why));
    return report;
}

AnswerDocument document_of(const LocalAnswer& answer, const LocalView& view) {
    using A = LocalAnswer;
    using R = LocalRequest;
    static constexpr std::string_view kAsked[] = {"context", "kv_cache"};
    const Members<R> request = Members<R>{
        {"models", "by name, or files; empty: the catalogue's", &R::models},
        {"hardware", "with the memory of its computer, where that was stated",
         [](const R& r) {
             return r.host_memory_bytes > 0 ? fmt::format("{}, {}GB", r.device, r.host_memory_bytes / 0x1p30)
                                            : r.device;
         }},
        {"host", "", [](const R& r) { return nonempty(r.host); }},
        {"devices", "that divide the layers", &R::devices},
        {"kind", "of models", &R::kind, UpTo{LocalKind::speech}},
        {"formats", "of weights", &R::formats},
        {"min_tokens_per_s", "slower models are left out", [](const R& r) {
             return r.least_tokens_per_s.value_or(0);
         }}}.with(question_members(kAsked).of<R>([](const R& r) {
        Question question{Workload{.model = {}, .prompt = Prompt{.context = r.context}}, {}};
        question.conditions.kv_cache = r.kv_cache;
        return question;
    }));
    return {answer,
            "local_models",
            "which models run on one machine, and how fast",
            {{"request", "what was asked", &A::request, request},
             {"verdict", "the answer", [](const A& a) { return local_takeaway(a, rows_of(a, {})).lines; },
              lines_members()},
             {"device", "", &A::device},
             {"host", "", [](const A& a) { return nonempty(a.host); }},
             {"runtime", "software stack", &A::runtime},
             {"kind", "of models", [](const A& a) { return a.request.kind; }, UpTo{LocalKind::speech}},
             {"context", "positions", [](const A& a) { return a.request.context; }},
             {"considered", "models of the catalogue", &A::considered},
             {"models", "as the table has them, in every format; then what does not run, largest first",
              [view](const A& a) { return data_of(a, view); }, local_model_members()}}};
}

std::string llama_file(std::string_view model, std::string_view format) {
    const std::string_view type = gguf_format(format) ? format : gguf_type_of(format);
    return type.empty() ? std::string() : fmt::format("{}-{}.gguf", model, type);
}

std::string llama_command(std::string_view file, std::int64_t context, std::int64_t device_layers,
                          std::int64_t layers, std::int64_t expert_layers,
                          std::optional<Precision> kv_cache) {
    if (file.empty())
        return "";
    const std::int64_t on_device = device_layers < 0         ? 0
                                   : device_layers >= layers ? kAllLayers
                                                             : device_layers;
    std::string command = fmt::format("llama-server -m {} -c {} -ngl {}", file, context, on_device);
    if (expert_layers > 0)
        command += fmt::format(" --n-cpu-moe {}", expert_layers);
    if (kv_cache)
        command += fmt::format(" -ctk {0} -ctv {0}", cache_type(*kv_cache));
    return command;
}

double llama_output_bytes(const LanguageModel& model, std::int64_t tokens) {
    return static_cast<double>(tokens) * (model.vocabulary + model.hidden) * bytes_of(Precision::fp32);
}

} // namespace archsim
