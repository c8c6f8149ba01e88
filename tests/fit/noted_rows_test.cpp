// Rows of files that had no columns for how they were taken: what their notes said still holds, and nothing
// else reads notes.

#include "core/csv_reader.hpp"
#include "core/text_file.hpp"
#include "fit/rows/measurements.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

using namespace archsim;

namespace {

MeasuredRow old_row(const char* stack, const char* note) {
    const auto table = parse_measurements(
        "id,model,batch,precision,hardware,devices,runtime,scope,metric,value,source,note\n"
        "a,m,1,fp16,A100,1," +
            std::string(stack) + ",offline,throughput_per_s,1,s,\"" + note + "\"\n",
        "old.csv");
    REQUIRE(table.rows.size() == 1);
    return table.rows.front();
}

} // namespace

TEST_CASE("a file of the old form says in notes what columns say now", "[run][measurements]") {
    CHECK(old_row("xla", "batch 96, cache length 2048, max input 1024").context == 2048);
    CHECK(old_row("neuron", "context length 8192 compiled").context == 8192);
    CHECK(old_row("tensorrt", "fp16, data transfer included").transfers);
    CHECK(old_row("vllm", "temperature 0.8, top_p 0.95").sampled);
    CHECK(old_row("vllm", "HOST-BOUND: gaps between kernels").decided_by == "host");
    CHECK(old_row("vllm", "SLOW KERNEL of the first release").decided_by == "slow_kernel");
    CHECK(old_row("tensorrt", "WALL power of it").boundary == PowerBoundary::wall);
    CHECK(old_row("tensorrt", "board power under load").boundary == PowerBoundary::board);
    CHECK(old_row("tensorrt", "steady, NVML").boundary == PowerBoundary::rail);
    const MeasuredRow plain = old_row("tensorrt", "median of 100 runs");
    CHECK(row_key(plain) == row_key(old_row("tensorrt", "")));
}

TEST_CASE("a file that has one of the columns is read by its columns alone", "[run][measurements]") {
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

TEST_CASE("no note of this project's rows is needed: their columns say the same", "[run][measurements]") {
    const auto folder = std::filesystem::path(ARCHSIM_SOURCE_DIR) / "tests/measured";
    std::size_t told = 0;
    for (const auto& place : {folder, folder / "third", folder / "energy"}) {
        for (MeasuredRow row : read_measurements(std::vector<std::string>{place.string()}).rows) {
            const auto before = row_key(row);
            const std::string decided = row.decided_by;
            told +=
                !row.variant.empty() || row.context > 0 || row.transfers || row.sampled || !decided.empty();
            INFO(row.id);
            MeasuredRow from_note = row;
            fill_from_note(from_note, row.boundary == PowerBoundary::chip);
            CHECK(row_key(from_note) == before);
            CHECK(from_note.decided_by == decided);
        }
    }
    CHECK(told > 1300);
}
