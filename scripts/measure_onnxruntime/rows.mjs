// Measurement rows: the CSV that validate_estimates and calibrate_device read (tests/measured/README.md).

const COLUMNS = ["id", "model", "image_size", "sequence", "batch", "precision", "hardware", "power_mode", "devices",
                 "runtime", "scope", "metric", "value", "weight", "source", "source_date", "note"];
// A minimum taken while other programs ran is close to the quiet one, but not as good.
const LOADED_WEIGHT = 0.3;

const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** Lines by id. */
export function readRows(text) {
    const [head, ...lines] = text.split("\n").filter((line) => line.length > 0);
    if (head !== COLUMNS.join(",")) throw new Error("the rows of --output have other columns; name another file");
    return new Map(lines.map((line) => [line.slice(0, line.indexOf(",")), line]));
}

export function toCsv(rows) {
    return [COLUMNS.join(","), ...rows.values()].join("\n") + "\n";
}

/** [id, line] of one network. A quiet machine's row is the median, a busy one's the minimum. */
toCsv.row = ({ network, threads, sizes, times, version, hardware, quiet, cpus }) => {
    const batch = sizes.batch ?? 1;
    const mode = threads < cpus ? `${threads}-thread${threads > 1 ? "s" : ""}` : "";
    const sequence = sizes.sequence ? String(sizes.sequence) : "";
    const id = [hardware, network.name, sequence && `s${sequence}`, `b${batch}`, "fp32", "onnxruntime-cpu", `t${threads}`]
        .filter(Boolean).join("-").toLowerCase();
    const said = [`ONNX Runtime ${version}, ${threads} threads, random weights`,
                  `min ${times.min.toFixed(3)} ms, median ${times.median.toFixed(3)} ms of ${times.runs} runs`,
                  quiet ? "quiet machine" : `minimum, other programs used ${Math.round(times.others * 100)} % of a processor`];
    const value = {
        id, model: network.name, image_size: "", sequence, batch: String(batch), precision: "fp32", hardware,
        power_mode: mode, devices: "1", runtime: "onnxruntime-cpu", scope: "kernel", metric: "latency_ms",
        value: (quiet ? times.median : times.min).toPrecision(5), weight: String(quiet ? 1 : LOADED_WEIGHT),
        source: "scripts/measure", source_date: new Date().toISOString().slice(0, 10), note: said.join("; "),
    };
    return [id, COLUMNS.map((column) => quoted(value[column])).join(",")];
};
