#include "fit/rows/validate.hpp"

#include "hardware/temporary_database.hpp"

#include <catch2/catch.hpp>

using namespace archsim;
using namespace archsim::test;

namespace {

MeasuredRow row_of_stack(const std::string& date, const std::string& variant) {
    MeasuredRow r;
    r.runtime = "stack";
    r.source_date = date;
    r.variant = variant;
    return r;
}

} // namespace

TEST_CASE("the year of a source is the last one it names", "[run]") {
    CHECK(last_year("2021-2022") == 2022);
    CHECK(last_year("2019-11-06") == 2019);
    CHECK(last_year("20191106") == 2019);
    CHECK(last_year("") == 0);
    CHECK(last_year("rev 12345") == 0);
}

TEST_CASE("a row runs on the release and the way of calling that it was measured with", "[run]") {
    TemporaryDatabase files;
    files.add_runtime(small_runtime("stack"));
    files.write("runtimes/stack-1.json", R"({"id": "stack-1", "name": "first", "extends": "stack",
      "measured_as": [{"stack": "stack", "until": 2018}]})");
    files.write("runtimes/stack-2.json", R"({"id": "stack-2", "name": "second", "extends": "stack",
      "measured_as": [{"stack": "stack", "until": 2022}]})");
    files.write("runtimes/stack-called.json",
                R"({"id": "stack-called", "name": "called", "extends": "stack-2",
      "measured_as": [{"stack": "stack", "variant": "synchronised"}]})");
    files.write("runtimes/broken.json", "{");
    const HardwareDatabase database(files.root());
    const MeasuredStacks stacks(database); // a broken file beside them does not matter
    CHECK(stacks.of(row_of_stack("2024", "")) == "stack");
    CHECK(stacks.of(row_of_stack("", "")) == "stack"); // no date: nothing is known
    CHECK(stacks.of(row_of_stack("2021-2022", "")) == "stack-2");
    CHECK(stacks.of(row_of_stack("2017", "")) == "stack-1");
    CHECK(stacks.of(row_of_stack("2017", "synchronised")) == "stack-called");
    MeasuredRow other = row_of_stack("2017", "synchronised");
    other.runtime = "another";
    CHECK(stacks.of(other) == "another");
}

TEST_CASE("published TensorRT rows are told apart", "[run]") {
    const HardwareDatabase database(std::filesystem::path(ARCHSIM_SOURCE_DIR) / "hardware_db");
    const MeasuredStacks stacks(database);
    MeasuredRow r = row_of_stack("2025-01-31", "");
    r.runtime = "tensorrt";
    CHECK(stacks.of(r) == "tensorrt");
    r.source_date = "2021";
    CHECK(stacks.of(r) == "tensorrt-8.4");
    CHECK_FALSE(database.runtime("tensorrt-8.4")->fusion.gated_activation);
    CHECK(database.runtime("tensorrt")->fusion.gated_activation);
    for (const char* name : {"A100", "V100-32GB", "Jetson-AGX-Xavier"})
        CHECK(database.runtime("tensorrt-8.4")->serves(*database.device(name).device));
    r.variant = "synchronised";
    CHECK(stacks.of(r) == "tensorrt-synchronous");
}

TEST_CASE("published vLLM rows are told apart by the year of its second engine", "[run]") {
    const HardwareDatabase database(std::filesystem::path(ARCHSIM_SOURCE_DIR) / "hardware_db");
    const MeasuredStacks stacks(database);
    MeasuredRow r = row_of_stack("2024-11", "");
    r.runtime = "vllm";
    CHECK(stacks.of(r) == "vllm-0.6");
    CHECK(database.runtime("vllm-0.6")->serves(*database.device("H100").device));
    r.source_date = "2025-05";
    CHECK(stacks.of(r) == "vllm");
    // Every release that made up a step after the other, however its number is written.
    for (const char* variant : {"0.12.0", "0.13.0rc1", "0.9.2", "0.8"}) {
        r.variant = variant;
        CHECK(stacks.of(r) == "vllm-0.13");
    }
    r.variant = "0.14.1";
    CHECK(stacks.of(r) == "vllm");
    r.variant = "nightly";
    CHECK(stacks.of(r) == "vllm");
    r.variant = "0.7.3";
    CHECK(stacks.of(r) == "vllm-0.6");
    r.variant = "0.11.2";
    r.client = "InferenceMAX"; // whose scripts schedule ahead
    CHECK(stacks.of(r) == "vllm");
}

TEST_CASE("SGLang's later releases, which compile one kernel for all lengths, are told apart", "[run]") {
    const HardwareDatabase database(std::filesystem::path(ARCHSIM_SOURCE_DIR) / "hardware_db");
    const MeasuredStacks stacks(database);
    MeasuredRow r = row_of_stack("2026", "0.5.10.post1");
    r.runtime = "sglang";
    CHECK(stacks.of(r) == "sglang");
    r.variant = "0.5.15";
    CHECK(stacks.of(r) == "sglang-0.5.15");
    r.variant = "0.6";
    CHECK(stacks.of(r) == "sglang-0.5.15");
}

TEST_CASE("published Neuron rows are told apart by release", "[run]") {
    const HardwareDatabase database(std::filesystem::path(ARCHSIM_SOURCE_DIR) / "hardware_db");
    const MeasuredStacks stacks(database);
    MeasuredRow r = row_of_stack("2026", "2.18.0");
    r.runtime = "neuron";
    CHECK(stacks.of(r) == "neuron-2.18.0");
    CHECK(database.runtime("neuron-2.18.0")->serves(*database.device("Trainium1").device));
    r.variant = "2.18.1";
    CHECK(stacks.of(r) == "neuron");
}
