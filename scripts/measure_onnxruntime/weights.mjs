// Gives a graph without weights random ones, so that a runtime can execute it. Values are drawn so that activations
// stay near one: a time must not depend on denormal numbers or on infinities. The catalogue's graphs keep the payload
// of everything that shapes depend on (models/export/README.md); what lacks one here is a weight, a buffer or a table
// of indices.
import fs from "node:fs";
import { bytesField, fields, numberField, numbersOf } from "./wire.mjs";

// Field numbers of onnx.proto3.
const MODEL_GRAPH = 7;
const GRAPH_NODE = 1, GRAPH_INITIALIZER = 5;
const NODE_ATTRIBUTE = 5;
const ATTRIBUTE_TENSOR = 5, ATTRIBUTE_GRAPH = 6;
const TENSOR_DIMS = 1, TENSOR_TYPE = 2, TENSOR_NAME = 8, TENSOR_RAW = 9, TENSOR_EXTERNAL = 13, TENSOR_LOCATION = 14;
const TENSOR_PAYLOADS = [4, 5, 6, 7, 9, 10, 11, 13];
const ENTRY_KEY = 1, ENTRY_VALUE = 2;
const EXTERNAL = 1;
// TensorProto.DataType: bytes of an element, and whether it is fp32 or fp16.
const FLOAT = 1, UINT8 = 2, INT8 = 3, FLOAT16 = 10;
const ELEMENT_BYTES = { 1: 4, 2: 1, 3: 1, 4: 2, 5: 2, 6: 4, 7: 8, 9: 1, 10: 2, 11: 8, 12: 4, 13: 8, 16: 2 };

// Payloads longer than this lie beside the model; a message of protobuf holds 2 GiB at most.
const INLINE_BYTES = 1024;
const PAGE = 4096;

/** xorshift32: the same weights on every machine. */
function makeRandom(seed) {
    let state = seed;
    return () => {
        state ^= state << 13;
        state ^= state >>> 17;
        state ^= state << 5;
        return (state >>> 0) / 2 ** 32;
    };
}

/** fp16 bits of a normal number of moderate size. */
function toHalf(value) {
    const bits = new Uint32Array(new Float32Array([value]).buffer)[0];
    const exponent = ((bits >>> 23) & 0xff) - 127 + 15;
    if (exponent <= 0) return 0;
    return ((bits >>> 16) & 0x8000) | (exponent << 10) | ((bits >>> 13) & 0x3ff);
}

/** Range of a weight's values: vectors are scales, shifts and variances, near one; matrices keep the sum of their
 *  products near the size of what they multiply. */
function rangeOf(dims) {
    if (dims.length < 2) return [0.5, 1.5];
    const fan = dims.length > 2 ? dims.slice(1).reduce((a, b) => a * b, 1) : Math.max(...dims);
    const width = Math.sqrt(3 / Math.max(1, fan));
    return [-width, width];
}

const BLOCK = 1 << 20;

function makePayload(type, dims, elements, random) {
    const bytes = Buffer.alloc(elements * ELEMENT_BYTES[type]);
    if (type === INT8 || type === UINT8) // a quantised constant
        for (let i = 0; i < elements; ++i) bytes[i] = 256 * random();
    if (type !== FLOAT && type !== FLOAT16) return bytes; // indices: the first entry is always there
    const [low, high] = rangeOf(dims);
    const draw = () => low + (high - low) * random();
    const drawn = Math.min(elements, BLOCK); // then it repeats
    const view = type === FLOAT ? new Float32Array(bytes.buffer, bytes.byteOffset, elements)
                                : new Uint16Array(bytes.buffer, bytes.byteOffset, elements);
    for (let i = 0; i < drawn; ++i) view[i] = type === FLOAT ? draw() : toHalf(draw());
    for (let at = drawn; at < elements; at += drawn) view.copyWithin(at, 0, Math.min(drawn, elements - at));
    return bytes;
}

class Filler {
    constructor(weightsFile) {
        this.random = makeRandom(20261122);
        this.location = weightsFile.split("/").pop();
        this.file = fs.openSync(weightsFile, "w");
        this.at = 0;
    }

    close() { fs.closeSync(this.file); }

    /** The tensor with a payload; unchanged when it has one. */
    tensor(bytes, external) {
        let type = 0, name = "";
        const dims = [];
        for (const field of fields(bytes)) {
            if (TENSOR_PAYLOADS.includes(field.number)) return bytes;
            if (field.number === TENSOR_DIMS) dims.push(...numbersOf(field).map(Number));
            else if (field.number === TENSOR_TYPE) type = Number(field.value);
            else if (field.number === TENSOR_NAME) name = Buffer.from(field.value).toString();
        }
        const elements = dims.reduce((a, b) => a * b, 1);
        if (elements === 0) return bytes;
        if (!ELEMENT_BYTES[type]) throw new Error(`tensor ${name}: data type ${type} is not known`);
        const payload = makePayload(type, dims, elements, this.random);
        if (!external || payload.length <= INLINE_BYTES) return Buffer.concat([bytes, bytesField(TENSOR_RAW, payload)]);
        const entry = (key, value) =>
            bytesField(TENSOR_EXTERNAL, Buffer.concat([bytesField(ENTRY_KEY, key), bytesField(ENTRY_VALUE, value)]));
        const place = Buffer.concat([entry("location", this.location), entry("offset", String(this.at)),
                                     entry("length", String(payload.length)), numberField(TENSOR_LOCATION, EXTERNAL)]);
        fs.writeSync(this.file, payload, 0, payload.length, this.at);
        this.at = Math.ceil((this.at + payload.length) / PAGE) * PAGE;
        return Buffer.concat([bytes, place]);
    }

    /** The message with `change` applied to the fields it names. */
    edit(bytes, change) {
        const out = [];
        for (const field of fields(bytes)) {
            const edited = field.type === 2 && change[field.number] ? change[field.number](field.value) : undefined;
            out.push(edited === undefined ? bytes.subarray(field.start, field.end) : bytesField(field.number, edited));
        }
        return Buffer.concat(out);
    }

    graph(bytes) {
        const attribute = (value) => this.edit(value, {
            [ATTRIBUTE_TENSOR]: (tensor) => this.tensor(tensor, false),
            [ATTRIBUTE_GRAPH]: (graph) => this.graph(graph),
        });
        return this.edit(bytes, {
            [GRAPH_NODE]: (node) => this.edit(node, { [NODE_ATTRIBUTE]: attribute }),
            [GRAPH_INITIALIZER]: (tensor) => this.tensor(tensor, true),
        });
    }
}

/** Whether every initializer of a model has a payload, inside or beside the file. */
export function hasWeights(model) {
    for (const field of fields(model))
        if (field.number === MODEL_GRAPH)
            for (const member of fields(field.value))
                if (member.number === GRAPH_INITIALIZER && ![...fields(member.value)].some((f) => TENSOR_PAYLOADS.includes(f.number)))
                    return false;
    return true;
}

/** Writes `modelOut` and `weightsOut` beside it: the model (its bytes) with random weights. */
export function giveWeights(model, modelOut, weightsOut) {
    const filler = new Filler(weightsOut);
    try {
        fs.writeFileSync(modelOut, filler.edit(model, { [MODEL_GRAPH]: (graph) => filler.graph(graph) }));
    } finally {
        filler.close();
    }
}
