// A family that the library does not know: one file (tests/support/lookup_array.cpp) is all it takes. That it
// keeps the laws is the ctest "an added family keeps the laws": they run on its device alone, in a process of
// their own.

#include "answers/sweep/sweep.hpp"
#include "hardware/family_schema.hpp"
#include "report/render/answer_document.hpp"

#include "core/text_file.hpp"
#include "hardware/temporary_database.hpp"
#include "support/lookup_array.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace archsim;
using nlohmann::json;

namespace {

SessionOptions with_files() {
    SessionOptions options;
    options.data = ARCHSIM_SOURCE_DIR;
    options.hardware_overlays = {test::lookup_array_files()};
    return options;
}

} // namespace

TEST_CASE("an added family is in every list while it lives, and nowhere after", "[family]") {
    const std::size_t before = families().size();
    CHECK_FALSE(parse_family("lut"));
    CHECK_THROWS_WITH(Family("gpus"), Catch::Contains("is gpu"));
    {
        const AddedFamily lut(test::lookup_array());
        CHECK(families().size() == before + 1);
        CHECK(families().back() == lut.family());
        CHECK(parse_family("LUT") == lut.family());
        CHECK(title_of(lut.family()) == "LUT");
        CHECK(family_names().back() == "lut");
        CHECK(Family("npu") < lut.family());
        CHECK(mapper_for(lut.family()).name() == "table look-up");
        CHECK_THROWS_AS(AddedFamily(test::lookup_array()), InputError);
    }
    CHECK(families().size() == before);
    CHECK_FALSE(parse_family("lut"));
    CHECK_THROWS_AS(mapper_for(Family()), InputError);
}

TEST_CASE("the checker reads an added family's facts by its rows", "[family]") {
    const AddedFamily lut(test::lookup_array());
    const std::string file = (test::lookup_array_files() / "lut/LUT-256.json").string();
    for (const Finding& finding : check_hardware(test::lookup_array_files()))
        FAIL_CHECK(to_string(finding));

    const auto finding_of = [&](const char* change) {
        json device = json::parse(read_text_file(file));
        device.merge_patch(json::parse(change));
        std::string text;
        const test::TemporaryDatabase folder;
        folder.write("lut/LUT-256.json", device.dump());
        folder.write("runtimes/lut-compiler.json",
                     read_text_file(test::lookup_array_files() / "runtimes/lut-compiler.json"));
        for (const Finding& finding : check_hardware(folder.root()))
            text += finding.where + ": " + finding.message + "\n";
        return text;
    };
    CHECK(finding_of(R"({"lookup_array": {"banks": null}})")
              .find("/lookup_array/banks: a LUT needs this field") != std::string::npos);
    CHECK(finding_of(R"({"lookup_array": {"banks": {"value": 1e6}}})").starts_with("/lookup_array/banks"));
    CHECK(finding_of(R"({"lookup_array": {"buffer": {"unit": "W"}}})").starts_with("/lookup_array/buffer"));
    CHECK(finding_of(R"({"lookup_array": {"tables": "chairs"}})").starts_with("/lookup_array/tables"));
    CHECK(finding_of(R"({"lookup_array": {"tabels": "sums"}})").starts_with("/lookup_array/tabels"));
    CHECK(finding_of(R"({"gpu": {"sm_count": 4}})").find("/gpu") != std::string::npos);
}

TEST_CASE("an added family is estimated, swept and scaled like any other", "[family]") {
    const AddedFamily lut(test::lookup_array());
    const Session session(with_files());
    SweepRequest request;
    request.models = {"resnet18"};
    request.hardware = {"LUT-256"};
    request.precisions = {"int8"};
    request.axes = {parse_sweep_axis("units=1x,2x"), parse_sweep_axis("array=1x,2x"),
                    parse_sweep_axis("on_chip_memory=1x,16x")};
    const Sweep sweep(session, request);
    std::vector<SweepRow> rows;
    sweep.run(sweep.first(), 1, [&](std::span<const SweepRow> some) {
        rows.insert(rows.end(), some.begin(), some.end());
        return true;
    });
    REQUIRE(rows.size() == 8);
    for (const SweepRow& row : rows) {
        INFO(row.reason);
        CHECK(row.status == Status::ok);
        CHECK(row.value(metric::energy).value_or(0) > 0);
    }
    CHECK(rows[4].value(metric::latency) < rows[0].value(metric::latency)); // twice the banks
    CHECK(rows[2].value(metric::latency) < rows[0].value(metric::latency)); // twice the look-ups of each
    CHECK(rows[1].value(metric::latency) <
          rows[0].value(metric::latency)); // activations stay in the larger buffer

    const Device& device = *session.hardware().device("LUT-256").device;
    CHECK(family_number(device, "banks").value == 256);
    DeviceChanges changes;
    changes[Structure::units] = 1.5;
    changes[Structure::array] = 0.5;
    changes[Structure::on_chip_memory] = 2;
    const auto changed_device = changed(device, changes);
    CHECK(family_number(*changed_device, "banks").value == 384);
    CHECK(family_number(*changed_device, "lookups").value == 4);
    CHECK(family_number(*changed_device, "buffer").value == 512 * 1024);
    CHECK(family_number(*changed_device, "rewriting_time").value == Approx(20e-6));
    CHECK(family_number(device, "banks").value == 256); // the original keeps its own
}

TEST_CASE("schemas say of families what the table says", "[family]") {
    std::size_t files = 0;
    const std::filesystem::path source = ARCHSIM_SOURCE_DIR;
    for (const auto& entry : std::filesystem::directory_iterator(source / "hardware_db")) {
        if (!entry.path().string().ends_with("schema.json"))
            continue;
        ++files;
        INFO(entry.path() << " is out of date: run scripts/docs");
        CHECK(completed_schema(entry.path()) == read_text_file(entry.path()));
    }
    CHECK(files > 3);
    const AddedFamily lut(test::lookup_array());
    const json device = json::parse(completed_schema(source / "hardware_db/schema.json"));
    CHECK(device["properties"]["family"]["enum"].back() == "lut");
    const json& block = device["properties"]["lookup_array"];
    CHECK(block["required"] == json::array({"banks"}));
    CHECK(block["properties"]["tables"]["enum"] == json::array({"products", "sums"}));
    CHECK(block["properties"]["buffer"]["description"] == "Memory for activations.");
    const json rows = compare_models_schema();
    const json& names = rows["properties"]["results"]["items"]["properties"]["family"]["enum"];
    CHECK(names[names.size() - 2] == "lut");
    CHECK(names.back().is_null());
}

TEST_CASE("every family of the library prices its events", "[family]") {
    const json energy =
        json::parse(read_text_file(std::filesystem::path(ARCHSIM_SOURCE_DIR) / "hardware_db/energy.json"));
    for (const std::string& name : family_names()) {
        INFO(name);
        CHECK(energy["families"].contains(name));
    }
}
