#pragma once
// Looks at many models at once: the catalogue, or every model file below a folder.

#include "archsim/core/export.hpp"
#include "archsim/report/model_list.hpp"
#include "archsim/run/session.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

namespace archsim {

/// Where to look.
struct DiscoverOptions {
    std::string task, family; ///< only these; empty: all. Catalogue only
    std::int64_t batch = 1;
    unsigned threads = 1;
    /// Called after each model, from any thread.
    std::function<void(std::size_t done, std::size_t total)> progress = {};
};

/// Imports and binds every catalogue entry at its default sizes. Throws UsageError for a task or family that
/// no entry has.
ARCHSIM_API ModelList discover_catalogue(const Session& session, const DiscoverOptions& options);

/// Every *.onnx, *.gguf and config.json file below `folder`, by path. A file that cannot be read becomes an
/// entry that says why. Throws InputError when the folder cannot be read.
ARCHSIM_API ModelList discover_folder(const Session& session, const std::filesystem::path& folder,
                                      const DiscoverOptions& options);

/// Keeps the `count` models with the most multiply-accumulates, most first; 0 keeps all as they are.
ARCHSIM_API void keep_largest(ModelList& list, std::size_t count);

} // namespace archsim
