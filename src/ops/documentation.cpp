// The operator table as documentation.

#include "archsim/ops/registry.hpp"

#include <algorithm>
#include <charconv>
#include <tuple>

namespace archsim {

namespace {

std::string number(double value) {
    char buffer[32];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
    return {buffer, end};
}

} // namespace

std::string_view name_of(FusionClass fusion) {
    switch (fusion) {
    case FusionClass::transparent:
        return "transparent";
    case FusionClass::elementwise:
        return "elementwise";
    case FusionClass::injective:
        return "injective";
    case FusionClass::reduction:
        return "reduction";
    case FusionClass::contraction:
        return "contraction";
    case FusionClass::opaque:
        return "opaque";
    }
    return "unknown";
}

std::vector<OperatorDoc> operator_docs() {
    std::vector<OperatorDoc> docs;
    for (const OperatorRow& row : OperatorRegistry::standard().rows())
        docs.push_back({std::string(row.name), row.domain.empty() ? "ai.onnx" : std::string(row.domain),
                        row.since, std::string(name_of(row.kind)), std::string(name_of(row.fusion)), row.cost,
                        std::string(row.doc)});
    std::sort(docs.begin(), docs.end(), [](const OperatorDoc& a, const OperatorDoc& b) {
        return std::tie(a.domain, a.name) < std::tie(b.domain, b.name);
    });
    return docs;
}

std::string operators_markdown() {
    std::string page =
        "# Operators\n\n"
        "<!-- Generated from the operator table in src/ops; do not edit. -->\n\n"
        "One row per operator. *Since* is the first version of its domain that has it; every later form is "
        "read "
        "too, up to opset " +
        std::to_string(kNewestOpset) +
        " of ai.onnx.\n"
        "*Kind* is what hardware has to do, *fusion* how the operator may join its neighbours in one kernel. "
        "*Vector* and *special* are the\noperations per element outside matrix products (special: exp, log, "
        "erf, "
        "square root, division, trigonometry), where a\nfixed number describes them; elements are those of "
        "the "
        "output for elementwise kinds and of the input for reductions,\nnormalisations and softmax. "
        "1 multiply-accumulate = 2 operations.\n";
    std::string domain;
    for (const OperatorDoc& doc : operator_docs()) {
        if (doc.domain != domain) {
            domain = doc.domain;
            page += "\n## " + domain +
                    "\n\n| Operator | Since | Kind | Fusion | Vector | Special | Meaning and count |\n"
                    "|---|---|---|---|---|---|---|\n";
        }
        const bool fixed = doc.cost.vector > 0 || doc.cost.special > 0;
        page += "| " + doc.name + " | " + std::to_string(doc.since) + " | " + doc.kind + " | " + doc.fusion +
                " | " + (fixed ? number(doc.cost.vector) : "") + " | " +
                (fixed ? number(doc.cost.special) : "") + " | ";
        for (const char c : doc.doc)
            page += c == '|' ? std::string("\\|") : std::string(1, c);
        page += " |\n";
    }
    return page;
}

} // namespace archsim
