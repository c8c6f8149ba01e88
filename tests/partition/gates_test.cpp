// Activations made of several operators (SiLU, GELU) and views, under the policies of different stacks.

#include "laws/laws.hpp"

#include "archsim/map/work.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace archsim;

namespace {

std::vector<const Subgraph*> holding(const Partition& partition, const ShapedGraph& graph,
                                     std::string_view type) {
    std::vector<const Subgraph*> found;
    for (const Subgraph& s : partition.subgraphs)
        if (std::any_of(s.members.begin(), s.members.end(),
                        [&](const SubgraphMember& m) { return graph.operators[m.op].type == type; }))
            found.push_back(&s);
    return found;
}

std::size_t count(const Partition& partition, OpKind kind) {
    return static_cast<std::size_t>(std::count_if(partition.subgraphs.begin(), partition.subgraphs.end(),
                                                  [kind](const Subgraph& s) { return s.kind == kind; }));
}

FusionPolicy one_kernel_per_operator() {
    FusionPolicy policy;
    policy.batch_norm = policy.activation = policy.residual_add = policy.elementwise_chain = false;
    policy.concat_in_place = policy.reduction_prologue = false;
    return policy;
}

} // namespace

TEST_CASE("a GELU of a framework is one kernel that reads the product once", "[partition]") {
    const auto model = laws::bound("vit_b_16", 1);
    for (bool chains : {false, true}) {
        FusionPolicy policy = one_kernel_per_operator();
        policy.elementwise_chain = chains;
        const auto partition = model->partition(policy);
        const auto gelus = holding(*partition, model->graph(), "Erf");
        CHECK(gelus.size() == 12);
        for (const Subgraph* gelu : gelus) {
            INFO(gelu->name);
            CHECK(gelu->kind == OpKind::elementwise);
            CHECK(gelu->inputs.size() == 1);
            CHECK(gelu->outputs.size() == 1);
        }
        for (const Subgraph& s : partition->subgraphs)
            if (s.kind == OpKind::matmul)
                CHECK(s.outputs.size() == 1); // no part of the gate is computed ahead
    }
}

TEST_CASE("where gates do not join products, each SiLU is a kernel of its own", "[partition]") {
    const auto model = laws::bound("efficientnet_b0", 1);
    const auto fused = model->partition({});
    FusionPolicy older;
    older.gated_activation = false;
    const auto apart = model->partition(older);
    // One SiLU in the stem and the head, one after the expansion (15 of 16 blocks have one) and one after the
    // depthwise convolution of every block; 16 more in the squeeze-and-excitation branches. The last one is
    // read by the pooling alone, which takes it in.
    CHECK(count(*apart, OpKind::elementwise) - count(*fused, OpKind::elementwise) == 49 - 1);
    CHECK(count(*apart, OpKind::convolution) == count(*fused, OpKind::convolution));
}

TEST_CASE("kernels of a stack's own profile are subgraphs here", "[partition]") {
    // Rockchip's profiler lists YOLOv5s under RKNN as 57 ConvExSwish, convolutions with their SiLU, and 3
    // ConvSigmoid, beside concatenations as operators of their own.
    const auto model = laws::bound("yolov5s", 1);
    const auto partition = model->partition(laws::session().hardware().runtime("rknn")->fusion);
    const auto gates = holding(*partition, model->graph(), "Sigmoid");
    CHECK(gates.size() == 57 + 3);
    for (const Subgraph* gate : gates)
        CHECK(gate->kind == OpKind::convolution);
    CHECK_FALSE(holding(*partition, model->graph(), "Concat").empty());
}

TEST_CASE("a residual connection is no gate", "[partition]") {
    const auto model = laws::bound("resnet50", 1);
    const auto partition = model->partition(one_kernel_per_operator());
    // 16 additions and 49 activations
    CHECK(count(*partition, OpKind::elementwise) >= 16 + 49);
}

TEST_CASE("stacks that read strided views copy only what a reshape asks for", "[partition]") {
    const auto model = laws::bound("vit_b_16", 1);
    FusionPolicy policy;
    const std::size_t copied = count(*model->partition(policy), OpKind::data_movement);
    policy.strided_views = true;
    const auto partition = model->partition(policy);
    CHECK(count(*partition, OpKind::data_movement) < copied);
    CHECK(count(*partition, OpKind::attention) == 12);
    // The permutation of window attention is followed by a reshape: a copy remains.
    const auto windows = laws::bound("swin_t", 1)->partition(policy);
    CHECK(count(*windows, OpKind::data_movement) >= 12);
}

TEST_CASE("a bias for each head keeps attention apart where the stack has no kernel for it", "[partition]") {
    FusionPolicy policy = one_kernel_per_operator();
    policy.strided_views = true;
    const auto attentions = [&](const char* model) {
        return count(*laws::bound(model, 1)->partition(policy), OpKind::attention);
    };
    CHECK(attentions("swin_t") == 12);
    policy.biased_attention = false;
    CHECK(attentions("swin_t") == 0); // relative positions
    CHECK(attentions("t5-small-encoder") == 0);
    CHECK(attentions("vit_b_16") == 12);
    CHECK(attentions("bert-base") == 12); // one mask for all heads
    // Bias and mask are kernels of their own then: 12 sums of scores and relative positions, and those of
    // every second window's mask but the last, whose window is the whole map.
    const auto model = laws::bound("swin_t", 1);
    const auto partition = model->partition(policy);
    const auto softmaxes = holding(*partition, model->graph(), "Softmax");
    CHECK(softmaxes.size() == 12);
    for (const Subgraph* softmax : softmaxes)
        CHECK(softmax->kind == OpKind::softmax);
    CHECK(std::none_of(partition->subgraphs.begin(), partition->subgraphs.end(), [&](const Subgraph& s) {
        return s.kind == OpKind::matmul && s.members.size() > 1 &&
               std::any_of(s.members.begin(), s.members.end(), [&](const SubgraphMember& m) {
                   const Operator& op = model->graph().operators[m.op];
                   return op.type == "Add" && model->graph().tensors[op.outputs.front()].shape.size() > 3 &&
                          model->graph().tensors[op.outputs.front()].shape.back() == 49;
               });
    }));
}

TEST_CASE("heads that lie inside of positions are copied together for a library's batched product",
          "[partition]") {
    FusionPolicy policy = one_kernel_per_operator();
    policy.strided_views = true;
    policy.biased_attention = false;
    const auto copies = [&](const char* model) {
        std::size_t copied = 0;
        for (const Subgraph& s : laws::bound(model, 2)->partition(policy)->subgraphs)
            copied += s.gathered.size();
        return copied;
    };
    CHECK(copies("swin_t") == 0);
    policy.strided_products = false;
    CHECK(copies("swin_t") == 3 * 12); // queries, keys and values of every block
    CHECK(copies("t5-small-encoder") == 3 * 6);
    CHECK(copies("vit_b_16") == 0); // one kernel reads them where they lie
    CHECK(copies("resnet50") == 0);
    const auto model = laws::bound("swin_t", 2);
    const NetworkWork work = make_network_work(model->graph(), *model->partition(policy),
                                               PrecisionConfig::uniform(Precision::fp16));
    // Queries and keys of the first block: 2 x 3136 x 96 elements each.
    const auto first = std::find_if(work.subgraphs.begin(), work.subgraphs.end(),
                                    [](const SubgraphWork& s) { return s.gathered_tensors == 2; });
    REQUIRE(first != work.subgraphs.end());
    CHECK(first->gathered_elements == 2 * 2 * 3136 * 96);
}
