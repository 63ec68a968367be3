//! Servers' links to their rack switch, and traffic within a rack.
//!
//! If servers' links have a rate, a server sends the cells of its flows in turn, one each. It
//! receives cells one after another: with "fair", one cell of each flow in turn, the cells of a
//! flow in the order in which they reach the rack; with "fifo", all cells in that order. Without
//! such links, cells pass without delay, and a flow within a rack has the rate of the whole rack.
//!
//! While a rack switch is dead all its links stop, and cells on them are delayed by this time.

use super::{Cell, Reference, Tuple};
use crate::discipline::Discipline;
use lightloom_engine::{Cluster, FlowId, Io, Nic, Rate, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The links of all racks.
#[derive(Clone, Debug)]
pub struct Racks {
    rate: Rate,
    /// Whether the rate is that of a server's link.
    capped: bool,
    servers: Vec<Server>,
    /// Flows within racks if servers' links have no rate: the time at which each is delivered, and
    /// its rack.
    within: BTreeSet<(Time, FlowId, usize)>,
    /// Cells on the links to servers: arrival time at the server, number, and rack.
    down: BTreeSet<(Time, u64, usize)>,
    cells: BTreeMap<u64, Cell>,
    /// Number of cells that were ever on those links.
    arrivals: u64,
    /// Time until which cells have been delivered.
    delivered: Time,
    /// Dead racks, with the time since which each is dead.
    stopped: BTreeMap<usize, Time>,
    servers_per_rack: usize,
}

/// One server.
#[derive(Clone, Debug, Default)]
struct Server {
    /// The next cell of every flow that the server sends; the first one is on the link.
    sending: VecDeque<Cell>,
    /// When that has left.
    leaves: Option<Time>,
    /// Time at which the link to the server is free.
    free: Time,
    /// Flows with cells that wait for the link to the server, in order of their turns, with these
    /// cells.
    waiting: VecDeque<(usize, VecDeque<Cell>)>,
}

impl Racks {
    pub fn new(cluster: &Cluster) -> Racks {
        let (rate, capped) = match cluster.nic {
            Nic::Uncapped => (cluster.rack_rate(), false),
            Nic::Capped(rate) => (rate, true),
        };
        Racks {
            rate,
            capped,
            servers: vec![Server::default(); cluster.hosts() as usize],
            within: BTreeSet::new(),
            down: BTreeSet::new(),
            cells: BTreeMap::new(),
            arrivals: 0,
            delivered: Time::ZERO,
            stopped: BTreeMap::new(),
            servers_per_rack: cluster.servers_per_rack as usize,
        }
    }

    /// Whether nothing moves.
    pub fn is_idle(&self) -> bool {
        let moves = |s: &usize| !self.stopped.contains_key(&(s / self.servers_per_rack));
        let sends = |s: usize| self.servers[s].leaves.is_some();
        let moving = |rack: usize| !self.stopped.contains_key(&rack);
        !(0..self.servers.len()).filter(moves).any(sends)
            && !self.within.iter().any(|f| moving(f.2))
            && !self.down.iter().any(|d| moving(d.2))
    }

    /// Stops a rack.
    pub fn stop(&mut self, rack: usize, now: Time) {
        self.stopped.insert(rack, now);
    }

    /// The rack resumes after a failure.
    pub fn resume(&mut self, rack: usize, now: Time) {
        let Some(since) = self.stopped.remove(&rack) else {
            return;
        };
        let late = |at: Time, of: usize| if of == rack { at + (now - since) } else { at };
        let within = std::mem::take(&mut self.within).into_iter();
        self.within = within.map(|(at, f, of)| (late(at, of), f, of)).collect();
        let down = std::mem::take(&mut self.down).into_iter();
        self.down = down.map(|(at, n, of)| (late(at, of), n, of)).collect();
        let per_rack = self.servers_per_rack;
        for server in &mut self.servers[rack * per_rack..(rack + 1) * per_rack] {
            server.leaves = server.leaves.map(|at| late(at, rack));
            server.free = late(server.free, rack);
        }
    }

    /// `now`, or the time at which the rack stopped: everything at a stopped rack is delayed by the
    /// duration of the stop.
    fn from(&self, now: Time, rack: usize) -> Time {
        self.stopped.get(&rack).copied().unwrap_or(now)
    }

    /// The server whose cell leaves next, if by `until`.
    fn next_to_leave(&self, until: Time) -> Option<(Time, usize)> {
        let servers = (0..).zip(&self.servers);
        let leaving = servers.filter_map(|(host, s)| Some((s.leaves?, host)));
        let moves = |l: &(Time, usize)| !self.stopped.contains_key(&(l.1 / self.servers_per_rack));
        leaving.filter(moves).min().filter(|l| l.0 <= until)
    }

    /// The cell that reaches its server next, if by `until`.
    fn next_to_arrive(&mut self, until: Time) -> Option<(Time, Cell)> {
        let moves = |d: &&(Time, u64, usize)| !self.stopped.contains_key(&d.2);
        let next = *self.down.iter().find(moves).filter(|d| d.0 <= until)?;
        self.down.remove(&next);
        Some((next.0, self.cells.remove(&next.1)?))
    }
}

impl Reference {
    /// Adds a flow at its server. A flow within a rack whose servers' links have no rate starts at
    /// once.
    pub(super) fn admit_to_server(&mut self, id: FlowId, at: Time, io: &mut Io) {
        let host = io.flows.src[id.index()].index();
        let rack = host / self.racks.servers_per_rack;
        if self.racks.capped {
            self.send_from_servers(at, io);
            let first = Cell {
                flow: id.index(),
                seq: 0,
                relayed: false,
            };
            let server = &mut self.racks.servers[host];
            server.sending.push_back(first);
            if server.sending.len() == 1 {
                self.begin_cell(host, at);
            }
            return;
        }
        if !self.racks.stopped.contains_key(&rack) {
            io.start(id, at);
        }
        let takes = self.racks.rate.time_for(io.flows.bytes[id.index()]);
        let from = self.racks.from(at, rack);
        self.racks.within.insert((from + takes, id, rack));
    }

    /// Puts the next cell in the server's order on its link at `now`.
    fn begin_cell(&mut self, host: usize, now: Time) {
        let from = self.racks.from(now, host / self.racks.servers_per_rack);
        let first = self.racks.servers[host].sending.front().copied();
        let takes = first.map(|cell| self.racks.rate.time_for(self.bytes(cell)));
        self.racks.servers[host].leaves = takes.map(|takes| from + takes);
    }

    /// Moves cells that have left their server by `now` into LOCAL, or to a server of the same
    /// rack.
    pub(super) fn send_from_servers(&mut self, now: Time, io: &mut Io) {
        while let Some((at, host)) = self.racks.next_to_leave(now) {
            let sending = &mut self.racks.servers[host].sending;
            let cell = sending.pop_front().expect("it leaves");
            let seq = cell.seq + 1;
            let flow = &self.flows[cell.flow];
            if seq < flow.cells {
                let next = Cell { seq, ..cell };
                match self.config.discipline {
                    Discipline::Fair => sending.push_back(next),
                    Discipline::Fifo => sending.push_front(next),
                }
            }
            if flow.src == flow.dst {
                io.start(FlowId(cell.flow as u32), at);
                self.send_to_server(cell, at, io);
            } else {
                self.grow(cell);
            }
            self.begin_cell(host, at);
        }
    }

    /// Adds a cell to LOCAL: to the tuple of its flow if the cell before it still waits there.
    fn grow(&mut self, cell: Cell) {
        let Cell { flow, seq, .. } = cell;
        let (src, dst) = (self.flows[flow].src, self.flows[flow].dst);
        let mut local = self.local[src].iter_mut();
        let before = |t: &&mut Tuple| t.flow == flow && t.grows && t.seq + t.cells == seq;
        match local.find(before) {
            Some(tuple) if !self.failures.bars(src, dst) => tuple.cells += 1,
            _ => self.enter(Tuple {
                flow,
                seq,
                cells: 1,
                grows: true,
                returned: false,
            }),
        }
    }

    /// Handles a cell that has reached the rack of its server.
    pub(super) fn send_to_server(&mut self, cell: Cell, at: Time, io: &mut Io) {
        if !self.racks.capped {
            return self.deliver(cell, at, io);
        }
        let host = io.flows.dst[cell.flow].index();
        // With "fifo" every cell has a turn of its own.
        if self.config.discipline == Discipline::Fifo {
            return self.put_on_link(cell, host, at);
        }
        self.take_turns(host, at);
        // A late cell from the same rack cannot start before the time until which cells have been
        // delivered.
        let since = at.max(self.racks.delivered);
        let server = &mut self.racks.servers[host];
        if server.free <= since {
            return self.put_on_link(cell, host, at);
        }
        match server.waiting.iter_mut().find(|w| w.0 == cell.flow) {
            Some((_, cells)) => cells.push_back(cell),
            None => server.waiting.push_back((cell.flow, [cell].into())),
        }
    }

    /// Puts a cell on the link to a server at `at`, or as soon as the link is free.
    fn put_on_link(&mut self, cell: Cell, host: usize, at: Time) {
        let takes = self.racks.rate.time_for(self.bytes(cell));
        let racks = &mut self.racks;
        let number = racks.arrivals;
        let free = &mut racks.servers[host].free;
        *free = at.max(*free) + takes;
        racks
            .down
            .insert((*free, number, host / racks.servers_per_rack));
        racks.cells.insert(number, cell);
        racks.arrivals += 1;
    }

    /// Puts waiting cells, flow by flow in turn, on the link to a server while it is free by
    /// `until`.
    fn take_turns(&mut self, host: usize, until: Time) {
        loop {
            let Server { free, waiting, .. } = &mut self.racks.servers[host];
            if *free > until {
                return;
            }
            let (Some((flow, mut cells)), at) = (waiting.pop_front(), *free) else {
                return;
            };
            let first = cells.pop_front().expect("it waits");
            if !cells.is_empty() {
                waiting.push_back((flow, cells));
            }
            self.put_on_link(first, host, at);
        }
    }

    /// Delivers the cells that are at their servers by `until`.
    pub(super) fn deliver_to_servers(&mut self, until: Time, io: &mut Io) {
        self.racks.delivered = until;
        for host in 0..self.racks.servers.len() {
            let rack = host / self.racks.servers_per_rack;
            if !self.racks.stopped.contains_key(&rack) {
                self.take_turns(host, until);
            }
        }
        while let Some((at, cell)) = self.racks.next_to_arrive(until) {
            self.deliver(cell, at, io);
        }
    }

    /// Delivers the flows within racks without servers' links that are complete by `until`; returns
    /// whether there was one.
    pub(super) fn deliver_within_racks(&mut self, until: Time, io: &mut Io) -> bool {
        let racks = &mut self.racks;
        let stopped = racks.stopped.clone();
        let due = racks.within.iter().take_while(|f| f.0 <= until);
        let due: Vec<_> = due
            .filter(|f| !stopped.contains_key(&f.2))
            .copied()
            .collect();
        racks.within.retain(|flow| !due.contains(flow));
        for &(at, id, _) in &due {
            let bytes = io.flows.bytes[id.index()];
            io.start(id, at - racks.rate.time_for(bytes));
            io.deliver_some(bytes);
            io.flows.hops[id.index()] = 0.0;
            io.finish(id, at);
        }
        !due.is_empty()
    }

    /// Bytes that servers have not sent yet.
    pub(super) fn unsent(&self) -> u64 {
        let next = self.racks.servers.iter().flat_map(|s| &s.sending);
        next.map(|c| self.bytes_from(c.flow, c.seq, self.flows[c.flow].cells))
            .sum()
    }

    /// Bytes of cells at a rack on their way to its servers.
    pub(super) fn received(&self, node: usize) -> u64 {
        let rack = self.derived.schedule.node(node as u32) as usize;
        let down = self.racks.down.iter().filter(|d| d.2 == rack);
        let servers = self.racks.servers.chunks(self.racks.servers_per_rack);
        let waiting = servers
            .skip(rack)
            .take(1)
            .flatten()
            .flat_map(|s| &s.waiting);
        let waiting = waiting.flat_map(|w| w.1.iter().copied());
        self.bytes_of(down.map(|d| self.racks.cells[&d.1]).chain(waiting))
    }

    /// Bytes of flows within racks, without servers' links.
    pub(super) fn bytes_within(&self) -> u64 {
        let within = self.racks.within.iter();
        within.map(|f| self.flows[f.1.index()].bytes).sum()
    }

    /// Bytes of cells.
    pub(super) fn bytes_of(&self, cells: impl Iterator<Item = Cell>) -> u64 {
        cells.map(|cell| self.bytes(cell)).sum()
    }

    /// Bytes of the cells `seq .. end` of a flow.
    pub(super) fn bytes_from(&self, flow: usize, seq: u32, end: u32) -> u64 {
        let cell = |seq| Cell {
            flow,
            seq,
            relayed: false,
        };
        self.bytes_of((seq..end).map(cell))
    }
}
