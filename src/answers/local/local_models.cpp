#include "answers/local/local_models.hpp"

#include "archsim/core/finding.hpp"
#include "core/data_dir.hpp"
#include "core/in_parallel.hpp"
#include "core/json_document.hpp"
#include "core/lists.hpp"
#include "core/parse_number.hpp"
#include "core/text.hpp"
#include "estimate/memory_pools.hpp"
#include "hardware/reference_machine.hpp"
#include "map/sharding.hpp"
#include "map/stored_tensors.hpp"
#include "result/format_parts.hpp"
#include "result/memory_fit.hpp"
#include "session/generation/language_model.hpp"
#include "session/generation/offload.hpp"
#include "session/graph_run.hpp"
#include "session/named_format.hpp"
#include "session/prepared.hpp"
#include "session/server/server.hpp"
#include "session/usual_precision.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

namespace archsim {

constexpr std::int64_t kAnswer = 128, kShortestContext = 256;
constexpr double kReadable = 10; // tokens/s, twice as fast as people read (reading_time())
constexpr std::string_view kLlamaCpp = "llama.cpp";
// Tokens of a prompt that are read together (llama.cpp, tools/server/README.md: --ubatch-size, 512).
constexpr std::int64_t kChunk = 512;

static bool is_asked(const CatalogueEntry& entry, LocalKind kind) {
    static constexpr std::string_view kVision[] = {"image-classification",  "object-detection",
                                                   "instance-segmentation", "semantic-segmentation",
                                                   "pose-estimation",       "video-classification"};
    return kind == LocalKind::language ? entry.task == "text-generation" && entry.kind == "decoder-lm"
           : kind == LocalKind::speech ? entry.task == "speech-recognition"
                                       : contains(kVision, entry.task);
}

/// The flag for a named model of another kind; empty: it is of this.
static std::string of_other_kind(const CatalogueEntry& entry, LocalKind kind) {
    for (const LocalKind other : {LocalKind::language, LocalKind::vision, LocalKind::speech})
        if (other != kind && !is_asked(entry, kind) && is_asked(entry, other))
            return fmt::format("it is of another kind: --kind {}", name_of(other));
    return {};
}

/// The year of the family whose name is the longest beginning of the model's; 0: none.
static int year_of(std::string_view name) {
    static const std::vector<std::pair<std::string, int>> families = [] {
        std::vector<Finding> findings;
        const auto document = parse_document(data_table("model_releases.json").string(), findings);
        std::vector<std::pair<std::string, int>> rows;
        if (const JsonValue* years = document ? document->root.find("families") : nullptr)
            for (const JsonValue& row : years->items())
                if (const JsonValue* year = row.find("year"); year != nullptr && year->is_number())
                    rows.emplace_back(row.text_at("name"), static_cast<int>(year->number()));
        return rows;
    }();
    const std::pair<std::string, int>* longest = nullptr;
    for (const auto& row : families)
        if (name.starts_with(row.first) && (longest == nullptr || row.first.size() > longest->first.size()))
            longest = &row;
    return longest != nullptr ? longest->second : 0;
}

/// Prompt and token of a model on one machine, whether or not its memory holds it.
struct Passes : PassTimes {
    MemoryEstimate memory; ///< of the pass that needs most, at the end of the context
    bool fits = false;
    std::int64_t layers = 0; ///< 0: the model does not say
};

class LocalRunner {
  public:
    LocalRunner(const Session& session, LocalAnswer& answer, std::string stack, std::string host_stack)
        : session_(session), answer_(answer), request_(answer.request), stack_(std::move(stack)),
          host_stack_(std::move(host_stack)) {}

    /// All formats of one model.
    std::vector<LocalModel> run(const CatalogueEntry& entry) const {
        std::vector<LocalModel> out;
        std::optional<Model> model;
        const std::vector<std::string> one = {"usual"};
        const std::string type = request_.models.empty() ? std::string() : gguf_type_in(entry.source);
        // A GGUF file has one; asked for in 16 bits it is taken as it is stored. A name may say one.
        const bool has_one = entry.products || entry.file.extension() == ".gguf";
        // A name of a model alone, "qwen3:8b", is of its usual file, where no other is asked for.
        const bool asked = !request_.models.empty() && request_.formats != LocalRequest{}.formats,
                   other_formats = asked && type.empty() && entry.file.extension() == ".gguf" &&
                                   session_.catalogue().find(entry.name) != nullptr;
        const std::vector<std::string> own = {
            std::string(entry.products ? name_of(entry.products->compute) : "bf16")};
        for (const std::string& format : request_.kind != LocalKind::language ? one
                                         : has_one && !other_formats          ? own
                                                                              : request_.formats) {
            if (model && stored_as(*model, format)) // as in the row before
                continue;
            LocalModel& row = out.emplace_back();
            row.name = entry.name;
            row.format = format;
            row.context = request_.context;
            row.parameters = entry.published ? entry.published->parameters : 0;
            row.year = year_of(entry.name);
            if (row.reason = of_other_kind(entry, request_.kind); !row.reason.empty())
                continue;
            try {
                if (!model)
                    model =
                        session_.load(request_.models.empty() || other_formats ? entry.name : entry.source);
                if (has_one && asked && !other_formats)
                    throw UsageError(fmt::format("{} has a format of its own: without it in the name, {}, "
                                                 "others can be asked for",
                                                 entry.source, entry.name));
                if (const std::int64_t own_context = shorter_context(*model); own_context > 0) {
                    LocalRunner shorter = *this;
                    shorter.request_.context = own_context;
                    return shorter.run(entry);
                }
                if (request_.kind != LocalKind::language)
                    look(*model, row);
                else if (!surely_too_large(*model, row))
                    answer(*model, row);
            } catch (const Error& problem) {
                row.runs = false;
                row.reason = problem.what();
            }
            if (!type.empty())
                row.format = type;
            if (row.runs && answer_.runtime == kLlamaCpp)
                row.command = llama_command(has_one && !other_formats && entry.file.extension() == ".gguf"
                                                ? entry.file.string()
                                                : llama_file(row.name, row.format),
                                            request_.context, answer_.processor ? -1 : row.device_layers,
                                            row.layers, row.expert_layers, request_.kv_cache);
            row.too_slow = row.runs && row.output.per_s < *request_.least_tokens_per_s;
        }
        return out;
    }

  private:
    /// The longest context of a model that was named, where nobody asked for one and it is shorter; else 0.
    std::int64_t shorter_context(const Model& model) const {
        const auto& lm = model.info.language_model;
        const double longest = lm ? lm->max_context : 0;
        const bool asked = request_.models.empty() || request_.context != LocalRequest{}.context;
        return !asked && longest >= kShortestContext && longest < static_cast<double>(request_.context)
                   ? static_cast<std::int64_t>(longest)
                   : 0;
    }

    /// The format that a checkpoint which is narrow already runs in, but for integers, which are asked for by
    /// their names; nothing where its weights are quantised anew.
    std::optional<Precision> stored_as(const Model& model, const std::string& format) const {
        if (request_.kind != LocalKind::language)
            return std::nullopt;
        const auto stored = model.prepared->language(model, {})->stored_weights();
        const Precision asked = file_format(format).weights;
        const bool wide = bits_of(asked) == bits_of(Precision::bf16);
        return stored && (wide || !(is_integer(*stored) || quantised_anew(*stored, asked))) ? stored
                                                                                            : std::nullopt;
    }

    Conditions conditions(const Model& model, const std::string& stack, const std::string& format) const {
        Conditions c;
        c.stack = stack;
        c.keep_subgraphs = true; // lanes, for intervals
        c.precision = file_format(format);
        c.kv_cache = request_.kv_cache;
        if (const auto& own = model.info.products; own && own->weight_bits_overhead != 0)
            c.precision = *own; // a type of files says its bits
        return c;
    }

    /// The format that a checkpoint's weights have where one is asked for: what it holds in fewer bits is no
    /// 16-bit file.
    std::string held_format(const Model& model, const std::string& asked) const {
        const auto stored = stored_as(model, asked);
        return stored ? std::string(name_of(*stored)) : asked;
    }

    /// By the published parameters in the row's format alone, without a pass of the model: more than device
    /// and host hold.
    bool surely_too_large(const Model& model, LocalModel& row) const {
        if (row.parameters <= 0 || capacity() <= 0)
            return false;
        const std::string held = held_format(model, row.format);
        const double least = row.parameters * bytes_of(file_format(held).weights);
        // In Gemma 4 E2B half of the weights are tables, which may stay with the host; of others less.
        constexpr double kTables = 0.75;
        const double on_host =
            session_.machine(answer_.device, stack_only(stack_))->param(Parameter::host_tables, 0);
        const double holds = capacity() + (request_.host.empty() ? 0 : host_capacity());
        if ((1 - kTables * on_host) * least <= holds)
            return false;
        row.format = held;
        row.memory_bytes = least;
        row.capacity_bytes = capacity();
        row.reason =
            fmt::format("{} of weights at least, {} of memory", gigabytes_text(least), gigabytes_text(holds));
        return true;
    }

    double devices() const { return static_cast<double>(request_.devices); }
    double capacity() const {
        return std::min(devices() *
                            session_.machine(answer_.device, stack_only(stack_))->memory_capacity_bytes,
                        answer_.stated_bytes);
    }
    double host_capacity() const {
        return request_.host_memory_bytes > 0
                   ? left_by_system(request_.host_memory_bytes)
                   : session_.machine(answer_.host, stack_only(host_stack_))->memory_capacity_bytes;
    }
    static Conditions stack_only(const std::string& stack) {
        Conditions c;
        c.stack = stack;
        return c;
    }

    std::optional<Passes> passes(const Model& model, const std::string& device, const std::string& stack,
                                 const std::string& format, LocalModel& row) const {
        const auto language = model.prepared->language(model, {});
        Result made = asked(nullptr, device,
                            settled(conditions(model, stack, format), {.model = model, .prompt = Prompt{}}));
        auto runner = make_runner(session_, *language, made);
        if (!runner) {
            row.reason = made.estimate.reason;
            return std::nullopt;
        }
        Passes out;
        const std::int64_t context = request_.context;
        if (const auto& lm = language->bound(1, 1, context - 1)->model().info.language_model) {
            out.layers = static_cast<std::int64_t>(lm->layers);
            if (lm->max_context > 0 && static_cast<double>(context) > lm->max_context) {
                row.reason = fmt::format("limited to a context of {:.0f}", lm->max_context);
                return std::nullopt;
            }
        }
        out.fits = held(*runner, context, out.memory);
        out.token = runner->decode(1, context - 1, context, true);
        out.first = runner->prefill(1, context - kAnswer, context, true);
        for (Estimate* e : {&out.token, &out.first})
            if (e->status != Status::ok) {
                row.reason = e->reason;
                return std::nullopt;
            }
        if (has_experts(runner->model().bound(1, 1, context - 1)->graph())) {
            // A prompt is read in passes; experts have the same part of each.
            const std::int64_t chunk = std::min(kChunk, context - kAnswer);
            const auto piece = runner->work(1, chunk, context - chunk);
            add_experts(*piece, runner->price(*piece, true), *runner->work(1, 1, context - 1),
                        out.memory.weight_bytes, out);
        }
        return out;
    }

    /// Whether memory holds the passes up to the end of the context; `need` is that of the larger. From here
    /// on the runner does not look at it.
    bool held(StepRunner& runner, std::int64_t context, MemoryEstimate& need) const {
        const std::int64_t chunk = std::min(kChunk, context - kAnswer);
        const Estimate piece = runner.price(*runner.work(1, chunk, context - chunk)),
                       last = runner.decode(1, context - 1, context);
        const bool fits = piece.status == Status::ok && last.status == Status::ok;
        runner.ignore_capacity();
        need = piece.memory.peak_bytes > last.memory.peak_bytes ? piece.memory : last.memory;
        const auto& lm = runner.model().bound(1, 1, context - 1)->model().info.language_model;
        const double kept = need.weight_bytes + need.kv_cache_bytes;
        if (lm && server_memory(runner.machine(), 0, data_table("servers.json")).every_logit)
            need.peak_bytes = kept + std::max(need.peak_bytes - kept, llama_output_bytes(*lm, chunk));
        need.peak_bytes += (devices() - 1) * (need.peak_bytes - kept); // each has what its layers pass on
        return devices() > 1 ? need.peak_bytes <= capacity()
                             : fits && memory_pools(need, runner.machine()).fits();
    }

    /// The same for a model that was named, with its cache in a format.
    bool fits(const Model& model, Conditions c, std::int64_t context, std::optional<Precision> cache) const {
        c.kv_cache = cache;
        const auto language = model.prepared->language(model, {});
        Result made = asked(nullptr, answer_.device, settled(c, {.model = model, .prompt = Prompt{}}));
        auto runner = make_runner(session_, *language, made);
        MemoryEstimate need;
        return runner && held(*runner, context, need) && need.peak_bytes <= answer_.stated_bytes;
    }

    /// Alternatives where the whole does not fit: a shorter context, and all of it with a narrower cache;
    /// where the weights do not, another file.
    std::string what_fits(const Model& model, const std::string& format) const {
        const Conditions as_asked = conditions(model, stack_, format);
        constexpr std::int64_t kStep = 1024;
        std::int64_t held = 0, over = (request_.context + kStep - 1) / kStep;
        while (over - held > 1) {
            const std::int64_t half = held + (over - held) / 2;
            (fits(model, as_asked, half * kStep, request_.kv_cache) ? held : over) = half;
        }
        std::string text = held > 0 ? fmt::format("; a context of {} fits", held * kStep) : std::string();
        for (const auto& [cache, name] :
             {std::pair(Precision::int8, "q8_0"), std::pair(Precision::int4, "q4_0")})
            if (!request_.kv_cache && fits(model, as_asked, request_.context, cache))
                return text + fmt::format("{} --kv-cache {}",
                                          held > 0 ? ", the whole with" : "; it fits with", name);
        for (const std::string_view type : {"Q8_0", "Q4_K_M", "Q3_K_M", "Q2_K"}) {
            Conditions narrower = as_asked;
            narrower.precision = file_format(std::string(type));
            if (held == 0 && answer_.runtime == kLlamaCpp &&
                fits(model, narrower, request_.context, request_.kv_cache))
                return text + fmt::format("; a file in {} fits", type);
        }
        return text + (request_.host.empty() && !answer_.processor
                           ? "; a processor beside it takes some of the layers: --host PROCESSOR"
                           : "");
    }

    static LocalRate rate(double tokens, double seconds, const Interval& interval) {
        return {tokens / seconds, tokens / interval.high, tokens / interval.low};
    }

    void answer(const Model& model, LocalModel& row) const {
        const std::string format = row.format;
        const auto whole = passes(model, answer_.device, stack_, format, row);
        if (!whole)
            return;
        row.format = held_format(model, format);
        const auto prompt = static_cast<double>(request_.context - kAnswer);
        row.memory_bytes = whole->memory.peak_bytes;
        row.capacity_bytes = std::min(devices() * whole->memory.capacity_bytes, answer_.stated_bytes);
        row.doubt = doubt_of(whole->token);
        row.layers = whole->layers;
        if (row.parameters <= 0)
            row.parameters = model.prepared->language(model, {})->bound(1, 1, 1)->graph().parameters();
        row.device_layers = row.layers;
        if (whole->fits && row.memory_bytes <= row.capacity_bytes) {
            row.runs = true;
            row.prompt = rate(prompt, whole->first.latency_s, whole->first.latency_interval);
            row.output = rate(1, whole->token.latency_s, whole->token.latency_interval);
        } else {
            split(model, *whole, prompt, format, row);
        }
    }

    /// Whole layers on the device, the others on the host, or experts of some where that is faster.
    void split(const Model& model, const Passes& whole, double prompt, const std::string& format,
               LocalModel& row) const {
        const MemoryEstimate& m = whole.memory;
        row.reason = fmt::format("needs {}, {} of memory", gigabytes_text(row.memory_bytes),
                                 gigabytes_text(row.capacity_bytes));
        if (!request_.models.empty())
            row.reason += what_fits(model, format);
        if (request_.host.empty() || answer_.host == answer_.device)
            return;
        const auto layers = static_cast<double>(row.layers);
        std::vector<HostPart> parts = host_parts(whole, m, layers, row.memory_bytes - row.capacity_bytes);
        if (parts.empty()) {
            row.reason += "; what is no layer does not fit either";
            return;
        }
        const double whole_layers = parts.front().bytes;
        std::erase_if(parts, [&](const HostPart& part) { return part.bytes > host_capacity(); });
        if (parts.empty()) {
            row.reason += fmt::format("; the {} beside it do not fit the host's {}",
                                      gigabytes_text(whole_layers), gigabytes_text(host_capacity()));
            return;
        }
        LocalModel beside = row;
        const auto host = passes(model, answer_.host, host_stack_, format, beside);
        if (!host) {
            row.reason += "; on the host: " + beside.reason;
            return;
        }
        for (HostPart& part : parts)
            add_times(whole, *host, layers, part);
        const HostPart& fastest = *std::ranges::min_element(parts, {}, &HostPart::token_s);
        row.runs = true;
        row.reason.clear();
        row.host_bytes = fastest.bytes;
        const auto moved = static_cast<std::int64_t>(fastest.layers);
        (fastest.experts ? row.expert_layers : row.device_layers) =
            fastest.experts ? moved : row.layers - moved;
        row.prompt = rate(prompt, fastest.first_s, fastest.first);
        row.output = rate(1, fastest.token_s, fastest.token);
    }

    /// A network of images or sound, in the format that is usual for the device.
    void look(const Model& model, LocalModel& row) const {
        Conditions c;
        c.format_of_device = true;
        const Result result = session_.estimate({.model = model}, answer_.device, c);
        const Estimate& e = result.estimate;
        row.reason = e.reason;
        if (!result.ok())
            return;
        row.runs = true;
        row.reason.clear();
        row.format = name_of(e.executed.weights);
        row.doubt = doubt_of(e);
        row.memory_bytes = e.memory.peak_bytes;
        row.capacity_bytes = e.memory.capacity_bytes;
        row.output = rate(1, e.latency_s, e.latency_interval);
    }

    const Session& session_;
    LocalAnswer& answer_;
    LocalRequest request_;
    std::string stack_, host_stack_;
};

/// Throws UsageError for a host that is none, or beside a processor, and for several devices that are no
/// cards.
static void check_machine(const Session& session, const LocalRequest& request, bool processor, bool card) {
    if (!request.host.empty() && request.host != request.device &&
        (processor || !session.hardware().device(request.host).device->family.row().is_host))
        throw UsageError(fmt::format("the host {}: {}", request.host,
                                     processor ? request.device + " is a processor, which has none beside it"
                                               : "it is no processor"));
    if (request.devices < 1 || (request.devices > 1 && (!card || request.kind != LocalKind::language)))
        throw UsageError(fmt::format("{} devices: language models alone are divided, among one or more cards",
                                     request.devices));
}

/// 24 for "24GB" and "24 GiB"; 0 for any other text.
static double gigabytes_in(std::string_view size) {
    size.remove_prefix(std::min(size.find_first_not_of(' '), size.size()));
    const double number = take_number<double>(size).value_or(0);
    const std::string unit = bare_name(size);
    return number > 0 && (unit == "gb" || unit == "gib") ? number : 0;
}

double stated_memory(std::string_view machine) {
    const std::string_view size = machine.substr(std::min(machine.rfind(','), machine.size() - 1) + 1);
    return gigabytes_in(size) * 0x1p30; // modules hold powers of two
}

void take_machine(const Session& session, const std::string& machine, LocalRequest& request) {
    request.host_memory_bytes = stated_memory(machine);
    // "M4 Max 128GB", "M4 Max, 128 GB", "M4 Max@128GB"
    for (std::size_t at = 0; at < machine.size() && !request.memory_named; ++at)
        request.memory_named = gigabytes_in(std::string_view(machine).substr(at)) > 0;
    const DeviceChoice choice = session.hardware().device(machine);
    request.device = choice.device->id;
    request.devices *= static_cast<std::int64_t>(choice.devices); // "2x RTX 3090"
    if (choice.device->in_computer && request.host.empty())       // "i9-14900K + RTX 4090"
        request.host = choice.device->host;
    const bool sized = choice.power_mode.ends_with("GB"); // the memory of that computer
    if (!choice.power_mode.empty() && (sized || choice.power_mode != choice.device->default_power_mode))
        request.device += "@" + choice.power_mode;
}

PrecisionConfig file_format(const std::string& format) {
    const auto type = gguf_format(format);
    return type ? *type : precision_named(format, "--formats");
}

std::string local_stack(const Session& session, const std::string& device) {
    return language_runtime(session.hardware(), *session.hardware().device(device).device, "model.gguf");
}

LocalAnswer local_models(const Session& session, const LocalRequest& request,
                         const std::function<void(std::size_t, std::size_t)>& progress) {
    if (request.context < kShortestContext)
        throw UsageError(
            fmt::format("--context: {} positions are too few, from {}", request.context, kShortestContext));
    LocalAnswer answer;
    answer.request = request;
    if (!request.least_tokens_per_s)
        answer.request.least_tokens_per_s =
            request.kind == LocalKind::language && request.models.empty() ? kReadable : 0;
    answer.device = request.device;
    answer.host = request.host;
    const DeviceChoice choice = session.hardware().device(request.device);
    answer.processor = choice.device->family.row().is_host;
    const bool card = !answer.processor && choice.device->host_link_type != "shared memory";
    check_machine(session, request, answer.processor, card);
    if (choice.device->dram && !card && choice.power_mode.empty() && !request.memory_named)
        answer.computer_bytes = choice.device->dram->capacity.value_or(0);
    if (answer.processor && request.host_memory_bytes > 0) // its computer's
        answer.stated_bytes = left_by_system(request.host_memory_bytes);
    const bool language = request.kind == LocalKind::language;
    if (language && request.host.empty() && card)
        answer.unused_bytes = request.host_memory_bytes;
    const std::string stack = language ? local_stack(session, request.device) : std::string();
    answer.runtime = session.hardware().runtime_for(*choice.device, stack)->id;
    const std::string host_stack =
        language && !request.host.empty() ? local_stack(session, request.host) : std::string();

    std::vector<CatalogueEntry> entries = mapped(request.models, [&](const std::string& name) {
        CatalogueEntry entry = session.load(name).info;
        entry.source = name; // to load it by
        return entry;
    });
    if (entries.empty()) {
        entries = kept(session.catalogue().entries(),
                       [&](const CatalogueEntry& entry) { return is_asked(entry, request.kind); });
        const std::vector<ModelPart> parts = flattened(entries, &CatalogueEntry::parts); // of others
        std::erase_if(entries, [&](const CatalogueEntry& entry) {
            return contains(parts, entry.name, &ModelPart::model);
        });
    }
    if (entries.empty())
        throw InputError(fmt::format("no {} models: there is no catalogue of models in {}",
                                     name_of(request.kind), data_dir().string()));
    answer.considered = entries.size();
    const LocalRunner runner(session, answer, stack, host_stack);
    std::vector<std::vector<LocalModel>> rows(entries.size());
    std::atomic<std::size_t> done = 0;
    in_parallel(entries.size(), all_threads(), [&](std::size_t i) {
        rows[i] = runner.run(entries[i]);
        if (progress)
            progress(++done, entries.size());
    });
    std::ranges::stable_sort(rows, std::ranges::greater{},
                             [](const std::vector<LocalModel>& own) { return own.front().parameters; });
    for (std::vector<LocalModel>& own : rows)
        append(answer.models, std::move(own));
    return answer;
}

} // namespace archsim
