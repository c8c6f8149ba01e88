#pragma once
// Which tensors of a network it is worth computing in parts on several devices: those that reach a product,
// or the heads of an attention.

#include "archsim/ops/shaped_graph.hpp"

#include <vector>

namespace archsim {

/// Products with weights in one operator.
double constant_products(const Operator& op);
/// Several layers of weights in one operator: experts of a mixture.
bool joins_experts(const Operator& op);

class ProductFlow {
  public:
    explicit ProductFlow(const ShapedGraph& graph);

    /// True where the tensor feeds a product, seen through views, copies and element-wise work, or is a
    /// result.
    bool reaches_product(TensorId id) const { return reaches_product_[id]; }
    /// True where the tensor feeds an attention, seen through the same and norms of queries and keys.
    bool reaches_heads(TensorId id) const { return reaches_heads_[id]; }
    /// True where one of the parts that the tensor is split into is normalised.
    bool part_normed(TensorId id) const { return part_normed_[id]; }

  private:
    std::vector<bool> reaches_product_, reaches_heads_, normed_, part_normed_;
};

} // namespace archsim
