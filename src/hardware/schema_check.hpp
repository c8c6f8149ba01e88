#pragma once
// Validation against the JSON Schema files that editors use too.

#include "archsim/core/finding.hpp"
#include "archsim/hardware/device.hpp"
#include "archsim/hardware/runtime.hpp"

#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>

namespace archsim {

class SchemaCheck {
  public:
    /// Loads a schema file; one that cannot be used is a finding, and then nothing is validated.
    SchemaCheck(const std::string& schema_file, std::vector<Finding>& findings);
    /// Takes a schema that a program wrote. Throws std::runtime_error where it is none.
    explicit SchemaCheck(const nlohmann::json& schema);
    ~SchemaCheck();
    SchemaCheck(SchemaCheck&&) noexcept;
    SchemaCheck& operator=(SchemaCheck&&) noexcept;

    /// One finding for each innermost violation.
    std::vector<Finding> validate(const nlohmann::json& document, const std::string& file) const;

  private:
    struct Schema;
    std::unique_ptr<Schema> schema_;
};

/// A finding for every assumed share of the matrix peak that is higher, and every assumed cost of an
/// inference that is lower, than the best one found by measurement on any stack of accelerators. GPUs and
/// CPUs are left out: their libraries are measured family by family.
std::vector<Finding> claims_beyond_measured(std::span<const std::shared_ptr<const Runtime>> runtimes);

/// `known` are the findings of reading it: what they say already, or make doubtful, is not said again.
std::vector<Finding> lint_device(const Device& device, std::span<const Finding> known = {});

/// Replaces the lists of family names (enums of `family` and of the items of `families`, keys that `families`
/// requires), and in the schema of a device, which has a property `family` of its own, the block of every
/// family.
void complete_schema(nlohmann::json& schema);
void complete_schema(nlohmann::ordered_json& schema);

} // namespace archsim
