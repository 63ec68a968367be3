//! A range of nodes with all their state. The steps of a slot are in `protocol` and `relay`, one
//! file each. One thread works on a shard at a time; shards exchange data only through
//! [`Flight`](crate::sirius::relay::in_flight::Flight)s and
//! [`RequestMatrix`](crate::sirius::protocol::matrix::RequestMatrix)s.

use super::cell::{Cell, FlowIndex, Routes};
use super::config::SiriusConfig;
use super::failure::avoid::Avoid;
use super::failure::faults::{Faults, Lost};
use super::index::{Label, Row};
use super::partition::Partition;
use super::protocol::grant::Grants;
use super::protocol::matrix::Grant;
use super::protocol::request::Requests;
use super::relay::by_pair::ByPair;
use super::relay::by_slot::BySlot;
use super::relay::leaving::Leaving;
use super::relay::local::Local;
use super::relay::queued::Queued;
use super::relay::reorder::Reorder;
use super::relay::Queues;
use super::schedule::next_meeting::Timetable;
use super::schedule::peer_order::PeerOrder;
use super::servers::receiving::Coming;

/// One transmission, for the audit.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Label of the sender.
    pub from: u32,
    /// Label of the receiver.
    pub to: u32,
    /// Its uplink.
    pub uplink: u32,
    /// Payload [B].
    pub bytes: u64,
}

/// The nodes with labels `lo .. lo + rows`.
#[derive(Clone, Debug)]
pub struct Shard {
    /// First label.
    pub lo: usize,
    /// Nodes.
    pub rows: usize,
    pub(super) nodes: usize,
    /// Number of shards.
    pub(super) shards: usize,
    /// Cells that wait at their source.
    pub local: Local,
    /// Granted cells, and cells to be relayed.
    pub(super) queues: Queues,
    /// Number of cells in the queues of all rows.
    pub(super) held: u64,
    /// Number of cells at each row that wait for their second hop.
    pub(super) relaying: Vec<u32>,
    /// Peak of the number of cells that any row relays.
    pub(super) peak: u64,
    /// Whether there are too many pairs for the second-level cache.
    pub(super) far: bool,
    /// The state that nodes need to send requests.
    pub(super) requests: Requests,
    /// M and the grants.
    pub grants: Grants,
    /// The receiving end.
    pub reorder: Reorder,
    /// Cells sent.
    pub hops: u64,
    /// Indices of the flows whose first cell was granted.
    pub started: Vec<FlowIndex>,
    /// Every transmission of the slot, when watched.
    pub sent: Vec<Sent>,
    /// Cells lost in the slot.
    pub lost: Vec<Lost>,
    /// Whether servers receive at their own rate.
    pub(super) capped: bool,
    /// The cells that arrived in the slot, if servers receive at their own rate.
    pub arrived: Vec<Cell>,
    /// The cells that left the links to their servers in the slot.
    pub delivered: Vec<Coming>,
    /// Scratch space for the grants of a row, and for the intermediates that granted for one
    /// destination.
    pub(super) found: Vec<Grant>,
    pub(super) granters: Vec<Label>,
    /// Scratch space for the cells granted to a row.
    pub(super) moving: Vec<Queued>,
    /// Scratch space for the cells that leave, if departures are not known in advance.
    pub(super) leaving: Leaving,
}

/// State that all shards share.
pub(crate) struct Shared<'a> {
    /// The peer that each node meets at each turn.
    pub peer_order: &'a PeerOrder,
    /// The peer that each node meets in each slot.
    pub timetable: Option<&'a Timetable>,
    /// The destinations of flows.
    pub routes: &'a Routes,
    /// The shard and row of each node.
    pub partition: &'a Partition,
    /// The broken parts.
    pub faults: &'a Faults,
}

impl Shard {
    /// Idle nodes `lo .. lo + rows`.
    pub fn new(
        config: &SiriusConfig,
        (lo, rows): (usize, usize),
        routes: &Routes,
        seed: u64,
        (partition, timetable, uplinks): (&Partition, Option<&Timetable>, u32),
        capped: bool,
    ) -> Self {
        let nodes = routes.first.len() - 1;
        let shards = partition.shards().count();
        let queues = match timetable {
            None => Queues::ByPair(ByPair::new(rows, nodes)),
            Some(t) => Queues::BySlot(BySlot::new(t, (lo, rows), partition, uplinks)),
        };
        Shard {
            lo,
            rows,
            nodes,
            shards,
            local: Local::new(rows, nodes),
            queues,
            held: 0,
            relaying: vec![0; rows],
            peak: 0,
            far: rows * nodes > 1 << 15,
            requests: Requests::new(
                (lo, rows),
                partition.block,
                nodes,
                config.intermediates,
                seed,
            ),
            grants: Grants::new(lo, rows, nodes, config.queue, config.grant_rule),
            reorder: Reorder::new(routes, routes.first[lo], routes.first[lo + rows]),
            hops: 0,
            started: Vec::new(),
            sent: Vec::new(),
            lost: Vec::new(),
            capped,
            arrived: Vec::new(),
            delivered: Vec::new(),
            found: vec![Grant::default(); nodes + 1],
            granters: vec![Label(0); nodes],
            moving: Vec::new(),
            leaving: Leaving::default(),
        }
    }

    /// The largest number of relayed cells that wait at any row.
    pub fn queue(&self) -> u64 {
        self.relaying.iter().max().map_or(0, |&most| most as u64)
    }

    /// The peak of [`Shard::queue`] [cells].
    pub fn queue_peak(&self) -> u64 {
        self.peak
    }

    /// Whether no cell waits here.
    pub fn idle(&self) -> bool {
        self.local.total == 0 && self.held == 0
    }

    /// Whether no cell that waits at its source has a node to request.
    #[cold]
    pub fn is_stranded(&self, avoid: &Avoid) -> bool {
        let rows = (0..self.rows).map(Row);
        let mut waiting = rows.flat_map(|row| {
            let source = row.label(self.lo);
            self.local.flows(row).map(move |(to, _)| (source, to))
        });
        waiting.all(|(source, to)| !Label::all(self.nodes).any(|by| avoid.allows(source, by, to)))
    }

    /// Begins `slot`; see [`BySlot::begin`].
    pub(super) fn begin(&mut self, slot: i64, least: i64) {
        if let Queues::BySlot(by_slot) = &mut self.queues {
            by_slot.begin(slot, least);
        }
    }

    /// Bytes of all cells of the shard, counted cell by cell: the bytes at their source, and for
    /// each row the bytes that wait for their second hop.
    pub fn bytes(&self, routes: &Routes) -> (u64, Vec<u64>) {
        let (mut waiting, mut relayed) = (self.local.bytes(routes), vec![0; self.rows]);
        // Most lists of the queues are empty, so the walk stops after the last cell. `for_each` is
        // several times faster than `next` on nested iterators.
        let held = self.queues.each().take(self.held as usize);
        held.for_each(|queued| {
            let bytes = routes.bytes(queued.cell());
            match queued.cell().is_second() {
                true => relayed[Row::of(queued.intermediate(), self.lo).0] += bytes,
                false => waiting += bytes,
            }
        });
        (waiting, relayed)
    }

    /// The longest relay queue (for the audit: never beyond Q).
    pub fn longest_relay_queue(&self) -> usize {
        let mut relays = vec![0; self.rows * self.nodes];
        for q in self.queues.each().filter(|q| q.cell().is_second()) {
            let row = Row::of(q.intermediate(), self.lo);
            relays[q.destination().index() * self.rows + row.0] += 1;
        }
        relays.into_iter().max().unwrap_or(0)
    }
}
