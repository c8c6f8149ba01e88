// Our counts against what others published.

#include "laws/laws.hpp"

#include <catch2/catch.hpp>

using namespace archsim;

TEST_CASE("every catalogue model imports, binds and has no unknown part", "[catalogue]") {
    for (const CatalogueEntry& entry : laws::session().catalogue().entries()) {
        if (entry.file.empty())
            continue;
        INFO(entry.name);
        const auto model = laws::bound(entry.name, 1);
        for (const Finding& finding : model->graph().findings) {
            INFO(to_string(finding));
            CHECK(finding.severity != Severity::error);
        }
        CHECK(model->graph().complete());
    }
}

TEST_CASE("parameters equal the published figure, MACs agree within 0.2 % or its rounding", "[catalogue]") {
    int compared = 0;
    for (const CatalogueEntry& entry : laws::session().catalogue().entries()) {
        if (!entry.published || entry.file.empty())
            continue;
        INFO(entry.name << " against " << entry.published->source);
        Bindings bindings;
        bindings.dims = entry.published->dims;
        const auto model = laws::session().bind(laws::session().load(entry.name), 1, bindings);
        if (entry.published->parameters > 0)
            CHECK(
                model->graph().parameters() + entry.not_exported_parameters ==
                Approx(entry.published->parameters).epsilon(entry.published->parameters_tolerance).margin(0));
        if (entry.published->gmacs > 0) {
            CHECK(model->graph().macs() / 1e9 ==
                  Approx(entry.published->gmacs).epsilon(entry.published->gmacs_tolerance).margin(0));
            ++compared;
        }
    }
    CHECK(compared >= 45);
}
