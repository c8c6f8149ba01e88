#include "answers/sweep/sweep_shared.hpp"

#include "core/digest.hpp"
#include "core/embedded_files.hpp"
#include "core/text_file.hpp"
#include "graph/graph_digest.hpp"
#include "hardware/energy_table.hpp"
#include "hardware/stated_facts.hpp"
#include "session/measured_key.hpp"

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

void add_formats(const PrecisionConfig& formats, Digest& digest) {
    const auto& [compute, activations, weights, kv_cache, weight_bits_overhead, head_bits, table_bits,
                 cache_bits, convolutions, strict_fp32, autocast, requantized] = formats;
    for (const Precision format : {compute, activations, weights, kv_cache, convolutions.value_or(compute)})
        digest.number(format);
    for (const double bits : {weight_bits_overhead, head_bits, table_bits, cache_bits})
        digest.number(bits);
    for (const bool flag : {convolutions.has_value(), strict_fp32, autocast, requantized})
        digest.number(flag);
}

/// What the catalogue says of a model beside its graph.
void add_entry(const CatalogueEntry& entry, Digest& digest) {
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
    digest.text(request.hardware.empty() ? std::string() : measured_key(session, request.hardware.front()));
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
