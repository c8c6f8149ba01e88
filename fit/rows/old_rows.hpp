#pragma once
// Files of measurements from before version 0.1.0 had columns for how a row was taken: there the note says
// it, in words that were agreed on. This is the only place that reads a note.

#include "archsim/compare/measured_row.hpp"

namespace archsim {

/// Fills variant, context, transfers, sampled and decided_by from the note of a row of such a file, and the
/// boundary where `boundary` says that the row names none. Worked: "Triton; AMP autocast" of a row of
/// pytorch-eager is the variant "autocast"; "cache length 2048" is a context of 2048.
void fill_from_note(MeasuredRow& row, bool boundary);

} // namespace archsim
