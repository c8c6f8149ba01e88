#include "import/annotate.hpp"

#include "import/field_reader.hpp"

#include <protozero/exception.hpp>
#include <protozero/pbf_writer.hpp>
#include <set>

namespace archsim {

using import::ByteSource;
using import::delimited;
using import::FieldReader;
using import::fixed32;
using import::fixed64;
using import::Range;
using import::varint;
using protozero::pbf_writer;

constexpr std::uint64_t kNodeMetadata = 10; ///< first IR version whose nodes have metadata_props
constexpr std::uint64_t kSmallPayload = 16u * kMaxConstantElements; ///< bytes; more decides no shape

/// An initializer, as far as an input that stands for it needs it.
struct InitializerFacts {
    std::string name;
    ValueShape shape;
    bool large = false;
};

class Annotator {
  public:
    Annotator(ByteSource& source, const Annotations& annotations)
        : source_(source), notes_(annotations.notes), outputs_(annotations.outputs) {}

    std::string model() {
        std::string out;
        pbf_writer writer(out);
        std::uint64_t version = kNodeMetadata;
        for (FieldReader field(source_, {0, source_.size()}); field.next();)
            if (field.key() == varint(1))
                version = std::max(version, field.value());
        writer.add_int64(1, static_cast<std::int64_t>(version));
        bool graph = false;
        for (FieldReader field(source_, {0, source_.size()}); field.next();) {
            if (field.key() == varint(1))
                continue;
            if (field.key() == delimited(7)) {
                graph = true;
                writer.add_message(7, this->graph(field.content()));
            } else {
                copy(field, writer);
            }
        }
        if (!graph)
            throw import::WireError("it has no graph");
        return out;
    }

  private:
    std::string bytes(Range range) {
        std::string text(static_cast<std::size_t>(range.size()), '\0');
        constexpr std::uint64_t kPiece = 1u << 16;
        for (std::uint64_t at = 0; at < range.size(); at += kPiece) {
            const auto count = static_cast<std::size_t>(std::min(kPiece, range.size() - at));
            const auto view = source_.view(range.begin + at, count);
            std::memcpy(text.data() + at, view.data(), count);
        }
        return text;
    }

    void copy(const FieldReader& field, pbf_writer& writer) {
        const std::uint32_t tag = field.key() >> 3U;
        if (field.key() == varint(tag)) {
            writer.add_uint64(tag, field.value());
        } else if (field.key() == delimited(tag)) {
            writer.add_bytes(tag, bytes(field.content()));
        } else {
            const std::string raw = bytes(field.content());
            if (field.key() == fixed32(tag)) {
                std::uint32_t value = 0;
                std::memcpy(&value, raw.data(), std::min(raw.size(), sizeof value));
                writer.add_fixed32(tag, value);
            } else if (field.key() == fixed64(tag)) {
                std::uint64_t value = 0;
                std::memcpy(&value, raw.data(), std::min(raw.size(), sizeof value));
                writer.add_fixed64(tag, value);
            }
        }
    }

    std::string graph(Range message) {
        std::set<std::string> inputs;
        for (FieldReader field(source_, message); field.next();)
            if (field.key() == delimited(11))
                inputs.insert(name_of_value(field.content()));
        std::string out;
        pbf_writer writer(out);
        for (FieldReader field(source_, message); field.next();)
            switch (field.key()) {
            case delimited(1):
                writer.add_message(1, node(field.content()));
                break;
            case delimited(5):
                if (const InitializerFacts tensor = initializer(field.content()); !tensor.large)
                    copy(field, writer);
                else if (inputs.insert(tensor.name).second)
                    writer.add_message(11, value_info(tensor.name, tensor.shape));
                break;
            case delimited(12): {
                const auto known = outputs_.find(name_of_value(field.content()));
                if (known == outputs_.end() || has_shape(field.content()))
                    copy(field, writer);
                else
                    writer.add_message(12, value_info(known->first, known->second));
                break;
            }
            default:
                copy(field, writer);
            }
        return out;
    }

    /// Whether a ValueInfoProto has one: its TypeProto states a shape, or is that of no tensor.
    bool has_shape(Range message) {
        for (FieldReader field(source_, message); field.next();) {
            if (field.key() != delimited(2))
                continue;
            for (FieldReader kind(source_, field.content()); kind.next();) {
                if (kind.key() != delimited(1))
                    return true;
                for (FieldReader tensor(source_, kind.content()); tensor.next();)
                    if (tensor.key() == delimited(2))
                        return true;
            }
        }
        return false;
    }

    std::string name_of_value(Range message) {
        for (FieldReader field(source_, message); field.next();)
            if (field.key() == delimited(1))
                return bytes(field.content());
        return {};
    }

    std::string node(Range message) {
        std::string text = bytes(message);
        std::string first;
        for (FieldReader field(source_, message); field.next();)
            if (field.key() == delimited(2)) {
                first = bytes(field.content());
                break;
            }
        if (const auto found = notes_.find(first); found != notes_.end()) {
            pbf_writer writer(text); // fields may come in any order
            for (const auto& [key, value] : found->second) {
                std::string entry;
                pbf_writer pair(entry);
                pair.add_string(1, key);
                pair.add_string(2, value);
                writer.add_message(9, entry);
            }
        }
        return text;
    }

    InitializerFacts initializer(Range message) {
        InitializerFacts facts;
        std::uint64_t payload = 0;
        for (FieldReader field(source_, message); field.next();)
            switch (field.key()) {
            case varint(1):
                facts.shape.shape.push_back(static_cast<std::int64_t>(field.value()));
                break;
            case delimited(1): {
                FieldReader list(source_, field.content());
                while (const auto dim = list.next_varint())
                    facts.shape.shape.push_back(static_cast<std::int64_t>(*dim));
                break;
            }
            case varint(2):
                facts.shape.type = static_cast<DataType>(field.value());
                break;
            case delimited(8):
                facts.name = bytes(field.content());
                break;
            case varint(14):
                facts.large = facts.large || field.value() != 0; // in a side file
                break;
            default:
                payload += field.size();
            }
        const bool nowhere =
            payload == 0 && std::ranges::find(facts.shape.shape, 0) == facts.shape.shape.end();
        facts.large = facts.large || nowhere || payload > kSmallPayload;
        return facts;
    }

    static std::string value_info(const std::string& name, const ValueShape& value) {
        std::string shape, type, kind, info;
        pbf_writer axes(shape);
        for (const std::int64_t dim : value.shape) {
            std::string axis;
            pbf_writer(axis).add_int64(1, dim);
            axes.add_message(1, axis);
        }
        pbf_writer tensor(type);
        tensor.add_int32(1, static_cast<std::int32_t>(value.type));
        tensor.add_message(2, shape);
        pbf_writer(kind).add_message(1, type);
        pbf_writer writer(info);
        writer.add_string(1, name);
        writer.add_message(2, kind);
        return info;
    }

    ByteSource& source_;
    const std::map<std::string, NodeNotes, std::less<>>& notes_;
    const std::map<std::string, ValueShape, std::less<>>& outputs_;
};

std::string annotated_onnx(const std::filesystem::path& file, const Annotations& annotations) {
    ByteSource source(file);
    const auto damaged = [&](const std::string& why) {
        return InputError(Finding{.kind = FindingKind::malformed_file,
                                  .message = "is not an ONNX model: " + why,
                                  .file = file.string(),
                                  .hint = "give a complete binary .onnx file"});
    };
    try {
        return Annotator(source, annotations).model();
    } catch (const import::WireError& error) {
        throw damaged(error.what());
    } catch (const protozero::exception&) {
        throw damaged("a field cannot be decoded");
    }
}

} // namespace archsim
