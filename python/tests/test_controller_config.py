"""The controller's configuration file: its policy and its store."""

import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_support import lightloom
from controller_support import PORTS, Lab, matrix

from lightloom.controller.config import config_of
from lightloom.controller.database import check_database
from lightloom.controller.decider import Decider
from lightloom.controller.racks import Racks
from lightloom.controller.schema import VERSION, meta
from lightloom.controller.store import Store
from lightloom.errors import ConfigError
from lightloom.policies.registry import registry

SWITCH = {"name": "east", "url": "scpi://127.0.0.1:1", "ports": "ports.csv"}
POLICY = """
class Diagonal:
    def decide(self, demand, switch):
        return [(0, 1)]
"""


def test_policies_of_schedules_are_those_that_are_refused(tmp_path: Path) -> None:
    """A policy is refused when the file is read if and only if the loop cannot use it."""
    (tmp_path / "ports.csv").write_text(PORTS, encoding="utf-8")
    demand, found = matrix((0, 1, 5_000_000), (2, 3, 4_000_000)), set()
    for kind in registry():
        policy = {"kind": kind, **({"circuits": [[0, 1]]} if kind == "fixed" else {})}
        try:
            Decider(policy, Racks(tmp_path / "ports.csv"), "1 s").decide(demand, [])
        except ConfigError as problem:
            assert "a schedule of slots" in str(problem), kind
            found.add(kind)
    assert found == {kind for kind, policy in registry().items() if policy.makes_schedule({})}
    assert found


def test_a_policy_may_be_a_class_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(POLICY, encoding="utf-8")
    for policy in ("mine.py:Diagonal", f"{tmp_path}/mine.py:Diagonal"):
        lab = Lab(tmp_path, policy=policy)
        lab.send(matrix((2, 3, 5)))
        lab.controller.cycle()
        assert lab.controller.switches["east"].advice == [(1, 2), (2, 1)]


@pytest.mark.parametrize(
    ("policy", "key"),
    [
        ({"kind": "cthrough", "foo": 1}, "policy.foo"),
        ({"kind": "fixed", "circuits": [[0, 9]]}, "policy.circuits[0]"),
        ("missing.py:P", "policy.file"),
    ],
)
def test_an_error_of_a_policy_has_the_key_of_the_file(
    tmp_path: Path, policy: Any, key: str
) -> None:
    with pytest.raises(ConfigError) as problem:
        Lab(tmp_path, policy=policy)
    assert problem.value.key == key


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_every_form_of_a_postgresql_address_is_the_same(scheme: str) -> None:
    config = config_of({"switch": [SWITCH], "store": f"{scheme}://me@db:5432/x"})
    assert config.store_url == "postgresql+psycopg://me@db:5432/x"


def test_a_database_that_does_not_answer_is_named_without_its_password() -> None:
    for opened in (check_database, lambda url: Store(url, lambda: 0.0)):
        with pytest.raises(ConfigError) as problem:
            opened("postgresql+psycopg://me:secret@127.0.0.1:1/x")
        assert problem.value.value == "postgresql+psycopg://me:…@127.0.0.1:1/x"
        assert "secret" not in str(problem.value)
        assert "create the database" in (problem.value.remedy or "")


def test_a_check_of_a_store_creates_nothing(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'c.db'}"
    check_database(url)
    assert list(tmp_path.iterdir()) == []
    store = Store(url, lambda: 0.0)
    check_database(url)
    with store._engine.begin() as db:
        db.execute(meta.update().values(value=str(VERSION + 1)))
    with pytest.raises(ConfigError, match="newer Lightloom"):
        check_database(url)
    (tmp_path / "text.db").write_text("no database " * 100, encoding="utf-8")
    for name in ("missing/c.db", "text.db"):
        with pytest.raises(ConfigError) as problem:
            check_database(f"sqlite:///{tmp_path / name}")
        assert problem.value.key == "store"


def test_check_reads_the_store(tmp_path: Path) -> None:
    (tmp_path / "ports.csv").write_text(PORTS, encoding="utf-8")
    text = 'store = "missing/c.db"\n[[switch]]\nname = "east"\nurl = "scpi://127.0.0.1:1"\n'
    (tmp_path / "c.toml").write_text(f'{text}ports = "ports.csv"\n', encoding="utf-8")
    made = lightloom("controller", "check", "c.toml", cwd=tmp_path)
    assert made.returncode == 2
    assert "store = missing/c.db" in made.stderr


def test_check_opens_no_address_of_the_hook(tmp_path: Path) -> None:
    """The running controller listens there."""
    pytest.importorskip("os_ken")
    racks = [*enumerate("abcd", 1)]
    files = {
        "ports.csv": PORTS,
        "rules.csv": "switch,port,datapath,circuit,electrical\n"
        + "".join(f"east,{n}A,{n:016x},7,1\n" for n, _ in racks),
        "hosts.csv": "".join(f"10.0.{n}.0/24,{rack}\n" for n, rack in racks),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as used:
        text = (
            '[[switch]]\nname = "east"\nurl = "scpi://127.0.0.1:1"\nports = "ports.csv"\n'
            '[openflow]\nrules = "rules.csv"\nhosts = "hosts.csv"\n'
            f'listen = "127.0.0.1:{used.getsockname()[1]}"\n'
        )
        (tmp_path / "c.toml").write_text(text, encoding="utf-8")
        made = lightloom("controller", "check", "c.toml", cwd=tmp_path)
    # The switch does not answer.
    assert (made.returncode, made.stderr) == (1, "")
    assert made.stdout.startswith("east: ")


def test_without_psycopg_its_installation_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    for opened in (check_database, lambda url: Store(url, lambda: 0.0)):
        with pytest.raises(ConfigError) as problem:
            opened("postgresql+psycopg://me@127.0.0.1:1/x")
        assert problem.value.remedy == "pip install 'lightloom[controller]'"
