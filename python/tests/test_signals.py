"""Commands end soon after a signal, in any state, and leave no files behind."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from cli_support import CLOS, SMALL, command, environment_with, write
from signal_support import PATIENCE_S, descendants, ended, files, living

from lightloom.storage import lock, signals

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

SIGNALS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
SAID = {130: "interrupted", 143: "terminated", 129: "hung up"}
#: Size of a sparse file that takes minutes to read [B].
HUGE = 1 << 38
#: An hour of demand, and the next.
DAY = ("2026-11-23T00-00.csv", "2026-11-23T01-00.csv")
INSTANT = ("settle", "retag", "rule", "link_up", "transport_recovery")

#: Work of a command → its arguments. Each command would take much longer than a test waits.
COMMANDS: dict[str, list[object]] = {
    "draws": ["run", "e.toml", "-o", "out", "--set", "workload.flows=60_000_000"],
    "simulates": ["run", "e.toml", "-o", "out", "--set", "workload.flows=3_000_000"],
    "compares": ["compare", "e.toml", "-o", "out", "--set", "workload.flows=3_000_000"],
    "decides often": [
        *("run", "e.toml", "-o", "out", "--set", "fabric.kind=hydra"),
        *(f"--set=fabric.{key}=0 s" for key in INSTANT),
        "--set=fabric.interval=1 ps",
    ],
    "sweeps": ["sweep", "sweep.toml", "-o", "out", "--workers", "2"],
    "sweeps alone": ["sweep", "sweep.toml", "-o", "out", "--workers", "1"],
    "breaks parts": [
        *("compare", "e.toml", "-o", "out", "--worst-failure", "--worst-of", "99"),
        *("--set", "workload.flows=1_000_000"),
    ],
    "reads a trace": ["run", "e.toml", "-o", "out", "--set", "workload={ trace = 'big.csv' }"],
    "plans": ["plan", "big-matrix.csv", "--algorithm", "eclipse", "-o", "plan.json"],
    "keeps time": ["clock", "--nodes", "2000", "--duration", "100 ms", "-o", "clock.json"],
    "reproduces": ["reproduce", "sirius", "-o", "out"],
    "verifies": ["verify", "huge"],
    "replays demand": ["replay-demand", *DAY, "--algorithm", "endless.py:Endless"],
}
#: Commands that read a file wait for the writer of a pipe.
READING: dict[str, list[object]] = {
    "run": ["run", "pipe", "-o", "out"],
    "compare": ["compare", "pipe", "-o", "out"],
    "cost": ["cost", "pipe", "-o", "out"],
    "sweep": ["sweep", "pipe", "-o", "out"],
    "clock": ["clock", "pipe", "-o", "out"],
    "devices": ["devices", "pipe", "-o", "out.svg"],
    "plan": ["plan", "pipe.csv", "--algorithm", "edmonds", "-o", "plan.json"],
    "replay-demand": ["replay-demand", "pipe.csv", "other.csv", "--algorithm", "edmonds"],
}
#: Commands that print at once, and whose output fits into any pipe; test_cli_switch.py ends `switch
#: serve`.
AT_ONCE = {"fabrics", "policies", "workloads", "explain", "switch"}
#: Commands that run until they are ended, with tests of their own.
SERVING = {"testbed", "controller", "circuits"}
ENDLESS = (
    "class Endless:\n    def decide(self, demand, switch):\n        while True:\n            pass\n"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with inputs that keep a command busy."""
    made = tmp_path_factory.mktemp("signals")
    write(made / "e.toml", SMALL, CLOS)
    write(made / "long.toml", SMALL.replace("flows = 400", "flows = 3_000_000"), CLOS)
    write(made / "sweep.toml", 'base = "long.toml"\n[grid]\n"run.seed" = [1, 2, 3, 4]\n')
    rows = "".join(f"{k % 16},{(k + 1) % 16},1000,{k}\n" for k in range(200_000))
    (made / "big.csv").write_text("src,dst,bytes,arrival_ps\n" + rows * 10)
    rng = random.Random(1)
    lines = (
        ",".join("0" if i == j else str(rng.randrange(1, 10**6)) for j in range(900))
        for i in range(900)
    )
    (made / "big-matrix.csv").write_text("\n".join(lines) + "\n")
    for name in ("pipe", "pipe.csv", "other.csv"):
        os.mkfifo(made / name)
    (made / "endless.py").write_text(ENDLESS)
    for name in DAY:
        (made / name).write_text("0,5,1\n1,0,5\n5,1,0\n")
    (made / "huge").mkdir()
    with (made / "huge/flows.parquet").open("wb") as sparse:
        sparse.truncate(HUGE)
    listed = {"flows.parquet": {"bytes": HUGE, "sha256": "0"}}
    (made / "huge/record.json").write_text(json.dumps({"schema": 1, "files": listed}))
    return made


def test_no_command_is_left_out() -> None:
    from lightloom.cli.loading import HOMES

    tried = {str(words[0]) for words in (*COMMANDS.values(), *READING.values())}
    assert set(HOMES) == tried | AT_ONCE | SERVING | {"schema"}


def with_signals(names: Iterable[str]) -> list[Any]:
    """Each command with one of the signals in turn, and with the others in `make test-long`."""
    return [
        pytest.param(
            name,
            number,
            id=f"{name}-{number.name}",
            marks=() if turn == at % len(SIGNALS) else pytest.mark.long,
        )
        for at, name in enumerate(names)
        for turn, number in enumerate(SIGNALS)
    ]


@pytest.mark.parametrize(("doing", "number"), with_signals(COMMANDS))
def test_every_command_ends_soon_and_whole(
    folder: Path, doing: str, number: signal.Signals
) -> None:
    """At a random moment a signal to the command alone, or three at once."""
    ends(folder, COMMANDS[doing], number, 2.5)


@pytest.mark.parametrize(("name", "number"), with_signals(READING))
def test_every_command_ends_while_it_waits_for_its_file(
    folder: Path, name: str, number: signal.Signals
) -> None:
    ends(folder, READING[name], number, 1.0)


@pytest.mark.parametrize(("number", "code"), SIGNALS.items())
def test_a_command_ends_that_nobody_reads(number: signal.Signals, code: int) -> None:
    """The output is larger than a pipe: the command waits, and would wait again for the remaining
    output."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command("schema"), env=environment_with({}), **pipes) as process:
        assert process.stdout is not None
        process.stdout.read(1)  # it has begun to print
        time.sleep(0.2)
        assert process.poll() is None
        process.send_signal(number)
        begun = time.monotonic()
        assert process.wait(timeout=60) == code
        assert time.monotonic() - begun < PATIENCE_S
        assert process.stderr is not None
        assert re.fullmatch(f"{SAID[code]}: .*\n", process.stderr.read().decode())


def ends(folder: Path, words: list[object], number: signal.Signals, within_s: float) -> None:
    """A command ends, by a signal at a random moment, as it should."""
    seed = random.randrange(2**32)
    rng = random.Random(seed)
    times = rng.choice([1, 3])
    after_s = rng.uniform(0.3, within_s)
    code = SIGNALS[number]
    end = ended(folder, words, [number] * times, after_s)
    said = f"{SAID[code]}: nothing unfinished was written\n"
    told = f"seed {seed}: {number.name} x {times} after {after_s:.2f} s: {end}"
    heard = end.errors.splitlines(keepends=True)
    assert (end.code, heard[-1:]) == (code, [said]), told
    assert not any(line.startswith(("error", "Traceback")) for line in heard), told
    assert (end.left, end.orphans) == (frozenset(), ()), told
    assert end.took_s < PATIENCE_S, told


@contextmanager
def running(script: str, folder: Path, sign: str) -> Iterator[subprocess.Popen[str]]:
    """Starts a Python process, and waits until it has made a file."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    line = [sys.executable, "-c", script]
    with subprocess.Popen(line, cwd=folder, text=True, **pipes) as process:
        while not (folder / sign).exists():
            assert process.poll() is None
            time.sleep(0.05)
        yield process


STUCK = """
import sys
from lightloom.__main__ import main
from lightloom.storage import signals
from pathlib import Path

def run(*given, **options):
    signals.note(Path("half.part"))
    Path("half.part").write_text("half")
    sum(range(10**15))  # one step of the interpreter: no handler of Python's runs

import lightloom
lightloom.run = run
sys.argv[1:] = ["run", "e.toml", "-o", "out"]
main()
"""


@pytest.mark.parametrize(("number", "code"), SIGNALS.items())
def test_code_that_never_looks_is_ended_all_the_same(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    """The code is like a parser in C: the core ends it, and removes unfinished files."""
    write(tmp_path / "e.toml", SMALL, CLOS)
    with running(STUCK, tmp_path, "half.part") as process:
        time.sleep(0.5)
        process.send_signal(number)
        begun = time.monotonic()
        _, errors = process.communicate(timeout=60)
    assert time.monotonic() - begun < PATIENCE_S
    assert process.returncode == code
    assert re.fullmatch(f"{SAID[code]}: .*\n", errors)
    assert files(tmp_path) == {"e.toml"}


def test_what_stays_is_said_by_the_core_too(tmp_path: Path) -> None:
    """The core has its message from the beginning; the message changes with the first point of a
    sweep."""
    write(tmp_path / "e.toml", SMALL, CLOS)
    stuck = STUCK.replace("    signals.note(", '    signals.leaves("all stays")\n    signals.note(')
    for script, said in (
        (stuck, "all stays"),
        (stuck.replace("sum(", "signals.leaves()\n    sum("), signals.LEFT_NOTHING),
    ):
        with running(script, tmp_path, "half.part") as process:
            time.sleep(0.5)
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (143, f"terminated: {said}\n")


#: A process that writes into its folder and ignores signals, even while the folder is removed.
WRITING = """
import itertools, sys
from lightloom.__main__ import main
from lightloom.storage import signals
from pathlib import Path

numbers = itertools.count()

def writes():
    for number in numbers:
        try:
            Path(f"half/{number}").write_text("half")
        except OSError:
            pass

def run(*given, **options):
    signals.note(Path("half"))
    Path("half").mkdir()
    try:
        writes()
    except KeyboardInterrupt:  # raised once, anywhere in the loop
        writes()

import lightloom
lightloom.run = run
sys.argv[1:] = ["run", "e.toml", "-o", "out"]
main()
"""


def test_what_is_written_while_it_is_removed_goes_too(tmp_path: Path) -> None:
    """Regression: `compare` left its folder of unfinished files if it was writing one at that
    moment."""
    write(tmp_path / "e.toml", SMALL, CLOS)
    with running(WRITING, tmp_path, "half/999") as process:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode == 143
    assert files(tmp_path) == {"e.toml"}


#: A process that stops for ever when it has moved the first of its files to its final name.
MOVING = """
import sys
from lightloom.__main__ import main
from lightloom.storage.staging import write_files
from pathlib import Path

move = Path.replace

def moves(part, path):
    move(part, path)
    if path.parent.name == "out":
        Path("moving").touch()
        sum(range(10**15))

def run(*given, **options):
    write_files({Path(f"out/{name}"): b"new" for name in "ab"}, Path("out"))
    Path.replace = moves
    write_files({Path(f"out/{name}"): b"newer" for name in "ab"}, Path("out"))

import lightloom
lightloom.run = run
sys.argv[1:] = ["run", "e.toml", "-o", "out"]
main()
"""


def test_the_core_never_leaves_old_files_beside_new_ones(tmp_path: Path) -> None:
    """Regression: it removed the list of the moves when it had waited for them in vain."""
    write(tmp_path / "e.toml", SMALL, CLOS)
    with running(MOVING, tmp_path, "moving") as process:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode == 143
    lock.settle(tmp_path / "out")
    assert [(tmp_path / "out" / name).read_bytes() for name in "ab"] == [b"newer"] * 2
    assert files(tmp_path / "out") == {"a", "b"}


#: A process that loads its modules, at a place where exceptions are lost.
LOADING = """
import sys, time
from pathlib import Path

class Slow:
    def __del__(self):
        Path("loading").touch()
        time.sleep(30)

class Finder:
    def find_spec(self, name, *given):
        if name == "lightloom.cli":
            Slow()

sys.meta_path.insert(0, Finder())
from lightloom.__main__ import main
sys.argv[1:] = ["fabrics"]
main()
"""


@pytest.mark.parametrize(("number", "code"), SIGNALS.items())
def test_a_command_that_is_being_loaded_ends_at_once(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    """An exception would be lost there, and the command would continue."""
    with running(LOADING, tmp_path, "loading") as process:
        process.send_signal(number)
        out, errors = process.communicate(timeout=60)
    assert process.returncode == code
    assert out == ""
    assert re.fullmatch(f"{SAID[code]}: .*\n", errors)


#: A process that makes a class, where Python 3.11 replaces an exception by a RuntimeError.
CLASSES = """
import sys, time
from lightloom.__main__ import main
from pathlib import Path

class Slow:
    def __set_name__(self, owner, name):
        Path("making").touch()
        time.sleep(30)

def run(*given, **options):
    class Owner:
        slow = Slow()

import lightloom
lightloom.run = run
sys.argv[1:] = ["run", "e.toml", "-o", "out"]
main()
"""


def test_a_signal_while_a_class_is_made_leaves_no_traceback(tmp_path: Path) -> None:
    write(tmp_path / "e.toml", SMALL, CLOS)
    with running(CLASSES, tmp_path, "making") as process:
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (143, "terminated: nothing unfinished was written\n")
    assert files(tmp_path) == {"e.toml", "making"}


def ignoring() -> None:
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def test_signals_that_are_ignored_at_the_start_stay_so(tmp_path: Path) -> None:
    """`nohup` and `&` in a script ignore signals in this way."""
    write(tmp_path / "e.toml", SMALL, CLOS)
    arguments = command("run", "e.toml", "-o", "out", "--set", "workload.flows=200_000")
    with subprocess.Popen(
        arguments,
        cwd=tmp_path,
        env=environment_with({}),
        stdout=subprocess.DEVNULL,
        preexec_fn=ignoring,
    ) as process:
        for _ in range(8):
            time.sleep(0.1)
            process.send_signal(signal.SIGHUP)
            process.send_signal(signal.SIGINT)
        assert process.wait(timeout=120) == 0
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["flows_completed"] > 0


def start_sweep(folder: Path) -> subprocess.Popen[str]:
    """Starts a sweep with two workers that simulate, in its own process group."""
    process = subprocess.Popen(
        command(*COMMANDS["sweeps"]),
        cwd=folder,
        env=environment_with({}),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    until = time.monotonic() + 60
    while len(descendants(process.pid)) < 3 and time.monotonic() < until:
        time.sleep(0.05)
    return process


@pytest.mark.parametrize("after_s", [0.0, 1.0, 2.5])
def test_workers_end_when_their_parent_is_killed(folder: Path, after_s: float) -> None:
    """Regression: SIGTERM to a sweep left workers that finished the queue and then stayed."""
    before = files(folder)
    with start_sweep(folder) as process:
        time.sleep(after_s)
        family = descendants(process.pid)
        process.kill()
        process.communicate(timeout=60)
    assert len(family) >= 3
    until = time.monotonic() + PATIENCE_S
    while living(family) and time.monotonic() < until:
        time.sleep(0.05)
    assert not living(family)
    hidden = {name for name in files(folder) - before if Path(name).name.startswith(".")}
    for name in sorted(files(folder) - before, reverse=True):
        path = folder / name
        path.rmdir() if path.is_dir() else path.unlink()
    assert hidden <= {"out/.lightloom"}, "which the next command settles"


@pytest.mark.parametrize(("number", "code"), SIGNALS.items())
def test_a_signal_to_the_whole_group_is_one_end(
    folder: Path, number: signal.Signals, code: int
) -> None:
    """A terminal sends signals to the group: workers print no message about theirs."""
    before = files(folder)
    with start_sweep(folder) as process:
        time.sleep(1.0)
        os.killpg(process.pid, number)
        _, errors = process.communicate(timeout=60)
    # On a slow machine the time of the sweep is also printed, which this test does not control.
    said = [line for line in errors.splitlines() if not line.startswith("estimate: ")]
    (line,) = said
    assert line.startswith(f"{SAID[code]}: ")
    assert process.returncode == code
    assert files(folder) == before


def test_drawing_shows_how_far_it_is(folder: Path) -> None:
    """The progress is the share of drawn flows, with an end of 0 s, and then that of the run."""
    import lightloom

    told: list[tuple[float, float, float]] = []
    more = ["workload.flows=1_000_000", 'run.stop="1 us"']
    experiment = lightloom.load(folder / "e.toml", more)
    lightloom.run(experiment, progress=lambda label, *at: told.append(at))
    drawn = [share for now, end, share in told if end == 0]
    assert drawn
    assert drawn == sorted(drawn)
    assert all(0 <= share < 1 for share in drawn)
    assert told[-1][1] > 0
    assert told.index((0.0, 0.0, drawn[-1])) < len(told) - 1


LOSING = """
import os, signal, sys, time, weakref
from lightloom.storage import signals

class Lock:
    pass

signals.handled()
lock = Lock()
gone = weakref.ref(lock, lambda _: os.kill(os.getpid(), int(sys.argv[1])))
try:
    del lock  # the handler runs in the callback, where Python drops what it raises
    time.sleep(60)
except signals.Ended:
    print("cleaned up", flush=True)
    signals.end()
"""


@pytest.mark.parametrize(("number", "code"), SIGNALS.items())
def test_a_signal_in_a_callback_is_not_lost(number: signal.Signals, code: int) -> None:
    """The callback is like those by which the import system drops its locks."""
    words = [sys.executable, "-c", LOSING, str(int(number))]
    done = subprocess.run(words, capture_output=True, text=True, timeout=50, check=False)
    said = f"{SAID[code]}: nothing unfinished was written\n"
    assert (done.returncode, done.stdout, done.stderr) == (code, "cleaned up\n", said)
