#pragma once
#include "hardware/stated_facts.hpp"

#include "core/json_document.hpp"

namespace archsim {

/// Walks a document: quantities, and plain numbers inside objects that name a source.
std::vector<StatedFact> stated_facts(const JsonValue& document);

/// What count_sources(stated_facts(document)) is, without writing down a text.
SourceCounts stated_sources(const JsonValue& document);

} // namespace archsim
