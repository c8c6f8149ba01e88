"""The step of an engine from Python, and its adapters against stubs of the interfaces they are for."""

import importlib.util
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

import archsim

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
BATCH = [(1, 1000), (1, 3000), (512, 0)]


def example(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def session():
    return archsim.Session()


@pytest.fixture(scope="module")
def engine(session):
    return session.engine("llama-3.2-1b", "H100", precision="fp16")


def test_step_is_the_same_from_every_thread(engine):
    step = engine.step(BATCH)
    assert 0 < step.low_s < step.seconds < step.high_s
    assert step.joules > 0
    seen = []
    threads = [threading.Thread(target=lambda: seen.append(engine.step(BATCH).seconds)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [step.seconds] * 4
    assert engine.cache_bytes(1000) * 100 < engine.cache_room_bytes


def test_wrong_steps_and_engines_say_why(session, engine):
    with pytest.raises(archsim.UsageError, match="1 to 65536 sequences"):
        engine.step([])
    with pytest.raises(archsim.UsageError, match="new tokens"):
        engine.step([(0, 5)])
    with pytest.raises(archsim.InputError, match="no room"):
        session.engine("llama-3-70b", "H100", devices=1)
    with pytest.raises(archsim.UsageError, match="max_sequences"):
        session.engine("llama-3.2-1b", "H100", max_sequences="many")
    assert session.engine("llama-3-70b", "H100", parallel="tp=4").step([(1, 100)]).seconds > 0


def test_serve_takes_every_field_of_a_server(session):
    even = session.serve("llama-3.2-1b", "H100", rate_per_s=5, requests=60, arrivals="constant", request_time="5ms")
    assert '"requests": 60' in even.to_json()
    with pytest.raises(archsim.UsageError, match="load"):
        session.serve("llama-3.2-1b", "H100")
    with pytest.raises(archsim.UsageError, match="bursty"):
        session.serve("llama-3.2-1b", "H100", rate_per_s=5, burstiness=0.5)


def test_sglang_simulator(session, engine):
    # What its scheduler passes on: InferTimePredictor.predict_infer_time(batch) with batch.reqs.
    batch = SimpleNamespace(reqs=[SimpleNamespace(extend_length=new, past_kv_length=past) for new, past in BATCH])
    predictor = example("step_in_sglang").ArchsimPredictor(
        SimpleNamespace(name="llama-3.2-1b"), SimpleNamespace(name="H100"), None, session=session, precision="fp16"
    )
    assert predictor.predict_infer_time(batch) == engine.step(BATCH).seconds
    assert predictor.get_metrics()["joules"] == engine.step(BATCH).joules
    predictor.reset_metrics()
    assert predictor.get_metrics()["joules"] == 0


def test_vllm_scheduler(engine):
    # SchedulerOutput of vLLM v1: new requests, requests that go on, and tokens by the name of a request.
    output = SimpleNamespace(
        scheduled_new_reqs=[SimpleNamespace(req_id="c", num_computed_tokens=0)],
        scheduled_cached_reqs=SimpleNamespace(req_ids=["a", "b"], num_computed_tokens=[1000, 3000]),
        num_scheduled_tokens={"c": 512, "a": 1, "b": 1},
    )
    adapter = example("step_in_vllm")
    assert sorted(adapter.batch_of(output)) == sorted(BATCH)
    assert adapter.step_of(engine, output).seconds == engine.step(BATCH).seconds
    empty = SimpleNamespace(
        scheduled_new_reqs=[],
        scheduled_cached_reqs=SimpleNamespace(req_ids=[], num_computed_tokens=[]),
        num_scheduled_tokens={},
    )
    assert adapter.step_of(engine, empty) is None


def test_llm_d_inference_sim(engine):
    keys = example("step_in_llmd").latencies(engine, prompt_tokens=1024, context=1024, max_num_seqs=256)

    def seconds(key):
        assert keys[key].endswith("us")
        return 1e-6 * float(keys[key][:-2])

    # The simulator's own formulas give the steps back at both ends of the load.
    load = lambda running: 1 + (keys["time-factor-under-load"] - 1) * (running - 1) / (keys["max-num-seqs"] - 1)
    first = seconds("prefill-overhead") + 1024 * seconds("prefill-time-per-token")
    assert first == pytest.approx(engine.step([(1024, 0)]).seconds, rel=0.02)
    later = seconds("inter-token-latency")
    assert later * load(1) == pytest.approx(engine.step([(1, 1024)]).seconds, rel=0.02)
    assert later * load(256) == pytest.approx(engine.step([(1, 1024)] * 256).seconds, rel=0.02)
