#pragma once
// How the weights of a checkpoint lie in memory: bits per weight with the share of their scales.

#include "archsim/core/precision.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace archsim::checkpoint {

/// A scheme for most matrices, exceptions by name, and bits that a file states tensor by tensor.
class WeightFormats {
  public:
    /// Every matrix takes `bits`, but those whose module name contains one of the exceptions.
    void set_scheme(double bits, std::vector<std::string> exceptions) {
        bits_ = bits;
        exceptions_ = std::move(exceptions);
    }
    /// Only modules whose name contains one of these take the scheme's bits.
    void only(std::vector<std::string> modules) { only_ = std::move(modules); }
    /// Bits of the tensors whose name starts so; the longest prefix wins.
    void set(std::string prefix, double bits) { stated_.emplace_back(std::move(prefix), bits); }

    /// Bits per element of the matrix of `module`; 0: as the type of the checkpoint.
    double bits(std::string_view module) const;

    double scheme_bits() const { return bits_; }

  private:
    double bits_ = 0;
    std::vector<std::string> exceptions_, only_;
    std::vector<std::pair<std::string, double>> stated_;
};

/// The format that a scheme of that name and that many bits per weight, scales among them, is run as: "q4_k"
/// of 4.5 bits is int4, "q6_k" of 6.56 int8, "mxfp4" fp4. None where it is not narrower than 16 bits.
std::optional<Precision> narrow_format(std::string_view name, double bits);

/// Whether a name pattern of modules_to_not_convert or ignore names `module`: components of its dotted name
/// one after the other, `*` for anything in one, or an expression after "re:".
bool names_module(std::string_view pattern, std::string_view module);

} // namespace archsim::checkpoint
