#include "core/spending.hpp"

#include "archsim/core/finding.hpp"

#include <fmt/format.h>

namespace archsim {

Spending::Spending(const Budget& budget, std::string what)
    : budget_(budget), what_(std::move(what)), begin_(std::chrono::steady_clock::now()) {}

void Spending::look_at_clock() const {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin_;
    if (taken.count() > budget_.seconds)
        refuse("seconds");
}

void Spending::refuse(const char* which) const {
    const std::string_view key = which;
    throw InputError(Finding{
        .kind = FindingKind::too_large,
        .message = key == "steps"
                       ? fmt::format("it takes more than {:.0f} steps, its loops counted out", budget_.steps)
                   : key == "bytes"
                       ? fmt::format("it takes more than {:.0f} MB of memory", budget_.bytes / 1e6)
                       : fmt::format("it takes longer than {:g} seconds", budget_.seconds),
        .file = what_,
        .hint = fmt::format("ask for less (sizes and trip counts with --dim, lengths and requests), or allow "
                            "more: {0}=... in ARCHSIM_BUDGET, Budget::{0} of a program",
                            key)});
}

} // namespace archsim
