#pragma once
// `--sort COLUMN` and `--top N` of tools whose tables list things that can be ranked.

#include "archsim/extend/renderer.hpp"

#include <cstddef>
#include <string>

namespace archsim {

/// What was asked for.
struct TableOrder {
    std::string column;  ///< heading or key of a column, in any case: "bandwidth", "int8"; empty: as they are
    std::size_t top = 0; ///< rows that stay; 0: all
    /// False: everything stays as it is.
    bool asked() const { return !column.empty() || top > 0; }
};

/// Orders the rows of the report's first table and of those after it that have the same columns, which become
/// one table: numbers best first, as the column says; texts by letter; rows
/// without a value last. Throws UsageError that lists the columns where none has that name.
void order_tables(Report& report, const TableOrder& order);

} // namespace archsim
