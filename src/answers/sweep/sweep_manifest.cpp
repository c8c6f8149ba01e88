#include "answers/sweep/sweep_manifest.hpp"

#include "archsim/core/version.hpp"
#include "core/json_document.hpp"
#include "core/text_file.hpp"
#include "fields/question.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace archsim {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kSweepSchema = "archsim.sweep/6";

std::string line_of(const Json& document) {
    return document.dump(-1, ' ', false, Json::error_handler_t::replace); // names of files may be no UTF-8
}

std::string request_of(Json manifest) {
    manifest.erase("shard");
    manifest.erase("shards");
    return line_of(manifest);
}

} // namespace

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
    // What is the same for every point; its format, batch and weights are those above.
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
