#pragma once
// How the weights of a checkpoint lie in memory: bits per weight with the share of their scales.

#include "archsim/core/precision.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace archsim::checkpoint {

/// A name pattern of modules_to_not_convert, ignore or targets: components of a dotted name one after the
/// other, `*` for anything in one, or a regular expression after "re:".
class ModulePattern {
  public:
    ModulePattern(const std::string& pattern);
    /// `parts`: the components of `module`.
    bool names(const std::string& module, const std::vector<std::string>& parts) const;

  private:
    struct Expression;
    std::vector<std::string> components_;
    std::shared_ptr<const Expression> expression_; ///< null: there is none
};

/// A scheme for most matrices, exceptions by name, and bits that a file states tensor by tensor.
class WeightFormats {
  public:
    /// Every matrix takes `bits`, but those whose module name contains one of the exceptions.
    void set_scheme(double bits, std::vector<std::string> exceptions) {
        bits_ = bits;
        exceptions_.assign(exceptions.begin(), exceptions.end());
    }
    /// Modules that `pattern` names take these bits, not the scheme's; the first pattern that does wins.
    void set_pattern(const std::string& pattern, double bits) { patterns_.emplace_back(pattern, bits); }
    /// Bits of the tensors whose name starts so; the longest prefix wins.
    void set(std::string prefix, double bits) { stated_.emplace_back(std::move(prefix), bits); }

    /// Bits per element of the matrix of `module`; 0: as the type of the checkpoint.
    double bits(std::string_view module) const;

    /// Of most matrices, 0: as the type of the checkpoint.
    double scheme_bits() const { return bits_ > 0 || patterns_.empty() ? bits_ : patterns_.front().second; }

  private:
    double bits_ = 0;
    std::vector<ModulePattern> exceptions_;
    std::vector<std::pair<ModulePattern, double>> patterns_;
    std::vector<std::pair<std::string, double>> stated_;
};

/// The format that a scheme of that name and that many bits per weight, scales among them, is run as: "q4_k"
/// of 4.5 bits is int4, "q6_k" of 6.56 int8, "mxfp4" fp4. None where it is not narrower than 16 bits.
std::optional<Precision> narrow_format(std::string_view name, double bits);

/// Whether `pattern` names `module`.
bool names_module(std::string_view pattern, std::string_view module);

} // namespace archsim::checkpoint
