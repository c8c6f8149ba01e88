// GGUF files of several kinds and parts: nothing of a header is dropped, and what is no decoder says what it
// is.

#include "archsim/core/finding.hpp"
#include "archsim/ops/shaped_graph.hpp"
#include "checkpoint/cache_bytes.hpp"
#include "checkpoint/checkpoint.hpp"
#include "checkpoint/gguf_maker.hpp"

#include <catch2/catch.hpp>

#include <functional>
#include <string>
#include <vector>

using namespace archsim;
using test::cache_bytes;
using test::Folder;
using test::GgufMaker;
using test::SmallGguf;

namespace {

std::string refusal_of(const std::filesystem::path& file) {
    try {
        (void)read_checkpoint(file);
    } catch (const InputError& problem) {
        return problem.what();
    }
    return "accepted";
}

double matrices(const Checkpoint& c) {
    const ShapedGraph graph = archsim::bind(c.graph, {}, c.dims);
    CHECK(graph.complete());
    double elements = 0;
    for (const ShapedTensor& t : graph.tensors)
        if (t.role == TensorRole::initializer && t.learned && t.shape.size() > 1)
            elements += t.elements();
    return elements;
}

} // namespace

TEST_CASE("every part of a split GGUF file gives the whole model, and a missing one is named",
          "[checkpoint]") {
    const Folder folder("archsim_gguf_parts");
    // Metadata alone, then two parts with tensors, as llama-gguf-split --no-tensor-first-split writes.
    GgufMaker parts[3];
    SmallGguf::describe(parts[0], "llama", 2);
    SmallGguf::table(parts[1]);
    SmallGguf::attention(parts[1], "blk.0.");
    SmallGguf::mlp(parts[1], "blk.0.");
    SmallGguf::attention(parts[2], "blk.1.");
    SmallGguf::mlp(parts[2], "blk.1.");
    std::vector<std::filesystem::path> files;
    for (std::uint32_t i = 0; i < 3; ++i) {
        parts[i].number("split.no", i);
        parts[i].number("split.count", 3);
        parts[i].number("split.tensors.count", 15);
        files.push_back(
            folder.write("small-0000" + std::to_string(i + 1) + "-of-00003.gguf", parts[i].bytes()));
    }
    for (const auto& file : files)
        CHECK(matrices(read_checkpoint(file)) == 2 * SmallGguf::kLayer + SmallGguf::kTable);
    CHECK_THAT(refusal_of(folder.write("renamed.gguf", parts[1].bytes())), Catch::Contains("part 2 of 3"));
    std::filesystem::remove(files[2]);
    CHECK_THAT(refusal_of(files[0]), Catch::Contains("small-00003-of-00003.gguf is missing"));
    folder.write("small-00003-of-00003.gguf", parts[1].bytes()); // another part under its name
    CHECK_THAT(refusal_of(files[0]), Catch::Contains("is not part 3 of 3"));
}

TEST_CASE("GGUF files that hold no decoder say what they are", "[checkpoint]") {
    const Folder folder("archsim_gguf_kinds");
    const auto refused = [&](const std::function<void(GgufMaker&)>& change, const std::string& architecture) {
        GgufMaker f = SmallGguf::whole(architecture);
        change(f);
        return refusal_of(folder.write("file.gguf", f.bytes()));
    };
    const auto nothing = [](GgufMaker&) {};
    CHECK_THAT(refused([](GgufMaker& f) { f.string("general.type", "mmproj"); }, "clip"),
               Catch::Contains("projector"));
    CHECK_THAT(refused([](GgufMaker& f) { f.string("general.type", "adapter"); }, "llama"),
               Catch::Contains("LoRA adapter of a llama model"));
    CHECK_THAT(refused(
                   [](GgufMaker& f) {
                       f.tensor("blk.0.attn_q.weight.lora_a", {64, 8});
                   },
                   "llama"),
               Catch::Contains("LoRA adapter"));
    CHECK_THAT(refused([](GgufMaker& f) { f.flag("some.attention.causal", false); }, "some"),
               Catch::Contains("encoder"));
    CHECK_THAT(refused(nothing, "nomic-bert-moe"), Catch::Contains("encoder"));
    CHECK_THAT(refused(nothing, "t5"), Catch::Contains("encoder with a decoder"));
    CHECK_THAT(refused(nothing, "t5encoder"), Catch::Contains("encoder (t5encoder)"));
    CHECK_THAT(refused(nothing, "rwkv6"), Catch::Contains("recurrent"));
    CHECK_THAT(refused(nothing, "llada-moe"), Catch::Contains("diffusion language model"));
    CHECK_THAT(refused(nothing, "flux"), Catch::Contains("generates images"));
    CHECK_THAT(refused(
                   [](GgufMaker& f) {
                       f.tensor("double_blocks.0.img_attn.qkv.weight", {64, 192});
                   },
                   "other"),
               Catch::Contains("generates images"));
    GgufMaker vocabulary;
    SmallGguf::describe(vocabulary, "llama", 2);
    vocabulary.texts("tokenizer.ggml.tokens", {"a", "b"});
    CHECK_THAT(refusal_of(folder.write("file.gguf", vocabulary.bytes())),
               Catch::Contains("vocabulary alone"));
    for (const int version : {2, 3})
        CHECK_THAT(
            refusal_of(folder.write("file.gguf", std::string("GGUF\0\0\0", 7) + static_cast<char>(version) +
                                                     std::string(16, '\0'))),
            Catch::Contains("big-endian"));
    for (const std::string& message : {refused(nothing, "t5"), refused(nothing, "rwkv6")})
        CHECK_THAT(message, Catch::Contains("file.gguf") && !Catch::Contains("\n"));
}

TEST_CASE("a tensor that no layer is built from refuses the file by its name", "[checkpoint]") {
    const Folder folder("archsim_gguf_unread");
    GgufMaker f = SmallGguf::whole();
    f.tensor("blk.1.something_new.weight", {64, 64});
    CHECK_THAT(refusal_of(folder.write("file.gguf", f.bytes())),
               Catch::Contains("blk.1.something_new.weight"));
    GgufMaker unknown = SmallGguf::whole();
    unknown.tensor("blk.1.some_scale", {64}, 99);
    CHECK_THAT(refusal_of(folder.write("file.gguf", unknown.bytes())), Catch::Contains("type 99"));
}

namespace {

constexpr std::uint32_t kLayers = 16, kWindow = 100;
constexpr std::int64_t kPositions = 1000;

} // namespace

TEST_CASE("windows of GGUF files: a list per layer, a period, or what llama.cpp knows by name",
          "[checkpoint]") {
    const Folder folder("archsim_gguf_windows");
    const auto full_layers = [&](const std::string& architecture,
                                 const std::function<void(GgufMaker&)>& pattern, double window = kWindow,
                                 std::int64_t positions = kPositions) {
        GgufMaker f = SmallGguf::whole(architecture, kLayers);
        if (window > 0)
            f.number(architecture + ".attention.sliding_window", static_cast<std::uint32_t>(window));
        pattern(f);
        const double cells =
            cache_bytes(read_checkpoint(folder.write("file.gguf", f.bytes())), positions) / (2 * 2 * 16 * 2);
        const double width = window > 0 ? window : 8192;
        return (cells - kLayers * width) / (static_cast<double>(positions) - width);
    };
    const auto nothing = [](GgufMaker&) {};
    const std::pair<const char*, double> known[] = {
        {"afmoe", 4},   {"cohere2", 4}, {"exaone4", 4}, {"gemma2", 8}, {"gemma3", 2}, {"gemma3n", 3},
        {"gpt-oss", 8}, {"olmo2", 4},   {"plamo3", 2},  {"phi3", 16},  {"llama", 16}, {"smallthinker", 4}};
    for (const auto& [architecture, full] : known) {
        INFO(architecture);
        CHECK(full_layers(architecture, nothing) == full);
    }
    CHECK(full_layers("llama4", nothing, 0, 20000) == 4); // chunks of 8192, whatever the file states
    // A list stays a list, wherever it begins; a number is a period.
    std::vector<bool> list(kLayers, true);
    for (const std::size_t global : {0, 3, 4, 11, 15})
        list[global] = false;
    CHECK(full_layers("gemma4",
                      [&](GgufMaker& f) { f.flags("gemma4.attention.sliding_window_pattern", list); }) == 5);
    list.flip();
    CHECK(full_layers("llama",
                      [&](GgufMaker& f) { f.flags("llama.attention.sliding_window_pattern", list); }) == 11);
    CHECK(full_layers("gemma3",
                      [](GgufMaker& f) { f.number("gemma3.attention.sliding_window_pattern", 2); }) == 8);
    GgufMaker widths = SmallGguf::whole("llama", 4); // a width per layer
    widths.numbers("llama.attention.sliding_window", {100, 0, 50, 0});
    CHECK(cache_bytes(read_checkpoint(folder.write("file.gguf", widths.bytes())), kPositions) ==
          (100 + 1000 + 50 + 1000) * 2.0 * 2 * 16 * 2);
    GgufMaker shorter = SmallGguf::whole("gemma4", kLayers);
    shorter.number("gemma4.attention.sliding_window", kWindow);
    shorter.flags("gemma4.attention.sliding_window_pattern", {true, false, true});
    CHECK_THAT(refusal_of(folder.write("file.gguf", shorter.bytes())),
               Catch::Contains("lists 3 layers of 16"));
    // A window that no layer is said to have: a finding, and all layers see all positions.
    GgufMaker open = SmallGguf::whole("other", kLayers);
    open.number("other.attention.sliding_window", kWindow);
    CHECK(read_checkpoint(folder.write("file.gguf", open.bytes())).graph.findings.size() == 1);
}

TEST_CASE("LFM2: short convolutions between layers of attention", "[checkpoint]") {
    const Folder folder("archsim_gguf_lfm2");
    GgufMaker f;
    f.string("general.architecture", "lfm2");
    for (const auto& [key, value] :
         std::initializer_list<std::pair<const char*, std::uint32_t>>{{"block_count", 2},
                                                                      {"embedding_length", 64},
                                                                      {"attention.head_count", 4},
                                                                      {"shortconv.l_cache", 3}})
        f.number(std::string("lfm2.") + key, value);
    f.numbers("lfm2.attention.head_count_kv", {0, 2});
    SmallGguf::table(f);
    f.tensor("blk.0.shortconv.in_proj.weight", {64, 192}, GgufMaker::kQ4K);
    f.tensor("blk.0.shortconv.conv.weight", {3, 64}, 0);
    f.tensor("blk.0.shortconv.out_proj.weight", {64, 64}, GgufMaker::kQ4K);
    SmallGguf::mlp(f, "blk.0.");
    SmallGguf::attention(f, "blk.1.");
    SmallGguf::mlp(f, "blk.1.");
    const Checkpoint c = read_checkpoint(folder.write("file.gguf", f.bytes()));
    CHECK(matrices(c) == SmallGguf::kTable + SmallGguf::kLayer + 64 * 192 + 64 * 3 + 64 * 64 + 3 * 64 * 128);
    CHECK(cache_bytes(c, 101) - cache_bytes(c, 100) == 2 * 2 * 16 * 2); // one layer of attention
}

TEST_CASE("Gemma 3n: rows per layer, a narrow path, parallel streams, caches of earlier layers",
          "[checkpoint]") {
    const Folder folder("archsim_gguf_gemma3n");
    constexpr std::int64_t kWidth = 8, kRank = 4, kStreams = 4, kDeep = 4;
    GgufMaker f = SmallGguf::whole("gemma3n", kDeep);
    f.number("gemma3n.attention.sliding_window", 100);
    f.numbers("gemma3n.attention.sliding_window_pattern", {1, 0, 1, 0});
    f.number("gemma3n.attention.shared_kv_layers", 2);
    f.tensor("per_layer_token_embd.weight", {kWidth * kDeep, 1000}, GgufMaker::kQ8);
    f.tensor("per_layer_model_proj.weight", {64, kWidth * kDeep});
    f.tensor("altup_proj.weight", {64, 64, kStreams - 1});
    f.tensor("altup_unembd_proj.weight", {64, 64, kStreams - 1});
    for (std::int64_t i = 0; i < kDeep; ++i) {
        const std::string block = "blk." + std::to_string(i) + ".";
        f.tensor(block + "inp_gate.weight", {64, kWidth});
        f.tensor(block + "proj.weight", {kWidth, 64});
        f.tensor(block + "laurel_l.weight", {64, kRank});
        f.tensor(block + "laurel_r.weight", {kRank, 64});
    }
    const Checkpoint c = read_checkpoint(folder.write("file.gguf", f.bytes()));
    CHECK(matrices(c) == SmallGguf::kTable + kDeep * SmallGguf::kLayer + 1000 * kWidth * kDeep +
                             64 * kWidth * kDeep + 2 * (kStreams - 1) * 64 * 64 +
                             kDeep * 2 * 64 * (kWidth + kRank));
    // The first two layers alone keep a cache; the second sees everything.
    CHECK(cache_bytes(c, 51) - cache_bytes(c, 50) == 2 * 2 * 2 * 16 * 2);
    CHECK(cache_bytes(c, 501) - cache_bytes(c, 500) == 2 * 2 * 16 * 2);
    // A table is looked up, not multiplied: what a token computes is without it.
    const ShapedGraph graph =
        archsim::bind(c.graph, {.dims = {{"batch", 1}, {"sequence", 1}, {"past_sequence", 0}}}, c.dims);
    const double products = kDeep * (SmallGguf::kLayer - 64 * 64) + 64 * kWidth * kDeep +
                            2 * (kStreams - 1) * 64 * 64 + kDeep * 2 * 64 * (kWidth + kRank);
    CHECK(graph.macs() > products);
    CHECK(graph.macs() < products + kDeep * 64 * 64 + SmallGguf::kTable + 2000);
}

TEST_CASE("DeepSeek files made before llama.cpp cached the latent vector cache every head", "[checkpoint]") {
    const Folder folder("archsim_gguf_latent");
    constexpr std::uint32_t kHeads = 4, kRank = 32, kPlain = 16, kRotary = 8, kValue = 12;
    const auto file = [&](bool latent) {
        GgufMaker f;
        SmallGguf::describe(f, "deepseek2", 1);
        f.number("deepseek2.attention.kv_lora_rank", kRank);
        f.number("deepseek2.rope.dimension_count", kRotary);
        f.number("deepseek2.attention.key_length", latent ? kRank + kRotary : kPlain + kRotary);
        f.number("deepseek2.attention.value_length", latent ? kRank : kValue);
        SmallGguf::table(f);
        f.tensor("blk.0.attn_q.weight", {64, kHeads * (kPlain + kRotary)});
        f.tensor("blk.0.attn_kv_a_mqa.weight", {64, kRank + kRotary});
        if (latent) {
            f.number("deepseek2.attention.key_length_mla", kPlain + kRotary);
            f.number("deepseek2.attention.value_length_mla", kValue);
            f.tensor("blk.0.attn_k_b.weight", {kPlain, kRank, kHeads});
            f.tensor("blk.0.attn_v_b.weight", {kRank, kValue, kHeads});
        } else {
            f.tensor("blk.0.attn_kv_b.weight", {kRank, kHeads * (kPlain + kValue)});
        }
        f.tensor("blk.0.attn_output.weight", {kHeads * kValue, 64});
        SmallGguf::mlp(f, "blk.0.");
        return read_checkpoint(folder.write("file.gguf", f.bytes()));
    };
    const Checkpoint older = file(false), newer = file(true);
    CHECK(matrices(older) == matrices(newer));
    CHECK(cache_bytes(newer, 101) - cache_bytes(newer, 100) == (kRank + kRotary) * 2);
    CHECK(cache_bytes(older, 101) - cache_bytes(older, 100) == kHeads * (kPlain + kRotary + kValue) * 2);
}

TEST_CASE("blocks that predict further tokens are no layers", "[checkpoint]") {
    const Folder folder("archsim_gguf_nextn");
    GgufMaker f = SmallGguf::whole("glm4moe", 3);
    f.number("glm4moe.nextn_predict_layers", 1);
    f.tensor("blk.2.nextn.eh_proj.weight", {128, 64});
    const Checkpoint c = read_checkpoint(folder.write("file.gguf", f.bytes()));
    CHECK(c.facts.layers == 2);
    CHECK(c.facts.prediction_parameters == SmallGguf::kLayer + 128 * 64);
    CHECK(matrices(c) == 2 * SmallGguf::kLayer + SmallGguf::kTable);
}

TEST_CASE("a fused gate lies in the format of its tensor", "[checkpoint]") {
    const Folder folder("archsim_gguf_fused");
    GgufMaker f;
    SmallGguf::describe(f, "phi3", 1);
    SmallGguf::table(f);
    f.tensor("blk.0.attn_qkv.weight", {64, 128}, GgufMaker::kQ4K);
    f.tensor("blk.0.attn_output.weight", {64, 64}, GgufMaker::kQ4K);
    f.tensor("blk.0.ffn_up.weight", {64, 256}, GgufMaker::kQ4K);
    f.tensor("blk.0.ffn_down.weight", {128, 64}, GgufMaker::kQ4K);
    const Checkpoint c = read_checkpoint(folder.write("file.gguf", f.bytes()));
    const ShapedGraph graph = archsim::bind(c.graph, {}, c.dims);
    for (const ShapedTensor& t : graph.tensors)
        if (t.role == TensorRole::initializer && t.learned && t.shape.size() > 1) {
            INFO(t.name);
            CHECK(t.stored_bits() == 4.5);
        }
}
