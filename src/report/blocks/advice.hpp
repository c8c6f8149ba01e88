#pragma once
// What would help a device, from what binds it: the rules of docs/tutorials/ml_engineer.md.
//
//   What would help:
//     * H100, A100: fixed cost of kernels is 61 % of the time: a larger batch (--batch-size), or a stack that
//       fuses more (--runtime)
//     * Xeon-8490H: memory is 83 % of the time: fewer bytes, --precision int8

#include "archsim/compare/result.hpp"
#include "archsim/extend/renderer.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace archsim {

/// A change, and the results that it would help.
struct Advice {
    std::vector<std::size_t> results;
    std::string text;
};

/// "H100 is bound by starting kernels and layers, 61 % of its time"; of a network in which one operator that
/// is no product takes most of the time its name and both times: "QRB5165 spends 99 % of its time in
/// NonMaxSuppression, at the upper bound of its output; the rest takes 9.05 ms". Empty where the time has no
/// parts.
std::string bound_sentence(const Result& result, const std::string& label);

/// One piece of advice per result that has any, equal ones together, in the order of the results.
std::vector<Advice> advice_for(std::span<const Result> results);

/// A heading and one bullet per piece of advice, at most `most` of them (0: all); nothing where there is
/// none.
std::vector<Block> advice_blocks(std::span<const Result> results, const std::vector<std::string>& labels,
                                 std::size_t most);

/// The devices of a piece of advice.
std::vector<std::string> names_of(const Advice& advice, const std::vector<std::string>& labels);

/// A heading "Next steps:" and the commands; nothing where there are none.
std::vector<Block> command_blocks(const std::vector<std::string>& commands);

} // namespace archsim
