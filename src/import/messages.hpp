#pragma once
// The messages of an ONNX model as far as estimating needs them, without the payload of large tensors. Names
// follow onnx.proto. Texts and lists lie in the arena, or in the bytes of a model that is in memory.

#include "archsim/core/finding.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace archsim::import {

/// Storage of what is read from one model: it is taken piece by piece and freed all at once. Nothing in it is
/// destroyed, so it holds plain values alone.
class Arena {
  public:
    /// Uninitialised bytes, which stay where they are. Throws WireError where a model asks for more than any
    /// has (kMostBytes).
    void* allocate(std::size_t bytes, std::size_t alignment) {
        const std::size_t begin = (used_ + alignment - 1) / alignment * alignment;
        if (begin + bytes > capacity_)
            return allocate_block(bytes);
        used_ = begin + bytes;
        return block_ + begin;
    }

    /// Takes the `bytes` behind `end` too, where `end` is where the last allocation ended; false where it is
    /// not, or they are not there.
    bool extend(const void* end, std::size_t bytes) {
        if (block_ == nullptr || block_ + used_ != end || used_ + bytes > capacity_)
            return false;
        used_ += bytes;
        return true;
    }

    template <typename T>
    T& make() {
        static_assert(std::is_trivially_destructible_v<T>);
        return *::new (allocate(sizeof(T), alignof(T))) T();
    }

  private:
    /// A model without its weights: 100 times the largest that is known.
    static constexpr std::size_t kMostBytes = std::size_t{1} << 30;
    static constexpr std::size_t kFirstBlock = 4u << 10;
    /// Blocks double up to this size; above 128 KiB they would go back to the kernel, and the next stage
    /// would fault in fresh pages.
    static constexpr std::size_t kLargestBlock = 32u << 10;

    void* allocate_block(std::size_t bytes);

    std::vector<std::unique_ptr<std::byte[]>> blocks_;
    std::byte* block_ = nullptr; ///< the one in use
    std::size_t used_ = 0, capacity_ = 0, total_ = 0;
};

/// A list that grows in an arena.
template <typename T>
class ArenaList {
  public:
    void push_back(Arena& arena, const T& value) {
        if (size_ == capacity_)
            grow(arena);
        ::new (static_cast<void*>(data_ + size_++)) T(value);
    }

    const T* begin() const { return data_; }
    const T* end() const { return data_ + size_; }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    const T& operator[](std::size_t index) const { return data_[index]; }

  private:
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

    void grow(Arena& arena) {
        const std::uint32_t more = capacity_ == 0 ? 1 : capacity_;
        if (capacity_ == 0 || !arena.extend(data_ + capacity_, more * sizeof(T))) {
            T* const larger =
                static_cast<T*>(arena.allocate((std::size_t{capacity_} + more) * sizeof(T), alignof(T)));
            std::uninitialized_copy(begin(), end(), larger);
            data_ = larger;
        }
        capacity_ += more;
    }

    T* data_ = nullptr;
    std::uint32_t size_ = 0, capacity_ = 0; ///< the arena is too small for more
};

/// Numbers of AttributeProto.AttributeType.
enum class AttributeType : std::uint8_t {
    undefined = 0,
    real = 1,
    integer = 2,
    string = 3,
    tensor = 4,
    graph = 5,
    reals = 6,
    integers = 7,
    strings = 8,
    tensors = 9,
    graphs = 10,
    sparse_tensor = 11,
    sparse_tensors = 12,
    type = 13,
    types = 14,
};

struct Opset {
    std::string_view domain;
    std::int64_t version = 0;
};

/// "location", "offset" or "length" of a payload in a side file.
struct ExternalEntry {
    std::string_view key, value;
};

struct TensorMessage {
    std::string_view name;
    ArenaList<std::int64_t> dims;
    std::int32_t data_type = 0;
    bool external = false; ///< data_location
    ArenaList<ExternalEntry> external_data;
    // The payload, where it is small: raw_data, or the typed field that onnx.proto prescribes for data_type.
    std::string_view raw_data;
    ArenaList<std::int64_t> ints;
    ArenaList<double> reals;
    ArenaList<std::string_view> strings;
};

/// Its indices are never looked at.
struct SparseTensorMessage {
    TensorMessage values;
    ArenaList<std::int64_t> dims;
};

struct GraphMessage;

struct AttributeMessage {
    std::string_view name, ref_attr_name;
    AttributeType type = AttributeType::undefined;
    std::optional<float> f;
    std::optional<std::int64_t> i;
    std::optional<std::string_view> s;
    const TensorMessage* t = nullptr;
    const SparseTensorMessage* sparse_tensor = nullptr;
    const GraphMessage* g = nullptr;
    ArenaList<float> floats;
    ArenaList<std::int64_t> ints;
    ArenaList<std::string_view> strings;
};

struct NodeMessage {
    std::string_view name, op_type, domain, overload;
    ArenaList<std::string_view> input, output;
    ArenaList<AttributeMessage> attribute;
    std::uint64_t size = 0; ///< bytes of what was kept of it
};

/// The type is a TypeProto still encoded: most are of values whose shape is inferred anyway.
struct ValueInfoMessage {
    std::string_view name, type;
};

struct GraphMessage {
    std::string_view name;
    ArenaList<NodeMessage> node;
    ArenaList<TensorMessage> initializer;
    ArenaList<SparseTensorMessage> sparse_initializer;
    ArenaList<ValueInfoMessage> input, output, value_info;
};

struct FunctionMessage {
    std::string_view name, domain, overload;
    ArenaList<std::string_view> input, output;
    ArenaList<NodeMessage> node;
    ArenaList<AttributeMessage> attribute_proto; ///< attributes that a call may leave out
    ArenaList<Opset> opset_import;
};

struct ModelMessage {
    std::int64_t ir_version = 0;
    ArenaList<Opset> opset_import;
    ArenaList<FunctionMessage> functions;
    std::optional<GraphMessage> graph;
};

/// Collects what is found while importing one file, within bounds: a damaged file can be wrong in a million
/// places.
class Findings {
  public:
    explicit Findings(std::string file) : file_(std::move(file)) {}

    void add(Finding finding);
    void add(FindingKind kind, Severity severity, std::string where, std::string message,
             std::string hint = "export the model again");

    /// The findings; the last entry says how many more there were.
    std::vector<Finding> take();

  private:
    static constexpr std::size_t kMaxListed = 200;

    std::string file_;
    std::vector<Finding> listed_;
    std::size_t unlisted_ = 0;
    Severity worst_unlisted_ = Severity::note;
};

} // namespace archsim::import
