import sys

import archsim

session = archsim.Session()
model = session.load(sys.argv[1])
result = session.estimate(model, "H100", precision="fp16")
if not result.ok:
    sys.exit(result.reason)
print(f"{1e3 * result.latency_s:.3g} ms, {1e3 * result.energy_per_inference_j:.3g} mJ")
