#include "import/flat_buffer.hpp"

#include "archsim/core/finding.hpp"
#include "core/gzip.hpp"
#include "core/lists.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace archsim::import {

void FlatBuffer::read(std::uint64_t position, std::uint8_t* into, std::size_t count) const {
    if (count > size() || position > size() - count)
        throw FlatError("it ends before what it refers to");
    const auto bytes = bytes_.view(first_ + position, count);
    std::copy(bytes.begin(), bytes.end(), into);
}

std::uint64_t FlatBuffer::follow(std::uint64_t position) const {
    const auto offset = number<std::uint32_t>(position);
    if (offset == 0 || offset >= size() - position)
        throw FlatError("an offset leads out of it");
    return position + offset;
}

FlatTable FlatBuffer::root() const {
    return {*this, follow(0)};
}

FlatTable::FlatTable(const FlatBuffer& buffer, std::uint64_t position)
    : buffer_(&buffer), position_(position) {
    // The offset to the vtable is signed, and counts backwards.
    const auto offset = static_cast<std::int32_t>(buffer.number<std::uint32_t>(position));
    const std::int64_t vtable = static_cast<std::int64_t>(position) - offset;
    if (vtable < 0 || static_cast<std::uint64_t>(vtable) >= buffer.size())
        throw FlatError("a table has its fields outside of it");
    vtable_ = static_cast<std::uint64_t>(vtable);
    vtable_bytes_ = buffer.number<std::uint16_t>(vtable_);
}

std::uint64_t FlatTable::place(unsigned field) const {
    const std::uint64_t entry = 4 + 2ull * field;
    if (entry + 2 > vtable_bytes_)
        return 0;
    const auto offset = buffer_->number<std::uint16_t>(vtable_ + entry);
    return offset == 0 ? 0 : position_ + offset;
}

std::optional<FlatTable> FlatTable::table(unsigned field) const {
    const std::uint64_t at = place(field);
    if (at == 0)
        return std::nullopt;
    return FlatTable(*buffer_, buffer_->follow(at));
}

FlatVector FlatTable::vector(unsigned field, std::size_t width) const {
    const std::uint64_t at = place(field);
    if (at == 0)
        return {};
    const std::uint64_t begin = buffer_->follow(at);
    const auto count = buffer_->number<std::uint32_t>(begin);
    constexpr std::uint64_t kLength = 4;
    if (count > (buffer_->size() - begin - kLength) / width)
        throw FlatError("a vector is longer than it");
    return {begin + kLength, count};
}

std::string FlatTable::text(unsigned field, std::size_t longest) const {
    const FlatVector v = vector(field, 1);
    if (v.count > longest)
        throw FlatError("a name is longer than any has");
    std::string text(v.count, '\0');
    if (v.count > 0)
        buffer_->read(v.first, reinterpret_cast<std::uint8_t*>(text.data()), v.count);
    return text;
}

std::vector<FlatTable> FlatTable::tables(unsigned field) const {
    constexpr std::size_t kOffset = 4;
    const FlatVector v = vector(field, kOffset);
    std::vector<FlatTable> tables;
    tables.reserve(v.count);
    for (std::size_t i = 0; i < v.count; ++i)
        tables.emplace_back(*buffer_, buffer_->follow(v.first + kOffset * i));
    return tables;
}

constexpr std::uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50;
constexpr std::size_t kEndBytes = 22, kCentralBytes = 46, kLocalBytes = 30, kLongestComment = 65535;
constexpr std::size_t kMostMembers = 4096;

struct Member {
    std::string name;
    unsigned method = 0; ///< 0: stored, 8: deflate
    std::uint32_t crc = 0;
    std::uint64_t packed = 0, size = 0, header = 0;
};

/// The record that ends an archive, behind which only a comment stands.
static std::optional<std::uint64_t> find_end(const FlatBuffer& archive) {
    if (archive.size() < kEndBytes)
        return std::nullopt;
    const std::uint64_t last = archive.size() - kEndBytes;
    const std::uint64_t least = last - std::min<std::uint64_t>(last, kLongestComment);
    for (std::uint64_t at = last + 1; at-- > least;)
        if (archive.number<std::uint32_t>(at) == kEnd)
            return at;
    return std::nullopt;
}

static std::vector<Member> members_of(const FlatBuffer& archive) {
    const auto found = find_end(archive);
    if (!found)
        throw FlatError("the archive has no directory");
    const std::uint64_t end = *found;
    const auto count = archive.number<std::uint16_t>(end + 10);
    std::uint64_t at = archive.number<std::uint32_t>(end + 16);
    if (count > kMostMembers)
        throw FlatError("the archive has more members than any bundle");
    std::vector<Member> members;
    for (unsigned i = 0; i < count; ++i) {
        if (archive.number<std::uint32_t>(at) != kCentral)
            throw FlatError("the directory of the archive is damaged");
        Member m;
        m.method = archive.number<std::uint16_t>(at + 10);
        m.crc = archive.number<std::uint32_t>(at + 16);
        m.packed = archive.number<std::uint32_t>(at + 20);
        m.size = archive.number<std::uint32_t>(at + 24);
        const auto name = archive.number<std::uint16_t>(at + 28),
                   extra = archive.number<std::uint16_t>(at + 30),
                   comment = archive.number<std::uint16_t>(at + 32);
        m.header = archive.number<std::uint32_t>(at + 42);
        m.name.resize(name);
        if (name > 0)
            archive.read(at + kCentralBytes, reinterpret_cast<std::uint8_t*>(m.name.data()), name);
        members.push_back(std::move(m));
        at += kCentralBytes + name + extra + comment;
    }
    return members;
}

/// Where the bytes of a member begin: behind its own header, which has a name and extra fields of its own.
static std::uint64_t place_of(const FlatBuffer& archive, const Member& m) {
    if (archive.number<std::uint32_t>(m.header) != kLocal)
        throw FlatError("a member of the archive is not where its directory says");
    const std::uint64_t first = m.header + kLocalBytes + archive.number<std::uint16_t>(m.header + 26) +
                                archive.number<std::uint16_t>(m.header + 28);
    if (first > archive.size() || m.packed > archive.size() - first)
        throw FlatError("a member of the archive ends behind it");
    return first;
}

/// A model by its mark where that can be seen, else by its name.
static bool is_model(const FlatBuffer& archive, const Member& m) {
    constexpr std::uint64_t kMark = 4;
    constexpr std::uint32_t kTfl3 = 0x334c4654;
    if (m.method == 0 && m.size >= 2 * kMark)
        return archive.number<std::uint32_t>(place_of(archive, m) + kMark) == kTfl3;
    return m.name.ends_with(".tflite");
}

/// gzip frames the same compressed blocks: a header, the blocks, checksum and size.
static std::vector<std::uint8_t> inflated(const FlatBuffer& archive, const Member& m) {
    std::vector<std::uint8_t> framed = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff};
    const std::size_t head = framed.size();
    const auto packed = static_cast<std::size_t>(m.packed);
    framed.resize(head + packed);
    if (packed > 0)
        archive.read(place_of(archive, m), framed.data() + head, packed);
    for (const std::uint32_t field : {m.crc, static_cast<std::uint32_t>(m.size)})
        for (int i = 0; i < 4; ++i)
            framed.push_back(static_cast<std::uint8_t>(field >> (8 * i)));
    auto bytes = gunzip(framed);
    if (!bytes)
        throw FlatError(fmt::format("its member \"{}\" cannot be unpacked", m.name));
    return *std::move(bytes);
}

/// An archive is known by its end: bundles of MediaPipe begin with padding.
bool is_bundle(ByteSource& bytes) {
    if (bytes.size() < kEndBytes)
        return false;
    const FlatBuffer file(bytes);
    if (file.number<std::uint32_t>(0) == kLocal)
        return true;
    constexpr std::uint64_t kMark = 4, kTfl3 = 0x334c4654;
    return file.number<std::uint32_t>(kMark) != kTfl3 && find_end(file).has_value();
}

BundledModel find_in_bundle(ByteSource& bytes, std::string_view part, const std::string& file,
                            double most_bytes) {
    const FlatBuffer archive(bytes);
    const auto members = members_of(archive);
    std::vector<const Member*> models;
    for (const Member& m : members)
        if (is_model(archive, m))
            models.push_back(&m);
    const auto refuse = [&](FindingKind kind, std::string message, std::string hint) {
        throw InputError(
            Finding{.kind = kind, .message = std::move(message), .file = file, .hint = std::move(hint)});
    };
    if (models.empty())
        refuse(FindingKind::unknown_name, "is an archive without a TensorFlow Lite model",
               "give the .tflite file");
    BundledModel found;
    const Member* chosen = nullptr;
    for (const Member* m : models)
        if (part == m->name || part.starts_with(m->name + "/")) {
            chosen = m;
            found.graph = part.substr(std::min(part.size(), m->name.size() + 1));
        }
    if (!chosen && models.size() == 1) {
        chosen = models.front();
        found.graph = part;
    }
    if (!chosen)
        refuse(FindingKind::unknown_name,
               part.empty() ? fmt::format("is a bundle of {} models", models.size())
                            : fmt::format("has no model \"{}\"", part),
               fmt::format("choose one with FILE#NAME: {}",
                           fmt::join(mapped(models, [](const Member* m) { return m->name; }), ", ")));
    if (chosen->method == 0) {
        found.bytes_ = &bytes;
        found.first_ = place_of(archive, *chosen);
        found.size_ = chosen->packed;
    } else if (chosen->method == 8) {
        if (static_cast<double>(std::max(chosen->size, chosen->packed)) > most_bytes)
            refuse(
                FindingKind::too_large,
                fmt::format("its member \"{}\" unpacks to more than {:.0f} bytes", chosen->name, most_bytes),
                "unpack it first, or allow more: bytes=... in ARCHSIM_BUDGET, Budget::bytes of a program");
        found.memory_ = std::make_shared<const std::vector<std::uint8_t>>(inflated(archive, *chosen));
        found.unpacked_ = std::make_shared<ByteSource>(std::span<const std::uint8_t>(*found.memory_));
        found.size_ = found.memory_->size();
    } else {
        throw FlatError(fmt::format("its member \"{}\" is packed in a way that is not known", chosen->name));
    }
    return found;
}

} // namespace archsim::import
