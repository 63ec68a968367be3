//! A range of nodes with all their state, and what they do at the start of an
//! epoch. One thread works on a shard at a time; shards meet only through
//! [`Flight`](crate::sirius::relay::in_flight::Flight)s and [`RequestMatrix`]s.

use super::cell::{Cell, Routes};
use super::config::SiriusConfig;
use super::failure::avoid::Avoid;
use super::failure::faults::{Faults, Lost};
use super::partition::Partition;
use super::protocol::epoch::Askers;
use super::protocol::grant::Grants;
use super::protocol::matrix::{Grant, RequestMatrix};
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
use super::servers::links::Coming;
use lightloom_engine::Stream;

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
    /// Shards in all.
    pub(super) shards: usize,
    /// Cells that wait at their source.
    pub local: Local,
    /// Granted cells, and those to be relayed.
    pub(super) queues: Queues,
    /// Cells in the queues of all rows.
    pub(super) held: u64,
    /// Of each row, cells on their second hop.
    pub(super) relaying: Vec<u32>,
    /// Most cells ever relayed by the worst row at a time.
    pub(super) peak: u64,
    /// Whether there are too many pairs for the second-level cache.
    pub(super) far: bool,
    /// The request walk.
    pub requests: Requests,
    /// M and the grants.
    pub grants: Grants,
    pub(super) rng: Vec<Stream>,
    pub(super) wants: Vec<u16>,
    /// The receiving end.
    pub reorder: Reorder,
    /// Cells sent.
    pub hops: u64,
    /// Ranks of flows whose first cell was granted.
    pub started: Vec<u32>,
    /// Every transmission of the slot, when watched.
    pub sent: Vec<Sent>,
    /// Cells lost in the slot.
    pub lost: Vec<Lost>,
    /// Whether servers take what arrives at their own rate.
    pub(super) capped: bool,
    /// Where they do, the cells that arrived in the slot.
    pub arrived: Vec<Cell>,
    /// And those that left the links to their servers.
    pub delivered: Vec<Coming>,
    /// Scratch space for the grants of a row, and for those who granted for one
    /// destination.
    pub(super) found: Vec<Grant>,
    pub(super) granters: Vec<u16>,
    /// Likewise for the cells granted to a row.
    pub(super) moving: Vec<Queued>,
    /// Likewise for the cells that leave, where it is not known in advance who does.
    pub(super) leaving: Leaving,
}

/// What all shards need to know.
pub(crate) struct Shared<'a> {
    /// Who is met at which turn.
    pub peer_order: &'a PeerOrder,
    /// And in which slot.
    pub timetable: Option<&'a Timetable>,
    /// Where flows go.
    pub routes: &'a Routes,
    /// Who has which node.
    pub partition: &'a Partition,
    /// What is broken.
    pub faults: &'a Faults,
}

/// Cells are looked up this far ahead of their turn: long enough for memory to
/// answer, few enough for the first-level cache.
const AHEAD: usize = 16;

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
        let stream = |node| Stream::new(seed, "sirius.requests", node as u64);
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
            requests: Requests::new((rows, partition.block), nodes, config.intermediates),
            grants: Grants::new(lo, rows, nodes, config.queue, config.grant_rule),
            rng: (lo..lo + rows).map(stream).collect(),
            wants: vec![0; nodes],
            reorder: Reorder::new(routes, routes.first[lo], routes.first[lo + rows]),
            hops: 0,
            started: Vec::new(),
            sent: Vec::new(),
            lost: Vec::new(),
            capped,
            arrived: Vec::new(),
            delivered: Vec::new(),
            found: vec![Grant::default(); nodes + 1],
            granters: vec![0; nodes],
            moving: Vec::new(),
            leaving: Leaving::default(),
        }
    }

    /// Cells that wait at their source: in LOCAL, and granted.
    pub fn waiting(&self) -> u64 {
        self.local.total + self.held - self.relaying()
    }

    /// Cells of others that wait here, of all rows.
    pub fn relaying(&self) -> u64 {
        self.relaying.iter().map(|&c| c as u64).sum()
    }

    /// The same at the worst row.
    pub fn queue(&self) -> u64 {
        self.relaying.iter().max().map_or(0, |&most| most as u64)
    }

    /// The most there ever was [cells].
    pub fn queue_peak(&self) -> u64 {
        self.peak
    }

    /// Whether no cell waits here.
    pub fn idle(&self) -> bool {
        self.local.total == 0 && self.held == 0
    }

    /// `slot` is now; see [`BySlot::begin`].
    pub(super) fn begin(&mut self, slot: i64, least: i64) {
        if let Queues::BySlot(by_slot) = &mut self.queues {
            by_slot.begin(slot, least);
        }
    }

    /// Requests of the epoch: fills the rows of those who ask, and says who.
    /// `avoid` names who is not to be asked.
    pub(super) fn request(
        &mut self,
        matrices: &mut [RequestMatrix],
        askers: &mut Askers,
        avoid: &Avoid,
    ) {
        askers.clear();
        (0..self.rows).for_each(|row| self.request_row(row, matrices, askers, Some(avoid)));
    }

    /// The same for one row.
    #[inline(always)]
    pub(super) fn request_row(
        &mut self,
        row: usize,
        matrices: &mut [RequestMatrix],
        askers: &mut Askers,
        avoid: Option<&Avoid>,
    ) {
        if self.local.cells(row) == 0 {
            return;
        }
        let (label, rng) = ((self.lo + row) as u16, &mut self.rng[row]);
        if let ([matrix], None) = (&mut *matrices, avoid) {
            // Nothing to divide: the requests are written where they are read.
            let wants = matrix.row(row);
            let asked = self
                .requests
                .compute_requests(row, label, &self.local, rng, wants);
            if asked > 0 {
                askers.push(row, &self.requests.destinations);
            }
            return;
        }
        let mut asked =
            self.requests
                .compute_requests(row, label, &self.local, rng, &mut self.wants);
        if let Some(avoid) = avoid {
            asked = self.ask_others(row, asked, avoid);
        }
        if asked > 0 {
            askers.push(row, &self.requests.destinations);
            let mut from = 0;
            for matrix in matrices.iter_mut() {
                let part = matrix.row(row);
                part.copy_from_slice(&self.wants[from..from + part.len()]);
                from += part.len();
            }
        }
    }

    /// Puts the requests of a row to those who can be asked; returns how many
    /// are left.
    #[cold]
    pub(crate) fn ask_others(&mut self, row: usize, mut asked: u32, avoid: &Avoid) -> u32 {
        let (source, none) = ((self.lo + row) as u16, self.nodes as u16);
        let mut again = Vec::new();
        let dark = avoid.dark.range((source, 0)..=(source, u16::MAX));
        let all = avoid.nodes.iter().map(|&n| (n, none));
        let all = all.chain(dark.map(|d| (d.1, none)));
        for (by, destination) in all.chain(avoid.cut.iter().copied().filter(|c| c.0 != c.1)) {
            let want = &mut self.wants[by as usize];
            if *want != none && (destination == none || *want == destination) {
                again.push(std::mem::replace(want, none));
            }
        }
        for destination in again {
            let start = self.rng[row].below(none as u32) as u16;
            let other = (start..none).chain(0..start).find(|&by| {
                self.wants[by as usize] == none && avoid.allows(source, by, destination)
            });
            match other {
                Some(by) => self.wants[by as usize] = destination,
                None => asked -= 1,
            }
        }
        asked
    }

    /// Unused grants of this shard's nodes lapse.
    pub fn lapse(&mut self, unused: &[Grant]) {
        for (k, grant) in unused.iter().enumerate() {
            if let Some(later) = unused.get(k + AHEAD) {
                self.grants
                    .prefetch(later.by as usize - self.lo, later.destination as usize);
            }
            let (row, destination) = (grant.by as usize - self.lo, grant.destination as usize);
            self.grants.release(row, destination, true);
        }
    }

    /// Bytes of every cell here (for the audit).
    pub fn bytes(&self, routes: &Routes) -> u64 {
        let local = (0..self.rows).flat_map(|row| self.local.each_cell(row));
        let queued = self.queues.each().map(|queued| queued.cell());
        local.chain(queued).map(|cell| routes.bytes(cell)).sum()
    }

    /// The longest relay queue (for the audit: never beyond Q).
    pub fn longest_relay_queue(&self) -> usize {
        let mut relays = vec![0; self.rows * self.nodes];
        for q in self.queues.each().filter(|q| q.cell().is_second()) {
            relays[q.destination() * self.rows + q.intermediate() - self.lo] += 1;
        }
        relays.into_iter().max().unwrap_or(0)
    }
}
