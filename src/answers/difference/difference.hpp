#pragma once
// Why two estimates differ, whatever differs between them: model, version, batch, format, stack, power mode,
// device. Graphs are aligned operator by operator; kernels that share operators are compared, the others were
// added or removed. The difference is split over causes, over classes of operators and over blocks of the
// network; each of the three adds up to it.

#include "answers/difference/attribution.hpp"
#include "answers/difference/estimate_record.hpp"
#include "archsim/extend/renderer.hpp"
#include "archsim/run/session.hpp"
#include "fields/json_members.hpp"
#include "report/render/answer_document.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace archsim {

/// Pairs of operators (index of the first list, index of the second) that are the same in both, in the order
/// of the first. Both keep their order within the pairs, but for operators of one name. Type must be equal;
/// among such the pairing with most equal names and shapes is taken, so that what was inserted stays alone.
/// The pairs of (b, a) are those of (a, b), turned.
std::vector<std::pair<std::uint32_t, std::uint32_t>> align_operators(std::span<const OperatorRecord> a,
                                                                     std::span<const OperatorRecord> b);

/// The fate of a piece of the network. A displaced one computes what it did, and costs another time or energy
/// only because added, removed or changed blocks leave it more or less room on the chip.
enum class Change : std::uint8_t { kept, added, removed, displaced };
inline constexpr std::size_t kChangeCount = 4;

/// A sum of parts of the difference, with both sides of what it is about. Whole batch, all repeats.
struct DifferencePart {
    double value = 0; ///< part of after - before, in the metric's unit
    Factor main{};    ///< cause with the largest part of it
    double main_value = 0;
    std::array<double, 2> latency_s{}, operations{}, bytes{}, kernels{}, energy_j{}; ///< before, after
    std::array<double, 2> peak_share{}; ///< useful operations over what the peak executes in that time
};

/// Kernels of one class of operators.
struct ClassDifference {
    std::string kind; ///< see operator_class(); "whole network" for costs of none
    DifferencePart part;
    std::vector<std::pair<Factor, double>> causes; ///< largest first
};

/// Blocks of one make: "layer*.*".
struct BlockDifference {
    std::string name; ///< numbers of single blocks replaced by *
    Change change = Change::kept;
    std::size_t blocks = 0; ///< that it stands for
    DifferencePart part;
    std::string main_kind; ///< class of operators with the largest part of it
    DifferencePart main_part;
};

struct Difference {
    std::array<EstimateRecord, 2> sides;          ///< before, after
    Attribution attribution;                      ///< of after (a) against before (b)
    bool overlapping = false;                     ///< the 90 % intervals of the two values
    std::array<std::size_t, 2> operators{};       ///< with work
    std::size_t aligned = 0;                      ///< operators that both have
    std::array<double, kChangeCount> by_change{}; ///< by Change: part of these kernels
    std::vector<ClassDifference> classes;         ///< largest part first; empty for memory, power and cost
    std::vector<BlockDifference> blocks;          ///< likewise
};

/// The block that an operator lies in, by its name: "/layer1/layer1.0/conv1/Conv" is in "layer1.0"; empty
/// where names have no levels.
std::string block_of(std::string_view operator_name);

/// Takes a difference apart. Throws UsageError for a metric whose differences have no causes of their own
/// (see Metric::has_causes), InputError where one side has no value of it.
Difference explain_difference(EstimateRecord before, EstimateRecord after, const Metric& metric);

// Two questions go in; why their answers differ comes out: models, versions of a file, batches, formats,
// software stacks, power modes, devices, or several of these at once.

/// The estimate of one side. With a prompt the whole answer: the pass over the prompt and the steps.
struct DifferenceSide {
    std::string model; ///< catalogue name or path
    std::string hardware;
    Workload workload = {};
    Conditions conditions = {};
};

struct DifferenceRequest {
    DifferenceSide before, after;
    const Metric* metric = &metric::latency;
    CostOptions cost = {};
};

/// Both estimates, and their difference taken apart.
struct DifferenceAnswer {
    DifferenceRequest request;
    std::vector<Result> results; ///< before, after
    double odds = 1;             ///< probability that the side that is better by the estimates is
    Difference difference;
};

/// A side that has no estimate: it does not fit, or nothing runs it.
class NoEstimateError : public InputError {
  public:
    using InputError::InputError;
};

/// Estimates both sides and explains. Throws InputError for unknown names and where a side has no value of
/// the metric, NoEstimateError where it cannot run, IncompleteError where sizes or operators are missing,
/// UsageError for a metric without causes of its own.
/// @code
/// const Session session;
/// DifferenceRequest request;
/// request.before = {.model = "resnet18", .hardware = "H100"};
/// request.after = {.model = "resnet34", .hardware = "H100"};
/// const DifferenceAnswer answer = explain_difference(session, request);
/// assert(answer.difference.by_change[static_cast<std::size_t>(Change::added)] > 0);
/// @endcode
DifferenceAnswer explain_difference(const Session& session, DifferenceRequest request);

// Why two estimates differ, as report blocks and as a JSON document.
//
//   resnet34 is 1.71x slower than resnet18 (H100, fp16, batch 1): 259 us against 151 us, +108 us.
//   ...
//   Blocks          Change  Number  Part     Share  Mainly              Of which
//   layer*.*        added        8  +107 us   99.1  kernels started     3x3 convolution +107 us at 8.2 % of
//   peak

struct DifferenceView {
    int top = 8; ///< rows of the tables of blocks and classes; 0: all
};

/// CSV: the table of blocks.
Report describe(const DifferenceAnswer& answer, const DifferenceView& view, Format format = Format::text);
/// {"schema": "archsim.explain_difference/1", ...}
AnswerDocument document_of(const DifferenceAnswer& answer, const DifferenceView& view);

/// Words that tell two estimates apart ("resnet18", "batch 8") and those that they share ("H100, fp16, batch
/// 1").
struct SideLabels {
    std::array<std::string, 2> side; ///< before, after
    std::string common;
};
SideLabels labels_of(const EstimateRecord& before, const EstimateRecord& after);

/// "resnet34 is 1.71x slower than resnet18: ..., +108 us.", the cause that carries most of it, what both
/// share, and whether the intervals overlap.
/// `odds`: that the better one by the estimates is, where it is known. `doubt`: why neither is named better,
/// a sentence; empty: one is.
std::vector<std::string> difference_lines(const Difference& difference, const SideLabels& labels,
                                          std::optional<double> odds = std::nullopt,
                                          const std::string& doubt = {});
/// One sentence per group of blocks that matters: "8 blocks layer*.* added: +107 us, of which ..."
Bullets block_sentences(const Difference& difference);
/// Parts below `folded` of the largest are one row.
Table cause_table(const Difference& difference, const SideLabels& labels, double folded);
Table block_table(const Difference& difference, int top);
/// "metric", "sides", "before", "after", "difference", "causes", "by_change", "classes", "blocks".
Members<Difference> difference_members();

} // namespace archsim
