#pragma once
// Published measurements as files: CSV with one cited value per row.

#include "archsim/compare/measured_row.hpp"
#include "archsim/core/finding.hpp"
#include "archsim/hardware/runtime.hpp"
#include "core/csv_reader.hpp"
#include "fit/errors/validation.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace archsim {

class NamedTable {
  public:
    /// Throws InputError for a file without a line.
    explicit NamedTable(const std::string& file);
    std::size_t rows() const { return records_.size() - 1; }
    const std::vector<std::string>& head() const { return records_[0].fields; }
    std::string where(std::size_t row) const;
    bool has(std::string_view column) const;
    /// Throws InputError for a column that the table lacks.
    const std::string& text(std::size_t row, std::string_view column) const;
    /// Empty where the row is shorter.
    const std::string& cell(std::size_t row, std::size_t column) const;
    /// Throws InputError for what is no number above 0.
    double number(std::size_t row, std::string_view column) const;

  private:
    std::string file_;
    std::vector<CsvRecord> records_;
};

/// Rows of a file, and what is wrong with it.
struct MeasuredTable {
    std::vector<MeasuredRow> rows;
    std::vector<Finding> findings; ///< rows that cannot be used, with line and column name
};

/// Reads a CSV file (RFC 4180) with the columns of tests/measured/calibration.csv in any order; further
/// columns are reported. Throws InputError when the file cannot be read or lacks a required column.
MeasuredTable read_measurements(const std::filesystem::path& file);
/// Several files, or folders of files, as one table; of a folder those whose first line has the columns.
MeasuredTable read_measurements(const std::vector<std::string>& files);
/// The same from text; `name` stands for the file in findings.
MeasuredTable parse_measurements(std::string_view text, std::string_view name);

// Files of measurements without columns for how a row was taken say it in notes, in words that were agreed
// on. This is the only place that reads a note.

/// Fills context, transfers, sampled and decided_by from the note of a row of such a file, and the boundary
/// where `boundary` says that the row names none. Worked: "cache length 2048" is a context of 2048.
void fill_from_note(MeasuredRow& row, bool boundary);

/// The format of a published run's keys and values, of which no row speaks; absent: what its stack does.
/// Whoever publishes servers of narrow floats starts them with a cache in fp8, too, where the stack
/// multiplies such floats. InferenceX, benchmarks/: vLLM and TensorRT-LLM in
/// 70b_fp8_{h100,h200,b200,mi300x}*, 70b_fp4_b200*, dsr1_fp8_{h200,b200}_trt and gptoss_fp4_b200
/// (kv-cache-dtype and kv_cache_config dtype fp8), SGLang in dsr1_{fp8,fp4}_b200 and glm5_fp8_b200
/// (fp8_e4m3). Scripts that say nothing or "auto" have rows in hardware_db/server_benchmarks.json (kv_cache).
std::optional<Precision> published_cache(const Runtime& runtime, const PrecisionConfig& precision);

/// Decides the prediction of a row: everything but what was measured and where that is written.
inline auto row_key(const MeasuredRow& row) {
    return std::tuple(row.model, row.image_size, row.steps, row.sequence, row.batch, row.precision,
                      row.hardware, row.power_mode, row.devices, row.runtime, row.scope, row.metric,
                      row.source_date, row.variant, row.context, row.transfers, row.sampled, row.client,
                      row.phase, row.prompt_tokens, row.generated_tokens, row.boundary, row.replicas,
                      row.expert_devices, row.attention_groups);
}
using RowKey = decltype(row_key(std::declval<const MeasuredRow&>()));

} // namespace archsim
