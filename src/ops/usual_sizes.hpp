#pragma once
// Sizes that dimensions of inputs often have, for the command that a message shows; nothing is ever estimated
// at one of them unasked.

#include "archsim/graph/graph.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace archsim {

inline constexpr std::size_t kMostUsualSizes = 4;

/// For `name`, which is the dimension `symbol` of an axis or a part of its arithmetic: from the words in the
/// name, else from what the axis is of an image, of text or of sound. Likeliest first, at most
/// kMostUsualSizes, never empty.
std::vector<std::int64_t> usual_sizes(const Tensor& tensor, std::size_t axis, const std::string& symbol,
                                      const std::string& name);

/// The word as a shell takes it: quoted where a character asks for it.
std::string shell_quoted(const std::string& word);

/// "give it, for example --dim height=224", quoted for a shell where the name asks for it.
std::string size_hint(const std::string& name, std::int64_t size);

} // namespace archsim
