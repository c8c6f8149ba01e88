#pragma once
// Writes FlatBuffers for tests: tables by number of field, parents before children. It shares nothing with
// the reader.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace archsim::test {

struct FlatTableMaker;
using FlatChild = std::shared_ptr<FlatTableMaker>;

/// Elements as they lie in the buffer.
struct FlatElements {
    std::uint32_t count = 0;
    std::string bytes;
};

struct FlatTableMaker {
    std::map<unsigned, std::variant<std::string, FlatElements, FlatChild, std::vector<FlatChild>>> fields;

    template <class T>
    FlatTableMaker& number(unsigned field, T value) {
        fields[field] = raw(value);
        return *this;
    }
    FlatTableMaker& text(unsigned field, const std::string& value) {
        fields[field] = FlatElements{static_cast<std::uint32_t>(value.size()), value + '\0'};
        return *this;
    }
    template <class T>
    FlatTableMaker& vector(unsigned field, const std::vector<T>& values) {
        FlatElements elements{static_cast<std::uint32_t>(values.size()), {}};
        for (const T v : values)
            elements.bytes += raw(v);
        fields[field] = std::move(elements);
        return *this;
    }
    FlatTableMaker& table(unsigned field, const FlatTableMaker& child) {
        fields[field] = std::make_shared<FlatTableMaker>(child);
        return *this;
    }
    FlatTableMaker& tables(unsigned field, const std::vector<FlatTableMaker>& children) {
        std::vector<FlatChild> list;
        for (const FlatTableMaker& child : children)
            list.push_back(std::make_shared<FlatTableMaker>(child));
        fields[field] = std::move(list);
        return *this;
    }

    /// The whole buffer, with this table as its root.
    std::string buffer(const std::string& identifier) const {
        std::string out(4, '\0');
        out += identifier;
        const std::size_t at = write(out);
        put(out, 0, static_cast<std::uint32_t>(at));
        return out;
    }

  private:
    template <class T>
    static std::string raw(T value) {
        std::string bytes;
        auto bits = static_cast<std::uint64_t>(value);
        for (std::size_t i = 0; i < sizeof(T); ++i, bits >>= 8)
            bytes += static_cast<char>(bits & 0xff);
        return bytes;
    }
    static void put(std::string& out, std::size_t at, std::uint32_t value) { out.replace(at, 4, raw(value)); }
    static std::size_t align(std::string& out, std::size_t to) {
        out.resize((out.size() + to - 1) / to * to, '\0');
        return out.size();
    }
    static std::size_t write(std::string& out, const FlatElements& elements) {
        const std::size_t at = align(out, 4);
        out += raw(elements.count) + elements.bytes;
        return at;
    }

    std::size_t write(std::string& out) const {
        // The vtable: its size, that of the table, and the place of every field in it.
        const unsigned count = fields.empty() ? 0 : fields.rbegin()->first + 1;
        std::string vtable, inline_part(4, '\0');
        std::vector<std::uint16_t> places(count, 0);
        for (const auto& [field, value] : fields) {
            places[field] = static_cast<std::uint16_t>(inline_part.size());
            const auto* scalar = std::get_if<std::string>(&value);
            inline_part += scalar ? *scalar : std::string(4, '\0');
        }
        vtable = raw(static_cast<std::uint16_t>(4 + 2 * count)) +
                 raw(static_cast<std::uint16_t>(inline_part.size()));
        for (const std::uint16_t place : places)
            vtable += raw(place);
        const std::size_t vtable_at = align(out, 4);
        out += vtable;
        const std::size_t at = align(out, 8);
        out += inline_part;
        put(out, at, static_cast<std::uint32_t>(at - vtable_at));
        for (const auto& [field, value] : fields) {
            const std::size_t from = at + places[field];
            std::size_t to = 0;
            if (const auto* elements = std::get_if<FlatElements>(&value))
                to = write(out, *elements);
            else if (const auto* child = std::get_if<FlatChild>(&value))
                to = (*child)->write(out);
            else if (const auto* children = std::get_if<std::vector<FlatChild>>(&value))
                to = write(out, *children);
            else
                continue;
            put(out, from, static_cast<std::uint32_t>(to - from));
        }
        return at;
    }
    static std::size_t write(std::string& out, const std::vector<FlatChild>& children) {
        FlatElements offsets{static_cast<std::uint32_t>(children.size()),
                             std::string(4 * children.size(), '\0')};
        const std::size_t at = write(out, offsets);
        for (std::size_t i = 0; i < children.size(); ++i) {
            const std::size_t from = at + 4 + 4 * i;
            put(out, from, static_cast<std::uint32_t>(children[i]->write(out) - from));
        }
        return at;
    }
};

} // namespace archsim::test
