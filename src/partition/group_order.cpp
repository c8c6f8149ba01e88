#include "partition/group_order.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dag_shortest_paths.hpp>
#include <boost/graph/topological_sort.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>

namespace archsim {

namespace {

using EdgeWeight = boost::property<boost::edge_weight_t, int>;
using Dag = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, EdgeWeight>;

} // namespace

std::vector<std::uint32_t> topological_group_order(const std::vector<Subgraph>& subgraphs) {
    // Edges point from reader to producer, so that the depth-first post-order is a schedule that keeps the
    // given order wherever dependences allow.
    Dag dag(subgraphs.size());
    for (std::size_t g = 0; g < subgraphs.size(); ++g)
        for (std::uint32_t p : subgraphs[g].predecessors)
            boost::add_edge(g, p, dag);
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
    Dag dag(n + 1);
    for (std::size_t g = 0; g < n; ++g) {
        boost::add_edge(n, g, -1, dag);
        for (std::uint32_t p : subgraphs[g].predecessors)
            boost::add_edge(p, g, -1, dag);
    }
    std::vector<int> distance(n + 1);
    std::vector<std::size_t> parent(n + 1);
    boost::dag_shortest_paths(dag, n,
                              boost::distance_map(distance.data())
                                  .predecessor_map(parent.data())
                                  .distance_compare(std::less<int>())
                                  .distance_inf(std::numeric_limits<int>::max())
                                  .distance_zero(0));
    const auto last = static_cast<std::size_t>(
        std::min_element(distance.begin(), distance.begin() + static_cast<std::ptrdiff_t>(n)) -
        distance.begin());
    std::vector<std::uint32_t> chain;
    for (std::size_t at = last; at != n; at = parent[at])
        chain.push_back(static_cast<std::uint32_t>(at));
    std::reverse(chain.begin(), chain.end());
    return chain;
}

} // namespace archsim
