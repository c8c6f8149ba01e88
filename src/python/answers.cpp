// The answers of the tools beside compare_models for Python: each a class that draws itself in every format.

#include "python/bindings.hpp"

#include "answers/architectures/architectures.hpp"
#include "answers/architectures/model_classes.hpp"
#include "answers/batch/batch.hpp"
#include "answers/comprehensive/comprehensive.hpp"
#include "answers/difference/difference.hpp"
#include "answers/local/local_models.hpp"
#include "answers/serving/serving_report.hpp"
#include "answers/sizing/sizing_fields.hpp"
#include "answers/sizing/sizing_report.hpp"
#include "answers/study/study.hpp"
#include "answers/sweep/sweep.hpp"
#include "answers/sweep/sweep_report.hpp"
#include "core/parse_number.hpp"
#include "result/ranking.hpp"
#include "store/history.hpp"

namespace py = python;
using namespace archsim;

/// A class of answers with to_text, to_markdown, to_csv, to_html, to_json and the schema of that document.
template <class Answer, class View = PlainView>
static py::Class<Answer> bind_answer(py::Module& m, const char* name, const char* meaning,
                                     nlohmann::ordered_json (*schema)() = schema_of<Answer, View>) {
    const auto drawn = [](Format format) {
        return [format](const Answer& answer) { return render(answer, format, View{}); };
    };
    return py::Class<Answer>(m, name, meaning)
        .def(
            "to_text",
            [](const Answer& answer, int width) {
                return render(answer, Format::text, View{}, {.width = width});
            },
            py::arg("width") = 100)
        .def("to_markdown", drawn(Format::markdown))
        .def("to_csv", drawn(Format::csv))
        .def("to_html", drawn(Format::html))
        .def("to_json", drawn(Format::json))
        .def_static(
            "schema_json", [schema] { return json_text(schema()); }, "JSON Schema of the document, as text.");
}

/// A group of a study for each model, batch and format of the results, in the order in which they come.
static Study study_of(const std::vector<Result>& results, const std::string& title) {
    Study study;
    StudyRequest& q = study.request;
    q.title = title;
    q.stacks.clear();
    q.batch_sizes.clear();
    q.precisions.clear();
    const auto add = [](auto& list, const auto& value) {
        if (!contains(list, value))
            list.push_back(value);
    };
    for (const Result& result : results) {
        const std::string precision(name_of(result.conditions.precision.compute));
        const auto batch = static_cast<std::int64_t>(result.estimate.batch);
        add(q.models, result.model->name);
        add(q.devices, result.hardware);
        add(q.stacks, result.runtime ? result.runtime->id : result.conditions.stack);
        add(q.batch_sizes, batch);
        add(q.precisions, precision);
        auto group = std::ranges::find_if(study.groups, [&](const StudyGroup& g) {
            return g.model == result.model->name && g.precision == precision && g.batch_size == batch;
        });
        if (group == study.groups.end())
            group = study.groups.insert(group, {result.model->name, precision, batch, {}});
        group->results.push_back(result);
    }
    return study;
}

static std::vector<Result> results_of_study(const Study& study) {
    std::vector<Result> results;
    for (const StudyGroup& group : study.groups)
        append(results, group.results);
    return results;
}

/// Several deployments under one load.
struct ServingAnswer {
    std::vector<ServingResult> results;
    ServedQuestion asked;
};

static Report describe(const ServingAnswer& answer, PlainView, Format format) {
    return format == Format::csv ? tabulate_serving(answer.results) : describe_serving(answer.results, {});
}
static std::string to_json(const ServingAnswer& answer, PlainView) {
    return serving_json(answer.results, answer.asked);
}

static ArchitectureComparison architectures(const Session& session, const std::string& model,
                                            const std::vector<std::string>& chosen,
                                            const std::vector<std::string>& explain,
                                            const std::string& metric, const std::string& level,
                                            const std::string& baseline, py::Keywords fields) {
    CompareArchitecturesRequest request{.model = model, .architectures = chosen};
    if (!explain.empty() && explain.size() != 2)
        throw UsageError("explain: name two architectures");
    request.explain = explain;
    request.metric = &MetricTable::standard().at(metric, "metric");
    request.decision = take_decision(fields, *request.metric);
    request.level = choice_named<ComparisonLevel>(level, "level");
    Question asked = question(fields);
    request.workload = std::move(asked.workload);
    request.conditions = std::move(asked.conditions);
    request.baseline = baseline;
    const py::Released parallel;
    return compare_architectures(session, std::move(request));
}

static ServingAnswer serve(const Session& session, const std::string& model,
                           const std::vector<std::string>& hardware, const py::Keywords& fields) {
    AskedServing asked = asked_serving(fields);
    const RequestPlan& load = asked.request.load;
    if (load.rate_per_s <= 0 && load.trace == nullptr && asked.request.plan.concurrency <= 0)
        throw UsageError("serve: give a load: rate_per_s, concurrency or trace");
    const py::Released parallel;
    const Model loaded = session.load(model);
    ServingAnswer answer{.asked = served_question(loaded, hardware, asked.conditions, asked.request)};
    for (const std::string& device : hardware)
        answer.results.push_back(run_serving(session, loaded, device, asked.conditions, asked.request));
    return answer;
}

/// "500ms" or seconds, a number, a truth: the text that a field of a sizing takes.
static std::string sizing_text(const SizingField& field, const std::string& name, PyObject* value) {
    const bool seconds = field.value == "TIME" && PyUnicode_Check(value) == 0;
    return field_text(name, value) + (seconds ? "s" : "");
}

/// Keywords: the load, the fields of a sizing, those of the question; of precision a list sizes each.
static SizingAnswer size(const Session& session, const std::string& model,
                         const std::vector<std::string>& hardware, const py::Keywords& fields) {
    SizingTexts own(Spelling::key);
    py::Keywords rest;
    std::vector<py::Ref> formats;
    for (const auto& [name, value] : fields)
        if (value.get() == Py_None)
            continue;
        else if (const SizingField* const field = find_field(sizing_fields(), name))
            own.give(*field, sizing_text(*field, name, value.get()), name);
        else if (name == "precision" && PyList_Check(value.get()) != 0)
            formats = py::items_of(value.get());
        else
            rest.emplace_back(name, value);
    AskedServing asked = asked_serving(rest);
    std::vector<Conditions> conditions;
    for (const py::Ref& format : formats) {
        py::Keywords one = rest;
        one.emplace_back("precision", format);
        conditions.push_back(asked_serving(one).conditions);
    }
    if (conditions.empty())
        conditions.push_back(asked.conditions);
    SizingRequest request = own.request(asked.texts);
    request.serving.sizes = std::move(asked.request.sizes);
    const py::Released parallel;
    return size_service(session, session.load(model), hardware, conditions, request);
}

static LocalAnswer local(const Session& session, const std::string& device,
                         const std::vector<std::string>& models, const std::string& host,
                         const std::string& kind, std::int64_t context,
                         const std::vector<std::string>& formats, std::optional<double> least,
                         std::int64_t devices) {
    LocalRequest request{.host = host, .devices = devices, .context = context};
    take_machine(session, device, request);
    request.kind = choice_named<LocalKind>(kind, "kind");
    request.models = models;
    request.least_tokens_per_s = least;
    if (!formats.empty())
        request.formats = formats;
    const py::Released parallel;
    return local_models(session, request);
}

/// Models, devices and fields, of which a list of two gives each side its own.
static DifferenceAnswer explain(const Session& session, const std::vector<std::string>& models,
                                const std::vector<std::string>& hardware, const std::string& metric,
                                const py::Keywords& fields) {
    const auto side = [&](std::size_t i) {
        py::Keywords own;
        for (const auto& [name, value] : fields) {
            const bool two = PyList_Check(value.get()) != 0 && PyList_Size(value.get()) == 2;
            own.emplace_back(name, two ? py::items_of(value.get())[i] : value);
        }
        Question asked = question(own);
        const auto one = [&](const std::vector<std::string>& names) {
            if (names.empty() || names.size() > 2)
                throw UsageError("explain: name one or two models, and one or two devices");
            return names[names.size() > 1 ? i : 0];
        };
        return DifferenceSide{one(models), one(hardware), std::move(asked.workload),
                              std::move(asked.conditions)};
    };
    DifferenceRequest request{side(0), side(1), &MetricTable::standard().at(metric, "metric")};
    const py::Released parallel;
    return explain_difference(session, std::move(request));
}

/// A sweep and the object of Python whose session it asks.
struct DesignSpace {
    py::Ref session;
    Sweep sweep;
};

static DesignSpace design_space(const py::Ref& session, const std::vector<std::string>& models,
                                const std::vector<std::string>& hardware,
                                const std::vector<std::string>& vary, const AskedSizes& batches,
                                const std::vector<std::string>& precisions, std::uint64_t part,
                                std::uint64_t parts, const py::Keywords& fields) {
    SweepRequest request{
        .models = models, .hardware = hardware, .precisions = precisions, .batches = batch_sizes(batches)};
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

static py::Ref rows(const DesignSpace& space, const std::string& format, unsigned threads) {
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

void bind_answers(py::Module& m) {
    bind_answer<Study>(m, "Study", "Every combination of a study file, or of given results.")
        .def_property_readonly("results", &results_of_study)
        .def_static("of_results", &study_of, py::arg("results"), py::arg("title"),
                    "Results of Session.estimate() as a study: grouped by model, batch and format, ranked.");
    bind_answer<ArchitectureComparison, Explanations>(
        m, "ArchitectureComparison", "One model on several architectures, and why they differ.")
        .def_readonly("results", &ArchitectureComparison::results)
        .def_readonly("labels", &ArchitectureComparison::labels);
    bind_answer<BatchAnalysis>(m, "BatchAnalysis", "One model on devices over batch sizes.")
        .def_property_readonly("results", [](const BatchAnalysis& analysis) {
            std::vector<Result> results;
            for (const BatchSeries& series : analysis.series)
                append(results, series.results);
            return results;
        });
    bind_answer<ModelClassComparison>(m, "ModelClassComparison",
                                      "Thirteen classes of models on several architectures.");
    bind_answer<ServingAnswer>(m, "Serving", "A language model under load.", serve_model_schema);
    bind_answer<SizingAnswer>(m, "Sizing", "How many of which devices hold limits under a load.");
    bind_answer<LocalAnswer, LocalView>(m, "LocalModels", "The models that run on a machine.");
    bind_answer<DifferenceAnswer, DifferenceView>(m, "Difference", "Why two estimates differ.")
        .def_readonly("results", &DifferenceAnswer::results);
    bind_answer<HistoryChanges>(m, "HistoryChanges", "What changed between two runs of a file of results.",
                                history_schema)
        .def_property_readonly("worse", [](const HistoryChanges& changes) { return changes.worse(); });
    bind_answer<HistoryRows>(m, "HistoryRows", "The results of a file, one per row.", history_schema);

    m.def(
        "read_study",
        [](const Session& session, const std::filesystem::path& file) {
            const py::Released parallel;
            return run_study(session, read_study(session, file));
        },
        py::arg("session"), py::arg("file"), "Runs a study file, JSON or YAML (docs/studies.md).");
    m.def("architectures", &architectures, py::arg("session"), py::arg("model"),
          py::arg("architectures") = std::vector<std::string>{}, py::kw_only(),
          py::arg("explain") = std::vector<std::string>{}, py::arg("metric") = "energy",
          py::arg("level") = "summary", py::arg("baseline") = "",
          "One model on several architectures, as compare_architectures; explain=(\"GPU\", \"TPU\") says why "
          "two differ.");
    m.def(
        "model_classes",
        [](const Session& session, const std::vector<std::string>& chosen, const std::string& baseline,
           const py::Keywords& fields) {
            const Question asked =
                question(fields, {"dims", "inputs", "input_shapes", "prompt_tokens", "generate_tokens"});
            ModelClassRequest request{chosen, baseline, asked.conditions};
            const py::Released parallel;
            return compare_model_classes(session, std::move(request));
        },
        py::arg("session"), py::arg("architectures") = std::vector<std::string>{}, py::kw_only(),
        py::arg("baseline") = "",
        "Times faster than the CPU over thirteen classes of models, with strengths and weaknesses.");
    m.def(
        "batches",
        [](const Session& session, const std::string& model, const std::vector<std::string>& hardware,
           const AskedSizes& sizes, py::Keywords fields) {
            BatchRequest request;
            request.decision = take_decision(fields, metric::latency);
            request.models = {model};
            request.hardware = hardware;
            request.batches = batch_sizes(sizes);
            Question asked = question(fields, {"batch_size"});
            request.workload = std::move(asked.workload);
            request.conditions = std::move(asked.conditions);
            request.decision.preference = &ranked_by(request.conditions);
            const py::Released parallel;
            return analyze_batches(session, request);
        },
        py::arg("session"), py::arg("model"), py::arg("hardware"),
        py::arg("batches") = std::vector<std::int64_t>{1, 2, 4, 8, 16, 32, 64},
        "Throughput, latency, energy and memory against the batch, and the best batch.");
    m.def("size", &size, py::arg("session"), py::arg("model"), py::arg("hardware"),
          "The fewest of each device that hold limits on waiting under a load, as size_service: "
          "size(\"qwen3-8b\", [\"H100\", \"L40S\"], rate=8, ttft_p99=\"500ms\").\n\nKeywords are the flags "
          "of size_service; times are in seconds or have a unit, and a list of precision sizes each format.");
    m.def("local", &local, py::arg("session"), py::arg("device"),
          py::arg("models") = std::vector<std::string>{}, py::kw_only(), py::arg("host") = "",
          py::arg("kind") = "language", py::arg("context") = LocalRequest{}.context,
          py::arg("formats") = std::vector<std::string>{},
          py::arg("least_tokens_per_s") = std::optional<double>{}, py::arg("devices") = 1,
          "The models that run on a machine and how fast, as local_models: local(\"RTX 4090, 64GB\", "
          "context=16384).");
    m.def(
        "explain", &explain, py::arg("session"), py::arg("models"), py::arg("hardware"), py::kw_only(),
        py::arg("metric") = "latency",
        "Why two estimates differ, as explain_difference: two models, two devices, or two values of a field: "
        "explain(\"resnet50\", \"H100\", precision=[\"fp16\", \"int8\"]).");
    m.def(
        "places",
        [](const std::vector<Result>& results, const std::string& metric) {
            std::vector<std::pair<std::size_t, int>> places;
            for (const Rank& rank : rank_results(results, MetricTable::standard().at(metric, "metric")))
                places.emplace_back(rank.result, may_lead(results[rank.result].estimate) ? rank.place : 0);
            return places;
        },
        py::arg("results"), py::arg("metric"));
    m.def("serve", &serve, py::arg("session"), py::arg("model"), py::arg("hardware"),
          "A language model under a load (rate_per_s, concurrency or trace): percentiles of waiting, "
          "throughput, power. Keywords are the fields of serve_model's flags and of the question.");
    m.def(
        "save_results",
        [](const std::filesystem::path& file, const std::vector<Result>& results, const std::string& title) {
            const py::Released parallel;
            std::vector<AskedResult> asked;
            for (const Result& result : results)
                asked.push_back({&result, static_cast<std::int64_t>(result.estimate.batch)});
            return save_results(file, {"python", title}, asked);
        },
        py::arg("file"), py::arg("results"), py::arg("title") = "archsim (Python)",
        "Adds a run to a file of results (SQLite); returns its number.");
    m.def(
        "compare_history",
        [](const std::filesystem::path& file, const std::string& before, const std::string& after,
           const std::string& metric, double threshold) {
            return compare_history(file, before, after, MetricTable::standard().at(metric, "metric"),
                                   threshold);
        },
        py::arg("file"), py::arg("before") = "previous", py::arg("after") = "last", py::kw_only(),
        py::arg("metric") = "latency", py::arg("threshold") = 0.0,
        "What changed between two runs of a file.");
    m.def(
        "history_rows", [](const std::filesystem::path& file) { return history_rows(file); }, py::arg("file"),
        "Every result of a file.");
}

// archsim._archsim.DesignSpace: the rows of a sweep, or of one of its parts, as the text that
// sweep_design_space writes.
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
