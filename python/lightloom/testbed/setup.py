"""The emulated network: an experiment's fabric and its table `[testbed]`, checked."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lightloom import _core
from lightloom.config.experiment import Experiment
from lightloom.config.own_tables import TESTBED, of_core
from lightloom.config.testbed import LARGEST_SCALE, Table, kept_bytes, read_table
from lightloom.errors import refusal
from lightloom.testbed.application_checks import check_application, check_names
from lightloom.testbed.emulation import emulations
from lightloom.testbed.layout import Layout
from lightloom.units.durations import duration_ps

KERNEL_RATE_BPS = 1_000_000_000
"""Highest rate up to which links of the kernel plane were calibrated."""
USER_RATE_BPS = 1_000_000_000
"""Highest rate up to which links of the user-space plane were calibrated."""
SHORTEST_DARK_PS = 10_000_000_000
"""Shortest dark time of the kernel plane: 10 ms."""
SHORTEST_DAY_PS = 100_000_000
"""Shortest day of the user-space plane: 100 us."""
SHORTEST_SAMPLE_PS = 1_000_000_000
"""Shortest interval between samples: the controller's thread takes them, and more samples would
leave it no time."""
RACKS, PLANES, HOSTS = 16, 8, 64
"""Limits of the kernel plane's tables."""
HOSTS_IN_ALL = 64
"""Largest number of host namespaces."""


@dataclass(frozen=True)
class Setup:
    """A testbed to be built."""

    experiment: Experiment
    resolved: Mapping[str, Any]
    fabric: int
    """Index of the fabric in the experiment."""
    table: Table
    layout: Layout
    host_bps: int
    circuit_bps: int
    electrical_bps: int
    """Rate at which a rack sends over the electrical network; 0 without one."""
    dark_ps: int
    """Time from a circuit's going dark to the light of the next one, unscaled."""
    buffer: int
    """Buffer of a TCP socket [B]."""

    @property
    def optical_weight(self) -> float | None:
        """The guaranteed share of a host's link for traffic over circuits; None if the fabric has
        no such scheduler."""
        own = self.resolved["fabric"][self.fabric]
        given = own.get("optical_weight")
        return None if given is None or not self.layout.electrical else float(given)

    @property
    def kind(self) -> str:
        """The kind of the fabric."""
        return str(self.resolved["fabric"][self.fabric]["kind"])

    @property
    def label(self) -> str:
        """Its label."""
        return str(self.resolved["fabric"][self.fabric]["label"])

    @property
    def has_server_rules(self) -> bool:
        """Whether servers tag packets for a path, by their own OpenFlow rules."""
        given = self.table.forwarding
        return emulations()[self.kind].server_rules if given is None else given == "servers"

    @property
    def plane(self) -> str:
        """The data plane that emulates it: kernel or user."""
        return emulations()[self.kind].plane

    @property
    def dark_key(self) -> str:
        """The first key of the fabric that determines its dark time."""
        return f"fabric.{emulations()[self.kind].dark[0]}"


def setup_of(experiment: Experiment, label: str | None = None, name: str | None = None) -> Setup:
    """The testbed to build for a fabric of an experiment.

    Raises:
        ConfigError: if the fabric cannot be emulated, or a value exceeds a limit.
    """
    table = read_table(experiment.raw.get(TESTBED, {}))
    if name is not None and not re.fullmatch(r"[A-Za-z0-9_]{1,32}", name):
        limit = "a name has 1 to 32 letters, digits and underscores"
        raise refusal("--name", name, limit, "choose another")
    resolved = experiment.resolved()
    fabric = _choice(resolved, label)
    own = resolved["fabric"][fabric]
    kind, cluster = own["kind"], resolved["cluster"]
    racks, per = cluster["racks"], cluster["servers_per_rack"]
    days = emulations()[kind].plane == "user"
    planes = 0 if days else int(own.get("planes", 1))
    electrical = not days and own.get("electrical", True) is not False
    _check_size(racks, per, planes)
    nic = cluster["nic"]
    host = bits(cluster["server_rate"] if nic == "uncapped" else nic)
    ratio = float(own.get("oversubscription", 1.0))
    setup = Setup(
        experiment=experiment,
        resolved=resolved,
        fabric=fabric,
        table=table,
        layout=Layout(name or default_name(experiment.path), racks, per, planes, electrical),
        host_bps=host,
        circuit_bps=bits(own.get("circuit_rate") or own["link_rate"]),
        electrical_bps=int(per * bits(cluster["server_rate"]) / ratio) if electrical else 0,
        dark_ps=_dark(own),
        buffer=_buffer(own),
    )
    if table.settle_after is not None:
        duration_ps("testbed.settle_after", table.settle_after)
    if duration_ps("testbed.sample", table.sample) < SHORTEST_SAMPLE_PS:
        limit = "samples are 1 ms or more apart"
        raise refusal("testbed.sample", table.sample, limit, "raise it")
    if table.capture is not None:
        kept_bytes(table.capture)
    _check_forwarding(setup)
    _check_limits(setup)
    for at, application in enumerate(table.application):
        check_application(f"testbed.application[{at}]", application, len(setup.layout.hosts))
    check_names(table.application)
    return setup


def cases(experiment: Experiment) -> dict[str, Experiment]:
    """The experiment of each case of `[testbed]`, by name; without cases, the experiment itself
    with the name "".

    Raises:
        ConfigError: if a table cannot be read, two cases have the same name, or a key cannot be
            set.
    """
    table = read_table(experiment.raw.get(TESTBED, {}))
    found = {}
    for at, case in enumerate(table.case):
        if case.name in found or not re.fullmatch(r"[\w.-]+", case.name):
            limit = "each case has a name of its own, of letters, digits, '.', '-' and '_'"
            raise refusal(f"testbed.case[{at}].name", f'"{case.name}"', limit, "choose another")
        found[case.name] = experiment.with_overrides(case.set)
    return found or {"": experiment}


def json_of(setup: Setup) -> str:
    """The experiment in the form that the core reads."""
    return json.dumps(of_core(dict(setup.resolved)))


def policy_of(setup: Setup) -> str:
    """The name of the policy."""
    given = setup.resolved["fabric"][setup.fabric].get("policy")
    return str(given.get("kind") if isinstance(given, Mapping) else given)


def scaled_ps(setup: Setup, ps: int) -> int:
    """A time of the fabric, converted to the time of the testbed."""
    return int(ps * setup.table.time_scale)


def bits(rate: str | int) -> int:
    """A rate in bits a second."""
    return int(_core.control_rate("rate", rate))


def _choice(resolved: Mapping[str, Any], label: str | None) -> int:
    known = emulations()
    given = resolved["fabric"]
    if label is not None:
        labels = [own["label"] for own in given]
        if label not in labels:
            raise refusal("--fabric", label, "no such label", f"one of {', '.join(labels)}")
        at = labels.index(label)
        kind = given[at]["kind"]
        if kind not in known:
            limit = "the testbed cannot emulate it"
            raise refusal("fabric.kind", f'"{kind}"', limit, f"use one of {', '.join(known)}")
        return at
    fits = [at for at, own in enumerate(given) if own["kind"] in known]
    if not fits:
        kinds = ", ".join(str(own["kind"]) for own in given)
        limit = "the testbed cannot emulate it"
        raise refusal("fabric.kind", kinds, limit, f"use one of {', '.join(known)}")
    if len(fits) > 1:
        choices = ", ".join(str(given[at]["label"]) for at in fits)
        raise refusal("--fabric", "(missing)", "several can be emulated", f"one of {choices}")
    return fits[0]


def _check_size(racks: int, per: int, planes: int) -> None:
    limits = [("cluster.racks", racks, RACKS), ("fabric.planes", planes, PLANES)]
    limits.append(("cluster.servers_per_rack", per, HOSTS))
    for key, value, most in limits:
        if value > most:
            raise refusal(key, value, f"the testbed has at most {most}", "use fewer")
    if racks * per > HOSTS_IN_ALL:
        limit = f"the testbed makes at most {HOSTS_IN_ALL} hosts"
        raise refusal("cluster", f"{racks} racks of {per}", limit, "use fewer")


def _dark(own: Mapping[str, Any]) -> int:
    keys = emulations()[own["kind"]].dark
    return sum(duration_ps(f"fabric.{key}", own[key]) for key in keys)


def _buffer(own: Mapping[str, Any]) -> int:
    most = 64 << 20
    given = own.get("socket_buffer")
    return most if given is None else min(most, int(_core.control_bytes("socket_buffer", given)))


def _check_forwarding(setup: Setup) -> None:
    given = setup.table.forwarding
    if setup.plane == "user" and given is not None:
        limit = "the user-space plane follows days and has no rules"
        raise refusal("testbed.forwarding", f'"{given}"', limit, "remove it")
    of_servers = [kind for kind, how in emulations().items() if how.server_rules]
    if given == "servers" and setup.kind not in of_servers:
        limit = f"servers tag packets for {', '.join(of_servers)} alone"
        raise refusal("testbed.forwarding", f'"{given}"', limit, 'write "racks", or remove it')


def _check_limits(setup: Setup) -> None:
    user = setup.plane == "user"
    most = USER_RATE_BPS if user else KERNEL_RATE_BPS
    circuits = "fabric.link_rate" if user else "fabric.circuit_rate"
    rates = [
        ("cluster.nic", setup.host_bps, "lower cluster.nic or cluster.server_rate"),
        (circuits, setup.circuit_bps, "lower it"),
        ("fabric.oversubscription", setup.electrical_bps, "raise it"),
    ]
    for key, rate, remedy in rates:
        if rate > most:
            limit = f"the {setup.plane} plane was calibrated up to {most / 1e9:g} Gb/s"
            raise refusal(key, f"{rate / 1e9:g} Gb/s", limit, remedy)
    scale = setup.table.time_scale
    if not user and setup.dark_ps * scale < SHORTEST_DARK_PS:
        limit = "the kernel plane changes circuits in no less than 10 ms"
        remedy = _time_scale(SHORTEST_DARK_PS, setup.dark_ps)
        raise refusal(setup.dark_key, f"{setup.dark_ps / 1e9:g} ms", limit, remedy)
    if user:
        own = setup.resolved["fabric"][setup.fabric]
        slot = duration_ps("fabric.slot", own["slot"])
        day = (slot - setup.dark_ps) * scale
        if day < SHORTEST_DAY_PS:
            limit = "a day on the user-space plane is 100 us or longer"
            remedy = _time_scale(SHORTEST_DAY_PS, slot - setup.dark_ps)
            raise refusal("fabric.slot", own["slot"], limit, remedy)


def _time_scale(shortest_ps: int, given_ps: int) -> str:
    """The `time_scale` that makes a time of the fabric long enough."""
    needed = -(-shortest_ps // max(given_ps, 1))
    return f"testbed.time_scale = {needed}" if needed <= LARGEST_SCALE else "raise it"


def default_name(path: Path | None) -> str:
    """A default name for the testbed of an experiment: letters and digits of its file name."""
    stem = "testbed" if path is None else path.stem
    return re.sub(r"[^a-z0-9]", "", stem.lower())[:12] or "testbed"
