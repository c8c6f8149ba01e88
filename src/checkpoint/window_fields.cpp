// Sliding windows: how wide, and which layers have them. A list per layer stays a list.

#include "checkpoint/config_parts.hpp"

#include <fmt/format.h>

namespace archsim::checkpoint {

using nlohmann::json;

constexpr std::int64_t kChunkInterval = 4; // no_rope_layer_interval of transformers' Llama4TextConfig

/// Positions of a window as one value states it: none where it is null, false or below one.
static std::int64_t window_of(Fields& f, const char* key, const json& value) {
    if (value.is_null() || (value.is_boolean() && !value.get<bool>()))
        return 0;
    if (!value.is_number() || !(value.get<double>() <= kLargestCount))
        f.refuse(key, "must be a number of positions or null");
    return std::max<std::int64_t>(0, static_cast<std::int64_t>(value.get<double>()));
}

/// The word for a layer in a list of kinds or a letter of a pattern.
static bool is_local(Fields& f, const char* key, const json& item) {
    if (item.is_boolean())
        return item.get<bool>();
    if (item.is_number())
        return item.get<double>() != 0;
    if (item.is_string()) {
        const auto word = item.get<std::string>();
        for (const char* local : {"L", "local", "sliding", "swa", "sliding_attention", "local_attention"})
            if (word == local)
                return true;
        for (const char* global : {"G", "global", "full", "full_attention", "global_attention", "attention"})
            if (word == global)
                return false;
    }
    f.refuse(key, fmt::format("{} is no kind of attention", item.dump()));
}

class WindowReader {
  public:
    WindowReader(Fields& f, const Implied& implied, std::size_t layers)
        : f_(f), implied_(implied), windows_(layers) {}

    std::vector<LayerWindow> read(std::vector<Finding>& findings) {
        const bool on = f_.flag({"use_sliding_window"}, !implied_.window_off);
        read_width(on);
        const bool done = read_types(on, findings) || read_list() || read_chunks() || read_period();
        if (!done)
            for (auto i = static_cast<std::size_t>(first_windowed()); i < windows_.size(); ++i)
                windows_[i].positions = width_of(i);
        f_.skip({"max_window_layers", "no_rope_layers", "no_rope_layer_interval", "sliding_window_pattern",
                 "_sliding_window_pattern", "sliding_window_layout", "hybrid_layer_pattern",
                 "attention_layers", "attention_types", "global_attn_every_n_layers",
                 "interleaved_sliding_window"});
        if (implied_.last_global && !windows_.empty())
            windows_.back() = {};
        return std::move(windows_);
    }

  private:
    void read_width(bool on) {
        for (const char* key : {"sliding_window", "sliding_window_size", "attention_window",
                                "attention_window_size", "window_size"}) {
            const json* stated = f_.find({key});
            if (!stated || width_ > 0 || !widths_.empty())
                continue;
            if (!stated->is_array()) {
                width_ = window_of(f_, key, *stated);
                continue;
            }
            if (stated->size() < windows_.size())
                f_.refuse(key, fmt::format("lists {} layers of {}", stated->size(), windows_.size()));
            for (const json& item : *stated)
                widths_.push_back(window_of(f_, key, item));
        }
        if (const json* chunk = f_.find({"attention_chunk_size"}))
            chunk_ = window_of(f_, "attention_chunk_size", *chunk);
        if (!on) {
            width_ = 0;
            widths_.clear();
        }
    }

    std::int64_t width_of(std::size_t layer) const { return widths_.empty() ? width_ : widths_[layer]; }
    std::int64_t first_windowed() {
        return std::min<std::int64_t>(f_.count({"max_window_layers"}, implied_.first_windowed),
                                      static_cast<std::int64_t>(windows_.size()));
    }

    bool read_types(bool on, std::vector<Finding>& findings) {
        const auto types = f_.texts({"layer_types", "layers_block_type"});
        if (types.empty())
            return false;
        bool nameless = false;
        for (std::size_t i = 0; i < std::min(types.size(), windows_.size()); ++i) {
            const bool local = types[i] == "sliding_attention", chunked = types[i] == "chunked_attention";
            windows_[i] = local     ? LayerWindow{width_of(i)}
                          : chunked ? LayerWindow{chunk_, chunk_ > 0}
                                    : LayerWindow{};
            nameless =
                nameless || (local && on && width_of(i) == 0 && !f_.object().contains("sliding_window"));
        }
        if (nameless)
            findings.push_back(
                found(FindingKind::missing_field, Severity::warning, f_.file(), f_.place("sliding_window"),
                      "layers with a window are listed and no width of it; they are counted without one",
                      "add sliding_window"));
        return true;
    }

    /// One entry per layer; a shorter list repeats.
    bool read_list() {
        if (const json* widths = f_.find({"interleaved_sliding_window"}); widths && widths->is_array())
            return fill("interleaved_sliding_window", *widths, true);
        for (const char* key : {"sliding_window_pattern", "_sliding_window_pattern", "sliding_window_layout",
                                "hybrid_layer_pattern", "attention_layers"})
            if (const json* list = f_.find({key}); list && list->is_array())
                return fill(key, *list, false);
        // GPT-Neo: [[["global", "local"], 12]], each group so many times.
        const json* groups = f_.find({"attention_types"});
        if (!groups || !groups->is_array())
            return false;
        json list = json::array();
        for (const json& group : *groups) {
            if (!group.is_array() || group.size() != 2 || !group[0].is_array() ||
                !group[1].is_number_unsigned() || group[1].get<double>() > static_cast<double>(kMostLayers))
                f_.refuse("attention_types", "must list groups of kinds, and how often each comes");
            for (std::size_t i = 0; i < group[1].get<std::size_t>() && list.size() < windows_.size(); ++i)
                for (const json& kind : group[0])
                    if (list.size() < windows_.size())
                        list.push_back(kind);
        }
        return fill("attention_types", list, false);
    }

    bool fill(const char* key, const json& list, bool widths) {
        if (list.empty())
            return false;
        for (std::size_t i = 0; i < windows_.size(); ++i) {
            const json& item = list[i % list.size()];
            windows_[i].positions = widths                    ? window_of(f_, key, item)
                                    : is_local(f_, key, item) ? width_of(i)
                                                              : 0;
        }
        return true;
    }

    /// Llama 4: chunks where a layer has rotary positions.
    bool read_chunks() {
        if (chunk_ == 0)
            return false;
        const auto rotates = f_.counts({"no_rope_layers"});
        const auto interval =
            static_cast<std::size_t>(f_.count({"no_rope_layer_interval"}, kChunkInterval, 1));
        if (!rotates.empty() && rotates.size() < windows_.size())
            f_.refuse("no_rope_layers",
                      fmt::format("lists {} layers of {}", rotates.size(), windows_.size()));
        for (std::size_t i = 0; i < windows_.size(); ++i)
            if (rotates.empty() ? (i + 1) % interval != 0 : rotates[i] != 0)
                windows_[i] = {chunk_, true};
        return true;
    }

    /// Every n-th layer sees everything: a number, or letters of which the last layer's is G whatever it says
    /// (Exaone4Config).
    bool read_period() {
        auto period = static_cast<std::size_t>(implied_.window_period);
        const json* stated =
            f_.find({"sliding_window_pattern", "_sliding_window_pattern", "global_attn_every_n_layers"});
        if (stated && stated->is_string()) {
            json letters = json::array();
            for (const char letter : stated->get<std::string>())
                letters.push_back(std::string(1, letter));
            const bool filled = fill("sliding_window_pattern", letters, false);
            if (filled && !windows_.empty())
                windows_.back() = {};
            return filled;
        }
        if (stated)
            period = static_cast<std::size_t>(f_.count(
                {"sliding_window_pattern", "_sliding_window_pattern", "global_attn_every_n_layers"}, 0));
        if (period == 0)
            return false;
        for (std::size_t i = 0; i < windows_.size(); ++i)
            windows_[i].positions = (i + 1) % period != 0 ? width_of(i) : 0;
        return true;
    }

    Fields& f_;
    const Implied& implied_;
    std::int64_t width_ = 0, chunk_ = 0;
    std::vector<std::int64_t> widths_; ///< where they differ from layer to layer
    std::vector<LayerWindow> windows_;
};

std::vector<LayerWindow> read_windows(Fields& f, const Implied& implied, std::size_t layers,
                                      std::vector<Finding>& findings) {
    return WindowReader(f, implied, layers).read(findings);
}

} // namespace archsim::checkpoint
