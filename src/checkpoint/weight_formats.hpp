#pragma once
// How the weights of a checkpoint lie in memory, by the names of modules as configurations write them: bits
// per weight with the share of their scales.

#include "archsim/core/precision.hpp"
#include "core/spending.hpp"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace archsim::checkpoint {

/// A module of the graph ("model.layers.3.mlp.up_proj"), its components, and how files may spell it.
class ModuleName {
  public:
    explicit ModuleName(std::string_view name);
    const std::string& text() const { return text_; }
    const std::vector<std::string>& components() const { return components_; }
    /// Its names in files of all authors ("model.layers.3.ffn.w3"), its own first; made when first asked for.
    const std::vector<std::string>& spellings() const;

  private:
    std::string text_;
    std::vector<std::string> components_;
    mutable std::vector<std::string> spellings_;
};

/// A name pattern of modules_to_not_convert, ignore or targets: components of a dotted name one after the
/// other, `*` for anything in one, or a regular expression after "re:". Authors' names stand for ours: "ffn"
/// for "mlp", and one expert for all of them, which the graph keeps in one matrix.
class ModulePattern {
  public:
    ModulePattern(const std::string& pattern);
    bool names(const ModuleName& module) const;
    /// The same for patterns that name the same modules: those of the experts of a layer.
    const std::string& key() const { return key_; }
    /// The cost of holding a name against it; 1: a plain name.
    double cost() const { return expression_ ? 1 + static_cast<double>(key_.size()) : 1; }

  private:
    struct Expression;
    /// Any of these names, which have stars in them or not.
    struct Component {
        std::vector<std::string> names;
        bool stars = false;
        bool operator()(const std::string& part) const;
    };
    std::string key_;
    std::vector<Component> components_;
    std::shared_ptr<const Expression> expression_; ///< null: there is none
};

/// How a matrix is quantised.
struct WeightScheme {
    double bits = 0; ///< per weight, scales among them; 0: it is not
    std::string format;
    std::optional<Precision> products; ///< both operands are quantised to it; none: weights alone are narrow
    double bits_of_matrix = 0;         ///< of a code book of each matrix
};

/// A scheme for most matrices, exceptions by name, and bits that a file states tensor by tensor.
class WeightFormats {
  public:
    /// The budget for holding names against patterns; `file` is named where it costs more.
    void allow(const Budget& budget, const std::string& file) { spending_ = Spending(budget, file); }
    /// Every matrix is quantised so, but those whose module name contains one of the exceptions. `usual` are
    /// left out too, unless a pattern names them.
    void set_scheme(WeightScheme scheme, std::vector<std::string> exceptions,
                    std::vector<std::string> usual) {
        scheme_ = std::move(scheme);
        exceptions_.assign(exceptions.begin(), exceptions.end());
        usual_.assign(usual.begin(), usual.end());
    }
    /// Modules that `pattern` names are quantised so, not as most; the first pattern that does wins. Bits 0:
    /// they are not.
    void set_pattern(const std::string& pattern, WeightScheme scheme);
    /// Bits of the tensors whose name starts so; the longest prefix wins.
    void set(std::string prefix, double bits) { stated_.emplace_back(std::move(prefix), bits); }

    /// That of the matrix of `module`; bits 0: as the type of the checkpoint.
    WeightScheme of(std::string_view module) const;

    /// Whether matrices differ by name otherwise than by being left out.
    bool mixed() const { return !patterns_.empty(); }
    /// Bits of those that are not named, else of the first that are; 0: as the type of the checkpoint.
    double scheme_bits() const {
        return scheme_.bits > 0 || patterns_.empty() ? scheme_.bits : patterns_.front().second.bits;
    }

  private:
    WeightScheme named(std::string_view module) const; ///< whatever is stated tensor by tensor

    WeightScheme scheme_;
    std::vector<ModulePattern> exceptions_, usual_;
    std::vector<std::pair<ModulePattern, WeightScheme>> patterns_;
    std::set<std::string> known_; ///< keys of patterns_
    std::vector<std::pair<std::string, double>> stated_;
    mutable Spending spending_{Budget{}, "the configuration of a model"};
};

/// The format that a scheme of that name and that many bits per weight, scales among them, is run as: "q4_k"
/// of 4.5 bits is int4, "q6_k" of 6.56 int8, "mxfp4" fp4. None where it is not narrower than 16 bits.
std::optional<Precision> narrow_format(std::string_view name, double bits);

} // namespace archsim::checkpoint
