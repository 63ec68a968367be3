"""Workers of a cluster that die: the scheduler reports them and the tasks that they had."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lightloom.sweep.executors.jobs import Told

if TYPE_CHECKING:
    from distributed import Client

#: The scheduler's topic of events about all workers.
TOPIC = "all"


def listen(client: Client, names: Mapping[str, str], told: Told) -> None:
    """Calls `told`, in a thread of the client, for each worker that dies while it has tasks;
    `names` maps the keys of tasks to names."""

    def hear(event: tuple[float, Any]) -> None:
        _, message = event
        if isinstance(message, dict) and message.get("action") == "remove-worker":
            line = _line(message, names)
            if line is not None:
                told(line)

    client.subscribe_topic(TOPIC, hear)


def _line(message: Mapping[str, Any], names: Mapping[str, str]) -> str | None:
    """Returns the text about a worker that died; None if it was retired, or had no tasks."""
    had = sorted(names[key] for key in message.get("processing-tasks", ()) if key in names)
    if message.get("expected") or not had:
        return None
    return (
        f"worker {message['worker']} is gone, and had {'; '.join(had)}: tried again on others, "
        "unless too many have died of it"
    )
