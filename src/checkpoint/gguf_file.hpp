#pragma once
// Keys and tensors of a GGUF file, under the names that they have for one architecture.

#include "checkpoint/decoder.hpp"

namespace archsim::checkpoint {

struct GgufTensor {
    std::vector<std::int64_t> shape; ///< innermost first, as the file has it
    std::uint32_t type = 0;
};

struct GgufHeader {
    std::map<std::string, std::vector<double>> numbers; ///< scalars have one element
    std::map<std::string, std::string> texts;
    std::map<std::string, GgufTensor> tensors;

    double number(const std::string& key, double fallback) const {
        const auto it = numbers.find(key);
        return it == numbers.end() || it->second.empty() ? fallback : it->second.front();
    }
};

/// Throws InputError naming the file and what is wrong with it.
GgufHeader read_gguf_header(const std::filesystem::path& file);

/// The same with the tensors of all parts that llama-gguf-split wrote, whichever of them is given; the others
/// lie beside it. Throws InputError naming the part that is missing.
GgufHeader read_gguf_parts(const std::filesystem::path& file);

/// Weights and bytes of one block.
struct GgmlType {
    std::uint32_t id;
    double weights, bytes;
    std::string_view name;
};

/// Null when the type is not known.
const GgmlType* ggml_type(std::uint32_t id);

/// Bits per weight of a ggml type, 0 when it is not known.
double ggml_bits(std::uint32_t type);

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

    /// The largest tensor of more than `most` elements that nobody asked for; empty: none.
    std::string largest_unread(double most) const;

    [[noreturn]] void refuse(const std::string& why,
                             const std::string& hint = "convert the model again") const;

  private:
    std::string file_, architecture_;
    GgufHeader header_;
    mutable std::set<std::string> read_;
};

double elements(const GgufTensor& tensor);

/// Layer `i` with what mixes its tokens, which sees `window`, and nothing else; kind none where it has none.
DecoderLayer read_gguf_mixers(const GgufFile& file, std::int64_t i, const LayerWindow& window);

/// The window of each layer: from the keys of the file, and from what llama.cpp knows by the name of the
/// architecture where they leave it open.
std::vector<LayerWindow> read_gguf_windows(const GgufHeader& header, const std::string& architecture,
                                           std::size_t layers, const std::string& file,
                                           std::vector<Finding>& findings);

/// Throws InputError that says what the file is and what to give instead, where it is no decoder of text.
void refuse_other_kinds(const GgufHeader& header, const std::string& file);

/// The decoder of a GGUF file and its further parts, with the bits of every tensor. Throws InputError naming
/// the file and, where it holds no decoder, what it is.
Decoder read_gguf(const std::filesystem::path& file);

/// Throws InputError when the graph of the decoder has not the parameters that the header's tensors add up
/// to: a part of a model is no answer.
void check_gguf_parameters(const Decoder& decoder, const Graph& graph, const std::string& file);

} // namespace archsim::checkpoint
