#include "checkpoint/gguf_windows.hpp"

#include "checkpoint/fields.hpp"

#include <fmt/format.h>

#include <array>

namespace archsim::checkpoint {

namespace {

struct WindowedArchitecture {
    const char* name;
    std::size_t period;        ///< one layer of so many sees everything; 1: all do
    bool global_first = false; ///< it is the first of them, not the last
    std::int64_t window = 0;   ///< where the file states none
    bool chunked = false;
};

// What llama.cpp sets by name (set_swa_pattern in llama_model_*::load_arch_hparams, src/models/NAME.cpp;
// earlier src/llama-model.cpp). A key of the file changes the period, not which of a group sees everything.
// phi3: "SWA is currently disabled"; an architecture that is not listed has no windows there, whatever the
// file says.
constexpr std::array kWindowed = {
    WindowedArchitecture{"afmoe", 4},
    WindowedArchitecture{"cohere2", 4},
    WindowedArchitecture{"exaone-moe", 4},
    WindowedArchitecture{"exaone4", 4},
    WindowedArchitecture{"gemma2", 2, false, 4096},
    WindowedArchitecture{"gemma3", 6},
    WindowedArchitecture{"gemma3n", 5},
    WindowedArchitecture{"gemma4", 6},
    WindowedArchitecture{"gpt-oss", 2},
    WindowedArchitecture{"laguna", 4, true},
    WindowedArchitecture{"llama4", 4, false, 8192, true},
    WindowedArchitecture{"olmo2", 4},
    WindowedArchitecture{"phi3", 1},
    WindowedArchitecture{"plamo3", 8},
    WindowedArchitecture{"smallthinker", 4, true},
};

} // namespace

std::vector<LayerWindow> read_gguf_windows(const GgufHeader& header, const std::string& architecture,
                                           std::size_t layers, const std::string& file,
                                           std::vector<Finding>& findings) {
    const WindowedArchitecture* known = nullptr;
    for (const WindowedArchitecture& row : kWindowed)
        if (architecture == row.name)
            known = &row;
    std::vector<LayerWindow> windows(layers);
    const std::string key = architecture + ".attention.sliding_window";
    const auto refuse = [&](const std::string& why) {
        Finding finding;
        finding.file = file;
        finding.where = key;
        finding.message = why;
        finding.hint = "convert the model again";
        throw InputError(finding);
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
        Finding finding;
        finding.kind = FindingKind::missing_field;
        finding.severity = Severity::warning;
        finding.file = file;
        finding.where = key;
        finding.message =
            fmt::format("states a window of {} and not which layers have it; all layers see all "
                        "positions, as llama.cpp runs {}",
                        stated, architecture);
        findings.push_back(std::move(finding));
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
