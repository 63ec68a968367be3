//! A range of nodes with all their state. One thread works on a shard at a
//! time; shards meet only through [`Outbox`]es and [`Tile`]s.

use super::book::{list_grants, Askers, Deal, Grant};
use super::cell::{Cell, Routes};
use super::config::{GrantRule, RepeatRequests};
use super::config::{GrantServes, HopOrder, QueueMetric, SiriusConfig};
use super::faults::{Faults, Lost};
use super::grants::{Grants, Tile, BLOCK, FEW};
use super::local::Local;
use super::mail::{Outbox, Relayed};
use super::pairs::Pairs;
use super::recovery::Avoid;
use super::reorder::Reorder;
use super::requests::Requests;
use super::topology::{ColumnRef, Visits};
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
pub struct Shard<const CAP: usize> {
    /// First label.
    pub lo: usize,
    /// Nodes.
    pub rows: usize,
    pub(super) nodes: usize,
    pub(super) words: usize,
    serves: GrantServes,
    metric: QueueMetric,
    /// Cells that wait at their source.
    pub local: Local,
    /// Relay and granted queues.
    pub pairs: Pairs<CAP>,
    /// Queues with a cell to send, a bit each, `words` a turn: idle ones are
    /// skipped, not looked at.
    pub(super) busy: Vec<u64>,
    /// Cells in the queues of all rows.
    pub(super) held: u64,
    /// Of each row, cells on their second hop.
    pub(super) relaying: Vec<u32>,
    /// Most of them ever, at the worst row.
    peak: u64,
    second_first: bool,
    /// Whether the queues are too many for the second-level cache.
    far: bool,
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
    capped: bool,
    /// Where they do, the cells that arrived in the slot.
    pub arrived: Vec<Cell>,
    /// Scratch space for the nodes that granted a destination.
    by: Vec<u16>,
    /// Scratch space for the grants of a row.
    granted: Vec<Grant>,
    /// Scratch space for the cells of a column.
    leaving: Vec<Leaving>,
}

/// A cell on its way out.
#[derive(Clone, Copy, Debug, Default)]
struct Leaving {
    cell: Cell,
    row: u16,
    /// The node it goes to.
    via: u16,
}

/// What a shard needs to know to send.
pub(super) struct Ways<'a> {
    /// Who is met at which turn.
    pub visits: &'a Visits,
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

impl<const CAP: usize> Shard<CAP> {
    /// Idle nodes `lo .. lo + rows`.
    pub fn new(
        config: &SiriusConfig,
        (lo, rows): (usize, usize),
        routes: &Routes,
        seed: u64,
        capped: bool,
    ) -> Self {
        let nodes = routes.first.len() - 1;
        let suppressed = config.repeat_requests == RepeatRequests::Suppressed;
        let grant_rule: GrantRule = config.grant_rule;
        Shard {
            lo,
            rows,
            nodes,
            words: rows.div_ceil(64),
            serves: config.grant_serves,
            metric: config.queue_metric,
            local: Local::new(rows, nodes),
            pairs: Pairs::new(rows, nodes),
            busy: vec![0; nodes * rows.div_ceil(64)],
            held: 0,
            relaying: vec![0; rows],
            peak: 0,
            far: rows * nodes > 1 << 15,
            second_first: config.hop_order == HopOrder::SecondHopFirst,
            requests: Requests::new(
                rows,
                nodes,
                config.request_draw,
                config.intermediates,
                suppressed,
            ),
            grants: Grants::new(lo, rows, nodes, config.queue, grant_rule, suppressed),
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
            by: Vec::with_capacity(nodes),
            granted: vec![Grant::default(); nodes + 1],
            leaving: vec![Leaving::default(); rows],
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

    /// The same at the worst row, as `queue_metric` counts.
    pub fn queue(&self) -> u64 {
        (0..self.rows)
            .map(|row| self.queue_at(row))
            .max()
            .unwrap_or(0)
    }

    /// The most there ever was [cells].
    pub fn queue_peak(&self) -> u64 {
        self.peak
    }

    fn queue_at(&self, row: usize) -> u64 {
        let local = match self.metric {
            QueueMetric::Relay => 0,
            QueueMetric::RelayAndLocal => self.local.cells(row),
        };
        self.relaying[row] as u64 + local
    }

    /// Whether no cell waits here.
    pub fn idle(&self) -> bool {
        self.local.total == 0 && self.held == 0
    }

    /// Requests of the epoch: fills the rows of those who ask, and says who.
    /// `avoid` names who is not to be asked.
    pub(super) fn request(
        &mut self,
        tiles: &mut [Tile],
        askers: &mut Askers,
        avoid: Option<&Avoid>,
    ) {
        askers.clear();
        for row in 0..self.rows {
            if self.local.cells(row) == 0 {
                continue;
            }
            let (label, rng) = ((self.lo + row) as u16, &mut self.rng[row]);
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
    }

    /// Grants arrive: each moves one cell from LOCAL to the virtual queue for
    /// its intermediate. Those that find no cell go to `unused`, by shard.
    pub fn accept(
        &mut self,
        visits: &Visits,
        tiles: &mut [Tile],
        askers: &mut Askers,
        unused: &mut [Vec<Grant>],
    ) {
        let mut granted = std::mem::take(&mut self.granted);
        let by_destination = self.serves == GrantServes::Fifo && !self.requests.suppressed();
        for (row, destinations) in askers.iter() {
            if by_destination && destinations.len() <= FEW {
                self.accept_by_destination(row as usize, destinations, visits, tiles, unused);
                continue;
            }
            let mut first = 0;
            for (tile, unused) in tiles.iter_mut().zip(unused.iter_mut()) {
                let wants = tile.row(row as usize);
                if self.requests.suppressed() {
                    self.requests.answered(row as usize, wants);
                }
                let n = list_grants(wants, self.nodes as u16, first, &mut granted);
                self.accept_row(row as usize, &granted[..n], visits, unused);
                first += wants.len() as u16;
            }
        }
        askers.clear();
        self.granted = granted;
    }

    /// The grants of a row, destination by destination: all cells come from the
    /// same runs of LOCAL.
    #[inline(always)]
    fn accept_by_destination(
        &mut self,
        row: usize,
        destinations: &[u16],
        visits: &Visits,
        tiles: &mut [Tile],
        unused: &mut [Vec<Grant>],
    ) {
        for &destination in destinations {
            self.by.clear();
            let mut first = 0;
            for tile in tiles.iter_mut() {
                for start in (0..tile.columns()).step_by(BLOCK) {
                    let mut set = tile.columns_for(row, start, destination);
                    while set != 0 {
                        self.by
                            .push((first + start) as u16 + set.trailing_zeros() as u16);
                        set &= set - 1;
                    }
                }
                first += tile.columns();
            }
            let used = self.use_grants(row, destination, visits);
            for &by in &self.by[used..] {
                let grant = Grant { by, destination };
                unused[by as usize / tiles[0].columns()].push(grant);
            }
        }
    }

    /// One cell for `destination` to each node of `self.by`, while there are
    /// any; returns how many.
    #[inline(always)]
    fn use_grants(&mut self, row: usize, destination: u16, visits: &Visits) -> usize {
        let (mut at, words) = (0, self.words);
        let (by, busy, started) = (&self.by[..], &mut self.busy[..], &mut self.started);
        if by.is_empty() {
            return 0;
        }
        let mut queues = self.pairs.open();
        self.local.take_while(row, destination, |cell| {
            let turn = visits.turn(self.lo + row, by[at] as usize);
            queues.push(row, turn, cell);
            busy[turn * words + row / 64] |= 1 << (row % 64);
            if cell.seq() == 0 {
                started.push(cell.rank());
            }
            at += 1;
            at < by.len()
        });
        self.held += at as u64;
        self.local.left(row, at as u64);
        at
    }

    #[inline(always)]
    fn accept_row(
        &mut self,
        row: usize,
        grants: &[Grant],
        visits: &Visits,
        unused: &mut Vec<Grant>,
    ) {
        let mut moved = 0;
        let mut queues = self.pairs.open();
        let rng = &mut self.rng[row];
        for (k, grant) in grants.iter().enumerate() {
            if let Some(later) = grants.get(k + AHEAD).filter(|_| self.far) {
                queues.prefetch(row, visits.turn(self.lo + row, later.by as usize));
            }
            let Some(cell) = self.local.take(row, grant.destination, self.serves, rng) else {
                unused.push(*grant);
                continue;
            };
            if cell.seq() == 0 {
                self.started.push(cell.rank());
            }
            let turn = visits.turn(self.lo + row, grant.by as usize);
            queues.push(row, turn, cell);
            self.busy[turn * self.words + row / 64] |= 1 << (row % 64);
            moved += 1;
        }
        self.held += moved;
        self.local.left(row, moved);
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

    /// Sends one cell on every uplink whose peer of this slot has one waiting.
    /// Only with `FAULTY` any of them may be lost.
    pub(super) fn transmit<'a, const WATCHED: bool, const FAULTY: bool>(
        &mut self,
        slot: i64,
        columns: impl Iterator<Item = ColumnRef<'a>>,
        ways: &Ways,
        out: &mut [Outbox],
    ) {
        let &Ways {
            visits,
            routes,
            deal,
            faults,
        } = ways;
        out.iter_mut().for_each(Outbox::clear);
        if self.held == 0 {
            return;
        }
        let mut leaving = std::mem::take(&mut self.leaving);
        for column in columns {
            if self.far {
                self.prefetch_column(column.turn as usize + 1);
            }
            let taken = self.take_cells(column, visits, &mut leaving);
            if WATCHED {
                self.note_sent(column.uplink, &leaving[..taken], routes);
            }
            let n = if FAULTY {
                self.lose_some(slot, column.uplink, &mut leaving[..taken], faults)
            } else {
                taken
            };
            self.post(&leaving[..n], &routes.dst, deal, out);
            out.iter_mut().for_each(Outbox::end_column);
            self.held -= taken as u64;
            self.hops += taken as u64;
        }
        self.leaving = leaving;
    }

    /// Moves what arrives to the front, and notes the rest; returns how many
    /// arrive.
    #[cold]
    #[inline(never)]
    fn lose_some(
        &mut self,
        slot: i64,
        uplink: u16,
        leaving: &mut [Leaving],
        faults: &Faults,
    ) -> usize {
        let mut n = 0;
        for k in 0..leaving.len() {
            let Leaving { cell, row, via } = leaving[k];
            let from = (self.lo + row as usize) as u16;
            if let Some(known_from) = faults.fate(slot, uplink, from, via) {
                let second = cell.is_second();
                self.grants.release(row as usize, via as usize, second);
                self.relaying[row as usize] -= second as u32;
                self.lost.push(Lost {
                    cell,
                    via,
                    known_from,
                });
            } else {
                leaving[n] = leaving[k];
                n += 1;
            }
        }
        n
    }

    /// Hints at the queues of the next column.
    #[inline(always)]
    fn prefetch_column(&self, turn: usize) {
        let turn = if turn == self.nodes { 0 } else { turn };
        for (w, &word) in self.busy[turn * self.words..][..self.words]
            .iter()
            .enumerate()
        {
            let mut set = word;
            while set != 0 {
                self.pairs
                    .prefetch(w * 64 + set.trailing_zeros() as usize, turn);
                set &= set - 1;
            }
        }
    }

    /// Takes the first cell of every queue of a column; returns how many.
    #[inline(always)]
    fn take_cells(&mut self, column: ColumnRef, visits: &Visits, leaving: &mut [Leaving]) -> usize {
        let turn = column.turn as usize;
        let busy = &mut self.busy[turn * self.words..][..self.words];
        let mut queues = self.pairs.turn(turn);
        let mut n = 0;
        for (w, word) in busy.iter_mut().enumerate() {
            let mut set = *word & column.labels.map_or(u64::MAX, |l| l[self.lo / 64 + w]);
            let mut done = 0;
            while set != 0 {
                let bit = set.trailing_zeros();
                set &= set - 1;
                let row = w * 64 + bit as usize;
                let (cell, last) = queues.pop(row);
                done |= (last as u64) << bit;
                let via = visits.peer(self.lo + row, turn) as u16;
                leaving[n] = Leaving {
                    cell,
                    row: row as u16,
                    via,
                };
                n += 1;
            }
            *word &= !done;
        }
        n
    }

    /// Sorts what leaves into the boxes of its receivers.
    #[inline(always)]
    fn post(&mut self, leaving: &[Leaving], destinations: &[u16], deal: &Deal, out: &mut [Outbox]) {
        if let [only] = out {
            return self.post_to(leaving, destinations, only);
        }
        let mut rest = leaving;
        while let Some(first) = rest.first() {
            let to = deal.shard[first.via as usize];
            let alike = rest
                .iter()
                .take_while(|l| deal.shard[l.via as usize] == to)
                .count();
            self.post_to(&rest[..alike], destinations, &mut out[to as usize]);
            rest = &rest[alike..];
        }
    }

    #[inline(always)]
    fn post_to(&mut self, leaving: &[Leaving], destinations: &[u16], out: &mut Outbox) {
        if self.far {
            for l in leaving {
                self.grants.prefetch(l.row as usize, l.via as usize);
                super::prefetch::prefetch(destinations, l.cell.rank() as usize);
            }
        }
        for l in leaving {
            let second = l.cell.is_second();
            self.grants.release(l.row as usize, l.via as usize, second);
            self.relaying[l.row as usize] -= second as u32;
        }
        let mut post = out.open();
        for &Leaving { cell, via, .. } in leaving {
            let destination = destinations[cell.rank() as usize];
            post.push(Relayed {
                via,
                destination,
                cell,
            });
        }
        post.close();
    }

    /// For the audit: what is sent, and on which uplink.
    #[cold]
    fn note_sent(&mut self, uplink: u16, leaving: &[Leaving], routes: &Routes) {
        self.sent.extend(leaving.iter().map(|l| Sent {
            from: (self.lo + l.row as usize) as u32,
            to: l.via as u32,
            uplink: uplink as u32,
            bytes: routes.bytes(l.cell),
        }));
    }

    /// Takes in what arrived, column by column, from all shards (`boxes`), so
    /// that the order does not depend on how nodes are dealt to shards.
    pub fn receive<'a>(
        &mut self,
        visits: &Visits,
        destinations: &[u16],
        boxes: impl Iterator<Item = &'a Outbox> + Clone,
    ) {
        let columns = boxes.clone().map(|b| b.columns()).max().unwrap_or(0);
        for k in 0..columns {
            for from in boxes.clone().filter(|b| k < b.columns()) {
                let (relay, deliver) = from.column(k);
                self.relay(visits, relay);
                self.deliver(deliver, destinations);
            }
        }
    }

    #[inline(always)]
    fn relay(&mut self, visits: &Visits, arrived: &[Relayed]) {
        for r in arrived.iter().filter(|_| self.far) {
            let turn = visits.turn(r.via as usize, r.destination as usize);
            self.pairs.prefetch(r.via as usize - self.lo, turn);
        }
        if self.second_first {
            for r in arrived {
                let turn = visits.turn(r.via as usize, r.destination as usize);
                let cell = r.cell.on_hop(true);
                self.pairs
                    .push_second_first(r.via as usize - self.lo, turn, cell);
            }
        }
        let mut queues = self.pairs.open();
        for r in arrived {
            let turn = visits.turn(r.via as usize, r.destination as usize);
            let row = r.via as usize - self.lo;
            if !self.second_first {
                queues.push(row, turn, r.cell.on_hop(true));
            }
            self.busy[turn * self.words + row / 64] |= 1 << (row % 64);
            self.relaying[row] += 1;
        }
        self.held += arrived.len() as u64;
    }

    #[inline(always)]
    fn deliver(&mut self, arrived: &[Cell], destinations: &[u16]) {
        if self.far {
            self.reorder.prefetch(arrived);
        }
        for cell in arrived.iter().filter(|cell| !cell.is_second()) {
            let itself = destinations[cell.rank() as usize] as usize;
            self.grants.release(itself - self.lo, itself, true);
        }
        if self.capped {
            return self.keep(arrived);
        }
        self.reorder.receive(arrived);
    }

    #[cold]
    #[inline(never)]
    fn keep(&mut self, arrived: &[Cell]) {
        self.arrived.extend_from_slice(arrived);
    }

    /// Notes the queue peak; once a slot, when everything has arrived.
    pub fn note_peak(&mut self) {
        for row in 0..self.rows {
            self.peak = self.peak.max(self.queue_at(row));
        }
    }

    /// Bytes of every cell here, counted queue by queue (for the audit).
    pub fn bytes(&self, routes: &Routes) -> u64 {
        let local = (0..self.rows).flat_map(|row| self.local.each_cell(row));
        let queued = (0..self.rows)
            .flat_map(|row| (0..self.nodes).flat_map(move |turn| self.pairs.each_cell(row, turn)));
        local.chain(queued).map(|cell| routes.bytes(cell)).sum()
    }

    /// The longest relay queue (for the audit: never beyond Q).
    pub fn longest_relay_queue(&self) -> usize {
        let relay = |row, turn| {
            self.pairs
                .each_cell(row, turn)
                .filter(|c| c.is_second())
                .count()
        };
        (0..self.rows)
            .flat_map(|row| (0..self.nodes).map(move |turn| relay(row, turn)))
            .max()
            .unwrap_or(0)
    }
}
