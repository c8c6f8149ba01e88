#pragma once
// Files of measurements without columns for how a row was taken say it in notes, in words that were agreed
// on. This is the only place that reads a note.

#include "archsim/compare/measured_row.hpp"

namespace archsim {

/// Fills context, transfers, sampled and decided_by from the note of a row of such a file, and the boundary
/// where `boundary` says that the row names none. Worked: "cache length 2048" is a context of 2048.
void fill_from_note(MeasuredRow& row, bool boundary);

} // namespace archsim
