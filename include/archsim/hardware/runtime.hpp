#pragma once
// A software stack: what it fuses, what overlaps, what it costs to start a kernel, what it cannot run.

#include "archsim/core/export.hpp"
#include "archsim/core/precision.hpp"
#include "archsim/extend/fusion_policy.hpp"
#include "archsim/hardware/device.hpp"
#include "archsim/hardware/parameters.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace archsim {

struct OperatorRules;

enum class WeightPrefetch : std::uint8_t { layer, network };
enum class Fallback : std::uint8_t { none, host, vector };
/// Models whose GGUF files a stack opens.
enum class GgufModels : std::uint8_t { none, language, images };

/// A parameter of a stack, with what differs by generation.
struct ParameterEntry {
    Parameter parameter{};
    Fact value; ///< default
    std::vector<std::pair<std::string, Fact>> by_generation;
};

/// The formats that a stack multiplies in when it is given fp32 tensors and told nothing else.
struct Fp32Mathematics {
    Precision products = Precision::fp32, convolutions = Precision::fp32;
    Precision stored = Precision::fp32;   ///< tensors that only such products read
    std::shared_ptr<const Source> source; ///< of the statement; null where the stack makes none
};

/// Published measurements name a stack, not its release nor how it was called. A stack that describes an
/// older release or another way of calling says which of them are its own.
struct MeasuredAs {
    std::string stack;   ///< as the measurements name it
    int until = 0;       ///< published in this year or before; 0: any year
    std::string variant; ///< as the measurements name the release or the way of calling; empty: any
    std::string noted;   ///< words in the note of rows that name no variant; empty: none
    /// Releases from one on, and before another, as the variant names them; empty: any.
    std::string since, before;
    std::string except; ///< client whose scripts start the stack as later releases start; empty: none
};

/// How to measure what an estimate says: a line for the shell, or why there is none. check_command() fills
/// it.
struct CheckTemplate {
    std::string command;                                       ///< with {placeholders}; empty: see why_not
    std::string why_not;                                       ///< why nobody outside the vendor can measure
    std::map<std::string, std::string, std::less<>> precision; ///< words for {precision} by format
    std::string reads; ///< tool whose output read_tool_output() reads; empty: none
    std::string note;  ///< what must be done before, or how to read the result
    std::string cite;  ///< where the tool is documented
};

/// Who compiles networks before they are deployed: the device loads what came out, and builds nothing.
struct CompiledBefore {
    std::string tool;
    std::vector<std::string> generations; ///< of devices; empty: all
    Fact build;                           ///< seconds on the device: none
};

/// A software stack: what it fuses, what it costs per kernel, what it cannot run.
struct Runtime {
    std::string id, name, description;
    std::vector<std::string> aliases;
    std::string base; ///< id of the stack that this one states its differences from; empty: none
    std::vector<MeasuredAs> measured_as;
    std::vector<Family> families;
    std::vector<std::string> vendors, generations; ///< empty = any
    FusionPolicy fusion;
    std::map<Family, FusionPolicy> fusion_by_family; ///< where a family's part of the stack joins otherwise
    Fact combine_exponent; ///< p of (compute^p + memory^p)^(1/p): 1 = added, infinity = fully overlapped
    Fp32Mathematics fp32;  ///< applies on devices that have these formats
    WeightPrefetch weight_prefetch = WeightPrefetch::layer;
    bool streams_weights =
        true; ///< on chips without memory of their own, weights can come from the host in every inference
    bool graph_capture = false;
    bool autocast = false; ///< 16-bit runs are automatic mixed precision (PrecisionConfig::autocast)
    bool independent_streams = false; ///< saturated throughput = one stream per core
    bool language_models =
        false; ///< made for autoregressive language models: preferred for them on its devices
    GgufModels gguf = GgufModels::none;
    std::vector<Precision> precisions;         ///< empty = all the device has
    std::vector<Precision> weight_only;        ///< weight formats narrower than arithmetic
    std::vector<Precision> unusual;            ///< of `precisions`: few networks are deployed in them
    std::vector<std::string> instruction_sets; ///< of engines that not every stack uses (Engine::isa)
    /// Those of them that its convolutions reach, too; absent: all. A stack may have kernels of its own for
    /// convolutions and give matrix products alone to a matrix unit.
    std::optional<std::vector<std::string>> convolution_instruction_sets;
    std::vector<ParameterEntry> parameters;
    std::shared_ptr<const OperatorRules> rules; ///< what its compiler takes; null: everything
    /// ONNX operators with 8-bit kernels on a CPU; the others of an 8-bit network run in fp32 between
    /// conversions. Empty: the stack does not say, nothing is converted.
    std::vector<std::string> integer_operators;
    /// Kernels of 8-bit networks on a CPU that run on one thread: operator types, and DequantizeLinear for
    /// conversions to floats.
    std::vector<std::string> one_thread_operators;
    Fallback fallback = Fallback::none;
    Fact compile_per_operator, compile_base;       ///< seconds, cold start
    std::optional<CompiledBefore> compiled_before; ///< of its devices, or of some
    CheckTemplate check;
    std::vector<std::string> notes;
    std::string file;
    std::vector<Finding> findings; ///< problems of the entry that do not prevent its use

    /// True when the device names this stack, or names none while family, vendor and generation fit.
    ARCHSIM_API bool serves(const Device& device) const;
    /// The joins that it makes on devices of that family.
    const FusionPolicy& fusion_on(Family family) const {
        const auto own = fusion_by_family.find(family);
        return own != fusion_by_family.end() ? own->second : fusion;
    }
    /// Null where the device compiles networks itself.
    const CompiledBefore* compiled_for(const std::string& generation) const {
        const bool all = compiled_before && compiled_before->generations.empty();
        return all || (compiled_before && std::count(compiled_before->generations.begin(),
                                                     compiled_before->generations.end(), generation) > 0)
                   ? &*compiled_before
                   : nullptr;
    }
    /// True when it runs that format where a device has it.
    bool allows(Precision p) const {
        return precisions.empty() || std::find(precisions.begin(), precisions.end(), p) != precisions.end();
    }
};

} // namespace archsim
