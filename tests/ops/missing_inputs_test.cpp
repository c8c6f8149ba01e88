// Operators with fewer inputs than they need, all of them known: findings, never a fault.

#include "archsim/extend/operator.hpp"
#include "ops/graph_maker.hpp"

#include <catch2/catch.hpp>

using namespace archsim;
using namespace archsim::test;

TEST_CASE("every operator copes with known inputs, however few", "[ops]") {
    constexpr std::size_t kMostInputs = 6;
    for (const OperatorRow& row : OperatorRegistry::standard().rows())
        for (std::size_t count = 0; count <= kMostInputs; ++count)
            for (std::size_t absent = 0; absent <= count; ++absent) { // == count: none
                INFO(row.domain << " " << row.name << " with " << count << " inputs, without " << absent);
                GraphMaker maker;
                std::vector<TensorId> inputs;
                for (std::size_t i = 0; i < count; ++i)
                    inputs.push_back(i == absent ? kNoTensor : maker.ints("c" + std::to_string(i), {1}));
                maker.node(std::string(row.name), inputs, {maker.output("y")}, std::string(row.domain))
                    .opset = row.since;
                ShapedGraph graph;
                REQUIRE_NOTHROW(graph = bound(maker));
                for (const Finding& finding : graph.findings) {
                    CHECK_FALSE(finding.message.empty());
                    CHECK_FALSE(finding.where.empty());
                }
            }
}
