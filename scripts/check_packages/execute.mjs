// Runs one ONNX file in ONNX Runtime without optimisation, every tensor of its main graph as an output; the shapes of
// the inputs come as JSON on standard input, those of all tensors go to standard output. A process of its own: a file
// that the runtime dies of ends nothing else.
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { readGraph, withOutputs } from "./graph.mjs";

const [file, runtime] = process.argv.slice(2);
const ort = createRequire(path.join(runtime, "package.json"))("onnxruntime-node");
const shapes = JSON.parse(fs.readFileSync(0, "utf8"));

const count = (dims) => dims.reduce((a, b) => a * b, 1);
// A token that is there, a mask that lets it through, a sample rate that voice detectors know.
const whole = (name) => (/^(sr|sample_?rate|sampling_rate)$/i.test(name) ? 16000 : 1);
const MAKE = {
    float32: (n) => Float32Array.from({ length: n }, (_, i) => ((i * 7919) % 1000) / 1000 - 0.5),
    float64: (n) => Float64Array.from({ length: n }, (_, i) => ((i * 7919) % 1000) / 1000 - 0.5),
    float16: (n) => new Uint16Array(n).fill(0x3800),
    int64: (n, name) => new BigInt64Array(n).fill(BigInt(whole(name))),
    int32: (n, name) => new Int32Array(n).fill(whole(name)),
    int8: (n) => new Int8Array(n).fill(1),
    uint8: (n) => new Uint8Array(n).fill(1),
    bool: (n) => new Uint8Array(n).fill(1),
    string: (n) => new Array(n).fill("a"),
};

async function open(names) {
    const bytes = fs.readFileSync(file);
    return ort.InferenceSession.create(withOutputs(bytes, names), {
        graphOptimizationLevel: "disabled", logSeverityLevel: 4, intraOpNumThreads: 1, interOpNumThreads: 1 });
}

const graph = readGraph(fs.readFileSync(file));
const known = new Set([...graph.outputs, ...graph.inputs, ""]);
const names = [...new Set(graph.nodes.flatMap((node) => node.outputs))].filter((name) => !known.has(name));
let session;
try {
    session = await open(names);
} catch (problem) { // sequences and the like cannot be declared without a type
    session = await open([]);
}
const inputs = {};
for (const { name, type } of session.inputMetadata) {
    if (!MAKE[type]) throw new Error(`input ${name}: no data of type ${type} can be made`);
    inputs[name] = new ort.Tensor(type, MAKE[type](count(shapes[name]), name), shapes[name]);
}
const results = await session.run(inputs);
const found = {};
for (const [name, tensor] of Object.entries(results)) if (tensor?.dims) found[name] = [...tensor.dims];
process.stdout.write(JSON.stringify({ shapes: found }), () => process.exit(0));
