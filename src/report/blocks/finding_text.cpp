#include "report/blocks/finding_text.hpp"

#include "report/blocks/shape_text.hpp"

#include <cstddef>
#include <fmt/format.h>
#include <map>

namespace archsim {

std::vector<FindingLine> finding_lines(const std::vector<Finding>& findings) {
    struct Group {
        const Finding* first = nullptr;
        std::size_t count = 0;
    };
    std::map<std::string, std::size_t> seen;
    std::vector<Group> groups;
    for (const Finding& finding : findings) {
        const std::string key =
            fmt::format("{}\n{}\n{}\n{}", name_of(finding.kind), name_of(finding.severity),
                        name_shape(finding.message), name_shape(finding.hint));
        const auto [at, fresh] = seen.try_emplace(key, groups.size());
        if (fresh)
            groups.push_back({&finding, 0});
        ++groups[at->second].count;
    }
    std::vector<FindingLine> lines;
    for (const Group& group : groups) {
        std::string text = to_string(*group.first);
        if (group.count > 1)
            text += fmt::format(" (and {} more like it)", group.count - 1);
        lines.push_back({group.first->severity, std::move(text)});
    }
    return lines;
}

Members<Finding> finding_members() {
    return {{"kind", "", &Finding::kind, UpTo{FindingKind::unsupported}},
            {"severity", "", &Finding::severity, UpTo{Severity::error}},
            {"file", "it was found in; empty: none", &Finding::file},
            {"where", "name of a node, or JSON pointer", &Finding::where},
            {"message", "what is wrong", &Finding::message},
            {"hint", "what can be done about it", &Finding::hint},
            {"op_type", "of an operator", &Finding::op_type},
            {"domain", "of an operator", &Finding::domain},
            {"opset", "", &Finding::opset}};
}

} // namespace archsim
