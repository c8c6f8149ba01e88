// archsim._archsim.DesignSpace: the rows of a sweep, or of one of its parts, as the text that
// sweep_design_space writes.

#include "python/bindings.hpp"

#include "answers/sweep/sweep.hpp"
#include "answers/sweep/sweep_report.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace py = python;
using namespace archsim;

namespace {

/// A sweep and the object of Python whose session it asks.
struct DesignSpace {
    py::Ref session;
    Sweep sweep;
};

DesignSpace design_space(const py::Ref& session, const std::vector<std::string>& models,
                         const std::vector<std::string>& hardware, const std::vector<std::string>& vary,
                         const AskedSizes& batches, const std::vector<std::string>& precisions,
                         std::uint64_t part, std::uint64_t parts, const py::Keywords& fields) {
    SweepRequest request;
    request.models = models;
    request.hardware = hardware;
    request.precisions = precisions;
    request.batches = batch_sizes(batches);
    for (const std::string& axis : vary)
        request.axes.push_back(parse_sweep_axis(axis));
    Question asked = question(fields, {"batch_size", "precision", "activations"});
    request.sizes = std::move(asked.workload.sizes);
    request.prompt = asked.workload.prompt;
    request.single_pass = asked.workload.single_pass;
    request.weights = asked.conditions.weights;
    request.conditions = std::move(asked.conditions); // its precision is each in turn
    request.shard = part;
    request.shards = parts;
    return {session, {py::Taken<Session>::take(session.get()), std::move(request)}};
}

py::Ref rows(const DesignSpace& space, const std::string& format, unsigned threads) {
    const Sweep& sweep = space.sweep;
    const RowFormat how = choice_named<RowFormat>(format, "format");
    std::string text;
    bool interrupted = false;
    {
        const py::Released parallel;
        sweep.run(sweep.first(), std::max(1U, threads), [&](std::span<const SweepRow> some) {
            append_rows(some, sweep.request().axes, how, text, *sweep.request().view.metrics);
            const py::Acquired python;
            interrupted = PyErr_CheckSignals() != 0;
            return !interrupted;
        });
    }
    if (interrupted)
        throw py::Raised();
    return py::bytes(text);
}

} // namespace

void bind_design_space(py::Module& m) {
    py::Class<DesignSpace>(m, "DesignSpace", "A design space, or one of its equal parts.")
        .init(&design_space, py::arg("session"), py::kw_only(), py::arg("models"), py::arg("hardware"),
              py::arg("vary"), py::arg("batches"), py::arg("precisions"), py::arg("part") = 0,
              py::arg("parts") = 1)
        .def_property_readonly(
            "size", [](const DesignSpace& space) { return space.sweep.size(); }, "Points of the whole space.")
        .def_property_readonly(
            "first", [](const DesignSpace& space) { return space.sweep.first(); }, "First point of the part.")
        .def_property_readonly(
            "last", [](const DesignSpace& space) { return space.sweep.last(); }, "One past its last point.")
        .def(
            "header",
            [](const DesignSpace& space, const std::string& format) {
                const Sweep& sweep = space.sweep;
                return py::bytes(sweep_header(sweep.request().axes, choice_named<RowFormat>(format, "format"),
                                              *sweep.request().view.metrics));
            },
            py::arg("format"))
        .def("rows", &rows, py::arg("format"), py::arg("threads") = 1,
             "The rows of the part as the lines of a file.");
}
