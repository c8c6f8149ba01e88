// For scripts/check_models_from_packages: reads each model file with the tools and, ONNX files, compares with ONNX
// Runtime. Arguments: folder of packages, folder of tools, folder with node_modules/onnxruntime-node.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { countMacs, readGraph } from "./graph.mjs";

const [models, tools, runtime, ...options] = process.argv.slice(2);
const csv = options[0] === "--csv" ? options[1] : undefined;
const here = path.dirname(fileURLToPath(import.meta.url));
const MOST_REFUSED = 0.02;
const TIMEOUT_MS = 300_000;
const DEVICES = ["Coral-Edge-TPU", "Jetson-Orin-Nano@15W", "Raspberry-Pi-5"];

function filesIn(folder) {
    return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
        const name = path.join(folder, entry.name);
        if (entry.isDirectory()) return filesIn(name);
        return /\.(onnx|ort|tflite)$/.test(entry.name) ? [name] : [];
    });
}

function run(tool, args) {
    const out = spawnSync(path.join(tools, tool), args, { encoding: "utf8", maxBuffer: 1 << 30, timeout: TIMEOUT_MS });
    return { status: out.status ?? -1, text: out.stdout ?? "", error: out.stderr ?? "" };
}

/** "--dim 'Height (px)=224'" as a shell reads it. */
function shellWords(text) {
    const words = [];
    for (const [, quoted, plain] of text.matchAll(/((?:'[^']*'|\\'|[^\s'])+)|(\S+)/g)) {
        const word = (quoted ?? plain).replace(/'([^']*)'|\\(')/g, (_, inside, escaped) => inside ?? escaped);
        words.push(word);
    }
    return words;
}

/** The profile at the sizes that the tool offers for those that are open. */
function profile(file) {
    const args = ["--format", "json", "--tensors"];
    let out = run("profile_graph", [file, ...args]);
    const offered = [];
    for (let tries = 0; out.status === 3 && tries < 3; ++tries) {
        const wanted = JSON.parse(out.text).findings.filter((f) => f.severity === "error" && f.hint?.includes("for example --"));
        const sizes = wanted.flatMap((f) => shellWords(f.hint.slice(f.hint.indexOf("for example ") + 12)));
        if (sizes.length === 0) break;
        offered.push(...sizes);
        out = run("profile_graph", [file, ...args, ...offered]);
    }
    return { ...out, offered, document: out.text.startsWith("{") ? JSON.parse(out.text) : undefined };
}

/** Shapes of the tensors of the main graph as ONNX Runtime executes them. */
function execute(file, shapes) {
    const out = spawnSync(process.execPath, [path.join(here, "execute.mjs"), file, runtime],
                          { input: JSON.stringify(shapes), encoding: "utf8", maxBuffer: 1 << 30, timeout: TIMEOUT_MS });
    try {
        return JSON.parse(out.stdout);
    } catch {
        const lines = (out.stderr || `status ${out.status}`).trim().split("\n");
        return { error: (lines.find((line) => line.includes("Error:")) ?? lines.at(-1)).slice(0, 200) };
    }
}

const same = (a, b) => a.length === b.length && a.every((d, i) => d === b[i]);

function compare(file, document) {
    const graph = readGraph(fs.readFileSync(file));
    const given = Object.fromEntries(graph.inputs.map((name) => [name, document.tensors[name]]));
    const executed = execute(file, given);
    if (executed.error) return { note: `ONNX Runtime: ${executed.error}` };
    const bounds = new Set(document.data_dependent_tensors);
    const differing = [];
    let compared = 0;
    for (const [name, shape] of Object.entries(executed.shapes)) {
        const ours = document.tensors[name];
        if (ours === undefined || bounds.has(name)) continue;
        ++compared;
        if (ours === null || !same(ours, shape)) differing.push(`${name} ${JSON.stringify(ours)} executed ${JSON.stringify(shape)}`);
    }
    const counted = new Map(document.operators.flatMap((op) => op.outputs.slice(0, 1).map((name) => [name, op.macs])));
    let macs = 0;
    for (const { output, macs: own } of countMacs(graph, executed.shapes)) {
        if (!counted.has(output) || bounds.has(output)) continue; // folded
        macs += own;
        if (counted.get(output) !== own) differing.push(`${output} ${counted.get(output)} MACs, executed ${own}`);
    }
    return { compared, macs, differing };
}

const rows = [];
let refused = 0, differ = 0, executed = 0, tensors = 0;
const files = filesIn(models).sort();
for (const file of files) {
    const row = { file: path.relative(models, file), status: "ok", note: "" };
    const own = profile(file);
    if (own.status !== 0) {
        row.status = "refused";
        const error = own.document?.findings.find((f) => f.severity === "error");
        row.note = error ? `${error.where}: ${error.message}` : own.error.trim().slice(0, 300);
        ++refused;
    } else {
        row.macs = own.document.totals.macs;
        const portability = run("check_model", [file, "--hardware", ...DEVICES, "--format", "json", ...own.offered]);
        if (![0, 4].includes(portability.status)) {
            row.status = "refused";
            row.note = `check_model: ${portability.error.trim().slice(0, 300)}`;
            ++refused;
        } else if (file.endsWith(".onnx")) {
            const found = compare(file, own.document);
            row.note = found.note ?? "";
            if (found.compared !== undefined) {
                ++executed;
                tensors += found.compared;
            }
            if (found.differing?.length > 0) {
                row.status = "differs";
                row.note = `${found.differing.length}: ${found.differing.slice(0, 3).join("; ")}`;
                ++differ;
            }
        }
    }
    rows.push(row);
    console.log(`${row.status.padEnd(8)} ${row.file}${row.macs === undefined ? "" : `, ${row.macs} MACs`}${row.note ? `: ${row.note}` : ""}`);
}
if (csv) {
    const cell = (value) => `"${String(value ?? "").replaceAll('"', '""')}"`;
    fs.writeFileSync(csv, ["file,status,macs,note", ...rows.map((r) => [r.file, r.status, r.macs, r.note].map(cell).join(","))].join("\n") + "\n");
}
const packages = new Set(files.map((file) => path.relative(models, file).split(path.sep)[0])).size;
console.log(`\n${files.length} files of ${packages} packages: ${refused} refused, ${differ} differ; ` +
            `${executed} executed in ONNX Runtime, ${tensors} tensors compared`);
process.exit(refused > MOST_REFUSED * files.length || differ > 0 ? 1 : 0);
