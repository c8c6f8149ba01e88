#include "archsim/extend/mapper.hpp"

#include <catch2/catch.hpp>

#include <limits>

using namespace archsim;

TEST_CASE("a mapping keeps what it is given or says that it cannot", "[map]") {
    Mapping mapping;
    mapping.add(Resource::dram_bytes, Lane::memory, 0);
    CHECK(mapping.all().empty());
    mapping.add(Resource::dram_bytes, Lane::memory, std::numeric_limits<double>::quiet_NaN());
    CHECK(mapping.all().size() == 1); // the estimate refuses it; dropped, it would be work that takes no time
    while (mapping.demand_count < Mapping::kMaxDemands)
        mapping.add(Resource::dram_bytes, Lane::memory, 1);
    CHECK_THROWS_AS(mapping.add(Resource::dram_bytes, Lane::memory, 1), std::length_error);
}
