// One network in ONNX Runtime: session, warm-up, repetitions.
import fs from "node:fs";
import { watchOthers } from "./machine.mjs";

const WARM_UP_RUNS = 3, WARM_UP_MS = 200;

const ELEMENTS = {
    float32: (n) => Float32Array.from({ length: n }, (_, i) => ((i * 7919) % 1000) / 1000 - 0.5),
    float16: (n) => new Uint16Array(n).fill(0x3800), // 0.5
    int64: (n) => new BigInt64Array(n).fill(1n), // a token, and a mask that lets it through
    int32: (n) => new Int32Array(n).fill(1),
    int8: (n) => new Int8Array(n).fill(1),
    uint8: (n) => new Uint8Array(n).fill(1),
    bool: (n) => new Uint8Array(n).fill(1),
};

function makeInputs(ort, session, sizes) {
    const inputs = {};
    for (const { name, type, shape } of session.inputMetadata) {
        const dims = shape.map((dim) => {
            if (typeof dim === "number" && dim >= 0) return dim;
            if (sizes[dim] === undefined) throw new Error(`input ${name}: the size of "${dim}" is not given (--bind ${dim}=N)`);
            return sizes[dim];
        });
        if (!ELEMENTS[type]) throw new Error(`input ${name}: no data of type ${type} can be made`);
        inputs[name] = new ort.Tensor(type, ELEMENTS[type](dims.reduce((a, b) => a * b, 1)), dims);
    }
    return inputs;
}

/** Sums of symbolic dimensions that the exporter names, e.g. past_sequence + sequence. */
function withSums(session, sizes) {
    const out = { ...sizes };
    for (const { shape } of session.inputMetadata)
        for (const dim of shape) {
            if (typeof dim === "number" || out[dim] !== undefined) continue;
            const terms = dim.split("+").map((term) => term.trim());
            const values = terms.map((term) => (/^\d+$/.test(term) ? Number(term) : sizes[term]));
            if (terms.length > 1 && values.every((value) => value !== undefined))
                out[dim] = values.reduce((a, b) => a + b, 0);
        }
    return out;
}

/**
 * Milliseconds of one inference: {min, median, runs, others, profile}. `others`: share of one processor that other
 * programs used during the repetitions. `profile`: prefix of the file in which ONNX Runtime writes what each kernel
 * took; the times of such a run are not reported.
 */
export async function runNetwork(ort, file, { threads, sizes, runs, seconds, profile }) {
    const options = { intraOpNumThreads: threads, interOpNumThreads: 1, executionMode: "sequential",
                      graphOptimizationLevel: "all" };
    if (profile) Object.assign(options, { enableProfiling: true, profileFilePrefix: profile });
    const session = await ort.InferenceSession.create(file, options);
    try {
        const inputs = makeInputs(ort, session, withSums(session, sizes));
        const once = async () => {
            const start = process.hrtime.bigint();
            await session.run(inputs);
            return Number(process.hrtime.bigint() - start) / 1e6;
        };
        const warmed = performance.now() + WARM_UP_MS;
        for (let i = 0; i < WARM_UP_RUNS || (!profile && performance.now() < warmed); ++i)
            if ((await once()) > 5 * WARM_UP_MS) break;
        const watch = watchOthers();
        const times = [];
        const end = performance.now() + seconds * 1000;
        while (times.length < 5 || (times.length < runs && performance.now() < end)) times.push(await once());
        const others = watch.end();
        if (profile) session.endProfiling();
        times.sort((a, b) => a - b);
        const middle = times.length >> 1;
        const median = times.length % 2 ? times[middle] : (times[middle - 1] + times[middle]) / 2;
        return { min: times[0], median, runs: times.length, others };
    } finally {
        await session.release();
    }
}
