"""archsim.sweep: the rows of the tool, here and on a Dask cluster whose workers die."""

import io
import os
import signal
import shutil
import subprocess
import sys
from pathlib import Path

import pandas
import pytest

import archsim
import archsim._sweep

TOOL = Path(archsim.__file__).parents[2] / "bin" / "sweep_design_space"
VARY = {"bandwidth": "0.5x..2x:log20", "clock": [0.8, 1, 1.25]}
OF_TOOL = ["--vary", "bandwidth=0.5x..2x:log20", "--vary", "clock=0.8x,1x,1.25x", "--batch-sizes", "1,8"]


def rows_of_tool(*arguments, format="csv"):
    # Status 3: a point has no estimate.
    done = subprocess.run([TOOL, *arguments, "--format", format, "--quiet"], stdout=subprocess.PIPE)
    assert done.returncode in (0, 3)
    return done.stdout


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(archsim._sweep, "_POINTS_OF_A_PART", 7)


def test_rows_are_those_of_the_tool_in_any_number_of_parts(tmp_path, small_parts):
    wanted = rows_of_tool("resnet50", "--hardware", "H100", "Hailo-8", *OF_TOOL)
    seen = []
    rows = archsim.sweep(
        "resnet50", ["H100", "Hailo-8"], vary=VARY, batches=[1, 8], progress=lambda *at: seen.append(at)
    )
    rows.to_csv(tmp_path / "rows.csv")
    assert (tmp_path / "rows.csv").read_bytes() == wanted
    assert len(rows) == 2 * 2 * 60 == seen[-1][0] == seen[-1][1] and len(seen) == 35
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})

    frame = rows.to_dataframe()
    assert frame.latency_s.tolist() == pandas.read_csv(io.BytesIO(wanted)).latency_s.tolist()
    assert frame.clock.unique().tolist() == [0.8, 1, 1.25] and frame.reason.map(type).eq(str).all()


def test_a_point_without_an_estimate_has_its_reason(small_parts):
    rows = archsim.sweep("llama-3-70b", "T4", precisions="fp16", vary={"clock": [1, 2]}, single_pass=True, progress=False)
    frame = rows.to_dataframe()
    assert (frame.status != "ok").all() and frame.latency_s.isna().all() and (frame.reason != "").all()


def test_axes_may_be_written_as_the_tools_take_them():
    ways = ({"clock": [0.5, 2]}, {"clock": ["0.5x", "2x"]}, {"clock": "0.5x,2x"}, ["clock=0.5x,2x"], "clock=0.5x,2x")
    answers = [archsim.sweep("resnet18", "H100", vary=way, progress=False) for way in ways]
    assert len({tuple(rows.to_dataframe().latency_s) for rows in answers}) == 1
    assert "2 points" in repr(answers[0])


def test_a_file_has_its_name_when_it_is_complete(tmp_path, small_parts):
    file = tmp_path / "rows.ndjson"

    def stop(done, points):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        archsim.sweep("resnet18", "H100", vary=VARY, output=file, progress=stop)
    assert not file.exists()
    assert archsim.sweep("resnet18", "H100", vary=VARY, output=file) == file
    assert file.read_bytes() == rows_of_tool("resnet18", "--hardware", "H100", *OF_TOOL[:4], format="ndjson")
    assert os.listdir(tmp_path) == ["rows.ndjson"]


@pytest.mark.parametrize(
    "arguments, error",
    [
        ({"models": "resnet81"}, archsim.InputError),
        ({"hardware": "H1000"}, archsim.InputError),
        ({"vary": {"bandwith": "0.5x,1x"}}, archsim.UsageError),
        ({"vary": {"bandwidth": "fast"}}, archsim.UsageError),
        ({"output": "rows.xlsx"}, archsim.UsageError),
        ({"scenario": "fast"}, archsim.UsageError),
    ],
)
def test_what_does_not_exist_is_an_error_before_anything_runs(arguments, error, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error):
        archsim.sweep(**{"models": "resnet18", "hardware": "H100", "client": object(), **arguments})
    assert os.listdir(tmp_path) == []


def test_parquet_holds_the_data_frame_or_asks_for_pyarrow(tmp_path, small_parts):
    rows = archsim.sweep("resnet18", ["H100", "T4"], vary=VARY)
    try:
        import pyarrow.parquet
    except ImportError:  # Debian 12 has no package of it
        with pytest.raises(ImportError, match="pyarrow"):
            rows.to_parquet(tmp_path / "rows.parquet")
        with pytest.raises(ImportError, match="pyarrow"):
            archsim.sweep("resnet18", "H100", output=tmp_path / "rows.parquet")
        return
    archsim.sweep("resnet18", ["H100", "T4"], vary=VARY, output=tmp_path / "streamed.parquet")
    rows.to_parquet(tmp_path / "rows.parquet")
    for name in ("rows.parquet", "streamed.parquet"):
        assert pyarrow.parquet.ParquetFile(tmp_path / name).num_row_groups == 18
        pandas.testing.assert_frame_equal(pandas.read_parquet(tmp_path / name), rows.to_dataframe())


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    import distributed
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address=None,
        local_directory=str(tmp_path_factory.mktemp("dask")),
    ) as cluster:
        yield cluster


def test_a_killed_worker_loses_no_row(cluster, tmp_path, monkeypatch):
    from distributed import Client

    monkeypatch.setattr(archsim._sweep, "_POINTS_OF_A_PART", 1_000)
    vary = {"bandwidth": "0.5x..2x:log40", "peak": "0.5x..2x:log400"}
    with Client(cluster) as client:
        first = client.run(os.getpid)
        killed, seen = [], []

        def kill_one(done, points):
            seen.append(done)
            if not killed:
                killed.append(list(first.values())[0])
                os.kill(killed[0], signal.SIGKILL)

        archsim.sweep("resnet50", "H100", vary=vary, client=client, output=tmp_path / "rows.csv", progress=kill_one)
        client.wait_for_workers(2)
        assert killed[0] not in client.run(os.getpid).values()
    assert seen == list(range(1_000, 17_000, 1_000))
    of_tool = [f for name, factors in vary.items() for f in ("--vary", f"{name}={factors}")]
    assert (tmp_path / "rows.csv").read_bytes() == rows_of_tool("resnet50", "--hardware", "H100", *of_tool)


def test_an_error_on_a_worker_is_raised_here_with_its_type(cluster, tmp_path):
    """A device file that only this process sees until the parts run."""
    from distributed import Client

    overlay = tmp_path / "devices"
    overlay.mkdir()
    shutil.copy(Path(__file__).parents[2] / "hardware_db" / "energy.json", overlay)
    with Client(cluster) as client:
        client.run(archsim._sweep._session.cache_clear)
        archsim._sweep._session((str(overlay),))  # read here, gone on the workers
        shutil.rmtree(overlay)
        with pytest.raises(archsim.Error):
            archsim.sweep("resnet18", "H100", hardware_db=str(overlay), client=client)


def test_the_example_runs_on_a_cluster(cluster, tmp_path):
    example = Path(__file__).parents[2] / "docs" / "examples" / "dask_sweep.py"
    output = tmp_path / "points.csv"
    done = subprocess.run(
        [sys.executable, example, cluster.scheduler_address, output], stdout=subprocess.PIPE, text=True, check=True
    )
    assert str(output) in done.stdout and len(output.read_text().splitlines()) == 1 + 2 * 2 * 500


def test_rows_are_dictionaries_and_the_fastest_is_named():
    rows = archsim.sweep("resnet50", "H100", vary={"bandwidth": ["1x", "2x"]})
    one, two = rows
    assert (one["bandwidth"], two["bandwidth"]) == (1, 2) and one["status"] == "ok" and one["batch_size"] == 1
    assert two["latency_s"] < one["latency_s"] and list(rows) == [one, two]
    assert f"fastest resnet50 on H100, point {two['point']}" in repr(rows)
    assert "fastest" not in repr(archsim.sweep("resnet50", "TPU-v4", vary={"bandwidth": ["1x", "2x"]}))  # a projection


def test_an_answer_to_a_prompt_prints_tokens():
    result = archsim.estimate("qwen2.5-7b", "A100", prompt_tokens=512, generate_tokens=64)
    assert f"{1 / result.time_per_output_token_s:.4g} tokens/s, first token" in repr(result)
