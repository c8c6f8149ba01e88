#pragma once
// Devices by the names that people type: "RTX 4070 laptop, 32GB", "Mac mini M4 Pro (24 GB)", "2080Ti". Pure
// text in and out; what an index of names holds, and what a size of memory means, is the caller's.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// A size that a name states beside the device.
struct StatedMemory {
    double gigabytes = 0;
    /// "RTX 4070, 32 GB", "RTX 4070 with 32 GB RAM": the computer has it, not the card.
    bool of_computer = false;
};

struct LooseMatch {
    std::vector<std::size_t> devices; ///< that match equally well; empty when none does
    std::optional<StatedMemory> memory;
};

/// Names of devices as rows of words. A device matches a text when the words of one of its names follow each
/// other there, and what is left of the text says nothing that tells devices apart: vendors, kinds of
/// computers, a size of memory. The longest name decides: "M4 Max" is no M4.
class LooseNames {
  public:
    void add(std::string_view name, std::size_t device);
    LooseMatch find(std::string_view text) const;

  private:
    struct Name {
        std::vector<std::string> words;
        std::size_t device = 0;
    };
    std::vector<Name> names_;
};

/// "24GB", "24 GB", "24g": 24; nothing for any other text.
std::optional<double> gigabytes_of(std::string_view text);

} // namespace archsim
