// check_hardware: schema, reading, lints, and names across the files of a database.

#include "core/data_dir.hpp"
#include "hardware/energy_table.hpp"
#include "hardware/spread_rows.hpp"

#include "core/embedded_files.hpp"
#include "core/text.hpp"
#include "hardware/device_files.hpp"
#include "hardware/device_reader.hpp"
#include "hardware/parameter_site.hpp"
#include "hardware/schema_check.hpp"

#include <fmt/format.h>
#include <set>

namespace archsim {

namespace fs = std::filesystem;
/// The reader explains a defect better than the schema; the schema adds what the reader does not ask for.
static void append_schema_findings(std::vector<Finding> violations, std::vector<Finding>& findings) {
    const std::size_t own = findings.size();
    for (Finding& violation : violations) {
        const bool known =
            std::any_of(findings.begin(), findings.begin() + static_cast<std::ptrdiff_t>(own),
                        [&](const Finding& f) { return same_place(f.where, violation.where); });
        if (!known)
            findings.push_back(std::move(violation));
    }
}

class Checker {
  public:
    Checker(const fs::path& root, std::vector<fs::path> overlays)
        : root_(root), files_(list_database(root, overlays)),
          schema_((root / "schema.json").string(), findings_),
          runtime_schema_((root / "runtime_schema.json").string(), findings_) {}

    void device(const DatabaseEntry& entry) {
        std::vector<Finding> own;
        if (const auto document = files_.document(entry, own))
            whole_device(entry, document->root, own);
        else if (const auto part = parse_document(entry.file, unreported_))
            part_of_device(entry, part->root, own);
        append(std::move(own));
    }

    void runtime(const DatabaseEntry& entry) {
        std::vector<Finding> own;
        const auto document = files_.runtime_document(entry, own);
        if (document) {
            const auto read = read_runtime(document->root, entry.file, own);
            append_schema_findings(runtime_schema_.validate(document->root.copy(), entry.file), own);
            if (read != nullptr) {
                file_name(entry.file, read->id, entry.id, own);
                if (read->rules)
                    for (const std::string& name : unknown_operators(*read->rules))
                        own.push_back(finding(FindingKind::unknown_name, entry.file, "/operators",
                                              fmt::format("no operator is called \"{}\"", name),
                                              "use the names of list_operators"));
                runtimes_.push_back(read);
            }
        }
        append(std::move(own));
    }

    /// Every file of the layers from `first_layer` on.
    void run(std::size_t first_layer) {
        first_layer_ = first_layer;
        for (const auto& [key, entries] : files_.index().devices) {
            for (std::size_t i = 0; i < entries.size(); ++i) {
                if (entries[i].layer < first_layer)
                    continue;
                if (i > 0 && entries[i].layer == entries[i - 1].layer)
                    append({finding(FindingKind::duplicate, entries[i].file, "/id",
                                    fmt::format("{} also defines this id", entries[i - 1].file),
                                    "rename or remove one of them")});
                device(entries[i]);
            }
        }
        for (const auto& [key, entries] : files_.index().runtimes)
            if (entries.back().layer >= first_layer)
                runtime(entries.back());
        for (const auto& device : devices_)
            names(*device);
        energies();
        // Generations are known only where every device was read.
        if (first_layer == 0) {
            generations();
            instruction_sets();
            append(claims_beyond_measured(runtimes_));
            percentiles();
            servers();
            tables();
        }
        deployments();
    }

    std::vector<Finding> take() { return std::move(findings_); }

  private:
    static Finding finding(FindingKind kind, std::string file, std::string where, std::string message,
                           std::string hint) {
        return {.kind = kind,
                .message = std::move(message),
                .file = std::move(file),
                .where = std::move(where),
                .hint = std::move(hint)};
    }

    void append(std::vector<Finding> more) {
        findings_.insert(findings_.end(), std::make_move_iterator(more.begin()),
                         std::make_move_iterator(more.end()));
    }

    void whole_device(const DatabaseEntry& entry, const JsonValue& document, std::vector<Finding>& own) {
        if (const std::string_view name = document.text_at("generation"); !name.empty())
            generations_.insert(lower_case(name));
        DeviceReading read = read_device_fields(document, entry.file);
        own.insert(own.end(), read.findings.begin(), read.findings.end());
        append_schema_findings(schema_.validate(document.copy(), entry.file), own);
        for (Finding& lint : lint_device(*read.device, read.findings))
            own.push_back(std::move(lint));
        identity(entry, *read.device, own);
        rental(*read.device, own);
        devices_.push_back(std::move(read.device));
    }

    /// A device for servers is rented, or its file says why not; a price per hour says in which market.
    static void rental(const Device& device, std::vector<Finding>& own) {
        if (device.cloud_price && device.cloud_price->amount.known() && device.cloud_price->market.empty())
            own.push_back(finding(FindingKind::missing_field, device.file, "/price/cloud/market",
                                  "a price per hour compares with those of its own market alone",
                                  R"(add "market": hyperscaler, specialised cloud or marketplace)"));
        if (device.for_servers && !device.cloud_price)
            own.push_back(finding(FindingKind::missing_field, device.file, "/price",
                                  "the device is sold for servers and states no price per hour",
                                  R"(add "cloud", or "not_rented" with a reason and a date)"));
    }

    /// Checks what a device that extends nothing usable states itself. Absent fields and names may be its
    /// base's.
    void part_of_device(const DatabaseEntry& entry, const JsonValue& document, std::vector<Finding>& own) {
        DeviceReading read = read_device_fields(document, entry.file);
        for (Finding& f : read.findings) {
            const bool of_the_base = f.kind == FindingKind::missing_source ||
                                     f.kind == FindingKind::unknown_name ||
                                     (f.kind == FindingKind::missing_field && !f.where.ends_with("/unit"));
            if (!of_the_base)
                own.push_back(std::move(f));
        }
        devices_.push_back(std::move(read.device));
    }

    static void file_name(const std::string& file, const std::string& id, const std::string& stem,
                          std::vector<Finding>& own) {
        if (id != stem)
            own.push_back(finding(FindingKind::inconsistent, file, "/id",
                                  fmt::format("the id \"{}\" differs from the file's name", id),
                                  fmt::format("call the file {}.json", id)));
    }

    /// The id is the file's name, and the family the folder's.
    static void identity(const DatabaseEntry& entry, const Device& device, std::vector<Finding>& own) {
        const auto known = [&](std::string_view place, std::string_view field) {
            return std::ranges::any_of(own, [&](const Finding& f) {
                return f.where == place || (f.where == "/" && f.message.find(field) != std::string::npos);
            });
        };
        if (!device.id.empty())
            file_name(entry.file, device.id, fs::path(entry.file).stem().string(), own);
        if (entry.family && *entry.family != device.family && !known("/family", "\"family\""))
            own.push_back(
                finding(FindingKind::inconsistent, entry.file, "/family",
                        fmt::format("a {} lies in the folder of another family", title_of(device.family)),
                        fmt::format("move it to {}/", name_of(device.family))));
    }

    /// Names that several files must agree on: ids and aliases, stacks, hosts.
    void names(const Device& device) {
        for (std::size_t i = 0; i < device.aliases.size(); ++i)
            if (const DatabaseEntry* other = claimant_before(device.aliases[i], device))
                append({finding(FindingKind::duplicate, device.file, fmt::format("/aliases/{}", i),
                                fmt::format("\"{}\" already means {}", device.aliases[i], other->id),
                                "remove one of them")});
        const auto& stacks = files_.index().runtimes;
        for (std::size_t i = 0; i < device.runtimes.size(); ++i)
            if (!stacks.empty() && !stacks.contains(name_key(device.runtimes[i])))
                append({finding(FindingKind::unknown_name, device.file, fmt::format("/runtimes/{}", i),
                                fmt::format("no software stack is called \"{}\"", device.runtimes[i]),
                                nearest_mend(device.runtimes[i], ids_of(stacks)))});
        if (!device.host.empty() && files_.find(device.host) == nullptr)
            append({finding(FindingKind::unknown_name, device.file, "/host/cpu",
                            fmt::format("no device is called \"{}\"", device.host),
                            nearest_mend(device.host, ids_of(files_.index().devices)))});
    }

    /// Another device that a name means already: one of that id, or one that claims the name as an alias and
    /// is checked before this one or not at all.
    const DatabaseEntry* claimant_before(const std::string& name, const Device& device) {
        if (claims_.empty())
            for (const auto& [key, entries] : files_.index().devices) {
                claims_.emplace(key, &entries.back());
                for (const std::string& alias : read_device_head(entries.back().file).aliases)
                    claims_.emplace(name_key(alias), &entries.back());
            }
        const auto [first, last] = claims_.equal_range(name_key(name));
        for (auto claim = first; claim != last; ++claim) {
            const DatabaseEntry& other = *claim->second;
            const bool is_id = name_key(other.id) == name_key(name);
            if (other.file != device.file && name_key(other.id) != name_key(device.id) &&
                (is_id || other.layer < first_layer_ || name_key(other.id) < name_key(device.id)))
                return &other;
        }
        return nullptr;
    }

    /// All-in energies against bare arithmetic, and what has no price, where the database has an energy table
    /// that can be read.
    void energies() {
        if (!is_text_file(root_ / "energy.json"))
            return;
        try {
            const EnergyDatabase energy(root_ / "energy.json");
            for (const auto& device : devices_)
                append(energy.price_findings(*device));
        } catch (const InputError& problem) {
            append(problem.findings());
        }
    }

    /// A misspelt generation in a stack would silently fall back to the default.
    void generations() {
        for (const auto& runtime : runtimes_) {
            const auto check = [&](const std::string& name, std::string where) {
                const bool known = generations_.contains(lower_case(name)) ||
                                   std::ranges::any_of(
                                       devices_, [&](const auto& device) { return holds_on(name, *device); });
                if (!known)
                    append(
                        {finding(FindingKind::unknown_name, runtime->file, std::move(where),
                                 fmt::format("no device is of the generation or has the link \"{}\"", name),
                                 nearest_mend(name, {generations_.begin(), generations_.end()}))});
            };
            for (std::size_t i = 0; i < runtime->generations.size(); ++i)
                if (runtime->generations[i] != "*") // every generation
                    check(runtime->generations[i], fmt::format("/generations/{}", i));
            for (const ParameterEntry& entry : runtime->parameters)
                for (const auto& [generation, fact] : entry.by_generation)
                    check(generation, place_in_stack(entry.parameter) + "/by_generation/" + generation);
        }
    }

    /// A misspelt instruction set would silently leave an engine unused.
    void instruction_sets() {
        std::set<std::string> known;
        for (const auto& device : devices_)
            for (const Engine& engine : device->engines)
                if (!engine.isa.empty())
                    known.insert(lower_case(engine.isa));
        const auto check = [&](const Runtime& runtime, const std::vector<std::string>& names,
                               std::string_view list) {
            for (std::size_t i = 0; i < names.size(); ++i)
                if (!known.contains(lower_case(names[i])))
                    append({finding(FindingKind::unknown_name, runtime.file, fmt::format("/{}/{}", list, i),
                                    fmt::format("no engine is reached by \"{}\"", names[i]),
                                    nearest_mend(names[i], {known.begin(), known.end()}))});
        };
        for (const auto& runtime : runtimes_) {
            check(*runtime, runtime->instruction_sets, "instruction_sets");
            check(*runtime, runtime->convolution_instruction_sets.value_or(std::vector<std::string>{}),
                  "convolution_instruction_sets");
        }
    }

    /// Holds a table against its schema, where the database has both; what it holds.
    std::optional<nlohmann::json> table(std::string_view name, std::vector<Finding>& problems,
                                        std::vector<Finding>& own) const {
        const std::string file = (root_ / fmt::format("{}.json", name)).string();
        auto document = is_text_file(file) ? parse_json_file(file, problems) : std::nullopt;
        if (document)
            append_schema_findings(SchemaCheck((root_ / fmt::format("{}_schema.json", name)).string(), own)
                                       .validate(*document, file),
                                   own);
        return document;
    }

    /// A row of a table is for a stack that exists. `row`: which one, for the message.
    void stack_of_row(const char* file, const char* where, const std::string& row, const std::string& stack,
                      std::vector<Finding>& own) const {
        const auto& stacks = files_.index().runtimes;
        if (!stacks.contains(name_key(stack)))
            own.push_back(finding(FindingKind::unknown_name, (root_ / file).string(), where,
                                  fmt::format("{}no software stack is called \"{}\"", row, stack),
                                  nearest_mend(stack, ids_of(stacks))));
    }

    /// Rows of percentiles, where the database has them: their schema, their order, and stacks that exist.
    void percentiles() {
        std::vector<Finding> own;
        const fs::path file = root_ / "percentiles.json";
        const auto rows = is_text_file(file) ? read_spread_rows(file, own) : std::vector<SpreadRow>();
        table("percentiles", unreported_, own);
        for (const SpreadRow& row : rows)
            stack_of_row("percentiles.json", "/rows", fmt::format("{}, {}: ", row.hardware, row.network),
                         row.stack, own);
        append(std::move(own));
    }

    /// Tables that nothing but their schema restricts, where the database has them.
    void tables() {
        for (const std::string_view name :
             {"server_benchmarks", "evidence", "grid_intensities", "microarchitectures", "pci_ids",
              "model_types", "model_releases", "reference_machines", "foreign_files"}) {
            std::vector<Finding> own;
            table(name, own, own);
            append(std::move(own));
        }
    }

    /// Checks servers.json, where there is one: its schema, and stacks that exist.
    void servers() {
        std::vector<Finding> own;
        if (const auto document = table("servers", own, own))
            for (const auto& row : document->value("servers", nlohmann::json::array()))
                stack_of_row("servers.json", "/servers", "", row.value("runtime", ""), own);
        append(std::move(own));
    }

    void deployments() {
        for (const std::string& file : files_.index().deployment_files) {
            std::vector<Finding> own;
            const auto document = parse_document(file, own);
            const auto listed =
                document ? read_deployments(document->root, file, own) : std::vector<Deployment>();
            for (std::size_t d = 0; d < listed.size(); ++d)
                for (std::size_t h = 0; h < listed[d].hardware.size(); ++h)
                    hardware_name(listed[d].hardware[h], file,
                                  fmt::format("/deployments/{}/hardware/{}", d, h), own);
            append(std::move(own));
        }
    }

    void hardware_name(const std::string& name, const std::string& file, std::string where,
                       std::vector<Finding>& own) const {
        const auto at = name.rfind('@');
        const std::string id = name.substr(0, at);
        const DatabaseEntry* entry = files_.find(id);
        if (entry == nullptr) {
            own.push_back(finding(FindingKind::unknown_name, file, std::move(where),
                                  fmt::format("no device is called \"{}\"", id),
                                  nearest_mend(id, ids_of(files_.index().devices))));
            return;
        }
        if (at == std::string::npos)
            return;
        for (const auto& device : devices_)
            if (device->id == entry->id && device->power_mode(name.substr(at + 1)) == nullptr)
                own.push_back(finding(FindingKind::unknown_name, file, std::move(where),
                                      fmt::format("{} has no power mode \"{}\"", id, name.substr(at + 1)),
                                      "see its power_modes"));
    }

    static std::vector<std::string> ids_of(const EntryTable& table) {
        std::vector<std::string> result;
        for (const auto& [key, entries] : table)
            result.push_back(entries.back().id);
        return result;
    }

    static std::string nearest_mend(std::string_view name, const std::vector<std::string>& known) {
        const auto nearest = nearest_names(name, known);
        return nearest.empty() ? std::string("name one of the database")
                               : fmt::format("is {} meant?", either_of(nearest));
    }

    std::vector<Finding> findings_, unreported_;
    fs::path root_;
    DeviceFiles files_;
    SchemaCheck schema_, runtime_schema_;
    std::vector<std::shared_ptr<const Device>> devices_; ///< as far as they could be read
    std::vector<std::shared_ptr<const Runtime>> runtimes_;
    std::set<std::string> generations_;                       ///< of every device, usable or not
    std::multimap<std::string, const DatabaseEntry*> claims_; ///< ids and aliases of all devices
    std::size_t first_layer_ = 0;                             ///< of the files that are checked
};

/// The database that a lone file or an overlay folder belongs to: the one around it, else the installed one.
static fs::path database_around(const fs::path& path) {
    std::error_code unknown;
    const fs::path around = fs::absolute(path, unknown).parent_path().parent_path();
    return is_text_file(around / "schema.json") ? around : data_dir() / "hardware_db";
}

std::vector<Finding> check_hardware(const fs::path& file_or_folder) {
    const bool database = is_text_file(file_or_folder / "schema.json");
    Checker checker =
        database ? Checker(file_or_folder, {}) : Checker(database_around(file_or_folder), {file_or_folder});
    checker.run(database ? 0 : 1);
    return checker.take();
}

} // namespace archsim
