#pragma once
// What binds a device, and what was tried that helps it.
//
//   What would help, tried:
//     * H100: --precision fp8, 1.62x; --runtime vllm, 1.1x

#include "archsim/compare/decisions.hpp"
#include "archsim/extend/renderer.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace archsim {

/// What would help one result.
struct Advice {
    std::size_t result = 0;
    std::string text;
};

/// "H100 is bound by starting kernels and layers, 61 % of its time"; of a network in which one operator that
/// is no product takes most of the time its name and both times: "QRB5165 spends 99 % of its time in
/// NonMaxSuppression, at the upper bound of its output; the rest takes 9.05 ms". Empty where the time has no
/// parts.
std::string bound_sentence(const Result& result, const std::string& label);

/// One piece of advice per result for which a change was found; then measurements that would narrow an
/// interval.
std::vector<Advice> advice_for(std::span<const TriedChange> tried, std::span<const Result> results);

/// A heading and a bullet for each; nothing where there is none.
std::vector<Block> advice_blocks(std::span<const TriedChange> tried, std::span<const Result> results,
                                 const std::vector<std::string>& labels);

/// A heading "Next steps:" and the commands; nothing where there are none.
std::vector<Block> command_blocks(const std::vector<std::string>& commands);

} // namespace archsim
