#include "checkpoint/gguf_file.hpp"

#include "checkpoint/fields.hpp"
#include "checkpoint/model_types.hpp"
#include "core/input_file.hpp"

#include <cstring>
#include <fmt/format.h>

namespace archsim::checkpoint {

constexpr double kByte = 8;

static const std::vector<GgmlType>& types() {
    static const auto rows = [] {
        std::vector<GgmlType> read;
        for (const nlohmann::json& row : model_types().at("ggml_types"))
            read.push_back({row[0], row[1], row[2], row[3].get_ref<const std::string&>()});
        return read;
    }();
    return rows;
}

const GgmlType* ggml_type(std::uint32_t id) {
    const auto found = std::ranges::find(types(), id, &GgmlType::id);
    return found == types().end() ? nullptr : &*found;
}

static double bits_of_block(const GgmlType* row) {
    return row ? kByte * row->bytes / row->weights : 0;
}

double ggml_bits(std::uint32_t type) {
    return bits_of_block(ggml_type(type));
}

double ggml_bits(std::string_view name) {
    const auto found = std::ranges::find(types(), name, &GgmlType::name);
    return bits_of_block(found == types().end() ? nullptr : &*found);
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

// Types of metadata values (ggml/docs/gguf.md).
enum class Value : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, text, array, u64, i64, f64 };

// More than any model has; they keep a damaged file from asking for memory.
constexpr std::uint64_t kMostEntries = 1'000'000, kLongestText = 16u << 20, kMostItems = 16u << 20;
constexpr std::uint32_t kMostAxes = 8;
constexpr std::uint64_t kLargestAxis = 1ull << 40;

class HeaderReader {
  public:
    explicit HeaderReader(const std::filesystem::path& file) : file_(file.string()), in_(file) {}

    GgufHeader read() {
        constexpr std::string_view kMagic = "GGUF";
        std::array<char, kMagic.size()> magic{};
        if (!take(magic.data(), magic.size()) || std::string_view(magic.data(), magic.size()) != kMagic)
            refuse("does not begin with GGUF");
        constexpr std::uint32_t kBigEndian2 = 2u << 24, kBigEndian3 = 3u << 24;
        const auto version = get<std::uint32_t>();
        if (version == kBigEndian2 || version == kBigEndian3)
            refuse("is a big-endian file, made for machines such as s390x",
                   "take the little-endian one, or turn it with gguf-py's gguf_convert_endian");
        if (version < 2 || version > 3)
            refuse(fmt::format("is of version {}; versions 2 and 3 are read", version));
        const auto tensors = get<std::uint64_t>(), entries = get<std::uint64_t>();
        if (tensors > kMostEntries || entries > kMostEntries)
            refuse("states more entries than any model has");
        GgufHeader header;
        for (std::uint64_t i = 0; i < entries; ++i)
            read_entry(header);
        for (std::uint64_t i = 0; i < tensors; ++i)
            read_tensor(header);
        return header;
    }

  private:
    [[noreturn]] void refuse(const std::string& why, const char* hint = "download the file again") const {
        checkpoint::refuse(file_, why, hint, {}, FindingKind::malformed_file);
    }

    template <class T>
    T get() {
        T value{};
        if (!take(&value, sizeof value))
            refuse("ends inside its header");
        return value;
    }

    std::string get_text() {
        const auto length = get<std::uint64_t>();
        if (length > kLongestText || length > in_.size())
            refuse("states a text longer than the file");
        std::string text(static_cast<std::size_t>(length), '\0');
        if (!take(text.data(), text.size()))
            refuse("ends inside its header");
        return text;
    }

    double get_number(Value type) {
        switch (type) {
        case Value::u8:
        case Value::boolean:
            return get<std::uint8_t>();
        case Value::i8:
            return get<std::int8_t>();
        case Value::u16:
            return get<std::uint16_t>();
        case Value::i16:
            return get<std::int16_t>();
        case Value::u32:
            return get<std::uint32_t>();
        case Value::i32:
            return get<std::int32_t>();
        case Value::f32:
            return static_cast<double>(get<float>());
        case Value::u64:
            return static_cast<double>(get<std::uint64_t>());
        case Value::i64:
            return static_cast<double>(get<std::int64_t>());
        case Value::f64:
            return get<double>();
        default:
            refuse(fmt::format("has a value of type {}, which the format does not define",
                               static_cast<std::uint32_t>(type)));
        }
    }

    void skip_text() {
        const auto length = get<std::uint64_t>();
        if (length > in_.size())
            refuse("states a text longer than the file");
        at_ += length;
    }

    void read_entry(GgufHeader& header) {
        const std::string key = get_text();
        const auto type = static_cast<Value>(get<std::uint32_t>());
        if (type == Value::text) {
            header.texts[key] = get_text();
            return;
        }
        if (type != Value::array) {
            header.numbers[key] = {get_number(type)};
            return;
        }
        const auto items = static_cast<Value>(get<std::uint32_t>());
        const auto count = get<std::uint64_t>();
        if (count > kMostItems || items == Value::array)
            refuse(fmt::format("has the list \"{}\" of {} items, which cannot be", key, count));
        const bool wanted = !key.starts_with("tokenizer."); // vocabularies are long and decide nothing here
        std::vector<double> numbers;
        for (std::uint64_t i = 0; i < count; ++i)
            if (items == Value::text)
                skip_text();
            else if (const double number = get_number(items); wanted)
                numbers.push_back(number);
        if (items == Value::text)
            numbers = {static_cast<double>(count)};
        if (wanted || items == Value::text)
            header.numbers[key] = std::move(numbers);
    }

    void read_tensor(GgufHeader& header) {
        GgufTensor& tensor = header.tensors[get_text()];
        const auto axes = get<std::uint32_t>();
        if (axes > kMostAxes)
            refuse(fmt::format("has a tensor of {} axes", axes));
        for (std::uint32_t i = 0; i < axes; ++i) {
            const auto size = get<std::uint64_t>();
            if (size > kLargestAxis)
                refuse("has a tensor larger than any memory");
            tensor.shape.push_back(static_cast<std::int64_t>(size));
        }
        tensor.type = get<std::uint32_t>();
        get<std::uint64_t>(); // offset of the payload
    }

    /// The next bytes, through a window: values are small. False at the end of the file.
    bool take(void* to, std::size_t count) {
        constexpr std::size_t kWindow = std::size_t{64} << 10;
        if (at_ < begin_ || at_ + count > begin_ + window_.size()) {
            begin_ = at_;
            window_.resize(std::max(count, kWindow));
            window_.resize(in_.read_at(at_, window_.data(), window_.size()));
            if (window_.size() < count)
                return false;
        }
        std::memcpy(to, window_.data() + (at_ - begin_), count);
        at_ += count;
        return true;
    }

    std::string file_;
    InputFile in_;
    std::uint64_t at_ = 0, begin_ = 0; ///< the next byte; the first one of the window
    std::vector<char> window_;
};

// Keys and names: llama_split_path and llama_split_prefix of llama.cpp (src/llama.cpp).
constexpr const char *kCount = "split.count", *kNumber = "split.no", *kTensors = "split.tensors.count";
// The key is of 16 bits.
constexpr double kMostParts = 65535;

[[noreturn]] static void refuse_part(const std::filesystem::path& file, std::string what, std::string hint) {
    refuse(file.string(), std::move(what), std::move(hint), {}, FindingKind::malformed_file);
}

static std::string ending(std::size_t part, std::size_t parts) {
    return fmt::format("-{:05}-of-{:05}", part + 1, parts);
}

GgufHeader read_gguf_header(const std::filesystem::path& file) {
    return HeaderReader(file).read();
}

GgufHeader read_gguf_parts(const std::filesystem::path& file) {
    GgufHeader given = read_gguf_header(file);
    const double stated = given.number(kCount, 1), number = given.number(kNumber, 0);
    if (!(stated > 1))
        return given;
    if (stated > kMostParts || !(number >= 0 && number < stated))
        refuse_part(file, fmt::format("states part {} of {}", number + 1, stated), "download the file again");
    const auto parts = static_cast<std::size_t>(stated), own = static_cast<std::size_t>(number);
    const std::string stem = file.stem().string(), wanted = ending(own, parts);
    if (!stem.ends_with(wanted))
        refuse_part(file, fmt::format("is part {} of {}; the others are looked for by name", own + 1, parts),
                    fmt::format("name the parts NAME{}.gguf to NAME{}.gguf, in one folder", ending(0, parts),
                                ending(parts - 1, parts)));
    const std::string prefix = stem.substr(0, stem.size() - wanted.size());
    GgufHeader all;
    for (std::size_t part = 0; part < parts; ++part) {
        const auto path = file.parent_path() / (prefix + ending(part, parts) + ".gguf");
        std::error_code ignored;
        if (part != own && !std::filesystem::exists(path, ignored))
            refuse_part(
                file,
                fmt::format("is part {} of {}, and {} is missing", own + 1, parts, path.filename().string()),
                "put all parts into one folder");
        GgufHeader header = part == own ? std::move(given) : read_gguf_header(path);
        if (header.number(kCount, 1) != stated || header.number(kNumber, 0) != static_cast<double>(part))
            refuse_part(path, fmt::format("is not part {} of {}, as its name says", part + 1, parts),
                        "download the file again");
        // The first part describes the model; later ones may repeat some of it.
        all.numbers.merge(header.numbers);
        all.texts.merge(header.texts);
        all.tensors.merge(header.tensors);
    }
    if (const double tensors = all.number(kTensors, 0);
        tensors > 0 && static_cast<double>(all.tensors.size()) != tensors)
        refuse_part(file,
                    fmt::format("belongs to {} parts with {} tensors, {} are stated", parts,
                                all.tensors.size(), tensors),
                    "take all parts from the same place");
    return all;
}

} // namespace archsim::checkpoint
