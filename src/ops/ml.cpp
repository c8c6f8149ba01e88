// Classical machine learning (ai.onnx.ml), counted as vector work.

#include "ops/families.hpp"

#include <cmath>
#include <set>

namespace archsim {

/// Rows and features of a matrix; a vector is one row.
struct Rows {
    std::int64_t count = 1, features = 1;
};

static Rows rows_of(const NodeContext& c, std::size_t i) {
    const Shape& s = c.shape(i);
    if (s.size() > 2)
        malformed("a matrix or vector is needed");
    if (s.empty())
        return {};
    return s.size() == 1 ? Rows{1, s[0]} : Rows{s[0], s[1]};
}

template <typename List>
static std::int64_t length_of(const List* list) {
    return list ? static_cast<std::int64_t>(list->size()) : 0;
}

// --- Feature handling

static void infer_feature_extractor(NodeContext& c) {
    const Shape& x = c.shape(0);
    const std::int64_t picked = saturated_int(c.elements(1));
    Shape out = x;
    if (out.size() < 2)
        out = {1, picked};
    else
        out.back() = picked;
    c.set_output(0, c.type(0), std::move(out));
}

static void infer_category(NodeContext& c) {
    c.set_output(0, c.type(0) == DataType::string ? DataType::int64 : DataType::string, c.shape(0));
}

/// The type of the values: a tensor (opset 4), one of the lists, or the opposite of the keys (opset 1).
static void infer_label_encoder(NodeContext& c) {
    DataType type = c.type(0) == DataType::string ? DataType::int64 : DataType::string;
    if (const Constant* values = c.tensor("values_tensor"))
        type = values->type;
    else if (c.attribute("values_strings"))
        type = DataType::string;
    else if (c.attribute("values_int64s"))
        type = DataType::int64;
    else if (c.attribute("values_floats"))
        type = DataType::float32;
    c.set_output(0, type, c.shape(0));
}

static void infer_one_hot_encoder(NodeContext& c) {
    Shape out = c.shape(0);
    out.push_back(std::max(length_of(c.integers("cats_int64s")), length_of(c.texts("cats_strings"))));
    c.set_output(0, DataType::float32, std::move(out));
}

static void infer_feature_vectorizer(NodeContext& c) {
    std::int64_t width = 0;
    if (const auto* sizes = c.integers("inputdimensions"))
        for (const std::int64_t size : *sizes)
            width += size;
    else
        for (std::size_t i = 0; i < c.input_count(); ++i)
            width += rows_of(c, i).features;
    c.set_output(0, DataType::float32, {rows_of(c, 0).count, width});
}

static void infer_cast_map(NodeContext& c) {
    const std::string_view to = c.text("cast_to", "TO_FLOAT");
    const DataType type = to == "TO_STRING"  ? DataType::string
                          : to == "TO_INT64" ? DataType::int64
                                             : DataType::float32;
    const std::int64_t width = c.text("map_form", "DENSE") == "SPARSE"
                                   ? c.integer("max_map", 1)
                                   : c.data_dependent_dim(0, 1, 1, "one key; the map's size is not known");
    c.set_output(0, type, {1, width});
}

static void infer_dict_vectorizer(NodeContext& c) {
    const std::int64_t width =
        std::max(length_of(c.integers("int64_vocabulary")), length_of(c.texts("string_vocabulary")));
    const DataType declared = c.output(0).type;
    c.set_output(0, declared == DataType::undefined ? DataType::float32 : declared, {1, width});
}

static void infer_zip_map(NodeContext& c) {
    c.set_output(0, DataType::float32, c.shape(0));
    c.output(0).kind = ValueKind::sequence;
}

// --- Models: labels and scores

static std::int64_t class_count(const NodeContext& c) {
    for (const std::string_view key : {"classlabels_int64s", "classlabels_ints"})
        if (const std::int64_t n = length_of(c.integers(key)))
            return n;
    return length_of(c.texts("classlabels_strings"));
}

static DataType label_type(const NodeContext& c) {
    return length_of(c.texts("classlabels_strings")) > 0 ? DataType::string : DataType::int64;
}

static void infer_classifier(NodeContext& c) {
    const Rows x = rows_of(c, 0);
    std::int64_t classes = class_count(c);
    if (classes == 0 && x.features > 0)
        classes = std::max<std::int64_t>(length_of(c.reals("coefficients")) / x.features, 1);
    c.set_output(0, label_type(c), {x.count});
    c.set_output(1, DataType::float32, {x.count, std::max<std::int64_t>(classes, 1)});
}

static void infer_regressor(NodeContext& c) {
    const std::int64_t targets = c.integer("targets", c.integer("n_targets", 1));
    c.set_output(0, DataType::float32, {rows_of(c, 0).count, targets});
}

static void infer_tree_ensemble(NodeContext& c) {
    c.set_output(0, c.type(0), {rows_of(c, 0).count, c.integer("n_targets", 1)});
}

static void work_linear(NodeContext& c) {
    c.work().vector_ops = 2 * static_cast<double>(rows_of(c, 0).count) *
                          static_cast<double>(std::max<std::int64_t>(length_of(c.reals("coefficients")), 1));
    if (c.has_output(1) && c.text("post_transform", "NONE") != "NONE") // scores of classes
        c.work().special_ops = 2 * c.output(1).elements();
}

/// Every row meets every support vector: a kernel value is 2 operations per feature and a special function.
static void work_support_vectors(NodeContext& c) {
    const Rows x = rows_of(c, 0);
    const auto features = static_cast<double>(std::max<std::int64_t>(x.features, 1));
    const double vectors = static_cast<double>(length_of(c.reals("support_vectors"))) / features;
    const double pairs = static_cast<double>(x.count) * std::max(vectors, 1.0);
    c.work().vector_ops = pairs * (2 * features + 2);
    c.work().special_ops = c.text("kernel_type", "LINEAR") == "LINEAR" ? 0 : pairs;
}

/// A row walks each tree from root to leaf: log2 of the nodes of a balanced tree, one comparison and one
/// fetch each.
static void work_trees(NodeContext& c) {
    double trees = 1, nodes = 1;
    if (const auto* ids = c.integers("nodes_treeids"); ids && !ids->empty()) {
        trees = static_cast<double>(std::set<std::int64_t>(ids->begin(), ids->end()).size());
        nodes = static_cast<double>(ids->size());
    } else if (const auto* roots = c.integers("tree_roots"); roots && !roots->empty()) {
        trees = static_cast<double>(roots->size());
        nodes = static_cast<double>(length_of(c.integers("nodes_featureids")) +
                                    length_of(c.integers("leaf_targetids")));
    }
    const double depth = std::log2(std::max(nodes / trees, 2.0));
    c.work().vector_ops = static_cast<double>(rows_of(c, 0).count) * trees * (2 * depth + 1);
}

constexpr RowKinds kMl{kMlDomain};

static constexpr OperatorRow feature(std::string_view name, NodeFunction infer, ElementCost cost,
                                     std::string_view doc) {
    return kMl.opaque(name, 1, infer, work_per_output, cost, doc);
}

static constexpr OperatorRow map_row(std::string_view name, NodeFunction infer, std::string_view doc) {
    return of_unknown(feature(name, infer, {1, 0}, doc));
}

constexpr OperatorRow kMlRows[] = {
    feature("ArrayFeatureExtractor", infer_feature_extractor, {0, 0}, "picks features by index"),
    feature("Binarizer", infer_same, {1, 0}, "one above a threshold, else zero"),
    feature("CategoryMapper", infer_category, {1, 0}, "strings to numbers and back"),
    feature("FeatureVectorizer", infer_feature_vectorizer, {0, 0}, "joins features"),
    feature("Imputer", infer_same, {2, 0}, "replaces missing values"),
    feature("LabelEncoder", infer_label_encoder, {1, 0}, "looks values up in a table"),
    feature("Normalizer", infer_typed<DataType::float32>, {2, 1}, "scales rows to norm 1"),
    feature("OneHotEncoder", infer_one_hot_encoder, {1, 0}, "one-hot rows by category"),
    feature("Scaler", infer_typed<DataType::float32>, {2, 0}, "subtracts an offset and scales"),
    map_row("CastMap", infer_cast_map, "a map as a tensor"),
    map_row("DictVectorizer", infer_dict_vectorizer, "a map as a vector by vocabulary"),
    map_row("ZipMap", infer_zip_map, "scores as a sequence of maps"),
    kMl.opaque_reduction("LinearClassifier", 1, infer_classifier, work_linear, "linear scores of classes"),
    kMl.opaque_reduction("LinearRegressor", 1, infer_regressor, work_linear, "linear regression"),
    kMl.opaque_reduction("SVMClassifier", 1, infer_classifier, work_support_vectors,
                         "support vector machine"),
    kMl.opaque_reduction("SVMRegressor", 1, infer_regressor, work_support_vectors,
                         "support vector regression"),
    kMl.opaque_reduction("TreeEnsemble", 5, infer_tree_ensemble, work_trees,
                         "decision trees, counted as balanced"),
    kMl.opaque_reduction("TreeEnsembleClassifier", 1, infer_classifier, work_trees,
                         "decision trees, counted as balanced"),
    kMl.opaque_reduction("TreeEnsembleRegressor", 1, infer_regressor, work_trees,
                         "decision trees, counted as balanced"),
};

constinit const std::span<const OperatorRow> ml_rows = kMlRows;

} // namespace archsim
