#include "checkpoint/gguf_file.hpp"

#include "archsim/core/finding.hpp"
#include "checkpoint/fields.hpp"
#include "checkpoint/gguf_types.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace archsim::checkpoint {

GgufFile::GgufFile(GgufHeader header, std::string file) : file_(std::move(file)), header_(std::move(header)) {
    architecture_ = header_.texts["general.architecture"];
    if (architecture_.empty())
        refuse("states no general.architecture");
}

void GgufFile::refuse(const std::string& why, const std::string& hint) const {
    Finding finding;
    finding.file = file_;
    finding.message = why;
    finding.hint = hint;
    throw InputError(finding);
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

std::string GgufFile::largest_unread() const {
    std::string largest;
    double most = 0;
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
