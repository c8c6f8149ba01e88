// The table of intervals is read in one pass over its text; a file that is written any other way reads the
// same, and a wrong one says what is wrong where.

#include "hardware/uncertainty.hpp"

#include "archsim/core/finding.hpp"
#include "hardware/temporary_database.hpp"
#include "laws/laws.hpp"

#include <catch2/catch.hpp>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

using namespace archsim;
using Catch::Contains;

namespace {

std::string shipped() {
    std::ifstream file(std::string(ARCHSIM_SOURCE_DIR) + "/hardware_db/uncertainty.json");
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
    const auto at = text.find(what);
    REQUIRE(at != std::string::npos);
    return text.replace(at, what.size(), by);
}

} // namespace

TEST_CASE("a table that is not plain JSON holds the same variances", "[uncertainty][hardware]") {
    const test::TemporaryDatabase folder;
    const UncertaintyTable quick(folder.write("quick.json", shipped()));
    // An escape, which the quick reader leaves to the other one.
    const UncertaintyTable slow(folder.write("slow.json", replaced(shipped(), "Standard", "\\u0053tandard")));
    std::size_t compared = 0;
    std::vector<Finding> findings;
    for (const auto& device : laws::session().hardware().all_devices(findings)) {
        const auto runtime = laws::session().hardware().runtime_for(*device);
        for (const SpreadOf metric :
             {SpreadOf::latency, SpreadOf::throughput, SpreadOf::prefill, SpreadOf::decode, SpreadOf::energy,
              SpreadOf::power, SpreadOf::first_token, SpreadOf::later_token}) {
            const Spread a = quick.spread(metric, *device, *runtime),
                         b = slow.spread(metric, *device, *runtime);
            INFO(device->id << " " << name_of(metric));
            CHECK((a.low == b.low && a.high == b.high && a.rows == b.rows && a.basis == b.basis));
            ++compared;
        }
    }
    CHECK(compared > 1000);
}

TEST_CASE("a wrong row of a table is named with its place", "[uncertainty][hardware]") {
    const test::TemporaryDatabase folder;
    for (const auto& [what, by, said] : {std::tuple{R"("family":"cpu")", R"("family":"xpu")", "/family"},
                                         {R"("metric":"latency")", R"("metric":"lateness")", "/metric"},
                                         {R"("deviation":0.)", R"("deviation":70.)", "/within/0/deviation"},
                                         {R"("rows":)", R"("row":)", "\"rows\" is missing"},
                                         {R"("of":"time")", R"("of":5)", "this must be a text"},
                                         {R"("sets": [)", R"("sets": [5,)", "this must be an object"},
                                         {R"("lane_share": )", R"("lane_share": 7)", "/lane_share"},
                                         {R"("kind": "fitted")", R"("kind": "dreamt")", "dreamt"}}) {
        INFO(what << " -> " << by);
        const std::string file = folder.write("wrong.json", replaced(shipped(), what, by));
        CHECK_THROWS_WITH(UncertaintyTable(file), Contains(said));
    }
}
