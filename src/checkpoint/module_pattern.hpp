#pragma once
// Names of modules as configurations write them, held against those of our graphs.

#include <memory>
#include <string>
#include <string_view>
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
    /// What it costs to hold a name against it; 1: a plain name.
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

} // namespace archsim::checkpoint
