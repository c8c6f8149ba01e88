#pragma once
// Everything a tool needs to answer one question: the database, the catalogue, and estimates on request.

#include "archsim/compare/result.hpp"
#include "archsim/core/export.hpp"
#include "archsim/hardware/database.hpp"
#include "archsim/hardware/device_changes.hpp"
#include "archsim/hardware/parameter_site.hpp"
#include "archsim/map/machine_changes.hpp"
#include "archsim/map/mapper.hpp"
#include "archsim/ops/registry.hpp"
#include "archsim/run/catalogue.hpp"
#include "archsim/run/model.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// Where data and extensions come from.
struct SessionOptions {
    std::filesystem::path data; ///< empty: data_dir()
    std::vector<std::filesystem::path> hardware_overlays;
    TunedFacts tuned = TunedFacts::as_stated;          ///< for left-out predictions
    std::shared_ptr<const OperatorRegistry> operators; ///< null: OperatorRegistry::standard()
    /// Architectures counted by a mapper of one's own instead of the library's.
    std::map<Family, std::shared_ptr<const Mapper>> mappers;
};

/// What to estimate a model on, and how.
struct RunOptions {
    std::string runtime; ///< empty: the device's default
    PrecisionConfig precision;
    Scenario scenario = Scenario::latency;
    Scope scope = Scope::kernel;
    double chips = 1;
    std::optional<FusionPolicy> fusion; ///< instead of the runtime's
    bool allow_unknown = false;
    bool keep_subgraphs = true;
    MachineChanges changes;  ///< to the rates and costs of the device as the database states it
    DeviceChanges structure; ///< to its structure
    /// Parameters to take instead of those that the database states; null: none.
    std::shared_ptr<const ParameterOverrides> overrides;
};

/// Database, catalogue and extensions; safe to use from several threads.
/// @code
/// const Session session;
/// const auto model = session.bind(session.load("resnet50"), 8);
/// RunOptions options;
/// options.precision = PrecisionConfig::uniform(Precision::fp16);
/// const Result result = session.run(model, "A100", options);
/// assert(result.ok());
/// assert(result.estimate.latency_interval.low < result.estimate.latency_s);
/// @endcode
class ARCHSIM_API Session {
  public:
    /// Opens the data. Throws InputError when it is not there.
    explicit Session(const SessionOptions& options = {});

    /// The hardware database.
    const HardwareDatabase& hardware() const { return *hardware_; }
    /// The model catalogue.
    const Catalogue& catalogue() const { return *catalogue_; }

    /// A catalogue name, an alias, or the path of an ONNX file. Throws InputError with the nearest names.
    Model load(std::string_view name_or_path) const;

    /// Binds sizes; `batch` sets the dimension named "batch" (or the leading symbol of the first input).
    std::shared_ptr<const BoundModel> bind(const Model& model, std::int64_t batch,
                                           const Bindings& bindings = {}) const;

    /// Makes a device ready to run. Throws InputError for unknown names.
    std::shared_ptr<const Machine> machine(std::string_view hardware, const RunOptions& options) const;

    /// Never throws for a device: what fails becomes the result's status and reason.
    Result run(const std::shared_ptr<const BoundModel>& model, std::string_view hardware,
               const RunOptions& options) const;

    /// The same on a machine made before (and changed since): what searches call many times. `counted`: see
    /// EstimateOptions.
    static Result run_on(const std::shared_ptr<const BoundModel>& model, std::string_view hardware,
                         std::shared_ptr<const Machine> machine, const RunOptions& options,
                         BatchCounts* counted = nullptr);

  private:
    std::unique_ptr<HardwareDatabase> hardware_;
    std::unique_ptr<Catalogue> catalogue_;
    std::shared_ptr<const EnergyDatabase> energy_;
    std::shared_ptr<const UncertaintyTable> uncertainty_;
    std::shared_ptr<const OperatorRegistry> operators_;
    std::map<Family, std::shared_ptr<const Mapper>> mappers_;
};

} // namespace archsim
