#pragma once
// What Explanations ask for in documents: keys that several tools share.

#include "fields/json_members.hpp"
#include "report/blocks/energy_report.hpp"
#include "report/blocks/explanations.hpp"

namespace archsim {

/// Results and what is to be explained of them.
struct Explained {
    std::span<const Result> results;
    Explanations explanations;
};

Members<Explained> energy_members();
Members<Explained> memory_members();
Members<Explained> cost_members();

/// "memory", "energy" and "cost", as far as asked for.
Members<Explained> explanation_members();

} // namespace archsim
