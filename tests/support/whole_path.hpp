#pragma once
// Everything that a tool does with a model file, in one call: import, bind, partition, the mapper of every
// family, estimates, rewrites, and what is drawn of them.

#include "answers/compare/compare_models_report.hpp"
#include "answers/portability/check_model.hpp"
#include "answers/profile/graph_profile.hpp"
#include "archsim/core/finding.hpp"
#include "archsim/extend/importer.hpp"

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace archsim::test {

/// The first device of every family.
inline std::vector<std::string> device_of_each_family(const Session& session) {
    std::vector<Finding> findings;
    std::vector<std::string> devices;
    std::set<std::string> families;
    for (const auto& device : session.hardware().all_devices(findings))
        if (families.insert(std::string(device->family.row().name)).second)
            devices.push_back(device->id);
    return devices;
}

/// Asks everything about a file; what it throws beside the documented errors is a fault. The bytes of the
/// answers.
inline std::size_t ask_everything(const Session& session, const std::vector<std::string>& devices,
                                  const std::filesystem::path& file) {
    std::size_t drawn = 0;
    for (const bool accept : {false, true})
        try {
            PortabilityRequest request;
            request.model = file.string();
            request.hardware = devices;
            request.conditions.allow_unknown = accept;
            request.advice = accept ? 3 : 0;
            const PortabilityAnswer checked = check_model(session, request);
            drawn += render(describe(checked, PlainView{}, Format::text), Format::text).size();
            for (const Portability& device : checked.devices)
                for (const SubgraphEstimate& s : device.result.estimate.subgraphs)
                    drawn += s.latency_s >= 0 ? 1 : 0;
            if (accept) {
                drawn += to_json(checked, PlainView{}).size();
                const GraphProfile profile = profile_graph(checked.model->name, checked.model->graph);
                drawn += render(describe(profile), Format::markdown).size();
                CompareModelsRequest compared;
                compared.models = {file.string()};
                compared.hardware = devices;
                compared.conditions.allow_unknown = true;
                compared.device_counts = {1, 2};
                const ModelComparison comparison = compare_models(session, compared);
                drawn += render(describe(comparison), Format::html).size() + to_json(comparison).size();
            }
        } catch (const Error& refused) {
            drawn += std::string_view(refused.what()).size();
        }
    return drawn;
}

} // namespace archsim::test
