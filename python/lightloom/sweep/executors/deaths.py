"""Workers of a cluster that die: the scheduler tells which, and what they had."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lightloom.sweep.executors.jobs import Told

if TYPE_CHECKING:
    from distributed import Client

#: The scheduler's name for what concerns all.
TOPIC = "all"


def listen(client: Client, names: Mapping[str, str], told: Told) -> None:
    """Has `told` hear, in the client's own thread, of each worker that is gone while it had
    tasks of these names, by their keys."""

    def hear(event: tuple[float, Any]) -> None:
        _, message = event
        if isinstance(message, dict) and message.get("action") == "remove-worker":
            line = _line(message, names)
            if line is not None:
                told(line)

    client.subscribe_topic(TOPIC, hear)


def _line(message: Mapping[str, Any], names: Mapping[str, str]) -> str | None:
    """What is to be said of a worker that is gone; None where it was sent away, or had nothing."""
    had = sorted(names[key] for key in message.get("processing-tasks", ()) if key in names)
    if message.get("expected") or not had:
        return None
    return (
        f"worker {message['worker']} is gone, and had {'; '.join(had)}: tried again on others, "
        "unless too many have died of it"
    )
