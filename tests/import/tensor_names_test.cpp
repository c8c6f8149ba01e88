// Names of tensors and nodes are made unique, and found again however many there are.

#include "import/graph_builder.hpp"
#include "import/model_maker.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>
#include <vector>

using namespace archsim;
using namespace archsim::test;

TEST_CASE("repeated names are numbered, past numbers that are taken", "[import]") {
    import::GraphDraft draft;
    std::vector<std::string> given;
    for (const char* name : {"a", "a", "a#2", "a", "b", "a#4", "a", "a#2#2"}) {
        draft.add_tensor(name, TensorRole::intermediate);
        given.push_back(draft.graph.tensors.back().name);
    }
    CHECK(given == std::vector<std::string>{"a", "a#2", "a#2#2", "a#3", "b", "a#4", "a#5", "a#2#2#2"});
    CHECK(draft.tensor_names.repetitions() == 5);
}

TEST_CASE("nodes of one name are numbered and the file says so", "[import]") {
    auto model = make_model(13);
    auto& graph = *model.mutable_graph();
    add_input(graph, "x", {"2"});
    add_node(graph, "Relu", {"x"}, {"y"}, "act");
    add_node(graph, "Relu", {"y"}, {"z"}, "act");
    add_output(graph, "z");
    const Graph imported = import_model(model);
    REQUIRE(imported.nodes.size() == 2);
    CHECK(imported.nodes[1].name == "act#2");
    REQUIRE(imported.findings.size() == 1);
    CHECK(imported.findings[0].kind == FindingKind::duplicate);
}

TEST_CASE("every name of an index that grows is found, and no other", "[import]") {
    constexpr std::uint32_t kNames = 5000;
    std::vector<std::string> names;
    const auto name_of = [&](std::uint32_t entry) -> const std::string& { return names[entry]; };
    import::NameIndex index;
    CHECK(index.find("n0", name_of) == import::NameIndex::kNone);
    for (std::uint32_t i = 0; i < kNames; ++i) {
        const std::string name = "n" + std::to_string(i);
        REQUIRE(index.add(name, i, name_of) == import::NameIndex::kNone);
        names.push_back(name);
    }
    for (std::uint32_t i = 0; i < kNames; ++i) {
        REQUIRE(index.find(names[i], name_of) == i);
        REQUIRE(index.add(names[i], kNames, name_of) == i);
    }
    CHECK(index.find("n5000", name_of) == import::NameIndex::kNone);
}
