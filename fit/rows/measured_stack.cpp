#include "fit/rows/measured_stack.hpp"
#include "core/parse_number.hpp"

#include <algorithm>
#include <limits>

namespace archsim {

namespace {

constexpr std::size_t kYearDigits = 4;
constexpr int kFirstYear = 1990, kLastYear = 2100;

bool claims(const MeasuredAs& rule, const MeasuredRow& row) {
    if (rule.stack != row.runtime)
        return false;
    const int year = last_year(row.source_date);
    const bool noted =
        row.variant.empty() && !rule.noted.empty() && row.note.find(rule.noted) != std::string::npos;
    return (rule.until == 0 || (year > 0 && year <= rule.until)) &&
           (rule.variant.empty() || row.variant == rule.variant || noted);
}

/// A claim on the variant says more than one on the year; an earlier year says more than a later one.
bool closer(const MeasuredAs& a, const MeasuredAs& b) {
    const auto until = [](const MeasuredAs& rule) {
        return rule.until > 0 ? rule.until : std::numeric_limits<int>::max();
    };
    return a.variant.empty() != b.variant.empty() ? !a.variant.empty() : until(a) < until(b);
}

} // namespace

int last_year(std::string_view date) {
    int last = 0;
    for (std::size_t at = 0; at + kYearDigits <= date.size(); ++at) {
        const int value = plain_number<int>(date.substr(at, kYearDigits)).value_or(0);
        if (value >= kFirstYear && value <= kLastYear)
            last = value;
    }
    return last;
}

MeasuredStacks::MeasuredStacks(const HardwareDatabase& database) {
    for (const std::string& id : database.runtime_ids()) {
        try {
            if (auto runtime = database.runtime(id); !runtime->measured_as.empty())
                claimants_.push_back(std::move(runtime));
        } catch (const InputError&) { // a file that cannot be used is told where a row asks for it
            continue;
        }
    }
}

std::string MeasuredStacks::of(const MeasuredRow& row) const {
    const MeasuredAs* best = nullptr;
    std::string stack = row.runtime;
    for (const auto& claimant : claimants_)
        for (const MeasuredAs& rule : claimant->measured_as)
            if (claims(rule, row) && (best == nullptr || closer(rule, *best))) {
                best = &rule;
                stack = claimant->id;
            }
    return stack;
}

} // namespace archsim
