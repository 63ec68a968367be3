"""Missing requirements of the testbed are named before anything is built, with exit code 2."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from cli_support import ROOT
from test_testbed_setup import CTHROUGH, MORDIA, setup, table
from testbed_support import live

from lightloom import _core
from lightloom.errors import ConfigError
from lightloom.testbed import Testbed, namespaces, shell


def ran(words: list[str], before: tuple[str, ...] = (), **environment: str) -> tuple[int, str]:
    done = subprocess.run(
        [*before, sys.executable, "-m", "lightloom", "testbed", *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, **environment},
        timeout=60,
    )
    return done.returncode, done.stderr


def without(tool: str, folder: Path) -> str:
    """Returns a PATH with all tools except one."""
    for place in map(Path, ("/usr/bin", "/bin")):
        for file in place.iterdir():
            if file.name != tool and not (folder / file.name).exists():
                (folder / file.name).symlink_to(file)
    return str(folder)


def folders() -> set[Path]:
    return {*Path(tempfile.gettempdir()).glob("lightloom-testbed-tneeds-*")}


@live
@pytest.mark.parametrize(
    ("example", "tool", "package"),
    [
        ("cthrough", "iperf3", "iperf3"),
        ("cthrough", "nbdcopy", "libnbd-bin"),
        ("cthrough", "setpriv", "util-linux"),
        ("cthrough", "setsid", "util-linux"),
        ("mpi", "mpirun", "openmpi-bin"),
        ("memcached", "memcached", "memcached"),
    ],
)
def test_a_missing_tool_is_named_with_its_package(
    example: str, tool: str, package: str, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    path = without(tool, tmp_path / "bin")
    out = tmp_path / "o"
    words = ["run", f"examples/testbed-{example}.toml", "--name", "tneeds", "-o", str(out)]
    code, said = ran(words, PATH=path)
    assert code == 2, said
    assert f"testbed = {tool}: " in said
    assert f"Debian's package {package}" in said
    assert namespaces.existing("tneeds") == []
    assert folders() == set()
    assert not out.exists()


@live
def test_without_clang_at_build_time_the_kernel_plane_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_core, "TESTBED_KERNEL_PLANE", False)
    with pytest.raises(ConfigError, match="Debian's package clang"):
        Testbed(setup(table(CTHROUGH), "tneeds")).__enter__()
    assert namespaces.existing("tneeds") == []
    assert folders() == set()
    with Testbed(setup(table(MORDIA), "tneeds")):
        assert len(namespaces.existing("tneeds")) == 5


@live
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="no setpriv")
@pytest.mark.parametrize(
    "words", [["run", "examples/testbed-cthrough.toml"], ["down"], ["status"], ["shell", "0"]]
)
def test_without_rights_the_command_says_what_is_missing(words: list[str]) -> None:
    """The test runs as another user, who may read all files, and as the root of a container."""
    user = ("setpriv", "--reuid=65534", "--clear-groups")
    files = ("--inh-caps=+dac_override", "--ambient-caps=+dac_override")
    code, said = ran(words, (*user, *files))
    assert (code, "user 65534" in said, "sudo" in said) == (2, True, True), said
    lacks = ("setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin")
    code, said = ran(words, lacks)
    assert (code, "CAP_SYS_ADMIN" in said, "CAP_NET_ADMIN" in said) == (2, True, False), said


def test_the_rights_of_this_process_are_the_kernels() -> None:
    line = next(
        one for one in Path("/proc/self/status").read_text().splitlines() if "CapEff" in one
    )
    assert f"{shell.held_capabilities():016x}" == line.split()[1]


@live
def test_down_and_shell_say_that_nothing_is_up() -> None:
    if namespaces.names():
        pytest.skip("another testbed is up")
    for words, code, said in [
        (["shell", "0"], 2, "no testbed is up"),
        (["shell", "--name", "tnone", "0"], 2, "no testbed is up"),
        (["down", "tnone"], 2, "no such testbed is up"),
    ]:
        found = ran(words)
        assert (found[0], said in found[1]) == (code, True), found


@live
def test_a_shell_on_an_unknown_host_names_the_hosts() -> None:
    layout = setup(table(CTHROUGH), "tshell").layout
    namespaces.make(layout)
    try:
        code, said = ran(["shell", "--name", "tshell", "7", "true"])
        assert (code, "are 0 to 3" in said) == (2, True), said
        code, said = ran(["shell", "--name", "tother", "0", "true"])
        assert (code, "tshell" in said) == (2, True), said
        assert ran(["shell", "--name", "tshell", "3", "true"])[0] == 0
    finally:
        namespaces.remove("tshell")
