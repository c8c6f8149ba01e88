// Language models as other exporters write them: symbols that are sums, masks with a size of their own,
// merged decoders.

#include "session/generation/language_model.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>

#include <onnx/onnx_pb.h>

using namespace archsim;
namespace fs = std::filesystem;

namespace {

using onnx::TensorProto;

/// One layer of attention over a cache, joined by Concat, as Optimum exports it.
class Decoder {
  public:
    explicit Decoder(const std::string& total) {
        model_.set_ir_version(8);
        model_.add_opset_import()->set_version(17);
        graph_ = model_.mutable_graph();
        input("input_ids", TensorProto::INT64, {"batch_size", "sequence_length"});
        input("attention_mask", TensorProto::INT64, {"batch_size", total});
        for (const char* kind : {"key", "value"})
            input(std::string("past_key_values.0.") + kind, TensorProto::FLOAT,
                  {"batch_size", "4", "past_sequence_length", "16"});
        weight("table", {100, 64});
        weight("w", {64, 64});
        weight("head", {64, 100});
        integers("split", {0, 0, 4, 16});
        integers("merge", {0, 0, 64});
        node("Gather", {"table", "input_ids"}, "x");
        for (const char* kind : {"q", "k", "v"}) {
            const std::string k = kind;
            node("MatMul", {"x", "w"}, k + "0");
            node("Reshape", {k + "0", "split"}, k + "1");
            onnx::AttributeProto* perm = node("Transpose", {k + "1"}, k)->add_attribute();
            perm->set_name("perm");
            perm->set_type(onnx::AttributeProto::INTS);
            for (const int axis : {0, 2, 1, 3})
                perm->add_ints(axis);
        }
        axis(node("Concat", {"past_key_values.0.key", "k"}, "present.0.key"), -2);
        axis(node("Concat", {"past_key_values.0.value", "v"}, "present.0.value"), -2);
        onnx::AttributeProto* perm = node("Transpose", {"present.0.key"}, "kt")->add_attribute();
        perm->set_name("perm");
        perm->set_type(onnx::AttributeProto::INTS);
        for (const int i : {0, 1, 3, 2})
            perm->add_ints(i);
        node("MatMul", {"q", "kt"}, "scores");
        axis(node("Softmax", {"scores"}, "p"), -1);
        node("MatMul", {"p", "present.0.value"}, "y0");
        perm = node("Transpose", {"y0"}, "y1")->add_attribute();
        perm->set_name("perm");
        perm->set_type(onnx::AttributeProto::INTS);
        for (const int i : {0, 2, 1, 3})
            perm->add_ints(i);
        node("Reshape", {"y1", "merge"}, "y2");
        node("MatMul", {"y2", "head"}, "logits");
        for (const char* out : {"logits", "present.0.key", "present.0.value"}) {
            graph_->add_output()->set_name(out);
            graph_->mutable_output(graph_->output_size() - 1)
                ->mutable_type()
                ->mutable_tensor_type()
                ->set_elem_type(TensorProto::FLOAT);
        }
    }

    fs::path write(const std::string& name) const {
        const fs::path file = fs::temp_directory_path() / name;
        std::ofstream out(file, std::ios::binary);
        model_.SerializeToOstream(&out);
        return file;
    }

  private:
    void input(const std::string& name, int type, const std::vector<std::string>& shape) {
        auto* in = graph_->add_input();
        in->set_name(name);
        auto* tensor = in->mutable_type()->mutable_tensor_type();
        tensor->set_elem_type(type);
        for (const std::string& axis : shape)
            if (axis.find_first_not_of("0123456789") == std::string::npos)
                tensor->mutable_shape()->add_dim()->set_dim_value(std::stoi(axis));
            else
                tensor->mutable_shape()->add_dim()->set_dim_param(axis);
    }
    void weight(const std::string& name, const std::vector<std::int64_t>& shape) {
        auto* t = graph_->add_initializer();
        t->set_name(name);
        t->set_data_type(TensorProto::FLOAT);
        std::size_t count = 1;
        for (const auto size : shape) {
            t->add_dims(size);
            count *= static_cast<std::size_t>(size);
        }
        t->set_raw_data(std::string(4 * count, '\0'));
    }
    void integers(const std::string& name, const std::vector<std::int64_t>& values) {
        auto* t = graph_->add_initializer();
        t->set_name(name);
        t->set_data_type(TensorProto::INT64);
        t->add_dims(static_cast<std::int64_t>(values.size()));
        for (const auto value : values)
            t->add_int64_data(value);
    }
    onnx::NodeProto* node(const std::string& op, const std::vector<std::string>& inputs,
                          const std::string& output) {
        auto* n = graph_->add_node();
        n->set_op_type(op);
        n->set_name(op + "_" + output);
        for (const auto& in : inputs)
            n->add_input(in);
        n->add_output(output);
        return n;
    }
    static void axis(onnx::NodeProto* n, std::int64_t value) {
        auto* a = n->add_attribute();
        a->set_name("axis");
        a->set_type(onnx::AttributeProto::INT);
        a->set_i(value);
    }

    onnx::ModelProto model_;
    onnx::GraphProto* graph_ = nullptr;
};

} // namespace

TEST_CASE("exports with a cache take prompts, whatever their masks are called", "[generation]") {
    for (const std::string total : {"past_sequence_length + sequence_length", "total_sequence_length"}) {
        INFO(total);
        const fs::path file = Decoder(total).write("archsim_exported.onnx");
        const Session& session = test::shipped_session();
        const Model loaded = session.load(file.string());
        const GenerationModel model(loaded, {});
        const auto step = model.bound(2, 1, 40);
        CHECK(step->graph().complete());
        // Three products of 64 x 64, the head, and scores and values of 4 heads over 41 positions of 16.
        CHECK(step->graph().macs() == 2 * (3 * 64 * 64 + 64 * 100 + 2 * 4 * 41 * 16));
        Conditions conditions;
        conditions.precision = PrecisionConfig::uniform(Precision::fp16);
        const Result result = session.estimate(
            {.model = loaded, .prompt = Prompt{.tokens = 32, .generate = 8}}, "A100", conditions);
        INFO(result.estimate.reason);
        CHECK(result.ok());
        REQUIRE(result.generation);
        CHECK(result.generation->kv_cache_bytes == 2 * 40 * 64 * 2);
        // Without sizes one prompt stands in for them, and that is said.
        const auto alone = session.bind(loaded, 1);
        CHECK(alone->graph().complete());
        CHECK(alone->graph().dims.at("sequence_length") == 512);
        fs::remove(file);
    }
}
