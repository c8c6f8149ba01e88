#include "answers/sweep/sweep_shared.hpp"

#include "core/digest.hpp"
#include "core/embedded_files.hpp"
#include "core/text_file.hpp"
#include "graph/graph_digest.hpp"
#include "hardware/energy_table.hpp"
#include "hardware/stated_facts.hpp"

#include <algorithm>
#include <set>
#include <vector>

namespace archsim {

namespace {

namespace fs = std::filesystem;

void add_sizes(const std::map<std::string, std::int64_t>& sizes, Digest& digest) {
    digest.number(sizes.size());
    for (const auto& [name, size] : sizes) {
        digest.text(name);
        digest.number(size);
    }
}

/// What the catalogue says of a model beside its graph.
void add_entry(const CatalogueEntry& entry, Digest& digest) {
    digest.text(entry.name);
    add_sizes(entry.dims, digest);
    digest.number(entry.not_exported_parameters);
    digest.number(entry.parts.size());
    for (const ModelPart& part : entry.parts) {
        digest.text(part.name);
        digest.text(part.model);
        digest.number(part.repeat);
        add_sizes(part.dims, digest);
    }
    digest.number(entry.language_model.has_value());
    if (entry.language_model) {
        const auto& [layers, hidden, heads, kv_heads, head_size, vocabulary, max_context, experts,
                     active_experts] = *entry.language_model;
        for (const double value :
             {layers, hidden, heads, kv_heads, head_size, vocabulary, max_context, experts, active_experts})
            digest.number(value);
    }
}

void add_model(const Model& model, Digest& digest) {
    add_entry(model.info, digest);
    digest.number(model.graph != nullptr);
    if (model.graph)
        add_graph(*model.graph, digest);
    digest.number(model.parts.size());
    for (const Model& part : model.parts)
        add_model(part, digest);
}

bool is_data(const fs::path& file) {
    return file.extension() == ".json";
}

/// Every file of a database below a folder, or the one file that is named.
std::vector<fs::path> files_below(const fs::path& place) {
    if (is_embedded(place))
        return embedded_files_below(place);
    std::error_code unknown;
    if (!fs::is_directory(place, unknown))
        return {place};
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(place, unknown))
        if (is_data(entry.path()) && entry.is_regular_file(unknown))
            files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

/// The database as it is now: which of its files decide is seldom all of them, but each of them may.
class Files {
  public:
    explicit Files(Digest& digest) : digest_(digest) {}
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
void add_stated(const std::vector<StatedFact>& facts, Digest& digest) {
    digest.number(facts.size());
    for (const StatedFact& fact : facts) {
        digest.text(fact.where);
        digest.number(fact.value);
        digest.text(fact.unit);
    }
}

} // namespace

std::string content_of(const Session& session, const SweepRequest& request, std::span<const Model> models) {
    Digest digest;
    for (const Model& model : models)
        add_model(model, digest);
    Files files(digest);
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

} // namespace archsim
