"""A controller of emulated switches in this process, in virtual time."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lightloom.controller.config import config_of
from lightloom.controller.service import Controller
from lightloom.controller.store import Store
from lightloom.switches.design import Design
from lightloom.switches.emulated import EmulatedSwitch
from lightloom.switches.ports import Size

PORTS = "rack,A port,B port\na,1,1\nb,2,2\nc,3,3\nd,4,4\n"


class Lab:
    """A controller, its store and its emulated switches."""

    def __init__(self, folder: Path, store: str = "sqlite://", **keys: Any) -> None:
        (folder / "ports.csv").write_text(PORTS, encoding="utf-8")
        (folder / "demand").mkdir(exist_ok=True)
        self.folder = folder
        self.now = 1_800_000_000.0
        self.switches = {"east": EmulatedSwitch(Design(size=Size(8, 8)))}
        table = {
            "switch": [{"name": "east", "url": "scpi://127.0.0.1:5025", "ports": "ports.csv"}],
            "demand": {"folder": "demand"},
            "interval": "1 s",
            **keys,
        }
        self.config = config_of(table, folder)
        self.store = Store(store, self.clock)
        self.controller = self.begin()

    def clock(self) -> float:
        self.now += 0.0001
        return self.now

    def begin(self, **keys: Any) -> Controller:
        """A controller on the same store: what begins after a crash."""
        opener: Callable[..., Any] = lambda one: self.switches[one.name]  # noqa: E731
        self.controller = Controller(self.config, self.store, self.clock, opener, **keys)
        self.recovered = self.controller.start()
        return self.controller

    def send(self, matrix: list[list[int]]) -> None:
        self.controller.collector.send("east", matrix, self.now, "test")

    def lit(self) -> list[tuple[int, int]]:
        return self.switches["east"].read().pairs


def matrix(*entries: tuple[int, int, int]) -> list[list[int]]:
    """Bytes between four racks, both ways alike."""
    made = [[0] * 4 for _ in range(4)]
    for a, b, size in entries:
        made[a][b] += size
        made[b][a] += size
    return made
