//! The broken parts, the failures that nodes have detected, and the cells that were lost (Sirius
//! §4.5).
//!
//! - A *node* is dead or loses cells with a probability; a *transceiver* is the sending and
//!   receiving half of an uplink; a *grating* affects everything that is connected to it. Several
//!   faults combine. The fate of a cell is decided when it is sent; cells in the fibre when their
//!   receiver dies are lost, too.
//! - *Detection*: a node that receives nothing from a part in its slot for k epochs declares it
//!   dead, and the news spreads in cells, one epoch per hop. A part that dies in epoch e is
//!   received for the last time in e, found silent in e .. e + k − 1, and all nodes act on it from
//!   the start of epoch e + k + 1 on. A part that is received again in epoch e is back in use from
//!   e + 2 on, or from e + 3 if it must be included in the schedule again.
//! - A part with a grey failure (probability below 1) is never declared dead: checksums of its
//!   cells fail, but its light is received.
//! - *Requests and grants* are carried by the cells of an epoch: they are lost with all cells that
//!   the pair could exchange in it. The first hop of a cell and its request go in one direction,
//!   the grant in the other, so a pair that is cut off in one direction relays nothing in either.
//! - *Retransmission*: the source keeps a copy of every cell. A corrupted cell is retransmitted two
//!   epochs later (checksum, negative acknowledgement on the next cell). A cell lost in a dead part
//!   is retransmitted when the part is declared dead, if that is later. Retransmissions go before
//!   cells that were never sent, because the rest of the flow waits for them.
//! - Links of a part that was declared dead stay dark; cells wait for the pair's next meeting over
//!   another part. A pair without such a meeting relays nothing, and no requests are sent over it.
//!
//! *Not modelled*: declaration of parts that corrupt nearly everything, false alarms, the bandwidth
//! of the news and of the agreement on another schedule, and the loss of either in transit.

use crate::sirius::cell::{Cell, FlowIndex};
use crate::sirius::index::Label;
use crate::sirius::schedule::peer_order::Matching;
use crate::sirius::schedule::reschedule::Schedules;
use lightloom_engine::Command;
use std::collections::{BTreeMap, BTreeSet};

/// A part, by label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A node.
    Node(Label),
    /// An uplink of a node.
    Transceiver(Label, u16),
    /// A grating.
    Grating(u32),
}

/// A part that is broken, or declared dead.
#[derive(Clone, Debug)]
pub(super) struct Broken {
    pub(super) part: Part,
    /// Probability of losing a cell; 0 once repaired.
    pub(super) loss: f64,
    /// The first epoch in which all nodes have the news of this failure.
    pub(super) known_from: i64,
    /// Whether all nodes act on it.
    pub(super) known: bool,
    /// The transceivers whose fibres lead into it, as (node, uplink); for gratings only.
    pub(super) inputs: Vec<(Label, u16)>,
}

/// A link of a slot that goes through a broken part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Uplink of the sender.
    pub uplink: u16,
    /// Label of the sender.
    pub from: Label,
    /// Label of the receiver.
    pub to: Label,
    /// Probability that a cell arrives.
    pub passes: f64,
    /// Whether it is left dark.
    pub known: bool,
    /// The first epoch in which a dead link is left dark.
    pub known_from: i64,
}

/// A cell lost by its sender's link.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// The cell.
    pub cell: Cell,
    /// The node to which it was sent.
    pub via: Label,
    /// Time at which its loss is known, if a failed part lost it.
    pub known_from: Option<i64>,
}

/// Cells `seq .. seq + count` of a flow.
#[derive(Clone, Copy, Debug)]
pub struct Stretch {
    /// Index of the flow.
    pub flow_index: FlowIndex,
    /// First cell.
    pub seq: u32,
    /// Cells.
    pub count: u32,
}

/// An action of all nodes at the start of an epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// Acts on a declaration.
    Declare(Part),
    /// Uses a part again.
    Withdraw(Part),
    /// Changes to the round robin of the living.
    Reschedule,
}

/// Delays, in epochs.
#[derive(Clone, Copy, Debug)]
pub struct Delays {
    /// k.
    pub detection: i64,
    /// [`Derived::lag`](crate::sirius::config::Derived): from sending something in a cell to
    /// acting on it.
    pub lag: i64,
    /// Whether nodes agree on another schedule.
    pub reschedule: bool,
}

/// All faults of a fabric.
#[derive(Clone, Debug)]
pub struct Faults {
    pub(super) seed: u64,
    pub(super) delays: Delays,
    /// Whether anything differs from a sound fabric.
    pub on: bool,
    /// Commands to carry out at the start of the next slot.
    pub commands: Vec<Command>,
    pub(super) broken: Vec<Broken>,
    pub(super) events: Vec<(i64, Event)>,
    /// By node: whether it is dead, detected or not.
    pub dead: Vec<bool>,
    /// By node: whether the others have detected its failure and avoid it.
    pub known: Vec<bool>,
    /// Pairs that never meet over a part that is not declared dead.
    pub cut: BTreeSet<(Label, Label)>,
    /// Links of this slot.
    pub(super) links: Vec<Link>,
    /// Matchings of this slot, without the links that stay dark.
    pub matchings: Vec<Matching>,
    /// Lost cells by the epoch in which their source sends them again.
    pub(super) lost: BTreeMap<i64, Vec<Cell>>,
    /// Counts of M to release, as (intermediate, destination), by epoch.
    pub(super) lapsed: BTreeMap<i64, Vec<(Label, Label)>>,
    /// Cells of cut off flows, by source.
    pub parked: BTreeMap<Label, Vec<Stretch>>,
}

impl Faults {
    /// None.
    pub fn new(nodes: usize, seed: u64, delays: Delays) -> Faults {
        Faults {
            seed,
            delays,
            on: false,
            commands: Vec::new(),
            broken: Vec::new(),
            events: Vec::new(),
            dead: vec![false; nodes],
            known: vec![false; nodes],
            cut: BTreeSet::new(),
            links: Vec::new(),
            matchings: Vec::new(),
            lost: BTreeMap::new(),
            lapsed: BTreeMap::new(),
            parked: BTreeMap::new(),
        }
    }

    /// Whether a command, a detection, a retransmission or the lapse of a grant is pending.
    pub fn pending(&self) -> bool {
        !(self.commands.is_empty()
            && self.events.is_empty()
            && self.lost.is_empty()
            && self.lapsed.is_empty())
    }

    /// Updates `on`, and forgets repaired parts that nodes no longer treat as dead.
    pub fn update(&mut self, schedules: &Schedules) {
        self.broken.retain(|b| b.loss > 0.0 || b.known);
        let sound = self.broken.is_empty() && self.parked.is_empty() && schedules.full();
        self.on = !sound || self.pending();
    }

    pub(super) fn of(&mut self, part: Part, schedules: &Schedules) -> &mut Broken {
        let at = self.broken.iter().position(|b| b.part == part);
        let at = at.unwrap_or_else(|| {
            let inputs = match part {
                Part::Grating(g) => schedules.inputs(g),
                _ => Vec::new(),
            };
            self.broken.push(Broken {
                part,
                loss: 0.0,
                known_from: i64::MAX,
                known: false,
                inputs,
            });
            self.broken.len() - 1
        });
        &mut self.broken[at]
    }

    pub(super) fn node(&self, n: Label) -> Option<&Broken> {
        self.broken
            .iter()
            .find(|b| b.part == Part::Node(n) && b.loss > 0.0)
    }

    /// Whether a flow between these nodes has to wait.
    pub fn bars(&self, src: Label, dst: Label) -> bool {
        self.dead[src.index()] || self.known[src.index()] || self.known[dst.index()]
    }

    /// The first epoch in which all nodes have the news that a node is dead; `None` if it is not
    /// dead.
    pub fn known_from(&self, node: Label) -> Option<i64> {
        self.node(node).map(|b| b.known_from)
    }
}
