#pragma once
// Estimates beside those that were asked for: the same devices in other power modes, formats, under other
// stacks.

#include "archsim/compare/decisions.hpp"
#include "archsim/hardware/database.hpp"
#include "archsim/run/session.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace archsim {

/// Other power modes of devices that miss a limit, those in which they meet every one; totals only.
std::vector<Result> modes_within(const Session& session, const Workload& workload,
                                 std::span<const Result> results, const DecisionRequest& limits);

/// Whether a question leaves the format open, and is of a kind whose weights are published in several.
bool may_take_fewer_bits(const Workload& workload, const Conditions& conditions);
/// A result that the memory does not hold, in the widest format of fewer bits that it holds, of those in
/// which language models and generators of images are published: fp8 where the device multiplies it, 8 and 4
/// bits a weight beside 16-bit products. Where none fits the last, whose reason says so; absent where there
/// is no narrower one.
std::optional<Result> in_fewer_bits(const Session& session, const Workload& workload,
                                    const Result& too_large);

/// The changes that would help the few best results: of each kind of change the one that gains most, of
/// formats the widest that gains. Larger batches are tried where items come together (Scenario::throughput, a
/// batch): a camera has one.
std::vector<TriedChange> tried_changes(const Session& session, const Workload& workload,
                                       std::span<const Result> results, const DecisionRequest& limits);

/// The names, each with the size of memory that a comma cut from it ("RTX 4070 laptop" and "32GB" are one
/// name), every NAME@all replaced by NAME@MODE for each mode, in the order of the device's file, and a family
/// ("npu") or "all" by their devices, unless `families` stay names of architectures. Throws InputError for a
/// device that does not exist or has no modes.
std::vector<std::string> with_every_mode(const HardwareDatabase& hardware,
                                         const std::vector<std::string>& names, bool families = true);
/// The names, those of devices whose usual power mode may draw more than a limit on power with the mode that
/// may draw the most within it ("Jetson-Orin-NX" at 10 W: "Jetson-Orin-NX@10W"): a budget of power is what a
/// board is set to. Names that state a mode, and devices without a mode within the limit, stay.
std::vector<std::string> in_modes_within(const HardwareDatabase& hardware, std::vector<std::string> names,
                                         std::span<const Constraint> limits);
/// The conditions with as many devices as the name says, and the name of one: "8xH100" is "H100" and 8.
/// Throws UsageError where the conditions already say another number.
std::pair<std::string, Conditions> of_one_device(const HardwareDatabase& hardware, std::string_view name,
                                                 Conditions conditions);
/// The first of names that mean one device in one mode. Throws InputError for a device that does not exist.
std::vector<std::string> each_once(const HardwareDatabase& hardware, std::vector<std::string> names);

} // namespace archsim
