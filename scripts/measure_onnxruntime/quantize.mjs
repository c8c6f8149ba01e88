// A graph with QuantizeLinear and DequantizeLinear pairs (QDQ), as ONNX Runtime's quantize_static makes one with its
// default operators: unsigned 8-bit activations, signed 8-bit weights, 32-bit biases. The runtime joins the pairs with
// their operators into integer kernels. Scales are made up: they decide no time.
import { bytesField, fields, numberField, numbersOf } from "./wire.mjs";

// Field numbers of onnx.proto3.
const MODEL_GRAPH = 7;
const GRAPH_NODE = 1, GRAPH_INITIALIZER = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12;
const NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_NAME = 3, NODE_TYPE = 4;
const TENSOR_DIMS = 1, TENSOR_TYPE = 2, TENSOR_NAME = 8, TENSOR_RAW = 9;
const FLOAT = 1, UINT8 = 2, INT8 = 3, INT32 = 6;

// Operators that quantize_static gives pairs to (onnxruntime/quantization/registry.py). Those that only move or choose
// values keep the zero point of what they read.
const MOVES = new Set(["MaxPool", "Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze", "Slice", "Gather", "Split", "Resize"]);
const PRODUCTS = new Set(["Conv", "Gemm", "MatMul"]);
const QUANTIZED = new Set([...MOVES, ...PRODUCTS, "Add", "Mul", "Concat", "AveragePool", "GlobalAveragePool", "Sigmoid", "Softmax", "LeakyRelu"]);
// Their effect is that of the limits of the 8-bit format when it follows them at once.
const CLAMPS = new Set(["Relu", "Clip"]);
const SCALE = 0.02, WEIGHT_SCALE = 0.01;

const text = (bytes) => Buffer.from(bytes).toString();
const texts = (number, values) => values.map((value) => bytesField(number, value));

function readNode(bytes) {
    const node = { bytes, inputs: [], outputs: [], type: "", rest: [] };
    for (const field of fields(bytes)) {
        if (field.number === NODE_INPUT) node.inputs.push(text(field.value));
        else if (field.number === NODE_OUTPUT) node.outputs.push(text(field.value));
        else if (field.number === NODE_TYPE) node.type = text(field.value);
        else node.rest.push(bytes.subarray(field.start, field.end));
    }
    return node;
}

const writeNode = ({ inputs, outputs, type, rest }) =>
    bytesField(GRAPH_NODE, Buffer.concat([...texts(NODE_INPUT, inputs), ...texts(NODE_OUTPUT, outputs),
                                          bytesField(NODE_TYPE, type), ...rest]));

function readTensor(bytes) {
    const tensor = { dims: [], type: 0, name: "" };
    for (const field of fields(bytes)) {
        if (field.number === TENSOR_DIMS) tensor.dims.push(...numbersOf(field).map(Number));
        else if (field.number === TENSOR_TYPE) tensor.type = Number(field.value);
        else if (field.number === TENSOR_NAME) tensor.name = text(field.value);
    }
    return tensor;
}

/** Without `raw` a tensor without payload: weights.mjs draws one. */
const writeTensor = (name, type, dims, raw) =>
    bytesField(GRAPH_INITIALIZER, Buffer.concat([...dims.map((dim) => numberField(TENSOR_DIMS, dim)), numberField(TENSOR_TYPE, type),
                                                 bytesField(TENSOR_NAME, name), ...(raw ? [bytesField(TENSOR_RAW, raw)] : [])]));

class Quantizer {
    constructor(graph) {
        this.initializers = new Map();
        this.kept = []; // fields of the graph that are neither nodes nor initializers
        this.nodes = [];
        this.ends = new Set(); // the graph's outputs
        this.made = []; // new initializers
        this.out = [];
        this.names = new Map(); // tensor -> what its consumers read
        this.unsigned = new Set(); // tensors whose zero point is 0
        for (const field of fields(graph)) {
            if (field.number === GRAPH_NODE) this.nodes.push(readNode(field.value));
            else if (field.number === GRAPH_INITIALIZER) this.initializers.set(readTensor(field.value).name, field.value);
            else this.kept.push(graph.subarray(field.start, field.end));
            if (field.number === GRAPH_OUTPUT) this.ends.add(text([...fields(field.value)][0].value));
            if (field.number === GRAPH_INPUT) this.start ??= text([...fields(field.value)][0].value);
        }
        this.scalar("qdq_scale", FLOAT, Buffer.from(new Float32Array([SCALE]).buffer));
        this.scalar("qdq_weight_scale", FLOAT, Buffer.from(new Float32Array([WEIGHT_SCALE]).buffer));
        this.scalar("qdq_bias_scale", FLOAT, Buffer.from(new Float32Array([SCALE * WEIGHT_SCALE]).buffer));
        this.scalar("qdq_middle", UINT8, Buffer.from([128]));
        this.scalar("qdq_zero", UINT8, Buffer.from([0]));
        this.scalar("qdq_weight_zero", INT8, Buffer.from([0]));
        this.scalar("qdq_bias_zero", INT32, Buffer.alloc(4));
    }

    scalar(name, type, raw) { this.made.push(writeTensor(name, type, [], raw)); }

    add(type, inputs, output) {
        this.out.push({ type, inputs, outputs: [output], rest: [bytesField(NODE_NAME, `${type}_${output}`)] });
        return output;
    }

    /** The tensor through a pair; one pair however many read it. */
    pair(tensor) {
        if (!this.names.has(tensor)) {
            const zero = this.unsigned.has(tensor) ? "qdq_zero" : "qdq_middle";
            const q = this.add("QuantizeLinear", [tensor, "qdq_scale", zero], `${tensor}_q`);
            this.names.set(tensor, this.add("DequantizeLinear", [q, "qdq_scale", zero], `${tensor}_dq`));
        }
        return this.names.get(tensor);
    }

    /** A weight or bias in its narrow format, and what makes it wide again. */
    constant(name, type, scale, zero) {
        const wide = `${name}_dq`;
        if (!this.names.has(name)) {
            this.made.push(writeTensor(`${name}_q`, type, readTensor(this.initializers.get(name)).dims));
            this.names.set(name, this.add("DequantizeLinear", [`${name}_q`, scale, zero], wide));
        }
        return wide;
    }

    isFloat(name) {
        const tensor = this.initializers.get(name);
        return tensor !== undefined && readTensor(tensor).type === FLOAT;
    }

    /** Normalisations after convolutions become their biases, as ONNX Runtime's pre-processing folds them. */
    fold() {
        const readers = new Map();
        for (const node of this.nodes) for (const input of node.inputs) readers.set(input, (readers.get(input) ?? 0) + 1);
        const producer = new Map(this.nodes.flatMap((node) => node.outputs.map((output) => [output, node])));
        this.nodes = this.nodes.filter((node) => {
            const before = producer.get(node.inputs[0]);
            if (node.type !== "BatchNormalization" || before?.type !== "Conv" || before.inputs.length > 2 || readers.get(node.inputs[0]) !== 1)
                return true;
            before.inputs.push(node.inputs[2]);
            before.outputs = [node.outputs[0]];
            return false;
        });
        this.readers = readers;
        this.producer = new Map(this.nodes.flatMap((node) => node.outputs.map((output) => [output, node])));
    }

    run() {
        this.fold();
        const clamped = new Set(this.nodes.filter((node) => CLAMPS.has(node.type)).map((node) => node.inputs[0]));
        const floats = new Set([this.start]); // tensors known to hold fp32 values
        const wanted = new Set(); // of those, what a quantised operator writes
        for (const node of this.nodes) {
            const quantized = QUANTIZED.has(node.type) && node.inputs.some((input) => floats.has(input));
            if (quantized) {
                if (MOVES.has(node.type) && this.unsigned.has(node.inputs[0])) this.unsigned.add(node.outputs[0]);
                node.inputs = node.inputs.map((input, i) => {
                    if (floats.has(input)) return this.pair(input);
                    if (!this.isFloat(input)) return input;
                    if (PRODUCTS.has(node.type) && i === 2) return this.constant(input, INT32, "qdq_bias_scale", "qdq_bias_zero");
                    // Only weights of products have the weights' type: kernels of sums want equal types on both sides.
                    if (PRODUCTS.has(node.type)) return this.constant(input, INT8, "qdq_weight_scale", "qdq_weight_zero");
                    return this.constant(input, UINT8, "qdq_scale", "qdq_middle");
                });
            } else {
                node.inputs = node.inputs.map((input) => this.names.get(input) ?? input);
            }
            this.out.push(node);
            const clamps = CLAMPS.has(node.type) && floats.has(this.original(node.inputs[0]));
            if (clamps) this.unsigned.add(node.outputs[0]);
            if (!quantized && !clamps && !this.keepsFloat(node, floats)) continue;
            for (const output of node.outputs) {
                floats.add(output);
                if (quantized) wanted.add(output);
                // A clamp joins its operator: the pair follows the clamp.
                if (quantized && !(clamped.has(output) && this.readers.get(output) === 1) && !this.ends.has(output)) this.pair(output);
            }
            if (clamps && wanted.has(this.original(node.inputs[0]))) this.pair(node.outputs[0]);
        }
        return Buffer.concat([...this.out.map(writeNode), ...this.kept, ...this.made,
                              ...[...this.initializers].filter(([name]) => !this.replaced(name)).map(([, bytes]) => bytesField(GRAPH_INITIALIZER, bytes))]);
    }

    /** Name before its pair. */
    original(name) { return name.endsWith("_dq") ? name.slice(0, -3) : name; }

    /** Constants that nobody reads wide any more. */
    replaced(name) {
        return this.names.has(name) && !this.out.some((node) => node.inputs.includes(name));
    }

    /** fp32 in, fp32 out: element-wise functions and normalisations that stay wide. */
    keepsFloat(node, floats) {
        const wide = new Set(["HardSwish", "HardSigmoid", "BatchNormalization", "LayerNormalization", "Erf", "Div", "Sub", "Pow", "Sqrt",
                              "Tanh", "Pad", "ReduceMean", "Where", "Identity", "Dropout"]);
        return wide.has(node.type) && node.inputs.some((input) => floats.has(this.original(input)));
    }
}

/** The bytes of a model with pairs; its quantised weights have no payload. */
export function quantize(model) {
    const out = [];
    for (const field of fields(model))
        out.push(field.number === MODEL_GRAPH ? bytesField(MODEL_GRAPH, new Quantizer(field.value).run())
                                              : model.subarray(field.start, field.end));
    return Buffer.concat(out);
}
