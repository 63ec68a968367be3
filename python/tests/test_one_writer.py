"""Only the writer module of the package writes files."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import lightloom

PACKAGE = Path(lightloom.__file__).parent
#: Methods and functions that change a disk, on any object.
CHANGING = {
    *("write_text", "write_bytes", "mkdir", "makedirs", "unlink", "rename", "renames", "rmtree"),
    *("rmdir", "removedirs", "symlink_to", "hardlink_to", "touch", "copyfile", "copytree", "copy2"),
    *("mkstemp", "mkdtemp", "TemporaryDirectory", "NamedTemporaryFile", "truncate", "ftruncate"),
}
#: Functions that write to an argument, with its position; buffers in memory are allowed.
INTO = {"savefig": 0, "write_table": 1, "write_csv": 1, "write_feather": 1, "to_file": 0}
BUFFERS = {"out", "text", "data", "picture", "drawn", "svg", "png", "pdf"}
#: (file, function) → the reason why the call is outside the writer.
ALLOWED = {
    ("report/sheets.py", "TemporaryDirectory"): "the browser's own folder",
    ("report/sheets.py", "write_text"): "the page that the browser reads there",
    ("plotting/picture.py", "savefig"): "what a notebook's user calls",
    ("cli/console.py", "os.open"): "/dev/null",
    ("controller/prometheus.py", "TemporaryDirectory"): "the answer's own folder",
    ("controller/prometheus.py", "write_bytes"): "the answer, which the reader reads there",
    ("controller/forecast.py", "TemporaryDirectory"): "the simulation's own folder",
    ("controller/forecast.py", "write_text"): "the demand, which it reads there",
    ("testbed/agreement.py", "TemporaryDirectory"): "the simulation's own folder",
    ("testbed/agreement.py", "write_text"): "the trace that it reads there",
    ("testbed/applications.py", "open"): "output of applications, in the run's own folder",
    ("testbed/applications.py", "write_text"): "the script that begins daemons of MPI, there",
    ("testbed/programs.py", "TemporaryDirectory"): "programs that were compiled for one run",
    ("testbed/folders.py", "mkdtemp"): "the testbed's own folder",
    ("testbed/folders.py", "rmtree"): "the same",
    ("testbed/bed.py", "rmtree"): "the same",
    ("testbed/guardian.py", "rmtree"): "the same",
    ("testbed/open_vswitch.py", "mkdir"): "of a host's switch, in that folder",
    ("testbed/open_vswitch.py", "write_bytes"): "its database, there",
    ("testbed/open_vswitch.py", "open"): "what it complains of, there",
    ("testbed/open_vswitch.py", "symlink_to"): "the socket of its controller, there",
    ("switches/openflow/listener.py", "unlink"): "a socket that a process left behind",
    ("storage/signals.py", "write"): "a line on standard error",
    ("sweep/executors/worker.py", "TemporaryDirectory"): "a worker's own folder, for one task",
    ("sweep/executors/travel.py", "mkdir"): "in that folder",
    ("sweep/executors/travel.py", "write_bytes"): "the files that came with the task, there",
}


def writes(source: str, file: str) -> Iterator[tuple[str, int]]:
    """Returns the calls in a source that change a disk, with their places."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        name = node.func.id if isinstance(node.func, ast.Name) else name
        of = getattr(getattr(node.func, "value", None), "id", "")
        found = None
        if name in CHANGING or (of == "os" and name in {"replace", "link", "remove", "write"}):
            found = name
        elif of == "os" and name == "open":
            found = "os.open"
        elif name == "open" and any(c in mode for mode in modes(node) for c in "wax+"):
            found = "open"
        elif name == "replace" and len(node.args) == 1 and not node.keywords:
            found = "replace"  # the method of a path, because that of a text has two arguments
        elif name in INTO and not into_memory(node, INTO[name]):
            found = name
        if found and (file, found) not in ALLOWED:
            yield found, node.lineno


def modes(call: ast.Call) -> Iterator[str]:
    """Returns the possible modes of a call of open."""
    given = [k.value for k in call.keywords if k.arg == "mode"] + call.args[:2]
    for value in given:
        text = value.value if isinstance(value, ast.Constant) else None
        if isinstance(text, str) and len(text) < len("rb+x"):
            yield text


def into_memory(call: ast.Call, place: int) -> bool:
    target = call.args[place] if len(call.args) > place else None
    return isinstance(target, ast.Name) and target.id in BUFFERS


def test_only_the_writer_writes() -> None:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        file = path.relative_to(PACKAGE).as_posix()
        if file.startswith("storage/"):
            continue
        source = path.read_text(encoding="utf-8")
        found += [f"{file}:{line}: {what}" for what, line in writes(source, file)]
    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        "path.write_text('x')", "Path('x').open('w')", "open('x', mode='ab')", "os.replace(a, b)",
        "part.replace(path)", "figure.savefig('a.svg')", "pq.write_table(table, path)",
        "shutil.rmtree(a)", "path.mkdir()", "os.open(path, 1)",
    ],
)  # fmt: skip
def test_it_would_be_seen(line: str) -> None:
    assert list(writes(line, "x.py"))


@pytest.mark.parametrize(
    "line",
    ["text.replace('a', 'b')", "open('data')", "path.open('rb')", "pq.write_table(table, out)"],
)
def test_what_changes_nothing_is_let_be(line: str) -> None:
    assert not list(writes(line, "x.py"))
