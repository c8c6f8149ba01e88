// Multiply-accumulates of the catalogue's graphs, as this library infers them, against the closed formulas of
// their architectures, at the entry's own sizes and at others.

#include "laws/laws.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <stdexcept>
#include <string>

using namespace archsim;

namespace {

using Dims = std::map<std::string, std::int64_t>;

/// Value of an expression of numbers, sizes by name, + - * / ( ) and floor().
class Formula {
  public:
    Formula(const std::string& text, const Dims& dims) : text_(text), dims_(dims) {}

    double value() {
        const double result = sum();
        if (at_ != text_.size())
            throw std::runtime_error("unexpected text at " + text_.substr(at_));
        return result;
    }

  private:
    char next() {
        while (at_ < text_.size() && text_[at_] == ' ')
            ++at_;
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    bool take(char c) {
        if (next() != c)
            return false;
        ++at_;
        return true;
    }
    double sum() {
        double result = product();
        while (next() == '+' || next() == '-')
            result += take('+') ? product() : (take('-'), -product());
        return result;
    }
    double product() {
        double result = factor();
        while (next() == '*' || next() == '/')
            result = take('*') ? result * factor() : (take('/'), result / factor());
        return result;
    }
    double factor() {
        if (take('(')) {
            const double result = sum();
            take(')');
            return result;
        }
        const std::size_t begin = at_;
        if (std::isdigit(static_cast<unsigned char>(next()))) {
            double number = 0;
            const auto [end, error] =
                std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
            at_ = static_cast<std::size_t>(end - text_.data());
            return number;
        }
        while (at_ < text_.size() &&
               (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
            ++at_;
        const std::string name = text_.substr(begin, at_ - begin);
        if (name == "floor")
            return std::floor(factor());
        const auto found = dims_.find(name);
        if (found == dims_.end())
            throw std::runtime_error("no size called \"" + name + "\" in " + text_);
        return static_cast<double>(found->second);
    }

    const std::string& text_;
    const Dims& dims_;
    std::size_t at_ = 0;
};

double counted(const std::string& name, const Dims& dims) {
    Bindings bindings;
    bindings.dims = dims;
    return laws::session().bind(laws::session().load(name), dims.at("batch"), bindings)->graph().macs();
}

void check(const CatalogueEntry& entry, const Dims& dims) {
    std::string sizes;
    for (const auto& [name, size] : dims)
        sizes += " " + name + "=" + std::to_string(size);
    INFO(entry.name << sizes);
    CHECK(counted(entry.name, dims) == Approx(Formula(entry.macs_formula, dims).value()).epsilon(1e-12));
}

} // namespace

TEST_CASE("multiply-accumulates equal the closed formula of the architecture", "[catalogue]") {
    int checked = 0;
    for (const CatalogueEntry& entry : laws::session().catalogue().entries()) {
        if (entry.macs_formula.empty())
            continue;
        ++checked;
        check(entry, entry.dims);
        Dims others = entry.dims;
        std::int64_t more = 3;
        for (auto& [name, size] : others)
            size += name == "batch" ? 2 : more++;
        check(entry, others);
    }
    CHECK(checked >= 45);
}

TEST_CASE("both phases of a decoder follow the closed formula", "[catalogue]") {
    int checked = 0;
    for (const CatalogueEntry& entry : laws::session().catalogue().entries()) {
        if (!entry.language_model || entry.macs_formula.empty())
            continue;
        ++checked;
        for (const auto& [sequence, past] : {std::pair{96, 0}, std::pair{1, 700}}) {
            Dims dims = entry.dims;
            dims["batch"] = 3;
            dims["sequence"] = sequence;
            dims["past_sequence"] = past;
            check(entry, dims);
        }
    }
    CHECK(checked >= 15);
}

TEST_CASE("the models are shapes only", "[catalogue]") {
    // Packed, as they are installed, they take a tenth.
    std::uintmax_t bytes = 0, largest = 0;
    for (const CatalogueEntry& entry : laws::session().catalogue().entries())
        if (!entry.file.empty()) {
            const std::uintmax_t size = std::filesystem::file_size(entry.file);
            bytes += size;
            largest = std::max(largest, size);
        }
    CHECK(largest < 500'000);
    CHECK(bytes < 36'000'000);
}
