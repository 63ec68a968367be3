"""The native core. Configurations and summaries cross as JSON text, columns
as NumPy arrays. Users call `lightloom`, not this module."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__version__: str

Columns = dict[str, Any]
"""Name → NumPy array; `groups` is a list of names."""

class ConfigError(ValueError):
    """A configuration that cannot run.

    Its text is `key = value: limit; remedy`; the four are attributes too where
    the error comes from a key.
    """

    key: str | None
    value: str | None
    limit: str | None
    remedy: str | None
    trace: str | None
    """The traceback of what a user's code raised, without Lightloom's frames."""

def registry() -> str:
    """JSON: every fabric with its kind, title, source, summary, presets and schema."""

def workloads() -> str:
    """JSON: the published flow-size distributions with source, points and means."""

def device_presets() -> str:
    """JSON: `designs` of optical devices by name, and circuit `switches` of the papers."""

def device_schema() -> str:
    """JSON Schema of a design of optical devices."""

def derive_devices(text: str) -> str:
    """JSON: a `design` with every default filled in, what is `derived` from it, and
    `tuning_by_distance`; refused if it is impossible."""

def derive_switch(text: str) -> str:
    """A circuit switch as JSON, defaults filled in, and its link budget (None: loss unknown)."""

def sirius_banks(plan: str, nodes: int, ports: int, uplinks: int) -> list[tuple[int, int, int]]:
    """The gratings of Sirius' uplink plan: of each bank its uplinks, its gratings, their ports.
    A plan that cannot be wired raises ConfigError."""

def laser_tuning(text: str) -> NDArray[np.int64]:
    """Tuning times of a design's laser from (row) and to (column) every wavelength [ps]."""

def schema() -> str:
    """JSON Schema of an experiment."""

def resolve(json: str) -> str:
    """The experiment with every default filled in; refused if it cannot run."""

def assumptions(json: str) -> str:
    """JSON: of each fabric of a resolved experiment its label, what is `ideal` about it, terms
    of the physics that are `missing` from its model, and its `own` keys that go before them or
    before the cluster's; terms by the keys that state them."""

def findings_of_run(
    json: str,
    at_ps: int,
    arrived_ps: int | None,
    job_flow_ps: tuple[int, int] | None,
    longer: str,
) -> str:
    """JSON: values of a fabric's resolved table that limit the results of a run that ended then;
    `job_flow_ps` is what the slowest flow of its jobs took, and would take alone; `longer` says how
    to make the run last."""

def doubts_of_run(
    fabric: str,
    cluster: str,
    src: NDArray[np.uint32],
    dst: NDArray[np.uint32],
    bytes: NDArray[np.uint64],
    goodput: float | None,
    load: float | None,
) -> str:
    """JSON: the doubts of a fabric about the figures of a run that ended, by their kind, from the
    resolved tables of the fabric and of the cluster, the flows, and the goodput and the offered
    load ÷ the rate of all servers."""

def run(
    json: str,
    fabric: int,
    threads: int,
    progress: Callable[[float, float, float], object] | None = None,
    columns: Columns | None = None,
) -> tuple[
    str,
    Columns,
    dict[str, NDArray[Any]],
    dict[str, NDArray[Any]] | None,
    Columns | None,
    tuple[str | None, list[str] | None],
]:
    """Runs the fabric at index `fabric`: (summary as JSON, flows, time series,
    circuits or None where the fabric has none, what links carried or None where it is not
    counted, the log of its controller with what
    its decisions took, each None unless it was asked for).

    The flows are drawn from the workload, or taken from `columns` (`src`,
    `dst` u32, `bytes` u64, `arrival_ps` i64, and `group` u16 with `groups`, if
    they have groups). `progress(now_s, end_s, delivered_fraction)` is called at
    most 20 times a second; what it raises ends the run. Flow columns that hold
    `NEVER` (start, finish) or NaN (hops) have no value there.
    """

def trial(
    json: str, fabric: int, threads: int, seconds: float, columns: Columns | None = None
) -> str:
    """JSON: what the first `seconds` of a run came to, as `lightloom.simulation.trials.Trial`."""

def clock_resolve(table: str) -> str:
    """A clock's table with every default filled in, as JSON."""

def clock_schema() -> str:
    """JSON Schema of a clock's table."""

def clock_run(
    table: str, contributions: bool, progress: Callable[[float], object] | None = None
) -> tuple[str, dict[str, tuple[Columns, Columns]]]:
    """Runs clocks: (figures as JSON, "epochs" and, after a day, "day": columns of samples and
    of nodes). `progress` hears the share that is done."""

def clock_starts(delays: list[int]) -> list[int]:
    """When each node starts its first epoch, by delays from nodes to the grating, in one unit."""

def check_keys(json: str) -> None:
    """Refuses the first key of an experiment that no table has."""

def trace_hosts(json: str, names: list[str]) -> list[int | None]:
    """The server of each name, by `workload.trace_hosts` of an experiment."""

def read_trace(path: str, format: str | None = None, hosts: int | None = None) -> Columns:
    """The flow columns of a text trace: "csv", "cm" or "ns", by its name unless given."""

def trace_text(columns: Columns, format: str, hosts: int | None = None) -> str:
    """Flow columns as a text trace. `hosts` is how many there are; as many as
    the flows name, unless given."""

NEVER: int
RELAXATIONS: float
"""The time of what did not happen [ps]."""

# The control library; `lightloom.control` says what the functions mean. Matrices
# are int64 or float64, quantities are text with a unit.

Row = NDArray[np.int64]
Grid = NDArray[np.int64]
Slots = tuple[Grid, Row, int]
"""The output of every input in each slot; the days [ps]; the night [ps]."""

def control_time(key: str, value: object) -> int:
    """A time [ps]; `key` is what a refusal names."""

def control_time_text(time: int) -> str:
    """A time [ps] as text with its unit."""

def control_bytes(key: str, value: object) -> int:
    """An amount of data [bytes]."""

def control_rate(key: str, value: object) -> int:
    """A rate [b/s]."""

def control_bytes_in(days: Row, rate: object) -> Row:
    """The whole bytes that a rate carries in each of some days [ps]."""

def control_demand(matrix: NDArray[Any]) -> Grid:
    """Demand that has been checked, in whole bytes."""

def control_matching(
    matrix: NDArray[Any], symmetric: bool, up: list[tuple[int, int]], bonus: int | None
) -> tuple[Row, int, Grid, Row, Row, Row, Row]:
    """The mate of every node, the weight, the weights that the proof is for, y,
    the members of all blossoms, their sizes, and z."""

def control_assignment(weights: Grid) -> tuple[Row, int, Row, Row]:
    """The column of every row, the weight, potentials of rows and of columns."""

def control_hopcroft_karp(edges: NDArray[np.bool_]) -> Row:
    """The column of every row, -1 where there is none."""

def control_sinkhorn(
    matrix: NDArray[Any], epsilon: float, tolerance: float, max_rounds: int
) -> tuple[NDArray[np.float64], Grid, int, float]:
    """Shares, the same in units of 2⁻⁴⁰, rounds, error."""

def control_quickstuff(matrix: NDArray[Any]) -> Grid:
    """The stuffed matrix."""

def control_birkhoff(matrix: Grid, mass: float, terms: int | None) -> tuple[Grid, Row, int]:
    """Permutations, a row each; their weights; the line sum."""

def control_traffic_matrix(
    matrix: NDArray[Any],
    scaling: str,
    period: object,
    night: object,
    shortest: object | None,
    max_slots: int | None,
) -> Slots:
    """Mordia's schedule."""

def control_solstice(
    matrix: NDArray[Any],
    circuit: object,
    packet_rate: object,
    night: object,
    shortest: object,
    packet: object,
) -> tuple[Slots, Grid, int, int]:
    """The schedule; what is left to packets; when all is served; before when no
    schedule can have served it [ps]."""

def control_eclipse(
    matrix: NDArray[Any],
    rate: object,
    period: object,
    night: object,
    shortest: object | None,
    max_slots: int | None,
    step: float,
) -> tuple[Slots, int, int]:
    """The schedule; what it carries; what no schedule exceeds [bytes]."""

def control_coverage_bound(
    matrix: NDArray[Any], rate: object, period: object, night: object
) -> int:
    """What no schedule carries more than [bytes]."""

def control_round_robin(ports: int, day: object, night: object) -> Slots:
    """Every port meets every other one once."""

def control_round_robin_in(ports: int, period: object, night: object) -> Slots:
    """The same, as long as a period."""

def control_read_plan(path: str) -> tuple[list[str], Slots]:
    """What a plan in a file calls its nodes, if anything, and its schedule."""

def policies() -> str:
    """Every policy of the registry, with the schemas of its table and of what it is told
    about the switch, and whether it matches racks, as JSON."""

def orders() -> list[str]:
    """The names of the orders in which a change may be carried out."""

def control_replay(text: str, table: str | None = None) -> str:
    """What comes of playing a controller's log against a policy, as JSON."""

def control_decide(
    table: str,
    matrix: NDArray[Any],
    switch: str,
    lit: list[tuple[int, int]],
    symmetric: bool,
    works: list[bool] | None = None,
    pinned: list[tuple[int, int, int]] = [],
    apart: list[tuple[int, int]] = [],
) -> dict[str, Any]:
    """One decision of a policy. `table` is its own, with its `kind`, `switch` that of the
    switch, both JSON; `symmetric`: entries are weights of undirected circuits; `works`:
    which ports do, plane by plane, all unless given; `pinned` (lower rack, higher, plane)
    and `apart` (lower rack, higher): for policies that heed them.

    `options` is all that the decision took, as JSON; `heeds`, whether the policy took
    `pinned` and `apart` into account; then either `schedule` (`Slots`), or
    `circuits` (a row each: a, b, plane), `directed`, and `routes` (how many racks each
    has, the racks of all, the planes of all). As evidence, where there is some:
    `matching` (mate, weights, y, members and sizes of the blossoms, z), `assignment`
    (columns, potentials of rows and of columns), `topology` (`ControlTopology`, in b/s),
    `covers` (no schedule of the same frame carries more [bytes]), `completes` (when all is
    served, and no schedule serves it sooner [ps])."""

class ControlTopology:
    """Circuits and the demands that go over them, to be changed in part."""

    def circuits(self) -> Grid:
        """A row for each circuit: a, b, plane, capacity that no path reserved."""

    def demands(self) -> Grid:
        """A row for each demand: a, b, weight, need, length of its path."""

    def routes(self) -> Row:
        """The circuits of all paths, one path after another."""

    def racks(self) -> Row:
        """The racks of all paths that there are, one path after another."""

    def reconfigure(
        self,
        ports: list[tuple[int, int]],
        released: list[int],
        matrix: NDArray[Any] | None,
        each: int | None,
    ) -> ControlTopology:
        """The topology in which listed ports and demands have changed."""

def control_multihop(
    matrix: NDArray[Any],
    planes: int,
    ports: int,
    radix: int | None,
    capacity: int,
    each: int | None,
    hops: int,
    without_ports: bool,
) -> ControlTopology:
    """The topology of everything."""

def control_islip(
    requests: NDArray[np.bool_], grant: list[int], accept: list[int], rounds: int
) -> tuple[Row, Row, Row]:
    """The output of every input; pointers of outputs, of inputs."""

def control_drrm(
    requests: NDArray[np.bool_], request: list[int], grant: list[int], rounds: int
) -> tuple[Row, Row, Row]:
    """The output of every input; pointers of inputs, of outputs."""

def control_vlans(
    circuits: list[tuple[int, int]] | None, paths: list[list[int]], seed: int
) -> tuple[Row, Grid, list[list[int]], int, int]:
    """The VLAN of every path, -1 where there is none; the circuits, a row each;
    those of every VLAN; how many paths are not part of others; the lower bound."""

def ending_watch(descriptor: int, grace_s: float, codes: list[tuple[int, str | None]]) -> None:
    """Ends the process after a signal whose number comes out of the pipe, and its grace."""

def ending_unfinished(path: Path, only_empty: bool) -> None:
    """Notes a file or folder to be removed then; perhaps only if it is an empty folder."""

def ending_finished(path: Path) -> None:
    """Notes that a file or folder is to be left then."""

def ending_naming(begins: bool) -> None:
    """Notes that files are being given their names, which is waited for, or are no more."""

def ending_told() -> None:
    """Notes that the user knows how the command ends."""

class ControlLoop:
    """The controller of an experiment's fabric in real time: its host has the clock and the
    switch. Inputs and actions are JSON, in the form of the controller's log."""

    def __init__(self, json: str, fabric: int, host: str) -> None:
        """Of the fabric at index `fabric`; `host` names in the log who carries actions out.
        Raises ConfigError for a fabric without a controller."""

    def header(self) -> str:
        """The first line of its log: policy, switch, timing."""

    def opening(self) -> list[str]:
        """What it is to hear first."""

    def on(self, now_ps: int, input: str) -> list[str]:
        """Hands an input over that came at `now_ps`; what is to be done, in order. Raises
        ConfigError if the policy cannot decide."""

    def silent(self, now_ps: int) -> None:
        """The controller hears nothing until an input `silence`."""

    def log(self) -> str:
        """The log so far, as `plan --replay` reads it."""

# The data planes of the Linux testbed; on Linux alone. Namespaces are files such as
# /run/netns/NAME. All raise OSError of the kernel's refusals.

TESTBED_KERNEL_PLANE: bool
"""Whether clang was there when the package was built."""

TESTBED_NOWHERE: int
"""What leads nowhere in the tables of the kernel plane."""

TESTBED_FIRST_TAG: int
"""The VLAN of the first path that servers tag packets for."""
TESTBED_TAGS: int
"""No more VLANs of such paths."""

class TestbedKernelPlane:
    """The program of the kernel plane, attached to the interfaces of a namespace."""

    def __init__(
        self,
        namespace: Path,
        racks: int,
        planes: int,
        electrical: bool,
        ports: list[tuple[str, int, int, str, int]],
    ) -> None:
        """`ports` are name, index, rack, role (host, tor-electrical, tor-optical, core, ocs),
        and the number of the host in its rack or of the optical switch."""

    def classify(self, namespaces: list[Path], device: str) -> None:
        """The output of a device in each of these has two classes from now on: 1:2 for what its
        rack sends over a circuit at that moment, 1:3 for all else."""

    def lead(self, next: list[int]) -> None:
        """Where racks send, at (at × racks + src) × racks + dst: 0 over the electrical network,
        1 + plane over an optical switch, or `TESTBED_NOWHERE`."""

    def lead_tagged(self, rows: list[tuple[int, int, int, int]]) -> None:
        """Where racks send packets that servers tagged: rack, VLAN, destination rack, and
        1 + plane, or 0 if the VLAN does not lead there any more."""

    def cross(self, outputs: list[int]) -> None:
        """Outputs of the optical switches, at plane × racks + input; `TESTBED_NOWHERE` is dark."""

    def lost(self) -> tuple[int, int, int]:
        """Packets sent into the dark, with a strange address, and that nothing led to."""

class TestbedUserPlane:
    """Devices of hosts, and the thread that passes frames between them by a schedule."""

    def __init__(
        self,
        hosts: list[tuple[Path, int, int]],
        racks: int,
        rate_bps: int,
        device: str,
        mtu: int,
        frames: int,
    ) -> None:
        """`hosts` are namespace, rack, number in the rack; the plane holds so many `frames`."""

    def follow(self, night_ns: int, slots: list[tuple[list[int], int]]) -> None:
        """A schedule: the output of each input and the day [ns], slot by slot."""

    def works(self) -> bool:
        """Whether its thread still polls."""

    def counts(self) -> dict[str, Any]:
        """Frames, in_day, out_of_day, lost, strange, sync, days, missed_days; bytes carried,
        waiting and offered at input × racks + output; lateness_ns of days: p50, p99, p99.9, max."""

    def stop(self) -> None:
        """Ends the thread; the devices go."""

class TestbedSockets:
    """What waits in the TCP sockets of a namespace."""

    def __init__(self, namespace: Path) -> None: ...
    def waiting(self) -> dict[str, int]:
        """Bytes unacknowledged and not sent, by the peer's address."""

class TestbedBacklog:
    """The queues of the interfaces of a namespace."""

    def __init__(self, namespace: Path) -> None: ...
    def read(self) -> dict[int, tuple[int, int]]:
        """Of each interface, by its index: bytes that wait, packets that did not fit so far."""

def testbed_counters(namespace: Path) -> dict[str, tuple[int, int, int, int, int, int]]:
    """Of each interface: bytes, packets and drops received, then sent."""
