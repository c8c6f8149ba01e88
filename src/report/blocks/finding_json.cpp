#include "report/blocks/finding_json.hpp"

namespace archsim {

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
