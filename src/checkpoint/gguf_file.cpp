#include "checkpoint/gguf_file.hpp"

#include "checkpoint/checkpoint.hpp"

#include "checkpoint/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace archsim::checkpoint {

namespace {

constexpr double kByte = 8;

// Numbers: enum ggml_type (ggml/include/ggml.h); blocks: ggml/src/ggml-common.h, the same as GGML_QUANT_SIZES
// of gguf-py. 31 to 33 are q4_0 in another order of bytes, which files of 2024 have.
constexpr std::array kTypes = {
    GgmlType{0, 1, 4, "f32"},         GgmlType{1, 1, 2, "f16"},         GgmlType{2, 32, 18, "q4_0"},
    GgmlType{3, 32, 20, "q4_1"},      GgmlType{6, 32, 22, "q5_0"},      GgmlType{7, 32, 24, "q5_1"},
    GgmlType{8, 32, 34, "q8_0"},      GgmlType{9, 32, 36, "q8_1"},      GgmlType{10, 256, 84, "q2_k"},
    GgmlType{11, 256, 110, "q3_k"},   GgmlType{12, 256, 144, "q4_k"},   GgmlType{13, 256, 176, "q5_k"},
    GgmlType{14, 256, 210, "q6_k"},   GgmlType{15, 256, 292, "q8_k"},   GgmlType{16, 256, 66, "iq2_xxs"},
    GgmlType{17, 256, 74, "iq2_xs"},  GgmlType{18, 256, 98, "iq3_xxs"}, GgmlType{19, 256, 50, "iq1_s"},
    GgmlType{20, 32, 18, "iq4_nl"},   GgmlType{21, 256, 110, "iq3_s"},  GgmlType{22, 256, 82, "iq2_s"},
    GgmlType{23, 256, 136, "iq4_xs"}, GgmlType{24, 1, 1, "i8"},         GgmlType{25, 1, 2, "i16"},
    GgmlType{26, 1, 4, "i32"},        GgmlType{27, 1, 8, "i64"},        GgmlType{28, 1, 8, "f64"},
    GgmlType{29, 256, 56, "iq1_m"},   GgmlType{30, 1, 2, "bf16"},       GgmlType{31, 32, 18, "q4_0_4_4"},
    GgmlType{32, 32, 18, "q4_0_4_8"}, GgmlType{33, 32, 18, "q4_0_8_8"}, GgmlType{34, 256, 54, "tq1_0"},
    GgmlType{35, 256, 66, "tq2_0"},   GgmlType{39, 32, 17, "mxfp4"},    GgmlType{40, 64, 36, "nvfp4"},
    GgmlType{41, 128, 18, "q1_0"},    GgmlType{42, 64, 18, "q2_0"},
};

} // namespace

const GgmlType* ggml_type(std::uint32_t id) {
    const auto found = std::ranges::find(kTypes, id, &GgmlType::id);
    return found == kTypes.end() ? nullptr : &*found;
}

static double bits_of_block(const GgmlType* row) {
    return row ? kByte * row->bytes / row->weights : 0;
}

double ggml_bits(std::uint32_t type) {
    return bits_of_block(ggml_type(type));
}

double ggml_bits(std::string_view name) {
    const auto* const found =
        std::find_if(kTypes.begin(), kTypes.end(), [&](const GgmlType& t) { return t.name == name; });
    return bits_of_block(found == kTypes.end() ? nullptr : found);
}

GgufFile::GgufFile(GgufHeader header, std::string file) : file_(std::move(file)), header_(std::move(header)) {
    architecture_ = header_.texts["general.architecture"];
    if (architecture_.empty())
        refuse("states no general.architecture");
}

void GgufFile::refuse(const std::string& why, const std::string& hint) const {
    checkpoint::refuse(file_, why, hint, {}, FindingKind::malformed_file);
}

double GgufFile::key(const std::string& name, double fallback) const {
    return header_.number(architecture_ + "." + name, fallback);
}

double GgufFile::at_layer(const std::string& name, std::int64_t layer, double fallback) const {
    const auto it = header_.numbers.find(architecture_ + "." + name);
    if (it == header_.numbers.end() || it->second.empty())
        return fallback;
    const auto& list = it->second;
    if (list.size() > 1 && static_cast<std::size_t>(layer) >= list.size())
        refuse(fmt::format("lists {} numbers under {}, and has a layer {}", list.size(), it->first, layer));
    return list.size() == 1 ? list.front() : list[static_cast<std::size_t>(layer)];
}

std::int64_t GgufFile::whole(double value) const {
    if (!(value >= 0 && value <= kLargestCount))
        refuse(fmt::format("states {} where a count belongs", value));
    return static_cast<std::int64_t>(value);
}

std::int64_t GgufFile::count(const std::string& name) const {
    const double value = key(name, 0);
    if (value < 1)
        refuse(fmt::format("states no {}.{}", architecture_, name));
    return whole(value);
}

const GgufTensor* GgufFile::tensor(const std::string& name) const {
    const auto it = header_.tensors.find(name);
    if (it == header_.tensors.end())
        return nullptr;
    read_.insert(name);
    return &it->second;
}

const GgufTensor* GgufFile::block(std::int64_t layer, const std::string& leaf) const {
    return tensor(fmt::format("blk.{}.{}", layer, leaf));
}

std::int64_t GgufFile::size(std::int64_t layer, const std::string& leaf, std::size_t axis) const {
    const GgufTensor* t = block(layer, leaf);
    return t && axis < t->shape.size() ? t->shape[axis] : 0;
}

double GgufFile::bits(const std::string& name, const GgufTensor& tensor) const {
    const double bits = ggml_bits(tensor.type);
    if (bits <= 0)
        refuse(fmt::format("stores {} as type {}, which is not known", name, tensor.type),
               "its converter is newer than this reader, or has types of its own");
    return bits;
}

std::string GgufFile::largest_unread(double most) const {
    std::string largest;
    for (const auto& [name, tensor] : header_.tensors)
        if (!read_.contains(name) && elements(tensor) > most) {
            most = elements(tensor);
            largest = name;
        }
    return largest;
}

double elements(const GgufTensor& tensor) {
    double product = 1;
    for (const std::int64_t size : tensor.shape)
        product *= static_cast<double>(size);
    return product;
}

} // namespace archsim::checkpoint
