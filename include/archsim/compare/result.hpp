#pragma once
// One estimate together with what it was made from: the unit that comparisons and reports work on.

#include "archsim/compare/conditions.hpp"
#include "archsim/compare/generation.hpp"
#include "archsim/core/export.hpp"
#include "archsim/estimate/estimate.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace archsim {

/// Hardware-independent facts of a bound model.
struct ModelFacts {
    std::string name, title, source;
    double parameters = 0, macs = 0, operations = 0;
    double operators = 0; ///< with run-time work
    std::map<std::string, std::int64_t> dims;
    std::shared_ptr<const ShapedGraph> graph;
    std::vector<Finding> findings;
};

struct Result;
struct Workload;

/// A stage of a multi-part model.
struct ResultPart {
    std::string name;
    double repeat = 1;                    ///< executions per inference
    std::shared_ptr<const Result> result; ///< of one execution
};

/// One model on one device: the estimate and everything it was made from.
struct Result {
    std::shared_ptr<const ModelFacts> model;
    std::shared_ptr<const Device> device; ///< null when the device could not be read: see estimate.reason
    std::shared_ptr<const Runtime> runtime;
    std::shared_ptr<const Machine> machine;
    std::shared_ptr<const Partition> partition;
    std::shared_ptr<const NetworkWork> work;
    std::string hardware; ///< as asked for: "KPU-T64@3W"
    std::string power_mode;
    Conditions conditions; ///< as asked for
    /// As asked for; of its model, which `model` names, the file's own format alone. Null where no Session
    /// made the result.
    std::shared_ptr<const Workload> workload = {};
    Estimate estimate;             ///< with parts: their sum; of generated text: the whole answer
    std::vector<ResultPart> parts; ///< of a multi-part model
    std::shared_ptr<const GenerationEstimate> generation; ///< of a language model with a prompt
    /// The result of each of Conditions::duty's companions alone on the same device.
    std::vector<std::shared_ptr<const Result>> beside = {};

    /// True when there is an estimate.
    bool ok() const { return estimate.status == Status::ok; }
    /// Chips that work on it together.
    double devices() const { return machine ? machine->devices : 1; }
};

} // namespace archsim
