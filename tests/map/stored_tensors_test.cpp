// Bits of tensors that lie in memory: what a file states, then what a stack states, then the format.

#include "map/stored_tensors.hpp"

#include <catch2/catch.hpp>

using namespace archsim;

TEST_CASE("tables and caches take the bits that a stack states, scales among them", "[map]") {
    ShapedTensor tensor;
    tensor.type = DataType::float16;
    PrecisionConfig precision = PrecisionConfig::uniform(Precision::fp16);
    precision.kv_cache = Precision::int8;
    const auto bits = [&](Storage storage) {
        return stored_bits(TensorFormat(tensor), precision, storage, std::nullopt);
    };
    CHECK(bits(Storage::table) == 16); // no scheme narrows it
    precision.table_bits = 4.5;
    CHECK(bits(Storage::table) == 4.5);
    CHECK(bits(Storage::activation) == 16);
    tensor.storage_bits = 6.5625;
    CHECK(bits(Storage::table) == 6.5625); // what lies in a file
    tensor.storage_bits = 0;
    tensor.kv_cache = true;
    CHECK(bits(Storage::activation) == 8);
    precision.cache_bits = 8.5; // q8_0: a 16-bit scale per 32 values
    CHECK(bits(Storage::activation) == 8.5);
}
