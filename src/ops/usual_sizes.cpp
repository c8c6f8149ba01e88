#include "core/text.hpp"
#include "ops/passes.hpp"

#include "ops/given_values.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace archsim {

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
    // Of "16*H" what makes the whole as large as is usual.
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
