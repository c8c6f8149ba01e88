#pragma once
#include "archsim/hardware/stated_facts.hpp"

#include <nlohmann/json_fwd.hpp>

namespace archsim {

/// Walks a document: quantities, and plain numbers inside objects that name a source.
std::vector<StatedFact> stated_facts(const nlohmann::json& document);

} // namespace archsim
