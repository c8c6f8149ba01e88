// Sequences, optionals: bookkeeping of a runtime, and copies where elements are joined or split; text.

#include "ops/families.hpp"

namespace archsim {

static SequenceElement element_of(const NodeContext& c, std::size_t i) {
    return {c.type(i), c.shape(i), c.value(i)};
}

/// Declares output 0 a sequence of unknown length with elements like those of input `i`.
static void set_unknown_sequence(NodeContext& c, std::size_t i) {
    declare_like(c, i);
    c.output(0).kind = ValueKind::sequence;
}

static void infer_construct(NodeContext& c) {
    SequenceElements elements;
    for (std::size_t i = 0; i < c.input_count(); ++i)
        elements.push_back(element_of(c, i));
    c.set_sequence(0, std::move(elements));
}

static void infer_empty(NodeContext& c) {
    c.set_sequence(0, {});
    c.output(0).type = data_type_attribute(c, "dtype", DataType::float32);
}

/// Position from the front or, negative, from the back; the end when it is absent.
static std::optional<std::size_t> position(const NodeContext& c, std::size_t i, std::size_t length,
                                           std::size_t absent) {
    if (!c.has_input(i))
        return absent;
    if (!c.value(i))
        return std::nullopt;
    const std::int64_t at = c.scalar_int(i), size = static_cast<std::int64_t>(length);
    if (at < -size || at > size)
        malformed("the position " + std::to_string(at) + " is outside the sequence");
    return static_cast<std::size_t>(at < 0 ? at + size : at);
}

static bool uniform(const SequenceElements& elements) {
    return std::ranges::all_of(elements,
                               [&](const SequenceElement& e) { return e.shape == elements.front().shape; });
}

/// The elements differ in shape and the position is only known at run time.
static void note_position(NodeContext& c, std::size_t i) {
    c.output(0).data_dependent = true;
    c.note(
        FindingKind::data_dependent_shape, Severity::note,
        "which element of the sequence is meant is only known at run time; the first or last stands for all",
        "give the position with --input " + c.input(i).name + "=N");
}

static void infer_insert(NodeContext& c) {
    const SequenceElements* old = c.sequence(0);
    if (!old) {
        set_unknown_sequence(c, 1);
        return;
    }
    SequenceElements elements = *old;
    const auto at = position(c, 2, elements.size(), elements.size());
    elements.insert(elements.begin() + static_cast<std::ptrdiff_t>(at.value_or(elements.size())),
                    element_of(c, 1));
    const bool uncertain = !at && !uniform(elements);
    c.set_sequence(0, std::move(elements));
    if (uncertain)
        note_position(c, 2);
}

static void infer_erase(NodeContext& c) {
    const SequenceElements* old = c.sequence(0);
    if (!old || old->empty()) {
        set_unknown_sequence(c, 0);
        return;
    }
    SequenceElements elements = *old;
    const std::size_t last = elements.size() - 1;
    const std::size_t at = std::min(position(c, 1, elements.size(), last).value_or(last), last);
    elements.erase(elements.begin() + static_cast<std::ptrdiff_t>(at));
    const DataType type = c.type(0);
    c.set_sequence(0, std::move(elements));
    c.output(0).type = type;
}

static void infer_at(NodeContext& c) {
    const SequenceElements* elements = c.sequence(0);
    if (elements && !elements->empty()) {
        const auto at = position(c, 1, elements->size(), 0);
        if (at && *at >= elements->size())
            malformed("the position is outside the sequence");
        const SequenceElement& element = (*elements)[at.value_or(0)];
        c.set_output(0, element.type, element.shape);
        if (at && element.value)
            c.share_value(0, element.value);
        if (!at && !uniform(*elements))
            note_position(c, 1);
        return;
    }
    if (!c.input(0).known)
        throw NodeProblem{FindingKind::unresolved_dimension, "the shapes in the sequence are not known",
                          "declare the shape of the sequence's elements in the file"};
    c.set_output(0, c.type(0), c.shape(0));
}

static void infer_length(NodeContext& c) {
    c.set_output(0, DataType::int64, {});
    if (const SequenceElements* elements = c.sequence(0))
        set_known(c, DataType::int64, static_cast<std::int64_t>(elements->size()));
}

/// Parts of `split` (a scalar: equal parts, the last smaller), or single slices.
static void infer_split_to_sequence(NodeContext& c) {
    const Shape& in = c.shape(0);
    const std::size_t axis = normalized_axis(c.integer("axis", 0), in.size());
    SequenceElements elements;
    std::vector<std::int64_t> sizes;
    const bool slices = !c.has_input(1);
    if (slices) {
        if (in[axis] > static_cast<std::int64_t>(kMaxConstantElements)) {
            set_unknown_sequence(c, 0);
            c.output(0).shape[axis] = 1;
            return;
        }
        sizes.assign(static_cast<std::size_t>(in[axis]), 1);
    } else if (c.rank(1) == 0) {
        const std::int64_t chunk = c.scalar_int(1);
        if (chunk < 1 || in[axis] / chunk > static_cast<std::int64_t>(kMaxConstantElements))
            malformed("the size of a part is absurd");
        for (std::int64_t left = in[axis]; left > 0; left -= chunk)
            sizes.push_back(std::min(chunk, left));
    } else {
        sizes = c.ints(1);
    }
    for (const std::int64_t size : sizes) {
        Shape shape = in;
        shape[axis] = size;
        if (slices && c.integer("keepdims", 1) == 0)
            shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
        elements.push_back({c.type(0), std::move(shape), nullptr});
    }
    c.set_sequence(0, std::move(elements));
    c.output(0).type = c.type(0);
}

static void infer_concat_from_sequence(NodeContext& c) {
    const SequenceElements* elements = c.sequence(0);
    if (!elements || elements->empty())
        throw NodeProblem{FindingKind::unresolved_dimension,
                          "the length of the sequence is only known at run time",
                          "declare the output shape in the file"};
    Shape out = elements->front().shape;
    const auto count = static_cast<std::int64_t>(elements->size());
    if (c.integer("new_axis", 0) != 0) {
        const std::size_t axis = normalized_axis(c.integer("axis", 0), out.size() + 1);
        out.insert(out.begin() + static_cast<std::ptrdiff_t>(axis), count);
    } else {
        const std::size_t axis = normalized_axis(c.integer("axis", 0), out.size());
        for (std::size_t i = 1; i < elements->size(); ++i) {
            if ((*elements)[i].shape.size() != out.size())
                malformed("the elements differ in rank");
            out[axis] += (*elements)[i].shape[axis];
        }
    }
    c.set_output(0, elements->front().type, std::move(out));
}

// --- Optionals

static void infer_optional(NodeContext& c) {
    if (c.has_input(0)) { // else the declared type stays, the shape is never asked for
        declare_like(c, 0);
        if (const SequenceElements* elements = c.sequence(0))
            c.set_sequence(0, *elements);
    }
    c.output(0).kind = ValueKind::optional;
}

static void infer_get_element(NodeContext& c) {
    if (const SequenceElements* elements = c.sequence(0)) {
        c.set_sequence(0, *elements);
        return;
    }
    if (!c.input(0).known)
        throw NodeProblem{FindingKind::unresolved_dimension, "the shape inside the optional is not known",
                          "declare the output shape in the file"};
    const ValueKind declared = c.output(0).kind;
    c.set_output(0, c.type(0), c.shape(0));
    c.output(0).kind = declared == ValueKind::sequence ? declared : ValueKind::tensor;
}

static void infer_has_element(NodeContext& c) {
    c.set_output(0, DataType::boolean, {});
    std::optional<bool> has;
    if (!c.has_input(0))
        has = false;
    else if (c.input(0).kind != ValueKind::optional)
        has = true;
    else if (c.input(0).role == TensorRole::intermediate)
        has = c.input(0).known;
    if (has)
        set_known(c, DataType::boolean, *has ? 1 : 0);
}

static constexpr OperatorRow handle(std::string_view name, int since, NodeFunction infer,
                                    std::string_view doc) {
    return of_unknown(kOnnx.transparent(name, since, infer, work_free, doc));
}

static constexpr OperatorRow copying(std::string_view name, int since, NodeFunction infer,
                                     std::string_view doc) {
    return of_unknown(kOnnx.movement(name, since, infer, work_movement, doc));
}

// Text operators. Strings are counted as one comparison or copy per element; characters are not known.

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

constexpr OperatorRow kSequencesRows[] = {
    handle("SequenceConstruct", 11, infer_construct, "a sequence of its inputs"),
    handle("SequenceEmpty", 11, infer_empty, "a sequence without elements"),
    handle("SequenceInsert", 11, infer_insert, "a sequence with one more element"),
    handle("SequenceErase", 11, infer_erase, "a sequence with one element less"),
    handle("SequenceAt", 11, infer_at, "an element of a sequence"),
    handle("SequenceLength", 11, infer_length, "the number of elements"),
    copying("SplitToSequence", 11, infer_split_to_sequence, "parts of a tensor as a sequence"),
    copying("ConcatFromSequence", 11, infer_concat_from_sequence, "joins the elements of a sequence"),
    handle("Optional", 15, infer_optional, "wraps a value that may be absent"),
    handle("OptionalGetElement", 15, infer_get_element, "the value inside an optional"),
    handle("OptionalHasElement", 15, infer_has_element, "whether an optional holds a value"),
    kOnnx.opaque("StringConcat", 20, infer_broadcast, work_per_output, {1, 0}, "joins strings"),
    kOnnx.opaque("StringSplit", 20, infer_string_split, work_per_output, {1, 0},
                 "splits strings; maxsplit bounds the parts"),
    kOnnx.opaque("StringNormalizer", 10, infer_normalizer, work_per_input, {1, 0},
                 "changes case, removes stop words"),
    kOnnx.opaque("RegexFullMatch", 20, infer_typed<DataType::boolean>, work_per_input, {1, 0},
                 "matches a regular expression"),
    kOnnx.opaque("TfIdfVectorizer", 9, infer_tfidf, work_tfidf, {1, 0}, "counts n-grams, weighted"),
};

constinit const std::span<const OperatorRow> sequence_rows = kSequencesRows;

} // namespace archsim
