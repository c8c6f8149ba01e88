#pragma once
// Models for people: the catalogue by task and family, or what a folder of ONNX files holds and whether each
// can be used.

#include "archsim/core/export.hpp"
#include "archsim/core/finding.hpp"
#include "archsim/report/report.hpp"

#include <cstdint>
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
ARCHSIM_API std::string_view name_of(ImportStatus status);

/// One model of a list.
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

/// Models of the catalogue or of a folder.
struct ModelList {
    std::string folder; ///< empty: the catalogue
    std::vector<ListedModel> models;
};

/// What of it is shown.
struct ModelListView {
    bool findings = true;    ///< list what was found in each file
    bool table_only = false; ///< one table, for spreadsheets
};

ARCHSIM_API Report describe(const ModelList& list, const ModelListView& view);
/// {"schema": "archsim.discover_models/1", "models": [...]}; unknown values are null.
ARCHSIM_API std::string to_json(const ModelList& list);

} // namespace archsim
