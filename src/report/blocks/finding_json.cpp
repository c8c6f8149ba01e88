#include "report/blocks/finding_json.hpp"

namespace archsim {

nlohmann::ordered_json finding_json(const Finding& finding) {
    return {{"kind", name_of(finding.kind)}, {"severity", name_of(finding.severity)},
            {"file", finding.file},          {"where", finding.where},
            {"message", finding.message},    {"hint", finding.hint},
            {"op_type", finding.op_type},    {"domain", finding.domain},
            {"opset", finding.opset}};
}

nlohmann::ordered_json findings_json(const std::vector<Finding>& findings) {
    auto list = nlohmann::ordered_json::array();
    for (const Finding& finding : findings)
        list.push_back(finding_json(finding));
    return list;
}

} // namespace archsim
