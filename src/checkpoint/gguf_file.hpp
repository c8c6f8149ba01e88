#pragma once
// Keys and tensors of a GGUF file, under the names that they have for one architecture.

#include "checkpoint/gguf_header.hpp"

#include <cstdint>
#include <set>
#include <string>

namespace archsim::checkpoint {

class GgufFile {
  public:
    GgufFile(GgufHeader header, std::string file);

    const std::string& architecture() const { return architecture_; }
    const std::string& file() const { return file_; }
    const GgufHeader& header() const { return header_; }

    /// A number under "<architecture>.<name>".
    double key(const std::string& name, double fallback) const;
    /// The same where a list may have one per layer.
    double at_layer(const std::string& name, std::int64_t layer, double fallback) const;
    /// A count; refuses what cannot be one.
    std::int64_t whole(double value) const;
    std::int64_t number(const std::string& name, double fallback = 0) const {
        return whole(key(name, fallback));
    }
    /// A count of at least one, needed.
    std::int64_t count(const std::string& name) const;

    const GgufTensor* tensor(const std::string& name) const;
    const GgufTensor* block(std::int64_t layer, const std::string& leaf) const;
    /// Size of one axis of a tensor of a layer; 0 when it is not there.
    std::int64_t size(std::int64_t layer, const std::string& leaf, std::size_t axis) const;
    /// Bits per weight of a tensor that is there.
    double bits(const std::string& name, const GgufTensor& tensor) const;

    /// The largest tensor that nobody asked for; empty: none.
    std::string largest_unread() const;

    [[noreturn]] void refuse(const std::string& why,
                             const std::string& hint = "convert the model again") const;

  private:
    std::string file_, architecture_;
    GgufHeader header_;
    mutable std::set<std::string> read_;
};

double elements(const GgufTensor& tensor);

} // namespace archsim::checkpoint
