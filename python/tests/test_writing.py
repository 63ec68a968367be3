"""The writer: if any step fails or is killed, the folder has either the complete old files or the
complete new ones, and no others."""

from __future__ import annotations

import errno
import itertools
import os
import pickle
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lightloom import ConfigError
from lightloom.storage import disk, journal, lock, records
from lightloom.storage.errors import WriteError
from lightloom.storage.staging import Staging

Files = dict[str, bytes]
OLD: Files = {"a": b"old a", "sub/b": b"old b", "stale/c": b"old c", "same": b"same"}
NEW: Files = {"a": b"new a" * 9, "sub/b": b"new b", "deep/er/d": b"new d", "same": b"same"}
#: Files of the user, which the writer never changes.
OWN: Files = {"notes.txt": b"mine", "sub/mine": b"mine"}
DIED = 9


def fill(folder: Path, files: Files) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def found(folder: Path) -> Files:
    """Returns all files below a folder, including hidden ones, without records, which repeat the
    others."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != records.RECORD
    }


def write(out: Path, files: Files = NEW, second: Path | None = None) -> None:
    """Writes a result with a record, optionally with a file elsewhere."""
    with Staging(out) as staging:
        for name, content in files.items():
            staging.content(out / name, content)
        if second is not None:
            staging.content(second, b"new elsewhere")
        staging.record(out, {"build": {}})


def whole(out: Path) -> bool:
    """Whether the record and the files agree."""
    record = records.read(out)
    return not isinstance(record, str) and not list(records.faults(out, record))


@contextmanager
def failing(at: int, fail: Callable[[], Any], *, for_good: bool = False) -> Iterator[list[str]]:
    """Makes a step fail, or this step and all later ones; records all steps."""
    seen: list[str] = []

    def step(name: str, path: Path) -> None:
        seen.append(name)
        if len(seen) - 1 == at or (for_good and len(seen) > at):
            fail()

    was, disk.step = disk.step, step
    try:
        yield seen
    finally:
        disk.step = was


def full() -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def interrupt() -> None:
    raise KeyboardInterrupt


def die() -> None:
    os._exit(DIED)


def steps_of(old: Files, new: Files, apart: bool) -> int:
    with case(old, apart) as (out, second), failing(-1, full) as seen:
        write(out, new, second)
    return len(seen)


@contextmanager
def case(old: Files, apart: bool) -> Iterator[tuple[Path, Path | None]]:
    """A folder with an old result and files of the user, optionally with a file elsewhere."""
    top = Path(tempfile.mkdtemp())
    try:
        out, second = top / "out", top / "elsewhere" / "e"
        if old:
            write(out, old)
        fill(out, OWN)
        if apart:
            fill(top, {"elsewhere/e": b"old elsewhere"})
        yield out, (second if apart else None)
    finally:
        shutil.rmtree(top)


def in_child(work: Callable[[], object]) -> int:
    """Returns the exit status of a forked process."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def states(old: Files, new: Files, apart: bool) -> tuple[Files, Files]:
    """Returns the complete old and the complete new files; files elsewhere are under their path
    from the root."""
    before = {f"out/{name}": content for name, content in (OWN | old).items()}
    after = {f"out/{name}": content for name, content in (OWN | new).items()}
    if apart:
        before["elsewhere/e"], after["elsewhere/e"] = b"old elsewhere", b"new elsewhere"
    return before, after


def one_by_one(before: Files, after: Files) -> list[Files]:
    """Returns the states: all old; the folder new and the file elsewhere old; all new.

    Each folder is final by itself.
    """
    return [before, {n: (before if n == "elsewhere/e" else after)[n] for n in after}, after]


STEPS = steps_of(OLD, NEW, True)


@pytest.mark.parametrize("apart", [False, True], ids=["one-folder", "two-folders"])
@pytest.mark.parametrize("fail", [full, interrupt])
def test_each_step_that_fails_leaves_all_as_it_was(fail: Any, apart: bool) -> None:
    """Old files remain, byte for byte, and the same command succeeds afterwards."""
    before, after = states(OLD, NEW, apart)
    steps = steps_of(OLD, NEW, apart)
    assert steps > 25
    for at in range(steps):
        with case(OLD, apart) as (out, second):
            with (
                failing(at, fail),
                pytest.raises(WriteError if fail is full else KeyboardInterrupt) as error,
            ):
                write(out, NEW, second)
            if fail is full:
                assert error.value.filename, at
                assert "nothing was changed" in error.value.message
            assert found(out.parent) == before, at
            assert whole(out)
            write(out, NEW, second)
            assert found(out.parent) == after, at
            assert whole(out)


@pytest.mark.parametrize("apart", [False, True], ids=["one-folder", "two-folders"])
def test_a_disk_that_fails_for_good_leaves_old_or_new_once_it_works_again(apart: bool) -> None:
    before, after = states(OLD, NEW, apart)
    for at in range(steps_of(OLD, NEW, apart)):
        with case(OLD, apart) as (out, second):
            with failing(at, full, for_good=True), pytest.raises(WriteError):
                write(out, NEW, second)
            lock.settle(out / "deep")  # as a reader of a label's results does
            lock.release_left([out, out.parent / "elsewhere"])
            assert found(out.parent) in one_by_one(before, after), at
            assert whole(out)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows cannot fork")
@pytest.mark.parametrize("apart", [False, True], ids=["one-folder", "two-folders"])
def test_a_process_that_dies_at_each_step_leaves_old_or_new(apart: bool) -> None:
    """As with SIGKILL, nothing is cleaned up. A reader settles the remaining files."""
    before, after = states(OLD, NEW, apart)
    seen, steps = [], steps_of(OLD, NEW, apart)
    for at in range(steps + 1):
        with case(OLD, apart) as (out, second):

            def work(at: int = at, out: Path = out, second: Path | None = second) -> None:
                with failing(at, die):
                    write(out, NEW, second)

            assert in_child(work) == (DIED if at < steps else 0)
            lock.settle(out)
            if second is not None:
                lock.settle(second.parent)
            left = {k: v for k, v in found(out.parent).items() if journal.FOLDER not in k}
            assert whole(out)
            seen.append(left)
            write(out, NEW, second)  # the next command leaves no stray files
            assert found(out.parent) == after, at
    # Only the removal of a folder's journal makes its files final.
    _, between, _ = one_by_one(before, after)
    assert seen == [before] * (steps - apart) + [between] * apart + [after]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows cannot fork")
def test_a_process_that_dies_while_it_settles_leaves_old_or_new() -> None:
    """Each following reader dies at another step."""
    before, after = states(OLD, NEW, True)
    for at, then in itertools.product(range(0, STEPS, 5), (0, 1, 2, 3, 5, 8)):
        with case(OLD, True) as (out, second):

            def work(at: int = at, out: Path = out, second: Path | None = second) -> None:
                with failing(at, die):
                    write(out, NEW, second)

            def settle(then: int = then, out: Path = out) -> None:
                with failing(then, die):
                    lock.settle(out)

            in_child(work)
            in_child(settle)
            lock.settle(out)
            assert second is not None
            lock.settle(second.parent)
            left = {k: v for k, v in found(out.parent).items() if journal.FOLDER not in k}
            assert left in one_by_one(before, after), (at, then)


names = st.sampled_from(["a", "b", "x/a", "x/b", "x/y/c", "z/d", "z/e/f"])
contents = st.dictionaries(names, st.binary(max_size=20), min_size=1)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(old=contents | st.just({}), new=contents, at=st.integers(0, 60), apart=st.booleans(),
       kind=st.sampled_from([full, interrupt, die]))  # fmt: skip
def test_any_files_at_any_step(old: Files, new: Files, at: int, apart: bool, kind: Any) -> None:
    before, after = states(old, new, apart)
    with case(old, apart) as (out, second):

        def work() -> None:
            with failing(at, kind):
                write(out, new, second)

        if kind is die:
            in_child(work)
            lock.release_left([out, *([second.parent] if second else [])])
        else:
            try:
                work()
            except (WriteError, KeyboardInterrupt):
                assert found(out.parent) == before
        assert found(out.parent) in one_by_one(before, after)
        write(out, new, second)
        assert found(out.parent) == after
        assert whole(out)


def test_a_new_folder_that_fails_is_not_there() -> None:
    top = Path(tempfile.mkdtemp())
    for at in range(40):
        with failing(at, full) as seen:
            try:
                write(top / "new" / "out")
            except WriteError:
                assert list(top.iterdir()) == [], at
                continue
        assert len(seen) <= at
        break
    shutil.rmtree(top)


def test_what_a_record_lists_goes_when_the_next_result_has_it_not(tmp_path: Path) -> None:
    write(tmp_path, OLD)
    fill(tmp_path, OWN)
    write(tmp_path, NEW)
    assert found(tmp_path) == OWN | NEW
    assert not (tmp_path / "stale").exists()


def test_a_command_is_refused_a_folder_that_another_writes(tmp_path: Path) -> None:
    """The message names the process that holds the folder; folders above and below it are refused
    as well. A dead process holds no folder."""
    ready, go = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        lock.claim(tmp_path / "out")
        os.write(ready[1], b"x")
        os.read(go[0], 1)
        os._exit(0)
    os.read(ready[0], 1)
    try:
        for folder in (tmp_path / "out", tmp_path / "out" / "clos", tmp_path):
            with pytest.raises(ConfigError) as refused:
                lock.claim(folder)
            assert f"process {pid} (" in str(refused.value)
            assert "since 2" in str(refused.value)
    finally:
        os.write(go[1], b"x")
        os.waitpid(pid, 0)
    assert (tmp_path / "out" / journal.LOCK).exists()  # it died without releasing the folder
    lock.claim(tmp_path / "out")
    lock.release_claims()
    assert not (tmp_path / "out" / journal.FOLDER).exists()


class Claimant:
    """A process that claims a folder and holds it until it receives a byte.

    After it has taken the folder, before it looks for other processes, it waits for the pipe
    `until`, if given.
    """

    def __init__(self, folder: Path, until: int | None = None) -> None:
        self._came, came = os.pipe()
        go, self._go = os.pipe()
        self.taken, taken = os.pipe()
        self._pid = os.fork()
        if self._pid:
            for end in (came, go, taken):
                os.close(end)
            return
        os.close(self._go)
        code = b"?"
        look = lock._taken_near

        def looked(at: Path) -> Path | None:
            lock._taken_near = look
            os.write(taken, b"t")
            if until is not None:
                os.read(until, 1)
            return look(at)

        lock._taken_near = looked
        try:
            lock.claim(folder)
            code = b"h"
        except ConfigError as problem:
            code = b"r" if "is writing into " in str(problem) else b"?"
        os.write(came, code)
        os.read(go, 1)
        lock.release_claims()
        os._exit(0)

    def came_to(self) -> str:
        """Returns h if it holds the folder, r if a process that writes above or below it caused a
        refusal."""
        return os.read(self._came, 1).decode()

    def end(self) -> None:
        os.write(self._go, b"e")  # later processes inherit it, so a close has no effect
        os.waitpid(self._pid, 0)
        os.close(self._go)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows cannot fork")
def test_nested_folders_are_never_taken_by_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The processes start at the same time, repeatedly. On a busy machine both may be refused."""
    monkeypatch.setattr(lock, "CLAIM_PATIENCE_S", 0.1)
    (tmp_path / "out/a").mkdir(parents=True)
    seen = set()
    for _ in range(12):
        until, go = os.pipe()
        both = [Claimant(tmp_path / name, until) for name in ("out", "out/a")]
        for one in both:
            os.read(one.taken, 1)
        os.write(go, b"gg")
        seen.add("".join(one.came_to() for one in both))
        for one in both:
            one.end()
        for end in (until, go):
            os.close(end)
    assert seen <= {"hr", "rh", "rr"}, seen


def test_without_locks_the_process_that_is_named_holds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some file systems of clusters have no locks."""

    def no_locks(*_: Any) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(lock.fcntl, "flock", no_locks)
    assert in_child(lambda: lock.claim(tmp_path)) == 0  # dies holding it
    lock.claim(tmp_path)
    lock._held.clear()  # as another process sees it
    with pytest.raises(ConfigError, match=f"process {os.getpid()} "):
        lock.claim(tmp_path)
    lock._claims.clear()


def test_a_journal_moves_nothing_outside_its_folder(tmp_path: Path) -> None:
    """The journal may have come with results of another user."""
    fill(tmp_path, {"out/.lightloom/new/1": b"evil", "bashrc": b"mine"})
    for path in ("../bashrc", str(tmp_path / "bashrc")):
        text = f'{{"moves": [[".", 1, "{path}", true, true]], "folders": []}}'
        (tmp_path / "out" / journal.JOURNAL).write_text(text)
        with pytest.raises(ConfigError, match="is no journal of this folder"):
            lock.settle(tmp_path / "out")
        assert (tmp_path / "bashrc").read_bytes() == b"mine"
    for text in ("", "[1]", "{}", '{"moves": 3, "folders": []}', "\x00"):
        (tmp_path / "out" / journal.JOURNAL).write_text(text)
        with pytest.raises(ConfigError, match="is no journal of this folder"):
            lock.settle(tmp_path / "out")


def test_without_hard_links_files_are_put_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: Any, **__: Any) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    test_each_step_that_fails_leaves_all_as_it_was(full, False)
    test_a_process_that_dies_at_each_step_leaves_old_or_new(False)


def test_a_folder_under_the_name_of_a_file_is_left_alone(tmp_path: Path) -> None:
    fill(tmp_path, {"a/mine": b"mine"})
    with pytest.raises(WriteError, match=r"a'?$"):
        write(tmp_path)
    assert found(tmp_path) == {"a/mine": b"mine"}


def test_a_refusal_crosses_processes() -> None:
    """A worker of a sweep sends the refusal to its parent."""
    problem = WriteError(OSError(errno.ENOSPC, "No space left on device"), Path("out/x"))
    problem.undone = False
    back = pickle.loads(pickle.dumps(problem))
    assert (back.errno, back.filename, back.undone) == (errno.ENOSPC, "out/x", False)
    assert back.message == problem.message
    assert "out/x: no space left on device: the next command restores the old files" in back.message


SPOILT = {
    "empty": (b"", "is empty"),
    "object": (b"{}", "is not of its form"),
    "list": (b"[1]", "is not of its form"),
    "number": (b"3", "is not of its form"),
    "text": (b"{", "is no JSON"),
    "binary": (bytes(range(256)), "is no JSON"),
    "deep": (b"[" * 100_000, "is no JSON"),
    "schema": (b'{"schema": 2, "files": {}}', "has schema 2, not 1"),
    "up": (b'{"schema": 1, "files": {"../x": {"bytes": 1, "sha256": "a"}}}', "not of its form"),
    "size": (b'{"schema": 1, "files": {"x": {"bytes": [], "sha256": "a"}}}', "not of its form"),
    "files": (b'{"schema": 1, "files": [1]}', "is not of its form"),
}


@pytest.mark.parametrize("kind", SPOILT)
def test_a_spoilt_record_is_told_by_why(kind: str, tmp_path: Path) -> None:
    content, why = SPOILT[kind]
    (tmp_path / records.RECORD).write_bytes(content)
    told = records.read(tmp_path)
    assert isinstance(told, str)
    assert why in told
