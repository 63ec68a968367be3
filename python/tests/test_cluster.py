"""Sweeps on a Dask cluster: equal bytes, no access to the client's disk, dying workers, errors.

`make test` runs one sweep on two workers; the other tests with a cluster are among the long tests.
"""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_support import CLOS, SIRIUS, SMALL, command, lightloom, write
from cluster_support import ACTIVE, PATIENCE_S, Dask, dask, until
from policy_support import hybrid
from test_inputs import READERS, assert_same, experiment, figures
from typer.testing import CliRunner

import lightloom as api
from lightloom import ConfigError
from lightloom.cli import app
from lightloom.results.result import Result
from lightloom.sweep.executors import Failed, Job, build, deaths, joining, run_jobs, travel, worker
from lightloom.sweep.executors.build import Build
from lightloom.sweep.executors.cluster import Cluster, other_build

GRID = '\n[grid]\n"workload.load" = [{}]\n'
#: Runs of about a second each.
SLOW = SMALL.replace("flows = 400", "flows = 30_000")
#: Some minutes.
ENDLESS = SMALL.replace("flows = 400", "flows = 5_000_000")


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dask]:
    with dask(tmp_path_factory.mktemp("dask"), "one", "two") as cluster:
        yield cluster


def started(*arguments: object, cwd: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command(*arguments), cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    try:
        out, err = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
    return process.returncode, out, err


def points(out: Path) -> dict[str, Any]:
    return {folder.name: figures(folder) for folder in (out / "points").iterdir()}


@contextmanager
def watched(cluster: Dask) -> Iterator[Callable[[], list[int]]]:
    """Returns a function for the number of simulations that each worker has not stopped, in the
    order in which workers joined."""
    from distributed import Client

    with Client(cluster.address, timeout=PATIENCE_S, set_as_default=False) as client:
        yield lambda: list(client.run(eval, ACTIVE).values())


@pytest.mark.long
def test_files_travel_with_their_tasks(tmp_path: Path) -> None:
    """Sends every kind of file to a worker that joins after the client's files are deleted."""
    from distributed import Client

    home, here = tmp_path / "home", tmp_path / "here"
    loaded = {reader: api.load(experiment(home / reader, reader)) for reader in READERS}
    for reader, one in loaded.items():
        api.run(one).save(here / reader)
    jobs = [Job(e, e.labels[0], tmp_path / "there" / r, Result.save) for r, e in loaded.items()]
    came: list[Any] = []
    with (
        dask(tmp_path / "dask") as cluster,
        Client(cluster.address, timeout=PATIENCE_S, set_as_default=False) as client,
    ):
        run = Cluster(client).run_jobs
        thread = threading.Thread(target=lambda: came.extend(run(jobs, lambda *_: None)))
        thread.start()
        files = {(home / r / READERS[r][0]).read_bytes() for r in READERS}
        until(lambda: len(client.futures) == len(jobs) + len(files))
        home.rename(tmp_path / "gone")
        cluster.worker("late")
        thread.join(PATIENCE_S)
    assert len(came) == len(jobs)
    for reader in READERS:
        assert_same(here / reader, tmp_path / "there" / reader)
        # The result has no path of the worker.
        saved = [(p / reader / "experiment.toml").read_text() for p in (here, tmp_path / "there")]
        assert saved[0] == saved[1]


@pytest.mark.long
def test_a_sweep_outlives_a_worker(tmp_path: Path) -> None:
    """One of two workers is killed during a point; the bytes are the same as on this machine."""
    write(tmp_path / "e.toml", SLOW, CLOS, SIRIUS)
    text = 'base = "e.toml"\nflows = true\n' + GRID.format("0.2, 0.4, 0.6")
    write(tmp_path / "s.toml", text)
    with dask(tmp_path / "dask", "one", "two") as cluster, watched(cluster) as active:
        at = ("--scheduler-file", cluster.file)
        process = started("sweep", "s.toml", "-o", "there", *at, cwd=tmp_path)
        victim = cluster.processes["one"]
        until(lambda: active()[0] > 0 or process.poll() is not None)
        assert process.poll() is None, "it ended before its worker could be killed"
        victim.send_signal(signal.SIGKILL)
        code, out, err = ended(process)
        assert victim.wait(PATIENCE_S) == -signal.SIGKILL
        assert cluster.processes["two"].poll() is None, "it was not ours to end"
    assert code == 0, err
    assert f"{cluster.address}: 2 workers, 2 threads" in err
    assert "dashboard http://" in err
    assert re.search(r"note: worker tcp://\S+ is gone, and had (clos|sirius)-load=", err), err
    assert "6 points" in out
    local = lightloom("sweep", "s.toml", "-o", "here", "--workers", "1", cwd=tmp_path)
    assert local.returncode == 0, local.stderr
    assert points(tmp_path / "here") == points(tmp_path / "there")
    for point in points(tmp_path / "here"):
        here, remote = (tmp_path / place / "points" / point for place in ("here", "there"))
        assert_same(here, remote)
        assert (here / "experiment.toml").read_bytes() == (remote / "experiment.toml").read_bytes()


def test_rows_stream_into_one_data_set(there: Dask, tmp_path: Path) -> None:
    write(tmp_path / "e.toml", SMALL, CLOS, SIRIUS)
    write(tmp_path / "s.toml", 'base = "e.toml"\nrepeat = 2\n' + GRID.format("0.2, 0.4"))
    done = lightloom("sweep", "s.toml", "-o", "out", "--scheduler", there.address, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    parts = [pq.read_table(path) for path in (tmp_path / "out/rows").glob("*.parquet")]
    joined = {
        row["point"]: row for row in pa.concat_tables(parts, promote_options="default").to_pylist()
    }
    table = pq.read_table(tmp_path / "out/sweep.parquet").to_pylist()
    assert len(table) == len(joined) == 8
    for row in table:
        known = {key: value for key, value in row.items() if value is not None}
        assert known == {k: v for k, v in joined[row["point"]].items() if v is not None}


#: A policy that fails if its key `breaks` is set.
FRAGILE = """
class Policy:
    def __init__(self, breaks=False):
        self.breaks = breaks
    def decide(self, demand, switch):
        if self.breaks:
            raise RuntimeError("it broke")
        return [(0, 1)]
"""


def fragile(folder: Path) -> None:
    """Writes a sweep of which every other point fails while it runs."""
    hybrid(folder, FRAGILE)
    grid = '\n[grid]\n"fabric.hybrid.policy.breaks" = [true, false]\n'
    write(folder / "s.toml", 'base = "e.toml"\nrepeat = 2\n' + grid)


@pytest.mark.long
@pytest.mark.parametrize("place", ["--workers 1", "--workers 2", "cluster"])
def test_a_point_that_fails_is_told_and_the_others_go_on(
    place: str, there: Dask, tmp_path: Path
) -> None:
    fragile(tmp_path)
    at = ["--scheduler", there.address] if place == "cluster" else place.split()
    done = lightloom("sweep", "s.toml", "-o", "out", *at, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    failed = [line for line in done.stderr.splitlines() if line.startswith("failed: ")]
    assert len(failed) == 2
    for line in failed:
        assert line.startswith("failed: hybrid-breaks=True") or "breaks=True" in line
        assert "(fabric hybrid): " in line
        assert "it broke" in line
        assert f"{tmp_path}/policy.py:Policy" in line  # the path that the user wrote
    assert "4 points, 2 failed" in done.stdout
    assert [row for row in done.stdout.splitlines() if row.startswith("True") and row.endswith("2")]
    document = json.loads((tmp_path / "out/sweep.json").read_text())["points"]
    assert [("error" in p, "summary" in p) for p in document] == [(True, False)] * 2 + [
        (False, True)
    ] * 2
    table = pq.read_table(tmp_path / "out/sweep.parquet").to_pylist()
    assert [row["error"] is None for row in table] == [False, False, True, True]
    assert len(points(tmp_path / "out")) == 2
    # Only the failed points are run again.
    again = lightloom("sweep", "s.toml", "-o", "out", "--resume", *at, cwd=tmp_path)
    assert again.returncode == 1
    assert "4 points, 2 of" in again.stdout
    assert "before, 2 failed" in again.stdout


DEADLY = (
    "class Deadly:\n    def decide(self, demand, switch):\n        import os\n        os._exit(9)\n"
)


@pytest.mark.long
def test_what_kills_every_worker_is_given_up(tmp_path: Path) -> None:
    """A point is given up after the number of deaths that the scheduler allows; other points
    continue."""
    fragile(tmp_path)
    write(tmp_path / "deadly.py", DEADLY)
    table = api.load(tmp_path / "e.toml")
    deadly = api.load(tmp_path / "e.toml").with_overrides(
        [f'fabric.hybrid.policy={{ file = "{tmp_path}/deadly.py:Deadly" }}']
    )
    jobs = [Job(deadly, "hybrid"), Job(table, "hybrid", whole=False)]
    allowed = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1"}
    with (
        dask(tmp_path / "dask", "one", "two", "three", **allowed) as cluster,
        joining.joined(cluster.address) as joined,
    ):
        lost, kept = joined.run_jobs(jobs, lambda *_: None, keep_going=True)
    assert isinstance(lost, Failed)
    assert lost.message.startswith("2 workers died of")
    assert not isinstance(kept, Failed)
    assert kept["flows_completed"] > 0


@pytest.mark.long
def test_ctrl_c_stops_what_runs_and_leaves_the_workers(there: Dask, tmp_path: Path) -> None:
    write(tmp_path / "e.toml", ENDLESS, CLOS)
    write(tmp_path / "s.toml", 'base = "e.toml"\n' + GRID.format("0.2, 0.3, 0.4, 0.5"))
    process = started("sweep", "s.toml", "-o", "out", "--scheduler", there.address, cwd=tmp_path)
    with watched(there) as active:
        until(lambda: active() == [1, 1], lambda: str(process.poll()))
        process.send_signal(signal.SIGINT)
        stopped = until(lambda: active() == [0, 0])
    print(f"stopped after {stopped:.1f} s")
    code, _, err = ended(process)
    assert code == 130, err
    assert err.splitlines()[-1].startswith("interrupted: ")
    assert stopped < 5 * 10  # the limit is 5 s; the machine may be ten times slower
    assert all(process.poll() is None for process in there.processes.values())


@pytest.mark.long
def test_a_client_that_is_killed_leaves_nothing_running(there: Dask, tmp_path: Path) -> None:
    write(tmp_path / "e.toml", ENDLESS, CLOS)
    write(tmp_path / "s.toml", 'base = "e.toml"\n' + GRID.format("0.2, 0.3"))
    process = started("sweep", "s.toml", "-o", "out", "--scheduler", there.address, cwd=tmp_path)
    with watched(there) as active:
        until(lambda: active() == [1, 1], lambda: str(process.poll()))
        process.kill()
        ended(process)
        until(lambda: active() == [0, 0])


def test_what_is_taken_back_ends_while_its_flows_are_drawn(tmp_path: Path) -> None:
    """Drawing alone may take longer than the 5 s within which a running task must stop."""
    many = api.load(write(tmp_path / "e.toml", ENDLESS, CLOS))
    luggage = travel.packed(many)
    task = worker.Task(build.here(), luggage.experiment, "clos", tuple(luggage.files))
    heard: list[tuple[object, ...]] = []

    def heed(*at: object) -> None:
        heard.append(at)
        if len(heard) > 1:  # the first question is asked before any run
            raise worker.Unwanted

    with pytest.raises(worker.Unwanted):
        worker._simulated(task, (), tmp_path, heed)
    label, now, end, share = heard[-1]
    assert (label, now, end) == ("clos", 0, 0), "not yet simulating"
    assert isinstance(share, float)
    assert share < 1


@pytest.mark.long
def test_the_longest_begin_first(tmp_path: Path) -> None:
    one = api.load(write(tmp_path / "e.toml", SMALL, CLOS))
    jobs = [Job(one.with_overrides([f"run.seed={seed}"]), "clos") for seed in range(6)]
    order = [3, 5, 1, 0, 4, 2]
    came: list[int] = []
    with (
        dask(tmp_path / "dask", "one") as cluster,
        joining.joined(cluster.address) as joined,
    ):
        # The worker is busy until all tasks are sent, so that it has several tasks to choose from.
        client, sent = joined._client, tmp_path / "sent"
        there = f"__import__('pathlib').Path({str(sent)!r}).exists"
        wait = f"[__import__('time').sleep(0.05) for _ in iter({there}, True)]"
        busy = client.submit(eval, wait, priority=9)

        def release() -> None:
            until(lambda: len(client.futures) > len(jobs))
            sent.touch()

        threading.Thread(target=release).start()
        summaries = joined.run_jobs(jobs, lambda index, _: came.append(index), first=order)
        assert busy.done()
    assert came == order
    assert [s["seed"] for s in summaries if not isinstance(s, Failed)] == list(range(6))
    came.clear()
    run_jobs(jobs, 1, lambda index, _: came.append(index), first=order)
    assert came == order


@pytest.mark.long
def test_a_worker_of_another_build_is_refused_by_its_address(tmp_path: Path) -> None:
    """One worker has other code of the same version, and one does not have the package."""
    write(tmp_path / "e.toml", SMALL, CLOS)
    write(tmp_path / "s.toml", 'base = "e.toml"\n' + GRID.format("0.2"))
    package = Path(api.__file__).parent
    other = tmp_path / "other"
    skip = shutil.ignore_patterns("__pycache__")
    shutil.copytree(package, other / "lightloom", ignore=skip)
    with (other / "lightloom" / "rates.py").open("a") as file:
        file.write("\n# other\n")
    (tmp_path / "bare").mkdir()
    write(tmp_path / "bare" / "lightloom.py", "__version__ = '0'\n")
    for name, path in (("other", other), ("none", tmp_path / "bare")):
        with dask(tmp_path / f"dask-{name}") as cluster:
            cluster.worker(name, PYTHONPATH=str(path))
            done = lightloom(
                "sweep", "s.toml", "-o", "out", "--scheduler", cluster.address, cwd=tmp_path
            )
        assert done.returncode == 2, done.stderr
        assert "error: worker = tcp://127.0.0.1:" in done.stderr
        said = f"has Lightloom {api.__version__} (" if name == "other" else "has no Lightloom"
        assert said in done.stderr
        assert 'wheel there, as "lightloom[cluster]"' in done.stderr
        assert not (tmp_path / "out").exists()


def test_other_builds_are_counted() -> None:
    own, other = Build("1", "a" * 64), Build("1", "b" * 64)
    text = str(other_build(own, {"tcp://a:1": other, "tcp://b:2": ValueError("x")}))
    assert text.startswith("worker = tcp://a:1 (and 1 more): ")
    assert text.index("Lightloom 1 (bbbbbbbbbbbb…)") < text.index("1 (aaaaaaaaaaaa…)")
    assert '"lightloom[cluster]"' in text


def called(folder: Path, *arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["sweep", str(folder / "s.toml"), *map(str, arguments)])
    return done.exit_code, done.stderr.replace("\n", " ")


def test_clusters_that_are_not_there_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "e.toml", SMALL, CLOS)
    write(tmp_path / "s.toml", 'base = "e.toml"\n' + GRID.format("0.2"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(joining, "CONNECT_S", 1.0)
    write(tmp_path / "bad.json", "[]")
    write(tmp_path / "deep.json", "[" * 100_000)
    cases = {
        ("--scheduler", "tcp://127.0.0.1:9"): "--scheduler = tcp://127.0.0.1:9: no scheduler",
        ("--scheduler", "what"): "--scheduler = what: no scheduler answers there",
        ("--scheduler-file", "none.json"): "--scheduler-file = none.json: no such file",
        ("--scheduler-file", "bad.json"): "bad.json: has no address of a scheduler",
        ("--scheduler-file", "deep.json"): "deep.json: has no address of a scheduler",
        ("--scheduler", "a", "--scheduler-file", "b"): "--scheduler is also given",
        ("--scheduler", "a", "--workers", "2"): "--workers = 2: a cluster has its own workers",
    }
    for arguments, expected in cases.items():
        code, said = called(tmp_path, *arguments)
        assert (code, expected in said) == (2, True), said
    monkeypatch.setitem(sys.modules, "distributed", None)
    code, said = called(tmp_path, "--scheduler", "tcp://127.0.0.1:9")
    assert code == 2
    assert 'not installed; install "lightloom[cluster]"' in said


def test_a_worker_that_hangs_is_refused_by_its_address(
    there: Dask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joining, "ANSWER_S", 2.0)
    hanging = there.processes["two"]
    address = re.findall(r"tcp://127\.0\.0\.1:\d+", there.log("two"))[0]
    hanging.send_signal(signal.SIGSTOP)
    try:
        with (
            pytest.raises(ConfigError, match=f"worker = {address}: .* 2 s"),
            joining.joined(there.address),
        ):
            raise AssertionError("it has joined")
    finally:
        hanging.send_signal(signal.SIGCONT)
    with joining.joined(there.address) as joined:
        assert joined.at_once == 2


@pytest.mark.long
def test_a_failure_that_is_not_kept_is_raised(there: Dask, tmp_path: Path) -> None:
    fragile(tmp_path)
    broken = api.load(tmp_path / "e.toml", ["fabric.hybrid.policy.breaks=true"])
    with joining.joined(None, there.file) as joined:
        for attempt in (
            lambda: joined.run_jobs([Job(broken, "hybrid")], lambda *_: None),
            lambda: joined.simulate(broken, "hybrid"),
        ):
            with pytest.raises(ConfigError) as refused:
                attempt()
            with pytest.raises(ConfigError) as local:
                api.run(broken)
            assert str(refused.value) == str(local.value)
            assert refused.value.key == local.value.key


COMPARED = """
[compare]
loads = [0.3, 0.5]
"""


@pytest.mark.long
def test_compare_finds_the_same_there(there: Dask, tmp_path: Path) -> None:
    write(tmp_path / "e.toml", SMALL, COMPARED, SIRIUS, CLOS)
    at = ("--scheduler-file", there.file)
    seeds = ("--set", "run.repeat=2", "--worst-failure", "--worst-of", "1")
    for out, where in (("here", ()), ("there", at)):
        done = lightloom("compare", "e.toml", *seeds, "-o", out, *where, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    for folder in (f"seed-{seed}/{label}" for seed in (3, 4) for label in ("sirius", "clos")):
        assert_same(tmp_path / "here" / folder, tmp_path / "there" / folder)
    for name in ("loads.json", "resilience.json"):
        both = [json.loads((tmp_path / out / name).read_text()) for out in ("here", "there")]
        assert timeless(both[0]) == timeless(both[1])
    names = [sorted(p.name for p in (tmp_path / out).iterdir()) for out in ("here", "there")]
    assert names[0] == names[1]


TOY = {
    "claims.toml": """
title = "Toy"
[[claim]]
id = "goodput"
source = "none"
statement = "Some of it arrives."
command = "lightloom reproduce toy/one"
measures = "goodput"
expect = { at_least = 0.0001 }
quick = true
status = "reproduced"
""",
    "one.py": """
from pathlib import Path
from lightloom.validation.study import draw, panel, vary
SETUP = Path(__file__).with_name("setup.toml")
def measure(quick, workers):
    cases = {x: ([f"workload.load={x}"], "clos") for x in (0.2, 0.4)}
    runs = vary(SETUP, cases, seeds=[1, 2], workers=workers)
    line = runs.line((0.2, 0.4), "goodput_normalized")
    return {"data": [panel("x", ("load", [0.2, 0.4]), "y", {"a": line})],
            "claims": {"goodput": runs.across(0.2, "goodput_normalized")}}
def figure(data):
    return draw(data)
""",
}


@pytest.mark.long
def test_reproduce_measures_the_same_there(there: Dask, tmp_path: Path) -> None:
    toy = tmp_path / "validation" / "toy"
    toy.mkdir(parents=True)
    for name, text in TOY.items():
        write(toy / name, text)
    write(toy / "setup.toml", SMALL, CLOS)
    for out, where in (("here", ()), ("there", ("--scheduler", there.address))):
        done = lightloom(
            *("reproduce", "toy/one", "-o", out, *where),
            cwd=tmp_path,
            LIGHTLOOM_VALIDATION=str(tmp_path / "validation"),
        )
        assert done.returncode == 0, done.stderr
    for name in ("claims.json", "toy/one.json", "toy/one.svg"):
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "there" / name).read_bytes()


def timeless(value: Any) -> Any:
    """Returns a value without the parts that differ between equal runs."""
    if isinstance(value, dict):
        of_time = ("kernel_s", "wall_s", "peak_rss_bytes")
        return {k: timeless(v) for k, v in value.items() if k not in of_time}
    return [timeless(v) for v in value] if isinstance(value, list) else value


def test_a_result_that_came_before_its_worker_died_counts() -> None:
    """Dask then reports that the data are lost, and would compute them again."""
    own = build.here()
    cluster = object.__new__(Cluster)
    cluster._build = own
    lost: Any = SimpleNamespace(status="lost")
    answer = worker.Answer("tcp://there:1", own, result=cast("Any", "figures"))
    assert cluster._read(lost, answer) == "figures"
    refused = worker.Answer("tcp://there:1", own, failed="no such key", refused=(None,) * 5)
    assert str(cluster._read(lost, refused)) == "no such key"


def test_of_a_worker_that_is_gone_it_is_told_what_it_had() -> None:
    """Tasks of other clients, and workers that were dismissed, are not reported."""
    heard: list[str] = []
    topics: dict[str, Any] = {}
    client: Any = SimpleNamespace(subscribe_topic=topics.__setitem__)
    deaths.listen(client, {"a": "sirius, seed 3", "b": "clos, seed 3"}, heard.append)
    event = {"action": "remove-worker", "worker": "tcp://there:1", "processing-tasks": {"a", "b"}}
    for changes in ({}, {"expected": True}, {"processing-tasks": {"c"}}, {"action": "add-worker"}):
        topics["all"]((0.0, {**event, **changes}))
    (line,) = heard
    assert line.startswith("worker tcp://there:1 is gone")
    assert "clos, seed 3; sirius, seed 3: " in line
