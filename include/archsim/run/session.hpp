#pragma once
// Everything a tool needs to answer a question: the database, the catalogue, and estimates on request.

#include "archsim/compare/measured_row.hpp"
#include "archsim/compare/result.hpp"
#include "archsim/core/budget.hpp"
#include "archsim/core/export.hpp"
#include "archsim/extend/mapper.hpp"
#include "archsim/extend/operator.hpp"
#include "archsim/hardware/database.hpp"
#include "archsim/run/catalogue.hpp"
#include "archsim/run/model.hpp"
#include "archsim/run/workload.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

namespace archsim {

class BoundModel;
class EnergyDatabase;
class PriceTables;
struct SpreadRow;

/// Where data and extensions come from.
struct SessionOptions {
    std::filesystem::path data; ///< empty: data_dir()
    std::vector<std::filesystem::path> hardware_overlays;
    TunedFacts tuned = TunedFacts::as_stated; ///< for left-out predictions
    bool estimates =
        true; ///< false: opens sooner, energy and intervals are read when something asks for them
    std::shared_ptr<const OperatorRegistry> operators; ///< null: OperatorRegistry::standard()
    Budget budget;                                     ///< of each model file that is loaded
    /// Architectures counted by a mapper of one's own instead of the library's.
    std::map<Family, std::shared_ptr<const Mapper>> mappers;
};

/// Database, catalogue and extensions; safe to use from several threads.
/// @code
/// const Session session;
/// const Workload workload{.model = session.load("clip-vit-b32"), .batch = 8};
/// Conditions conditions;
/// conditions.precision = PrecisionConfig::uniform(Precision::fp16);
/// const Result result = session.estimate(workload, "A100", conditions);
/// assert(result.ok() && result.parts.size() == 3);
/// assert(result.estimate.latency_interval.low < result.estimate.latency_s);
/// @endcode
class Session {
  public:
    /// Opens the data. Throws InputError when it is not there.
    ARCHSIM_API explicit Session(const SessionOptions& options = {});

    /// The hardware database.
    const HardwareDatabase& hardware() const { return *hardware_; }
    /// Energy per event. Of a session that was not opened for estimates, throws InputError for a file that is
    /// missing or wrong.
    const EnergyDatabase& energy() const;
    /// The model catalogue.
    const Catalogue& catalogue() const { return *catalogue_; }
    /// Published percentiles, read anew at each call: for PercentileRequest::rows. Throws InputError for a
    /// file that is missing or wrong.
    std::shared_ptr<const std::vector<SpreadRow>> spread_rows() const;

    /// A catalogue name, an alias, or the path of an ONNX file, ready to be estimated whatever its kind.
    /// Throws InputError with the nearest names, and where SessionOptions::budget is spent.
    ARCHSIM_API Model load(std::string_view name_or_path) const;

    /// The cost of a workload on a device: "H100", "KPU-T64@3W" or a device file. A device that cannot carry
    /// the workload is a result whose status and reason say why. Throws InputError with the nearest names for
    /// a device, power mode or software stack that does not exist, and what facts() throws.
    ARCHSIM_API Result estimate(const Workload& workload, std::string_view device,
                                const Conditions& conditions = {}) const;

    /// Hardware-independent facts: parameters, multiply-accumulates, sizes, findings; of all parts together.
    /// Of a prompt, those of its pass. Throws InputError for sizes that the model cannot take, UsageError for
    /// a prompt to a model that takes none.
    ARCHSIM_API std::shared_ptr<const ModelFacts> facts(const Workload& workload) const;

    /// One graph at concrete sizes, for partitions and counts; `batch` sets the dimension named "batch" (or
    /// the leading symbol of the first input). Throws InputError for a model that has parts only.
    ARCHSIM_API std::shared_ptr<const BoundModel> bind(const ImportedGraph& model, std::int64_t batch,
                                                       const Bindings& bindings = {}) const;

    /// Makes a device ready to run. Throws InputError for unknown names.
    ARCHSIM_API std::shared_ptr<const Machine> machine(std::string_view device,
                                                       const Conditions& conditions = {}) const;

    /// Measurements of one's own: from now on every estimate of their devices and stacks is what they and the
    /// error model say together, and says so. Nothing is fitted; each call replaces the rows of the one
    /// before. Throws InputError for a row that cannot be estimated.
    ARCHSIM_API void given(const std::vector<MeasuredRow>& rows);

  private:
    std::filesystem::path data_;
    std::unique_ptr<HardwareDatabase> hardware_;
    std::unique_ptr<Catalogue> catalogue_;
    std::shared_ptr<const PriceTables> prices_;
    std::shared_ptr<const OperatorRegistry> operators_;
    std::map<Family, std::shared_ptr<const Mapper>> mappers_;
    Budget budget_;
};

} // namespace archsim
