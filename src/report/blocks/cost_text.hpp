#pragma once
// Prices of a device in words: "6.88 USD/h (2025-06, AWS p5.48xlarge / 8); 30000 USD (2023 street)".

#include "archsim/compare/cost.hpp"

#include <string>

namespace archsim {

/// Its prices with their dates, given ones first; "no published price" where there is none.
std::string price_text(const Result& result, const CostOptions& options);

} // namespace archsim
