#pragma once
// Validation against the JSON Schema files that editors use too.

#include "archsim/core/finding.hpp"

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace archsim {

class SchemaCheck {
  public:
    /// Loads a schema file; one that cannot be used is a finding, and then nothing is validated.
    SchemaCheck(const std::string& schema_file, std::vector<Finding>& findings);
    /// Of a schema that a program wrote. Throws std::runtime_error where it is none.
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

} // namespace archsim
