#pragma once
// A study file goes in; a result for every combination of its models, devices, software stacks, batch sizes
// and formats comes out.

#include "archsim/compare/metric.hpp"
#include "archsim/core/finding.hpp"
#include "archsim/extend/renderer.hpp"
#include "archsim/run/session.hpp"
#include "report/render/answer_document.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace archsim {

struct StudyRequest {
    std::string file, title, description;
    std::vector<std::string> models, devices;
    std::vector<std::string> stacks = {std::string()}; ///< empty name: the device's default
    std::vector<std::int64_t> batch_sizes = {1};
    std::vector<std::string> precisions = {
        std::string()};         ///< empty name: the one that is usual for what is asked
    Workload workload = {};     ///< sizes and prompt; its model and batch are each of the above in turn
    Conditions conditions = {}; ///< stack and precision are each of the above in turn
    const MetricTable* metrics = &MetricTable::standard(); ///< what its rows and tables hold
};

/// The cells that rank among each other: one model at one batch size in one format.
struct StudyGroup {
    std::string model, precision; ///< the format asked for, by the name of its request or as it is usual
    std::int64_t batch_size = 1;
    std::vector<Result> results; ///< devices x runtimes, in the order of the request
};

struct Study {
    StudyRequest request;
    std::vector<StudyGroup> groups; ///< models x batch sizes x precisions

    std::size_t cells() const;
    std::size_t cells(Status status) const;
};

/// Every combination. What fails becomes the reason of its own cell and takes no other with it.
/// @code
/// const Session session;
/// StudyRequest request;
/// request.models = {"resnet18"};
/// request.devices = {"A100", "KPU-T64"};
/// request.precisions = {"fp16", "int8"};
/// const Study study = run_study(session, request);
/// assert(study.cells() == 4 && study.cells(Status::ok) == 4);
/// @endcode
Study run_study(const Session& session, StudyRequest request);

/// Reads a study file: JSON or, by its extension (.yaml, .yml), YAML; docs/examples/study_schema.json
/// describes both. Paths of models and devices that exist beside the file are taken from there. Throws
/// InputError with one finding per mistake, each with its JSON pointer, in YAML with its line and column, and
/// the nearest known name: fields, types, formats, and names that the Session does not know.
StudyRequest read_study(const Session& session, const std::filesystem::path& file);

/// A table for each group, best first, after a summary of the winners. CSV: one flat table with a row per
/// cell.
Report describe(const Study& study, PlainView view = {}, Format format = Format::text);
/// {"schema": "archsim.study/1", "request": {...}, "results": [...]} with the rows of compare_models.
AnswerDocument document_of(const Study& study, PlainView view = {});

// YAML -> the JSON document that says the same, with the line and column of each of its values.

/// Where a value begins; both count from one.
struct TextPlace {
    std::size_t line = 1, column = 1;
};

/// A document and the places of its values by JSON pointer; a member of a mapping is at its key.
struct YamlDocument {
    nlohmann::json value;
    std::map<std::string, TextPlace, std::less<>> places;

    /// "line 3, column 5" of the value at a pointer, or of the nearest that is there around it.
    std::string place_of(std::string pointer) const;
};

/// Reads a file that holds one mapping. Plain scalars mean what YAML 1.2 says (its core schema: 8 is a
/// number, true a truth value, ~ nothing, everything else a text; "8" between quotes is a text). Null with a
/// finding (with line and column) when the file cannot be read, is not YAML, holds several documents, a key
/// twice, a key that is no text, more than 64 levels or 100 000 values.
std::optional<YamlDocument> parse_yaml_file(const std::string& file, std::vector<Finding>& findings);

/// True for the names of YAML files: .yaml, .yml.
bool is_yaml_file(const std::string& file);

} // namespace archsim
