//! A range of nodes with all their state. One thread works on a shard at a
//! time; shards meet only through [`Outbox`]es and [`Tile`]s.

use super::cell::{Cell, Routes};
use super::config::{GrantRule, RepeatRequests};
use super::config::{GrantServes, QueueMetric, SiriusConfig};
use super::grants::{Grants, Tile, DENIED};
use super::local::Local;
use super::pairs::Pairs;
use super::reorder::Reorder;
use super::requests::Requests;
use super::topology::{Turn, Window};
use lightloom_engine::Stream;

/// A cell on its way to an intermediate.
#[derive(Clone, Copy, Debug, Default)]
pub struct Relayed {
    /// Label of the intermediate.
    pub via: u16,
    /// Label of the destination.
    pub destination: u16,
    /// The cell.
    pub cell: Cell,
}

/// What the nodes of one shard send to those of another in one slot.
///
/// Whether a cell is at its destination cannot be predicted, so each is written
/// to the end of both lists and counted in one: no branch.
#[derive(Clone, Debug, Default)]
pub struct Outbox {
    relay: Vec<Relayed>,
    deliver: Vec<Cell>,
    relays: usize,
    delivers: usize,
}

impl Outbox {
    /// An empty box for at most `room` cells.
    pub fn new(room: usize) -> Outbox {
        Outbox {
            relay: vec![Relayed::default(); room + 1],
            deliver: vec![Cell::default(); room + 1],
            relays: 0,
            delivers: 0,
        }
    }

    /// First hops.
    pub fn relay(&self) -> &[Relayed] {
        &self.relay[..self.relays]
    }

    /// Cells at their destination.
    pub fn deliver(&self) -> &[Cell] {
        &self.deliver[..self.delivers]
    }

    fn clear(&mut self) {
        self.relays = 0;
        self.delivers = 0;
    }

    #[inline(always)]
    fn push(&mut self, arrived: bool, relayed: Relayed, second: bool) {
        self.deliver[self.delivers] = if second {
            relayed.cell.relayed()
        } else {
            relayed.cell
        };
        self.relay[self.relays] = relayed;
        self.delivers += arrived as usize;
        self.relays += !arrived as usize;
    }
}

/// One transmission, for the audit.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Label of the sender.
    pub from: u32,
    /// Its uplink.
    pub uplink: u32,
    /// Payload [B].
    pub bytes: u64,
}

/// Leave to send one cell for `destination` by way of node `by` (labels).
#[derive(Clone, Copy, Debug)]
pub struct Grant {
    /// The intermediate.
    pub by: u16,
    /// The destination.
    pub destination: u16,
}

/// Lists the columns that hold a request, without branches; returns how many.
#[inline(always)]
fn list_requests(wants: &[u16], none: u16, found: &mut [u16]) -> usize {
    let mut n = 0;
    for (k, &want) in wants.iter().enumerate() {
        found[n] = k as u16;
        n += (want != none) as usize;
    }
    n
}

/// How nodes are dealt to shards.
#[derive(Clone, Debug)]
pub struct Deal {
    /// Nodes in all.
    pub nodes: usize,
    /// Rows of every shard but the last.
    pub rows: usize,
    /// Shard of each label.
    pub shard: Vec<u16>,
}

impl Deal {
    /// Deals `nodes` to shards of `rows`.
    pub fn new(nodes: usize, rows: usize) -> Deal {
        Deal {
            nodes,
            rows,
            shard: (0..nodes).map(|label| (label / rows) as u16).collect(),
        }
    }

    /// First label and number of rows of each shard.
    pub fn shards(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.nodes)
            .step_by(self.rows)
            .map(|lo| (lo, self.rows.min(self.nodes - lo)))
    }
}

/// The nodes with labels `lo .. lo + rows`.
#[derive(Clone, Debug)]
pub struct Shard<const CAP: usize> {
    /// First label.
    pub lo: usize,
    /// Nodes.
    pub rows: usize,
    nodes: usize,
    words: usize,
    serves: GrantServes,
    metric: QueueMetric,
    /// Cells that wait at their source.
    pub local: Local,
    /// Relay and granted queues.
    pub pairs: Pairs<CAP>,
    /// Pairs with a cell to send, a bit each: idle pairs are skipped, not looked at.
    busy: Vec<u64>,
    /// Cells in the queues of each row.
    held: Vec<u32>,
    /// Of those, cells on their second hop.
    relaying: Vec<u32>,
    /// Most of them ever, at the worst row.
    peak: u64,
    /// The request walk.
    pub requests: Requests,
    /// M and the grants.
    pub grants: Grants,
    rng: Vec<Stream>,
    wants: Vec<u16>,
    /// The receiving end.
    pub reorder: Reorder,
    /// Cells sent.
    pub hops: u64,
    /// Ranks of flows whose first cell was granted.
    pub started: Vec<u32>,
    /// Every transmission of the slot, when watched.
    pub sent: Vec<Sent>,
    /// Scratch space for a list of peers.
    ready: Vec<u16>,
}

/// Cells are looked up this far ahead of their turn: long enough for memory to
/// answer, few enough for the first-level cache.
const AHEAD: usize = 16;

/// Adds the peers of a window for which a cell waits to the `n` listed in
/// `ready`; returns how many there are now.
#[inline(always)]
fn list_ready(busy: &[u64], w: Window, ready: &mut [u16], mut n: usize) -> usize {
    if w.stride != 1 {
        for peer in (0..w.len).map(|k| w.start + k * w.stride) {
            ready[n] = peer as u16;
            n += (busy[peer as usize / 64] >> (peer % 64) & 1) as usize;
        }
        return n;
    }
    let (mut at, end) = (w.start, w.start + w.len);
    while at < end {
        let take = (64 - at % 64).min(end - at);
        let mut set = busy[at as usize / 64] >> (at % 64) & (u64::MAX >> (64 - take));
        while set != 0 {
            ready[n] = (at + set.trailing_zeros()) as u16;
            n += 1;
            set &= set - 1;
        }
        at += take;
    }
    n
}

impl<const CAP: usize> Shard<CAP> {
    /// Idle nodes `lo .. lo + rows`.
    pub fn new(config: &SiriusConfig, lo: usize, rows: usize, routes: &Routes, seed: u64) -> Self {
        let nodes = routes.first.len() - 1;
        let suppressed = config.repeat_requests == RepeatRequests::Suppressed;
        let grant_rule: GrantRule = config.grant_rule;
        Shard {
            lo,
            rows,
            nodes,
            words: nodes.div_ceil(64),
            serves: config.grant_serves,
            metric: config.queue_metric,
            local: Local::new(rows, nodes),
            pairs: Pairs::new(rows, nodes),
            busy: vec![0; rows * nodes.div_ceil(64)],
            held: vec![0; rows],
            relaying: vec![0; rows],
            peak: 0,
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
            ready: vec![0; nodes + 1],
        }
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
        self.local.total == 0 && self.held.iter().all(|&h| h == 0)
    }

    /// Requests of the epoch: `live` receives the rows that asked.
    pub fn request(&mut self, tiles: &mut [Tile], live: &mut Vec<u32>) {
        live.clear();
        for row in 0..self.rows {
            if self.local.cells(row) == 0 {
                continue;
            }
            let (label, rng) = ((self.lo + row) as u16, &mut self.rng[row]);
            let asked =
                self.requests
                    .compute_requests(row, label, &self.local, rng, &mut self.wants);
            if asked > 0 {
                live.push(row as u32);
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
    pub fn accept(&mut self, tiles: &mut [Tile], live: &mut Vec<u32>, unused: &mut [Vec<Grant>]) {
        let mut granted = std::mem::take(&mut self.ready);
        for row in live.drain(..) {
            let row = row as usize;
            let mut first = 0;
            for (tile, unused) in tiles.iter_mut().zip(unused.iter_mut()) {
                let wants = tile.row(row);
                let n = list_requests(wants, self.nodes as u16, &mut granted);
                for &k in &granted[..n] {
                    let grant = Grant {
                        by: (first + k as usize) as u16,
                        destination: wants[k as usize],
                    };
                    if !self.accept_one(row, grant) {
                        unused.push(grant);
                    }
                }
                first += wants.len();
            }
        }
        self.ready = granted;
    }

    /// Whether the grant was used, or was none.
    #[inline(always)]
    fn accept_one(&mut self, row: usize, grant: Grant) -> bool {
        if self.requests.suppressed() {
            self.requests.answered(row, grant.destination & !DENIED);
            if grant.destination & DENIED != 0 {
                return true;
            }
        }
        let rng = &mut self.rng[row];
        let Some(cell) = self.local.take(row, grant.destination, self.serves, rng) else {
            // A direct hop was promised no relay queue: nothing to give back.
            return grant.by == grant.destination;
        };
        if cell.seq() == 0 {
            self.started.push(cell.rank());
        }
        let intermediate = grant.by as usize;
        self.pairs.push_granted(row, intermediate, cell);
        self.busy[row * self.words + intermediate / 64] |= 1 << (intermediate % 64);
        self.held[row] += 1;
        true
    }

    /// Unused grants of this shard's nodes lapse.
    pub fn lapse(&mut self, unused: &[Grant]) {
        for (k, grant) in unused.iter().enumerate() {
            if let Some(later) = unused.get(k + AHEAD) {
                self.pairs
                    .prefetch_counts(later.by as usize - self.lo, later.destination as usize);
            }
            self.pairs
                .lapse(grant.by as usize - self.lo, grant.destination as usize);
        }
    }

    /// Sends one cell on every uplink whose peer of this slot has one waiting:
    /// second hop first.
    pub fn transmit<const WATCHED: bool>(
        &mut self,
        turn: &Turn,
        routes: &Routes,
        deal: &Deal,
        out: &mut [Outbox],
    ) {
        out.iter_mut().for_each(Outbox::clear);
        let mut ready = std::mem::take(&mut self.ready);
        for row in 0..self.rows {
            if self.held[row] == 0 {
                continue;
            }
            let busy = &self.busy[row * self.words..][..self.words];
            let mut n = 0;
            for k in 0..turn.count() {
                let window = turn.window((self.lo + row) as u32, k);
                n = list_ready(busy, window, &mut ready, n);
            }
            if n == 0 {
                continue;
            }
            if WATCHED {
                self.note_sent(row, turn, &ready[..n], routes);
            }
            match out {
                [only] => self.send(row, &ready[..n], routes, |_| 0, std::slice::from_mut(only)),
                _ => self.send(
                    row,
                    &ready[..n],
                    routes,
                    |peer| deal.shard[peer] as usize,
                    out,
                ),
            }
        }
        self.ready = ready;
    }

    /// One cell to each ready peer.
    #[inline(always)]
    fn send(
        &mut self,
        row: usize,
        ready: &[u16],
        routes: &Routes,
        shard_of: impl Fn(usize) -> usize,
        out: &mut [Outbox],
    ) {
        let busy = &mut self.busy[row * self.words..][..self.words];
        let mut queues = self.pairs.row(row);
        let destinations = &routes.dst[..];
        let mut seconds = 0;
        for &peer in ready {
            let (cell, second, last) = queues.pop(peer as usize);
            busy[peer as usize / 64] &= !((last as u64) << (peer % 64));
            seconds += second as u32;
            let destination = destinations[cell.rank() as usize];
            let outbox = &mut out[shard_of(peer as usize)];
            outbox.push(
                destination == peer,
                Relayed {
                    via: peer,
                    destination,
                    cell,
                },
                second,
            );
        }
        self.held[row] -= ready.len() as u32;
        self.relaying[row] -= seconds;
        self.hops += ready.len() as u64;
    }

    /// For the audit: what is about to be sent, and on which uplink.
    #[cold]
    fn note_sent(&mut self, row: usize, turn: &Turn, ready: &[u16], routes: &Routes) {
        let from = (self.lo + row) as u32;
        for w in (0..turn.count()).map(|k| turn.window(from, k)) {
            for k in 0..w.len {
                let peer = w.start + k * w.stride;
                if ready.contains(&(peer as u16)) {
                    let next = self.pairs.each_cell(row, peer as usize).next();
                    let bytes = routes.bytes(next.expect("ready pairs have a cell"));
                    self.sent.push(Sent {
                        from,
                        uplink: w.first_uplink + k,
                        bytes,
                    });
                }
            }
        }
    }

    /// Takes in what arrived from one shard.
    pub fn receive(&mut self, inbox: &Outbox) {
        for (k, relayed) in inbox.relay().iter().enumerate() {
            if let Some(later) = inbox.relay().get(k + AHEAD) {
                self.pairs
                    .prefetch(later.via as usize - self.lo, later.destination as usize);
            }
            let (row, destination) = (relayed.via as usize - self.lo, relayed.destination as usize);
            self.pairs.push_relay(row, destination, relayed.cell);
            self.busy[row * self.words + destination / 64] |= 1 << (destination % 64);
            self.held[row] += 1;
            self.relaying[row] += 1;
        }
        for (k, &cell) in inbox.deliver().iter().enumerate() {
            if let Some(&later) = inbox.deliver().get(k + AHEAD) {
                self.reorder.prefetch(later);
            }
            self.reorder.receive(cell);
        }
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
            .flat_map(|row| (0..self.nodes).flat_map(move |peer| self.pairs.each_cell(row, peer)));
        local.chain(queued).map(|cell| routes.bytes(cell)).sum()
    }

    /// The longest relay queue (for the audit: never beyond Q).
    pub fn longest_relay_queue(&self) -> usize {
        let of = |row| (0..self.nodes).map(move |peer| self.pairs.counts(row, peer).relay());
        (0..self.rows).flat_map(of).max().unwrap_or(0)
    }
}
