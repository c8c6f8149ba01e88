#pragma once
// How a compiler lays the layers of a network out on a spatial pipeline: side by side as one, or cut into
// contexts that run in turn. Private to the NPU mapper.
//
// A chip has compute units and layer controllers. Every layer takes a whole number of units and a controller
// for each few of them, so that the image that leaves every interval waits for the layer with the most work
// per unit. What does not fit beside each other, by units, by controllers or by weights, is cut in the order
// of execution: the parts are loaded one after another, and tensors between them pass the chip's border.
// Before that stands what the compiler makes of a network's subgraphs: layers.

#include "archsim/map/machine.hpp"
#include "archsim/map/work.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace archsim::npu {

/// A layer, of one image.
struct Stage {
    double work = 0;           ///< cycles that it would occupy one compute unit
    double controllers = 1;    ///< operators of its own
    double per_controller = 0; ///< units that one controller can use on it; 0: as many as it drives
    double floor = 0;          ///< cycles that its results take to be handed on, whatever its units
    double pooled = 0;         ///< cycles that it takes what all layers share in any parts, beside the units
    double weights = 0;        ///< bytes
    double crossing = 0;       ///< bytes that were made before it and are read by it or later
};

/// The capacities that layers side by side share.
struct Capacity {
    double units = 0;          ///< compute units; 0: layers share the array in any parts
    double controllers = 0;    ///< 0: as many as there are layers
    double per_controller = 0; ///< units that a controller drives; 0: all of a layer's
    double weights = 0;        ///< bytes
};

/// Layers that are on the chip together.
struct Context {
    std::size_t first = 0, count = 0;
    double interval = 0; ///< cycles between images
};

/// A network in contexts, in the order of execution, and what one image takes in all of them.
struct Plan {
    std::vector<Context> contexts;
    double cycles = 0;         ///< the sum of the intervals
    double crossing_bytes = 0; ///< out of contexts and into later ones
};

/// Units and controllers of a layer that is to take no longer than `interval` cycles. A layer on more units
/// than a controller drives is split, and a controller more joins the parts. Worked: 1000 cycles of one unit
/// in intervals of 90, 8 units to a controller: 12 units, 2 + 1 controllers.
struct Needs {
    double units = 0, controllers = 0;
};
Needs needs_of(const Stage& stage, const Capacity& capacity, double interval);

/// The shortest interval in which all stages fit side by side; 0 when they do not.
double shortest_interval(std::span<const Stage> stages, const Capacity& capacity);

/// The stages in the contexts for which `time_of` gives least, among plans that spare bytes at the border
/// more or less. A stage that no context holds has one of its own.
Plan plan_contexts(std::span<const Stage> stages, const Capacity& capacity,
                   const std::function<double(const Plan&)>& time_of);

/// Layers of a pipeline that a subgraph becomes. A compiler merges what follows a product into it, but
/// for a sum with another tensor behind an activation; a normalisation and a softmax come apart.
double layers_of(const SubgraphWork& work, const Machine& machine);

/// Units that one controller can use on a subgraph: they divide its output channels, of which each makes
/// `unit_channels`; 0: not stated.
double units_of_controller(const SubgraphWork& work, double unit_channels);

/// The largest tensor that a subgraph hands on from layer to layer, in bytes.
double largest_tensor_bytes(const SubgraphWork& work, const Machine& machine);

/// Whether each subgraph turns results into boxes and scores: nothing that follows from it is a layer worth
/// the name. Compilers' parsers end at the last layers and leave that to the application.
std::vector<bool> decodes_results(const NetworkWork& network);

} // namespace archsim::npu
