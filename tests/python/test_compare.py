"""Comparisons from Python: backends by name, studies, the answers of the tools, files of results."""

import pathlib
import sqlite3

import pytest

import archsim

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "docs" / "examples"


@pytest.fixture(scope="module")
def session():
    return archsim.Session()


def test_a_file_of_open_sizes_says_which(session):
    file = str(pathlib.Path(__file__).resolve().parents[2] / "models" / "onnx" / "resnet50.onnx")
    with pytest.raises(archsim.IncompleteError, match="height"):
        archsim.ComparisonRunner(file, ["cuda", "tensorrt"], session=session).run()
    sized = archsim.ComparisonRunner(file, ["cuda", "tensorrt"], dims={"height": 224, "width": 224}, session=session).run()
    assert all(result.ok for _, result in sized.results)


def test_the_runner_of_the_specification(session, tmp_path):
    runner = archsim.ComparisonRunner(
        "resnet18", backends=["cpu", "cuda", "rocm", "directml"], batch_sizes=[1, 4, 16, 32], precision="fp16", session=session
    )
    seen = []
    assert runner.run(progress=lambda done, total: seen.append((done, total))) is runner
    assert seen[-1] == (16, 16) and len(runner.results) == 16
    assert all(result.ok for _, result in runner.results)
    frame = runner.to_dataframe()
    assert len(frame) == 16 and set(frame["backend"]) == {"cpu", "cuda", "rocm", "directml"}
    # The runner asks what anybody can ask.
    alone = session.estimate("resnet18", "H100", batch=4, precision="fp16", stack="pytorch-eager")
    assert dict(((n, r.batch), r) for n, r in runner.results)["cuda", 4].latency_s == alone.latency_s
    # Of those that may be named first: on DirectML and ROCm no such network was measured.
    fastest = min((r.latency_s, n) for n, r in runner.results if r.batch == 4 and r.to_dict()["evidence"] in ("measured", "related"))[1]
    assert runner.best("latency", batch=4) == fastest
    assert runner.best("throughput", batch=4) == fastest
    best = runner.best("latency", batch=4)
    assert best.among[0].startswith(f"{fastest}: ") and best.left_out and "projected" in " ".join(best.left_out)
    times = runner.speedups("cpu")["resnet18", 4]
    assert times["cpu"] == 1 and times["cuda"] == pytest.approx(
        frame.query("backend == 'cpu' and batch_size == 4")["latency_s"].item() / alone.latency_s
    )
    for name in ("report.html", "report.md", "report.csv", "report.json", "report.txt"):
        path = runner.generate_report(tmp_path / name)
        assert path.stat().st_size > 500
    assert "resnet18" in (tmp_path / "report.html").read_text() and "<html" in (tmp_path / "report.html").read_text()
    with pytest.raises(archsim.UsageError, match="extension"):
        runner.generate_report(tmp_path / "report.pdf")
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(
        ["report.html", "report.md", "report.csv", "report.json", "report.txt"]
    )


@pytest.mark.parametrize("backend", sorted(archsim.BACKENDS))
def test_every_backend_runs_a_network(session, backend):
    (_, result), = archsim.ComparisonRunner("resnet18", [backend], precision="fp16", session=session).run().results
    assert result.ok, result.reason
    device, stack = archsim.BACKENDS[backend]
    assert result.hardware == device


def test_backends_are_chosen_by_dict_and_by_device(session):
    runner = archsim.ComparisonRunner(
        "resnet18",
        [{"device": "L4", "stack": "tensorrt", "name": "mine"}, "Jetson-Orin-Nano@15W"],
        precision="fp16",
        session=session,
    ).run()
    assert [name for name, _ in runner.results] == ["mine", "Jetson-Orin-Nano@15W"]
    assert runner.results[0][1].stack == "tensorrt" and runner.results[1][1].power_mode == "15W"
    with pytest.raises(archsim.UsageError, match='backend "coda"'):
        archsim.ComparisonRunner("resnet18", ["coda"], session=session)
    with pytest.raises(archsim.UsageError, match="device"):
        archsim.ComparisonRunner("resnet18", [{"stack": "tensorrt"}], session=session)
    with pytest.raises(archsim.UsageError, match="run\\(\\) first"):
        archsim.ComparisonRunner("resnet18", ["cpu"], session=session).to_dataframe()


def test_phases_of_a_language_model(session):
    runner = archsim.ComparisonRunner(
        "tinyllama-1.1b", ["cuda"], precision="fp16", prompt_tokens=64, generate_tokens=8, session=session
    ).run()
    result = runner.results[0][1]
    assert result.time_to_first_token_s >= result.time_per_output_token_s > 0  # both wait for the host
    assert "generation" in result.to_dict()


def test_a_study_from_yaml_is_that_from_json(session):
    yaml, json = session.study(EXAMPLES / "quick_test.yaml"), session.study(EXAMPLES / "quick_test.json")
    assert yaml.to_dict()["results"] == json.to_dict()["results"]
    assert len(yaml.results) == 20 and len(yaml.to_dataframe()) == 20
    with pytest.raises(archsim.InputError):
        session.study(EXAMPLES / "nothing.yaml")


def test_the_answers_of_the_tools(session):
    architectures = session.architectures("resnet18", ["GPU", "TPU"], explain=["GPU", "TPU"], precision="fp16")
    assert architectures.labels == ["GPU", "TPU"] and len(architectures.to_dataframe()) == 2
    assert architectures.to_dict()["schema"] == "archsim.compare_architectures/1"
    assert "explanation" in architectures.to_dict()
    with pytest.raises(archsim.UsageError, match="two"):
        session.architectures("resnet18", ["GPU", "TPU"], explain=["GPU"])
    assert [r.batch for r in session.batches("resnet18", "A100", [1, "1k"], precision="usual").results] == [1, 1000]
    batches = session.batches("resnet18", "A100", [1, 8], precision="fp16")
    assert [r.batch for r in batches.results] == [1, 8]
    serving = session.serve("tinyllama-1.1b", "H100", rate_per_s=2, requests=50)
    assert serving.to_dict()["schema"] == "archsim.serve_model/1"
    for answer in (architectures, batches, serving):
        assert "<html" in answer.to_html() and answer.to_text() and answer.to_csv() and answer.to_markdown()


def test_notebooks_show_answers(session):
    result = session.estimate("resnet18", "H100", precision="fp16")
    shown = result._repr_html_()
    assert "<table" in shown and all(title in shown for title, *_ in archsim.MetricTable().columns)
    assert "resnet18 on H100" in repr(result) and " ms (" in repr(result)
    everything = archsim.compare("resnet18", session.hardware, session=session)
    answers = [everything, archsim.compare("resnet18", "H100"), session.batches("resnet18", "A100", [1, 2]),
               session.serve("qwen3-0.6b", "H100", concurrency=2, requests=20)]
    for answer in answers:
        assert "0x" not in repr(answer) and 20 < len(repr(answer)) < 2000
        assert len(answer._repr_html_()) < 40_000
    assert "<table" in archsim.ComparisonRunner("resnet18", ["cpu"], session=session).run()._repr_html_()
    assert archsim.estimate("resnet18", "H100", precision="fp16").latency_s == result.latency_s


def test_advice_is_keywords(session):
    answer = archsim.compare("bert-base", "Jetson-Orin-Nano", precision="fp32", session=session)
    assert "--" not in repr(answer)
    asks = answer.advice[0]["asks"][0]
    better = archsim.compare("bert-base", "Jetson-Orin-Nano", session=session, **asks)
    assert better.results[0].latency_s < answer.results[0].latency_s / 1.05


def test_results_are_kept_and_compared(session, tmp_path):
    file = tmp_path / "results.db"
    runner = archsim.ComparisonRunner("resnet18", ["cuda", "cpu"], precision="fp16", session=session).run()
    assert runner.save(file) == 1 and runner.save(file, title="again") == 2
    changes = archsim.compare_history(file)
    assert changes.worse == 0 and changes.to_dict()["unchanged"] == 2
    frame = archsim.history_rows(file).to_dataframe()
    assert list(frame["latency_s"][:2]) == [r.latency_s for _, r in runner.results]
    with sqlite3.connect(file) as database:  # as any program reads it
        rows = database.execute("SELECT hardware, latency_s FROM rows WHERE run_id = 1").fetchall()
    assert rows == [(r.hardware, r.latency_s) for _, r in runner.results]


def test_sizing_local_models_and_differences(session):
    load = {"rate": 8, "prompt_tokens": 500, "output_tokens": 100, "requests": 100, "precision": "bf16"}
    sizing = archsim.size("qwen3-0.6b", ["H100", "L4"], session=session, ttft_p99="1s", **load)
    document = sizing.to_dict()
    assert document["schema"].startswith("archsim.size_service/")
    assert archsim.size("qwen3-0.6b", ["H100", "L4"], session=session, ttft_p99=1, **load).to_json() == sizing.to_json()
    with pytest.raises(archsim.UsageError, match="ttft_p99"):
        session.size("qwen3-0.6b", "H100", ttft_p99="soon", **load)
    # The defaults of the tool, and the request of an answer as keywords.
    assert document["load"]["prompt_tokens"] == 500
    usual = session.size("qwen3-0.6b", ["L4"], users=20, ttft_p99="500ms", requests=50).to_dict()
    assert (usual["load"]["users"], usual["load"]["prompt_tokens"], usual["load"]["output_tokens"]) == (20, 2000, 300)
    assert usual["request"]["precision"] is None and usual["load"]["in_flight"] is None
    assert session.size(**document["request"]).to_json() == sizing.to_json()
    found = archsim.local("RTX-4090", ["qwen3-8b", "llama-3-70b"], session=session, formats=["int4"])
    assert "qwen3-8b" in found.to_text() and found.to_dict()["schema"].startswith("archsim.local_models/")
    with pytest.raises(archsim.UsageError, match="kind"):
        session.local("RTX-4090", kind="poems")
    why = archsim.explain("resnet18", ["H100", "A100"], session=session, precision="fp16")
    assert [result.hardware for result in why.results] == ["H100", "A100"]
    formats = session.explain("resnet18", "H100", precision=["fp16", "int8"], metric="energy")
    assert {result.hardware for result in formats.results} == {"H100"} and "H100" in repr(formats)
    with pytest.raises(archsim.UsageError, match="one or two"):
        session.explain("resnet18", ["H100", "A100", "L4"])
    for answer in (sizing, found, why, formats):
        assert answer._repr_html_().startswith("<p>") and len(answer._repr_html_()) < 40_000


def test_a_number_may_be_a_text_and_a_text_a_number(session):
    numbers = session.estimate("sdxl", "H100", steps=4, image_size=512)
    assert session.estimate("sdxl", "H100", steps="4", image_size="512").latency_s == numbers.latency_s
    with pytest.raises(archsim.UsageError, match="steps"):
        session.estimate("sdxl", "H100", steps="some")


def test_limits_decide_as_those_of_the_tools(session):
    boards = ["Jetson-Orin-Nano@15W", "H100"]
    free = session.compare("resnet50", boards)
    assert free.to_dict()["request"]["limits"] == {}
    limited = session.compare("resnet50", boards, max_power="20W", max_latency=0.033, pareto=["energy", "latency"])
    assert limited.to_dict()["request"]["limits"] == {"max_power": "20W", "max_latency": "0.033s"}
    assert limited.to_dict()["request"]["pareto"] == ["energy", "latency"]
    (decision,) = limited.to_dict()["decisions"]
    assert decision["recommended"] == boards[0], decision
    assert "Fastest: H100" in repr(free) and "Within the limits" in repr(limited)
    assert "Jetson-Orin-Nano@15W" in repr(limited)
    small = session.batches("mobilenet_v2", "Jetson-Orin-Nano@15W", [1, 64], max_latency="5ms")
    assert small.to_dict()["series"][0]["best_batch"]["throughput"] == 1
    chips = session.architectures("resnet18", ["GPU", "CPU"], max_power="1kW")
    assert chips.to_dict()["decision"]["constraints"], chips.to_dict()["decision"]
    with pytest.raises(archsim.UsageError, match="max_power"):
        session.compare("resnet50", boards, max_power="5 apples")
    with pytest.raises(archsim.UsageError, match="max_powr"):
        session.compare("resnet50", boards, max_powr="5W")


def test_a_result_has_every_field_of_its_document(session):
    (result,) = session.compare("resnet50", "Jetson-Orin-Nano@15W", every="1s", battery="50Wh").results
    assert result.battery_hours == result.to_dict()["battery_hours"] > 0
    assert result.evidence == result.to_dict()["evidence"]
    with pytest.raises(AttributeError, match="battery_hour; it has"):
        result.battery_hour
    assert not hasattr(result, "_repr_png_")


@pytest.mark.parametrize("kind", [k for k in vars(archsim).values() if hasattr(k, "schema")], ids=lambda kind: kind.__name__)
def test_answers_say_the_schema_of_their_document(kind):
    schema = kind.schema()
    assert schema["$schema"] and ("properties" in schema or "anyOf" in schema)


def test_a_session_lists_what_it_knows(session):
    assert {"resnet50", "llama-3.1-8b"} <= set(session.models) and "H100" in session.hardware
    assert session.models == sorted(session.models)


def test_a_comparison_is_a_row_of_results_of_which_one_leads():
    comparison = archsim.compare("resnet50", hardware=["L4", "H100"], precision="fp16")
    assert len(comparison) == 2 and [r.hardware for r in comparison] == ["L4", "H100"]
    assert comparison.best().hardware == "H100"
    assert archsim.compare("llama-3-8b", hardware="Groq-TSP").best() is None
