"""The native core.

Configurations and summaries are passed as JSON text, columns as NumPy arrays. Users call
`lightloom`, not this module.
"""

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

    Its text is `key = value: limit; remedy`; if the error concerns a key, these four parts are also
    attributes.
    """

    key: str | None
    value: str | None
    limit: str | None
    remedy: str | None
    trace: str | None
    """The traceback of an exception of a user's code, without Lightloom's frames."""

def registry() -> str:
    """Returns JSON: every fabric with its kind, title, source, summary, presets and schema."""

def workloads() -> str:
    """Returns JSON: the published flow-size distributions with source, points and means."""

def device_presets() -> str:
    """Returns JSON: `designs` of optical devices by name, and circuit `switches` of the papers."""

def device_schema() -> str:
    """Returns the JSON Schema of a design of optical devices."""

def derive_devices(text: str) -> str:
    """Returns JSON: a `design` with all defaults, its `derived` values, and `tuning_by_distance`.

    An impossible design is refused.
    """

def derive_switch(text: str) -> str:
    """Returns a circuit switch with all defaults as JSON, and its link budget (null if its loss is
    unknown)."""

def sirius_banks(plan: str, nodes: int, ports: int, uplinks: int) -> list[tuple[int, int, int]]:
    """Returns the gratings of Sirius' uplink plan: for each bank its uplinks, its gratings, and
    their ports. A plan that cannot be wired raises ConfigError."""

def laser_tuning(text: str) -> NDArray[np.int64]:
    """Returns tuning times of a design's laser from each wavelength (row) to each wavelength
    (column) [ps]."""

def schema() -> str:
    """Returns the JSON Schema of an experiment."""

def resolve(json: str) -> str:
    """Returns the experiment with all defaults; one that cannot run is refused."""

def assumptions(json: str) -> str:
    """Returns JSON: for each fabric of a resolved experiment its label, its `ideal` properties, the
    terms of the physics that are `missing` from its model, and its `own` keys that have precedence
    over these terms or over the cluster's keys. Terms are named by the keys that state them."""

def findings_of_run(
    json: str,
    at_ps: int,
    arrived_ps: int | None,
    job_flow_ps: tuple[int, int] | None,
    longer: str,
) -> str:
    """Returns JSON: values of a fabric's resolved table that limit the results of a run that ended
    at `at_ps`. `job_flow_ps` is the time that the slowest flow of its jobs took, and the time that
    it would take alone; `longer` describes how to make the run longer."""

def doubts_of_run(
    fabric: str,
    cluster: str,
    src: NDArray[np.uint32],
    dst: NDArray[np.uint32],
    bytes: NDArray[np.uint64],
    goodput: float | None,
    load: float | None,
) -> str:
    """Returns JSON: the doubts of a fabric about the results of a finished run, by kind, from the
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
    """Runs the fabric at index `fabric`. Returns the summary as JSON; flows; the time series;
    circuits, or None if the fabric has none; bytes on links, or None if they are not counted; the
    log of its controller, and the computation times of its decisions, each None unless requested.

    The flows are drawn from the workload, or taken from `columns` (`src`, `dst` u32, `bytes` u64,
    `arrival_ps` i64, and `group` u16 with `groups`, if they have groups). `progress(now_s, end_s,
    delivered_fraction)` is called at most 20 times per second; an exception from it ends the run.
    `NEVER` (start, finish) and NaN (hops) stand for missing values in flow columns.
    """

def trial(
    json: str, fabric: int, threads: int, seconds: float, columns: Columns | None = None
) -> str:
    """Returns JSON: the results of the first `seconds` of a run, as
    `lightloom.simulation.trials.Trial`."""

def clock_resolve(table: str) -> str:
    """Returns a clock's table with all defaults, as JSON."""

def clock_schema() -> str:
    """Returns the JSON Schema of a clock's table."""

def clock_run(
    table: str, contributions: bool, progress: Callable[[float], object] | None = None
) -> tuple[str, dict[str, tuple[Columns, Columns]]]:
    """Runs clocks.

    Returns results as JSON, and the columns of samples and of nodes for "epochs" and, with a day,
    for "day". `progress` receives the completed share.
    """

def clock_starts(delays: list[int]) -> list[int]:
    """Returns when each node starts its first epoch, from the delays between nodes and grating, in
    one unit."""

def check_keys(json: str) -> None:
    """Raises ConfigError for the first key of an experiment that no table has."""

def trace_hosts(json: str, names: list[str]) -> list[int | None]:
    """Returns the server of each name, by `workload.trace_hosts` of an experiment."""

def read_trace(path: str, format: str | None = None, hosts: int | None = None) -> Columns:
    """Returns the flow columns of a text trace: "csv", "cm" or "ns"; by default the format follows
    from its name."""

def trace_text(columns: Columns, format: str, hosts: int | None = None) -> str:
    """Returns flow columns as a text trace.

    `hosts` is the number of hosts; by default the number that the flows name.
    """

NEVER: int
"""The time of an event that did not occur [ps]."""
RELAXATIONS: float
"""The smallest number of relaxation times of a window for an interval [count]."""

# The control library; `lightloom.control` documents the functions. Matrices are int64 or float64;
# quantities are text with a unit.

Row = NDArray[np.int64]
Grid = NDArray[np.int64]
Slots = tuple[Grid, Row, int]
"""The output of every input in each slot; the days [ps]; the night [ps]."""

def control_time(key: str, value: object) -> int:
    """Reads a time [ps]; a refusal names `key`."""

def control_time_text(time: int) -> str:
    """Returns a time [ps] as text with its unit."""

def control_bytes(key: str, value: object) -> int:
    """Reads an amount of data [bytes]."""

def control_rate(key: str, value: object) -> int:
    """Reads a rate [b/s]."""

def control_bytes_in(days: Row, rate: object) -> Row:
    """Returns the whole bytes that a rate carries in each of the given days [ps]."""

def control_demand(matrix: NDArray[Any]) -> Grid:
    """Returns checked demand in whole bytes."""

def control_matching(
    matrix: NDArray[Any], symmetric: bool, up: list[tuple[int, int]], bonus: int | None
) -> tuple[Row, int, Grid, Row, Row, Row, Row]:
    """Returns the mate of every node, the weight, the weights to which the proof applies, y, the
    members of all blossoms, their sizes, and z."""

def control_assignment(weights: Grid) -> tuple[Row, int, Row, Row]:
    """Returns the column of every row, the weight, and the potentials of rows and of columns."""

def control_hopcroft_karp(edges: NDArray[np.bool_]) -> Row:
    """Returns the column of every row, -1 if it has none."""

def control_sinkhorn(
    matrix: NDArray[Any], epsilon: float, tolerance: float, max_rounds: int
) -> tuple[NDArray[np.float64], Grid, int, float]:
    """Returns shares, shares in whole units of 2⁻⁴⁰, the rounds, and the error."""

def control_quickstuff(matrix: NDArray[Any]) -> Grid:
    """Returns the stuffed matrix."""

def control_birkhoff(matrix: Grid, mass: float, terms: int | None) -> tuple[Grid, Row, int]:
    """Returns permutations, one per row; their weights; and the line sum."""

def control_traffic_matrix(
    matrix: NDArray[Any],
    scaling: str,
    period: object,
    night: object,
    shortest: object | None,
    max_slots: int | None,
) -> Slots:
    """Computes Mordia's schedule."""

def control_solstice(
    matrix: NDArray[Any],
    circuit: object,
    packet_rate: object,
    night: object,
    shortest: object,
    packet: object,
) -> tuple[Slots, Grid, int, int]:
    """Returns the schedule; the demand that remains for packets; the time at which all demand is
    served; and a lower bound on this time for every schedule [ps]."""

def control_eclipse(
    matrix: NDArray[Any],
    rate: object,
    period: object,
    night: object,
    shortest: object | None,
    max_slots: int | None,
    step: float,
) -> tuple[Slots, int, int]:
    """Returns the schedule; the bytes that it carries; and an upper bound for every schedule
    [bytes]."""

def control_coverage_bound(
    matrix: NDArray[Any], rate: object, period: object, night: object
) -> int:
    """Returns an upper bound on the bytes that a schedule carries."""

def control_round_robin(ports: int, day: object, night: object) -> Slots:
    """Returns a round robin in which every port is connected to every other one once."""

def control_round_robin_in(ports: int, period: object, night: object) -> Slots:
    """Returns a round robin with the length of a period."""

def control_read_plan(path: str) -> tuple[list[str], Slots]:
    """Reads the names of a plan's nodes from its file, if there are any, and its schedule."""

def policies() -> str:
    """Returns every policy of the registry as JSON, with the schemas of its table and of the
    properties of the switch that it uses, and whether it matches racks."""

def orders() -> list[str]:
    """Returns the names of the orders in which a change may be carried out."""

def control_replay(text: str, table: str | None = None) -> str:
    """Replays a controller's log with a policy; returns the result as JSON."""

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
    """Makes one decision of a policy. `table` is that of the policy, with its `kind`, and `switch`
    that of the switch, both as JSON. `symmetric` states that entries are weights of undirected
    circuits; `works` states which ports work, plane by plane (default: all). `pinned` (lower rack,
    higher rack, plane) and `apart` (lower rack, higher rack) are for policies that support such
    rules.

    In the result, `options` has all values that the decision used, as JSON; `heeds` states whether
    the policy applied `pinned` and `apart`. It has either `schedule` (`Slots`), or `circuits` (one
    per row: a, b, plane), `directed`, and `routes` (the number of racks of each, the racks of all,
    the planes of all). Evidence, if available: `matching` (mate, weights, y, members and sizes of
    the blossoms, z), `assignment` (columns, potentials of rows and of columns), `topology`
    (`ControlTopology`, in b/s), `covers` (an upper bound on the bytes that a schedule of the same
    frame carries), `completes` (the time at which all demand is served, and a lower bound on it
    [ps])."""

class ControlTopology:
    """Circuits and the demands that use them; parts can be changed."""

    def circuits(self) -> Grid:
        """Returns one row per circuit: a, b, plane, and the capacity that no path has reserved."""

    def demands(self) -> Grid:
        """Returns one row per demand: a, b, weight, need, and the length of its path."""

    def routes(self) -> Row:
        """Returns the circuits of all paths, one path after another."""

    def racks(self) -> Row:
        """Returns the racks of all existing paths, one path after another."""

    def reconfigure(
        self,
        ports: list[tuple[int, int]],
        released: list[int],
        matrix: NDArray[Any] | None,
        each: int | None,
    ) -> ControlTopology:
        """Returns the topology after changes of the listed ports and demands."""

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
    """Computes the topology for all demands."""

def control_islip(
    requests: NDArray[np.bool_], grant: list[int], accept: list[int], rounds: int
) -> tuple[Row, Row, Row]:
    """Returns the output of every input, and the pointers of outputs and of inputs."""

def control_drrm(
    requests: NDArray[np.bool_], request: list[int], grant: list[int], rounds: int
) -> tuple[Row, Row, Row]:
    """Returns the output of every input, and the pointers of inputs and of outputs."""

def control_vlans(
    circuits: list[tuple[int, int]] | None, paths: list[list[int]], seed: int
) -> tuple[Row, Grid, list[list[int]], int, int]:
    """Returns the VLAN of every path, -1 if it has none; the circuits, one per row; those of every
    VLAN; the number of paths that are not part of others; and the lower bound."""

def ending_watch(descriptor: int, grace_s: float, codes: list[tuple[int, str | None]]) -> None:
    """Ends the process after a signal, whose number is read from the pipe, and a grace period."""

def ending_unfinished(path: Path, only_empty: bool) -> None:
    """Marks a file or folder to be removed at that end; optionally only if it is an empty
    folder."""

def ending_finished(path: Path) -> None:
    """Marks a file or folder as finished, so that it is kept at that end."""

def ending_told() -> None:
    """Records that the command has printed its final message."""

class ControlLoop:
    """The controller of an experiment's fabric in real time; its host has the clock and the switch.

    Inputs and actions are JSON in the format of the controller's log.
    """

    def __init__(self, json: str, fabric: int, host: str) -> None:
        """Creates the controller of the fabric at index `fabric`; `host` is the name in the log of
        the component that performs actions. Raises ConfigError for a fabric without a
        controller."""

    def header(self) -> str:
        """The first line of its log: policy, switch, timing."""

    def opening(self) -> list[str]:
        """The inputs that start it."""

    def on(self, now_ps: int, input: str) -> list[str]:
        """Processes an input that arrived at `now_ps`; returns the actions to perform, in order.

        Raises ConfigError if the policy cannot decide.
        """

    def silent(self, now_ps: int) -> None:
        """Makes the controller ignore all inputs until an input `silence`."""

    def log(self) -> str:
        """The log so far, as `plan --replay` reads it."""

# The data planes of the Linux testbed, only on Linux. Namespaces are files such as /run/netns/NAME.
# All functions raise OSError if the kernel refuses.

TESTBED_KERNEL_PLANE: bool
"""Whether clang was available when the package was built."""

TESTBED_NOWHERE: int
"""The value for no output in the tables of the kernel plane."""

TESTBED_FIRST_TAG: int
"""The VLAN of the first path that servers select with a tag."""
TESTBED_TAGS: int
"""The largest number of such VLANs."""

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
        """`ports` are name, index, rack, role (host, tor-electrical, tor-optical, core, ocs), and
        the number of the host in its rack or of the optical switch."""

    def classify(self, namespaces: list[Path], device: str) -> None:
        """Divides the output of a device in each of these namespaces into two classes: 1:2 for
        packets that the rack sends over a circuit at that moment, 1:3 for all others."""

    def lead(self, next: list[int]) -> None:
        """Sets the table of the rack switches, with index (at × racks + src) × racks + dst: 0 for
        the electrical network, 1 + plane for an optical switch, or `TESTBED_NOWHERE`."""

    def lead_tagged(self, rows: list[tuple[int, int, int, int]]) -> None:
        """Sets the paths of packets that servers tag: rack, VLAN, destination rack, and 1 + plane,
        or 0 if the VLAN no longer leads there."""

    def cross(self, outputs: list[int]) -> None:
        """Sets the outputs of the optical switches, with index plane × racks + input;
        `TESTBED_NOWHERE` is dark."""

    def lost(self) -> tuple[int, int, int]:
        """Returns the lost packets: sent to a dark circuit, with an unknown address, and without a
        path."""

class TestbedUserPlane:
    """The devices of hosts, and the thread that forwards frames between them by a schedule."""

    def __init__(
        self,
        hosts: list[tuple[Path, int, int]],
        racks: int,
        rate_bps: int,
        device: str,
        mtu: int,
        frames: int,
    ) -> None:
        """`hosts` are namespace, rack, and number in the rack; `frames` is the number of frames
        that the plane can hold."""

    def follow(self, night_ns: int, slots: list[tuple[list[int], int]]) -> None:
        """Starts a schedule: the output of each input and the day [ns], slot by slot."""

    def works(self) -> bool:
        """Whether its thread still polls."""

    def counts(self) -> dict[str, Any]:
        """Returns the counters: frames, in_day, out_of_day, lost, strange, sync, days, missed_days;
        bytes carried, waiting and offered, with index input × racks + output; lateness_ns of days:
        p50, p99, p99.9, max."""

    def stop(self) -> None:
        """Ends the thread, and deletes the devices."""

class TestbedSockets:
    """The bytes that wait in the TCP sockets of a namespace."""

    def __init__(self, namespace: Path) -> None: ...
    def waiting(self) -> dict[str, int]:
        """Returns the bytes that are not sent or not acknowledged, by the address of the peer."""

class TestbedBacklog:
    """The queues of the interfaces of a namespace."""

    def __init__(self, namespace: Path) -> None: ...
    def read(self) -> dict[int, tuple[int, int]]:
        """Returns for each interface, by index, the waiting bytes and the packets dropped so far
        because the queue was full."""

def testbed_counters(namespace: Path) -> dict[str, tuple[int, int, int, int, int, int]]:
    """Returns for each interface the received bytes, packets and drops, then the sent ones."""
