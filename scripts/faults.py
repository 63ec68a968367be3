"""Tests results when commands are killed, disks are full, and files are truncated.

Every try begins with a complete old result. A command that makes another result is disturbed; after
the next command, all files must be those of the old result or those of the new one. This command is
`lightloom verify` if the writer died, and otherwise the same command again. Prints tries and
failures; the exit code is 1 if there are failures.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

EXPERIMENT = """
[cluster]
racks = 8
servers_per_rack = 4
server_rate = "25 Gb/s"

[workload]
load = 0.4
flows = FLOWS
sizes = { kind = "fixed", size = "20 KB" }

[run]
seed = SEED

[[fabric]]
kind = "clos"

[[fabric]]
kind = "sirius"
"""
SWEEP = (
    'base = "e.toml"\nflows = true\n[grid]\n"workload.load" = [0.2, 0.3]\n"run.seed" = [SEED, 8]\n'
)
#: Time limit of a command, with a large reserve for busy machines [s].
PATIENCE_S = 300
#: Signals that end a command, and whether its whole group receives them, as from a terminal.
SIGNALS = (
    (signal.SIGINT, True),
    (signal.SIGINT, False),
    (signal.SIGTERM, False),
    (signal.SIGHUP, True),
    (signal.SIGHUP, False),
    (signal.SIGKILL, False),
)
#: Python's own start, before any line of Lightloom, where the interpreter handles SIGINT.
NOT_OURS = "in Python's own start"
#: Values that differ between equal runs.
TIMES = ("kernel_s", "wall_s", "peak_rss_bytes", "threads")
HIDDEN = ".lightloom"
#: Folders of a sweep with one file per point, which has times; that of an unfinished sweep is
#: separate.
ROWS, UNFINISHED = "rows", "rows.unfinished"


@dataclass
class Tally:
    """Tries and failures by kind."""

    tries: dict[str, int] = field(default_factory=dict)
    slowest: dict[str, float] = field(default_factory=dict)
    """Longest time of a command to end after a signal [s]."""
    struck: dict[str, int] = field(default_factory=dict)
    """Number of commands that the signal ended; others had ended before, or completed
    nevertheless."""
    failures: list[str] = field(default_factory=list)

    def count(self, kind: str, why: str | None) -> None:
        """Counts one try, and its error, if any."""
        self.tries[kind] = self.tries.get(kind, 0) + 1
        if why is not None:
            self.failures.append(f"{kind}: {why}")
            print(f"FAILURE {kind}: {why}", flush=True)


@dataclass(frozen=True)
class Command:
    """A command that writes into `out`, for seed 1 or 2 of the experiment."""

    name: str
    words: tuple[str, ...]

    def start(self, folder: Path) -> subprocess.Popen[str]:
        """Starts it in its own process group."""
        return subprocess.Popen(
            [sys.executable, "-m", "lightloom", *self.words, "-o", "out"],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, folder: Path) -> tuple[int, str]:
        """Runs it to its end; returns its exit code and its standard error."""
        process = self.start(folder)
        _, said = process.communicate(timeout=PATIENCE_S)
        return process.returncode, said


COMMANDS = (
    Command("run", ("run", "e.toml", "--fabric", "sirius")),
    Command("compare", ("compare", "e.toml", "--prices", "sirius-2020")),
    Command("sweep", ("sweep", "s.toml", "--workers", "2")),
    Command("reproduce", ("reproduce", "sirius/fig02a", "--quick", "--workers", "2")),
)


def prepare(folder: Path, seed: int, flows: int = 3000) -> None:
    """Writes the files of a command that makes the result of a seed."""
    text = EXPERIMENT.replace("SEED", str(seed)).replace("FLOWS", str(flows))
    (folder / "e.toml").write_text(text)
    (folder / "s.toml").write_text(SWEEP.replace("SEED", str(seed)))


def content(path: Path) -> object:
    """Returns the content of a file for comparison, without times."""
    if path.suffix != ".json":
        return path.read_bytes()
    return timeless(json.loads(path.read_text()))


def timeless(value: object) -> object:
    """Returns JSON without values that differ between equal runs."""
    if isinstance(value, dict):
        return {key: timeless(of) for key, of in value.items() if key not in TIMES}
    return [timeless(of) for of in value] if isinstance(value, list) else value


def image(out: Path) -> dict[str, object]:
    """Returns all files below a folder; pages and tables with times, and records, only by name."""
    return {
        path.relative_to(out).as_posix(): (
            "there"
            if path.name in ("record.json", "report.html", "sweep.parquet")
            or path.parent.name in (ROWS, UNFINISHED)
            else content(path)
        )
        for path in sorted(out.rglob("*"))
        if path.is_file()
    }


def children(group: int) -> list[int]:
    """Returns the running processes of a group, without zombies."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[2]) == group and fields[0] != "Z":
                found.append(int(stat.parent.name))
    return found


def whole(out: Path) -> str | None:
    """Returns the errors that `lightloom verify` reports."""
    done = subprocess.run(
        [sys.executable, "-m", "lightloom", "verify", str(out), "--json"],
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    if done.returncode == 0:
        return None
    if done.returncode != 1:
        return f"verify: {done.stderr.strip()}"
    bad = [one for one in json.loads(done.stdout) if not one["whole"]]
    return f"verify: {[(one['result'], one['faults'][:2]) for one in bad][:3]}"


@dataclass
class Case:
    """A command with its old and its new result, and its running time."""

    command: Command
    top: Path
    old: dict[str, object]
    new: dict[str, object]
    seconds: float
    code: int
    """Its exit code without a disturbance."""

    @staticmethod
    def make(command: Command, top: Path) -> Case:
        """Makes both results without disturbances, the new one over the old one."""
        images, begun, code = [], 0.0, 0
        for seed in (1, 2):
            prepare(top, seed)
            begun = time.monotonic()
            code, said = command.run(top)
            if code not in (0, 1) or not (top / "out").is_dir():
                raise SystemExit(f"{command.name} fails undisturbed: {said}")
            if seed == 1:
                shutil.copytree(top / "out", top / "kept")
            images.append(image(top / "out"))
        return Case(command, top, *images, time.monotonic() - begun, code)

    def reset(self) -> Path:
        """Restores the old result and the files of the new one."""
        out = self.top / "out"
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(self.top / "kept", out)
        prepare(self.top, 2)
        return out


def settle(out: Path) -> None:
    """Acts as the next reader: undoes the unfinished changes of a dead process."""
    code = "import sys; from lightloom.storage import lock; from pathlib import Path; "
    code += "top = Path(sys.argv[1]); lock.settle(top); "
    code += "lock.release_left([top, *top.glob('points/*/')])"
    subprocess.run([sys.executable, "-c", code, str(out)], check=True, timeout=PATIENCE_S)


def judged(case: Case, found: dict[str, object]) -> str | None:
    """Whether all files belong to the old result, or all to the new one.

    Each point of a sweep is a result of its own: points of the new sweep may exist next to the old
    sweep. Tables, rows, page and figures are one result, and complete.
    """
    if case.command.name != "sweep":
        if found in (case.old, case.new):
            return None
        return f"neither old nor new: {differing(found, case.old)} | {differing(found, case.new)}"
    tables = {name: of for name, of in found.items() if not of_point(name)}
    old, new = (
        {name: of for name, of in complete.items() if not of_point(name)}
        for complete in (case.old, case.new)
    )
    if tables not in (old, new):
        return f"tables neither old nor new: {differing(tables, old)} | {differing(tables, new)}"
    points = {name: of for name, of in found.items() if name.startswith("points/")}
    ended = tables == new
    allowed, wanted = (case.new, case.new) if ended else ({**case.old, **case.new}, case.old)
    wrong = [name for name, of in points.items() if allowed.get(name) != of]
    lost = [name for name in wanted if name.startswith("points/") and name not in points]
    left = [name for name in found if ended and name.startswith(UNFINISHED)]
    return f"points: {wrong[:3]} {lost[:3]} {left[:3]}" if wrong or lost or left else None


def of_point(name: str) -> bool:
    """Whether a file of a sweep belongs to one point only, and may exist before the others."""
    return name.startswith(("points/", f"{UNFINISHED}/"))


def differing(found: dict[str, object], wanted: dict[str, object]) -> list[str]:
    """Returns the names of files that differ."""
    names = {*found, *wanted}
    return sorted(name for name in names if found.get(name) != wanted.get(name))[:4]


def kill(case: Case, number: int, group: bool, after: float) -> tuple[str | None, float, bool]:
    """Sends a signal after a time to the whole group or only to the command.

    Returns the error, if any, the time until the command ended, and whether the signal ended it.
    """
    out = case.reset()
    process = case.command.start(case.top)
    time.sleep(after)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number) if group else process.send_signal(number)
    sent = time.monotonic()
    try:
        _, said = process.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return "did not end", PATIENCE_S, False
    took = time.monotonic() - sent
    if number == signal.SIGINT and "Traceback" in said and "lightloom" not in said:
        return NOT_OURS, took, True
    struck = process.returncode in (128 + number, -number)
    return ended(case, out, process, number, said), took, struck


def ended(
    case: Case, out: Path, process: subprocess.Popen[str], number: int, said: str
) -> str | None:
    """Returns the error in the end of a command or in its files, if any."""
    until = time.monotonic() + (5 if number == signal.SIGKILL else 1)
    while (left := children(process.pid)) and time.monotonic() < until:
        time.sleep(0.05)
    if left:
        os.killpg(process.pid, signal.SIGKILL)
        return f"left processes behind: {len(left)}"
    if "Traceback" in said:
        return f"traceback: {said.strip().splitlines()[-1]}"
    if number == signal.SIGKILL:
        settle(out)
    if stray := [path.name for path in out.rglob(f"{HIDDEN}*")]:
        return f"stray {stray}"
    found = image(out)
    # A shell reports 128 + the number both for a handled signal and for one before the handler was
    # set.
    if process.returncode not in (128 + number, -number):
        whole_new = process.returncode == case.code and judged(replace(case, old=case.new), found)
        if process.returncode != case.code or whole_new:
            return f"exit {process.returncode} {whole_new or ''}: {said.strip()[-300:]}"
    return judged(case, found) or whole(out)


def kills(case: Case, tries: int, chosen: random.Random, tally: Tally) -> None:
    """Signals at random moments."""
    for number, group in SIGNALS:
        name = f"{case.command.name}, {number.name}{' to all' if group else ''}"
        for _ in range(tries):
            after = chosen.uniform(0, case.seconds * 1.05)
            why, took, struck = kill(case, number, group, after)
            if why == NOT_OURS:
                tally.count(f"{name}, {NOT_OURS}", None)
                continue
            tally.count(name, why and f"after {after:.2f} s: {why}")
            tally.slowest[name] = max(took, tally.slowest.get(name, 0.0))
            tally.struck[name] = struck + tally.struck.get(name, 0)


def cut(case: Case, tries: int, chosen: random.Random, tally: Tally) -> None:
    """Files of points, shortened at random places before --resume."""
    resume = Command("resume", (*case.command.words, "--resume"))
    for _ in range(tries):
        out = case.reset()
        prepare(case.top, 1)
        points = sorted((out / "points").iterdir())
        chosen_files = [chosen.choice(sorted(p for p in one.iterdir())) for one in points]
        for file in chosen_files:
            size = file.stat().st_size
            with file.open("r+b") as data:
                data.truncate(chosen.randrange(size))
        code, said = resume.run(case.top)
        notes = said.count("note: point ")
        why = None
        if code != 0 or notes != len(points):
            why = f"exit {code}, {notes} notes of {len(points)}: {said.strip()[-200:]}"
        elif image(out) != case.old:
            why = f"other results: {differing(image(out), case.old)}"
        tally.count("truncated points", why or whole(out))


def refused(case: Case, kind: str, word: str, tally: Tally, *, may_fit: bool = False) -> None:
    """Tests a command that the system must refuse with exit code 2, the path and the reason, and
    without changes; if the space may suffice, it may also succeed with the complete new result."""
    out = case.top / "out"
    before = image(out)
    prepare(case.top, 2)
    code, said = case.command.run(case.top)
    why = None
    if code == 0 and may_fit:
        kind += " with room for it"
        why = whole(out) if image(out) == case.new else "ended well without the new result"
    elif code != 2 or word not in said or "out" not in said or "Traceback" in said:
        why = f"exit {code}: {said.strip()[-300:]}"
    elif stray := list(out.rglob(f"{HIDDEN}*")):
        why = f"stray {stray}"
    elif case.command.name == "sweep":  # points that were complete before remain
        why = judged(case, image(out))
    elif image(out) != before:
        why = f"not as it was: {differing(image(out), before)}"
    tally.count(kind, why)


@contextlib.contextmanager
def mounted(out: Path, options: str) -> Iterator[bool]:
    """Mounts a tmpfs there, if this user may mount one."""
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(out)], capture_output=True, check=False
    )
    try:
        yield made.returncode == 0
    finally:
        if made.returncode == 0:
            subprocess.run(["umount", str(out)], check=True)


def full(case: Case, tally: Tally) -> None:
    """Tests a disk with the old result and a few free KB, more in each try."""
    kept = sum(path.stat().st_size for path in (case.top / "kept").rglob("*") if path.is_file())
    files = sum(1 for path in (case.top / "kept").rglob("*") if path.is_file())
    for spare in (0, 8, 32, 96):
        out = case.top / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        size = kept // 1024 + 4 * files + spare
        with mounted(out, f"size={size}k") as possible:
            if not possible:
                print("full tmpfs: left out, as this user may not mount one")
                return
            shutil.copytree(case.top / "kept", out, dirs_exist_ok=True)
            kind = f"{case.command.name}, full tmpfs"
            refused(case, kind, "no space left", tally, may_fit=spare > 0)


def unwritable(case: Case, tally: Tally) -> None:
    """Tests a read-only file system for root, and a read-only folder for other users."""
    out = case.reset()
    if os.geteuid() != 0:
        out.chmod(0o555)
        refused(case, f"{case.command.name}, read-only folder", "cannot be written", tally)
        out.chmod(0o755)
        return
    shutil.rmtree(out)
    out.mkdir()
    with mounted(out, "size=64m") as possible:
        if possible:
            shutil.copytree(case.top / "kept", out, dirs_exist_ok=True)
            subprocess.run(["mount", "-o", "remount,ro", str(out)], check=True)
            refused(case, f"{case.command.name}, read-only folder", "read-only", tally)


def two(case: Case, tries: int, tally: Tally) -> None:
    """Tests two commands at once: one result is complete, and the other command is refused with the
    name of the first."""
    for _ in range(tries):
        out = case.reset()
        both = [case.command.start(case.top) for _ in range(2)]
        ends = [(process.communicate(timeout=PATIENCE_S)[1], process) for process in both]
        codes = sorted(process.returncode for _, process in ends)
        said = "".join(text for text, _ in ends)
        why = None
        if codes not in ([0, 2], [0, 0]) or (codes == [0, 2] and "is writing there" not in said):
            why = f"exits {codes}: {said.strip()[-300:]}"
        tally.count(f"{case.command.name}, two at once", why or judged(case, image(out)))


def main() -> int:
    """Tries all of it."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--tries", type=int, default=20, help="of each kind")
    asked.add_argument("--seed", type=int, default=None)
    asked.add_argument("--only", help="one of run, compare, sweep, reproduce")
    asked.add_argument("--minutes", type=float, default=120, help="after which no more begin")
    given = asked.parse_args()
    seed = given.seed if given.seed is not None else random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}, {given.tries} tries of each kind", flush=True)
    # Background processes of a shell ignore SIGINT, and under nohup SIGHUP; the commands of this
    # script would inherit this.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    tally, chosen = Tally(), random.Random(seed)
    until = time.monotonic() + given.minutes * 60
    for command in COMMANDS:
        if given.only in (None, command.name):
            with tempfile.TemporaryDirectory() as top:
                case = Case.make(command, Path(top))
                for step in steps(case, given.tries, chosen, tally):
                    if time.monotonic() < until:
                        step()
    for kind, tries in tally.tries.items():
        bad = sum(line.startswith(f"{kind}: ") for line in tally.failures)
        slow = ""
        if kind in tally.slowest:
            slow = f", {tally.struck[kind]} struck, ended within {tally.slowest[kind]:.2f} s"
        print(f"{kind:32} {tries:4} tries {bad:4} failures{slow}")
    print(f"{sum(tally.tries.values())} tries, {len(tally.failures)} failures")
    return 1 if tally.failures else 0


def steps(
    case: Case, tries: int, chosen: random.Random, tally: Tally
) -> Iterator[Callable[[], None]]:
    """Returns the tests of a command."""
    yield lambda: unwritable(case, tally)
    yield lambda: full(case, tally)
    yield lambda: two(case, min(tries, 3), tally)
    if case.command.name == "sweep":
        yield lambda: cut(case, tries, chosen, tally)
    yield lambda: kills(case, tries, chosen, tally)


if __name__ == "__main__":
    sys.exit(main())
