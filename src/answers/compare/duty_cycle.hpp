#pragma once
// Devices with a rate in tables and sentences: how much of their time each network takes, what is left, and
// what they draw.

#include "archsim/extend/renderer.hpp"
#include "archsim/run/compare_models.hpp"
#include "fields/json_members.hpp"
#include "result/duty_cycle.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace archsim {

/// The networks of a comparison on every slice of devices that several share: the first model's, with its
/// companions beside it. Nothing where nobody shares them.
std::vector<Result> on_slices(const Session& session, const ModelComparison& comparison);

/// The duty cycle of every result with an estimate and a rate, least average power first, with the slices
/// that networks need.
std::vector<DutyCycle> duty_cycles(std::span<const Result> results, std::span<const Result> slices,
                                   std::optional<PowerBoundary> boundary);
/// "One inference every 100 ms, with midas at 5/s: 62 % of the time, 38 % left, memory 0.4 GB, average
/// power 4.2 W, 4.8 h on the battery.": of one device, or of the one that does it best; of those that meet
/// every limit of the decision, which is over the same results, where any does.
std::string in_words(std::span<const DutyCycle> cycles, std::span<const Result> results,
                     const Decision& decision);
/// "STM32N6 and MAX78000 may draw less asleep, from 267 uW, which is not known: --idle-power states it.":
/// who does not sleep in these numbers and would draw less than the best if it did, with the least work
/// alone; empty: nobody.
std::string may_sleep_text(std::span<const DutyCycle> cycles, std::span<const Result> results,
                           const Decision& decision);
/// A table of the devices; one of the networks before it where several share them.
std::vector<Block> duty_blocks(std::span<const DutyCycle> cycles, PowerBoundary boundary);
Members<DutyCycle> duty_members();

} // namespace archsim
