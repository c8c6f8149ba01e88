// Every file at hand gets a report: what exporters of many kinds write, and single operators of every kind.

#include "answers/portability/check_model.hpp"
#include "laws/laws.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

using namespace archsim;
namespace fs = std::filesystem;

namespace {

PortabilityAnswer report_on(const std::string& model, std::vector<std::string> hardware, std::size_t advice) {
    PortabilityRequest request;
    request.model = model;
    request.hardware = std::move(hardware);
    request.conditions.precision = PrecisionConfig::uniform(Precision::int8);
    request.advice = advice;
    return check_model(laws::session(), std::move(request));
}

/// An estimate whose parts add up, or one sentence that says why there is none.
void check_answer(const PortabilityAnswer& answer) {
    for (const Portability& p : answer.devices) {
        CAPTURE(p.result.hardware);
        if (!p.result.ok()) {
            CHECK_FALSE(p.result.estimate.reason.empty());
            continue;
        }
        CHECK(p.operators > 0);
        CHECK(p.leaving <= p.operators);
        CHECK(p.fallback_s <= p.result.estimate.latency_s * (1 + 1e-9));
        // What its host runs alone is no answer about a device.
        CHECK((p.operations_share > 0 && p.operations_share <= 1 + 1e-12));
        CHECK((p.leaving == 0) == p.types.empty());
        for (const LeavingOperators& type : p.types)
            CHECK_FALSE(type.reason.empty());
    }
}

} // namespace

TEST_CASE("every network of the catalogue has a portability report", "[portability]") {
    int answered = 0;
    for (const CatalogueEntry& entry : laws::session().catalogue().entries()) {
        if (!laws::one_graph(entry))
            continue;
        CAPTURE(entry.name);
        const bool small = fs::file_size(entry.file) < 40'000; // advice tries some fifty changes
        check_answer(
            report_on(entry.name, {"Hailo-8", "Coral-Edge-TPU", "Snapdragon-8-Elite"}, small ? 5 : 0));
        ++answered;
    }
    CHECK(answered >= 100);
}

TEST_CASE("every model of ONNX's own corpus has a portability report", "[portability]") {
    const fs::path corpus = "/usr/share/libonnx-testdata/data";
    REQUIRE(fs::is_directory(corpus)); // scripts/setup test installs it
    int answered = 0, refused = 0;
    for (const auto& file : fs::recursive_directory_iterator(corpus)) {
        if (file.path().extension() != ".onnx")
            continue;
        CAPTURE(file.path().string());
        try {
            check_answer(report_on(file.path().string(), {"Coral-Edge-TPU"}, 0));
            ++answered;
        } catch (const InputError& problem) { // sizes that only the user can give
            CHECK(std::string(problem.what()).size() > 20);
            ++refused;
        }
    }
    CAPTURE(refused);
    CHECK(answered >= 1000);
}
