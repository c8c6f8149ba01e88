import sys

import archsim

engine = archsim.Session().engine(sys.argv[1], sys.argv[2])
step = engine.step([(1, 1000), (1, 3000), (512, 0)])  # new tokens, cached ones
print(f"{1e3 * step.seconds:.3g} ms ({1e3 * step.low_s:.3g} to {1e3 * step.high_s:.3g}), {step.joules:.3g} J")
