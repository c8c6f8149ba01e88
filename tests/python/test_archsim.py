"""The Python package: numbers equal the library's, failures are typed, sweeps are arrays."""

import json
import pathlib
import threading

import numpy
import pytest

import archsim


@pytest.fixture(scope="module")
def session():
    return archsim.Session()


@pytest.fixture(scope="module")
def resnet(session):
    return session.load("resnet18")


def test_facts_of_a_model(session, resnet):
    facts = session.facts(resnet, batch=2)
    assert facts.parameters == 11_689_512  # torchvision's published figure
    assert facts.complete and not [f for f in facts.findings if "error" in f]
    assert facts.dims["batch"] == 2


def test_every_kind_of_model_is_one_question(session):
    clip = session.estimate("clip-vit-b32", "H100", precision="fp16", batch=2)
    assert clip.ok and [name for name, _ in clip.parts] == ["image", "text", "similarity"]
    assert clip.energy_per_inference_j == pytest.approx(sum(p.energy_per_inference_j for _, p in clip.parts))
    llama = session.estimate("llama-3-8b", "H100", precision="fp16", prompt_tokens=64, generate_tokens=16)
    assert llama.ok and llama.time_to_first_token_s > llama.time_per_output_token_s
    assert llama.latency_s == pytest.approx(llama.time_to_first_token_s + 15 * llama.time_per_output_token_s)
    assert session.estimate("llama-3-8b", "H100", precision="fp16", single_pass=True).time_to_first_token_s is None
    assert session.estimate("llama-3-8b", "H100").time_to_first_token_s > 0 # an answer, unless a pass is asked for
    with pytest.raises(archsim.UsageError):
        session.estimate("clip-vit-b32", "H100", prompt_tokens=64)


def test_a_question_is_that_of_the_tools(session):
    asked = {"prompt_tokens": 64, "generate_tokens": 16}
    usual = session.estimate("qwen3-0.6b", "H100", **asked)
    assert json.loads(usual.to_json())["precision"] == "bf16"
    assert usual.latency_s == session.estimate("qwen3-0.6b", "H100", precision="bf16", **asked).latency_s
    assert usual.latency_s < session.estimate("qwen3-0.6b", "H100", precision="fp32", **asked).latency_s
    assert session.estimate("resnet18", "H100").latency_s == session.estimate("resnet18", "H100", precision="usual").latency_s
    roomy = session.estimate("qwen3-0.6b", "H100", context="4k", weights="int4", devices="auto", **asked)
    assert roomy.ok and roomy.latency_s < usual.latency_s
    with pytest.raises(archsim.UsageError, match="contxt"):
        session.estimate("qwen3-0.6b", "H100", contxt=4096, **asked)


def test_an_estimate_is_consistent(session, resnet):
    result = session.estimate(resnet, "H100", precision="fp16")
    assert result.ok and result.status == "ok"
    low, high = result.latency_interval_s
    assert low < result.latency_s < high
    assert result.to_dict()["latency_s"] == result.latency_s
    inside = sum(s.latency_s for s in result.subgraphs)
    assert 0 < inside <= result.latency_s * (1 + 1e-9)
    assert result.power_w == pytest.approx(result.energy_per_inference_j / result.latency_s)


def test_measurements_of_ones_own_narrow_what_they_are_akin_to(resnet):
    own = archsim.Session()
    before = own.estimate(resnet, "Hailo-8L", precision="int8")
    own.given(["mobilenet_v2 int8 on Hailo-8L = 5ms"])
    after = own.estimate(resnet, "Hailo-8L", precision="int8")
    low, high = after.latency_interval_s
    assert high / low < before.latency_interval_s[1] / before.latency_interval_s[0]
    assert after.latency_s != before.latency_s
    own.given([])
    assert own.estimate(resnet, "Hailo-8L", precision="int8").latency_s == before.latency_s
    with pytest.raises(archsim.UsageError, match="given"):
        own.given(["mobilenet_v2 is quick"])


def test_measurements_of_language_models_are_taken(session):
    own = archsim.Session()
    before = own.estimate("llama-3-8b", "H100", precision="bf16", prompt_tokens=512, generate_tokens=128)
    own.given(["llama-3-8b bf16 on H100 decode = 130/s"])
    after = own.estimate("llama-3-8b", "H100", precision="bf16", prompt_tokens=512, generate_tokens=128)
    assert after.latency_s != before.latency_s


def test_a_comparison_is_the_document_of_the_tool(session):
    comparison = session.compare(["resnet18"], ["H100", "T4"], precision="fp16")
    document = comparison.to_dict()
    assert document["schema"] == "archsim.compare_models/1"
    assert [row["hardware"] for row in document["results"]] == ["H100", "T4"]
    assert "H100" in comparison.to_text() and "<html" in comparison.to_html()
    assert len(comparison.results) == 2


@pytest.mark.parametrize("model", ["llama-3-8b", "llama-3-70b", "resnet50"])
def test_an_estimate_is_what_a_comparison_says(session, model):
    alone, beside = session.estimate(model, "RTX-3060"), session.compare([model], ["RTX-3060"]).results[0]
    assert (alone.status, alone.reason, alone.to_dict()["executed_precision"]) == (
        beside.status, beside.reason, beside.to_dict()["executed_precision"])
    assert alone.latency_s == beside.latency_s or not alone.ok
    assert alone.ok == (model != "llama-3-70b")  # a model of 8 G parameters runs in fewer bits


def test_a_path_is_a_model_wherever_a_name_is(session):
    file = pathlib.Path(__file__).parents[2] / "models" / "configs" / "qwen3-0.6b.json"
    assert session.load(file).name == session.load(str(file)).name
    assert session.estimate(file, "H100").latency_s == session.estimate(str(file), "H100").latency_s
    with pytest.raises(TypeError, match="vary"):
        archsim.sweep("resnet18", "H100", vary=["clock"])


def test_a_sweep_is_monotone_in_the_batch(session):
    batches = [1, 2, 4, 8, 16]
    arrays = session.sweep(session.load("resnet18"), ["H100", "KPU-T64"], batches, precision="int8")
    assert arrays["latency_s"].shape == (2, len(batches))
    assert not numpy.isnan(arrays["latency_s"]).any()
    assert (numpy.diff(arrays["latency_s"], axis=1) >= 0).all()


def test_a_metric_of_ones_own_is_a_row_more(session, resnet):
    table = archsim.MetricTable().with_metric(
        "per_gram", "Inferences per gram", "1/g", higher_is_better=True,
        value=lambda r: 1 / r.carbon_g_per_inference,
    )
    assert table.keys == archsim.MetricTable().keys + ["per_gram"]
    result = session.estimate(resnet, "H100", precision="fp16")
    expected = 1 / result.carbon_g_per_inference
    assert result.metrics(table)["per_gram"] == expected
    assert result.to_dict(table)["per_gram"] == expected
    assert "per_gram" not in result.to_dict()
    arrays = session.sweep(session.load("resnet18"), ["H100"], [1], precision="fp16", metrics=table)
    assert arrays["per_gram"][0, 0] == expected
    with pytest.raises(archsim.UsageError):
        table.with_metric("per_gram", "again", "", value=lambda r: None)


def test_the_metrics_of_a_result_are_those_of_its_document(session, resnet):
    result = session.estimate(resnet, "H100", precision="fp16")
    document = result.to_dict()
    for key, value in result.metrics().items():
        assert document[key] == value
        if value is not None:
            assert getattr(result, key) == value


def test_a_device_that_cannot_run_a_model_is_nan_in_a_sweep_and_a_reason_in_a_result(session):
    model = session.load("llama-3-70b")
    arrays = session.sweep(model, ["T4"], [1], precision="fp16")
    assert numpy.isnan(arrays["latency_s"]).all()
    result = session.estimate(model, "T4", precision="fp16")
    assert not result.ok and result.reason


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda s, m: s.load("resnet5O"), archsim.InputError),
        (lambda s, m: s.estimate(m, "H1OO"), archsim.InputError),
        (lambda s, m: s.estimate(m, "H100", stack="tensorrrt"), archsim.InputError),
        (lambda s, m: s.estimate(m, "H100", batch=0), archsim.UsageError),
        (lambda s, m: s.estimate(m, "H100", precision="fp17"), archsim.UsageError),
        (lambda s, m: s.compare(["resnet18"], ["H100"], scenario="fast"), archsim.UsageError),
    ],
)
def test_failures_are_typed_and_say_what_is_wrong(session, resnet, call, error):
    with pytest.raises(error) as raised:
        call(session, resnet)
    assert issubclass(error, archsim.Error) and str(raised.value)


@pytest.mark.parametrize(
    "call, error, said",
    [
        (lambda s, r: s.load(3), TypeError, "expected a text, not int"),
        (lambda s, r: s.load("resnet18", "resnet34"), TypeError, "too many"),
        (lambda s, r: s.load(name="resnet18"), TypeError, '"name"'),
        (lambda s, r: s.load("resnet18", model="resnet18"), TypeError, "twice"),
        (lambda s, r: s.sweep("resnet18"), TypeError, '"hardware"'),
        (lambda s, r: s.sweep("resnet18", "H100", "1"), TypeError, "a list"),
        (lambda s, r: archsim.Session.load(r, "resnet18"), TypeError, "an object of Session, not Result"),
        (lambda s, r: archsim.Result(), TypeError, "cannot be called"),
        (lambda s, r: r.subgraph_name(-1), TypeError, "out of range"),
        (lambda s, r: r.subgraph_name(1_000_000), IndexError, ""),
        (lambda s, r: r.subgraph_name(1 << 70), OverflowError, ""),
        (lambda s, r: s.load("\udcff"), UnicodeEncodeError, ""),
        (lambda s, r: archsim.MetricTable().with_metric("a", "b", "c", value=3), TypeError, "a function"),
        (lambda s, r: archsim.MetricTable().with_metric("a", "b", "c", None), TypeError, "too many"),
        (lambda s, r: r.metrics(archsim.MetricTable().with_metric("a", "b", "c", value=lambda r: 1 / 0)), ZeroDivisionError, ""),
        (lambda s, r: r.metrics(archsim.MetricTable().with_metric("a", "b", "c", value=lambda r: "x")), TypeError, ""),
    ],
)
def test_what_does_not_fit_is_an_exception_of_python(session, resnet, call, error, said):
    with pytest.raises(error, match=said):
        call(session, session.estimate(resnet, "H100"))


def test_objects_are_kept_by_what_needs_them_and_given_back():
    import gc
    import resource

    session = archsim.Session()
    comparison = session.compare(["resnet18"], ["H100", "T4"])
    results = comparison.results
    names = [r.hardware for r in results]
    del session, comparison
    gc.collect()
    assert [r.hardware for r in results] == names and all(r.latency_s > 0 for r in results)

    session = archsim.Session()
    model = session.load("resnet18")

    def many(count):
        for _ in range(count):
            result = session.estimate(model, "A100", batch=2)
            result.metrics(), result.to_json(), result.subgraphs, result.parts, session.hardware
            with pytest.raises(archsim.InputError):
                session.load("resnet5O")
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = many(20)
    assert many(100) < before + 4_000  # KiB: what a call leaves would be 100 times its size


def test_classes_can_be_derived_from_and_tell_how_they_are_called():
    import inspect
    import pydoc

    class Mine(archsim.Session):
        def __init__(self):
            super().__init__()
            self.asked = 0

    assert Mine().load("resnet18").name == "resnet18" and Mine().asked == 0
    assert list(inspect.signature(Mine().sweep).parameters) == ["model", "hardware", "batches", "metrics", "question"]
    told = pydoc.plain(pydoc.render_doc(archsim.Session))
    assert "batch" in told and "sweep(" in told


def test_one_model_is_estimated_from_many_threads(session, resnet):
    expected = session.estimate(resnet, "A100").latency_s
    found = []

    def work():
        for _ in range(50):
            found.append(session.estimate(resnet, "A100").latency_s)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 400


def test_a_data_frame_has_one_row_per_result(session):
    frame = session.compare(["resnet18"], ["H100", "T4"]).to_dataframe()
    assert set(frame["hardware"]) == {"H100", "T4"}


def test_results_are_json(session, resnet):
    assert json.loads(session.estimate(resnet, "T4").to_json())["model"] == "resnet18"


def test_the_example_prints_its_table_and_draws_where_matplotlib_is(tmp_path, capsys, monkeypatch):
    import importlib.util
    import runpy
    import sys

    script = pathlib.Path(__file__).parents[2] / "docs" / "examples" / "batch_sweep.py"
    picture = tmp_path / "sweep.png"
    arguments = [str(script), "resnet18"]
    if importlib.util.find_spec("matplotlib"):
        arguments.append(str(picture))
    monkeypatch.setattr(sys, "argv", arguments)
    runpy.run_path(str(script), run_name="__main__")
    printed = capsys.readouterr().out
    assert "H100" in printed and "90 % of the best throughput" in printed
    assert picture.exists() == (len(arguments) == 3)


@pytest.mark.parametrize("name", ["resnet50", "clip-vit-b32", "llama-3-8b"])
def test_the_ten_lines_of_the_readme_take_any_name(name, capsys, monkeypatch):
    import runpy
    import sys

    script = pathlib.Path(__file__).parents[2] / "docs" / "examples" / "ten_lines.py"
    monkeypatch.setattr(sys, "argv", [str(script), name])
    runpy.run_path(str(script), run_name="__main__")
    latency, energy = (float(field.split()[0]) for field in capsys.readouterr().out.split(","))
    assert latency > 0 and energy > 0
