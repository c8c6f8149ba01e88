#include "hardware/held_rows.hpp"

#include "core/embedded_files.hpp"
#include "hardware/json_reader.hpp"

#include <fmt/format.h>

namespace archsim {

/// Fewer rows refute nothing: 2 of 3 outside happen by chance once in 36 times.
constexpr int kLeastRows = 4;
constexpr double kLeastInside = 0.6;

static bool held_of_stack(const HeldSet& set, const Runtime& runtime) {
    return set.runtime == runtime.id || (!runtime.base.empty() && set.runtime == runtime.base);
}

/// The chip itself, or one of its generation.
static bool is_near(const HeldSet& set, const Device& device) {
    return set.device == device.id || (set.family == name_of(device.family) && set.vendor == device.vendor &&
                                       !device.generation.empty() && set.generation == device.generation);
}

/// A step of a language model tells of its prompts and of servers, and the other way round.
static bool times_alike(TimeKind a, TimeKind b) {
    return (a == TimeKind::inference) == (b == TimeKind::inference);
}

static HeldSet read_held_set(ObjectReader& entry) {
    constexpr Bounds kCount{0, 1e7}, kRatio{1e-6, 1e6};
    return {.family = entry.text("family", Need::required),
            .vendor = entry.text("vendor"),
            .generation = entry.text("generation"),
            .device = entry.text("device", Need::required),
            .runtime = entry.text("runtime", Need::required),
            .kind = entry.choice<NetworkKind>("kind", Need::required),
            .time = entry.choice<TimeKind>("time", Need::required),
            .rows = static_cast<int>(entry.number("rows", kCount, Need::required)),
            .inside = static_cast<int>(entry.number("inside", kCount, Need::required)),
            .low = entry.number("low", kRatio, Need::required),
            .median = entry.number("median", kRatio, Need::required),
            .high = entry.number("high", kRatio, Need::required),
            .example = entry.text("example", Need::required)};
}

TimeKind time_kind(SpreadOf metric) {
    switch (metric) {
    case SpreadOf::prefill:
        return TimeKind::prefill;
    case SpreadOf::decode:
        return TimeKind::decode;
    default:
        return of_waits(metric) ? TimeKind::served : TimeKind::inference;
    }
}

std::array<std::string_view, 2> words_of(NetworkKind kind) {
    constexpr std::array<std::array<std::string_view, 2>, kNetworkKinds> kWords = {
        {{"convolutional classifier", "convolutional classifiers"},
         {"detector or segmentation network", "detectors and segmentation networks"},
         {"transformer", "transformers"},
         {"mixture of experts", "mixtures of experts"},
         {"recurrent network", "recurrent networks"},
         {"network of matrix products", "networks of matrix products"}}};
    return kWords[static_cast<std::size_t>(kind)];
}

HeldEvidence HeldRows::of(const Device& device, const Runtime& runtime, TimeKind time,
                          NetworkKind kind) const {
    HeldEvidence found;
    bool others = false, elsewhere = false, itself = false;
    const HeldSet* own = nullptr;
    for (const HeldSet& set : sets) {
        if (!held_of_stack(set, runtime) || !times_alike(set.time, time))
            continue;
        const bool close = is_near(set, device);
        others = others || close;
        if (set.kind != kind)
            continue;
        elsewhere = elsewhere || set.family == name_of(device.family);
        itself = itself || set.device == device.id;
        found.projected = found.projected && !close;
        if (set.device == device.id && set.time == time && (own == nullptr || set.runtime == runtime.id))
            own = &set;
    }
    if (found.projected && others) {
        found.unlike = fmt::format("no {} was measured", words_of(kind)[0]);
        found.projected = !elsewhere;
        found.variance = kind_variance;
    }
    found.related = !found.projected && !itself;
    if (own != nullptr && own->rows >= kLeastRows && own->inside < kLeastInside * own->rows) {
        found.refuted = fmt::format("{} such as {} took {:.2g} to {:.2g} times as long as estimated here",
                                    words_of(kind)[1], own->example, own->low, own->high);
        found.refuted_rows =
            fmt::format("{} of {} outside of their intervals", own->rows - own->inside, own->rows);
    }
    return found;
}

bool HeldRows::measured(const Device& device, const Runtime& runtime, TimeKind time) const {
    return std::ranges::any_of(sets, [&](const HeldSet& set) {
        return held_of_stack(set, runtime) && times_alike(set.time, time) && is_near(set, device);
    });
}

bool HeldRows::same_vendor(const Device& device, const Runtime& runtime) const {
    return std::ranges::any_of(sets, [&](const HeldSet& set) {
        return held_of_stack(set, runtime) && set.vendor == device.vendor &&
               set.family == name_of(device.family);
    });
}

HeldRows read_held_rows(const std::filesystem::path& file) {
    HeldRows held;
    if (!is_text_file(file))
        return held;
    read_table(file, [&](ObjectReader& reader) {
        const double deviation = reader.number("kind_deviation", {0, 10}, Need::required);
        held.kind_variance = deviation * deviation;
        reader.each("sets", [&](ObjectReader& entry) { held.sets.push_back(read_held_set(entry)); });
    }).require_sound();
    return held;
}

} // namespace archsim
