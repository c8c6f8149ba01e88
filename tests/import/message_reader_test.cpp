// Messages read from the wire: what protobuf allows a writer to do, files larger than the window, and the
// storage behind.

#include "archsim/core/finding.hpp"
#include "import/message_reader.hpp"
#include "import/model_maker.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

using namespace archsim;
using namespace archsim::test;
using namespace std::string_literals;
using Catch::Matchers::Contains;

namespace {

/// A delimited field of fewer than 128 bytes.
std::string field(int number, const std::string& content) {
    REQUIRE(content.size() < 128);
    return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(content.size())} + content;
}

struct Read {
    std::string bytes;
    import::ByteSource source;
    import::Arena arena;
    import::ModelMessage model;

    explicit Read(std::string text)
        : bytes(std::move(text)),
          source(std::span(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size())),
          model(import::MessageReader(source, arena).read()) {}
};

std::string refusal_of(const std::string& bytes) {
    try {
        import_bytes(bytes);
        return "imported";
    } catch (const InputError& error) {
        return error.what();
    }
}

} // namespace

TEST_CASE("a graph that comes in pieces is one graph", "[import][wire]") {
    const std::string relu = field(1, field(1, "x") + field(2, "y") + field(4, "Relu"));
    const std::string neg = field(1, field(1, "y") + field(2, "z") + field(4, "Neg"));
    const Read read(field(7, relu + field(2, "first")) + field(7, neg + field(2, "last")));
    REQUIRE(read.model.graph);
    CHECK(read.model.graph->name == "last");
    REQUIRE(read.model.graph->node.size() == 2);
    CHECK(read.model.graph->node[0].op_type == "Relu");
    CHECK(read.model.graph->node[1].input[0] == "y");
}

TEST_CASE("lists may be packed or not, and fields of another wire type are unknown", "[import][wire]") {
    // ints 1, -1 (ten bytes), packed 2, 3; floats 1 unpacked, 0.5 packed; `i` as a string.
    const std::string minus_one = "\x40"s + std::string(9, '\xff') + "\x01"s;
    const std::string attribute = field(1, "a") + "\x40\x01"s + minus_one + field(8, "\x02\x03"s) +
                                  "\x3d\0\0\x80\x3f"s + field(7, "\0\0\0\x3f"s) + field(3, "7") +
                                  "\xa0\x01\x07"s;
    const Read read(field(7, field(1, field(4, "Op") + field(5, attribute))));
    const auto& node = read.model.graph->node[0];
    REQUIRE(node.attribute.size() == 1);
    const import::AttributeMessage& a = node.attribute[0];
    CHECK(std::vector<std::int64_t>(a.ints.begin(), a.ints.end()) == std::vector<std::int64_t>{1, -1, 2, 3});
    CHECK(std::vector<float>(a.floats.begin(), a.floats.end()) == std::vector<float>{1, 0.5F});
    CHECK(a.type == import::AttributeType::integers);
    CHECK_FALSE(a.i);
}

TEST_CASE("of two types of a value the last one counts, and damage in it is refused", "[import][wire]") {
    // tensor of int64 [3], then sequence of tensor of float [n].
    const std::string three = field(1, "\x08\x03"s), n = field(1, field(2, "n"));
    const std::string tensor = field(1, "\x08\x07"s + field(2, three));
    const std::string sequence = field(4, field(1, field(1, "\x08\x01"s + field(2, n))));
    const auto graph_with = [](const std::string& type) {
        return field(7, field(11, field(1, "x") + field(2, type)));
    };
    const Graph last = import_bytes(graph_with(tensor + sequence));
    CHECK(last.tensors[0].kind == ValueKind::sequence);
    CHECK(last.tensors[0].type == DataType::float32);
    CHECK(last.tensors[0].shape->front().symbol == "n");
    const Graph first = import_bytes(graph_with(sequence + tensor));
    CHECK(first.tensors[0].kind == ValueKind::tensor);
    CHECK(first.tensors[0].shape->front().value == 3);
    CHECK_THAT(refusal_of(graph_with(field(1, "\x12\x05"s))), Contains("type of a value cannot be decoded"));
}

TEST_CASE("what is wrong with the bytes is said with its place", "[import][wire]") {
    CHECK_THAT(refusal_of("\x3a\x05"s), Contains("byte 2 promises 5 bytes where 0 are left"));
    CHECK_THAT(refusal_of("\x08\x80"s), Contains("byte 1 ends inside a number"));
    CHECK_THAT(refusal_of("\x08"s + std::string(11, '\xff')),
               Contains("byte 1 holds a number of more than ten bytes"));
    CHECK_THAT(refusal_of("\x0b"s), Contains("byte 0 holds no valid field")); // a group
    CHECK_THAT(refusal_of("\x00"s), Contains("byte 0 holds no valid field"));
    const std::string torn = field(7, field(1, field(5, field(7, "\0\0\0"s)))); // three bytes of a float
    CHECK_THAT(refusal_of(torn), Contains("ends inside a number"));
    CHECK_THAT(refusal_of("\x08\x01"s), Contains("has no graph"));
}

TEST_CASE("a file that is read through a window gives the graph that memory gives", "[import][wire]") {
    // Three megabytes of weights between names and small constants, some of them longer than the window.
    auto model = make_model();
    auto& graph = *model.mutable_graph();
    add_input(graph, "x", {"batch", "8"});
    const std::string long_name(100'000, 'n');
    std::string before = "x";
    for (int i = 0; i < 30; ++i) {
        const std::string number = std::to_string(i);
        add_weights(graph, "w" + number, {160, 160}).set_raw_data(std::string(102'400, '\3'));
        auto& axes = add_weights(graph, "axes" + number, {2}, onnx::TensorProto::INT64);
        axes.add_int64_data(i);
        axes.add_int64_data(-i);
        const std::string after = i == 7 ? long_name : "t" + number;
        auto& node = add_node(graph, "Op", {before, "w" + number, "axes" + number}, {after}, "node" + number);
        add_attribute(node, "text", onnx::AttributeProto::STRING).set_s("value " + number);
        for (int j = 0; j < 40; ++j)
            add_attribute(node, "many" + std::to_string(j), onnx::AttributeProto::INTS).add_ints(j);
        before = after;
    }
    add_output(graph, before);
    const std::string bytes = model.SerializeAsString();
    REQUIRE(bytes.size() > 3'000'000);
    const auto file = std::filesystem::temp_directory_path() / ("archsim-window-" + std::to_string(getpid()));
    std::ofstream(file, std::ios::binary) << bytes;
    const Graph memory = import_bytes(bytes), windowed = import_onnx(file);
    std::filesystem::remove(file);

    REQUIRE(windowed.tensors.size() == memory.tensors.size());
    for (std::size_t i = 0; i < memory.tensors.size(); ++i) {
        CHECK(windowed.tensors[i].name == memory.tensors[i].name);
        REQUIRE((windowed.tensors[i].value == nullptr) == (memory.tensors[i].value == nullptr));
        if (memory.tensors[i].value)
            CHECK(windowed.tensors[i].value->ints == memory.tensors[i].value->ints);
    }
    REQUIRE(windowed.nodes.size() == 30);
    for (std::size_t i = 0; i < memory.nodes.size(); ++i) {
        CHECK(windowed.nodes[i].name == memory.nodes[i].name);
        CHECK(windowed.nodes[i].inputs == memory.nodes[i].inputs);
        CHECK(windowed.nodes[i].attributes.size() == 41);
        CHECK(std::get<std::string>(*windowed.nodes[i].attribute("text")) == "value " + std::to_string(i));
    }
    CHECK(find_tensor(windowed, long_name) != nullptr);
    CHECK(find_tensor(windowed, "axes7")->value->ints == std::vector<std::int64_t>{7, -7});
    CHECK(find_tensor(windowed, "w7")->value == nullptr);
}

TEST_CASE("lists of an arena keep their elements while others grow between them", "[import][wire]") {
    import::Arena arena;
    import::ArenaList<std::int64_t> even, odd;
    for (std::int64_t i = 0; i < 20'000; ++i)
        (i % 2 == 0 ? even : odd).push_back(arena, i);
    REQUIRE(even.size() == 10'000);
    bool kept = true;
    for (std::size_t i = 0; i < even.size(); ++i)
        kept = kept && even[i] == static_cast<std::int64_t>(2 * i) &&
               odd[i] == static_cast<std::int64_t>(2 * i + 1);
    CHECK(kept);
    // Alone, a list grows where it is as long as the block lasts.
    import::ArenaList<char> alone;
    alone.push_back(arena, 'a');
    const char* const first = alone.begin();
    for (int i = 0; i < 100; ++i)
        alone.push_back(arena, 'a');
    CHECK(alone.begin() == first);
    for (const std::size_t alignment : {1, 2, 4, 8, 16})
        CHECK(reinterpret_cast<std::uintptr_t>(arena.allocate(3, alignment)) % alignment == 0);
    CHECK_THROWS_AS(arena.allocate(std::size_t{2} << 30, 1), import::WireError);
}
