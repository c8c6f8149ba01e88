// llama.cpp's llama-bench with -o csv, json or jsonl (tools/llama-bench/README.md): one record per test with
// model_filename, model_type ("llama 7B Q4_0"), n_prompt, n_gen, n_threads, gpu_info, cpu_info and avg_ts,
// tokens per second. A test with n_prompt alone is a prefill, one with n_gen alone a decoding.

#include "measurements/readers.hpp"

#include "core/csv_reader.hpp"
#include "core/json_document.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace archsim::tool_output {

using Record = std::map<std::string, std::string, std::less<>>;

static std::string text_of(const nlohmann::json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

static Record record_of(const nlohmann::json& object) {
    Record record;
    for (const auto& [key, value] : object.items())
        record[key] = text_of(value);
    return record;
}

static std::vector<Record> records_of(std::string_view text) {
    std::vector<Record> records;
    const auto first = text.find_first_not_of(" \t\r\n");
    if (text.substr(first).starts_with('[')) {
        const auto list = nlohmann::json::parse(bounded_json(text, "llama-bench"), nullptr, false);
        if (list.is_array())
            for (const auto& object : list)
                if (object.is_object())
                    records.push_back(record_of(object));
    } else if (text.substr(first).starts_with('{')) {
        each_line(text, [&](std::string_view line) {
            if (const auto object = nlohmann::json::parse(bounded_json(line, "llama-bench"), nullptr, false);
                object.is_object())
                records.push_back(record_of(object));
        });
    } else {
        const std::vector<CsvRecord> lines = parse_csv(text);
        for (std::size_t i = 1; i < lines.size(); ++i) {
            Record record;
            for (std::size_t c = 0; c < std::min(lines[0].fields.size(), lines[i].fields.size()); ++c)
                record[lines[0].fields[c]] = lines[i].fields[c];
            records.push_back(std::move(record));
        }
    }
    return records;
}

/// Format of the weights in a name such as "llama 7B Q4_K - Medium".
static std::string weight_format_of(std::string_view type) {
    for (const auto& [word, name] :
         {std::pair{"Q4", "int4"}, std::pair{"IQ4", "int4"}, std::pair{"Q8", "int8"},
          std::pair{"MXFP4", "fp4"}, std::pair{"BF16", "bf16"}, std::pair{"F16", "fp16"},
          std::pair{"F32", "fp32"}})
        if (type.find(word) != std::string_view::npos)
            return name;
    return "";
}

bool is_llama_bench(std::string_view text) {
    return text.find("avg_ts") != std::string_view::npos && text.find("n_prompt") != std::string_view::npos;
}

ToolOutput read_llama_bench(std::string_view text) {
    ToolOutput out;
    out.tool = "llama-bench";
    for (const Record& record : records_of(text)) {
        const auto field = [&](std::string_view key) {
            const auto found = record.find(key);
            return found == record.end() ? std::string() : found->second;
        };
        const auto speed = leading_number(field("avg_ts"));
        const auto prompt = leading_number(field("n_prompt")), generated = leading_number(field("n_gen"));
        if (!speed || (!prompt && !generated))
            continue;
        MeasuredRow row = row_of("llama.cpp", MeasuredMetric::throughput_per_s, *speed,
                                 fmt::format("{}, {} threads, {} GPU layers", field("model_type"),
                                             field("n_threads"), field("n_gpu_layers")));
        row.scope = "kernel";
        row.model = stem_of(field("model_filename"));
        const std::string gpu = field("gpu_info");
        row.hardware = !gpu.empty() && field("n_gpu_layers") != "0" ? gpu : field("cpu_info");
        row.precision = weight_format_of(field("model_type"));
        row.phase = prompt && generated ? "generate" : prompt ? "prefill" : "decode";
        // A decoding starts from an empty cache.
        row.prompt_tokens = prompt ? fmt::format("{:.0f}", *prompt) : "1";
        row.generated_tokens = generated ? fmt::format("{:.0f}", *generated) : "0";
        out.rows.push_back(std::move(row));
    }
    return out;
}

} // namespace archsim::tool_output
