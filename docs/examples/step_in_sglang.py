"""SGLang's simulator (sgl-project/sglang, tools/sglang-simulator) on every device of this database.

Its scheduler, radix cache and request lifecycle stay; the time of a batch comes from here. A predictor there is a
class with `predict_infer_time(batch)`, seconds, whose batch has `reqs`, each with `extend_length` tokens to compute
behind `past_kv_length` cached ones.
"""

import archsim


class ArchsimPredictor:
    """Constructed as SGLang's simulator does it: model, accelerator and scheduler configuration, then options of ours."""

    def __init__(self, model, hw, config, *, session=None, **how):
        self.model, self.hw, self.config = model, hw, config
        name, device = getattr(model, "name", model), getattr(hw, "name", hw)
        self.engine = (session or archsim.Session()).engine(name, device, **how)
        self.joules = 0.0

    def predict_infer_time(self, batch):
        step = self.engine.step([(request.extend_length, request.past_kv_length) for request in batch.reqs])
        self.joules += step.joules
        return step.seconds

    def get_metrics(self):
        return {"joules": self.joules}

    def reset_metrics(self):
        self.joules = 0.0
