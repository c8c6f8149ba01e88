#pragma once
// When two measured rows are predicted alike.

#include "fit/errors/validation.hpp"

#include <tuple>
#include <utility>

namespace archsim {

/// What decides the prediction of a row: everything but what was measured and where that is written.
inline auto row_key(const MeasuredRow& row) {
    return std::tuple(row.model, row.image_size, row.steps, row.sequence, row.batch, row.precision,
                      row.hardware, row.power_mode, row.devices, row.runtime, row.scope, row.metric,
                      row.source_date, row.variant, row.context, row.transfers, row.sampled, row.client,
                      row.phase, row.prompt_tokens, row.generated_tokens, row.boundary, row.replicas,
                      row.expert_devices, row.attention_groups);
}
using RowKey = decltype(row_key(std::declval<const MeasuredRow&>()));

} // namespace archsim
