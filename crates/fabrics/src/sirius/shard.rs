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
use super::topology::Turn;
use lightloom_engine::Stream;

/// A cell on its way to an intermediate: the pair whose relay queue it joins,
/// counted in the shard of the intermediate.
#[derive(Clone, Copy, Debug)]
pub struct Relayed {
    /// row · nodes + destination.
    pub pair: u32,
    /// The cell.
    pub cell: Cell,
}

/// What the nodes of one shard send to those of another in one slot.
#[derive(Clone, Debug, Default)]
pub struct Outbox {
    /// First hops.
    pub relay: Vec<Relayed>,
    /// Cells at their destination.
    pub deliver: Vec<Cell>,
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

/// How nodes are dealt to shards.
#[derive(Clone, Debug)]
pub struct Deal {
    /// Nodes in all.
    pub nodes: usize,
    /// Rows of every shard but the last.
    pub rows: usize,
}

impl Deal {
    /// Shard of a label.
    #[inline(always)]
    pub fn shard(&self, label: usize) -> usize {
        label / self.rows
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
            pairs: Pairs::new(rows * nodes),
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

    #[inline(always)]
    fn mark(&mut self, row: usize, peer: usize) {
        self.busy[row * self.words + peer / 64] |= 1 << (peer % 64);
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
    /// its intermediate. What stays in the tiles are unused grants; `live`
    /// keeps the rows that have any.
    pub fn accept(&mut self, tiles: &mut [Tile], live: &mut Vec<u32>) {
        live.retain(|&row| {
            let (mut intermediate, mut unused) = (0, false);
            for tile in tiles.iter_mut() {
                for want in tile.row(row as usize) {
                    if *want as usize != self.nodes {
                        unused |= self.accept_one(row as usize, intermediate, want);
                    }
                    intermediate += 1;
                }
            }
            unused
        });
    }

    /// Whether the grant was not used.
    #[inline(always)]
    fn accept_one(&mut self, row: usize, intermediate: usize, want: &mut u16) -> bool {
        if self.requests.suppressed() {
            self.requests.answered(row, *want & !DENIED);
            if *want & DENIED != 0 {
                *want = self.nodes as u16;
                return false;
            }
        }
        let Some(cell) = self.local.take(row, *want, self.serves, &mut self.rng[row]) else {
            return true;
        };
        *want = self.nodes as u16;
        if cell.seq() == 0 {
            self.started.push(cell.rank());
        }
        self.pairs
            .push_granted(row * self.nodes + intermediate, cell);
        self.mark(row, intermediate);
        self.held[row] += 1;
        false
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
        for outbox in out.iter_mut() {
            outbox.relay.clear();
            outbox.deliver.clear();
        }
        for row in 0..self.rows {
            if self.held[row] == 0 {
                continue;
            }
            let before = self.hops;
            turn.windows((self.lo + row) as u32, |w| {
                if w.stride == 1 {
                    self.send_window::<WATCHED>(
                        row,
                        w.start,
                        w.len,
                        w.first_uplink,
                        routes,
                        deal,
                        out,
                    );
                } else {
                    for k in 0..w.len {
                        let at = w.start + k * w.stride;
                        self.send_window::<WATCHED>(
                            row,
                            at,
                            1,
                            w.first_uplink + k,
                            routes,
                            deal,
                            out,
                        );
                    }
                }
            });
            self.held[row] -= (self.hops - before) as u32;
        }
    }

    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn send_window<const WATCHED: bool>(
        &mut self,
        row: usize,
        start: u32,
        len: u32,
        first_uplink: u32,
        routes: &Routes,
        deal: &Deal,
        out: &mut [Outbox],
    ) {
        let (mut at, end) = (start, start + len);
        while at < end {
            let take = (64 - at % 64).min(end - at);
            let word = self.busy[row * self.words + at as usize / 64] >> (at % 64);
            let mut ready = word & (u64::MAX >> (64 - take));
            while ready != 0 {
                let peer = at + ready.trailing_zeros();
                ready &= ready - 1;
                let cell = self.send(row, peer as usize, routes, deal, out);
                if WATCHED {
                    let uplink = first_uplink + peer - start;
                    let bytes = routes.bytes(cell);
                    self.sent.push(Sent {
                        from: (self.lo + row) as u32,
                        uplink,
                        bytes,
                    });
                }
            }
            at += take;
        }
    }

    #[inline(always)]
    fn send(
        &mut self,
        row: usize,
        peer: usize,
        routes: &Routes,
        deal: &Deal,
        out: &mut [Outbox],
    ) -> Cell {
        let pair = row * self.nodes + peer;
        let shard = if out.len() == 1 { 0 } else { deal.shard(peer) };
        let cell;
        if self.pairs.lengths(pair).relay() > 0 {
            cell = self.pairs.pop_relay(pair);
            self.grants.release(row, peer);
            self.relaying[row] -= 1;
            out[shard].deliver.push(cell.relayed());
        } else {
            cell = self.pairs.pop_granted(pair);
            let destination = routes.dst[cell.rank() as usize] as usize;
            if destination == peer {
                out[shard].deliver.push(cell);
            } else {
                let row_there = peer - if out.len() == 1 { 0 } else { shard * deal.rows };
                let pair = (row_there * self.nodes + destination) as u32;
                out[shard].relay.push(Relayed { pair, cell });
            }
        }
        if self.pairs.lengths(pair).is_empty() {
            self.busy[row * self.words + peer / 64] &= !(1 << (peer % 64));
        }
        self.hops += 1;
        cell
    }

    /// Takes in what arrived from one shard.
    pub fn receive(&mut self, inbox: &Outbox) {
        const AHEAD: usize = 16;
        for (k, &Relayed { pair, cell }) in inbox.relay.iter().enumerate() {
            if let Some(later) = inbox.relay.get(k + AHEAD) {
                self.pairs.prefetch(later.pair as usize);
            }
            let (row, destination) = (pair as usize / self.nodes, pair as usize % self.nodes);
            self.pairs.push_relay(pair as usize, cell);
            self.mark(row, destination);
            self.held[row] += 1;
            self.relaying[row] += 1;
        }
        for &cell in &inbox.deliver {
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
        let queued = (0..self.rows * self.nodes).flat_map(|pair| self.pairs.each_cell(pair));
        local.chain(queued).map(|cell| routes.bytes(cell)).sum()
    }

    /// The longest relay queue (for the audit: never beyond Q).
    pub fn longest_relay_queue(&self) -> usize {
        (0..self.rows * self.nodes)
            .map(|pair| self.pairs.lengths(pair).relay())
            .max()
            .unwrap_or(0)
    }
}
