#pragma once
// ONNX files with one operand of one node changed: emptied, removed, doubled, or made another name of the
// graph. Works on the wire format, so that fuzz targets need no protobuf.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace archsim::test {

/// One field of a message: with its tag and length, and what it holds.
struct WireField {
    std::uint32_t number = 0;
    bool bytes = false; ///< length-delimited: a text or a message
    std::string_view whole, payload;
};

inline std::optional<std::uint64_t> take_varint(std::string_view& rest) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest.empty(); shift += 7) {
        const auto byte = static_cast<unsigned char>(rest.front());
        rest.remove_prefix(1);
        value |= std::uint64_t{byte & 0x7FU} << shift;
        if (byte < 0x80)
            return value;
    }
    return std::nullopt;
}

/// The fields of a message as far as they can be read.
inline std::vector<WireField> wire_fields(std::string_view message) {
    std::vector<WireField> fields;
    while (!message.empty()) {
        std::string_view rest = message;
        const auto tag = take_varint(rest);
        if (!tag)
            break;
        std::size_t length = 0;
        const bool bytes = (*tag & 7) == 2;
        if (bytes) {
            const auto stated = take_varint(rest);
            if (!stated || *stated > rest.size())
                break;
            length = static_cast<std::size_t>(*stated);
        } else if ((*tag & 7) == 0) {
            const std::string_view before = rest;
            if (!take_varint(rest))
                break;
            length = before.size() - rest.size();
            rest = before;
        } else {
            length = (*tag & 7) == 1 ? 8 : 4;
            if (((*tag & 7) != 1 && (*tag & 7) != 5) || length > rest.size())
                break;
        }
        const std::size_t all = message.size() - rest.size() + length;
        fields.push_back(
            {static_cast<std::uint32_t>(*tag >> 3), bytes, message.substr(0, all), rest.substr(0, length)});
        message.remove_prefix(all);
    }
    return fields;
}

inline std::string wire_bytes(std::uint32_t number, std::string_view payload) {
    std::string out;
    for (std::uint64_t value : {std::uint64_t{number} << 3 | 2U, std::uint64_t{payload.size()}}) {
        for (; value >= 0x80; value >>= 7)
            out += static_cast<char>(value | 0x80);
        out += static_cast<char>(value);
    }
    return out + std::string(payload);
}

/// Receives a changed message and what was changed.
using TakeMutant = std::function<void(const std::string& bytes, const std::string& what)>;

class OperandMutator {
  public:
    /// Calls `take` with every mutant of a model.
    static void each(std::string_view model, const TakeMutant& take) {
        constexpr std::uint32_t kGraph = 7;
        nested(wire_fields(model), kGraph, graph, take);
    }

  private:
    using Mutate = void (*)(std::string_view, const TakeMutant&);
    static constexpr std::uint32_t kNode = 1, kInput = 1, kOutput = 2, kAttribute = 5, kBody = 6;

    static std::string replaced(const std::vector<WireField>& fields, std::size_t at, std::string_view by) {
        std::string out;
        for (std::size_t i = 0; i < fields.size(); ++i)
            out += i == at ? by : fields[i].whole;
        return out;
    }

    /// Mutants of the messages in the fields called `number`, each in its message.
    static void nested(const std::vector<WireField>& fields, std::uint32_t number, Mutate mutate,
                       const TakeMutant& take) {
        for (std::size_t i = 0; i < fields.size(); ++i)
            if (fields[i].number == number && fields[i].bytes)
                mutate(fields[i].payload, [&](const std::string& changed, const std::string& what) {
                    take(replaced(fields, i, wire_bytes(number, changed)), what);
                });
    }

    static void graph(std::string_view message, const TakeMutant& take) {
        const std::vector<WireField> fields = wire_fields(message);
        std::vector<std::string_view> names;
        for (const WireField& field : fields)
            if (field.number == kNode && field.bytes)
                for (const WireField& operand : wire_fields(field.payload))
                    if (operand.bytes && operand.number <= kOutput && names.size() < 8)
                        names.push_back(operand.payload);
        for (std::size_t n = 0; n < fields.size(); ++n) {
            if (fields[n].number != kNode || !fields[n].bytes)
                continue;
            const std::vector<WireField> node = wire_fields(fields[n].payload);
            const auto changed = [&](std::size_t at, const std::string& by, const std::string& what) {
                take(replaced(fields, n, wire_bytes(kNode, replaced(node, at, by))),
                     "node " + std::to_string(n) + " field " + std::to_string(at) + " " + what);
            };
            for (std::size_t i = 0; i < node.size(); ++i) {
                if (!node[i].bytes || node[i].number > kOutput)
                    continue;
                changed(i, wire_bytes(node[i].number, ""), "emptied");
                changed(i, "", "removed");
                changed(i, std::string(node[i].whole) + std::string(node[i].whole), "doubled");
                for (const std::string_view name : names)
                    if (name != node[i].payload)
                        changed(i, wire_bytes(node[i].number, name), "rewired to " + std::string(name));
            }
            nested(node, kAttribute, attribute, [&](const std::string& bytes, const std::string& what) {
                take(replaced(fields, n, wire_bytes(kNode, bytes)), what);
            });
        }
    }

    static void attribute(std::string_view message, const TakeMutant& take) {
        nested(wire_fields(message), kBody, graph, take);
    }
};

} // namespace archsim::test
