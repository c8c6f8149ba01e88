#pragma once
// What runs on a machine, as report blocks and as a JSON document.
//
//   RTX-4090: 61 of 154 language models run, with a context of 8192.
//   Largest: qwen3-32b in int4, 38.1 tokens/s. Fastest of 7 billion parameters and more: ...

#include "answers/local/local_models.hpp"
#include "archsim/extend/renderer.hpp"

#include <string>

namespace archsim {

/// How a list of models is shown.
struct LocalView {
    bool by_speed = false;     ///< fastest first; else largest first
    bool every_format = false; ///< each that runs; else the widest of a model
};
/// CSV has every model in every format.
Report describe(const LocalAnswer& answer, const LocalView& view, Format format);
/// Everything, keys with units.
std::string to_json(const LocalAnswer& answer, const LocalView& view);

} // namespace archsim
