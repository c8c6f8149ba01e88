#include "ops/given_values.hpp"

#include "core/parse_number.hpp"
#include "core/text.hpp"
#include "ops/passes.hpp"

#include <cctype>
#include <cmath>
#include <fmt/format.h>

namespace archsim {

static std::pair<std::string, std::string_view> sides(std::string_view text, std::string_view flag) {
    const auto split = split_assignment(text);
    if (!split)
        throw UsageError(fmt::format("{}: \"{}\" is not of the form NAME=VALUE", flag, text));
    return {std::string(split->first), split->second};
}

static std::int64_t whole_number(std::string_view text, std::string_view flag, std::string_view name) {
    const bool digits = !text.empty() && text.find_first_not_of("-0123456789") == std::string_view::npos;
    const auto value = parse_whole(text);
    if (!value && digits)
        throw UsageError(fmt::format("{} {}: {} does not fit 64 bits", flag, name, text));
    if (!value)
        throw UsageError(fmt::format("{} {}: \"{}\" is not a whole number", flag, name, text));
    return *value;
}

void give_dim(Bindings& bindings, std::string_view text, std::string_view flag) {
    const auto [name, value] = sides(text, flag);
    const std::int64_t size = whole_number(value, flag, name);
    if (size < 0)
        throw UsageError(fmt::format("{} {}: {} is negative", flag, name, value));
    bindings.dims[name] = size;
}

void give_input(Bindings& bindings, std::string_view text, std::string_view flag) {
    const auto [name, list] = sides(text, flag);
    std::vector<std::int64_t> values;
    for (const std::string& value : split(list, ','))
        values.push_back(whole_number(value, flag, name));
    bindings.input_values[name] = std::move(values);
}

void give_shape(Bindings& bindings, std::string_view text, std::string_view flag) {
    Bindings shapes; // written like values
    give_input(shapes, text, flag);
    for (auto& [name, shape] : shapes.input_values) {
        if (std::ranges::any_of(shape, [](std::int64_t size) { return size < 0; }))
            throw UsageError(fmt::format("{} {}: a size is negative", flag, name));
        bindings.input_shapes[name] = std::move(shape);
    }
}

std::vector<std::string> sizes_wanted(std::span<const Finding> findings) {
    constexpr std::string_view kExample = "for example ";
    std::vector<std::string> flags;
    for (const Finding& finding : findings) {
        const std::size_t at = finding.hint.find(kExample);
        if (finding.kind != FindingKind::unresolved_dimension || finding.severity != Severity::error ||
            at == std::string::npos)
            continue;
        std::string flag = finding.hint.substr(at + kExample.size());
        if (flag.starts_with("--") && std::ranges::find(flags, flag) == flags.end())
            flags.push_back(std::move(flag));
    }
    return flags;
}

// Recursive descent over +, -, *, /, //, %, brackets and the functions that exporters write. Symbolic shape
// inference (ONNX Runtime's, by SymPy) and torch.export write such names.

constexpr int kMostNesting = 64;
constexpr double kLargest = 9007199254740992.0; // 2^53

enum class Function : std::uint8_t { smallest, largest, floor, ceiling, remainder, quotient };

struct FunctionName {
    std::string_view name;
    Function function;
};
constexpr std::array kFunctions = {
    FunctionName{"min", Function::smallest},     FunctionName{"Min", Function::smallest},
    FunctionName{"max", Function::largest},      FunctionName{"Max", Function::largest},
    FunctionName{"floor", Function::floor},      FunctionName{"ceil", Function::ceiling},
    FunctionName{"ceiling", Function::ceiling},  FunctionName{"Mod", Function::remainder},
    FunctionName{"FloorDiv", Function::quotient}};

static bool is_name_start(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}
static bool is_name(char c) {
    return is_name_start(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.';
}

/// Reads and evaluates at once; without `size_of` every name is worth 1 and only the names are wanted.
class Reader {
  public:
    using Sizes = std::function<std::optional<std::int64_t>(const std::string&)>;

    Reader(std::string_view text, const Sizes* size_of) : text_(text), size_of_(size_of) {}

    /// Whether the whole text is an expression with at least one operation.
    bool read() {
        value_ = sum();
        skip();
        return valid_ && at_ == text_.size() && operations_ > 0;
    }
    std::optional<double> value() const { return known_ ? std::optional(value_) : std::nullopt; }
    std::vector<std::string> take_names() { return std::move(names_); }

  private:
    void skip() {
        while (at_ < text_.size() && text_[at_] == ' ')
            ++at_;
    }
    char next() {
        skip();
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    bool take(std::string_view token) {
        skip();
        if (!text_.substr(at_).starts_with(token))
            return false;
        at_ += token.size();
        return true;
    }
    double fail() {
        valid_ = false;
        at_ = text_.size();
        return 0;
    }
    /// A dash or a slash inside a name ("batch-size", "N/A") is none of arithmetic: it stands between blanks
    /// or beside a number.
    bool operates() const {
        const auto at = [&](std::size_t i) { return i < text_.size() ? text_[i] : ' '; };
        const auto plain = [](char c) { return c == ' ' || c == ')' || c == '('; };
        const char before = at_ > 0 ? text_[at_ - 1] : ' ', after = at(at_ + 1);
        return last_was_number_ || std::isdigit(static_cast<unsigned char>(after)) != 0 || plain(before) ||
               plain(after);
    }

    double sum() {
        double value = product();
        for (;;) {
            if (take("+")) {
                ++operations_;
                value += product();
            } else if (next() == '-' && operates()) {
                ++at_;
                ++operations_;
                value -= product();
            } else {
                return value;
            }
        }
    }

    double product() {
        double value = term();
        for (;;) {
            if (take("*")) {
                if (take("*"))
                    return fail();
                ++operations_;
                value *= term();
            } else if (take("//")) {
                ++operations_;
                value = quotient(value, term());
            } else if (next() == '/' && operates()) {
                ++at_;
                ++operations_;
                value = divided(value, term());
            } else if (take("%")) {
                ++operations_;
                const double divisor = term();
                value = divisor > 0 ? value - divisor * std::floor(value / divisor) : unknown();
            } else {
                return value;
            }
        }
    }

    double unknown() {
        known_ = false;
        return 0;
    }
    double quotient(double a, double b) { return b > 0 ? std::floor(a / b) : unknown(); }
    /// Fractions stay inside floor() and ceiling(); a size is what is left of them downwards.
    double divided(double a, double b) { return b > 0 ? a / b : unknown(); }

    double term() {
        if (++depth_ > kMostNesting)
            return fail();
        const double value = unnested_term();
        --depth_;
        return value;
    }

    double unnested_term() {
        const char c = next();
        last_was_number_ = false;
        if (take("(")) {
            const double value = sum();
            return take(")") ? value : fail();
        }
        if (take("-"))
            return -term();
        if (std::isdigit(static_cast<unsigned char>(c)) != 0)
            return number();
        return is_name_start(c) ? name() : fail();
    }

    double number() {
        std::string_view rest = std::string_view(text_).substr(at_);
        const auto value = take_number<std::int64_t>(rest);
        if (!value)
            return fail();
        at_ = text_.size() - rest.size();
        if (at_ < text_.size() && is_name(text_[at_]))
            return fail(); // "16H", "1st": names
        last_was_number_ = true;
        return static_cast<double>(*value);
    }

    double name() {
        const std::size_t begin = at_;
        while (at_ < text_.size() && is_name(text_[at_]))
            ++at_;
        std::string text(text_.substr(begin, at_ - begin));
        if (at_ < text_.size() && text_[at_] == '(')
            return call(text);
        if (std::ranges::find(names_, text) == names_.end())
            names_.push_back(text);
        if (size_of_ == nullptr)
            return 1;
        const auto size = (*size_of_)(text);
        return size ? static_cast<double>(*size) : unknown();
    }

    double call(const std::string& text) {
        const auto known = std::ranges::find(kFunctions, text, &FunctionName::name);
        if (known == kFunctions.end())
            return fail();
        ++at_;
        ++operations_;
        double value = sum();
        const bool takes_one = known->function == Function::floor || known->function == Function::ceiling;
        for (bool more = false; take(","); more = true) {
            if (takes_one || (more && known->function >= Function::remainder))
                return fail();
            const double other = sum();
            switch (known->function) {
            case Function::smallest:
                value = std::min(value, other);
                break;
            case Function::largest:
                value = std::max(value, other);
                break;
            case Function::remainder:
                value = other > 0 ? value - other * std::floor(value / other) : unknown();
                break;
            default:
                value = quotient(value, other);
            }
        }
        if (!take(")"))
            return fail();
        last_was_number_ = false;
        return known->function == Function::floor     ? std::floor(value)
               : known->function == Function::ceiling ? std::ceil(value)
                                                      : value;
    }

    const std::string_view text_;
    const Sizes* const size_of_;
    std::size_t at_ = 0;
    int depth_ = 0, operations_ = 0;
    bool valid_ = true, known_ = true, last_was_number_ = false;
    double value_ = 0;
    std::vector<std::string> names_;
};

std::vector<std::string> names_in_expression(std::string_view text) {
    Reader reader(text, nullptr);
    return reader.read() ? reader.take_names() : std::vector<std::string>{};
}

std::string leading_name(const std::string& symbol) {
    const std::vector<std::string> names = names_in_expression(symbol);
    if (names.size() == 1)
        return names.front();
    const bool named = std::ranges::find(names, "batch") != names.end();
    return names.empty() ? symbol : named ? "batch" : "";
}

std::optional<std::int64_t>
evaluate_expression(std::string_view text,
                    const std::function<std::optional<std::int64_t>(const std::string&)>& size_of) {
    if (!Reader(text, nullptr)
             .read()) // a name by itself is nobody's to ask for: `size_of` may have come from there
        return std::nullopt;
    Reader reader(text, &size_of);
    reader.read();
    const auto value = reader.value();
    if (!value || !(*value >= 0) || *value > kLargest)
        return std::nullopt;
    return static_cast<std::int64_t>(std::floor(*value));
}

using Sizes = std::vector<std::int64_t>;

// Images of classifiers (224), of detectors (640), and powers of two, which every pyramid halves.
const Sizes kImageSide = {224, 256, 640, 512};
const Sizes kTokens = {128, 64, 512};
const Sizes kSamples = {16000, 512, 1536}; // a second of speech, windows of voice detectors
const Sizes kFrames = {128, 100, 300, 76};
const Sizes kOne = {1};

/// By the word in the name; null where it holds none.
static const Sizes* by_name(const std::string& name) {
    static const Sizes kNothingCached = {0, 1}, kChannels = {3, 1};
    struct Word {
        std::string_view word;
        const Sizes* sizes;
    };
    static const std::array kWords = {
        Word{"batch", &kOne},       Word{"past", &kNothingCached}, Word{"height", &kImageSide},
        Word{"width", &kImageSide}, Word{"channel", &kChannels},   Word{"sample", &kSamples},
        Word{"frame", &kFrames},    Word{"time", &kFrames},        Word{"seq", &kTokens},
        Word{"length", &kTokens},   Word{"token", &kTokens}};
    for (const Word& word : kWords)
        if (lower_case(name).find(word.word) != std::string::npos)
            return word.sizes;
    return nullptr;
}

static bool holds_channels(const Dimension& d) {
    return d.value == 1 || d.value == 3 || d.value == 4;
}

/// By the place among the axes: images have three channels or one, first or last; integers are tokens.
static const Sizes& by_place(const Tensor& tensor, std::size_t axis) {
    static const Sizes kChannels = {3, 1};
    const std::vector<Dimension>& shape = *tensor.shape;
    const std::size_t rank = shape.size();
    if (rank == 1)
        return is_floating(tensor.type) ? kSamples : kOne;
    const bool unbatched_image =
        rank == 3 && (holds_channels(shape.front()) || holds_channels(shape.back())) && shape[1].value < 0;
    if (axis == 0 && !(unbatched_image && holds_channels(shape.back())))
        return kOne;
    if (rank == 4 || unbatched_image) {
        const bool last = holds_channels(shape.back());
        const std::size_t channels = last ? rank - 1 : rank - 3;
        return axis == channels ? kChannels : kImageSide;
    }
    // Layers or directions, batch, width: the state of a recurrence.
    if (rank == 3 && axis == 1 && shape[0].value > 1 && shape[2].value > 0)
        return kOne;
    if (!is_floating(tensor.type) && tensor.type != DataType::uint8)
        return kTokens;
    return rank == 2 ? kSamples : rank == 3 ? kFrames : kOne;
}

std::vector<std::int64_t> usual_sizes(const Tensor& tensor, std::size_t axis, const std::string& symbol,
                                      const std::string& name) {
    // A sequence of numbers is sound, one of integers text.
    const bool sound = is_floating(tensor.type) && tensor.shape->size() <= 2;
    if (const Sizes* sizes = by_name(name))
        return sizes == &kTokens && sound ? kSamples : *sizes;
    Sizes sizes = by_place(tensor, axis);
    if (symbol == name)
        return sizes;
    // In "16*H" the size that makes the whole as large as is usual.
    const auto whole = [&](std::int64_t size) {
        return evaluate_expression(symbol, [&](const std::string& part) {
            return part == name ? std::optional(size) : std::nullopt;
        });
    };
    const auto one = whole(1), two = whole(2);
    for (std::int64_t& size : sizes)
        size = one && two && *two > *one ? std::max<std::int64_t>(1, 1 + (size - *one) / (*two - *one)) : 1;
    return sizes;
}

std::string shell_quoted(const std::string& word) {
    constexpr std::string_view kPlain = "_-./=:,+@%";
    const bool plain = std::ranges::all_of(word, [&](unsigned char c) {
        return std::isalnum(c) != 0 || kPlain.find(static_cast<char>(c)) != std::string_view::npos;
    });
    if (plain)
        return word;
    std::string quoted = "'";
    for (const char c : word)
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

std::string size_hint(const std::string& name, std::int64_t size) {
    return "give it, for example --dim " + shell_quoted(name + "=" + std::to_string(size));
}

} // namespace archsim
