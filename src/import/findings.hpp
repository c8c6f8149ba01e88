#pragma once
// Collects what is found while importing one file, within bounds: a damaged file can be wrong in a million
// places.

#include "archsim/core/finding.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace archsim::import {

class Findings {
  public:
    explicit Findings(std::string file) : file_(std::move(file)) {}

    void add(Finding finding);
    void add(FindingKind kind, Severity severity, std::string where, std::string message,
             std::string hint = "export the model again");

    /// What was found; the last entry says how many more there were.
    std::vector<Finding> take();

  private:
    static constexpr std::size_t kMaxListed = 200;

    std::string file_;
    std::vector<Finding> listed_;
    std::size_t unlisted_ = 0;
    Severity worst_unlisted_ = Severity::note;
};

} // namespace archsim::import
