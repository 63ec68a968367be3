//! The trait between the engine and any fabric, and what a fabric says of itself.

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
    /// Between pods, or racks where there are no pods.
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
    /// The controller that decides on circuits: without it they stay as they are.
    Controller,
    /// One optical port of a rack, towards one plane of optical switches.
    Port {
        /// The rack.
        node: u32,
        /// The plane.
        plane: u32,
    },
    /// A plane's switch of circuits, with the ports of all racks to it.
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
    /// The other.
    pub b: u32,
    /// Whether it led from `a` to `b` only.
    pub directed: bool,
    /// The plane of optical switches; 0 where there is one.
    pub plane: u16,
    /// First instant at which it carried anything that was sent.
    pub from: Time,
    /// Went dark; the end of the run if it never did.
    pub until: Time,
}

/// A command of the engine to a fabric at a given instant: it sets the condition of a part,
/// whatever that was. Overlapping failures of one part are combined before ([`crate::outages`]);
/// the fabric combines those of parts that contain each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Command {
    /// The element fails: it loses each cell or packet with this probability
    /// (1: it is dead; less: a grey failure).
    Fail {
        /// The part that fails.
        element: Element,
        /// Probability of loss.
        loss: f64,
    },
    /// The element works again.
    Repair(Element),
}

/// Why a fabric cannot carry out a command: the limit, without the part that it is of,
/// and a remedy behind "; " if there is another than to correct the command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected(pub String);

impl Rejected {
    /// By a fabric of that name, no part of which fails.
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
/// neither delivered nor dropped, is in one of three places: it waits at its source, it waits
/// inside the network, or it is on a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Bytes inside the fabric, counted in its own queues (not by the ledger).
    /// Only an audited run counts them: it may walk every queue.
    pub in_flight_bytes: u64,
    /// Bytes that wait inside the network (not at their sources).
    pub queued_bytes: u64,
    /// The same at the worst node.
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

/// The place of a queue's peak. Values of different places are not comparable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueuePlace {
    /// The packets that wait for one link of an electrical switch, one beside circuits included.
    #[default]
    Port,
    /// All buffers of a router.
    Router,
    /// One loop-back memory beside an optical switch.
    LoopBack,
    /// Bytes that have left the rack of their source and wait in a rack, or are on the way to one.
    Relay,
    /// The same, and low-latency traffic of the rack's own.
    RackLowLatency,
}

impl QueuePlace {
    /// Its name in results.
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

/// Figures of a whole run; `None` where a fabric has no such thing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Peak of the queue at the worst node [B].
    pub queue_peak_bytes: Option<u64>,
    /// The place whose peak `queue_peak` is.
    pub queue_place: QueuePlace,
    /// Peak of the reorder buffer of the worst flow [B].
    pub reorder_peak_bytes: Option<u64>,
    /// Cells moved over a hop.
    pub cell_hops: Option<u64>,
    /// Packets moved over a hop.
    pub packet_hops: Option<u64>,
    /// Bytes delivered that crossed at least one circuit; `None` where there
    /// are no circuits that come and go, such as those of hybrid fabrics.
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
    /// Rate of each link while it works [b/s]: its payload rate where `bytes` are payload.
    pub rate: Rate,
    /// Bytes carried since the start [B]: bytes on the wire, or payload in a fabric whose flows
    /// have payload rates.
    pub bytes: u64,
}

/// The records of a controller of circuits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ControlRecord {
    /// The log of its inputs and actions, if it was requested, a line of JSON each.
    pub log: Option<String>,
    /// The computation time of each decision, if it was measured or recorded.
    pub computed: Option<Vec<Time>>,
}

/// Reports of a network besides moving bytes; none is on the hot path. A kernel implements them,
/// and its driver passes them on.
pub trait Reports: Send {
    /// Hosts, racks and rates.
    fn shape(&self) -> Shape;

    /// Queue depths and counters.
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

    /// The least time from arrival to the last byte, by propagation,
    /// serialisation and reconfiguration alone. What invariant 2 holds a
    /// fabric to, so it must not be computed by the kernel.
    fn soonest(&self, src: HostId, dst: HostId, bytes: u64) -> Time;

    /// Whether light sent by `tx` at `at` reaches `rx`. Electrical links
    /// are always lit. Invariant 3 checks every transmission against it.
    fn lit(&self, tx: PortId, rx: PortId, at: Time) -> bool {
        let _ = (tx, rx, at);
        true
    }

    /// The rate of transmitter `tx`: the most that it can carry when it is lit.
    fn port_rate(&self, tx: PortId) -> Rate;

    /// Every circuit that was lit so far, in the order in which they came up; circuits that are
    /// still lit end at `now`.
    fn circuits(&self, now: Time) -> Vec<Circuit> {
        let _ = now;
        Vec::new()
    }

    /// Bytes that the links of the electrical network have carried so far, tier by tier; empty
    /// for fabrics without such a network or without these counters. `carried` is the payload
    /// of each link [B] where the driver counts it, else empty.
    fn link_loads(&self, carried: &[u64]) -> Vec<LinkLoad> {
        let _ = carried;
        Vec::new()
    }

    /// How long circuits were lit until `now`, on average over the planes of switches;
    /// `None` for fabrics whose circuits do not take turns.
    fn lit_for(&self, now: Time) -> Option<Time> {
        let _ = now;
        None
    }

    /// The error that keeps the fabric from continuing, if there is one: the run ends with it.
    fn trouble(&self) -> Option<&Refusal> {
        None
    }

    /// Begins a log of the inputs and actions of a controller of circuits, in which the fabric is
    /// called `label`; before any byte has moved. No effect for fabrics without a controller.
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

    /// Whether nothing would move without an arrival or a command: no byte is
    /// inside, but for those that a fault has cut off.
    fn idle(&self) -> bool;

    /// From now on shares links out no more exactly than that; called before anything
    /// moves. Returns whether the fabric shares out rates at all: cells and packets
    /// do not.
    fn set_rate_precision(&mut self, precision: Precision) -> bool {
        let _ = precision;
        false
    }
}
