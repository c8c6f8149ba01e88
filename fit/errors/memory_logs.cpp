#include "fit/errors/serving_peers.hpp"

#include "answers/local/local_models.hpp"
#include "archsim/core/finding.hpp"
#include "archsim/run/serve.hpp"
#include "core/csv_reader.hpp"
#include "core/parse_number.hpp"
#include "core/text_file.hpp"
#include "result/format_parts.hpp"
#include "session/generation/language_model.hpp"
#include "session/prepared.hpp"
#include "session/server/server.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>

namespace archsim {

constexpr std::array<std::string_view, 11> kLogColumns = {"engine", "model",   "precision",   "tensor",
                                                          "device", "context", "step_tokens", "quantity",
                                                          "value",  "unit",    "source"};
constexpr std::array<std::pair<std::string_view, double>, 5> kLogUnits = {
    {{"B", 1}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"GB", 1e9}, {"tokens", 0}}};

/// One line of the file.
struct MemoryLogLine {
    const CsvRecord& record;
    std::string where;

    const std::string& text(std::string_view column) const {
        return record.fields[static_cast<std::size_t>(
            std::find(kLogColumns.begin(), kLogColumns.end(), column) - kLogColumns.begin())];
    }
    double number(std::string_view column, double otherwise) const {
        if (text(column).empty())
            return otherwise;
        const auto value = parse_real(text(column));
        if (!value || *value < 0)
            throw InputError(fmt::format("{}: {}: \"{}\" is no number from 0", where, column, text(column)));
        return *value;
    }
};

/// Servers, each made once: many rows are of the same model.
class LoggedServers {
  public:
    explicit LoggedServers(const Session& session) : session_(session) {}

    Server& at(const MemoryLogRow& row, std::int64_t longest) {
        const std::string key = fmt::format("{}|{}|{}|{}|{}|{}", row.engine, row.model, row.precision,
                                            row.device, row.tensor, longest);
        auto& made = servers_[key];
        if (!made) {
            Conditions conditions{.precision = precision_named(row.precision), .stack = row.engine};
            ServingRequest request;
            request.load.rate_per_s = 1;
            request.load.count = 1;
            if (longest > 0) {
                request.load.prompt_tokens = static_cast<double>(longest - 1);
                request.load.output_tokens = 1;
            }
            request.parallelism = Parallelism{.tensor = row.tensor};
            made =
                std::make_unique<Server>(session_, session_.load(row.model), row.device, conditions, request);
        }
        return *made;
    }

  private:
    const Session& session_;
    std::map<std::string, std::unique_ptr<Server>> servers_;
};

/// The device with the most memory that the engine serves, the first by name: what a model takes does not
/// depend on the device.
static std::string roomiest_device(const Session& session, const std::string& engine) {
    const auto runtime = session.hardware().runtime(engine);
    std::vector<Finding> findings;
    std::string name;
    double most = 0;
    for (const auto& device : session.hardware().all_devices(findings)) {
        const double capacity = device->dram ? device->dram->capacity.value_or(0) : 0;
        if (runtime->serves(*device) && capacity > most) {
            most = capacity;
            name = device->id;
        }
    }
    return name;
}

static std::optional<LanguageModel> language_of(const Session& session, const std::string& name) {
    const Model model = session.load(name);
    return model.prepared->language(model, {})->bound(1, 1, 1)->model().info.language_model;
}

static void estimate_log(const Session& session, LoggedServers& servers, std::int64_t step_tokens,
                         MemoryLogRow& row) {
    const bool ran_out = row.quantity == "ran_out";
    Server& server = servers.at(row, ran_out ? row.context : 0);
    const auto devices = static_cast<double>(row.tensor);
    if (ran_out) {
        row.fits = server.ready();
        row.ours = server.basis().cache_room_bytes / devices;
        return;
    }
    if (!server.ready()) {
        row.problem = server.basis().reason;
        return;
    }
    if (row.quantity == "weights")
        row.ours = server.prices().weight_bytes();
    else if (row.quantity == "cache_per_token")
        row.ours = server.basis().cache_bytes_per_token / devices;
    else if (row.quantity == "cache")
        row.ours = server.prices().cache_bytes(static_cast<double>(row.context)) / devices;
    else if (row.quantity == "room")
        row.ours = server.basis().cache_room_bytes / devices;
    else if (const auto lm = language_of(session, row.model))
        row.ours = llama_output_bytes(*lm, step_tokens);
    else
        row.problem = "the model does not say its vocabulary";
}

std::vector<MemoryLogRow> compare_memory_logs(const Session& session, const std::string& file) {
    const std::vector<CsvRecord> records = parse_csv(read_text_file(file));
    if (records.empty() || !std::equal(kLogColumns.begin(), kLogColumns.end(), records[0].fields.begin(),
                                       records[0].fields.end()))
        throw InputError(
            fmt::format("{}: line 1: expected the columns {}", file, fmt::join(kLogColumns, ",")));
    constexpr std::array<std::string_view, 6> kQuantities = {"weights", "cache_per_token", "cache", "compute",
                                                             "room",    "ran_out"};
    LoggedServers servers(session);
    std::vector<MemoryLogRow> rows;
    for (std::size_t i = 1; i < records.size(); ++i) {
        const MemoryLogLine line{records[i], fmt::format("{}: line {}", file, records[i].line)};
        if (records[i].fields.size() != kLogColumns.size())
            throw InputError(fmt::format("{}: {} fields, {} columns", line.where, records[i].fields.size(),
                                         kLogColumns.size()));
        MemoryLogRow& row = rows.emplace_back();
        row.engine = line.text("engine");
        row.model = line.text("model");
        row.precision = line.text("precision");
        row.quantity = line.text("quantity");
        row.source = line.text("source");
        row.device = line.text("device");
        row.tensor = static_cast<std::int64_t>(line.number("tensor", 1));
        row.context = static_cast<std::int64_t>(line.number("context", 0));
        if (row.device.empty())
            row.device = roomiest_device(session, row.engine);
        if (std::find(kQuantities.begin(), kQuantities.end(), row.quantity) == kQuantities.end())
            throw InputError(fmt::format("{}: quantity: expected one of {}, got \"{}\"", line.where,
                                         fmt::join(kQuantities, ", "), row.quantity));
        const auto* const unit = std::find_if(kLogUnits.begin(), kLogUnits.end(),
                                              [&](const auto& u) { return u.first == line.text("unit"); });
        if (unit == kLogUnits.end())
            throw InputError(
                fmt::format("{}: unit: \"{}\" is none of B, MiB, GiB, GB", line.where, line.text("unit")));
        row.logged = line.number("value", 0) * unit->second;
        estimate_log(session, servers, static_cast<std::int64_t>(line.number("step_tokens", 0)), row);
    }
    return rows;
}

} // namespace archsim
