// scripts/measure: times networks of the catalogue in ONNX Runtime on this machine and writes measurement rows.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { watchOthers } from "./machine.mjs";
import { readRows, toCsv } from "./rows.mjs";
import { quantize } from "./quantize.mjs";
import { runNetwork } from "./run_network.mjs";
import { giveWeights, hasWeights } from "./weights.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const HELP = `usage: scripts/measure [NETWORK...] [options]

Times networks of the catalogue in ONNX Runtime on this machine, with random weights, and writes one measurement row
for each network and number of threads. A NETWORK is a catalogue name or the path of an .onnx file.

  --threads N,...      intra-op threads (default: 1 and all processors)
  --batch N            default 1
  --precision FORMAT   fp32 (default), or int8: weights and activations of networks that read an image, as pairs of
                       QuantizeLinear and DequantizeLinear
  --bind NAME=SIZE     size of a symbolic dimension (repeatable; default: the catalogue's)
  --runs N             most repetitions (default 40)
  --seconds S          most seconds for the repetitions of one row; five are always made (default 3)
  --hardware NAME      device name in the rows (default: this-machine)
  --output FILE        rows as CSV (default: standard output); rows that FILE has are kept or replaced
  --profile FOLDER     instead of rows: what every kernel took, as ONNX Runtime's JSON profiles
  --cache FOLDER       keep graphs with weights there (default: removed after use)
  --only-graphs        write the graphs with weights into the folder of --cache, and measure nothing
  --any-load           measure although other programs are running; their rows get a low weight
`;
// Other programs use more than this share of one processor: the machine is not quiet.
const QUIET_SHARE = 0.05;
const QUIET_CHECK_MS = 500;
const OK = 0, USAGE = 1, INPUT = 2, INCOMPLETE = 3;

class UsageError extends Error {}

function readCatalogue() {
    const folder = path.join(ROOT, "models/catalogue");
    const models = fs.readdirSync(folder).filter((f) => f.endsWith(".json"))
        .flatMap((f) => JSON.parse(fs.readFileSync(path.join(folder, f), "utf8")).models);
    const byName = new Map();
    for (const model of models) for (const name of [model.name, ...(model.aliases ?? [])]) byName.set(name.toLowerCase(), model);
    return byName;
}

function findNetwork(catalogue, name) {
    if (name.endsWith(".onnx")) {
        if (!fs.existsSync(name)) throw new Error(`${name}: there is no such file`);
        return { name: path.basename(name, ".onnx"), path: name, dims: { batch: 1 } };
    }
    const model = catalogue.get(name.toLowerCase());
    if (!model) throw new Error(`no model is called "${name}"; scripts/run discover_models lists them`);
    if (!model.file) throw new Error(`${name} has parts: measure ${model.parts.map((p) => p.model).join(", ")}`);
    return { name: model.name, path: path.join(ROOT, "models", model.file), dims: model.dims };
}

function loadRuntime() {
    const from = process.env.ARCHSIM_ONNXRUNTIME ?? path.join(ROOT, "build/packages/onnxruntime");
    try {
        const require = createRequire(path.join(from, "package.json"));
        return { ort: require("onnxruntime-node"), version: require("onnxruntime-node/package.json").version };
    } catch (problem) {
        throw new Error(`ONNX Runtime cannot be loaded from ${from}: run scripts/setup measure (${problem.message.split("\n")[0]})`);
    }
}

function wholeNumber(text, flag) {
    const value = Number(text);
    if (!Number.isInteger(value) || value < 1) throw new UsageError(`${flag}: "${text}" is not a whole number above zero`);
    return value;
}

function readOptions() {
    const text = { type: "string" };
    let parsed;
    try {
        parsed = parseArgs({ allowPositionals: true, options: {
            threads: text, batch: text, precision: text, bind: { type: "string", multiple: true, default: [] }, runs: text, seconds: text,
            hardware: text, output: text, profile: text, cache: text, "any-load": { type: "boolean" }, "only-graphs": { type: "boolean" },
            help: { type: "boolean", short: "h" } } });
    } catch (problem) {
        throw new UsageError(problem.message);
    }
    const { values, positionals } = parsed;
    const cpus = os.availableParallelism();
    const threads = values.threads ? values.threads.split(",").map((t) => wholeNumber(t, "--threads"))
                                   : [...new Set([1, cpus])];
    const bind = {};
    for (const pair of values.bind) {
        const at = pair.indexOf("=");
        if (at < 1) throw new UsageError(`--bind: write NAME=SIZE, not "${pair}"`);
        bind[pair.slice(0, at)] = wholeNumber(pair.slice(at + 1), "--bind");
    }
    if (values.batch) bind.batch = wholeNumber(values.batch, "--batch");
    const precision = values.precision ?? "fp32";
    if (!["fp32", "int8"].includes(precision)) throw new UsageError(`--precision: "${precision}" is neither fp32 nor int8`);
    const seconds = Number(values.seconds ?? 3);
    if (!(seconds > 0)) throw new UsageError(`--seconds: "${values.seconds}" is not a time`);
    return { ...values, networks: positionals, threads, bind, precision, runs: wholeNumber(values.runs ?? 40, "--runs"), seconds,
             hardware: values.hardware ?? "this-machine", cpus };
}

/** Share of one processor that other programs use while this one waits. */
async function loadOfOthers() {
    const watch = watchOthers();
    await new Promise((done) => setTimeout(done, QUIET_CHECK_MS));
    return watch.end();
}

/** The network's graph with weights in a format: its own file where that has them, else one in `folder`. */
function graphWithWeights(network, precision, folder) {
    const stem = path.join(folder, `${network.name}-${precision}`), made = { model: `${stem}.onnx`, files: [`${stem}.onnx`, `${stem}.weights`] };
    if (fs.existsSync(made.model)) return made;
    const graph = fs.readFileSync(network.path);
    if (precision === "fp32" && hasWeights(graph)) return { model: network.path, files: [] };
    giveWeights(precision === "int8" ? quantize(graph) : graph, ...made.files);
    return made;
}

async function main() {
    const options = readOptions();
    if (options.help || options.networks.length === 0) {
        process.stdout.write(HELP);
        return options.help ? OK : USAGE;
    }
    const catalogue = readCatalogue();
    const networks = options.networks.map((name) => findNetwork(catalogue, name));
    if (options["only-graphs"]) {
        if (!options.cache) throw new UsageError("--only-graphs: name the folder with --cache");
        fs.mkdirSync(options.cache, { recursive: true });
        for (const network of networks) graphWithWeights(network, options.precision, options.cache);
        return OK;
    }
    const { ort, version } = loadRuntime();
    const load = await loadOfOthers();
    if (load > QUIET_SHARE && !options["any-load"]) {
        process.stderr.write(`scripts/measure: other programs use ${Math.round(load * 100)} % of a processor; end them, ` +
                             "or give --any-load\n");
        return INPUT;
    }
    const folder = options.cache ?? fs.mkdtempSync(path.join(os.tmpdir(), "archsim-measure-"));
    fs.mkdirSync(folder, { recursive: true });
    const rows = options.output && fs.existsSync(options.output) ? readRows(fs.readFileSync(options.output, "utf8")) : new Map();
    let failed = false;
    try {
        for (const network of networks) {
            const { model, files } = graphWithWeights(network, options.precision, folder);
            for (const threads of options.threads) {
                const sizes = { ...network.dims, ...options.bind };
                const profile = options.profile && path.join(options.profile, `${network.name}-${threads}`);
                try {
                    const times = await runNetwork(ort, model, { ...options, threads, sizes, profile });
                    const row = { ...options, network, threads, sizes, times, version,
                                  quiet: times.others === null || times.others <= QUIET_SHARE };
                    rows.set(...toCsv.row(row));
                    process.stderr.write(`${network.name}, ${threads} threads: min ${times.min.toFixed(3)} ms, median ` +
                        `${times.median.toFixed(3)} ms of ${times.runs}${row.quiet ? "" : `; others ${Math.round(times.others * 100)} %`}\n`);
                    if (options.output && !options.profile) fs.writeFileSync(options.output, toCsv(rows));
                } catch (problem) {
                    failed = true;
                    process.stderr.write(`scripts/measure: ${network.name}: ${problem.message.split("\n")[0]}\n`);
                }
            }
            if (!options.cache) for (const file of files) fs.rmSync(file, { force: true });
        }
    } finally {
        if (!options.cache) fs.rmSync(folder, { recursive: true, force: true });
    }
    if (!options.output && !options.profile) process.stdout.write(toCsv(rows));
    return failed ? INCOMPLETE : OK;
}

try {
    process.exitCode = await main();
} catch (problem) {
    process.stderr.write(`scripts/measure: ${problem.message}\n`);
    process.exitCode = problem instanceof UsageError ? USAGE : INPUT;
}
