// The graph out: notes in a copy of the file, node data, and a trace as long as the latency.

#include "answers/mapping/graph_mapping.hpp"

#include "archsim/extend/importer.hpp"
#include "cli/workplace.hpp"
#include "import/model_maker.hpp"
#include "laws/laws.hpp"
#include "result/generation_metrics.hpp"
#include "support/trace_check.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <onnx/checker.h>

#include <algorithm>
#include <cmath>

using namespace archsim;

namespace {

/// Where the schedule of the first chip ends, in seconds.
double end_of_trace(const nlohmann::json& trace) {
    CHECK(test::trace_faults(trace) == std::vector<std::string>{});
    double end = 0;
    for (const auto& event : trace.at("traceEvents"))
        if (event.at("ph") == "X" && event.at("pid") == 1 && event.at("tid") == 1)
            end = std::max(end, (event.at("ts").get<double>() + event.at("dur").get<double>()) / 1e6);
    return end;
}

constexpr double kNanosecond = 1e-9; ///< what a trace resolves

} // namespace

TEST_CASE("a trace is as long as the latency, on every kind of device", "[trace]") {
    int traced = 0;
    for (const std::string& hardware : laws::session().hardware().deployment("families").hardware)
        for (const char* model : {"resnet18", "bert-base"}) {
            CAPTURE(hardware, model);
            const Result r = laws::run(model, hardware, Precision::int8);
            if (!r.ok())
                continue;
            const auto trace = nlohmann::json::parse(to_trace(r));
            CHECK(end_of_trace(trace) == Approx(r.estimate.latency_s).margin(kNanosecond));
            ++traced;
        }
    CHECK(traced >= 8);
    // Parts that run several times, and several chips.
    Conditions conditions;
    conditions.precision = PrecisionConfig::uniform(Precision::fp16);
    conditions.devices = 2;
    const Result parts =
        laws::session().estimate({.model = laws::session().load("t5-small")}, "H100", conditions);
    REQUIRE(parts.ok());
    const auto trace = nlohmann::json::parse(to_trace(parts));
    CHECK(end_of_trace(trace) == Approx(parts.estimate.latency_s).margin(kNanosecond));
    CHECK(std::any_of(trace["traceEvents"].begin(), trace["traceEvents"].end(),
                      [](const auto& event) { return event["pid"] == 2; }));
}

TEST_CASE("a trace of an answer to a prompt is of one of its passes, as long as that", "[trace]") {
    const Session session(SessionOptions{.data = ARCHSIM_SOURCE_DIR});
    for (const std::int64_t generate : {0, 64}) {
        Workload workload{.model = session.load("qwen3-0.6b")};
        workload.prompt = Prompt{.tokens = 512, .generate = generate};
        const Result answer = session.estimate(workload, "H100");
        REQUIRE(answer.ok());
        const auto trace = nlohmann::json::parse(to_trace(answer));
        CHECK(end_of_trace(trace) == Approx(shown_pass(answer).latency_s).margin(kNanosecond));
        CHECK(trace["otherData"]["latency_s"] == shown_pass(answer).latency_s);
        // What no kernel holds is no more than a part of it.
        for (const auto& event : trace["traceEvents"])
            if (event["name"].get<std::string>().starts_with("weights that stream"))
                CHECK(event["dur"].get<double>() < 0.5e6 * shown_pass(answer).latency_s);
    }
}

TEST_CASE("the checker of traces finds what viewers stumble over", "[trace]") {
    const auto faults_of = [](const char* events) {
        return test::trace_faults(
                   nlohmann::json::parse(std::string(R"({"displayTimeUnit":"ns","traceEvents":)") + events +
                                         "}"))
            .size();
    };
    const std::string slice = R"({"name":"a","ph":"X","pid":1,"tid":1,"ts":1,"dur":2})";
    CHECK(faults_of(("[" + slice + "]").c_str()) == 0);
    // Behind it, inside it, on another thread; half inside, by a nanosecond too.
    for (const auto& [other, faults] :
         {std::pair(R"({"name":"b","ph":"X","pid":1,"tid":1,"ts":3,"dur":2})", 0),
          {R"({"name":"b","ph":"X","pid":1,"tid":1,"ts":1,"dur":1})", 0},
          {R"({"name":"b","ph":"X","pid":1,"tid":2,"ts":2,"dur":2})", 0},
          {R"({"name":"b","ph":"X","pid":1,"tid":1,"ts":2,"dur":2})", 1},
          {R"({"name":"b","ph":"X","pid":1,"tid":1,"ts":2.999,"dur":2})", 1},
          {R"({"name":"b","ph":"X","pid":1,"tid":1,"ts":0.5,"dur":1})", 1},
          {R"({"name":"b","ph":"X","pid":1,"tid":1,"dur":1})", 1},
          {R"({"name":"b","ph":"X","pid":1,"tid":1,"ts":4,"dur":-1})", 1},
          {R"({"name":"b","ph":"Y","pid":1,"tid":1,"ts":4})", 1},
          {R"({"name":"b","ph":"X","pid":"one","tid":1,"ts":4,"dur":1})", 1},
          {R"({"name":"thread_name","ph":"M","pid":1,"tid":1,"args":{"name":"x"}})", 0},
          {R"({"name":"thread_name","ph":"M","pid":1,"tid":1,"args":{}})", 1},
          {R"({"name":"nothing_known","ph":"M","pid":1,"tid":1,"args":{}})", 1}}) {
        CAPTURE(other);
        CHECK(faults_of(("[" + slice + "," + other + "]").c_str()) == static_cast<std::size_t>(faults));
    }
}

TEST_CASE("a copy with notes is a valid model without weights", "[annotate]") {
    for (const char* model : {"resnet18", "mobilenet_v2", "vit_b_16", "bert-base"}) {
        CAPTURE(model);
        const Result r = laws::run(model, "H100", Precision::fp16);
        REQUIRE(r.ok());
        const Annotations notes = annotations_of(r);
        const std::filesystem::path file = laws::session().load(model).info.file;
        const std::string bytes = annotated_onnx(file, notes);
        onnx::ModelProto copy;
        REQUIRE(copy.ParseFromString(bytes));
        CHECK(copy.ir_version() >= 10);
        // Debian's checker ends at IR version 8; what the copy has beyond it is unknown fields to it.
        copy.set_ir_version(8);
        CHECK_NOTHROW(onnx::checker::check_model(copy));
        const Graph before = import_onnx(file);
        const Graph after =
            import_onnx(std::span(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()), "copy");
        CHECK(after.nodes.size() == before.nodes.size());
        CHECK(after.outputs.size() == before.outputs.size());
        CHECK(bytes.size() < 4u << 20);
        // Every anchor carries its time: notes are keyed by results, so look for as many as there are
        // subgraphs.
        std::size_t with_time = 0;
        for (const auto& [output, own] : notes.notes)
            with_time +=
                std::any_of(own.begin(), own.end(), [](const auto& n) { return n.first == "archsim.time"; });
        CHECK(with_time == r.estimate.subgraphs.size());
        std::size_t found = 0;
        for (std::size_t at = bytes.find("archsim.time_s"); at != std::string::npos;
             at = bytes.find("archsim.time_s", at + 1))
            ++found;
        CHECK(found == with_time);
        const auto data = nlohmann::json::parse(to_model_explorer(r));
        CHECK(data["main_graph"]["results"].size() == r.estimate.subgraphs.size());
    }
}

TEST_CASE("what is no ONNX model cannot be annotated", "[annotate]") {
    const test::Workplace workplace;
    std::ofstream(workplace.folder() / "bad.onnx") << "no model at all";
    CHECK_THROWS_AS(annotated_onnx(workplace.folder() / "bad.onnx", {}), InputError);
    CHECK_THROWS_AS(annotated_onnx(workplace.folder() / "none.onnx", {}), InputError);
}

TEST_CASE("the tool writes a trace, node data and an annotated copy", "[trace][annotate][cli]") {
    const test::Workplace workplace;
    const test::Said said = workplace.run("analyze_graph_mapping mobilenet_v2 --hardware H100 --trace t.json "
                                          "--model-explorer n.json --annotate a.onnx 2>&1");
    CHECK(said.status == 0);
    CHECK(nlohmann::json::parse(test::read(workplace.folder() / "t.json")).contains("traceEvents"));
    CHECK(nlohmann::json::parse(test::read(workplace.folder() / "n.json")).contains("main_graph"));
    CHECK(import_onnx(workplace.folder() / "a.onnx").nodes.size() > 50);
    CHECK(workplace.run("analyze_graph_mapping config.json --hardware H100 --annotate b.onnx 2>&1").status ==
          1);
}
