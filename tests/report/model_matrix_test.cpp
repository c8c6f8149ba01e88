// The table of several models on several devices: every cell is an estimate, or has its reason below.

#include "answers/compare/compare_models_report.hpp"
#include "archsim/extend/renderer.hpp"
#include "archsim/run/compare_models.hpp"
#include "laws/laws.hpp"

#include <catch2/catch.hpp>

using namespace archsim;

namespace {

const Table* find_matrix(const Report& report) {
    for (const Block& block : report.blocks)
        if (const auto* table = std::get_if<Table>(&block);
            table && table->title.starts_with("Latency of every model"))
            return table;
    return nullptr;
}

} // namespace

TEST_CASE("the matrix of models and devices says why a cell has no estimate", "[report]") {
    CompareModelsRequest request;
    request.models = {"bert-base", "llama-3-8b", "whisper-base"};
    request.hardware = {"Xeon-8480+", "H100", "TPU-v5e", "DPU-VCK5000", "Hailo-8"};
    request.conditions.precision = PrecisionConfig::uniform(Precision::fp16);
    const ModelComparison comparison = compare_models(laws::session(), request);
    const Report report = describe(comparison, {});
    const Table* matrix = find_matrix(report);
    REQUIRE(matrix);
    REQUIRE(matrix->rows.size() == request.models.size());
    std::size_t without = 0;
    for (const Result& result : comparison.results)
        without += !result.ok();
    CHECK(without >= 1); // 16 GB of weights on a device of 16 GB
    std::size_t reasons = 0, starred = 0;
    for (const TableNote& note : matrix->notes)
        for (const std::string& model : request.models)
            reasons += note.text.starts_with(model + " on ") ? 1U : 0U;
    CHECK(reasons == without);
    for (const auto& row : matrix->rows) {
        REQUIRE(row.size() == 1 + request.hardware.size());
        for (std::size_t i = 1; i < row.size(); ++i)
            CHECK_FALSE(row[i].text.empty());
        for (const Cell& cell : row)
            starred += cell.text.ends_with('*') ? 1U : 0U;
    }
    // What runs in another format than was asked for is marked, and the mark is explained.
    std::size_t elsewhere = 0;
    for (const Result& result : comparison.results)
        elsewhere += result.ok() && !result.estimate.precision_note.empty() ? 1U : 0U;
    CHECK(starred == elsewhere);
    CHECK((matrix->notes.back().text.starts_with("* ") || elsewhere == 0));
    CHECK(matrix->notes.front().text.find("llama-3-8b on TPU-v5e: needs ") == 0);
}
