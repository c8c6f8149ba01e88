#pragma once
// The software stack that a published row was measured with: its release and the way it was called.

#include "archsim/hardware/database.hpp"
#include "fit/errors/validation.hpp"

#include <memory>
#include <vector>

namespace archsim {

/// Stacks that claim published rows of another stack's name (`Runtime::measured_as`).
class MeasuredStacks {
  public:
    explicit MeasuredStacks(const HardwareDatabase& database);

    /// Id of the stack to run `row` with: of the claims that fit, one on the variant goes before one on the
    /// year alone, and an earlier year before a later one; else the row's own stack.
    std::string of(const MeasuredRow& row) const;

  private:
    std::vector<std::shared_ptr<const Runtime>> claimants_;
};

/// Last year named in a date or a period: 2022 for "2021-2022", 2019 for "2019-11-06"; 0 when there is none.
int last_year(std::string_view date);

} // namespace archsim
