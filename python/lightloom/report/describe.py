"""Descriptions of the compared experiments, on one line each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from lightloom.analysis import derived_values
from lightloom.analysis.model import Fabric, Workload
from lightloom.config import inputs, loads, networks, physics
from lightloom.config.experiment import to_toml
from lightloom.results import repeats
from lightloom.units import quantities

SHOWN = 4  # settings of a fabric, unless more of them distinguish it
DIGEST = 8  # digits of a digest that distinguish files
NAMES = {
    "poisson": "Poisson arrivals",
    "at-once": "all flows at once",
    "at_once": "all flows at once",
    "file": "recorded arrivals",
    "pareto": "Pareto",
}


def tidy(value: Any) -> str:
    """Formats a setting; long decimals of a resolved quantity are rounded to four digits."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) or (
        isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    ):
        return quantities.count(value)
    if isinstance(value, Mapping):
        return mapping(value)
    if isinstance(value, list | tuple):
        return f"{len(value)} values" if len(value) > 6 else ", ".join(map(element, value))
    return re.sub(r"\d+\.\d{4,}", lambda m: f"{float(m.group(0)):.4g}", str(value))


def element(value: Any) -> str:
    """Formats an element of a list: two numbers as a pair, such as two racks; more as a group."""
    if not isinstance(value, list | tuple):
        return tidy(value)
    pair = len(value) == 2 and all(isinstance(v, int) for v in value)
    return "\u2013".join(map(tidy, value)) if pair else f"({tidy(value)})"


def mapping(value: Mapping[str, Any]) -> str:
    """Formats a table such as `{kind = "pareto", shape = 1.05}` as `Pareto (shape 1.05)`; a table
    with very many keys is cut after the first ones."""
    if "name" in value:  # an entry of a registry
        return str(value["name"])
    kind = str(value.get("kind", ""))
    rest = [
        f"{key.replace('_', ' ')} {shortened(key, v)}"
        for key, v in value.items()
        if key != "kind" and v is not None
    ]
    name = NAMES.get(kind, kind)
    if not kind and "file" in value:  # a class of the user
        name = shortened("file", value["file"])
        rest.remove(f"file {name}")
    rest = [*rest[:SHOWN], *(["…"] if len(rest) > SHOWN else [])]
    return f"{name} ({', '.join(rest)})" if name and rest else name or ", ".join(rest)


def shortened(key: str, value: Any) -> str:
    """Formats a setting of a table: a path as its file name, a digest as its first digits."""
    if key == "file":
        return re.split(r"[/\\]", str(value))[-1]
    return str(value)[:DIGEST] if key == "sha256" else tidy(value)


def cluster(experiment: Mapping[str, Any]) -> str:
    """Describes the servers that every fabric connects."""
    c = experiment.get("cluster", {})
    racks, each = c.get("racks", c.get("hosts")), c.get("servers_per_rack", 1)
    parts = []
    if isinstance(racks, int) and isinstance(each, int):
        servers = quantities.counted(racks * each, "server")
        parts.append(
            servers if each == 1 else f"{quantities.counted(racks, 'rack')} of {each}: {servers}"
        )
    if rate := c.get("server_rate"):
        parts.append(f"{tidy(rate)} per server")
    elif rate := c.get("rack_rate"):
        parts.append(f"{tidy(rate)} per rack")
    if nic := c.get("nic"):
        parts.append("NIC uncapped" if nic == "uncapped" else f"NIC {tidy(nic)}")
    return ", ".join(parts) or quantities.MISSING


def workload(experiment: Mapping[str, Any]) -> str:
    """Describes the traffic on one line."""
    w = experiment.get("workload", {})
    if trace := w.get("trace"):
        scaled = w.get("load") if w.get("scale") else None
        at = "" if scaled is None else f", its times scaled to load {tidy(scaled)}"
        return f"trace {Path(str(trace)).name}{at}"
    if jobs := w.get("jobs"):
        return jobs_line(jobs, str(w.get("schedule", "in-sequence")))
    if parts := w.get("mix"):
        common = loads.asked(experiment)
        lines = (drawn_line({**part, "load": loads.of_part(part, common)}) for part in parts)
        return f"{quantities.counted(len(parts), 'part')} together: {'; '.join(lines)}"
    return drawn_line(w)


def drawn_line(w: Mapping[str, Any]) -> str:
    """Describes drawn flows on one line: arrivals, sizes, pattern and number."""
    arrivals = w.get("arrivals", "")
    parts = [NAMES.get(arrivals, tidy(arrivals)) if isinstance(arrivals, str) else tidy(arrivals)]
    if (load := w.get("load")) is not None:
        parts[0] += f" at load {tidy(load)}"
    if sizes := w.get("sizes"):
        parts.append(f"{tidy(sizes)} sizes")
    if pattern := w.get("pattern"):
        parts.append(f"{tidy(pattern)} pattern")
    if flows := w.get("flows"):
        parts.append(
            quantities.counted(flows, "flow") if isinstance(flows, int) else f"{tidy(flows)} flows"
        )
    return ", ".join(p for p in parts if p) or quantities.MISSING


def jobs_line(jobs: Sequence[Mapping[str, Any]], schedule: str) -> str:
    """Lists the jobs by name, and states whether they run one after the other."""
    names = [str(job.get("name", job.get("kind", "job"))) for job in jobs]
    if len(names) == 1:
        return f"job {names[0]}"
    how = "one after the other" if schedule == "in-sequence" else "together"
    return f"{quantities.counted(len(names), 'job')} {how}: {quantities.listed(names)}"


def run(made: Workload) -> str:
    """States seed, end and version."""
    r = made.experiment.get("run", {})
    first = made.fabrics[0].summary if made.fabrics else {}
    seed = r.get("seed", first.get("seed"))
    parts = [] if seed is None else [f"seed {seed}"]
    if made.seeds > 1:
        same = " of the fabrics' own draws" if repeats.same_flows(made.experiment) else ""
        parts = [f"{made.seeds} seeds from {seed}: means ± 95 % confidence{same} (Student's t)"]
        if (shape := repeats.unbounded_shape(made.experiment)) is not None:
            parts.append(
                f"sizes without a finite variance (Pareto, shape {shape:g}), so that fewer "
                "intervals of means and load contain the true value"
            )
    if stop := r.get("stop"):
        ends = {
            "last-arrival": "until the last arrival",
            "drain": "until the last byte is delivered",
        }
        parts.append(ends.get(str(stop).replace("_", "-"), f"until {tidy(stop)}"))
    if version := first.get("version"):
        parts.append(f"Lightloom {version}")
    return ", ".join(parts) or quantities.MISSING


def settings(fabric: Fabric, others: Sequence[Fabric]) -> str:
    """Describes a fabric by its kind, the settings in which it differs from others, and its first
    settings.

    The policy comes first; then all settings in which the fabric differs from others of its kind;
    then those in which it differs from other kinds. A resolved fabric has about twenty settings;
    the others are in the text of the experiment.
    """
    own = given(fabric)
    rest = [f for f in others if f.label != fabric.label]
    kin = [given(f) for f in rest if f.kind == fabric.kind]
    apart = [
        [k for k in own if k == "policy"],
        [k for k in own if any(k in f and f[k] != own[k] for f in kin)],
        [k for k in own if any(k in f and f[k] != own[k] for f in map(given, rest))],
        [k for k in own if any(k not in f for f in kin)],
    ]
    least = len({*apart[0], *apart[1]})
    chosen = list(dict.fromkeys([*chain(*apart), *own]))[: max(least, SHOWN)]
    more = [] if len(chosen) == len(own) else ["…"]
    return ", ".join(
        [fabric.kind, *(f"{k.replace('_', ' ')} {tidy(own[k])}" for k in chosen), *more]
    )


def all_settings(fabric: Fabric, others: Sequence[Fabric]) -> str:
    """Lists all settings of a fabric, if `settings` omits some; else empty."""
    if not settings(fabric, others).endswith("…"):
        return ""
    return ", ".join(f"{k.replace('_', ' ')} {tidy(v)}" for k, v in given(fabric).items())


def shared_physics(experiment: Mapping[str, Any]) -> str:
    """Describes the physics that all fabrics share; empty if the experiment sets none."""
    return physics.line(experiment.get("physics")) or ""


def electrical(experiment: Mapping[str, Any]) -> str:
    """Describes the oversubscription of electrical networks, and the circuits beside them; empty if
    there is nothing to report."""
    return networks.line(experiment) or ""


def ideal(experiment: Mapping[str, Any]) -> list[str]:
    """Lists the idealisations of each fabric, and the terms of the physics that it does not obey,
    on one line each."""
    return [*physics.ideal(experiment), *physics.disobeyed(experiment)]


def limiting(experiment: Mapping[str, Any]) -> list[str]:
    """Lists settings of fabrics that limit their results, with their remedy, on one line each."""
    return list(physics.findings(experiment))


def in_force(fabric: Fabric) -> str:
    """Describes values derived from the settings and the cluster; empty if there are none."""
    found = derived_values.derived(fabric.summary.get("derived") or {})
    devices = derived_values.devices(fabric.summary.get("devices") or {})
    said = [f"In force: {found}" if found else "", f"Devices: {devices}" if devices else ""]
    return ". ".join(filter(None, said))


def given(fabric: Fabric) -> dict[str, Any]:
    """The settings of a fabric that are shown."""
    hidden = {"kind", "label", "devices"}  # the values that follow from devices are shown instead
    empty: tuple[Any, ...] = (None, [], {}, "")
    return {k: v for k, v in fabric.settings.items() if k not in hidden and v not in empty}


def toml(experiment: Mapping[str, Any]) -> str:
    """The resolved experiment as TOML, which can run again beside its files."""
    return to_toml(present(inputs.named(dict(experiment))))


def present(value: Any) -> Any:
    """Removes nulls, which TOML does not have."""
    if isinstance(value, Mapping):
        return {str(k): present(v) for k, v in value.items() if v is not None}
    if isinstance(value, list | tuple):
        return [present(v) for v in value if v is not None]
    return value
