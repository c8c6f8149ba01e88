#include "answers/sweep/sweep_file.hpp"

#include "answers/sweep/sweep_worker.hpp"
#include "archsim/core/version.hpp"
#include "core/embedded_files.hpp"
#include "core/json_document.hpp"
#include "core/text_file.hpp"
#include "fields/question.hpp"
#include "graph/graph_digest.hpp"
#include "hardware/energy_table.hpp"
#include "hardware/stated_facts.hpp"
#include "session/given.hpp"

#include <nlohmann/json.hpp>
#include <set>

namespace archsim {

namespace fs = std::filesystem;

static void add_sizes(const std::map<std::string, std::int64_t>& sizes, Digest& digest) {
    digest.number(sizes.size());
    for (const auto& [name, size] : sizes) {
        digest.text(name);
        digest.number(size);
    }
}

static void add_formats(const PrecisionConfig& formats, Digest& digest) {
    const auto& [compute, activations, weights, kv_cache, weight_bits_overhead, head_bits, table_bits,
                 cache_bits, convolutions, strict_fp32, autocast, requantized] = formats;
    for (const Precision format : {compute, activations, weights, kv_cache, convolutions.value_or(compute)})
        digest.number(format);
    for (const double bits : {weight_bits_overhead, head_bits, table_bits, cache_bits})
        digest.number(bits);
    for (const bool flag : {convolutions.has_value(), strict_fp32, autocast, requantized})
        digest.number(flag);
}

/// Adds the catalogue's facts of a model beside its graph.
static void add_entry(const CatalogueEntry& entry, Digest& digest) {
    // Titles and where it was found decide nothing; buffers are marked in the graph. A member that is added
    // does not compile until somebody decides.
    const auto& [name, title, family, task, kind, source, aliases, file, dims, buffers,
                 not_exported_parameters, macs_formula, published, parts, language_model, format, products] =
        entry;
    for (const std::string* text : {&name, &family, &task, &kind})
        digest.text(*text);
    add_sizes(dims, digest);
    digest.number(not_exported_parameters);
    digest.number(parts.size());
    for (const ModelPart& part : parts) {
        const auto& [part_name, model, repeat, part_dims, times] = part;
        digest.text(part_name);
        digest.text(model);
        digest.number(repeat);
        add_sizes(part_dims, digest);
        digest.number(times.size());
        for (const std::string& size : times)
            digest.text(size);
    }
    for (const auto& stated : {format, products}) {
        digest.number(stated.has_value());
        if (stated)
            add_formats(*stated, digest);
    }
    digest.number(language_model.has_value());
    if (language_model) {
        const auto& [layers, hidden, heads, kv_heads, head_size, vocabulary, max_context, experts,
                     active_experts] = *language_model;
        for (const double value :
             {layers, hidden, heads, kv_heads, head_size, vocabulary, max_context, experts, active_experts})
            digest.number(value);
    }
}

static void add_model(const Model& model, Digest& digest) {
    add_entry(model.info, digest);
    digest.number(model.graph != nullptr);
    if (model.graph)
        add_graph(*model.graph, digest);
    digest.number(model.parts.size());
    for (const Model& part : model.parts)
        add_model(part, digest);
}

/// Every file of a database below a folder, or the one file that is named.
static std::vector<fs::path> files_below(const fs::path& place) {
    if (is_embedded(place))
        return embedded_files_below(place);
    std::error_code unknown;
    if (!fs::is_directory(place, unknown))
        return {place};
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(place, unknown))
        if (entry.path().extension() == ".json" && entry.is_regular_file(unknown))
            files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

/// The database as it is now: which of its files decide is seldom all of them, but each of them may.
class DigestedFiles {
  public:
    explicit DigestedFiles(Digest& digest) : digest_(digest) {}
    /// Names count from `place` on: the same database in another folder is the same.
    void add(const fs::path& place) {
        for (const fs::path& file : files_below(place)) {
            if (!is_text_file(file) || !seen_.insert(file.string()).second)
                continue;
            digest_.text(file == place ? file.filename().string() : file.lexically_relative(place).string());
            digest_.text(read_text_file(file));
        }
    }

  private:
    Digest& digest_;
    std::set<std::string> seen_;
};

/// Numbers of a device or stack with what it extends: of entries that are made of the machine at hand, too.
static void add_stated(const std::vector<StatedFact>& facts, Digest& digest) {
    digest.number(facts.size());
    for (const StatedFact& fact : facts) {
        digest.text(fact.where);
        digest.number(fact.value);
        digest.text(fact.unit);
    }
}

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kSweepSchema = "archsim.sweep/6";

static std::string line_of(const Json& document) {
    return document.dump(-1, ' ', false, Json::error_handler_t::replace); // names of files may be no UTF-8
}

static std::string request_of(Json manifest) {
    manifest.erase("shard");
    manifest.erase("shards");
    return line_of(manifest);
}

std::string content_of(const Session& session, const SweepRequest& request, std::span<const Model> models) {
    Digest digest;
    for (const Model& model : models)
        add_model(model, digest);
    digest.text(request.hardware.empty() ? std::string() : measured_key(session, request.hardware.front()));
    DigestedFiles files(digest);
    const HardwareDatabase& hardware = session.hardware();
    const fs::path energy = session.energy().file();
    files.add(energy.parent_path());
    for (const fs::path& overlay : request.overlays)
        files.add(overlay);
    for (const std::string& name : request.hardware) {
        const DeviceChoice choice = hardware.device(name);
        digest.text(choice.device->id);
        digest.text(choice.power_mode);
        add_stated(hardware.device_facts(name), digest);
        files.add(choice.device->file);
        if (!choice.device->host.empty())
            add_stated(hardware.device_facts(choice.device->host), digest);
        try {
            const auto stack = hardware.runtime_for(*choice.device, request.conditions.stack);
            digest.text(stack->id);
            add_stated(hardware.runtime_facts(stack->id), digest);
            files.add(stack->file);
        } catch (const InputError& none) { // which is what its rows say
            digest.text(none.what());
        }
    }
    return digest.hex();
}

fs::path beside(const fs::path& file, std::string_view ending) {
    fs::path other = file;
    other += ending;
    return other;
}

std::string sweep_manifest(const Sweep& sweep, RowFormat format) {
    const SweepRequest& q = sweep.request();
    Json metrics = Json::array();
    for (const MetricField& field : fields_of(*q.view.metrics))
        metrics.push_back(field.key());
    Json axes = Json::array(); // their order decides that of the points
    for (const SweepAxis& axis : q.axes)
        axes.push_back({{"name", axis.name}, {"factors", axis.factors}});
    Json request = {{"models", q.models},
                    {"hardware", q.hardware},
                    {"precisions", q.precisions},
                    {"batch_sizes", q.batches},
                    {"weights", q.weights ? Json(name_of(*q.weights)) : Json(nullptr)}};
    // The fields that are the same for every point; its format, batch and weights are those above.
    constexpr std::string_view kAxes[] = {"precision", "batch_size", "weights"};
    const Question same{{.sizes = q.sizes, .prompt = q.prompt}, q.conditions};
    request["question"] = Json::parse(question_key(same, kAxes));
    request.update({{"axes", axes},
                    {"metrics", metrics},
                    {"conditions",
                     {{"kwh_price", q.view.conditions.kwh_price},
                      {"years", q.view.conditions.years},
                      {"utilization", q.view.conditions.utilization},
                      {"pue", q.view.conditions.pue},
                      {"grid_intensity", q.view.conditions.grid_intensity}}},
                    {"format", format == RowFormat::csv ? "csv" : "ndjson"}});
    return line_of({{"schema", kSweepSchema},
                    {"version", version()},
                    {"content", sweep.content()},
                    {"request", std::move(request)},
                    {"points", sweep.size()},
                    {"shard", q.shard},
                    {"shards", q.shards}});
}

SweepDescription read_description(const fs::path& file) {
    const fs::path path = beside(file, ".json");
    std::error_code unknown;
    if (!fs::is_regular_file(path, unknown))
        throw InputError(fs::exists(beside(file, ".partial"), unknown)
                             ? fmt::format("{}: is not finished; run it again with --resume", file.string())
                             : fmt::format("{}: there is no {} that says which sweep it belongs to",
                                           file.string(), path.filename().string()));
    Json document =
        Json::parse(bounded_json(read_text_file(path), path.string(), JsonKeys::as_written), nullptr, false);
    const auto is = [&](const char* key, auto holds) {
        return document.contains(key) && (document[key].*holds)();
    };
    const auto counted = [&](const char* key) { return is(key, &Json::is_number_unsigned); };
    const auto text = [&](const char* key) { return is(key, &Json::is_string); };
    if (!document.is_object() || !text("schema") || document["schema"] != kSweepSchema || !text("digest") ||
        !is("request", &Json::is_object) || !counted("points") || !counted("shard") || !counted("shards") ||
        !counted("bytes"))
        throw InputError(path.string() + ": is not the description of a sweep, or that of another version's");
    SweepDescription found;
    found.shard = document["shard"].get<std::uint64_t>();
    found.shards = document["shards"].get<std::uint64_t>();
    found.bytes = document["bytes"].get<std::uint64_t>();
    found.digest = document["digest"].get<std::string>();
    found.has_header = document["request"].contains("format") && document["request"]["format"] == "csv";
    document.erase("bytes");
    document.erase("digest");
    found.manifest = line_of(document);
    found.request = request_of(document);
    return found;
}

std::string description_text(const std::string& manifest, std::uintmax_t bytes, const Digest& digest) {
    Json document = Json::parse(manifest);
    document["bytes"] = bytes;
    document["digest"] = digest.hex();
    return document.dump(2) + "\n";
}

std::string whole_manifest(const SweepDescription& shard) {
    Json document = Json::parse(shard.manifest);
    document["shard"] = 0;
    document["shards"] = 1;
    return line_of(document);
}

} // namespace archsim
