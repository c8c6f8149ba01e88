#pragma once
// The hardware-independent profile of a bound graph: work, parameters and bytes per operator, per type and
// per module. Bytes are those that an unfused execution moves in the formats that the file declares.

#include "archsim/extend/operator.hpp"
#include "archsim/extend/renderer.hpp"
#include "archsim/ops/shaped_graph.hpp"
#include "archsim/run/workload.hpp"
#include "ops/precision_mix.hpp"
#include "report/render/answer_document.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// Sums over some operators. 1 multiply-accumulate = 2 operations.
struct ProfileSums {
    double operators = 0;
    double unknown = 0; ///< of these, the ones not understood: the sums below miss them
    double macs = 0, operations = 0;
    double parameters = 0;       ///< learned values, each counted at its first reader
    double weight_bytes = 0;     ///< constants read
    double activation_bytes = 0; ///< other inputs read and outputs written

    double bytes() const { return weight_bytes + activation_bytes; }
    /// Operations per byte; 0 where nothing is moved.
    double intensity() const { return bytes() > 0 ? operations / bytes() : 0; }
    ProfileSums& operator+=(const ProfileSums& other);
};

struct OperatorProfile {
    const Operator* op = nullptr;
    ProfileSums sums; ///< of all its executions
};

struct TypeProfile {
    std::string type;
    ProfileSums sums;
};

/// A module of the exporting framework, as the '/' in node names tell.
struct ModuleProfile {
    std::string name;
    int depth = 0; ///< 0 for the whole graph
    ProfileSums sums;
};

struct GraphProfile {
    std::string name;
    Workload asked; ///< batch and sizes
    std::shared_ptr<const ShapedGraph> graph;
    ProfileSums totals;                     ///< of what is known; see `complete`
    double stored_weight_bytes = 0;         ///< every constant once
    bool complete = true;                   ///< false: totals miss a part, which a finding names
    std::vector<OperatorProfile> operators; ///< at run time, in topological order
    std::vector<TypeProfile> types;         ///< most operations first
    std::vector<ModuleProfile> modules;     ///< tree in depth-first order, the whole graph first
    std::vector<FormatShare> precisions;    ///< work by the format that the file gives it
};

GraphProfile profile_graph(const std::string& name, std::shared_ptr<const ShapedGraph> graph);

enum class ProfileOrder : std::uint8_t { operations, macs, bytes, parameters, intensity, graph };

struct GraphProfileView {
    int top = 6;   ///< operators listed; 0: all
    int depth = 1; ///< levels of the module tree; 0: none
    ProfileOrder order = ProfileOrder::operations;
    bool tensors = false;       ///< list every tensor
    bool allow_unknown = false; ///< print totals that miss a part, marked
};

/// CSV: the table of all operators.
Report describe(const GraphProfile& profile, const GraphProfileView& view = {}, Format format = Format::text);
/// {"schema": "archsim.profile_graph/1", ...}; withheld and unknown values are null.
AnswerDocument document_of(const GraphProfile& profile, const GraphProfileView& view = {});

/// One table per domain, sorted by name; CSV: one table.
Report describe(const OperatorRegistry& operators, PlainView view = {}, Format format = Format::text);
/// {"schema": "archsim.operators/1", "newest_opset": 26, "operators": [{"domain", "name", "since", "kind",
/// "fusion", "vector_per_element", "special_per_element", "doc"}]}
AnswerDocument document_of(const OperatorRegistry& operators, PlainView view = {});

} // namespace archsim
