#pragma once
// Caches of windowed layers as serving engines keep them, for graphs whose file keeps every position.

#include "archsim/graph/graph.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// The graph with the caches of its windowed attention cut to their windows, as engines keep them (vLLM's
/// hybrid KV cache manager, llama.cpp's cache of sliding-window layers); null where every window is cut
/// already or there is none. A layer stays as it is where something else reads what its cache holds.
std::shared_ptr<const Graph> with_kept_windows(const Graph& graph);

/// The positions that a size of a cache stands for, and how many of them it keeps: "min(past, 1024)" is past
/// and 1024; a plain name is itself and 0.
struct CacheLength {
    std::string positions;
    std::int64_t window = 0;
};
CacheLength parse_cache_length(std::string_view symbol);

} // namespace archsim
