// How a row was taken stands in columns: nothing reads a note.

#include "fit/rows/measurements.hpp"

#include <catch2/catch.hpp>

using namespace archsim;

TEST_CASE("a row is read by its columns, not by its note", "[run][measurements]") {
    const auto table = parse_measurements(
        "id,model,batch,precision,hardware,devices,runtime,scope,metric,value,source,note,sampling,transfers,"
        "decided_by,context,variant,boundary\n"
        "a,m,1,fp16,A100,1,vllm,offline,throughput_per_s,1,s,top_p; HOST-BOUND; NVML,,,,,,\n"
        "b,m,1,fp16,A100,1,vllm,offline,throughput_per_s,1,s,,top-p,included,slow_kernel,512,0.6,wall\n"
        "c,m,1,fp16,A100,1,vllm,offline,throughput_per_s,1,s,,top_p,,,,,\n"
        "d,m,1,fp16,A100,1,vllm,offline,throughput_per_s,1,s,,,yes,,,,\n"
        "e,m,1,fp16,A100,1,vllm,offline,throughput_per_s,1,s,,,,weather,,,\n",
        "new.csv");
    REQUIRE(table.rows.size() == 2);
    CHECK_FALSE(table.rows[0].sampled);
    CHECK(table.rows[0].decided_by.empty());
    CHECK(table.rows[0].boundary == PowerBoundary::chip);
    CHECK(table.rows[1].sampled);
    CHECK(table.rows[1].transfers);
    CHECK(table.rows[1].decided_by == "slow_kernel");
    CHECK(table.rows[1].context == 512);
    CHECK(table.rows[1].variant == "0.6");
    CHECK(table.rows[1].boundary == PowerBoundary::wall);
    CHECK(table.findings.size() == 3);
}
