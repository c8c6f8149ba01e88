#include "archsim/report/sweep.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <iterator>

namespace archsim {

namespace {

constexpr std::array<std::string_view, 10> kValueNames = {
    "latency_s",     "latency_low_s",          "latency_high_s", "throughput_per_s",  "power_w",
    "power_limited", "energy_per_inference_j", "utilization",    "peak_memory_bytes", "reason"};

std::string quoted_csv(std::string_view text) {
    if (text.find_first_of(",\"\n\r") == std::string_view::npos)
        return std::string(text);
    std::string result = "\"";
    for (const char c : text) {
        result += c;
        if (c == '"')
            result += c;
    }
    return result + "\"";
}

std::string quoted_json(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            result += '\\';
        if (static_cast<unsigned char>(c) < 0x20)
            fmt::format_to(std::back_inserter(result), "\\u{:04x}", static_cast<unsigned>(c));
        else
            result += c;
    }
    return result + "\"";
}

std::array<double, 5> values_before_power_limit(const SweepRow& r) {
    return {r.latency_s, r.latency_interval.low, r.latency_interval.high, r.throughput_per_s, r.power_w};
}

/// With 9 significant digits: beyond the meaning of any estimate, in half the bytes of all 17. The standard
/// library writes them several times faster than {fmt} 9 does.
void append(double value, std::string& text) {
    std::array<char, 32> digits; // sign, point, exponent and 9 digits fit
    const auto end =
        std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::general, 9);
    text.append(digits.data(), end.ptr);
}

void append_csv(const SweepRow& r, std::string& text) {
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{}", r.point, quoted_csv(r.model),
                   quoted_csv(r.hardware), r.runtime, r.precision, r.executed, r.batch);
    const auto add = [&text](double value) {
        text += ',';
        append(value, text);
    };
    for (const double factor : r.factors)
        add(factor);
    text += ',';
    text += name_of(r.status);
    if (r.status != Status::ok) {
        text += ",,,,,,,,,,";
        text += quoted_csv(r.reason);
        text += '\n';
        return;
    }
    for (const double value : values_before_power_limit(r))
        add(value);
    text += r.power_limited ? ",1" : ",0";
    for (const double value : {r.energy_per_inference_j, r.utilization, r.peak_memory_bytes})
        add(value);
    text += ",\n";
}

void append_json(const SweepRow& r, const std::vector<SweepAxis>& axes, std::string& text) {
    const auto out = std::back_inserter(text);
    fmt::format_to(out,
                   R"({{"point":{},"model":{},"hardware":{},"runtime":"{}","precision":"{}",)"
                   R"("executed_precision":"{}","batch_size":{})",
                   r.point, quoted_json(r.model), quoted_json(r.hardware), r.runtime, r.precision, r.executed,
                   r.batch);
    for (std::size_t i = 0; i < r.factors.size(); ++i) {
        fmt::format_to(out, R"(,"{}":)", axes[i].name);
        append(r.factors[i], text);
    }
    fmt::format_to(out, R"(,"status":"{}")", name_of(r.status));
    const bool ok = r.status == Status::ok;
    const auto values = values_before_power_limit(r);
    const auto number = [&](std::string_view name, double value) {
        fmt::format_to(out, R"(,"{}":)", name);
        if (ok)
            append(value, text);
        else
            text += "null";
    };
    for (std::size_t i = 0; i < values.size(); ++i)
        number(kValueNames[i], values[i]);
    fmt::format_to(out, R"(,"{}":{})", kValueNames[5], ok ? (r.power_limited ? "true" : "false") : "null");
    number(kValueNames[6], r.energy_per_inference_j);
    number(kValueNames[7], r.utilization);
    number(kValueNames[8], r.peak_memory_bytes);
    fmt::format_to(out, ",\"{}\":{}}}\n", kValueNames[9], ok ? "null" : quoted_json(r.reason));
}

} // namespace

std::optional<RowFormat> parse_row_format(std::string_view name) {
    if (name == "csv")
        return RowFormat::csv;
    if (name == "ndjson")
        return RowFormat::ndjson;
    return std::nullopt;
}

std::optional<RowFormat> row_format_of_file(std::string_view file) {
    if (file.ends_with(".csv"))
        return RowFormat::csv;
    if (file.ends_with(".ndjson") || file.ends_with(".jsonl"))
        return RowFormat::ndjson;
    return std::nullopt;
}

std::string sweep_header(const std::vector<SweepAxis>& axes, RowFormat format) {
    if (format == RowFormat::ndjson)
        return {};
    std::string text = "point,model,hardware,runtime,precision,executed_precision,batch_size";
    for (const SweepAxis& axis : axes)
        text += "," + axis.name;
    text += ",status";
    for (const std::string_view name : kValueNames) {
        text += ',';
        text += name;
    }
    return text + "\n";
}

void append_rows(std::span<const SweepRow> rows, const std::vector<SweepAxis>& axes, RowFormat format,
                 std::string& text) {
    for (const SweepRow& row : rows)
        if (format == RowFormat::csv)
            append_csv(row, text);
        else
            append_json(row, axes, text);
}

} // namespace archsim
