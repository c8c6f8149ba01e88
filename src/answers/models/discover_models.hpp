#pragma once
// Many models at once. The catalogue, or a folder of model files, goes in; a row for each model comes out,
// with what it takes and whether it can be estimated.

#include "archsim/core/finding.hpp"
#include "archsim/extend/renderer.hpp"
#include "archsim/run/session.hpp"
#include "report/render/answer_document.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

enum class ImportStatus : std::uint8_t {
    ok,         ///< every operator understood, every shape known
    incomplete, ///< imports, but a part is not understood: see the findings
    unreadable  ///< no ONNX file, or damaged
};

struct ListedModel {
    std::string name, title, family, task, source;
    std::vector<std::string> aliases;
    std::string file;               ///< empty for a model made of parts
    std::vector<std::string> parts; ///< models it is made of
    ImportStatus status = ImportStatus::ok;
    double parameters = 0, macs = 0, operations = 0, operators = 0;
    double weight_bytes = 0;                  ///< every constant once, as the file stores it
    double file_bytes = 0;                    ///< on disk; 0 for a model made of parts
    std::map<std::string, std::int64_t> dims; ///< sizes the work belongs to
    std::vector<Finding> findings;
    std::vector<std::string> missing_operators; ///< "Gelu" or "com.example.Op", once each, sorted
};

struct ModelList {
    std::string folder; ///< empty: the catalogue
    std::vector<ListedModel> models;
    std::vector<std::string> verdict = {}; ///< of all of them, where keep_largest() left some out
};

struct DiscoverOptions {
    std::string task, family; ///< only these; empty: all. Catalogue only
    std::string word;         ///< only what has it in a name, the task or the family
    std::int64_t batch = 1;
    unsigned threads = 1;
    /// Called after each model, from any thread.
    std::function<void(std::size_t done, std::size_t total)> progress = {};
};

/// Imports and binds every catalogue entry at its default sizes. Throws UsageError for a task or family that
/// no entry has.
ModelList discover_catalogue(const Session& session, const DiscoverOptions& options);

/// Every *.onnx, *.gguf and config.json file below `folder`, by path. A file that cannot be read becomes an
/// entry that says why. Throws InputError when the folder cannot be read.
ModelList discover_folder(const Session& session, const std::filesystem::path& folder,
                          const DiscoverOptions& options);

/// Keeps the `count` models with the most multiply-accumulates, most first; 0 keeps all as they are.
void keep_largest(ModelList& list, std::size_t count);

// Models for people: the catalogue by task and family, or what a folder of ONNX files holds and whether each
// can be used.

struct ModelListView {
    bool findings = true; ///< list what was found in each file
};

/// CSV: one table.
Report describe(const ModelList& list, const ModelListView& view = {}, Format format = Format::text);
/// {"schema": "archsim.discover_models/1", "models": [...]}; unknown values are null.
AnswerDocument document_of(const ModelList& list, const ModelListView& view = {});

} // namespace archsim
