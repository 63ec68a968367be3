"""An undo is refused, and writes nothing, while another owner holds a port that it needs."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from controller_support import Reached, Served

INTENT = "/switches/east/intent"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    made = Served(tmp_path)
    yield made
    made.close()


def change_twice(reached: Reached) -> None:
    """Transaction 2 removes 1A-1B and adds 3A-4B."""
    reached.ask("PUT", INTENT, {"cross_connects": ["1A-1B"]}, "apply")
    reached.ask("PUT", INTENT, {"cross_connects": ["3A-4B"]}, "apply")
    assert reached.lab.lit() == [(3, 4)]


def leased(reached: Reached, racks: list[str]) -> str:
    body = {"racks": racks, "ends": 1_800_000_600.0}
    assert reached.ask("POST", "/switches/east/leases", body, "reserve").status_code == 201
    reached.lab.controller.cycle()
    return "lease:1 (reserve) holds it until 2027-01-15T08:10:00Z"


def wanted(reached: Reached) -> str:
    body = {"cross_connects": ["1A-8B", "8A-7B"], "priority": 5}
    assert reached.ask("PUT", INTENT, body).status_code == 200
    return "operator:admin holds it until that request is withdrawn"


def foreign(reached: Reached) -> str:
    reached.lab.switches["east"].change([], [(8, 1)])
    return "a cross-connect without an owner holds it until it is removed"


CASES: dict[str, tuple[Callable[[Reached], str], list[str]]] = {
    "a lease": (lambda r: leased(r, ["a", "b"]), ["1A", "1B"]),
    "a lease of what was added": (lambda r: leased(r, ["c", "d"]), ["3A", "4B"]),
    "another operator": (wanted, ["1A"]),
    "another client of the switch": (foreign, ["1B"]),
}


@pytest.mark.parametrize("name", CASES)
def test_an_undo_whose_ports_are_held_is_refused(tmp_path: Path, name: str) -> None:
    reached = Reached(tmp_path)
    hold, ports = CASES[name]
    change_twice(reached)
    holder = hold(reached)
    lit, intents = reached.lab.lit(), reached.lab.store.intents("east")
    made = len(reached.lab.store.transactions())
    refused = reached.ask("POST", "/transactions/2/undo", None, "apply")
    assert refused.status_code == 409, refused.text
    several = len(ports) > 1
    said = holder.replace("holds it", "holds them") if several else holder
    listed = f"port{'s' if several else ''} {', '.join(ports)}"
    assert refused.json()["limit"] == f"{listed}: {said}"
    assert (refused.json()["key"], refused.json()["value"]) == ("transaction", "2")
    assert reached.lab.store.intents("east") == intents
    assert (reached.lab.lit(), len(reached.lab.store.transactions())) == (lit, made)


def test_the_ports_of_a_refusal_are_listed_by_their_holder(tmp_path: Path) -> None:
    """The operator has eight ports, and the message lists all of them."""
    reached = Reached(tmp_path)
    eight = [f"{port}A-{port}B" for port in range(1, 9)]
    reached.ask("PUT", INTENT, {"cross_connects": eight}, "apply")
    reached.ask("PUT", INTENT, {"cross_connects": []}, "apply")
    turned = [f"{port}A-{port % 8 + 1}B" for port in range(1, 9)]
    reached.ask("PUT", INTENT, {"cross_connects": turned})
    refused = reached.ask("POST", "/transactions/2/undo", None, "apply")
    assert refused.status_code == 409
    head, _, rest = refused.json()["limit"].partition(": ")
    assert {*head.removeprefix("ports ").split(", ")} == {
        f"{port}{side}" for port in range(1, 9) for side in "AB"
    }
    assert rest == "operator:admin holds them until that request is withdrawn"
    assert rest in refused.json()["detail"]


def test_of_many_holders_those_that_a_message_can_name_are_named(tmp_path: Path) -> None:
    reached = Reached(tmp_path)
    eight = [f"{port}A-{port}B" for port in range(1, 9)]
    reached.ask("PUT", INTENT, {"cross_connects": eight}, "apply")
    reached.ask("PUT", INTENT, {"cross_connects": []}, "apply")
    controller = reached.lab.controller
    for port in range(1, 9):
        controller.want("east", [(port, port % 8 + 1)], f"{port}-" + "x" * 60)
    controller.cycle()
    refused = reached.ask("POST", "/transactions/2/undo", None, "apply")
    limit = refused.json()["limit"]
    assert limit in refused.json()["detail"]
    named = limit.count("operator:")
    assert named >= 2
    assert f"; {8 - named} other owners" in limit


def test_an_undo_is_carried_out_once_its_ports_are_free(tmp_path: Path) -> None:
    reached = Reached(tmp_path)
    change_twice(reached)
    leased(reached, ["a", "b"])
    assert reached.ask("POST", "/transactions/2/undo", None, "apply").status_code == 409
    reached.lab.now += 700
    done: Any = reached.ask("POST", "/transactions/2/undo", None, "apply")
    assert (done.status_code, [one["state"] for one in done.json()]) == (200, ["done"])
    assert reached.lab.lit() == [(1, 1)]


def test_the_command_ends_with_2(served: Served) -> None:
    change_twice(served)
    leased(served, ["a", "b"])
    environment = {**os.environ, "LIGHTLOOM_CONTROLLER_TOKEN": served.tokens["apply"]}
    line = [sys.executable, "-m", "lightloom", "circuits", "undo"]
    codes = []
    for number in (2, 1):
        run = subprocess.run(
            [*line, str(number), "--url", served.url],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        codes.append((run.returncode, "2027-01-15T08:10:00Z" in run.stderr + run.stdout))
    # Transaction 1 added a circuit that no longer exists, so there is nothing to change.
    assert codes == [(2, True), (0, False)]


def test_the_audit_log_names_the_transaction_that_is_undone(tmp_path: Path) -> None:
    reached = Reached(tmp_path)
    change_twice(reached)
    assert reached.ask("POST", "/transactions/2/undo", scope="apply").status_code == 200
    found = [one for one in reached.lab.store.audit() if one["what"] == "undo"]
    assert [(one["who"], json.loads(one["body"])["transaction"]) for one in found] == [("apply", 2)]
