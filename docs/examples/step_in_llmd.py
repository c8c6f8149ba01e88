"""Latencies of llm-d-inference-sim for any device of this database.

The simulator's per-token calculator (docs/configuration.md there) waits for

    (prefill-overhead + new prompt tokens x prefill-time-per-token) x load      before the first token,
    inter-token-latency x load                                                   before each later one,

with load = 1 + (time-factor-under-load - 1) x (running - 1) / (max-num-seqs - 1). latencies() reads the four numbers
from steps; the result goes into its configuration file as it is.
"""

import archsim


def latencies(engine, *, prompt_tokens=1024, context=1024, max_num_seqs=256):
    """The keys of the simulator's configuration."""
    short, whole = max(1, prompt_tokens // 8), prompt_tokens
    seconds = lambda batch: engine.step(batch).seconds
    per_token = (seconds([(whole, 0)]) - seconds([(short, 0)])) / (whole - short)
    overhead = max(0.0, seconds([(whole, 0)]) - whole * per_token)
    alone, full = seconds([(1, context)]), seconds([(1, context)] * max_num_seqs)
    duration = lambda value: f"{1e6 * value:.1f}us"
    return {
        "latency-calculator": "per-token",
        "prefill-overhead": duration(overhead),
        "prefill-time-per-token": duration(per_token),
        "inter-token-latency": duration(alone),
        "time-factor-under-load": round(max(1.0, full / alone), 3),
        "max-num-seqs": max_num_seqs,
    }


if __name__ == "__main__":
    import json
    import sys

    model, device = sys.argv[1:3]
    print(json.dumps(latencies(archsim.Session().engine(model, device)), indent=2))
