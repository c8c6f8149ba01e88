#pragma once
// Collects the numbers of a device entry together with where each comes from, so that the file and the table
// that is printed cannot disagree.

#include "machine/this_machine.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace archsim {

using Json = nlohmann::ordered_json;

class EntryWriter {
  public:
    /// A number and its origin.
    struct Known {
        double value = 0;
        Origin origin = Origin::assumed;
        std::string from;
    };

    explicit EntryWriter(std::string id) { entry_.id = std::move(id); }

    Json document;

    /// {"value", "unit", "source"} of `known`, given in SI and written in units of `scale`.
    Json quantity(const Known& known, std::string_view unit, double scale = 1);
    /// Adds a line of the table.
    void fact(std::string what, std::string value, const Known& known);
    /// Key of the source that stands for this origin.
    std::string source(Origin origin, const std::string& from);
    void remark(std::string text) { entry_.remarks.push_back(std::move(text)); }
    MachineEntry& entry() { return entry_; }

    /// The entry with the document as its text.
    MachineEntry finish();

  private:
    MachineEntry entry_;
    std::vector<std::pair<std::string, const char*>> sources_; ///< what each cites, and its kind
};

} // namespace archsim
