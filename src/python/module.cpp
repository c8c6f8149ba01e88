// The extension module archsim._archsim: a Session, models and results for Python. The package in
// src/python/archsim adds what is plain Python (dictionaries, data frames, typing).

#include "python/bindings.hpp"

#include "answers/compare/compare_models_report.hpp"
#include "archsim/core/version.hpp"
#include "archsim/run/step.hpp"
#include "core/json_document.hpp"
#include "fields/question_json.hpp"
#include "measurements/given_output.hpp"
#include "report/blocks/result_row.hpp"
#include "report/blocks/result_text.hpp"
#include "result/decisions.hpp"
#include "session/given.hpp"

namespace py = python;
using namespace archsim;

using Json = nlohmann::ordered_json;

/// A value of a keyword as the JSON value that it would be in a document.
static Json json_of(const std::string& name, PyObject* value, int level = 0) {
    if (level > kMostJsonLevels)
        throw UsageError(
            fmt::format("{}: expected at most {} levels of lists and dicts", name, kMostJsonLevels));
    if (value == Py_None)
        return nullptr;
    if (PyBool_Check(value) != 0)
        return value == Py_True;
    if (PyUnicode_Check(value) != 0)
        return py::text_of(value);
    if (PyDict_Check(value) != 0) {
        Json object = Json::object();
        PyObject* key = nullptr;
        PyObject* member = nullptr;
        for (Py_ssize_t at = 0; PyDict_Next(value, &at, &key, &member) != 0;)
            object[py::text_of(py::checked(PyObject_Str(key)).get())] = json_of(name, member, level + 1);
        return object;
    }
    if (PyIndex_Check(value) != 0)
        return py::integer_of(value);
    if (PyFloat_Check(value) != 0)
        return py::number_of(value);
    if (PySequence_Check(value) != 0) {
        Json list = Json::array();
        for (const py::Ref& item : py::items_of(value))
            list.push_back(json_of(name, item.get(), level + 1));
        return list;
    }
    throw UsageError(name + ": expected a number, a text, a dict or a list");
}

static Model model_of(const std::variant<Model, std::string>& model, const Session& session) {
    const auto* name = std::get_if<std::string>(&model);
    return name != nullptr ? session.load(*name) : std::get<Model>(model);
}

static Result estimated(const Session& session, const std::variant<Model, std::string>& model,
                        const std::string& device, const py::Keywords& fields) {
    Question asked = question(fields);
    const py::Released parallel;
    asked.workload.model = model_of(model, session);
    return session.estimate(asked.workload, device, asked.conditions);
}

static ModelComparison compare(const Session& session, const std::vector<std::string>& models,
                               const std::vector<std::string>& hardware, const std::string& deployment,
                               const std::vector<std::string>& stacks, py::Keywords fields) {
    CompareModelsRequest request{
        .models = models, .deployment = deployment, .hardware = hardware, .stacks = stacks};
    request.decision = take_decision(fields, metric::latency);
    Question asked = question(fields);
    request.workload = std::move(asked.workload);
    request.conditions = std::move(asked.conditions);
    request.decision.preference = &ranked_by(request.conditions);
    const py::Released parallel;
    return archsim::compare_models(session, std::move(request));
}

/// "fields of a question": "batch_size (items per inference), ...", for help().
static std::string fields_help() {
    std::string text = "\n\nKeywords, each a field of the question:\n";
    for (const QuestionField& field : question_fields())
        text += "  " + (field.aliases.empty() ? field.key : field.aliases.front()) + ": " + field.help + "\n";
    return text;
}

static const MetricTable& table_or_standard(const MetricTable* metrics) {
    return metrics != nullptr ? *metrics : MetricTable::standard();
}

/// Every number of the table's metrics by its key; None where the result has none.
static std::map<std::string, std::optional<double>> numbers_of(const Result& result,
                                                               const MetricTable* metrics) {
    std::map<std::string, std::optional<double>> numbers;
    for (const MetricField& field : fields_of(table_or_standard(metrics))) {
        const auto measure = measure_of(result, *field.metric);
        numbers[field.key()] = measure ? std::optional(field.of(*measure)) : std::nullopt;
    }
    return numbers;
}

/// Numbers as a NumPy array of that shape.
static py::Ref array(const std::vector<double>& numbers, std::size_t rows, std::size_t columns) {
    const py::Ref numpy = py::checked(PyImport_ImportModule("numpy"));
    const py::Ref bytes =
        py::checked(PyByteArray_FromStringAndSize(reinterpret_cast<const char*>(numbers.data()),
                                                  static_cast<Py_ssize_t>(numbers.size() * sizeof(double))));
    const py::Ref flat =
        py::checked(PyObject_CallMethod(numpy.get(), "frombuffer", "Os", bytes.get(), "float64"));
    return py::checked(PyObject_CallMethod(flat.get(), "reshape", "nn", static_cast<Py_ssize_t>(rows),
                                           static_cast<Py_ssize_t>(columns)));
}

/// The numbers of every metric over hardware x batch sizes as arrays of that shape; NaN where a device cannot
/// run the model.
static std::map<std::string, py::Ref> sweep(const Session& session,
                                            const std::variant<Model, std::string>& model,
                                            const std::vector<std::string>& hardware, const AskedSizes& sizes,
                                            const MetricTable* metrics, const py::Keywords& fields) {
    const std::vector<std::int64_t> batches = batch_sizes(sizes);
    Question asked = question(fields, {"batch_size"});
    asked.conditions.keep_subgraphs = false;
    std::map<std::string, std::vector<double>> values;
    {
        const py::Released parallel;
        asked.workload.model = model_of(model, session);
        for (const std::string& device : hardware)
            for (const std::int64_t batch : batches) {
                asked.workload.batch = batch;
                for (const auto& [key, value] :
                     numbers_of(session.estimate(asked.workload, device, asked.conditions), metrics))
                    values[key].push_back(value.value_or(std::numeric_limits<double>::quiet_NaN()));
            }
    }
    std::map<std::string, py::Ref> arrays;
    for (const auto& [key, list] : values)
        arrays.emplace(key, array(list, hardware.size(), batches.size()));
    return arrays;
}

static void fill(py::Module& m) {
    m.set("__version__", py::given(std::string(version())));

    // The newest is asked first: the base class comes first.
    const py::Ref error = m.exception<Error>("Error");
    m.exception<UsageError>("UsageError", error);
    m.exception<InputError>("InputError", error);
    m.exception<IncompleteError>("IncompleteError", error);

    py::Class<Model>(m, "Model", "A loaded model, whatever its kind: what Session.estimate() runs.")
        .def_property_readonly("name", [](const Model& model) { return model.name(); })
        .def_property_readonly("title", [](const Model& model) { return model.info.title; })
        .def_property_readonly(
            "parts", [](const Model& model) { return mapped(model.parts, &Model::name); },
            "Names of the models that run one after another; empty for a single graph.");

    py::Class<ModelFacts>(m, "Facts", "A model at sizes, on no hardware.")
        .def_readonly("name", &ModelFacts::name)
        .def_readonly("parameters", &ModelFacts::parameters, "Learned parameters.")
        .def_readonly("macs", &ModelFacts::macs, "Multiply-accumulates; 1 MAC = 2 operations.")
        .def_readonly("operations", &ModelFacts::operations)
        .def_readonly("dims", &ModelFacts::dims, "Size of every symbolic dimension.")
        .def_property_readonly(
            "complete", [](const ModelFacts& facts) { return facts.graph->complete(); },
            "False when a part of the model is not understood.")
        .def_property_readonly("findings", [](const ModelFacts& facts) {
            return mapped(facts.findings, [](const Finding& finding) { return to_string(finding); });
        });

    py::Class<SubgraphEstimate>(m, "Subgraph", "One fused subgraph of an estimate.")
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

    py::Class<MetricTable>(m, "MetricTable", "What results are measured by, a row per metric.")
        .init([] { return MetricTable::standard(); }, "The library's metrics.")
        .def_property_readonly("keys",
                               [](const MetricTable& table) {
                                   return mapped(table.rows(),
                                                 [](const Metric* metric) { return metric->key; });
                               })
        .def_property_readonly(
            "fields",
            [](const MetricTable& table) {
                std::map<std::string, std::pair<std::string, bool>> fields;
                for (const Metric* metric : table.rows())
                    fields[metric->key] = {metric->field, metric->better == Better::higher};
                return fields;
            },
            "By key: the attribute of a Result that holds the value, and whether higher is better.")
        .def_property_readonly(
            "columns",
            [](const MetricTable& table) {
                std::vector<std::tuple<std::string, std::string, double, std::string>> columns;
                for (const Metric* metric : table.rows())
                    columns.emplace_back(metric->title, metric->field, metric->scale, metric->column_unit);
                return columns;
            },
            "Title, attribute of a Result, factor from its unit to the column's, and that unit, of every "
            "row.")
        .def(
            "with_metric",
            [](const MetricTable& table, const std::string& key, const std::string& title,
               const std::string& unit, bool higher_is_better,
               std::function<std::optional<double>(const Result&)> value) {
                const auto measure = [value = std::move(value)](
                                         const Result& r, const CostOptions&) -> std::optional<Measure> {
                    const auto number = value(r);
                    return number ? std::optional(Measure{*number, {*number, *number}}) : std::nullopt;
                };
                return table.with({.key = key,
                                   .title = title,
                                   .unit = unit,
                                   .better = higher_is_better ? Better::higher : Better::lower,
                                   .measure = measure});
            },
            py::arg("key"), py::arg("title"), py::arg("unit"), py::kw_only(),
            py::arg("higher_is_better") = false, py::arg("value"),
            "This table and one row more; `value` makes a number, or None, of a Result.");

    py::Class<Result> result(m, "Result",
                             "One estimate with what it was made from. Times are seconds, energies joules.");
    for (const MetricField& field : fields_of(MetricTable::standard()))
        result.def_property_readonly(field.key().c_str(), [field](const Result& r) {
            const auto measure = measure_of(r, *field.metric);
            return measure ? field.of(*measure) : std::numeric_limits<double>::quiet_NaN();
        });
    result.def_property_readonly("model", [](const Result& r) { return r.model->name; })
        .def_readonly("hardware", &Result::hardware)
        .def_readonly("power_mode", &Result::power_mode)
        .def_property_readonly("stack",
                               [](const Result& r) { return r.runtime ? r.runtime->id : std::string(); })
        .def_property_readonly("ok", [](const Result& r) { return r.ok(); })
        .def_property_readonly("precision",
                               [](const Result& r) { return precision_name(r.conditions.precision); })
        .def_property_readonly(
            "executed_precision",
            [](const Result& r) { return r.ok() ? precision_name(r.estimate.executed) : std::string(); })
        .def_property_readonly("status", [](const Result& r) { return std::string(status_text(r.estimate)); })
        .def_property_readonly("reason", [](const Result& r) { return r.estimate.reason; })
        .def_property_readonly("precision_note", [](const Result& r) { return r.estimate.precision_note; })
        .def_property_readonly("batch", [](const Result& r) { return r.estimate.batch; })
        .def_property_readonly(
            "latency_interval_s",
            [](const Result& r) {
                return std::pair(r.estimate.latency_interval.low, r.estimate.latency_interval.high);
            },
            "Nominal 90 % interval.")
        .def_property_readonly(
            "parts",
            [](const Result& r) {
                return mapped(r.parts, [](const ResultPart& part) {
                    return std::pair<std::string, Result>{part.name, *part.result};
                });
            },
            "Name and result of every part, each of one execution; empty for a single graph.")
        .def_property_readonly(
            "time_to_first_token_s",
            [](const Result& r) {
                return r.generation && r.ok() ? std::optional(r.generation->time_to_first_token_s)
                                              : std::nullopt;
            },
            "Of a prompt; else None.")
        .def_property_readonly(
            "time_per_output_token_s",
            [](const Result& r) {
                return r.generation && r.ok() ? std::optional(r.generation->time_per_output_token_s)
                                              : std::nullopt;
            },
            "Of a prompt; else None.")
        .def_property_readonly("subgraphs", [](const Result& r) { return r.estimate.subgraphs; })
        .def("subgraph_name",
             [](const Result& r, std::size_t i) {
                 if (!r.partition)
                     throw UsageError("a model of several parts: ask for the subgraphs of one of them");
                 return r.partition->subgraphs.at(i).name;
             })
        .def("metrics", &numbers_of, py::arg("metrics") = nullptr,
             "Every number of the metrics by its key; None where there is none.")
        .def(
            "to_json",
            [](const Result& r, const MetricTable* metrics) {
                return to_json(r, {&table_or_standard(metrics), {}});
            },
            py::arg("metrics") = nullptr);

    py::Class<ModelComparison>(m, "Comparison", "Models x devices, ranked.")
        .def_readonly("results", &ModelComparison::results)
        .def("to_json", [](const ModelComparison& c) { return to_json(c); })
        .def(
            "to_text",
            [](const ModelComparison& c, int width, bool verbose) {
                return render(c, Format::text, CompareModelsView{.verbose = verbose}, {.width = width});
            },
            py::arg("width") = 100, py::arg("verbose") = false)
        .def("to_html", [](const ModelComparison& c) { return render(c, Format::html, CompareModelsView{}); })
        .def_static(
            "schema_json", [] { return json_text(compare_models_schema()); },
            "JSON Schema of the document, as text.");

    py::Class<Session>(m, "Session",
                       "The hardware database and the model catalogue. Safe to use from several threads.")
        .init(
            [](const std::string& data, const std::vector<std::string>& overlays) {
                SessionOptions options{.data = data};
                options.hardware_overlays.assign(overlays.begin(), overlays.end());
                return Session(options);
            },
            py::arg("data") = "", py::arg("hardware_db") = std::vector<std::string>{},
            "data: folder with hardware_db/ and models/ (default: as the tools find it); hardware_db: "
            "folders of device files that take precedence.")
        .def_property_readonly(
            "hardware", [](const Session& s) { return s.hardware().device_ids(); }, "Names of all devices.")
        .def_property_readonly(
            "models", [](const Session& s) { return mapped(s.catalogue().entries(), &CatalogueEntry::name); },
            "Names of all models of the catalogue.")
        .def(
            "load", [](const Session& s, const std::string& model) { return s.load(model); },
            py::arg("model"), "A catalogue name, an alias, or the path of an .onnx file.")
        .def(
            "given",
            [](Session& s, const std::vector<std::string>& rows) {
                s.given(read_measured(rows, s, {}, "given"));
            },
            py::arg("rows"),
            "Takes measurements of one's own, \"resnet50 int8 on Hailo-8L = 3.1ms\" or a file with a line "
            "each: estimates of their devices and stacks are from now on what they and the error model say "
            "together. Replaces the rows of the call before. Not while another thread uses the session.")
        .def(
            "facts",
            [](const Session& s, const std::variant<Model, std::string>& model, const py::Keywords& fields) {
                Question asked = question(fields);
                asked.workload.model = model_of(model, s);
                return std::const_pointer_cast<ModelFacts>(s.facts(asked.workload));
            },
            py::arg("model"), "Parameters, operations and sizes of a model, of all its parts together.")
        .def("estimate", &estimated, py::arg("model"), py::arg("device"),
             ("Estimates a model, loaded or by name, on a device. One that cannot carry it is a Result whose "
              "status and reason say why; names that do not exist raise InputError with the nearest ones." +
              fields_help())
                 .c_str())
        .def("compare", &compare, py::arg("models"), py::arg("hardware") = std::vector<std::string>{},
             py::kw_only(), py::arg("deployment") = "", py::arg("stacks") = std::vector<std::string>{},
             ("Estimates every model on every device and stack and ranks them." + fields_help()).c_str())
        .def(
            "sweep", &sweep, py::arg("model"), py::arg("hardware"), py::arg("batches"), py::kw_only(),
            py::arg("metrics") = nullptr,
            "Every metric over hardware x batches as NumPy arrays; NaN where a device cannot run the model.");

    py::Class<EngineStep>(m, "Step", "Time and energy of one step of an engine, all its devices together.")
        .def_readonly("seconds", &EngineStep::seconds)
        .def_readonly("joules", &EngineStep::joules)
        .def_readonly("low_s", &EngineStep::low_s, "Lower end of the 90 % interval of the time.")
        .def_readonly("high_s", &EngineStep::high_s);
    py::Class<StepEngine>(m, "StepEngine",
                          "A model on a device under a stack that prices any step of a server: the function "
                          "that Session.serve() steps by. Safe to use from several threads.")
        .def(
            "step",
            [](const StepEngine& engine, const std::vector<std::pair<std::int64_t, std::int64_t>>& requests) {
                std::vector<StepRequest> batch;
                batch.reserve(requests.size());
                for (const auto& [fresh, cached] : requests)
                    batch.push_back({fresh, cached});
                const py::Released parallel;
                return engine.step(batch);
            },
            py::arg("requests"), "Prices a step over sequences, each (new tokens, cached positions).")
        .def_property_readonly(
            "cache_room_bytes", [](const StepEngine& engine) { return engine.cache_room_bytes(); },
            "Bytes for caches, over all devices of the engine.")
        .def(
            "cache_bytes",
            [](const StepEngine& engine, double positions) { return engine.cache_bytes(positions); },
            py::arg("positions"),
            "Cache of one sequence of that many positions, over all devices of the engine.");
    m.def(
        "engine",
        [](const Session& session, const std::variant<Model, std::string>& model, const std::string& device,
           const py::Keywords& fields) {
            const AskedServing asked = asked_serving(fields);
            const py::Released parallel;
            return StepEngine(session, model_of(model, session), device, asked.conditions, asked.request);
        },
        py::arg("session"), py::arg("model"), py::arg("device"),
        "The engine of a server, made once, whose step() prices any batch: what simulators with a scheduler "
        "of their own ask. Keywords are the fields of serve_model's flags and of the question.");

    bind_design_space(m);
    bind_answers(m);
}

Question question(const py::Keywords& fields, std::initializer_list<std::string_view> without) {
    QuestionTexts texts(Spelling::key);
    for (const auto& [name, value] : fields) {
        if (value.get() == Py_None)
            continue;
        const QuestionField& field = question_field(name);
        if (contains(without, field.key))
            throw UsageError(name + ": cannot be given here");
        for (const std::string& text : texts_of_json(field, json_of(name, value.get()), name))
            if (!text.empty()) // "": the device's own stack, the usual format
                texts.give(field, text, name);
    }
    return texts.question();
}

DecisionRequest take_decision(py::Keywords& fields, const Metric& preference) {
    const MetricTable& metrics = MetricTable::standard();
    DecisionRequest request{.preference = &preference};
    std::erase_if(fields, [&](const auto& keyword) {
        const auto& [name, value] = keyword;
        const auto metric =
            std::ranges::find(metrics.rows(), name, [](const Metric* m) { return limit_key(*m); });
        if (value.get() == Py_None || (name != "pareto" && metric == metrics.rows().end()))
            return false;
        if (name == "pareto")
            for (const Json& key : Json(json_of(name, value.get())))
                request.pareto.push_back(
                    &metrics.at(key.is_string() ? key.get<std::string>() : key.dump(), name));
        else if (PyUnicode_Check(value.get()) != 0)
            request.constraints.push_back(parse_constraint(**metric, py::text_of(value.get()), name));
        else
            request.constraints.push_back({*metric, py::number_of(value.get())});
        return true;
    });
    return request;
}

std::vector<std::int64_t> batch_sizes(const AskedSizes& sizes) {
    const QuestionField& field = question_field("batch_size");
    std::vector<std::int64_t> numbers;
    for (const auto& size : sizes) {
        const auto* text = std::get_if<std::string>(&size);
        Question one;
        field.put(text != nullptr ? *text : std::to_string(std::get<std::int64_t>(size)), "batches", one);
        numbers.push_back(one.workload.batch);
    }
    return numbers;
}

std::string field_text(const std::string& name, PyObject* value) {
    const Json json = json_of(name, value);
    if (json.is_object() || json.is_array())
        throw UsageError(name + ": expected a number, a text or a truth");
    return json.is_string() ? json.get<std::string>() : json.dump();
}

AskedServing asked_serving(const py::Keywords& fields) {
    ServingTexts server(Spelling::key);
    py::Keywords rest;
    std::optional<Parallelism> way;
    double devices = 1;
    for (const auto& [name, kept] : fields) {
        PyObject* value = kept.get();
        if (value == Py_None)
            continue;
        if (name == "parallel") {
            way = parse_parallelism(py::text_of(value));
        } else if (name == "devices") {
            if (PyUnicode_Check(value) != 0 && py::text_of(value) == "auto")
                continue;
            devices = static_cast<double>(py::integer_of(value));
            if (devices == 1)
                way.emplace(); // not the fewest that hold the model
        } else if (find_serving_field(name) != nullptr) {
            if (const std::string text = field_text(name, value); text != "false")
                server.give(name, text);
        } else {
            rest.emplace_back(name, kept);
        }
    }
    const Question asked = question(rest, {"batch_size", "sampling", "beams"});
    AskedServing result{server.request(), asked.conditions, server};
    result.request.sizes = asked.workload.sizes;
    result.request.parallelism = way;
    result.conditions.devices = devices;
    return result;
}

PyMODINIT_FUNC PyInit__archsim() {
    return py::make_module("_archsim", fill);
}
