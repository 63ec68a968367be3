//! The trait between the engine and a fabric, and the reports of a fabric.

use crate::fair::Precision;
use crate::ids::{HostId, PortId};
use crate::io::Io;
use crate::refusal::Refusal;
use crate::time::{Rate, Time};
use std::fmt;

/// The hosts, racks and links of a fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Servers.
    pub hosts: u32,
    /// Racks, or single nodes.
    pub racks: u32,
    /// The rate of a server, by which load and goodput are normalised.
    pub host_rate: Rate,
    /// Sum of the rates of all links that [`View::carried_bytes`] counts.
    pub link_capacity: Rate,
}

/// The switches above the racks of an electrical network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SwitchTier {
    /// Between a pod's racks and the core.
    Aggregation,
    /// Between pods, or between racks if there are no pods.
    Core,
}

/// A part that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Element {
    /// A rack or single node.
    Node(u32),
    /// One transceiver (uplink) of a node.
    Transceiver {
        /// The node.
        node: u32,
        /// Its uplink.
        uplink: u32,
    },
    /// A passive grating of the optical core.
    Grating(u32),
    /// The controller that decides on circuits; without it the present circuits stay.
    Controller,
    /// One optical port of a rack, towards one plane of optical switches.
    Port {
        /// The rack.
        node: u32,
        /// The plane.
        plane: u32,
    },
    /// The circuit switch of a plane, with the ports of all racks to it.
    Plane(u32),
    /// An electrical switch above the racks.
    Switch {
        /// The tier of the switch.
        tier: SwitchTier,
        /// Its number within the tier, pod by pod.
        index: u32,
    },
}

/// Racks `a` and `b` were joined by a lit circuit during [`from`, `until`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Circuit {
    /// The rack of lower number, or the one that sent over a directed circuit.
    pub a: u32,
    /// The other rack.
    pub b: u32,
    /// Whether the circuit led from `a` to `b` only.
    pub directed: bool,
    /// The plane of optical switches; 0 if there is only one.
    pub plane: u16,
    /// The first instant at which the circuit carried data.
    pub from: Time,
    /// The instant at which it went dark; the end of the run if it did not.
    pub until: Time,
}

/// A command of the engine to a fabric at a given instant. It sets the condition of a part,
/// whatever the condition was before. Overlapping failures of one part are combined before
/// ([`crate::outages`]); the fabric combines failures of parts that contain each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Command {
    /// The element fails: it loses each cell or packet with this probability (1: total failure;
    /// less: a grey failure).
    Fail {
        /// The part that fails.
        element: Element,
        /// Probability of loss.
        loss: f64,
    },
    /// The element works again.
    Repair(Element),
}

/// The reason why a fabric cannot carry out a command: the limit, without the name of the part. A
/// remedy other than correcting the command follows after "; ".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected(pub String);

impl Rejected {
    /// The error for a fabric of this name that does not model failures.
    pub fn no_failures(fabric: &str) -> Rejected {
        Rejected(format!("{fabric} does not model failures yet; remove it"))
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Rejected {}

/// The state of a fabric for time series and for the audit. Every byte that was offered, and
/// neither delivered nor dropped, is in one of three places: at its source, in a queue inside the
/// network, or on a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Bytes inside the fabric, counted in its own queues (not by the ledger).
    /// Only an audited run counts them: it may walk every queue.
    pub in_flight_bytes: u64,
    /// Bytes that wait inside the network (not at their sources).
    pub queued_bytes: u64,
    /// The bytes in queues inside the network at the node with most of them.
    pub queued_bytes_worst: u64,
    /// Bytes that wait at their sources.
    pub waiting_bytes: u64,
    /// Bytes on links: in transmission, in propagation, or in a delay of fixed length.
    pub on_links_bytes: u64,
    /// Bytes × hops that links have carried since the start.
    pub carried_bytes: u64,
}

impl View {
    /// Sum of the bytes at all places of the fabric.
    pub fn placed_bytes(&self) -> u64 {
        self.waiting_bytes + self.queued_bytes + self.on_links_bytes
    }
}

/// The place whose queue the peak describes. Values of different places are not comparable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueuePlace {
    /// The queue of packets for one link of an electrical switch, including one beside circuits.
    #[default]
    Port,
    /// All buffers of a router.
    Router,
    /// One loop-back memory beside an optical switch.
    LoopBack,
    /// Bytes that have left the rack of their source and wait in another rack, or are on the way to
    /// it.
    Relay,
    /// As `Relay`, with low-latency traffic of the rack's own.
    RackLowLatency,
}

impl QueuePlace {
    /// The name of the place in results.
    pub fn name(self) -> &'static str {
        match self {
            QueuePlace::Port => "port",
            QueuePlace::Router => "router",
            QueuePlace::LoopBack => "loop-back",
            QueuePlace::Relay => "relay",
            QueuePlace::RackLowLatency => "rack-low-latency",
        }
    }
}

/// Figures of a whole run; `None` if a fabric does not have the figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Peak of the queue at the node with the longest queue [B].
    pub queue_peak_bytes: Option<u64>,
    /// The place to which `queue_peak_bytes` refers.
    pub queue_place: QueuePlace,
    /// Peak of the reorder buffer of the flow with the largest one [B].
    pub reorder_peak_bytes: Option<u64>,
    /// Cells moved over a hop.
    pub cell_hops: Option<u64>,
    /// Packets moved over a hop.
    pub packet_hops: Option<u64>,
    /// Bytes delivered over at least one circuit; `None` if the fabric has no reconfigurable
    /// circuits.
    pub circuit_bytes: Option<u64>,
}

/// Bytes that a group of parallel links of an electrical network has carried in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkLoad {
    /// The tiers that the links join, such as "rack to pod".
    pub tier: &'static str,
    /// Index of the sending server, rack, pod or router; none for the core.
    pub from: Option<u32>,
    /// Index of the receiving server, rack, pod or router; none for the core.
    pub to: Option<u32>,
    /// Number of parallel links.
    pub links: u64,
    /// Rate of each link while it works [b/s]; the payload rate if `bytes` are payload.
    pub rate: Rate,
    /// Bytes carried since the start [B]: bytes on the wire, or payload in a fabric whose flows
    /// have payload rates.
    pub bytes: u64,
}

/// The records of a controller of circuits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ControlRecord {
    /// The log of its inputs and actions, if it was requested: one line of JSON each.
    pub log: Option<String>,
    /// The computation time of each decision, if it was measured or recorded.
    pub computed: Option<Vec<Time>>,
}

/// The reports of a network; none is on the hot path. A kernel implements them, and its driver
/// forwards them.
pub trait Reports: Send {
    /// Hosts, racks and rates.
    fn shape(&self) -> Shape;

    /// Writes queue depths and counters.
    fn observe(&self, io: &Io, view: &mut View) {
        let _ = (io, view);
    }

    /// The figures of the run so far.
    fn totals(&self) -> Totals {
        Totals::default()
    }

    /// Writes per-flow values that are kept outside the flow columns during the run (bytes
    /// delivered so far, mean hops). It may be called at any horizon without an effect on later
    /// results.
    fn settle(&self, io: &mut Io) {
        let _ = io;
    }

    /// The smallest time from arrival to the last byte, by propagation, serialisation and
    /// reconfiguration alone. Invariant 2 compares the fabric with it, so the kernel must not
    /// compute it.
    fn soonest(&self, src: HostId, dst: HostId, bytes: u64) -> Time;

    /// Whether light sent by `tx` at `at` reaches `rx`. Electrical links are always lit. Invariant
    /// 3 checks every transmission by this function.
    fn lit(&self, tx: PortId, rx: PortId, at: Time) -> bool {
        let _ = (tx, rx, at);
        true
    }

    /// The rate of transmitter `tx`: the largest that it can carry when it is lit.
    fn port_rate(&self, tx: PortId) -> Rate;

    /// All circuits that were lit so far, ordered by the times at which they came up. A circuit
    /// still lit ends at `now`.
    fn circuits(&self, now: Time) -> Vec<Circuit> {
        let _ = now;
        Vec::new()
    }

    /// Bytes that the links of the electrical network have carried so far, tier by tier; empty for
    /// fabrics without such a network or without these counters. `carried` is the payload of each
    /// link [B]; empty if the driver does not count it.
    fn link_loads(&self, carried: &[u64]) -> Vec<LinkLoad> {
        let _ = carried;
        Vec::new()
    }

    /// Time for which circuits were lit until `now`, as the mean over the planes of switches;
    /// `None` for fabrics whose circuits follow no schedule.
    fn lit_for(&self, now: Time) -> Option<Time> {
        let _ = now;
        None
    }

    /// The error that prevents the fabric from continuing, if there is one; it ends the run.
    fn trouble(&self) -> Option<&Refusal> {
        None
    }

    /// Begins a log of the inputs and actions of a controller of circuits, in which the fabric is
    /// called `label`; must be called before any byte has moved. No effect for fabrics without a
    /// controller.
    fn record_control(&mut self, label: &str) {
        let _ = label;
    }

    /// The records of a controller of circuits; `None` for fabrics without one.
    fn control_record(&mut self) -> Option<ControlRecord> {
        None
    }
}

/// A network. Called once per horizon, never per cell.
pub trait Fabric: Reports {
    /// Moves every byte that can move before `to`.
    fn advance(&mut self, to: Time, io: &mut Io);

    /// Carries out a fault or a repair, now.
    fn apply(&mut self, command: Command) -> Result<(), Rejected>;

    /// Whether nothing moves without an arrival or a command: no byte is inside, except bytes that
    /// a fault has cut off.
    fn idle(&self) -> bool;

    /// Sets the precision with which the fabric divides links into rates; called before anything
    /// moves. Returns whether the fabric uses rates; fabrics of cells and packets do not.
    fn set_rate_precision(&mut self, precision: Precision) -> bool {
        let _ = precision;
        false
    }
}
