#include "laws/laws.hpp"
#include "session/graph_run.hpp"

#include "support/lookup_array.hpp"

#include <cstdlib>
#include <map>

namespace archsim::laws {

namespace {

/// The laws on a family that the library does not know (tests/support/lookup_array.cpp) instead of its own
/// devices.
bool on_added_family() {
    return std::getenv("ARCHSIM_LAWS_ON_ADDED_FAMILY") != nullptr;
}

} // namespace

const Session& session() {
    static const Session shared = [] {
        SessionOptions options;
        options.data = ARCHSIM_SOURCE_DIR;
        if (on_added_family()) {
            static const AddedFamily added(test::lookup_array());
            options.hardware_overlays = {test::lookup_array_files()};
        }
        return Session(options);
    }();
    return shared;
}

std::shared_ptr<const BoundModel> bound(const std::string& model, std::int64_t batch) {
    static std::map<std::pair<std::string, std::int64_t>, std::shared_ptr<const BoundModel>> known;
    static std::map<std::string, Model> loaded;
    auto& entry = known[{model, batch}];
    if (!entry) {
        const auto [at, fresh] = loaded.try_emplace(model);
        if (fresh)
            at->second = session().load(model);
        entry = session().bind(at->second, batch);
    }
    return entry;
}

const std::vector<std::string>& models() {
    static const std::vector<std::string> names = {"resnet50", "mobilenet_v2", "vit_b_16", "bert-base"};
    return names;
}

const std::vector<std::string>& hardware() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        std::vector<Finding> findings;
        for (const auto& device : session().hardware().all_devices(findings)) {
            if (on_added_family() && device->family.row().name != test::lookup_array().name)
                continue;
            all.push_back(device->id);
            for (const PowerMode& mode : device->power_modes)
                all.push_back(device->id + "@" + mode.name);
        }
        return all;
    }();
    return names;
}

Result run(const std::string& model, const std::string& hardware, Precision precision, std::int64_t batch) {
    Conditions options;
    options.precision = PrecisionConfig::uniform(precision);
    return run_graph(session(), bound(model, batch), hardware, options);
}

Result totals(const std::string& model, const std::string& hardware, Precision precision,
              std::int64_t batch) {
    Conditions options;
    options.precision = PrecisionConfig::uniform(precision);
    options.keep_subgraphs = false;
    return run_graph(session(), bound(model, batch), hardware, options);
}

Estimate run_on(const std::string& model, const Machine& machine, Precision precision, std::int64_t batch) {
    Conditions options;
    options.precision = PrecisionConfig::uniform(precision);
    options.keep_subgraphs = false;
    return run_graph_on(bound(model, batch), machine.device->id, std::make_shared<const Machine>(machine),
                        options)
        .estimate;
}

} // namespace archsim::laws
