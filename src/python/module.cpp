// The extension module archsim._archsim: a Session, models and results for Python. The package in
// src/python/archsim adds what is plain Python (dictionaries, data frames, typing).

#include "archsim/core/version.hpp"
#include "archsim/report/compare_models.hpp"
#include "archsim/report/result_json.hpp"
#include "archsim/run/compare_models.hpp"
#include "archsim/run/session.hpp"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace py = pybind11;
using namespace archsim;

namespace {

using Dims = std::map<std::string, std::int64_t>;

RunOptions run_options(const std::string& precision, const std::string& runtime, const std::string& scenario,
                       const std::string& scope, int devices) {
    RunOptions options;
    const auto parsed = PrecisionConfig::parse(precision);
    if (!parsed)
        throw UsageError("precision: \"" + precision + "\" is not known");
    options.precision = *parsed;
    options.runtime = runtime;
    if (scenario != "latency" && scenario != "throughput")
        throw UsageError("scenario: \"" + scenario + "\" is neither latency nor throughput");
    options.scenario = scenario == "throughput" ? Scenario::throughput : Scenario::latency;
    if (scope != "kernel" && scope != "end_to_end")
        throw UsageError("scope: \"" + scope + "\" is neither kernel nor end_to_end");
    options.scope = scope == "end_to_end" ? Scope::end_to_end : Scope::kernel;
    if (devices < 1)
        throw UsageError("devices: at least one");
    options.chips = devices;
    return options;
}

Bindings bindings(const Dims& dims) {
    Bindings result;
    result.dims = dims;
    return result;
}

ModelComparison compare(const Session& session, const std::vector<std::string>& models,
                        const std::vector<std::string>& hardware, const std::string& deployment,
                        std::int64_t batch, const Dims& dims, const std::string& precision,
                        const std::vector<std::string>& runtimes, const std::string& scenario,
                        const std::string& scope) {
    CompareModelsRequest request;
    request.models = models;
    request.hardware = hardware;
    request.deployment = deployment;
    request.batch_size = batch;
    request.dims = dims;
    request.precision = precision;
    request.runtimes = runtimes;
    const RunOptions options = run_options(precision, "", scenario, scope, 1);
    request.scenario = options.scenario;
    request.scope = options.scope;
    return archsim::compare_models(session, request, bindings(dims), options);
}

/// Totals over hardware x batch sizes as arrays of that shape; NaN where a device cannot run the model.
std::map<std::string, py::array_t<double>> sweep(const Session& session, const Model& model,
                                                 const std::vector<std::string>& hardware,
                                                 const std::vector<std::int64_t>& batches, const Dims& dims,
                                                 const std::string& precision, const std::string& scenario) {
    RunOptions options = run_options(precision, "", scenario, "kernel", 1);
    options.keep_subgraphs = false;
    const std::vector<const char*> names = {"latency_s",        "latency_low_s",    "latency_high_s",
                                            "throughput_per_s", "power_w",          "energy_per_inference_j",
                                            "utilization",      "peak_memory_bytes"};
    std::vector<std::vector<double>> values(names.size());
    {
        const py::gil_scoped_release parallel;
        std::vector<std::shared_ptr<const BoundModel>> bound;
        for (const std::int64_t batch : batches)
            bound.push_back(session.bind(model, batch, bindings(dims)));
        for (const std::string& device : hardware) {
            session.hardware().device(device); // an unknown name is an error, not a row of NaN
            for (const auto& at_batch : bound) {
                const Estimate e = session.run(at_batch, device, options).estimate;
                const double nan = std::numeric_limits<double>::quiet_NaN();
                const bool ok = e.status == Status::ok;
                const std::vector<double> row = {
                    e.latency_s, e.latency_interval.low,   e.latency_interval.high, e.throughput_per_s,
                    e.power_w,   e.energy_per_inference_j, e.utilization,           e.memory.peak_bytes};
                for (std::size_t i = 0; i < row.size(); ++i)
                    values[i].push_back(ok ? row[i] : nan);
            }
        }
    }
    std::map<std::string, py::array_t<double>> arrays;
    for (std::size_t i = 0; i < names.size(); ++i) {
        py::array_t<double> array({hardware.size(), batches.size()});
        std::copy(values[i].begin(), values[i].end(), array.mutable_data());
        arrays.emplace(names[i], std::move(array));
    }
    return arrays;
}

} // namespace

PYBIND11_MODULE(_archsim, m) {
    m.attr("__version__") = std::string(version());

    // The newest translator is tried first: the base class comes first.
    const auto& error = py::register_exception<Error>(m, "Error");
    py::register_exception<UsageError>(m, "UsageError", error);
    py::register_exception<InputError>(m, "InputError", error);
    py::register_exception<IncompleteError>(m, "IncompleteError", error);

    py::class_<Model>(m, "Model", "An imported model; bind it to sizes with Session.bind().")
        .def_property_readonly("name", [](const Model& model) { return model.info.name; })
        .def_property_readonly("title", [](const Model& model) { return model.info.title; });

    py::class_<BoundModel, std::shared_ptr<BoundModel>>(m, "BoundModel", "A model at concrete sizes.")
        .def_property_readonly("name", [](const BoundModel& model) { return model.facts()->name; })
        .def_property_readonly(
            "parameters", [](const BoundModel& model) { return model.facts()->parameters; },
            "Learned parameters.")
        .def_property_readonly(
            "macs", [](const BoundModel& model) { return model.facts()->macs; },
            "Multiply-accumulates; 1 MAC = 2 operations.")
        .def_property_readonly("operations",
                               [](const BoundModel& model) { return model.facts()->operations; })
        .def_property_readonly(
            "dims", [](const BoundModel& model) { return model.facts()->dims; },
            "Size of every symbolic dimension.")
        .def_property_readonly(
            "complete", [](const BoundModel& model) { return model.graph().complete(); },
            "False when a part of the model is not understood.")
        .def_property_readonly("findings", [](const BoundModel& model) {
            std::vector<std::string> texts;
            for (const Finding& finding : model.facts()->findings)
                texts.push_back(to_string(finding));
            return texts;
        });

    py::class_<SubgraphEstimate>(m, "Subgraph", "One fused subgraph of an estimate.")
        .def_readonly("index", &SubgraphEstimate::index)
        .def_readonly("latency_s", &SubgraphEstimate::latency_s)
        .def_property_readonly("bound",
                               [](const SubgraphEstimate& s) { return std::string(name_of(s.bound)); })
        .def_property_readonly("binding_resource",
                               [](const SubgraphEstimate& s) { return std::string(name_of(s.binding)); })
        .def_readonly("utilization", &SubgraphEstimate::utilization)
        .def_readonly("dram_bytes", &SubgraphEstimate::dram_bytes)
        .def_property_readonly("energy_j", [](const SubgraphEstimate& s) { return s.energy.total(); })
        .def_property_readonly("allocation",
                               [](const SubgraphEstimate& s) { return s.mapping.allocation.scheme; });

    py::class_<Result>(m, "Result",
                       "One estimate with what it was made from. Times are seconds, energies joules.")
        .def_property_readonly("model", [](const Result& r) { return r.model->name; })
        .def_readonly("hardware", &Result::hardware)
        .def_readonly("power_mode", &Result::power_mode)
        .def_property_readonly("runtime", [](const Result& r) { return r.runtime ? r.runtime->id : ""; })
        .def_property_readonly("ok", &Result::ok)
        .def_property_readonly("status",
                               [](const Result& r) { return std::string(name_of(r.estimate.status)); })
        .def_property_readonly("reason", [](const Result& r) { return r.estimate.reason; })
        .def_property_readonly("precision_note", [](const Result& r) { return r.estimate.precision_note; })
        .def_property_readonly("batch", [](const Result& r) { return r.estimate.batch; })
        .def_property_readonly(
            "latency_s", [](const Result& r) { return r.estimate.latency_s; }, "Time of the whole batch.")
        .def_property_readonly(
            "latency_interval_s",
            [](const Result& r) {
                return std::pair(r.estimate.latency_interval.low, r.estimate.latency_interval.high);
            },
            "Nominal 90 % interval.")
        .def_property_readonly("throughput_per_s",
                               [](const Result& r) { return r.estimate.throughput_per_s; })
        .def_property_readonly("power_w", [](const Result& r) { return r.estimate.power_w; })
        .def_property_readonly("energy_per_inference_j",
                               [](const Result& r) { return r.estimate.energy_per_inference_j; })
        .def_property_readonly("utilization", [](const Result& r) { return r.estimate.utilization; })
        .def_property_readonly("peak_memory_bytes",
                               [](const Result& r) { return r.estimate.memory.peak_bytes; })
        .def_property_readonly("subgraphs", [](const Result& r) { return r.estimate.subgraphs; })
        .def("subgraph_name",
             [](const Result& r, std::size_t i) { return r.partition->subgraphs.at(i).name; })
        .def("to_json", [](const Result& r) { return to_json(r); });

    py::class_<ModelComparison>(m, "Comparison", "Models x devices, ranked.")
        .def_readonly("results", &ModelComparison::results)
        .def("to_json", [](const ModelComparison& c) { return to_json(c); })
        .def(
            "to_text",
            [](const ModelComparison& c, int width, bool verbose) {
                return render(describe(c, {.verbose = verbose}), Format::text, {.width = width});
            },
            py::arg("width") = 100, py::arg("verbose") = false)
        .def("to_html", [](const ModelComparison& c) { return render(describe(c, {}), Format::html); });

    py::class_<Session>(m, "Session",
                        "The hardware database and the model catalogue. Safe to use from several threads.")
        .def(py::init([](const std::string& data, const std::vector<std::string>& overlays) {
                 SessionOptions options;
                 options.data = data;
                 options.hardware_overlays.assign(overlays.begin(), overlays.end());
                 return Session(options);
             }),
             py::arg("data") = "", py::arg("hardware_db") = std::vector<std::string>{},
             "data: folder with hardware_db/ and models/ (default: as the tools find it); hardware_db: "
             "folders "
             "of device files that take precedence.")
        .def_property_readonly(
            "hardware", [](const Session& s) { return s.hardware().device_ids(); }, "Names of all devices.")
        .def(
            "load", [](const Session& s, const std::string& model) { return s.load(model); },
            py::arg("model"), "A catalogue name or the path of an .onnx file.")
        .def(
            "bind",
            [](const Session& s, const Model& model, std::int64_t batch, const Dims& dims) {
                return std::const_pointer_cast<BoundModel>(s.bind(model, batch, bindings(dims)));
            },
            py::arg("model"), py::arg("batch") = 1, py::arg("dims") = Dims{},
            "Binds the sizes of a loaded model.")
        .def(
            "estimate",
            [](const Session& s, const std::shared_ptr<BoundModel>& model, const std::string& hardware,
               const std::string& precision, const std::string& runtime, const std::string& scenario,
               const std::string& scope, int devices) {
                s.hardware().device(hardware);
                const py::gil_scoped_release parallel;
                return s.run(model, hardware, run_options(precision, runtime, scenario, scope, devices));
            },
            py::arg("model"), py::arg("hardware"), py::kw_only(), py::arg("precision") = "fp32",
            py::arg("runtime") = "", py::arg("scenario") = "latency", py::arg("scope") = "kernel",
            py::arg("devices") = 1, "Estimates a bound model on one device.")
        .def("compare", &compare, py::arg("models"), py::arg("hardware") = std::vector<std::string>{},
             py::kw_only(), py::arg("deployment") = "", py::arg("batch") = 1, py::arg("dims") = Dims{},
             py::arg("precision") = "fp32", py::arg("runtimes") = std::vector<std::string>{},
             py::arg("scenario") = "latency", py::arg("scope") = "kernel",
             "Estimates every model on every device and ranks them.")
        .def("sweep", &sweep, py::arg("model"), py::arg("hardware"), py::arg("batches"), py::kw_only(),
             py::arg("dims") = Dims{}, py::arg("precision") = "fp32", py::arg("scenario") = "latency",
             "Totals over hardware x batches as NumPy arrays; NaN where a device cannot run the model.");
}
