// What of an ONNX file the comparison needs: nodes of the main graph, shapes of its weights, and the multiply-
// accumulates that follow from executed shapes. Written apart from the library's own reader, to be an independent count.
import { bytesField, fields, numbersOf } from "../measure_onnxruntime/wire.mjs";

// Field numbers of onnx.proto3.
const MODEL_GRAPH = 7;
const GRAPH_NODE = 1, GRAPH_INITIALIZER = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12;
const NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_TYPE = 4, NODE_ATTRIBUTE = 5, NODE_DOMAIN = 7;
const ATTRIBUTE_NAME = 1, ATTRIBUTE_INTEGER = 3, ATTRIBUTE_TENSOR = 5;
const TENSOR_DIMS = 1, TENSOR_NAME = 8;
const VALUE_NAME = 1;

const text = (bytes) => Buffer.from(bytes).toString("utf8");

function readTensor(bytes) {
    const tensor = { name: "", dims: [] };
    for (const field of fields(bytes)) {
        if (field.number === TENSOR_NAME) tensor.name = text(field.value);
        if (field.number === TENSOR_DIMS) tensor.dims.push(...numbersOf(field).map(Number));
    }
    return tensor;
}

function readNode(bytes) {
    const node = { inputs: [], outputs: [], type: "", domain: "", integers: {}, tensors: {} };
    for (const field of fields(bytes)) {
        if (field.number === NODE_INPUT) node.inputs.push(text(field.value));
        if (field.number === NODE_OUTPUT) node.outputs.push(text(field.value));
        if (field.number === NODE_TYPE) node.type = text(field.value);
        if (field.number === NODE_DOMAIN) node.domain = text(field.value);
        if (field.number === NODE_ATTRIBUTE) {
            let name = "";
            for (const part of fields(field.value)) if (part.number === ATTRIBUTE_NAME) name = text(part.value);
            for (const part of fields(field.value)) {
                if (part.number === ATTRIBUTE_INTEGER && part.type === 0) node.integers[name] = Number(BigInt.asIntN(64, part.value));
                if (part.number === ATTRIBUTE_TENSOR) node.tensors[name] = readTensor(part.value);
            }
        }
    }
    return node;
}

/** {nodes, weights: name -> shape, inputs, outputs} of the main graph. */
export function readGraph(bytes) {
    const graph = { nodes: [], weights: {}, inputs: [], outputs: [] };
    for (const model of fields(bytes)) {
        if (model.number !== MODEL_GRAPH) continue;
        for (const field of fields(model.value)) {
            if (field.number === GRAPH_NODE) graph.nodes.push(readNode(field.value));
            const name = () => text([...fields(field.value)].find((f) => f.number === VALUE_NAME)?.value ?? "");
            if (field.number === GRAPH_INPUT) graph.inputs.push(name());
            if (field.number === GRAPH_OUTPUT) graph.outputs.push(name());
            if (field.number === GRAPH_INITIALIZER) {
                const tensor = readTensor(field.value);
                graph.weights[tensor.name] = tensor.dims;
            }
        }
    }
    for (const node of graph.nodes)
        if (node.type === "Constant" && node.tensors.value) graph.weights[node.outputs[0]] = node.tensors.value.dims;
    graph.inputs = graph.inputs.filter((name) => !(name in graph.weights)); // before IR version 4 they are listed too
    return graph;
}

/** The model with these tensors as outputs too: a graph that comes twice is read into the same message. */
export function withOutputs(bytes, names) {
    const outputs = names.map((name) => bytesField(GRAPH_OUTPUT, bytesField(VALUE_NAME, name)));
    return Buffer.concat([bytes, bytesField(MODEL_GRAPH, Buffer.concat(outputs))]);
}

const product = (dims) => dims.reduce((a, b) => a * b, 1);

/** Multiply-accumulates of convolutions and products of the main graph, by their first output. */
export function countMacs(graph, executed) {
    const counts = [];
    const shape = (name) => executed[name] ?? graph.weights[name];
    for (const node of graph.nodes) {
        if (node.domain && node.domain !== "ai.onnx") continue;
        const [a, b] = node.inputs.map(shape), out = shape(node.outputs[0]);
        let macs;
        if (node.type === "Conv" && out && b) macs = product(out) * product(b.slice(1));
        if (node.type === "ConvTranspose" && a && b) macs = product(a) * product(b.slice(1));
        if (node.type === "MatMul" && out && a) macs = product(out) * a.at(-1);
        if (node.type === "Gemm" && out && a) macs = product(out) * a[node.integers.transA ? 0 : 1];
        if (macs !== undefined) counts.push({ output: node.outputs[0], macs });
    }
    return counts;
}
