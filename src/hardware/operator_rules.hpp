#pragma once
// The operators that a stack's compiler leaves to somebody else: rows of data, each an operator, the
// condition under which it is refused, the reason in a sentence, and the source of the statement.

#include "archsim/core/provenance.hpp"
#include "archsim/ops/shaped_graph.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// Something that a condition looks at in one operator: a number.
struct OperatorFact {
    std::string_view name;    ///< in files, with underscores
    std::string_view meaning; ///< one line
    /// Nothing where the operator has no such number.
    std::optional<double> (*of)(const ShapedGraph&, const Operator&, Precision activations) = nullptr;
};
/// Every fact there is.
std::span<const OperatorFact> operator_facts();

/// A range of one fact, or some values of it.
struct OperatorCondition {
    const OperatorFact* fact = nullptr;
    double above = -std::numeric_limits<double>::infinity();
    double below = std::numeric_limits<double>::infinity();
    std::vector<double> is;     ///< one of these; empty: any
    std::vector<double> is_not; ///< none of these
    double not_multiple_of = 0; ///< 0: anything
    /// Whether the fact has such a value.
    bool holds(double value) const;
    /// "stride above 2".
    std::string text() const;
};

/// An operator that is refused where all conditions hold.
struct OperatorRule {
    std::vector<std::string> operators;   ///< types as in the bound graph; "*": any
    std::vector<std::string> generations; ///< of devices; empty: all that the stack serves
    std::vector<OperatorCondition> when;  ///< empty: always
    std::string because;                  ///< one sentence
    std::shared_ptr<const Source> source;
};

/// The operators that a vendor lists; what is not on the list is refused.
struct OperatorList {
    std::vector<std::string> operators;   ///< sorted
    std::vector<std::string> generations; ///< empty: all
    std::string because;
    std::shared_ptr<const Source> source;
};

struct OperatorRules {
    std::vector<OperatorRule> refused;
    std::vector<OperatorList> lists;
    bool rest_follows = false; ///< what depends on a refused operator is left to the host too
    std::string rest_because;

    /// Whether the compiler takes everything.
    bool empty() const { return refused.empty() && lists.empty(); }
};

/// The row that refuses an operator, with what it saw; `rule` is null where a list lacks the operator.
struct Refusal {
    const OperatorRule* rule = nullptr;
    const OperatorList* list = nullptr;
    /// True for an operator that is refused.
    explicit operator bool() const { return rule != nullptr || list != nullptr; }
};
Refusal refusal_of(const ShapedGraph& graph, const Operator& op, const OperatorRules& rules,
                   std::string_view generation, Precision activations);
/// The reason and the operator's own values: "strides above 2 are not taken (stride 3)".
std::string sentence(const Refusal& refusal, const ShapedGraph& graph, const Operator& op,
                     Precision activations);

/// How an operator is executed. Bits that add up.
enum OperatorPlace : std::uint8_t {
    kLeft = 1,     ///< not by the accelerator
    kSwitches = 2, ///< the accelerator stops for it
    kFetches = 4,  ///< it takes tensors from the accelerator
    kReturns = 8,  ///< its results go back
};
/// For each operator of the graph its place; empty where all stay.
std::vector<std::uint8_t> place_operators(const ShapedGraph& graph, const OperatorRules& rules,
                                          std::string_view generation, Precision activations);

} // namespace archsim
