#include "partition/group_description.hpp"

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/dag_shortest_paths.hpp>
#include <boost/graph/topological_sort.hpp>

#include <functional>
#include <iterator>
#include <limits>

namespace archsim {

using Edge = std::pair<std::uint32_t, std::uint32_t>;
struct EdgeWeight {
    int value = -1;
};
using Dag = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, EdgeWeight,
                                               boost::no_property, std::uint32_t, std::uint32_t>;

/// The edges of a vertex keep their order.
static Dag make_dag(const std::vector<Edge>& edges, std::size_t vertices) {
    return {boost::edges_are_unsorted_multi_pass, edges.begin(), edges.end(),
            static_cast<std::uint32_t>(vertices)};
}

std::vector<std::uint32_t> topological_group_order(const std::vector<Subgraph>& subgraphs) {
    // Edges point from reader to producer, so that the depth-first post-order is a schedule that keeps the
    // given order wherever dependences allow.
    std::vector<Edge> edges;
    for (std::uint32_t g = 0; g < subgraphs.size(); ++g)
        for (std::uint32_t p : subgraphs[g].predecessors)
            edges.emplace_back(g, p);
    const Dag dag = make_dag(edges, subgraphs.size());
    std::vector<std::uint32_t> order;
    order.reserve(subgraphs.size());
    try {
        boost::topological_sort(dag, std::back_inserter(order));
    } catch (const boost::not_a_dag&) {
        order.clear();
    }
    return order;
}

std::vector<std::uint32_t> longest_chain(const std::vector<Subgraph>& subgraphs) {
    const std::size_t n = subgraphs.size();
    if (n == 0)
        return {};
    // Longest path = shortest path with weight -1; an extra source reaches every subgraph.
    const auto source = static_cast<std::uint32_t>(n);
    std::vector<Edge> edges;
    for (std::uint32_t g = 0; g < n; ++g) {
        edges.emplace_back(source, g);
        for (std::uint32_t p : subgraphs[g].predecessors)
            edges.emplace_back(p, g);
    }
    const Dag dag = make_dag(edges, n + 1);
    std::vector<int> distance(n + 1);
    std::vector<std::uint32_t> parent(n + 1);
    boost::dag_shortest_paths(dag, source,
                              boost::weight_map(boost::get(&EdgeWeight::value, dag))
                                  .distance_map(distance.data())
                                  .predecessor_map(parent.data())
                                  .distance_compare(std::less<int>())
                                  .distance_inf(std::numeric_limits<int>::max())
                                  .distance_zero(0));
    const auto last = static_cast<std::uint32_t>(
        std::min_element(distance.begin(), distance.begin() + static_cast<std::ptrdiff_t>(n)) -
        distance.begin());
    std::vector<std::uint32_t> chain;
    for (std::uint32_t at = last; at != source; at = parent[at])
        chain.push_back(at);
    std::reverse(chain.begin(), chain.end());
    return chain;
}

} // namespace archsim
