// Fused kernel counts of well-known networks, and the properties of any partition.

#include "laws/laws.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <set>

using namespace archsim;

namespace {

std::map<OpKind, int> kinds(const Partition& partition) {
    std::map<OpKind, int> count;
    for (const Subgraph& s : partition.subgraphs)
        ++count[s.kind];
    return count;
}

} // namespace

TEST_CASE("ResNet-50 fuses into its 53 convolutions, two poolings and one product", "[partition]") {
    const auto partition = laws::bound("resnet50", 1)->partition({});
    const auto count = kinds(*partition);
    CHECK(count.at(OpKind::convolution) == 53);
    CHECK(count.at(OpKind::pooling) == 2);
    CHECK(count.at(OpKind::matmul) == 1);
    CHECK(partition->subgraphs.size() == 56);
}

TEST_CASE("a BERT layer is six products with attention fused and two normalisations", "[partition]") {
    const auto count = kinds(*laws::bound("bert-base", 1)->partition({}));
    CHECK(count.at(OpKind::attention) == 12);
    CHECK(count.at(OpKind::matmul) ==
          12 * 6 + 1); // q, k, v, output, two of the feed-forward block; the pooler
    CHECK(count.at(OpKind::normalization) == 2 * 12 + 1);
}

TEST_CASE("without attention fusion the scores are written", "[partition]") {
    FusionPolicy unfused;
    unfused.attention = false;
    const auto count = kinds(*laws::bound("bert-base", 1)->partition(unfused));
    CHECK(count.find(OpKind::attention) == count.end());
    CHECK(count.at(OpKind::softmax) == 12);
}

TEST_CASE("every operator with work is in exactly one subgraph, predecessors come first", "[partition]") {
    for (const CatalogueEntry& entry : laws::session().catalogue().entries()) {
        if (!laws::one_graph(entry))
            continue;
        INFO(entry.name);
        const auto model = laws::bound(entry.name, 1);
        for (bool fused : {true, false}) {
            FusionPolicy policy;
            if (!fused)
                policy = FusionPolicy::unfused();
            const auto partition = model->partition(policy);
            std::map<std::uint32_t, int> seen;
            for (std::uint32_t s = 0; s < partition->subgraphs.size(); ++s) {
                for (const SubgraphMember& member : partition->subgraphs[s].members)
                    ++seen[member.op];
                for (std::uint32_t predecessor : partition->subgraphs[s].predecessors)
                    CHECK(predecessor < s);
            }
            const auto& operators = model->graph().operators;
            for (std::uint32_t i = 0; i < operators.size(); ++i)
                if (!operators[i].folded && operators[i].work.macs > 0) {
                    INFO(operators[i].name);
                    CHECK(seen[i] == 1);
                }
        }
    }
}

TEST_CASE("products and poolings of one tensor follow each other in a ring, wherever they are",
          "[partition]") {
    for (const char* model : {"ssd-mobilenet_v1", "inception_v4", "bert-base"}) {
        const auto partition = laws::bound(model, 1)->partition({});
        const auto& subgraphs = partition->subgraphs;
        const auto main_input = [&](std::uint32_t i) {
            const Subgraph& subgraph = subgraphs[i];
            const bool meets = subgraph.kind == OpKind::matmul || subgraph.kind == OpKind::convolution ||
                               subgraph.kind == OpKind::pooling;
            return !meets || subgraph.inputs.empty() ? kNoTensor : subgraph.inputs.front();
        };
        REQUIRE(partition->next_reader.size() == subgraphs.size());
        for (std::uint32_t i = 0; i < subgraphs.size(); ++i) {
            std::set<std::uint32_t> met{i}, readers{i};
            for (std::uint32_t j = partition->next_reader[i]; j != i && met.insert(j).second;)
                j = partition->next_reader[j];
            for (std::uint32_t j = 0; j < subgraphs.size(); ++j)
                if (main_input(i) != kNoTensor && main_input(j) == main_input(i))
                    readers.insert(j);
            INFO(model << ": " << subgraphs[i].name);
            CHECK(met == readers);
        }
    }
}

TEST_CASE("images change layout where a convolution meets an operator that knows the plain one",
          "[partition]") {
    const auto relaid = [](const std::string& name, bool activation) {
        const auto model = laws::bound(name, 1);
        FusionPolicy policy = one_kernel_per_operator();
        policy.batch_norm = policy.activation = policy.residual_add = activation;
        std::size_t changes = 0;
        for (const Subgraph& s : model->partition(policy)->subgraphs)
            changes += s.relaid.size();
        return changes;
    };
    // Convolutions, sums, limits and pooling pass blocks on; only the last image becomes plain.
    CHECK(relaid("resnet18", true) == 1);
    // A normalisation that is not folded is plain: 20 results of convolutions leave their blocks, and 16
    // images enter them (of the pooling, of 8 first halves of blocks and of 7 sums).
    CHECK(relaid("resnet18", false) == 36);
    CHECK(relaid("vgg16", true) == 1);
    // Every SiLU is plain: out of the blocks before it, into them after it (49 of them, and 16 gates).
    CHECK(relaid("efficientnet_b0", false) >= 49);
    // Nothing to change where nothing is convolved; one image of patches in a vision transformer.
    CHECK(relaid("bert-base", true) == 0);
    CHECK(relaid("vit_b_16", true) == 1);
}
