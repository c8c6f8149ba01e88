#include "core/csv_reader.hpp"
#include "fit/rows/measurements.hpp"
#include "fit/rows/validate.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <map>
#include <set>

using namespace archsim;

namespace {

const std::string kHeader =
    "id,model,batch,precision,hardware,devices,runtime,scope,metric,value,weight,source,note\n";

MeasuredTable parse(const std::string& rows) {
    return parse_measurements(kHeader + rows, "rows.csv");
}

} // namespace

TEST_CASE("CSV: quotes, line ends, byte order mark", "[run]") {
    const auto records = parse_csv("\xEF\xBB\xBF"
                                   "a,\"b, \"\"c\"\"\nd\",\r\n\n1,,3\n\"open");
    REQUIRE(records.size() == 3);
    CHECK(records[0].fields == std::vector<std::string>{"a", "b, \"c\"\nd", ""});
    CHECK(records[1].fields == std::vector<std::string>{"1", "", "3"});
    CHECK(records[1].line == 4);
    CHECK(records[2].fields == std::vector<std::string>{"open"});
    CHECK(parse_csv("").empty());
}

TEST_CASE("a measured row is read", "[run]") {
    const auto table =
        parse("r1,resnet50,,fp16,A100,1,tensorrt,kernel,latency_ms,1.5,0.7,\"a table, line 3\",x\n");
    CHECK(table.findings.empty());
    REQUIRE(table.rows.size() == 1);
    const MeasuredRow& row = table.rows[0];
    CHECK_FALSE(row.batch.has_value());
    CHECK(row.value == 1.5);
    CHECK(row.weight == 0.7);
    CHECK(row.metric == MeasuredMetric::latency_ms);
    CHECK(row.source == "a table, line 3");
    CHECK(row.line == 2);
}

TEST_CASE("bad rows are findings with line and column, the others stay", "[run]") {
    const auto table = parse("good,m,1,fp16,A100,1,tensorrt,kernel,latency_ms,1,1,s,\n"
                             "negative,m,1,fp16,A100,1,tensorrt,kernel,latency_ms,-1,1,s,\n"
                             "text,m,1,fp16,A100,1,tensorrt,kernel,latency_ms,fast,1,s,\n"
                             "infinite,m,1,fp16,A100,1,tensorrt,kernel,latency_ms,inf,1,s,\n"
                             "half,m,0.5,fp16,A100,1,tensorrt,kernel,latency_ms,1,1,s,\n"
                             "metric,m,1,fp16,A100,1,tensorrt,kernel,latency_us,1,1,s,\n"
                             "scope,m,1,fp16,A100,1,tensorrt,everything,latency_ms,1,1,s,\n"
                             "short,m\n"
                             "good,m,1,fp16,A100,1,tensorrt,kernel,latency_ms,2,1,s,\n"
                             ",m,1,fp16,A100,1,tensorrt,kernel,latency_ms,2,1,s,\n"
                             "weight,m,1,fp16,A100,1,tensorrt,kernel,latency_ms,2,7,s,\n"
                             "unsourced,m,1,fp16,A100,1,tensorrt,kernel,latency_ms,2,1,,\n");
    REQUIRE(table.rows.size() == 2);
    CHECK(table.rows[0].value == 1);
    CHECK(table.rows[1].id == "unsourced");
    CHECK(table.findings.size() == 11);
    CHECK(table.findings[0].where == "line 3, value");
    CHECK(table.findings[0].file == "rows.csv");
    CHECK(table.findings[7].kind == FindingKind::duplicate);
    CHECK(table.findings.back().severity == Severity::warning);
}

TEST_CASE("columns: missing, twice, misspelt", "[run]") {
    CHECK_THROWS_WITH(parse_measurements("id,model\nx,y\n", "f"), Catch::Contains("\"batch\" is missing"));
    CHECK_THROWS_WITH(parse_measurements("id,id\n", "f"), Catch::Contains("appears twice"));
    CHECK_THROWS_WITH(parse_measurements("", "f"), Catch::Contains("empty"));
    CHECK_THROWS_WITH(read_measurements("/nonexistent.csv"), Catch::Contains("cannot be opened"));
    std::string header = kHeader;
    header.insert(header.size() - 1, ",wieght");
    const auto table = parse_measurements(header, "f");
    REQUIRE(table.findings.size() == 1);
    CHECK_THAT(table.findings[0].hint, Catch::Contains("weight"));
}

TEST_CASE("the shipped measurements are sound and sourced", "[run][measurements]") {
    const std::string folder = std::string(ARCHSIM_SOURCE_DIR) + "/tests/measured/";
    for (const auto& [file, count] :
         {std::pair{"calibration.csv", 820}, std::pair{"calibration_llm.csv", 149},
          std::pair{"released.csv", 437}, std::pair{"released_llm.csv", 19}, std::pair{"neuron.csv", 65},
          std::pair{"neuron_llm.csv", 112}, std::pair{"hailo.csv", 226}, std::pair{"habana.csv", 7},
          std::pair{"habana_llm.csv", 105}, std::pair{"apple.csv", 47}, std::pair{"aihub.csv", 141},
          std::pair{"openvino_2025.csv", 89}, std::pair{"openvino_llm.csv", 60},
          std::pair{"rknn_llm.csv", 43}, std::pair{"tpu_llm.csv", 10}, std::pair{"vitis_ai.csv", 97},
          std::pair{"coral.csv", 37}, std::pair{"serving.csv", 80}}) {
        const auto table = read_measurements(folder + file);
        for (const Finding& finding : table.findings)
            UNSCOPED_INFO(to_string(finding));
        CHECK(table.findings.empty());
        CHECK(table.rows.size() == static_cast<std::size_t>(count));
    }
}

TEST_CASE("a measurement stands in one file, once", "[run][measurements]") {
    std::map<std::string, std::string> known;
    for (const MeasuredRow& row :
         read_measurements(std::vector{std::string(ARCHSIM_SOURCE_DIR) + "/tests/measured"}).rows) {
        const auto [other, fresh] =
            known.try_emplace(fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", row.source,
                                          row.model, row.image_size.value_or(0), row.sequence,
                                          row.batch.value_or(0), row.precision, row.hardware, row.power_mode,
                                          row.devices, row.runtime, row.scope, static_cast<int>(row.metric),
                                          row.phase, row.prompt_tokens, row.generated_tokens, row.value),
                              row.id);
        INFO(row.id << " says again what " << other->second << " says");
        CHECK(fresh);
    }
    CHECK(known.size() > 2000);
}

TEST_CASE("a folder of measurements leaves out files of another kind", "[run][measurements]") {
    const std::string folder = std::string(ARCHSIM_SOURCE_DIR) + "/tests/measured";
    const auto table = read_measurements(std::vector<std::string>{folder});
    CHECK(table.findings.empty());
    CHECK(table.rows.size() >= 2331); // left_out.csv and the blind predictions have other columns
    std::set<std::string> ids;
    for (const MeasuredRow& row : table.rows)
        CHECK(ids.insert(row.id).second); // unique over the files
}

TEST_CASE("a row says how many devices hold whole experts", "[run][measurements]") {
    const std::string header = "id,model,batch,precision,hardware,devices,runtime,scope,metric,value,source,"
                               "replicas,expert_devices\n";
    const std::string row = ",m,1,bf16,H100,8,vllm,offline,throughput_per_s,1,s,";
    const auto table = parse_measurements(header + "a" + row + ",8\n" + "b" + row + ",\n" + "c" + row +
                                              "2,4\n" + "d" + row + "2,8\n",
                                          "experts.csv");
    REQUIRE(table.rows.size() == 3);
    CHECK(table.rows[0].expert_devices == 8);
    CHECK(table.rows[1].expert_devices == 0); // shared like the rest
    CHECK(table.rows[2].expert_devices == 4); // each of two copies on four devices
    REQUIRE(table.findings.size() == 1);      // a copy on four devices has no eight
    CHECK_THAT(to_string(table.findings.front()), Catch::Contains("line 5, expert_devices"));
}

TEST_CASE("a row says which groups of devices attend to requests of their own", "[run][measurements]") {
    const std::string header = "id,model,batch,precision,hardware,devices,runtime,scope,metric,value,source,"
                               "expert_devices,attention_groups\n";
    const std::string row = ",m,1,bf16,H100,8,vllm,offline,throughput_per_s,1,s,";
    const auto table = parse_measurements(header + "a" + row + "8,4\n" + "b" + row + "8,\n" + "c" + row +
                                              "4,4\n" + "d" + row + "8,3\n",
                                          "groups.csv");
    REQUIRE(table.rows.size() == 2);
    CHECK(table.rows[0].attention_groups == 4); // of two devices each
    CHECK(table.rows[1].attention_groups == 1);
    REQUIRE(table.findings.size() == 2); // experts on half of the devices; three groups of eight devices
    CHECK_THAT(to_string(table.findings.front()), Catch::Contains("line 4, attention_groups"));
    CHECK_THAT(to_string(table.findings.back()), Catch::Contains("line 5, attention_groups"));
}

TEST_CASE("a row of power says where it was measured; in a file of the old form its note may",
          "[run][power]") {
    const std::string header = "id,model,batch,precision,hardware,devices,runtime,scope,metric,value,source,"
                               "note,boundary,replicas\n";
    const auto table = parse_measurements(
        header + "a,m,1,fp16,A100,8,tensorrt,offline,power_w,1,s,,wall,8\n"
                 "b,m,1,fp16,A100,8,tensorrt,offline,power_w,1,s,WALL power of it,,\n"
                 "c,m,1,fp16,A100,1,tensorrt,offline,power_w,1,s,board power under load,,\n"
                 "d,m,1,fp16,A100,1,tensorrt,offline,power_w,1,s,\"steady, NVML\",,\n"
                 "e,m,1,fp16,A100,1,tensorrt,offline,power_w,1,s,,,\n"
                 "f,m,1,fp16,A100,1,tensorrt,offline,power_w,1,s,,socket,\n",
        "rows.csv");
    REQUIRE(table.rows.size() == 5);
    CHECK(table.rows[0].boundary == PowerBoundary::wall);
    CHECK(table.rows[0].replicas == 8);
    CHECK(table.rows[1].boundary == PowerBoundary::wall);
    CHECK(table.rows[1].replicas == 1);
    CHECK(table.rows[2].boundary == PowerBoundary::board);
    CHECK(table.rows[3].boundary == PowerBoundary::rail);
    CHECK(table.rows[4].boundary == PowerBoundary::chip);
    REQUIRE(table.findings.size() == 1);
    CHECK(table.findings[0].message.find("socket") != std::string::npos);
}
