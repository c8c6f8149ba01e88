// What an earlier version said, read back and set beside what is said now.

#include "fit/errors/leave_out.hpp"
#include "fit/report/validation_report.hpp"
#include "hardware/temporary_database.hpp"

#include <catch2/catch.hpp>

using namespace archsim;

namespace {

ValidatedRow measured_row(const std::string& id, double measured, double predicted, double weight = 1) {
    ValidatedRow row;
    row.measured.id = id;
    row.measured.hardware = "chip";
    row.measured.model = "network";
    row.measured.value = measured;
    row.measured.weight = weight;
    row.prediction.predicted = predicted;
    row.prediction.low = predicted / 2;
    row.prediction.high = predicted * 2;
    row.prediction.family = "gpu";
    return row;
}

} // namespace

TEST_CASE("blind predictions are read from an earlier version's CSV", "[run][first_run]") {
    test::TemporaryDatabase folder;
    const auto rows = read_first_run(folder.write("first.csv", "id,status,reason,predicted,low,high,value\n"
                                                               "a,ok,,2,1,4,3\n"
                                                               "b,unsupported,\"no model, here\",,,,3\n"));
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].id == "a");
    CHECK(rows[0].predicted == 2);
    CHECK(rows[0].low == 1);
    CHECK(rows[0].high == 4);
    CHECK_THROWS_WITH(read_first_run(folder.write("short.csv", "id,status,predicted,low,high\na,ok,2,1\n")),
                      Catch::Contains("line 2") && Catch::Contains("4 fields instead of 5"));
    CHECK_THROWS_WITH(read_first_run(folder.write("bad.csv", "id,status,predicted,low,high\na,ok,x,1,4\n")),
                      Catch::Contains("\"x\" is not a number"));
    CHECK_THROWS_WITH(read_first_run(folder.write("none.csv", "id,predicted,low,high\n")),
                      Catch::Contains("status"));
}

TEST_CASE("the table of the first run counts rows that were estimated then and are now",
          "[report][first_run]") {
    ValidationAnswer answer;
    // Measured 100: said 150 then, 110 now; the second row weighs too little, the third was not estimated
    // then.
    answer.validation = summarize(
        {measured_row("a", 100, 110), measured_row("b", 100, 110, 0.3), measured_row("c", 100, 110)});
    answer.first_run = {{"a", 150, 120, 180}, {"b", 100, 50, 200}, {"gone", 1, 1, 1}};
    const Report report = describe(answer);
    std::vector<std::string> cells;
    for (const Block& block : report.blocks)
        if (const auto* table = std::get_if<Table>(&block);
            table != nullptr && table->title == "By family, first run and now")
            for (const Cell& cell : table->rows.front())
                cells.push_back(cell.text);
    // Rows; then median, within 25 % and covered at first and now; nothing was left out.
    CHECK(cells == std::vector<std::string>{"gpu", "1", "50.0 %", "0.0 %", "0.0 %", "10.0 %", "100.0 %",
                                            "100.0 %", "", "", "", "", "", ""});
}
