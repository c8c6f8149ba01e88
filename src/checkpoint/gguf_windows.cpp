// Which layers of a GGUF file attend within a window.

#include "checkpoint/fields.hpp"
#include "checkpoint/gguf_file.hpp"
#include "checkpoint/model_types.hpp"

#include <fmt/format.h>

#include <optional>

namespace archsim::checkpoint {

namespace {

/// What llama.cpp sets by name (gguf_windows of hardware_db/model_types.json). A key of the file changes the
/// period, not which of a group sees everything; an architecture that is not listed has no windows there,
/// whatever the file says.
struct WindowedArchitecture {
    std::string name;
    std::size_t period = 1;    ///< one layer of so many sees everything; 1: all do
    bool global_first = false; ///< it is the first of them, not the last
    std::int64_t window = 0;   ///< where the file states none
    bool chunked = false;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(WindowedArchitecture, name, period, global_first, window,
                                                chunked)

std::optional<WindowedArchitecture> windowed(const std::string& architecture) {
    for (const auto& row : model_types().at("gguf_windows").get<std::vector<WindowedArchitecture>>())
        if (architecture == row.name)
            return row;
    return std::nullopt;
}

} // namespace

std::vector<LayerWindow> read_gguf_windows(const GgufHeader& header, const std::string& architecture,
                                           std::size_t layers, const std::string& file,
                                           std::vector<Finding>& findings) {
    const std::optional<WindowedArchitecture> known = windowed(architecture);
    std::vector<LayerWindow> windows(layers);
    const std::string key = architecture + ".attention.sliding_window";
    const auto refuse = [&](std::string why) {
        checkpoint::refuse(file, std::move(why), "convert the model again", key, FindingKind::malformed_file);
    };
    if (const auto list = header.numbers.find(key); list != header.numbers.end() && list->second.size() > 1) {
        if (list->second.size() < layers)
            refuse(fmt::format("lists {} layers of {}", list->second.size(), layers));
        for (std::size_t i = 0; i < layers; ++i)
            if (const double window = list->second[i]; window >= 1 && window <= kLargestCount)
                windows[i] = {static_cast<std::int64_t>(window), known && known->chunked};
        return windows;
    }
    const double stated = header.number(key, known ? static_cast<double>(known->window) : 0);
    if (!(stated >= 1 && stated <= kLargestCount) || (known && known->period == 1))
        return windows;
    const auto pattern = header.numbers.find(key + "_pattern");
    const bool listed = pattern != header.numbers.end() && pattern->second.size() > 1;
    if (listed && pattern->second.size() < layers)
        refuse(fmt::format("lists {} layers of {}", pattern->second.size(), layers));
    if (!listed && pattern == header.numbers.end() && !known) {
        findings.push_back(
            found(FindingKind::missing_field, Severity::warning, file, key,
                  fmt::format("states a window of {} and not which layers have it; all layers see all "
                              "positions, as llama.cpp runs {}",
                              stated, architecture)));
        return windows;
    }
    const double period = listed                            ? 0
                          : pattern != header.numbers.end() ? header.number(key + "_pattern", 0)
                                                            : static_cast<double>(known->period);
    if (!(period >= 0 && period <= kLargestCount))
        refuse(fmt::format("states a period of {}", period));
    const auto group = static_cast<std::size_t>(period),
               global = known && known->global_first ? 0 : group - 1;
    for (std::size_t i = 0; i < layers; ++i)
        if (listed ? pattern->second[i] != 0 : group == 0 || i % group != global)
            windows[i] = {static_cast<std::int64_t>(stated), known && known->chunked};
    return windows;
}

} // namespace archsim::checkpoint
