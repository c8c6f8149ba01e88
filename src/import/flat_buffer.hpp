#pragma once
// The wire format of FlatBuffers (google.github.io/flatbuffers, "FlatBuffer internals"): tables find their
// fields through a vtable, everything else by an offset from where it is written. Every read is checked
// against the bytes that there are, and nothing is followed twice by itself, so that a damaged file ends in
// a FlatError.

#include "import/byte_source.hpp"

#include <memory>
#include <stdexcept>
#include <string_view>

namespace archsim::import {

/// The bytes are no such buffer, or end too early.
class FlatError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

class FlatTable;

/// The bytes of a buffer, little-endian as the format has it.
class FlatBuffer {
  public:
    explicit FlatBuffer(ByteSource& bytes) : FlatBuffer(bytes, 0, bytes.size()) {}
    /// A part of the bytes, which must exist.
    FlatBuffer(ByteSource& bytes, std::uint64_t first, std::uint64_t size)
        : bytes_(bytes), first_(first), size_(size) {}

    std::uint64_t size() const { return size_; }
    /// The number that stands at `position`.
    template <class T>
    T number(std::uint64_t position) const {
        std::uint8_t raw[sizeof(T)];
        read(position, raw, sizeof(T));
        T value{};
        for (std::size_t i = 0; i < sizeof(T); ++i)
            value = static_cast<T>(value | static_cast<T>(static_cast<T>(raw[i]) << (8 * i)));
        return value;
    }
    void read(std::uint64_t position, std::uint8_t* into, std::size_t count) const;
    /// Where the offset at `position` leads.
    std::uint64_t follow(std::uint64_t position) const;
    /// The table that the buffer begins with.
    FlatTable root() const;

  private:
    ByteSource& bytes_;
    std::uint64_t first_, size_;
};

/// A vector: where its first element stands, and how many there are.
struct FlatVector {
    std::uint64_t first = 0;
    std::size_t count = 0;
};

class FlatTable {
  public:
    FlatTable(const FlatBuffer& buffer, std::uint64_t position);

    /// Scalars take the default of their schema where the table leaves them out.
    template <class T>
    T number(unsigned field, T otherwise) const {
        const std::uint64_t at = place(field);
        return at == 0 ? otherwise : static_cast<T>(buffer_->number<std::make_unsigned_t<T>>(at));
    }
    std::optional<FlatTable> table(unsigned field) const;
    /// Throws FlatError for one of more than `longest` bytes.
    std::string text(unsigned field, std::size_t longest) const;
    /// A vector of elements of `width` bytes; empty where there is none.
    FlatVector vector(unsigned field, std::size_t width) const;
    /// A vector of integers.
    template <class T>
    std::vector<std::int64_t> integers(unsigned field) const {
        const FlatVector v = vector(field, sizeof(T));
        std::vector<std::int64_t> values;
        values.reserve(v.count);
        for (std::size_t i = 0; i < v.count; ++i)
            values.push_back(
                static_cast<T>(buffer_->number<std::make_unsigned_t<T>>(v.first + i * sizeof(T))));
        return values;
    }
    /// A vector of tables.
    std::vector<FlatTable> tables(unsigned field) const;

    const FlatBuffer& buffer() const { return *buffer_; }

  private:
    /// Where the field stands; 0: left out.
    std::uint64_t place(unsigned field) const;

    const FlatBuffer* buffer_;
    std::uint64_t position_, vtable_ = 0;
    std::uint16_t vtable_bytes_ = 0;
};

// Bundles of models: a zip archive (PKWARE APPNOTE 6.3) whose members are TensorFlow Lite files, as
// MediaPipe's .task files are. A stored member is read where it lies; a compressed one is unpacked into
// memory.

/// A model of a bundle, and the graph of it that was asked for.
class BundledModel {
  public:
    FlatBuffer buffer() const { return {unpacked_ ? *unpacked_ : *bytes_, first_, size_}; }
    std::string graph; ///< empty: the first

  private:
    friend BundledModel find_in_bundle(ByteSource& bytes, std::string_view part, const std::string& file,
                                       double most_bytes);

    ByteSource* bytes_ = nullptr;
    std::uint64_t first_ = 0, size_ = 0;
    std::shared_ptr<const std::vector<std::uint8_t>> memory_;
    std::shared_ptr<ByteSource> unpacked_; ///< of a compressed member
};

/// Whether the bytes begin as an archive does.
bool is_bundle(ByteSource& bytes);

/// The model that `part` names, the only one where it names none. Throws FlatError for a damaged archive and
/// InputError where the choice is not clear, or the model unpacks to more than `most_bytes`.
BundledModel find_in_bundle(ByteSource& bytes, std::string_view part, const std::string& file,
                            double most_bytes);

} // namespace archsim::import
