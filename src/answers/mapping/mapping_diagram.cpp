// Diagrams of a mapped network: one box per fused subgraph, shaded by what binds it, an arrow per dependency.

#include "answers/mapping/graph_mapping.hpp"
#include "core/text.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/result_text.hpp"
#include "report/blocks/shape_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace archsim {

namespace {

/// Fills that stay apart for colour-blind readers and in grey: light versions of Okabe and Ito's palette.
std::string_view fill_of(Bound bound) {
    switch (bound) {
    case Bound::compute:
        return "#fde3b0";
    case Bound::memory:
        return "#cfe4f3";
    case Bound::overhead:
        break;
    }
    return "#e6e6e6";
}

struct Box {
    std::vector<std::string> lines;
    Bound bound = Bound::compute;
};

Box box_of(const Result& result, std::size_t index) {
    const Subgraph& subgraph = result.partition->subgraphs[index];
    const ShapedGraph& graph = *result.model->graph;
    Box box;
    std::string operators;
    for (const SubgraphMember& member : subgraph.members)
        if (graph.operators[member.op].work.kind != OpKind::free)
            operators += (operators.empty() ? "" : " + ") + graph.operators[member.op].type;
    box.lines = {fmt::format("{}: {}", index, subgraph.name), operators};
    if (!subgraph.outputs.empty())
        box.lines.push_back(shapes_text(graph, subgraph.outputs));
    if (index < result.estimate.subgraphs.size()) {
        const SubgraphEstimate& s = result.estimate.subgraphs[index];
        box.bound = s.bound;
        box.lines.push_back(fmt::format("{}, {} bound", format_time(s.latency_s), name_of(s.bound)));
    }
    return box;
}

/// `text` with every character of `special` replaced by what `replace` makes of it.
template <typename Replace>
std::string mapped(std::string_view text, Replace replace) {
    std::string out;
    for (const char c : one_line(std::string(text)))
        out += replace(c);
    return out;
}

std::string quoted_for_dot(std::string_view text) {
    return mapped(text, [](char c) {
        return c == '"' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
    });
}

/// Mermaid reads HTML entities inside quotes; everything else that it could take as syntax goes through them.
std::string quoted_for_mermaid(std::string_view text) {
    return mapped(text, [](char c) {
        return c == '"' || c == '#' || c == '<' || c == '>' || c == '`'
                   ? fmt::format("#{};", static_cast<int>(c))
                   : std::string(1, c);
    });
}

} // namespace

std::string mapping_to_dot(const Result& result) {
    std::string out = fmt::format("digraph \"{} on {}\" {{\n  rankdir=TB;\n"
                                  "  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\"];\n",
                                  quoted_for_dot(result.model->name), quoted_for_dot(hardware_label(result)));
    const auto& subgraphs = result.partition->subgraphs;
    for (std::size_t i = 0; i < subgraphs.size(); ++i) {
        Box box = box_of(result, i);
        for (std::string& line : box.lines)
            line = quoted_for_dot(line);
        out += fmt::format("  s{} [label=\"{}\", fillcolor=\"{}\"];\n", i, fmt::join(box.lines, "\\n"),
                           fill_of(box.bound));
    }
    for (std::size_t i = 0; i < subgraphs.size(); ++i)
        for (const std::uint32_t before : subgraphs[i].predecessors)
            out += fmt::format("  s{} -> s{};\n", before, i);
    return out + "}\n";
}

std::string mapping_to_mermaid(const Result& result) {
    std::string out = "flowchart TD\n";
    for (const Bound bound : {Bound::compute, Bound::memory, Bound::overhead})
        out += fmt::format("  classDef {} fill:{},color:#000\n", name_of(bound), fill_of(bound));
    const auto& subgraphs = result.partition->subgraphs;
    for (std::size_t i = 0; i < subgraphs.size(); ++i) {
        Box box = box_of(result, i);
        for (std::string& line : box.lines)
            line = quoted_for_mermaid(line);
        out += fmt::format("  s{}[\"{}\"]:::{}\n", i, fmt::join(box.lines, "<br/>"), name_of(box.bound));
    }
    for (std::size_t i = 0; i < subgraphs.size(); ++i)
        for (const std::uint32_t before : subgraphs[i].predecessors)
            out += fmt::format("  s{} --> s{}\n", before, i);
    return out;
}

} // namespace archsim
