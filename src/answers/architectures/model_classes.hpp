#pragma once
// Architectures over classes of models. A request that names classes and architectures goes in; how many
// times faster than the CPU each is, and what it is good and bad at, come out.

#include "archsim/compare/metric.hpp"
#include "archsim/extend/renderer.hpp"
#include "archsim/run/session.hpp"
#include "report/render/answer_document.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// A sort of model and the one that stands for it.
struct ModelClass {
    std::string_view title, model; ///< model: name in the catalogue
};

struct ModelClassRequest {
    std::vector<std::string> architectures; ///< families, FAMILY=DEVICE or devices; empty: the defaults
    std::string baseline;                   ///< what others are faster than; empty: the first CPU among them
    Conditions conditions = {};
    std::int64_t batch = 1;
    std::int64_t larger_batch = 16; ///< at which the gain of batching is seen
};

struct ModelClassRow {
    ModelClass what;
    std::vector<Result> results, batched; ///< one per architecture: at the batch, at the larger batch
};

/// Speeds are compared within a class of power: limits at most so many times apart.
inline constexpr double kComparablePower = 10;
/// Devices whose speeds are worth a comparison: a phone's is not 800 times slower than a server's, it has a
/// hundredth of its power. Unknown power compares with anything. Worked: 30 W and 192 W do, 7 W and 350 W do
/// not.
bool comparable_power(const Result& a, const Result& b);

/// Where one architecture stands against another on one class, with the numbers that say so.
struct ClassClaim {
    std::size_t row = 0;              ///< class
    std::optional<std::size_t> other; ///< the architecture compared with; absent: itself at the larger batch
    /// A claim on batches: it gains least of them, and so loses least at the small one.
    bool small_batches = false;
    const Metric* metric = nullptr;
    double ratio = 1; ///< how many times better, at least 1
    bool better = true;
};

/// One architecture in the comparison. A claim is made where the 90 % intervals do not overlap.
struct ArchitectureProfile {
    std::vector<std::size_t> peers; ///< the others of comparable power, with which its speed is compared
    std::vector<ClassClaim> strengths, weaknesses; ///< largest ratio first
    /// Classes that it is surely or by estimate fastest on of its class of power; of a projection: on which
    /// it would be.
    std::vector<std::size_t> best_for;
    std::vector<std::size_t> frugal_for; ///< likewise with the least energy per inference
    std::vector<std::size_t> unable;     ///< classes without an estimate
};

struct ModelClassComparison {
    ModelClassRequest request;
    std::vector<std::string> labels; ///< of the architectures
    std::size_t baseline = 0;
    std::vector<ModelClassRow> rows;
    std::vector<ArchitectureProfile> profiles; ///< one per architecture
};

/// Runs every class on every architecture; one that fails keeps its reason and takes no other with it. Throws
/// InputError for unknown names, UsageError where no baseline is named and no CPU is among the architectures.
ModelClassComparison compare_model_classes(const Session& session, ModelClassRequest request);

// Architectures over classes of models, as report blocks and document.

/// Tables of times faster and of less energy than the baseline with a chart, then strengths, weaknesses and
/// "best for" of each architecture. CSV: a row per class and architecture.
Report describe(const ModelClassComparison& comparison, PlainView view = {}, Format format = Format::text);
/// {"schema": "archsim.model_classes/1", "rows": [...], "architectures": [...]}.
AnswerDocument document_of(const ModelClassComparison& comparison, PlainView view = {});

} // namespace archsim
