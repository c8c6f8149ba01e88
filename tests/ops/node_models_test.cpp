// Every single-operator model of two corpora: inferred types and shapes must equal what the reference
// implementation produced. Debian's libonnx-testdata stores whole tensors; the ONNX project's newer backend
// tests come as a folder with expected.json, named by ARCHSIM_ONNX_NODE_TESTS.

#include "archsim/extend/importer.hpp"
#include "archsim/ops/shaped_graph.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <onnx/onnx-data_pb.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

using namespace archsim;
namespace fs = std::filesystem;

namespace {

/// Models of Debian's corpus that are not expected to agree, with the reason. (Its "real" models are not in
/// the package, which has only their addresses; the catalogue's networks stand in for them elsewhere.)
const std::map<std::string, std::string>& exceptions() {
    static const std::map<std::string, std::string> list = {
        {"test_cast_FLOAT_to_BFLOAT16", "the stored output has the type uint16, an image of bfloat16"},
        {"test_castlike_FLOAT_to_BFLOAT16", "the stored output has the type uint16, an image of bfloat16"},
        {"test_castlike_FLOAT_to_BFLOAT16_expanded",
         "the stored output has the type uint16, an image of bfloat16"},
        {"test_loop16_seq_none", "whether an optional input is empty cannot be said when binding"},
    };
    return list;
}

constexpr const char* kSurvivingBoxes = "how many boxes survive depends on their scores";
constexpr const char* kStopWords = "how many strings are stop words depends on the strings";
constexpr const char* kDistinctValues = "how many values differ depends on the values";

/// Models whose outputs have sizes that only the data decides: they get a marked upper bound.
const std::map<std::string, std::string>& upper_bounds(bool debian) {
    static const std::map<std::string, std::string> both = {
        {"test_nonmaxsuppression_suppress_by_IOU_and_scores", kSurvivingBoxes},
        {"test_strnormalizer_export_monday_casesensintive_lower", kStopWords},
        {"test_strnormalizer_export_monday_casesensintive_nochangecase", kStopWords},
        {"test_strnormalizer_export_monday_casesensintive_upper", kStopWords},
        {"test_strnormalizer_export_monday_insensintive_upper_twodim", kStopWords},
        {"test_unique_sorted_with_axis", kDistinctValues},
    };
    static const auto with = [](std::map<std::string, std::string> more) {
        more.insert(both.begin(), both.end());
        return more;
    };
    static const std::map<std::string, std::string> packaged = with({
        {"test_nonmaxsuppression_identical_boxes", kSurvivingBoxes},
        {"test_strnorm_model_monday_casesensintive_lower", kStopWords},
        {"test_strnorm_model_monday_casesensintive_nochangecase", kStopWords},
        {"test_strnorm_model_monday_casesensintive_upper", kStopWords},
        {"test_strnorm_model_monday_empty_output", kStopWords},
        {"test_strnorm_model_monday_insensintive_upper_twodim", kStopWords},
        {"test_strnormalizer_export_monday_empty_output", kStopWords},
        {"test_unique_sorted_with_axis_3d", kDistinctValues},
        {"test_unique_sorted_with_negative_axis", kDistinctValues},
    });
    static const std::map<std::string, std::string> newer = with({
        {"test_unique_sorted_without_axis", kDistinctValues},
    });
    return debian ? packaged : newer;
}

struct ExpectedOutput {
    std::string name;
    DataType type = DataType::undefined;
    bool sequence = false, unknown_shape = false;
    std::vector<Shape> shapes; ///< one, or one per element of a sequence
};

struct Case {
    std::string name;
    fs::path model;
    Bindings bindings;
    std::vector<ExpectedOutput> outputs;
    bool debian = false;
};

std::string text_of(const Shape& shape) {
    std::string text = "[";
    for (const std::int64_t d : shape)
        text += (text.size() > 1 ? "," : "") + std::to_string(d);
    return text + "]";
}

bool at_most(const Shape& small, const Shape& large) {
    if (small.size() != large.size())
        return false;
    for (std::size_t i = 0; i < small.size(); ++i)
        if (small[i] > large[i])
            return false;
    return true;
}

/// Empty when the binding agrees with what is expected.
std::string difference(const Case& test, const ShapedGraph& graph, bool& bounded) {
    for (const Finding& finding : graph.findings)
        if (finding.severity == Severity::error && finding.op_type != "Gradient") // its work is withheld
            return to_string(finding);
    for (const ExpectedOutput& expected : test.outputs) {
        const ShapedTensor* found = nullptr;
        for (const TensorId id : graph.outputs)
            if (id != kNoTensor && graph.tensors[id].name == expected.name)
                found = &graph.tensors[id];
        if (!found)
            return "output " + expected.name + " is missing";
        if (found->type != expected.type)
            return "output " + expected.name + " is " + std::string(name_of(found->type)) + ", not " +
                   std::string(name_of(expected.type));
        if (expected.sequence != (found->kind == ValueKind::sequence) && found->kind != ValueKind::optional)
            return "output " + expected.name + " is of the wrong kind";
        if (expected.unknown_shape || expected.shapes.empty())
            continue;
        const Shape& shape = expected.shapes.front();
        if (!found->known)
            return "output " + expected.name + " has no shape";
        if (found->shape == shape)
            continue;
        if (!found->data_dependent || !at_most(shape, found->shape))
            return "output " + expected.name + " is " + text_of(found->shape) + ", not " + text_of(shape);
        bounded = true;
    }
    return {};
}

struct Tally {
    std::size_t equal = 0, excepted = 0, total = 0;
    std::set<std::string> bounded;
};

void check(const Case& test, Tally& tally) {
    ++tally.total;
    bool bounded = false;
    std::string problem;
    std::map<std::string, std::int64_t> none;
    std::optional<ShapedGraph> graph;
    try {
        const Graph imported = import_onnx(test.model);
        graph = archsim::bind(imported, test.bindings, none);
        problem = difference(test, *graph, bounded);
        // Each weight counts once, and none that the file does not hold.
        double bytes = 0;
        for (const ShapedTensor& tensor : graph->tensors)
            if (tensor.learned && tensor.known)
                bytes += tensor.elements() * tensor.stored_bits() / 8;
        if (bytes > static_cast<double>(fs::file_size(test.model)))
            problem = "counts more bytes of weights than the file has";
        // Without the values every shape that comes out wrong must be marked or reported.
        Bindings blind = test.bindings;
        blind.input_values.clear();
        blind.input_real_values.clear();
        const ShapedGraph unaided = archsim::bind(imported, blind, none);
        bool ignored = false;
        const std::string blind_problem = difference(test, unaided, ignored);
        if (problem.empty() && !blind_problem.empty() && unaided.complete() &&
            std::none_of(unaided.findings.begin(), unaided.findings.end(),
                         [](const Finding& f) { return f.kind == FindingKind::data_dependent_shape; }))
            problem = "without values, silently: " + blind_problem;
    } catch (const std::exception& error) {
        problem = error.what();
    }
    const auto exception = exceptions().find(test.name);
    if (exception != exceptions().end() && test.debian) {
        ++tally.excepted;
        INFO(test.name << " agrees now; take it off the list of exceptions");
        CHECK_FALSE(problem.empty());
        return;
    }
    INFO(test.model.string());
    CHECK(problem == "");
    CHECK(bounded == upper_bounds(test.debian).contains(test.name));
    tally.equal += problem.empty() && !bounded;
    if (problem.empty() && bounded)
        tally.bounded.insert(test.name);
}

// --- Debian's corpus

template <typename Message>
bool parse(const fs::path& file, Message& message) {
    std::ifstream in(file, std::ios::binary);
    return in && message.ParseFromIstream(&in);
}

Shape shape_of(const onnx::TensorProto& tensor) {
    return {tensor.dims().begin(), tensor.dims().end()};
}

template <typename T>
std::vector<T> raw_values(const onnx::TensorProto& tensor) {
    std::vector<T> values(tensor.raw_data().size() / sizeof(T));
    std::copy_n(tensor.raw_data().data(), values.size() * sizeof(T), reinterpret_cast<char*>(values.data()));
    return values;
}

template <typename T, typename To, typename Field>
void take(const onnx::TensorProto& tensor, const Field& field, std::vector<To>& to) {
    if (tensor.has_raw_data())
        for (const T v : raw_values<T>(tensor))
            to.push_back(static_cast<To>(v));
    else
        for (const auto v : field)
            to.push_back(static_cast<To>(v));
}

/// Values of small inputs, as a user would give them.
void give_values(const onnx::TensorProto& tensor, const std::string& name, Bindings& bindings) {
    std::int64_t count = 1;
    for (const auto d : tensor.dims())
        count *= d;
    if (count > 4096)
        return;
    std::vector<std::int64_t> ints;
    std::vector<double> reals;
    switch (static_cast<DataType>(tensor.data_type())) {
    case DataType::int64:
        take<std::int64_t>(tensor, tensor.int64_data(), ints);
        break;
    case DataType::int32:
        take<std::int32_t>(tensor, tensor.int32_data(), ints);
        break;
    case DataType::boolean:
    case DataType::uint8:
        take<std::uint8_t>(tensor, tensor.int32_data(), ints);
        break;
    case DataType::int8:
        take<std::int8_t>(tensor, tensor.int32_data(), ints);
        break;
    case DataType::float32:
        take<float>(tensor, tensor.float_data(), reals);
        break;
    case DataType::float64:
        take<double>(tensor, tensor.double_data(), reals);
        break;
    default:
        return;
    }
    if (static_cast<std::int64_t>(ints.size()) == count)
        bindings.input_values[name] = ints;
    else if (static_cast<std::int64_t>(reals.size()) == count)
        bindings.input_real_values[name] = reals;
}

const onnx::TypeProto& inside_optional(const onnx::TypeProto& type) {
    return type.has_optional_type() ? type.optional_type().elem_type() : type;
}

std::optional<Case> debian_case(const fs::path& folder) {
    onnx::ModelProto model;
    if (!parse(folder / "model.onnx", model))
        return std::nullopt;
    Case test;
    test.debian = true;
    test.name = folder.filename().string();
    test.model = folder / "model.onnx";
    const fs::path data = folder / "test_data_set_0";
    for (int i = 0; i < model.graph().input_size(); ++i) {
        const auto& input = model.graph().input(i);
        const fs::path file = data / ("input_" + std::to_string(i) + ".pb");
        onnx::SequenceProto sequence;
        if (input.type().has_sequence_type() && parse(file, sequence)) {
            auto& elements = test.bindings.input_sequences[input.name()];
            for (const auto& element : sequence.tensor_values())
                elements.push_back(shape_of(element));
        }
        onnx::TensorProto tensor;
        if (!input.type().has_tensor_type() || !parse(file, tensor))
            continue;
        test.bindings.input_shapes[input.name()] = shape_of(tensor);
        give_values(tensor, input.name(), test.bindings);
    }
    for (int i = 0; i < model.graph().output_size(); ++i) {
        const auto& output = model.graph().output(i);
        const fs::path file = data / ("output_" + std::to_string(i) + ".pb");
        const onnx::TypeProto& type = inside_optional(output.type());
        ExpectedOutput expected;
        expected.name = output.name();
        if (type.has_sequence_type()) {
            onnx::SequenceProto sequence;
            expected.sequence = true;
            const auto& element = inside_optional(type.sequence_type().elem_type());
            expected.type = static_cast<DataType>(element.tensor_type().elem_type());
            if (!output.type().has_optional_type() && parse(file, sequence))
                for (const auto& tensor : sequence.tensor_values())
                    expected.shapes.push_back(shape_of(tensor));
        } else {
            onnx::TensorProto tensor;
            if (!parse(file, tensor))
                continue;
            expected.type = static_cast<DataType>(tensor.data_type());
            expected.shapes.push_back(shape_of(tensor));
        }
        test.outputs.push_back(std::move(expected));
    }
    return test;
}

// --- The folder with expected.json

Case json_case(const fs::path& folder, const std::string& name, const nlohmann::json& entry) {
    Case test;
    test.name = name;
    test.model = folder / "models" / (name + ".onnx");
    for (const auto& [input, given] : entry.at("small_inputs").items()) {
        const auto shape = given.at("shape").get<Shape>();
        test.bindings.input_shapes[input] = shape;
        const auto& values = given.at("values");
        const bool integers = std::all_of(values.begin(), values.end(), [](const auto& v) {
            return v.is_number_integer() || v.is_boolean();
        });
        const bool numbers = std::all_of(values.begin(), values.end(),
                                         [](const auto& v) { return v.is_number() || v.is_boolean(); });
        if (integers) {
            auto& ints = test.bindings.input_values[input];
            for (const auto& v : values)
                ints.push_back(v.is_boolean() ? v.template get<bool>() : v.template get<std::int64_t>());
        } else if (numbers)
            for (const auto& v : values)
                test.bindings.input_real_values[input].push_back(v.template get<double>());
    }
    onnx::ModelProto model;
    parse(test.model, model);
    // The folder stores neither sequences nor the sizes of symbols; any will do where only types are
    // compared.
    constexpr std::int64_t kAnySize = 4;
    constexpr std::size_t kAnyLength = 3;
    for (const auto& input : model.graph().input()) {
        const onnx::TypeProto& type = input.type();
        const auto& tensor =
            type.has_sequence_type() ? type.sequence_type().elem_type().tensor_type() : type.tensor_type();
        Shape shape;
        for (const auto& d : tensor.shape().dim()) {
            if (d.has_dim_param())
                test.bindings.dims[d.dim_param()] = kAnySize;
            shape.push_back(d.has_dim_value() ? d.dim_value() : kAnySize);
        }
        if (type.has_sequence_type())
            test.bindings.input_sequences[input.name()].assign(kAnyLength, shape);
    }
    for (const auto& output : entry.at("outputs")) {
        ExpectedOutput expected;
        expected.name = output.at("name");
        expected.type = static_cast<DataType>(output.at("type").get<int>());
        expected.shapes = {output.at("shape").get<Shape>()};
        for (const auto& declared : model.graph().output()) {
            const onnx::TypeProto& type = inside_optional(declared.type());
            if (declared.name() != expected.name || !type.has_sequence_type())
                continue;
            // For sequences the file holds the letters of the output's name instead of a shape.
            expected.sequence = true;
            expected.unknown_shape = true;
            expected.type = static_cast<DataType>(type.sequence_type().elem_type().tensor_type().elem_type());
        }
        test.outputs.push_back(std::move(expected));
    }
    return test;
}

void report(const char* corpus, const Tally& tally) {
    WARN(corpus << ": " << tally.equal << " of " << tally.total << " models equal, " << tally.bounded.size()
                << " more with a marked upper bound, " << tally.excepted << " listed exceptions");
}

} // namespace

TEST_CASE("inferred outputs agree with Debian's ONNX test data", "[ops][corpus]") {
    const fs::path root = "/usr/share/libonnx-testdata/data";
    Tally tally;
    std::vector<fs::path> folders;
    for (const auto& group : fs::directory_iterator(root))
        for (const auto& folder : fs::directory_iterator(group.path()))
            if (fs::exists(folder.path() / "model.onnx"))
                folders.push_back(folder.path());
    std::sort(folders.begin(), folders.end());
    for (const fs::path& folder : folders)
        if (const auto test = debian_case(folder))
            check(*test, tally);
    report("libonnx-testdata", tally);
    CHECK(tally.total > 1000);
}

// Hidden: the build adds it as a test of its own where ARCHSIM_ONNX_NODE_TESTS names a folder of them.
TEST_CASE("inferred outputs agree with the ONNX project's node tests", "[.onnx_node_tests]") {
    const char* given = std::getenv("ARCHSIM_ONNX_NODE_TESTS");
    REQUIRE(given != nullptr);
    const fs::path root = given;
    std::ifstream in(root / "expected.json");
    const nlohmann::json expected = nlohmann::json::parse(in);
    Tally tally;
    for (const auto& [name, entry] : expected.items())
        check(json_case(root, name, entry), tally);
    report("node tests", tally);
}
