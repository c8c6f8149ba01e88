// Suppression of overlapping boxes as TensorRT's plugins do it (NVIDIA/TensorRT, plugin/efficientNMSPlugin
// and plugin/batchedNMSPlugin). They promise the size of their results in attributes. TensorRT finds a plugin
// by the operator's name, whatever the domain, and so do we.

#include "ops/common.hpp"
#include "ops/families.hpp"

#include <algorithm>

namespace archsim {

namespace {

/// Boxes [batch, boxes, ...] and scores [batch, boxes, classes].
struct Candidates {
    double batch = 1, boxes = 1, classes = 1;
};

Candidates candidates_of(const NodeContext& c) {
    if (c.rank(0) < 3 || c.rank(1) < 3)
        malformed("boxes and scores need a batch, boxes and their values");
    return {static_cast<double>(c.dim(1, 0)), static_cast<double>(c.dim(1, 1)),
            static_cast<double>(c.dim(1, 2))};
}

/// Results per image; the efficient plugins name it max_output_boxes, the older ones keepTopK.
std::int64_t promised(const NodeContext& c) {
    const std::int64_t count = c.integer("max_output_boxes", c.integer("keepTopK", -1));
    const std::int64_t per_class = c.integer("max_output_boxes_per_class", -1);
    if (count >= 0)
        return count;
    if (per_class >= 0)
        return saturated_int(static_cast<double>(per_class) * static_cast<double>(c.dim(1, 2)));
    malformed("max_output_boxes is missing");
}

/// Number of detections, boxes, scores and classes.
void infer_detections(NodeContext& c) {
    candidates_of(c);
    const std::int64_t batch = c.dim(1, 0), kept = promised(c);
    c.set_output(0, DataType::int32, {batch, 1});
    c.set_output(1, c.type(0), {batch, kept, 4});
    c.set_output(2, c.type(1), {batch, kept});
    const bool efficient = c.node().op_type.starts_with("Efficient");
    c.set_output(3, efficient ? DataType::int32 : c.type(1), {batch, kept}); // the older ones write reals
}

/// Rows of image, class and box, as NonMaxSuppression of ONNX.
void infer_selection(NodeContext& c) {
    candidates_of(c);
    c.set_output(0, DataType::int32,
                 {saturated_int(static_cast<double>(promised(c)) * static_cast<double>(c.dim(1, 0))), 3});
}

void work_suppression(NodeContext& c) {
    const Candidates from = candidates_of(c);
    const double lists = from.batch * from.classes;
    const double kept = static_cast<double>(promised(c)) * from.batch;
    const double pairs = std::min(kept * from.boxes, lists * from.boxes * (from.boxes - 1) / 2);
    suppression_work(c, lists, from.boxes, pairs);
}

constexpr std::string_view kDetections =
    "suppression of overlapping boxes; as many results as max_output_boxes";

constexpr RowKinds kTensorRt{kTensorRtDomain};

constexpr OperatorRow kTensorRtRows[] = {
    kTensorRt.sorting("EfficientNMS_TRT", 1, infer_detections, work_suppression, {1, 0}, kDetections),
    kTensorRt.sorting("EfficientNMS_Explicit_TF_TRT", 1, infer_detections, work_suppression, {1, 0},
                      kDetections),
    kTensorRt.sorting("EfficientNMS_Implicit_TF_TRT", 1, infer_detections, work_suppression, {1, 0},
                      kDetections),
    kTensorRt.sorting("EfficientNMS_ONNX_TRT", 1, infer_selection, work_suppression, {1, 0}, kDetections),
    kTensorRt.sorting("BatchedNMS_TRT", 1, infer_detections, work_suppression, {1, 0},
                      "suppression of overlapping boxes; as many results as keepTopK"),
    kTensorRt.sorting("BatchedNMSDynamic_TRT", 1, infer_detections, work_suppression, {1, 0},
                      "suppression of overlapping boxes; as many results as keepTopK"),
};

} // namespace

constinit const std::span<const OperatorRow> tensorrt_plugin_rows = kTensorRtRows;

} // namespace archsim
