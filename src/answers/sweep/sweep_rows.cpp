#include "answers/sweep/sweep_report.hpp"
#include "core/text.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/result_text.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>

namespace archsim {

constexpr int kDigits = 9;
constexpr std::uint32_t kLeast = 100'000'000, kMost = 1'000'000'000; ///< of whole numbers with 9 digits
/// Powers of ten up to here are exact in 64 bits of mantissa.
constexpr int kExactPower = 27;
/// A product with one rounding of 64 bits is this near to the truth; nearer to a half nobody knows.
constexpr double kDoubt = 1e-9;

constexpr auto kPowers = [] {
    std::array<long double, kExactPower + 1> powers{};
    long double power = 1;
    for (long double& entry : powers) {
        entry = power;
        power *= 10;
    }
    return powers;
}();

/// Nine digits and the decimal exponent of the first.
struct Decimal {
    std::uint32_t digits = 0;
    int exponent = 0;
};

/// Value x 10^(8 - exponent).
static long double shifted(double value, int exponent) {
    const int up = kDigits - 1 - exponent;
    return up >= 0 ? value * kPowers[static_cast<std::size_t>(up)]
                   : value / kPowers[static_cast<std::size_t>(-up)];
}

/// False where nine digits cannot be told from here. `value` is positive and of common size.
static bool find_digits(double value, Decimal& decimal) {
    // From the binary exponent: log10(2) is 1233 / 4096, which is one too low at most.
    const int binary = static_cast<int>(std::bit_cast<std::uint64_t>(value) >> 52) - 1023;
    int exponent = (binary * 1233) >> 12;
    long double scaled = shifted(value, exponent);
    if (scaled >= kMost)
        scaled = shifted(value, ++exponent);
    const auto whole = static_cast<std::uint32_t>(scaled);
    const auto rest = static_cast<double>(scaled - whole);
    if (std::abs(rest - 0.5) < kDoubt)
        return false;
    decimal = {whole + (rest > 0.5 ? 1U : 0U), exponent};
    if (decimal.digits == kMost)
        decimal = {kLeast, exponent + 1};
    return true;
}

/// Writes the digits to `at`; returns the end.
static char* write(const Decimal& decimal, char* at) {
    std::array<char, kDigits> digits{};
    std::uint32_t rest = decimal.digits;
    for (std::size_t i = kDigits; i-- > 0; rest /= 10)
        digits[i] = static_cast<char>('0' + rest % 10);
    int count = kDigits;
    while (count > 1 && digits[static_cast<std::size_t>(count) - 1] == '0')
        --count;
    const auto put = [&](int from, int to) { at = std::copy(digits.data() + from, digits.data() + to, at); };
    const int exponent = decimal.exponent;
    if (exponent < -4 || exponent >= kDigits) {
        put(0, 1);
        if (count > 1)
            *at++ = '.';
        put(1, count);
        const int size = std::abs(exponent);
        *at++ = 'e';
        *at++ = exponent < 0 ? '-' : '+';
        *at++ = static_cast<char>('0' + size / 10);
        *at++ = static_cast<char>('0' + size % 10);
    } else if (exponent < 0) {
        *at++ = '0';
        *at++ = '.';
        at = std::fill_n(at, -exponent - 1, '0');
        put(0, count);
    } else {
        put(0, exponent + 1); // zeros up to the point are digits
        if (count > exponent + 1) {
            *at++ = '.';
            put(exponent + 1, count);
        }
    }
    return at;
}

static std::string quoted_json(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            result += '\\';
        if (static_cast<unsigned char>(c) < 0x20)
            fmt::format_to(std::back_inserter(result), "\\u{:04x}", static_cast<unsigned>(c));
        else
            result += c;
    }
    return printable_json(result + "\"");
}

/// The numbers of a line after the axes: every number of the metrics, from the measures of a row.
struct RowNumber {
    MetricField field;
    std::size_t metric; ///< index into SweepRow::measures
};

static std::vector<RowNumber> numbers_of(const MetricTable& metrics) {
    std::vector<RowNumber> numbers;
    std::size_t metric = 0;
    for (const MetricField& field : fields_of(metrics)) {
        while (metrics.rows()[metric] != field.metric)
            ++metric;
        numbers.push_back({field, metric});
    }
    return numbers;
}

/// Null where the row has no such number.
static const Measure* measure_at(const SweepRow& row, const RowNumber& number) {
    const bool there = number.metric < row.measures.size() && row.measures[number.metric];
    return there ? &*row.measures[number.metric] : nullptr;
}

static bool same_measure(const std::optional<Measure>& a, const std::optional<Measure>& b) {
    if (!a || !b)
        return !a && !b;
    return a->value == b->value && a->interval.low == b->interval.low && a->interval.high == b->interval.high;
}

/// Rows as lines of CSV. Neighbours are of one model, device and format: these columns are made once for
/// them. Formats that a device executes alike have the same numbers, which are copied.
class CsvWriter {
  public:
    explicit CsvWriter(const std::vector<RowNumber>& numbers) : numbers_(numbers) {}

    void append(const SweepRow& r, std::string& text) {
        append_whole(r.point, text);
        text += case_of(r);
        append_whole(r.batch, text);
        for (const double factor : r.factors) {
            text += ',';
            append_short_number(factor, text);
        }
        text += ',';
        text += name_of(r.status);
        text += ',';
        text += evidence_text(r.evidence());
        append_numbers(r, text);
        const bool ok = r.status == Status::ok;
        text += !ok ? "," : r.power_limited ? ",1" : ",0";
        text += ',';
        if (!ok)
            text += csv_field(r.reason);
        text += '\n';
    }

  private:
    template <class Whole>
    static void append_whole(Whole number, std::string& text) {
        std::array<char, 24> digits; // 20 of 64 bits fit
        text.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
    }

    struct Written {
        const SweepRow* row;
        std::size_t begin, length; ///< of its numbers in the text
    };

    void append_numbers(const SweepRow& r, std::string& text) {
        if (!r.factors.empty()) // formats are far apart, and seldom alike at each point
            return write_numbers(r, text);
        if (!written_.empty() &&
            (written_.back().row->hardware != r.hardware || written_.back().row->model != r.model))
            written_.clear();
        for (const Written& known : written_)
            if (known.row->batch == r.batch &&
                std::equal(known.row->measures.begin(), known.row->measures.end(), r.measures.begin(),
                           r.measures.end(), same_measure)) {
                text.append(text, known.begin, known.length);
                return;
            }
        const std::size_t begin = text.size();
        write_numbers(r, text);
        written_.push_back({&r, begin, text.size() - begin});
    }
    void write_numbers(const SweepRow& r, std::string& text) const {
        for (const RowNumber& number : numbers_) {
            text += ',';
            if (const Measure* measure = measure_at(r, number))
                append_short_number(number.field.of(*measure), text);
        }
    }

    const std::string& case_of(const SweepRow& r) {
        if (last_ == nullptr || r.precision != last_->precision || r.hardware != last_->hardware ||
            r.model != last_->model || r.runtime != last_->runtime || r.executed != last_->executed)
            case_ = fmt::format(",{},{},{},{},{},", csv_field(r.model), csv_field(r.hardware),
                                csv_field(r.runtime), r.precision, r.executed);
        last_ = &r;
        return case_;
    }

    const std::vector<RowNumber>& numbers_;
    const SweepRow* last_ = nullptr;
    std::string case_;             ///< columns of the last row between its number and its batch
    std::vector<Written> written_; ///< of the last model and device, different ones
};

static void append_json(const SweepRow& r, const std::vector<SweepAxis>& axes,
                        const std::vector<RowNumber>& numbers, std::string& text) {
    const auto out = std::back_inserter(text);
    fmt::format_to(out,
                   R"({{"point":{},"model":{},"hardware":{},"runtime":{},"precision":"{}",)"
                   R"("executed_precision":"{}","batch_size":{})",
                   r.point, quoted_json(r.model), quoted_json(r.hardware), quoted_json(r.runtime),
                   r.precision, r.executed, r.batch);
    for (std::size_t i = 0; i < r.factors.size(); ++i) {
        fmt::format_to(out, R"(,"{}":)", axes[i].name);
        append_short_number(r.factors[i], text);
    }
    const auto evidence = r.evidence();
    fmt::format_to(out, R"(,"status":"{}","evidence":{})", name_of(r.status),
                   evidence ? quoted_json(name_of(*evidence)) : "null");
    for (const RowNumber& number : numbers) {
        fmt::format_to(out, R"(,"{}":)", number.field.key());
        const Measure* const measure = measure_at(r, number);
        if (measure != nullptr && std::isfinite(number.field.of(*measure)))
            append_short_number(number.field.of(*measure), text);
        else
            text += "null";
    }
    const bool ok = r.status == Status::ok;
    fmt::format_to(out, ",\"power_limited\":{},\"reason\":{}}}\n",
                   ok ? (r.power_limited ? "true" : "false") : "null", ok ? "null" : quoted_json(r.reason));
}

void append_short_number(double value, std::string& text) {
    // Numbers that an exact power of ten brings to nine digits; the rest, and zero, are rare.
    constexpr double kSmallest = 1e-18, kLargest = 1e27;
    const double size = std::abs(value);
    std::array<char, 32> digits; // sign, point, exponent and 9 digits fit
    char* at = digits.data();
    Decimal decimal;
    if (std::numeric_limits<long double>::digits >= 64 && size > kSmallest && size < kLargest &&
        find_digits(size, decimal)) {
        if (value < 0)
            *at++ = '-';
        at = write(decimal, at);
    } else {
        at = std::to_chars(at, digits.data() + digits.size(), value, std::chars_format::general, kDigits).ptr;
    }
    text.append(digits.data(), at);
}

std::string sweep_header(const std::vector<SweepAxis>& axes, RowFormat format, const MetricTable& metrics) {
    if (format == RowFormat::ndjson)
        return {};
    std::string text = "point,model,hardware,runtime,precision,executed_precision,batch_size";
    for (const SweepAxis& axis : axes)
        text += "," + axis.name;
    text += ",status,evidence";
    for (const MetricField& field : fields_of(metrics))
        text += "," + csv_field(field.key());
    return text + ",power_limited,reason\n";
}

void append_rows(std::span<const SweepRow> rows, const std::vector<SweepAxis>& axes, RowFormat format,
                 std::string& text, const MetricTable& metrics) {
    const std::vector<RowNumber> numbers = numbers_of(metrics);
    CsvWriter csv(numbers);
    for (const SweepRow& row : rows)
        if (format == RowFormat::csv)
            csv.append(row, text);
        else
            append_json(row, axes, numbers, text);
}

} // namespace archsim
