// What is read first holds over many questions: formats are not mixed unsaid, projections win nothing, what
// binds agrees with its distribution, parts add up, limits come first, and money is on one basis.

#include "answers/architectures/architectures.hpp"
#include "answers/architectures/model_classes.hpp"
#include "answers/budget/budget.hpp"
#include "answers/compare/compare_models_report.hpp"
#include "answers/difference/difference.hpp"
#include "archsim/run/compare_models.hpp"
#include "estimate/resource_times.hpp"
#include "laws/laws.hpp"
#include "report/blocks/result_text.hpp"
#include "report/blocks/subgraph_table.hpp"
#include "report/blocks/verdict.hpp"
#include "result/bound_shares.hpp"
#include "result/format_parts.hpp"
#include "result/ranking.hpp"
#include "result/ties.hpp"
#include "session/usual_precision.hpp"
#include "support/places.hpp"
#include "support/read_file.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

using namespace archsim;
using Catch::Contains;

namespace {

constexpr std::array kWidths = {60, 100, 160};

/// The lines that stand on top of an answer.
std::string first_lines(const Report& report) {
    for (const Block& block : report.blocks)
        if (const auto* takeaway = std::get_if<Takeaway>(&block)) {
            std::string text;
            for (const std::string& line : takeaway->lines)
                text += line + "\n";
            return text;
        }
    return "";
}

/// "Fastest: NAME" and the like never names a projection, unless the word stands before it.
void check_no_projection_wins(const std::string& text, const std::vector<std::string>& labels,
                              std::span<const Result> results) {
    for (std::size_t i = 0; i < labels.size(); ++i) {
        if (!results[i].ok() || may_lead(results[i].estimate))
            continue;
        for (const char* claim : {"Fastest: ", "fastest: ", "Least energy: ", "least energy: ", "Cheapest: ",
                                  "Recommended: ", "Most throughput: ", "most throughput: "})
            CHECK_THAT(text, !Contains(claim + labels[i] + ",") && !Contains(claim + labels[i] + " in "));
    }
}

/// The resource that is named lies on the side that binds, and rows of tables add up.
void check_parts(const Result& r) {
    if (!r.ok() || r.estimate.subgraphs.empty() || r.generation || !r.parts.empty())
        return;
    for (const SubgraphEstimate& s : r.estimate.subgraphs) {
        bool found = false;
        for (const ResourceTime& time : resource_times(s.mapping, *r.machine, r.estimate.clock_ratio, 1)) {
            const bool copies = time.lane == Lane::overhead && (time.resource == Resource::dram_bytes ||
                                                                time.resource == Resource::l2_bytes);
            const Bound side = time.lane == Lane::compute               ? Bound::compute
                               : time.lane == Lane::overhead && !copies ? Bound::overhead
                                                                        : Bound::memory;
            found = found || (time.resource == s.binding && side == s.bound);
        }
        CHECK((found || s.latency_s == 0)); // what takes no time is bound by nothing
        CHECK(s.utilization <= 1 + 1e-9);
    }
    for (const Table& table : {subgraph_table(r), grouped_subgraph_table(r, 4)}) {
        double seconds = 0, joules = 0;
        for (const std::vector<Cell>& row : table.rows)
            for (std::size_t c = 0; c < table.columns.size(); ++c) {
                if (table.columns[c].key == "latency_s")
                    seconds += row[c].value.value_or(0);
                if (table.columns[c].key == "energy_j")
                    joules += row[c].value.value_or(0);
            }
        CHECK(seconds == Approx(r.estimate.latency_s));
        CHECK(joules == Approx(r.estimate.energy.total()));
    }
}

/// Prices of a ranking are all of rent, or all of purchases, and it says which.
void check_one_basis(const ModelComparison& c) {
    const CostOptions& options = c.request.decision.cost;
    REQUIRE(options.tenure != Tenure::cheaper);
    bool any = false;
    for (const Result& r : c.results) {
        const Cost cost = cost_of(r, options);
        CHECK(cost.best() == (options.tenure == Tenure::rent ? cost.cloud : cost.owned()));
        any = any || cost.best().has_value();
    }
    CompareModelsView view;
    view.sort_by = &metric::cost;
    if (any)
        CHECK_THAT(first_lines(describe(c, view)),
                   Contains(options.tenure == Tenure::rent ? "rented by the hour" : "bought"));
}

/// A file of the database with one number doubled, on its own.
std::string with_doubled(const char* family, const std::string& device, const char* pointer,
                         const std::filesystem::path& folder) {
    nlohmann::json document =
        nlohmann::json::parse(test::read(test::kSource / "hardware_db" / family / (device + ".json")));
    nlohmann::json& value = document[nlohmann::json::json_pointer(pointer)];
    value = 2 * value.get<double>();
    document["id"] = device + "-edited";
    document["aliases"] = nlohmann::json::array();
    const std::filesystem::path file = folder / (device + "-edited.json");
    std::ofstream(file) << document;
    return file.string();
}

} // namespace

TEST_CASE("an edited number of a device file changes the estimate, or the answer warns of it",
          "[laws][screen]") {
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / "archsim_edited_devices";
    std::filesystem::create_directories(folder);
    struct Edit {
        const char *family, *device, *pointer;
    };
    for (const Edit& edit : {Edit{"gpu", "Jetson-Orin-Nano", "/engines/0/count"},
                             {"gpu", "Jetson-Orin-Nano", "/engines/1/count"},
                             {"gpu", "Jetson-Orin-Nano", "/dram/bandwidth/value"},
                             {"gpu", "H100", "/engines/0/count"},
                             {"gpu", "H100", "/engines/0/clock/value"},
                             {"gpu", "H100", "/dram/bandwidth/value"},
                             {"gpu", "H100", "/peaks/matrix/int8/value"},
                             {"gpu", "T4", "/power/tdp/value"},
                             {"npu", "RK3588-NPU", "/engines/0/count"},
                             {"npu", "RK3588-NPU", "/dram/bandwidth/value"}}) {
        INFO(edit.device << " " << edit.pointer);
        CompareModelsRequest request;
        request.models = {"resnet50"};
        request.workload.batch = 16;
        ask_precision(request.conditions, "int8");
        request.hardware = {edit.device, with_doubled(edit.family, edit.device, edit.pointer, folder)};
        SessionOptions options;
        options.data = ARCHSIM_SOURCE_DIR;
        const Session fresh(options); // the file has the same name each time
        const ModelComparison c = compare_models(fresh, request);
        const std::string lines = first_lines(describe(c));
        const bool warned = lines.find("Warning: " + request.hardware.back()) != std::string::npos;
        const bool moved = c.results[0].estimate.latency_s != c.results[1].estimate.latency_s ||
                           c.results[0].estimate.energy.total() != c.results[1].estimate.energy.total();
        CHECK((moved || warned));
        // Counts, rates and peaks that no longer agree are said although the estimate moves.
        if (std::string_view(edit.pointer).starts_with("/engines/0") ||
            std::string_view(edit.pointer).starts_with("/peaks"))
            CHECK(warned);
        CHECK_THAT(lines, !Contains("Warning: " + (test::kSource / "hardware_db").string()));
    }
}

TEST_CASE("two names of one stack make one row", "[laws][screen]") {
    CompareModelsRequest request;
    request.models = {"resnet18"};
    request.hardware = {"RTX-4090", "A100"};
    request.stacks = {"cuda-eager", "cuda", "tensorrt"};
    const ModelComparison c = compare_models(laws::session(), request);
    CHECK(c.results.size() == 4);
    const Report report = describe(c);
    for (const Block& block : report.blocks)
        if (const auto* table = std::get_if<Table>(&block))
            for (const TableNote& note : table->notes)
                CHECK_THAT(note.text, !Contains("A100, A100") && !Contains("RTX-4090, RTX-4090"));
}

TEST_CASE("architectures say how they are programmed, with a source", "[laws][screen]") {
    for (const char* name : {"cpu", "gpu", "tpu", "kpu", "dsp", "dpu", "cgra", "npu"}) {
        INFO(name);
        const Family family(name);
        bool said = false;
        for (const FamilyProperty& property : family.row().properties) {
            CHECK(!property.source.empty());
            CHECK(!property.aspect.empty());
            said = said || property.aspect == kProgrammability;
        }
        CHECK(said);
    }
    CompareArchitecturesRequest request;
    request.model = "resnet18";
    const std::string text = render(describe(compare_architectures(laws::session(), request)), Format::text);
    CHECK_THAT(text,
               Contains("Programmability:") && Contains("programmable: CPU, GPU, KPU; fixed function: TPU"));
}

TEST_CASE("what a ranking of devices says first holds in every format and at every width", "[laws][screen]") {
    std::size_t questions = 0;
    for (const char* model : {"resnet18", "resnet50", "mobilenet_v2", "mobilenet_v3_large", "efficientnet_b0",
                              "squeezenet1_1", "yolov8n", "yolov5n", "vit_b_16", "deit_tiny", "swin_t",
                              "densenet121", "bert-base", "t5-small-encoder"})
        for (const char* deployment : {"datacenter", "edge", "embedded"}) {
            ++questions;
            for (const std::vector<std::string>& formats :
                 {std::vector<std::string>{}, {"fp16"}, {"bf16"}, {"int8"}, {"usual"}, {"fp16", "int8"}}) {
                INFO(model << " " << deployment << " " << (formats.empty() ? "default" : formats.back()));
                CompareModelsRequest request;
                request.models = {model};
                request.deployment = deployment;
                if (formats.size() == 1)
                    ask_precision(request.conditions, formats.front());
                else
                    request.precisions = formats;
                const ModelComparison c = compare_models(laws::session(), request);
                const std::vector<std::string> labels = hardware_labels(c.results);
                const Report report = describe(c);
                for (const int width : kWidths) {
                    RenderOptions options;
                    options.width = width;
                    std::string text = render(report, Format::text, options);
                    std::replace(text.begin(), text.end(), '\n', ' ');
                    check_no_projection_wins(text, labels, c.results);
                    if (mixed_formats(c.results))
                        CHECK_THAT(text, Contains(" Precision"));
                }
                for (const Format format : {Format::markdown, Format::html}) {
                    std::string page = render(report, format);
                    check_no_projection_wins(page, labels, c.results);
                    CHECK_THAT(page, !Contains("does_not_fit"));
                }
                for (const Result& r : c.results)
                    check_parts(r);
                const auto document = nlohmann::json::parse(to_json(c));
                const auto& bound = document.at("verdicts").at(0).at("bound");
                for (std::size_t i = 0; i < labels.size(); ++i)
                    if (!bound.is_null() && bound.at("device") == labels[i])
                        CHECK(bound.at("by") == name_of(bound_shares(c.results[i])->largest()));
                check_one_basis(c);
            }
        }
    CHECK(questions >= 40);
}

TEST_CASE("within limits the headline meets them", "[laws][screen]") {
    for (const double watts : {3.0, 5.0, 15.0, 100.0, 250.0})
        for (const char* deployment : {"datacenter", "edge", "embedded"}) {
            INFO(watts << " W, " << deployment);
            CompareModelsRequest request;
            request.models = {"resnet50"};
            request.deployment = deployment;
            request.decision.constraints = {{&metric::power, watts}};
            const ModelComparison c = compare_models(laws::session(), request);
            const auto labels = hardware_labels(c.results);
            const Decision decision = decide(c.results, request.decision);
            const auto verdict =
                verdict_members().value(verdict_record({c.results, labels, metric::latency, {}, &decision}));
            const bool any =
                std::any_of(decision.qualifies.begin(), decision.qualifies.end(), [](bool q) { return q; });
            for (const auto& best : verdict.at("best"))
                for (std::size_t i = 0; i < labels.size(); ++i)
                    if (any && best.at("device") == labels[i])
                        CHECK(decision.qualifies[i]);
            CHECK_THAT(verdict.at("lines").at(0).get<std::string>(),
                       Contains(any ? "Within the limit" : "None meets the limit"));
            const std::string lines = first_lines(describe(c));
            for (const Result& mode : c.modes.front()) {
                CHECK(mode.estimate.power_w <= watts);
                CHECK_THAT(any ? lines : lines.substr(0, lines.find('\n')),
                           Contains(hardware_label(mode)) && Contains("would"));
            }
        }
}

TEST_CASE("a ranking by cost compares rent with rent, or purchases with purchases", "[laws][screen]") {
    for (const std::vector<std::string>& devices : {std::vector<std::string>{"H100", "A100", "TPU-v4"},
                                                    {"Jetson-Orin-Nano@15W", "RTX-4090"},
                                                    {"H100", "Jetson-Orin-Nano@15W", "L4"}}) {
        CompareModelsRequest request;
        request.models = {"resnet50"};
        request.hardware = devices;
        const ModelComparison c = compare_models(laws::session(), request);
        const CostOptions& options = c.request.decision.cost;
        REQUIRE(options.tenure != Tenure::cheaper);
        for (const Result& r : c.results) {
            const Cost cost = cost_of(r, options);
            CHECK(cost.best() == (options.tenure == Tenure::rent ? cost.cloud : cost.owned()));
        }
        CompareModelsView view;
        view.sort_by = &metric::cost;
        CHECK_THAT(first_lines(describe(c, view)),
                   Contains(options.tenure == Tenure::rent ? "rented by the hour" : "bought"));
    }
}

TEST_CASE("a comparison of architectures says formats and names no projection", "[laws][screen]") {
    for (const auto level :
         {ComparisonLevel::summary, ComparisonLevel::detailed, ComparisonLevel::subgraph}) {
        CompareArchitecturesRequest request;
        request.model = "resnet18";
        request.level = level;
        const ArchitectureComparison c = compare_architectures(laws::session(), request);
        const Report report = describe(c);
        for (const int width : kWidths) {
            RenderOptions options;
            options.width = width;
            std::string text = render(report, Format::text, options);
            std::replace(text.begin(), text.end(), '\n', ' ');
            check_no_projection_wins(text, c.labels, c.results);
        }
        for (const Block& block : report.blocks)
            if (const auto* table = std::get_if<Table>(&block); table && level == ComparisonLevel::subgraph)
                for (std::size_t k = 0; k < table->columns.size(); ++k) {
                    if (table->columns[k].key == "winner")
                        for (const auto& row : table->rows)
                            for (std::size_t i = 0; i < c.labels.size(); ++i)
                                if (row[k].text == c.labels[i])
                                    CHECK(may_lead(c.results[i].estimate));
                    if (table->columns[k].key.ends_with("_j") && table->rows.size() > 2) {
                        double sum = 0; // of all rows but the total
                        for (std::size_t r = 0; r + 1 < table->rows.size(); ++r)
                            sum += table->rows[r][k].value.value_or(0);
                        CHECK(sum == Approx(*table->rows.back()[k].value));
                    }
                }
    }
}

TEST_CASE("a difference is called as sure as a ranking calls it", "[laws][screen]") {
    const auto side = [](const char* model, const char* hardware, std::int64_t batch) {
        DifferenceSide s;
        s.model = model;
        s.hardware = hardware;
        s.workload.batch = batch;
        s.conditions.precision = PrecisionConfig::uniform(Precision::fp32);
        return s;
    };
    const std::vector<std::pair<DifferenceSide, DifferenceSide>> pairs = {
        {side("resnet50", "H100", 1), side("resnet50", "A100", 1)},
        {side("resnet50", "H100", 1), side("resnet50", "H100", 8)},
        {side("resnet18", "H100", 1), side("resnet34", "H100", 1)},
        {side("resnet50", "EPYC-9654", 1), side("resnet50", "Xeon-8490H", 1)},
        {side("yolov8n", "Hailo-8", 1), side("yolov8n", "Jetson-Orin-Nano", 1)}};
    std::size_t told = 0, tied_pairs = 0;
    for (const auto& [before, after] : pairs)
        for (const Metric* metric : {&metric::latency, &metric::energy, &metric::throughput}) {
            INFO(before.model << " on " << before.hardware << " against " << after.model << " on "
                              << after.hardware << ", " << metric->key);
            DifferenceRequest request;
            request.before = before;
            request.after = after;
            request.metric = metric;
            const DifferenceAnswer answer = explain_difference(laws::session(), request);
            const Result &a = answer.results[0], &b = answer.results[1];
            const bool even = tied(*metric, a, *measure_of(a, *metric), b, *measure_of(b, *metric));
            const std::string lines = first_lines(describe(answer, DifferenceView{}, Format::text));
            const bool doubted =
                before.hardware != after.hardware && !(may_lead(a.estimate) && may_lead(b.estimate));
            CHECK(lines.starts_with("Not ranked; ") == doubted);
            CHECK(lines.starts_with("Too close to call: ") == (!doubted && answer.odds < kCalled));
            CHECK_THAT(lines, !Contains("cannot tell"));
            if (*metric == metric::latency && before.workload.batch != after.workload.batch)
                CHECK_THAT(lines, Contains("per item"));
            (even ? tied_pairs : told) += 1;
        }
    CHECK(told > 5);
    CHECK(tied_pairs > 0);
}

TEST_CASE("a budget of cost is reckoned as a ranking by cost", "[laws][screen]") {
    BudgetRequest budget;
    budget.models = {"resnet50"};
    budget.hardware = {"T4", "L4", "H100"};
    budget.rules = {parse_budget_rule("cost>1", "--fail-on")};
    const BudgetAnswer answer = check_budget(laws::session(), budget);
    CompareModelsRequest request;
    request.models = budget.models;
    request.hardware = budget.hardware;
    const ModelComparison c = compare_models(laws::session(), request);
    for (std::size_t i = 0; i < c.results.size(); ++i)
        CHECK(answer.estimates[i].outcomes.front().after ==
              value_of(c.results[i], metric::cost, c.request.decision.cost));
    CHECK_THAT(first_lines(describe(answer, BudgetView{})), Contains("Cost: "));
}

TEST_CASE("what is asked about batches or energy stands first, and projections are marked",
          "[laws][screen]") {
    CompareArchitecturesRequest request;
    request.model = "resnet18";
    Explanations energy;
    energy.energy = true;
    const ArchitectureComparison plain = compare_architectures(laws::session(), request);
    const std::string shares = first_lines(describe(plain, energy));
    request.batch_sweep = {1, 4, 16};
    ask_precision(request.conditions, "fp32");
    const ArchitectureComparison swept = compare_architectures(laws::session(), request);
    const std::string batches = first_lines(describe(swept));
    for (std::size_t i = 0; i < plain.labels.size(); ++i) {
        const std::string name = plain.labels[i] + standing_note(plain.results[i].estimate);
        CHECK_THAT(shares, Contains(name + ": ") && Contains("static "));
        CHECK_THAT(batches, Contains(plain.labels[i] + " in ") &&
                                Contains(standing_note(plain.results[i].estimate) + ": batch "));
        for (const Crossover& x : swept.batch_sweep->crossovers)
            if (x.winner == i || x.loser == i)
                CHECK_THAT(batches, Contains(name + " passes ") || Contains(" passes " + name + " in "));
    }
}

TEST_CASE("shares of subgraphs have the number that they are of above them", "[laws][screen]") {
    for (const char* model : {"resnet18", "whisper-tiny", "llava-1.5-7b"}) {
        INFO(model);
        CompareModelsRequest request;
        request.models = {model};
        request.hardware = {"H100"};
        const ModelComparison c = compare_models(laws::session(), request);
        bool total = false;
        for (const Block& block : describe(c).blocks)
            if (const auto* facts = std::get_if<Facts>(&block))
                for (const NamedValue& item : facts->items) {
                    total = total || item.name == "Total Subgraphs";
                    if (item.name.ends_with(" Operations"))
                        CHECK(total);
                }
        CHECK(total);
    }
}

TEST_CASE("what runs has a batch, and numbers that are numbers", "[laws][screen]") {
    for (const std::int64_t size : {0, 1, 3}) {
        Workload workload{.model = laws::session().load("resnet18")};
        workload.sizes.dims["batch"] = size;
        for (const char* device : {"H100", "Xeon-8490H", "TPU-v4", "KPU-T64", "QRB5165", "Hailo-8"}) {
            INFO(device << ", batch " << size);
            const Estimate e = laws::session().estimate(workload, device, {}).estimate;
            CHECK((e.status == Status::ok) == (size > 0));
            if (e.status == Status::ok)
                CHECK((std::isfinite(e.energy_per_inference_j) && std::isfinite(e.latency_s) &&
                       std::isfinite(e.throughput_per_s)));
        }
    }
}

TEST_CASE("classes of models count what was measured", "[laws][screen]") {
    ModelClassRequest request;
    ask_precision(request.conditions, "fp32");
    const ModelClassComparison c = compare_model_classes(laws::session(), request);
    const std::string lines = first_lines(describe(c));
    const std::string fastest = lines.substr(0, lines.find('\n'));
    for (std::size_t i = 0; i < c.labels.size(); ++i)
        if (!may_lead(c.rows.front().results[i].estimate))
            CHECK_THAT(fastest, !Contains(c.labels[i] + " on "));
    CHECK_THAT(lines, Contains("Formats differ"));
    for (const Block& block : describe(c).blocks) // projections look like the others in a table of factors
        if (const auto* table = std::get_if<Table>(&block); table && table->title.starts_with("Times "))
            CHECK(std::any_of(table->notes.begin(), table->notes.end(), [](const TableNote& note) {
                return note.text.starts_with("TPU, KPU: projection");
            }));
}

TEST_CASE("the usual format is the one that takes the least time of those that are deployed",
          "[laws][usual_precision]") {
    std::size_t compared = 0;
    for (const char* const model : {"resnet18", "vit_b_16", "mobilenet_v2"}) {
        const Workload workload{.model = laws::session().load(model)};
        for (const std::string& device : laws::hardware()) {
            Conditions conditions;
            conditions.keep_subgraphs = false;
            ask_precision(conditions, "usual");
            const Result usual = laws::session().estimate(workload, device, conditions);
            if (!usual.ok())
                continue;
            for (const PrecisionConfig& format : deployed_on(*laws::session().machine(device, {}))) {
                conditions.format_of_device = false;
                conditions.precision = format;
                const Result other = laws::session().estimate(workload, device, conditions);
                INFO(model << " on " << device << " in " << name_of(format.compute));
                if (other.ok()) {
                    CHECK(usual.estimate.throughput_per_s >= other.estimate.throughput_per_s);
                    ++compared;
                }
            }
        }
    }
    CHECK(compared > laws::hardware().size() / 4);
}

TEST_CASE("formats that a stack calls unusual are not usual", "[usual_precision]") {
    for (const char* const stack : {"cuda-eager", "rocm-eager"}) { // whose quantised operators run on CPUs
        Conditions under;
        under.stack = stack;
        const char* const device = stack == std::string_view("cuda-eager") ? "H100" : "MI210";
        for (const PrecisionConfig& format : deployed_on(*laws::session().machine(device, under)))
            CHECK(format.compute != Precision::int8);
    }
    Conditions conditions;
    ask_precision(conditions, "usual");
    const Workload workload{.model = laws::session().load("resnet18")};
    const Result r = laws::session().estimate(workload, "H100", conditions);
    CHECK(r.conditions.precision.compute == Precision::int8);
    CHECK(r.estimate.executed.compute == Precision::int8);
}

TEST_CASE("every device has its engines under every stack that it names", "[laws][screen]") {
    const HardwareDatabase& database = laws::session().hardware();
    const Model model = laws::session().load("resnet18");
    std::size_t pairs = 0;
    for (const std::string& name : database.device_ids())
        for (const std::string& stack : database.device(name).device->runtimes) {
            INFO(name << " under " << stack);
            Conditions conditions;
            conditions.stack = stack;
            conditions.keep_subgraphs = false;
            const Result r = laws::session().estimate({.model = model}, name, conditions);
            CHECK_THAT(r.estimate.reason, !Contains("engine is unknown"));
            ++pairs;
        }
    CHECK(pairs > 500);
}
