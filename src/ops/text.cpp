// Text operators. Strings are counted as one comparison or copy per element; characters are not known.

#include "ops/common.hpp"
#include "ops/families.hpp"

#include <algorithm>

namespace archsim {

/// A new last axis holds the parts; how many only the text decides, unless maxsplit bounds it.
static void infer_string_split(NodeContext& c) {
    const std::int64_t limit = c.integer("maxsplit", 0);
    Shape out = c.shape(0);
    const std::size_t axis = out.size();
    std::int64_t parts = 0;
    const Constant* text = c.value(0);
    const std::string_view delimiter = c.text("delimiter", "");
    if (text) {
        for (const std::string& s : text->strings) {
            std::int64_t count = 0;
            if (delimiter.empty()) {
                bool inside = false;
                for (const char ch : s) {
                    const bool space = ch == ' ' || (ch >= '\t' && ch <= '\r');
                    count += !space && !inside;
                    inside = !space;
                }
            } else {
                count = 1;
                for (std::size_t at = s.find(delimiter); at != std::string::npos;
                     at = s.find(delimiter, at + delimiter.size()))
                    ++count;
            }
            parts = std::max(parts, limit > 0 ? std::min(count, limit + 1) : count);
        }
    } else if (c.elements(0) > 0 && limit > 0) {
        parts = c.data_dependent_dim(0, axis, limit + 1, "maxsplit + 1");
    } else if (c.elements(0) > 0) {
        c.set_output(1, DataType::int64, out);
        throw NodeProblem{FindingKind::unresolved_dimension,
                          "the number of parts depends on the text, and maxsplit does not bound it",
                          "declare the output shape in the file"};
    }
    c.set_output(1, DataType::int64, out);
    out.push_back(parts);
    c.set_output(0, DataType::string, std::move(out));
}

/// Without stop words the shape stays; with them words may vanish, and one always remains.
static void infer_normalizer(NodeContext& c) {
    Shape out = c.shape(0);
    const auto* stop = c.texts("stopwords");
    if (stop && !stop->empty() && !out.empty()) {
        if (const Constant* text = c.value(0)) {
            std::int64_t kept = 0;
            for (const std::string& word : text->strings)
                kept += std::find(stop->begin(), stop->end(), word) == stop->end();
            out.back() = std::max<std::int64_t>(kept, 1);
        } else {
            out.back() = c.data_dependent_dim(0, out.size() - 1, out.back(), "no word is a stop word");
        }
    }
    c.set_output(0, DataType::string, std::move(out));
}

static void infer_tfidf(NodeContext& c) {
    const auto* indexes = c.integers("ngram_indexes");
    if (!indexes)
        malformed("attribute 'ngram_indexes' is missing");
    std::int64_t width = 0;
    for (const std::int64_t i : *indexes)
        width = std::max(width, i + 1);
    Shape out = c.shape(0);
    if (out.empty())
        out.push_back(width);
    else
        out.back() = width;
    c.set_output(0, DataType::float32, std::move(out));
}

/// Every n-gram of each length and skip is looked up.
static void work_tfidf(NodeContext& c) {
    const auto lengths =
        static_cast<double>(c.integer("max_gram_length", 1) - c.integer("min_gram_length", 1) + 1);
    const auto skips = static_cast<double>(c.integer("max_skip_count", 0) + 1);
    c.work().vector_ops =
        c.elements(0) * std::max(lengths, 1.0) * std::max(skips, 1.0) + c.output(0).elements();
}

constexpr OperatorRow kTextRows[] = {
    kOnnx.opaque("StringConcat", 20, infer_broadcast, work_per_output, {1, 0}, "joins strings"),
    kOnnx.opaque("StringSplit", 20, infer_string_split, work_per_output, {1, 0},
                 "splits strings; maxsplit bounds the parts"),
    kOnnx.opaque("StringNormalizer", 10, infer_normalizer, work_per_input, {1, 0},
                 "changes case, removes stop words"),
    kOnnx.opaque("RegexFullMatch", 20, infer_typed<DataType::boolean>, work_per_input, {1, 0},
                 "matches a regular expression"),
    kOnnx.opaque("TfIdfVectorizer", 9, infer_tfidf, work_tfidf, {1, 0}, "counts n-grams, weighted"),
};

constinit const std::span<const OperatorRow> text_rows = kTextRows;

} // namespace archsim
