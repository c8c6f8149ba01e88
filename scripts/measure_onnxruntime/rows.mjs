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
toCsv.row = ({ network, threads, sizes, times, version, hardware, precision, quiet, cpus }) => {
    const batch = sizes.batch ?? 1;
    const mode = threads < cpus ? `${threads}-thread${threads > 1 ? "s" : ""}` : "";
    // A side that is asked for, where the catalogue's is another.
    const side = sizes.height === sizes.width && sizes.height !== network.dims.height ? String(sizes.height) : "";
    const sequence = sizes.sequence ? String(sizes.sequence) : "";
    const id = [hardware, network.name, side && `r${side}`, sequence && `s${sequence}`, `b${batch}`, precision, "onnxruntime-cpu", `t${threads}`]
        .filter(Boolean).join("-").toLowerCase();
    const said = [`ONNX Runtime ${version}, ${threads} threads, random weights${precision === "int8" ? ", QDQ" : ""}`,
                  `min ${times.min.toFixed(3)} ms, median ${times.median.toFixed(3)} ms of ${times.runs} runs`,
                  quiet ? "quiet machine" : `minimum, other programs used ${Math.round(times.others * 100)} % of a processor`];
    const value = {
        id, model: network.name, image_size: side, sequence, batch: String(batch), precision, hardware,
        power_mode: mode, devices: "1", runtime: "onnxruntime-cpu", scope: "kernel", metric: "latency_ms",
        value: (quiet ? times.median : times.min).toPrecision(5), weight: String(quiet ? 1 : LOADED_WEIGHT),
        source: "scripts/measure", source_date: new Date().toISOString().slice(0, 10), note: said.join("; "),
    };
    return [id, COLUMNS.map((column) => quoted(value[column])).join(",")];
};
