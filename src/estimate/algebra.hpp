#pragma once
// The algebra of estimates: parts one after another, a part again, a part on several devices. Models of
// several parts, steps of generated text and groups of devices are made with these; nothing above adds joules
// by hand.

#include "archsim/estimate/estimate.hpp"

#include <span>

namespace archsim {

/// A part of a whole and how often it runs.
struct Stage {
    const Estimate* estimate = nullptr;
    double times = 1;               ///< a mean over contexts has fractions
    double shared_weight_bytes = 0; ///< of the part's weights, those that an earlier part holds already
};

/// Bytes of weights in the device's memory: all but the tables that its stack leaves to the host's.
double held_weights(const NetworkWork& work, const Machine& machine);

/// Bytes of a network before its kernels are chosen: no workspace yet.
MemoryEstimate planned_memory(const NetworkWork& work, const Machine& machine);

/// Adds a stage to the memory of what runs before it. Weights are held at once, less those that `whole` holds
/// already; arena, live bytes, cache and workspace are pools, each as large as the stage that needs most.
void hold_together(MemoryEstimate& whole, const MemoryEstimate& stage, double shared_weight_bytes = 0);

/// Stages one after another on one machine, with `w` the whole, `s` a stage and `n` its times:
///
///   w.t         = sum of n s.t       for t: latency and its interval, energy of every event, static energy,
///                                    event counts, time outside subgraphs
///   w.batch / w.throughput_per_s
///               = sum of n s.batch / s.throughput_per_s      the stages take turns on the machine
///   w's energy per inference = w.energy.total() / w.batch
///   w.power_w   = w.energy.total() w.throughput_per_s / w.batch
///   w.utilization w.latency_s = sum of n s.utilization s.latency_s
///   w.memory    as hold_together; its peak = weights + arena + cache + workspace
///
/// A sequence of sequences is the sequence of all stages. The whole has the status and the reason of the
/// first stage that fails, and memory alone then. Subgraphs stay with their stages. The batch is the largest
/// one. Worked: an encoder of 3 ms and 60 mJ, then 20 decoder steps of 0.5 ms and 8 mJ: 13 ms, 220 mJ, 16.9
/// W.
Estimate in_sequence(std::span<const Stage> stages);

/// Takes over the evidence of networks like the one of `from`: in a sequence that of the stage that takes
/// longest.
void take_evidence(const Estimate& from, Estimate& to);

/// The same pass several times: in_sequence of one stage, with its subgraphs.
Estimate repeated(Estimate e, double times);

/// Energy per inference from the energy of the batch: what every one of these functions keeps true.
void share_among_inferences(Estimate& e);

/// An estimate of one of `devices` equal devices that share a network -> of all of them: energy, events and
/// power times their number. Time, throughput, utilisation and memory are those of each.
Estimate on_devices(Estimate one, double devices);

/// An estimate of one of `copies` equal groups side by side, each with its own part of the batch -> of all of
/// them: batch, throughput, energy, events and power times their number; per inference, and time, as before.
Estimate in_copies(Estimate one, double copies);

/// An estimate of devices that answer `batches` such batches at once: batch and throughput times their
/// number, energy and power as before.
Estimate with_batches(Estimate one, double batches);

/// While others of the group wait and draw `watts` together.
Estimate beside_waiting(Estimate e, double watts);

/// Each batch waits for the one before, whatever the machine could overlap:
/// throughput = batch / latency, power = energy / latency.
Estimate one_at_a_time(Estimate e);

/// `alone` on a machine that answers as in `busy` all the time: throughput, power, utilisation, and the
/// energy and events of alone's batch, are the busy machine's; time and memory stay.
Estimate kept_busy(Estimate alone, const Estimate& busy);

/// With a fixed time in which the machine, all devices together, draws `idle_power_w`. Intervals move along
/// in proportion.
Estimate lengthened(Estimate e, double seconds, double idle_power_w);
/// The same where all devices of the machine wait for their host, for a reason that the result shows.
Estimate waiting(Estimate e, double seconds, const Machine& machine, Parameter reason);

/// Seconds in which the host launches every kernel of a network, ahead of the device: what is longer decides.
/// 0 where graphs are captured. Worked: the 174 kernels of ResNet-50 under eager PyTorch take a host 8.0 ms
/// at 46 us each, and V100 2.8.
double launches_s(const NetworkWork& work, const Machine& machine);

} // namespace archsim
