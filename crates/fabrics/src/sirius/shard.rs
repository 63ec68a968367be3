//! A range of nodes with all their state, and what they do at the start of an
//! epoch. One thread works on a shard at a time; shards meet only through
//! [`Flight`](super::mail::Flight)s and [`Tile`]s.

use super::book::{Askers, Deal, Grant};
use super::cell::{Cell, Routes};
use super::config::SiriusConfig;
use super::departures::Departures;
use super::faults::{Faults, Lost};
use super::grants::{Grants, Tile};
use super::lines::Lines;
use super::local::Local;
use super::meetings::Timetable;
use super::queued::Queued;
use super::recovery::Avoid;
use super::reorder::Reorder;
use super::requests::Requests;
use super::sending::Leaving;
use super::topology::Visits;
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
    /// Relay and granted queues, where it is known in advance who leaves when.
    pub(super) departures: Option<Departures>,
    /// Elsewhere the same.
    pub(super) lines: Lines,
    /// There, the next place in line.
    pub(super) next_place: u64,
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
    /// Scratch space for the grants of a row, and for those who granted for one
    /// destination.
    pub(super) found: Vec<Grant>,
    pub(super) granters: Vec<u16>,
    /// Likewise for the cells granted to a row.
    pub(super) moving: Vec<Queued>,
    /// Likewise for the cells that leave, where it is not known in advance who does: all,
    /// their order, and box by box; and lists for the last.
    pub(super) leaving: Vec<Leaving>,
    pub(super) order: Vec<u128>,
    pub(super) boxes: Vec<Vec<Queued>>,
    pub(super) spare: Vec<Vec<Queued>>,
}

/// What all shards need to know.
pub(super) struct Ways<'a> {
    /// Who is met at which turn.
    pub visits: &'a Visits,
    /// And in which slot.
    pub timetable: Option<&'a Timetable>,
    /// Where flows go.
    pub routes: &'a Routes,
    /// Who has which node.
    pub deal: &'a Deal,
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
        (deal, timetable, uplinks): (&Deal, Option<&Timetable>, u32),
        capped: bool,
    ) -> Self {
        let nodes = routes.first.len() - 1;
        let shards = deal.shards().count();
        let lines = match timetable {
            None => Lines::new(rows, nodes),
            Some(_) => Lines::default(),
        };
        Shard {
            lo,
            rows,
            nodes,
            shards,
            local: Local::new(rows, nodes),
            departures: timetable.map(|t| Departures::new(t, (lo, rows), deal, uplinks)),
            lines,
            next_place: 0,
            held: 0,
            relaying: vec![0; rows],
            peak: 0,
            far: rows * nodes > 1 << 15,
            requests: Requests::new((rows, deal.block), nodes, config.intermediates),
            grants: Grants::new(lo, rows, nodes, config.queue, config.grant_rule),
            rng: (lo..lo + rows)
                .map(|n| Stream::new(seed, "sirius.requests", n as u64))
                .collect(),
            wants: vec![0; nodes],
            reorder: Reorder::new(routes, routes.first[lo], routes.first[lo + rows]),
            hops: 0,
            started: Vec::new(),
            sent: Vec::new(),
            lost: Vec::new(),
            capped,
            arrived: Vec::new(),
            found: vec![Grant::default(); nodes + 1],
            granters: vec![0; nodes],
            moving: Vec::new(),
            leaving: Vec::new(),
            order: Vec::new(),
            boxes: Vec::new(),
            spare: Vec::new(),
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

    /// `slot` is now; see [`Departures::begin`].
    pub(super) fn begin(&mut self, slot: i64, least: i64) {
        if let Some(departures) = &mut self.departures {
            departures.begin(slot, least);
        }
    }

    /// Requests of the epoch: fills the rows of those who ask, and says who.
    /// `avoid` names who is not to be asked.
    pub(super) fn request(&mut self, tiles: &mut [Tile], askers: &mut Askers, avoid: &Avoid) {
        askers.clear();
        (0..self.rows).for_each(|row| self.request_row(row, tiles, askers, Some(avoid)));
    }

    /// The same for one row.
    #[inline(always)]
    pub(super) fn request_row(
        &mut self,
        row: usize,
        tiles: &mut [Tile],
        askers: &mut Askers,
        avoid: Option<&Avoid>,
    ) {
        if self.local.cells(row) == 0 {
            return;
        }
        let (label, rng) = ((self.lo + row) as u16, &mut self.rng[row]);
        if let ([tile], None) = (&mut *tiles, avoid) {
            // Nothing to divide: the requests are written where they are read.
            let wants = tile.row(row);
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
            for tile in tiles.iter_mut() {
                let part = tile.row(row);
                part.copy_from_slice(&self.wants[from..from + part.len()]);
                from += part.len();
            }
        }
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
        let queued = self.lines.each();
        let departing = self.departures.iter().flat_map(Departures::each);
        let queued = queued.map(|(_, queued)| queued).chain(departing.copied());
        let queued = queued.map(|queued| queued.cell());
        local.chain(queued).map(|cell| routes.bytes(cell)).sum()
    }

    /// The longest relay queue (for the audit: never beyond Q).
    pub fn longest_relay_queue(&self) -> usize {
        let mut relays = vec![0; self.rows * self.nodes];
        let departing = self.departures.iter().flat_map(Departures::each);
        let departing = departing.map(|q| (q.row().wrapping_sub(self.lo), *q));
        let queued = self.lines.each().map(|(_, q)| (q.row(), q));
        for (row, q) in queued.chain(departing).filter(|q| q.1.cell().is_second()) {
            relays[q.destination() * self.rows + row] += 1;
        }
        relays.into_iter().max().unwrap_or(0)
    }
}
