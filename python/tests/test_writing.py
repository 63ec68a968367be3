"""The writer: if any step fails or is killed, the folder has either the complete old files or the
complete new ones, and no others."""

from __future__ import annotations

import errno
import itertools
import os
import pickle
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from lightloom import ConfigError
from lightloom.storage import changes, lock, records
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


#: Called before each step that changes the disk.
_watching: list[Callable[[str], object]] = []
CHANGING = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link"}


def _audit(event: str, given: tuple[Any, ...]) -> None:
    """Reports steps, except those that discard files, whose errors the writer ignores."""
    if not _watching or event not in (CHANGING | {"open"}):
        return
    discards = event == "os.rmdir" or (
        event == "os.remove" and (given[1] != -1 or Path(given[0]).name == "lock")
    )
    if event != "open" or given[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        _watching[-1]("discard" if discards else event)


sys.addaudithook(_audit)


@pytest.fixture(autouse=True)
def without_flushes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A flush is a step, but takes no time: the machine does not fail."""

    def fsync(file: int) -> None:
        if _watching:
            _watching[-1]("os.fsync")

    monkeypatch.setattr(os, "fsync", fsync)


@contextmanager
def failing(at: int, fail: Callable[[], Any], *, for_good: bool = False) -> Iterator[list[str]]:
    """Makes a step fail, or this step and all later ones; records all steps. A process dies at any
    step, but steps that discard files do not fail otherwise."""
    seen: list[str] = []

    def step(event: str) -> None:
        if event == "discard" and fail is not die:
            return
        seen.append(event)
        if len(seen) - 1 == at or (for_good and len(seen) > at):
            fail()

    _watching.append(step)
    try:
        yield seen
    finally:
        _watching.pop()


def full() -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def interrupt() -> None:
    raise KeyboardInterrupt


def die() -> None:
    os._exit(DIED)


def steps_of(apart: bool, fail: Callable[[], Any] = full) -> tuple[int, int]:
    """Returns the number of steps, and the number of those until the changes of the first folder
    are committed."""
    with case(OLD, apart) as (out, second), failing(-1, fail) as seen:
        write(out, NEW, second)
    return len(seen), seen.index("os.rename") + 1


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


def between(before: Files, after: Files) -> Files:
    """Returns the state if only the first folder is committed: each is final by itself."""
    return {n: (before if n == "elsewhere/e" else after)[n] for n in after}


APART = pytest.mark.parametrize("apart", [False, True], ids=["one-folder", "two-folders"])


@APART
@pytest.mark.parametrize("fail", [full, interrupt])
def test_each_step_that_fails_leaves_all_old_or_all_new(fail: Any, apart: bool) -> None:
    """A failure before the commit changes nothing, and the same command succeeds afterwards. A step
    that fails after it is done again."""
    before, after = states(OLD, NEW, apart)
    steps, committed = steps_of(apart)
    assert steps > 25
    for at in range(steps):
        with case(OLD, apart) as (out, second):
            undone = at < committed + apart
            error = WriteError if fail is full else KeyboardInterrupt
            raises = pytest.raises(error) if undone or fail is interrupt else nullcontext()
            with failing(at, fail), raises as raised:
                write(out, NEW, second)
            if fail is full and undone:
                assert raised.value.filename, at
                assert not raised.value.is_committed, at
            assert found(out.parent) == (before if undone else after), at
            assert whole(out)
            write(out, NEW, second)
            assert found(out.parent) == after, at
            assert whole(out)


@APART
def test_a_disk_that_fails_for_good_leaves_old_or_new_once_it_works_again(apart: bool) -> None:
    before, after = states(OLD, NEW, apart)
    steps, committed = steps_of(apart)
    for at in range(steps):
        with case(OLD, apart) as (out, second):
            with failing(at, full, for_good=True), pytest.raises(WriteError) as raised:
                write(out, NEW, second)
            assert raised.value.is_committed == (at >= committed), at
            lock.settle(out / "deep")  # as a reader of a label's results does
            lock.release_left([out, out.parent / "elsewhere"])
            expected = before if at < committed else after
            if at == committed and apart:
                expected = between(before, after)
            assert found(out.parent) == expected, at
            assert whole(out)


@APART
def test_a_process_that_dies_at_each_step_leaves_old_or_new(apart: bool) -> None:
    """As with SIGKILL, nothing is cleaned up. A reader settles the remaining files."""
    before, after = states(OLD, NEW, apart)
    steps, committed = steps_of(apart, die)
    seen = []
    for at in range(steps + 1):
        with case(OLD, apart) as (out, second):

            def work(at: int = at, out: Path = out, second: Path | None = second) -> None:
                with failing(at, die):
                    write(out, NEW, second)

            assert in_child(work) == (DIED if at < steps else 0)
            lock.settle(out)
            if second is not None:
                lock.settle(second.parent)
            left = {k: v for k, v in found(out.parent).items() if changes.FOLDER not in k}
            assert whole(out)
            seen.append(left)
            write(out, NEW, second)  # the next command leaves no stray files
            assert found(out.parent) == after, at
    one = [between(before, after)] * apart
    assert seen == [before] * committed + one + [after] * (steps + 1 - committed - apart)


def test_a_process_that_dies_while_it_settles_leaves_the_new() -> None:
    """Each following reader dies at another step."""
    _, after = states(OLD, NEW, True)
    steps, committed = steps_of(True, die)
    for at, then in itertools.product(range(committed + 1, steps, 3), (0, 2, 5, 9)):
        with case(OLD, True) as (out, second):
            assert second is not None

            def work(at: int = at, out: Path = out, second: Path = second) -> None:
                with failing(at, die):
                    write(out, NEW, second)

            def settle(then: int = then, out: Path = out) -> None:
                with failing(then, die):
                    lock.settle(out)

            in_child(work)
            in_child(settle)
            lock.settle(out)
            lock.settle(second.parent)
            left = {k: v for k, v in found(out.parent).items() if changes.FOLDER not in k}
            assert left == after, (at, then)


@pytest.mark.parametrize("fail", [full, interrupt])
def test_a_new_folder_that_fails_is_not_there(fail: Any) -> None:
    top = Path(tempfile.mkdtemp())
    for at in range(40):
        with failing(at, fail) as seen:
            try:
                write(top / "new" / "out")
            except (WriteError, KeyboardInterrupt):
                if "os.rename" not in seen[:at]:  # otherwise the changes are made
                    assert list(top.iterdir()) == [], at
                    continue
        assert found(top / "new" / "out") == NEW
        break
    assert at > 15
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
    assert (tmp_path / "out" / changes.LOCK).exists()  # it died without releasing the folder
    lock.claim(tmp_path / "out")
    lock.release_claims()
    assert not (tmp_path / "out" / changes.FOLDER).exists()


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


@pytest.mark.parametrize("kind", [changes.FILES, changes.GONE])
def test_committed_changes_stay_inside_their_folder(kind: Path, tmp_path: Path) -> None:
    """They may have come with results of another user, as may links to other folders."""
    out = tmp_path / "out"
    fill(tmp_path, {"mine/bashrc": b"mine"})
    fill(out / changes.READY, {f"{kind}/link/bashrc": b"evil", f"{changes.FILES}/a": b"evil"})
    (out / "link").symlink_to(tmp_path / "mine")
    with pytest.raises(ConfigError, match="its changes lead to"):
        lock.settle(out)
    (out / "link").unlink()
    shutil.rmtree(out / changes.READY / kind)
    (out / changes.READY / kind).symlink_to(tmp_path / "mine")
    if kind == changes.FILES:
        with pytest.raises(ConfigError, match="its changes lead to"):
            lock.settle(out)
    assert found(tmp_path / "mine") == {"bashrc": b"mine"}
    assert not (out / "a").exists()


def test_a_folder_that_is_a_link_is_written_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out/sub").symlink_to(tmp_path / "elsewhere")
    write(tmp_path / "out")
    assert (tmp_path / "elsewhere/b").read_bytes() == NEW["sub/b"]
    assert found(tmp_path / "elsewhere") == {"b": NEW["sub/b"]}
    assert whole(tmp_path / "out")


@pytest.mark.parametrize("there", ["file", "sealed"])
def test_a_place_that_cannot_be_written_is_refused_before_the_commit(
    there: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"a": b"old a"})
    if there == "file":
        fill(tmp_path, {"deep": b"mine"})
    else:
        (tmp_path / "deep").mkdir()
        allowed = os.access
        monkeypatch.setattr(os, "access", lambda p, mode: p.name != "deep" and allowed(p, mode))
    before = found(tmp_path)
    with pytest.raises(WriteError) as raised:
        write(tmp_path)
    assert raised.value.errno == (errno.ENOTDIR if there == "file" else errno.EACCES)
    assert not raised.value.is_committed
    assert found(tmp_path) == before
    assert whole(tmp_path)


def test_a_folder_under_the_name_of_a_file_is_left_alone(tmp_path: Path) -> None:
    fill(tmp_path, {"a/mine": b"mine"})
    with pytest.raises(WriteError, match=r"a'?$"):
        write(tmp_path)
    assert found(tmp_path) == {"a/mine": b"mine"}


def test_a_refusal_crosses_processes() -> None:
    """A worker of a sweep sends the refusal to its parent."""
    problem = WriteError(OSError(errno.ENOSPC, "No space left on device"), Path("out/x"))
    problem.is_committed = True
    back = pickle.loads(pickle.dumps(problem))
    assert (back.errno, back.filename, back.is_committed) == (errno.ENOSPC, "out/x", True)
    assert back.message == problem.message
    assert "out/x: no space left" in back.message


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
