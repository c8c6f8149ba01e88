#include "archsim/core/finding.hpp"
#include "ops/given_values.hpp"

#include <catch2/catch.hpp>

using namespace archsim;

TEST_CASE("sizes and values are given as NAME=VALUE", "[ops]") {
    Bindings bindings;
    give_dim(bindings, "sequence=384", "--dim");
    give_input(bindings, "scales=1,1,-2", "--input");
    CHECK(bindings.dims.at("sequence") == 384);
    CHECK(bindings.input_values.at("scales") == std::vector<std::int64_t>{1, 1, -2});
}

TEST_CASE("sizes that are none are refused with their name", "[ops]") {
    Bindings bindings;
    for (const char* text : {"", "=", "batch", "batch=", "=4", "batch=-1", "batch=1.5", "batch=4x",
                             "batch= 4", "batch=99999999999999999999"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(give_dim(bindings, text, "--dim"), UsageError);
    }
    CHECK_THROWS_AS(give_input(bindings, "shape=1,,2", "--input"), UsageError);
    CHECK_THROWS_WITH(give_dim(bindings, "batch=99999999999999999999", "dims"),
                      "dims batch: 99999999999999999999 does not fit 64 bits");
    CHECK(bindings.dims.empty());
}
