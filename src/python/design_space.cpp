// archsim._archsim.DesignSpace: the rows of a sweep, or of one of its parts, as the text that
// sweep_design_space writes.

#include "python/bindings.hpp"

#include "archsim/report/sweep_report.hpp"
#include "archsim/run/sweep.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace py = pybind11;
using namespace archsim;

namespace {

RowFormat row_format(const std::string& name) {
    if (const auto format = parse_row_format(name))
        return *format;
    throw UsageError("format: \"" + name + "\" is neither csv nor ndjson");
}

Sweep design_space(const Session& session, const std::vector<std::string>& models,
                   const std::vector<std::string>& hardware, const std::vector<std::string>& vary,
                   const std::vector<std::int64_t>& batches, const std::vector<std::string>& precisions,
                   std::uint64_t part, std::uint64_t parts, const py::kwargs& fields) {
    SweepRequest request;
    request.models = models;
    request.hardware = hardware;
    request.precisions = precisions;
    request.batches = batches;
    for (const std::string& axis : vary)
        request.axes.push_back(parse_sweep_axis(axis));
    Question asked = question(fields, {"batch_size", "precision", "activations"});
    request.sizes = std::move(asked.workload.sizes);
    request.prompt = asked.workload.prompt;
    request.weights = asked.conditions.weights;
    request.conditions = std::move(asked.conditions); // its precision is each in turn
    request.shard = part;
    request.shards = parts;
    return {session, std::move(request)};
}

py::bytes rows(const Sweep& sweep, const std::string& format, unsigned threads) {
    const RowFormat how = row_format(format);
    std::string text;
    bool interrupted = false;
    {
        const py::gil_scoped_release parallel;
        sweep.run(sweep.first(), std::max(1U, threads), [&](std::span<const SweepRow> some) {
            append_rows(some, sweep.request().axes, how, text, *sweep.request().view.metrics);
            const py::gil_scoped_acquire python;
            interrupted = PyErr_CheckSignals() != 0;
            return !interrupted;
        });
    }
    if (interrupted)
        throw py::error_already_set();
    return text;
}

} // namespace

void bind_design_space(py::module_& m) {
    py::class_<Sweep>(m, "DesignSpace", "A design space, or one of its equal parts.")
        .def(py::init(&design_space), py::keep_alive<1, 2>(), py::arg("session"), py::kw_only(),
             py::arg("models"), py::arg("hardware"), py::arg("vary"), py::arg("batches"),
             py::arg("precisions"), py::arg("part") = 0, py::arg("parts") = 1)
        .def_property_readonly("size", &Sweep::size, "Points of the whole space.")
        .def_property_readonly("first", &Sweep::first, "First point of the part.")
        .def_property_readonly("last", &Sweep::last, "One past its last point.")
        .def(
            "header",
            [](const Sweep& sweep, const std::string& format) {
                return py::bytes(
                    sweep_header(sweep.request().axes, row_format(format), *sweep.request().view.metrics));
            },
            py::arg("format"))
        .def("rows", &rows, py::arg("format"), py::arg("threads") = 1,
             "The rows of the part as the lines of a file.");
}
