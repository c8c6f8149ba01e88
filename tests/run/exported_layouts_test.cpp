// Two more layouts that language models are exported in: ONNX Runtime GenAI's (grouped attention over a cache
// in one operator, a mask over cached and new tokens), and Optimum's merged decoder (one If over the whole
// graph, which says whether there is a cache).

#include "archsim/run/session.hpp"
#include "import/model_maker.hpp"
#include "session/generation/language_model.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

using namespace archsim;
using namespace archsim::test;

namespace {

using onnx::TensorProto;

/// A file that goes with the test.
class LayoutFile {
  public:
    LayoutFile(const std::string& name, const onnx::ModelProto& model)
        : path_(std::filesystem::temp_directory_path() / (std::to_string(getpid()) + name)) {
        std::ofstream out(path_, std::ios::binary);
        model.SerializeToOstream(&out);
    }
    ~LayoutFile() { std::filesystem::remove(path_); }
    std::string name() const { return path_.string(); }

  private:
    std::filesystem::path path_;
};

void add_typed_input(onnx::GraphProto& graph, const std::string& name, int type,
                     const std::vector<std::string>& dims) {
    add_input(graph, name, dims);
    graph.mutable_input(graph.input_size() - 1)->mutable_type()->mutable_tensor_type()->set_elem_type(type);
}

void add_weight(onnx::GraphProto& graph, const std::string& name, const std::vector<std::int64_t>& shape) {
    TensorProto& t = *graph.add_initializer();
    t.set_name(name);
    t.set_data_type(TensorProto::FLOAT);
    std::size_t count = 1;
    for (const std::int64_t size : shape) {
        t.add_dims(size);
        count *= static_cast<std::size_t>(size);
    }
    t.set_raw_data(std::string(4 * count, '\0'));
}

void add_integers(onnx::GraphProto& graph, const std::string& name, const std::vector<std::int64_t>& values,
                  bool scalar = false) {
    TensorProto& t = *graph.add_initializer();
    t.set_name(name);
    t.set_data_type(TensorProto::INT64);
    if (!scalar)
        t.add_dims(static_cast<std::int64_t>(values.size()));
    for (const std::int64_t v : values)
        t.add_int64_data(v);
}

void integer(onnx::NodeProto& node, const std::string& name, std::int64_t value) {
    add_attribute(node, name, onnx::AttributeProto::INT).set_i(value);
}

void add_interface(onnx::GraphProto& graph, const std::string& total, const std::string& heads) {
    add_typed_input(graph, "input_ids", TensorProto::INT64, {"batch_size", "sequence_length"});
    add_typed_input(graph, "attention_mask", TensorProto::INT64, {"batch_size", total});
    for (const char* kind : {"key", "value"})
        add_typed_input(graph, std::string("past_key_values.0.") + kind, TensorProto::FLOAT,
                        {"batch_size", heads, "past_sequence_length", "16"});
    for (const char* out : {"logits", "present.0.key", "present.0.value"})
        add_output(graph, out);
}

/// Four heads of 16 over two of keys, 64 wide, 100 tokens.
onnx::ModelProto genai_export() {
    onnx::ModelProto model = make_model(21);
    auto* microsoft = model.add_opset_import();
    microsoft->set_domain("com.microsoft");
    microsoft->set_version(1);
    onnx::GraphProto& g = *model.mutable_graph();
    add_interface(g, "total_sequence_length", "2");
    add_weight(g, "table", {100, 64});
    add_weight(g, "wq", {64, 64});
    add_weight(g, "wk", {64, 32});
    add_weight(g, "wv", {64, 32});
    add_weight(g, "wo", {64, 64});
    add_weight(g, "head", {64, 100});
    add_weight(g, "cos", {4096, 8});
    add_weight(g, "sin", {4096, 8});
    add_integers(g, "one", {1});
    add_integers(g, "second", {1}, true);
    // Lengths from the mask, as GenAI's builder writes them.
    add_node(g, "ReduceSum", {"attention_mask", "one"}, {"lengths"}, "/model/attn_mask_reformat/ReduceSum");
    add_node(g, "Sub", {"lengths", "one"}, {"lengths_less_one"}, "/model/attn_mask_reformat/Sub");
    integer(add_node(g, "Cast", {"lengths_less_one"}, {"seqlens_k"}, "/model/attn_mask_reformat/Cast"), "to",
            TensorProto::INT32);
    add_node(g, "Shape", {"attention_mask"}, {"mask_shape"}, "/model/attn_mask_reformat/Shape");
    add_node(g, "Gather", {"mask_shape", "second"}, {"mask_size"}, "/model/attn_mask_reformat/Gather");
    integer(add_node(g, "Cast", {"mask_size"}, {"total"}, "/model/attn_mask_reformat/Cast_1"), "to",
            TensorProto::INT32);
    add_node(g, "Gather", {"table", "input_ids"}, {"x"}, "/model/embed_tokens/Gather");
    for (const char* kind : {"q", "k", "v"})
        add_node(g, "MatMul", {"x", std::string("w") + kind}, {kind}, std::string("/model/") + kind);
    onnx::NodeProto& attention =
        add_node(g, "GroupQueryAttention",
                 {"q", "k", "v", "past_key_values.0.key", "past_key_values.0.value", "seqlens_k", "total",
                  "cos", "sin"},
                 {"y", "present.0.key", "present.0.value"}, "/model/layers.0/attn/GroupQueryAttention");
    attention.set_domain("com.microsoft");
    integer(attention, "num_heads", 4);
    integer(attention, "kv_num_heads", 2);
    integer(attention, "do_rotary", 1);
    add_node(g, "MatMul", {"y", "wo"}, {"z"}, "/model/layers.0/attn/o_proj/MatMul");
    add_node(g, "MatMul", {"z", "head"}, {"logits"}, "/lm_head/MatMul");
    return model;
}

/// The layer once more with plain operators, over a cache or over the new tokens alone. Weights are the outer
/// graph's.
onnx::GraphProto decoder_branch(bool with_past) {
    onnx::GraphProto g;
    g.set_name(with_past ? "decoder_with_past" : "decoder");
    const auto permute = [](onnx::NodeProto& node, const std::vector<std::int64_t>& perm) {
        auto& attribute = add_attribute(node, "perm", onnx::AttributeProto::INTS);
        for (const std::int64_t axis : perm)
            attribute.add_ints(axis);
    };
    add_node(g, "Gather", {"table", "input_ids"}, {"x"}, "embed");
    for (const char* kind : {"q", "k", "v"}) {
        const std::string k = kind;
        add_node(g, "MatMul", {"x", "wq"}, {k + "0"}, k + "_matmul");
        add_node(g, "Reshape", {k + "0", "split"}, {k + "1"}, k + "_reshape");
        permute(add_node(g, "Transpose", {k + "1"}, {k}, k + "_transpose"), {0, 2, 1, 3});
    }
    for (const char* kind : {"key", "value"}) {
        const std::string name = kind, made = name == "key" ? "k" : "v";
        if (with_past)
            integer(add_node(g, "Concat", {"past_key_values.0." + name, made}, {"present.0." + name + ".b"},
                             name + "_concat"),
                    "axis", -2);
        else
            add_node(g, "Identity", {made}, {"present.0." + name + ".b"}, name + "_identity");
    }
    permute(add_node(g, "Transpose", {"present.0.key.b"}, {"kt"}, "kt"), {0, 1, 3, 2});
    add_node(g, "MatMul", {"q", "kt"}, {"scores"}, "scores");
    integer(add_node(g, "Softmax", {"scores"}, {"p"}, "softmax"), "axis", -1);
    add_node(g, "MatMul", {"p", "present.0.value.b"}, {"y0"}, "attended");
    permute(add_node(g, "Transpose", {"y0"}, {"y1"}, "y1"), {0, 2, 1, 3});
    add_node(g, "Reshape", {"y1", "merge"}, {"y2"}, "y2");
    add_node(g, "MatMul", {"y2", "head"}, {"logits.b"}, "lm_head");
    for (const char* out : {"logits.b", "present.0.key.b", "present.0.value.b"})
        add_output(g, out);
    return g;
}

onnx::ModelProto merged_export() {
    onnx::ModelProto model = make_model(17);
    onnx::GraphProto& g = *model.mutable_graph();
    add_interface(g, "past_sequence_length + 1", "4");
    add_typed_input(g, "use_cache_branch", TensorProto::BOOL, {"1"});
    add_weight(g, "table", {100, 64});
    add_weight(g, "wq", {64, 64});
    add_weight(g, "head", {64, 100});
    add_integers(g, "split", {0, 0, 4, 16});
    add_integers(g, "merge", {0, 0, 64});
    onnx::NodeProto& choice = add_node(g, "If", {"use_cache_branch"},
                                       {"logits", "present.0.key", "present.0.value"}, "optimum::if");
    *add_attribute(choice, "then_branch", onnx::AttributeProto::GRAPH).mutable_g() = decoder_branch(true);
    *add_attribute(choice, "else_branch", onnx::AttributeProto::GRAPH).mutable_g() = decoder_branch(false);
    return model;
}

Result asked_with_prompt(const Model& model) {
    Conditions conditions;
    conditions.precision = PrecisionConfig::uniform(Precision::fp16);
    return shipped_session().estimate({.model = model, .prompt = Prompt{.tokens = 32, .generate = 8}}, "A100",
                                      conditions);
}

} // namespace

TEST_CASE("an export of ONNX Runtime GenAI takes prompts", "[generation]") {
    const LayoutFile file("_archsim_genai.onnx", genai_export());
    const Model loaded = shipped_session().load(file.name());
    const GenerationModel model(loaded, {});
    const auto step = model.bound(2, 1, 40);
    CHECK(step->graph().complete());
    CHECK(step->graph().macs() == 2 * (64 * 64 + 2 * 64 * 32 + 64 * 64 + 64 * 100 + 2 * 4 * 41 * 16));
    const Result result = asked_with_prompt(loaded);
    INFO(result.estimate.reason);
    CHECK(result.ok());
    REQUIRE(result.generation);
    CHECK(result.generation->kv_cache_bytes ==
          2 * 40 * 2 * 16 * 2); // keys and values of two heads in 16 bits
    // Without sizes: one prompt of 512 tokens with nothing cached, and that is said.
    const auto alone = shipped_session().bind(loaded, 1);
    CHECK(alone->graph().complete());
    CHECK(alone->graph().dims.at("sequence_length") == 512);
    CHECK(alone->graph().dims.at("past_sequence_length") == 0);
    int notes = 0;
    for (const Finding& f : loaded.graph->findings)
        notes += f.message.find("one prompt of 512 tokens") != std::string::npos;
    CHECK(notes == 1);
}

TEST_CASE("a merged decoder takes prompts through the branch that has a cache", "[generation]") {
    const LayoutFile file("_archsim_merged.onnx", merged_export());
    const Model loaded = shipped_session().load(file.name());
    const GenerationModel model(loaded, {});
    const auto step = model.bound(2, 1, 40);
    CHECK(step->graph().complete());
    CHECK(step->graph().macs() == 2 * (3 * 64 * 64 + 64 * 100 + 2 * 4 * 41 * 16));
    // The prompt runs the other branch: nothing is cached yet.
    const auto prompt = model.bound(1, 32, 0);
    CHECK(prompt->graph().complete());
    const Result result = asked_with_prompt(loaded);
    INFO(result.estimate.reason);
    CHECK(result.ok());
    REQUIRE(result.generation);
    CHECK(result.generation->kv_cache_bytes == 2 * 40 * 64 * 2);
    const auto alone = shipped_session().bind(loaded, 1);
    CHECK(alone->graph().complete());
    CHECK(alone->graph().dims.at("sequence_length") == 512);
}
