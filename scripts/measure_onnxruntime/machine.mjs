// What disturbs a measurement: other programs, a hypervisor that takes the processor away.
import fs from "node:fs";

const TICK_MS = 10; // USER_HZ is 100 on every Linux port
const USER = 0, NICE = 1, SYSTEM = 2, IRQ = 5, SOFTIRQ = 6, STEAL = 7;

/** Milliseconds of all processors so far: busy, and stolen by the hypervisor. Null where /proc/stat is not there. */
function readClock() {
    let text;
    try {
        text = fs.readFileSync("/proc/stat", "utf8");
    } catch {
        return null;
    }
    const ticks = text.split("\n")[0].trim().split(/\s+/).slice(1).map(Number);
    const busy = [USER, NICE, SYSTEM, IRQ, SOFTIRQ].reduce((sum, i) => sum + (ticks[i] ?? 0), 0);
    return { wall: performance.now(), busy: busy * TICK_MS, steal: (ticks[STEAL] ?? 0) * TICK_MS };
}

/** Watches the machine from here on; `end()` gives the share of one processor that others used meanwhile. */
export function watchOthers() {
    const before = readClock(), own = process.cpuUsage();
    return {
        end() {
            const after = readClock(), used = process.cpuUsage(own);
            if (!before || !after) return null;
            const wall = after.wall - before.wall;
            const others = after.busy - before.busy - (used.user + used.system) / 1000 + after.steal - before.steal;
            return wall > 0 ? Math.max(0, others / wall) : 0;
        },
    };
}
