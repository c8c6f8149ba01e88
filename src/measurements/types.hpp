#pragma once
// An estimate and what is needed to check it: the command that measures the same, and measured times of
// layers beside the estimated ones of subgraphs.

#include <cstdint>
#include <string>
#include <vector>

namespace archsim {

/// A line for the shell, or why there is none.
struct CheckCommand {
    std::string hardware, runtime, model;
    std::string command; ///< empty: see why_not
    std::string why_not;
    std::string note;
    std::string reads; ///< tool whose output validate_estimates --from reads; empty: none
};

struct LayerTime {
    std::string name;
    std::string kind; ///< the runtime's word for the operator; empty: it has none
    double seconds = 0;
};

/// One fused subgraph, estimated and measured.
struct ProfiledSubgraph {
    std::uint32_t index = 0; ///< in the partition
    std::string name, kind;
    double predicted_s = 0;
    double measured_s = 0;           ///< sum of its layers; 0: none has its name
    std::vector<std::string> layers; ///< as the runtime names them
};

/// A network's subgraphs with what a runtime measured.
struct LayerProfile {
    std::string hardware, tool;
    std::vector<ProfiledSubgraph> subgraphs; ///< of the partition, in its order
    std::vector<LayerTime> unmatched;        ///< layers that belong to no subgraph: copies, layout changes
    double predicted_s = 0, measured_s = 0;  ///< of all, the unmatched layers included
};

} // namespace archsim
