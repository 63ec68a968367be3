//! Servers whose link to the rack switch has a rate (`cluster.nic`).
//!
//! - *ServerFlow*: a server sends the cells of its flows in turn, one each; a cell
//!   joins LOCAL in the first slot after its last bit has left the server.
//! - *Receiving*: cells leave the rack switch for their server in the order in
//!   which they came, one after the other. The reorder buffer is the server's,
//!   behind that link: delivery is when a cell has left it.
//! - Traffic within a rack takes both links and nothing between them.
//! - While a rack switch is dead its servers' links stand still.
//!
//! The buffers of the rack switch towards its servers are unbounded, and no
//! queue figure counts them (nor does the paper's). Order between cells from
//! within the rack and from elsewhere is exact to a slot. *Not modelled*: padding
//! on these links, propagation within the rack, back-pressure to the server.

use super::due::Due;
use crate::sirius::cell::{Cell, FlowIndex, Routes};
use crate::sirius::prefetch::{hinted, prefetch};
use lightloom_engine::{Cluster, FlowId, Flows, Io, Nic, Rate, Time};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// A flow that its server is sending, with what each of its cells needs to know.
#[derive(Clone, Copy, Debug)]
pub struct ServerFlow {
    /// Index of the flow.
    pub flow_index: FlowIndex,
    /// Its next cell.
    pub seq: u32,
    /// Its cells.
    cells: u32,
    /// Where its last cells wait in LOCAL.
    pub run: u32,
    /// Label of its source.
    pub src: u16,
    /// Label of its destination.
    pub dst: u16,
}

impl ServerFlow {
    fn stays(&self) -> bool {
        self.src == self.dst
    }
}

/// Where a flow ends, side by side: flows come in no order, and memory is asked once.
#[derive(Clone, Copy, Debug)]
struct End {
    host: u32,
    cells: u32,
    /// Bytes in the last cell.
    last: u32,
}

/// A cell on its way to a server.
#[derive(Clone, Copy, Debug)]
pub struct Coming {
    /// When it is there.
    pub at: Time,
    pub cell: Cell,
    /// Whether it has come from the same rack.
    pub inside: bool,
}

/// Flows within racks, as far as they have been delivered.
#[derive(Clone, Copy, Debug)]
struct Inside {
    /// Cells that are missing.
    left: u32,
    /// Bytes delivered.
    bytes: u64,
}

/// A rack that stands still, since when, and when its servers' next cells would have left.
#[derive(Clone, Debug)]
struct Stopped {
    rack: u32,
    since: Time,
    leaving: Vec<Time>,
}

/// The links between servers and rack switches.
#[derive(Clone, Debug)]
pub struct Servers {
    rate: Rate,
    per_rack: u32,
    /// Time that a full cell takes.
    full: Time,
    /// By flow index.
    ends: Vec<End>,
    /// By server, the flows that it sends.
    up: Vec<VecDeque<ServerFlow>>,
    /// When the next cell of a server has left it.
    leaving: Due,
    /// Cells not yet sent by their servers.
    pub waiting: u64,
    /// By server, when the link to it is free.
    free: Vec<Time>,
    /// By server, the cells on their way to it.
    down: Vec<VecDeque<Coming>>,
    /// When the next cell is at its server.
    arriving: Due,
    /// Flows within racks, by flow index.
    inside: BTreeMap<u32, Inside>,
    stopped: Vec<Stopped>,
}

impl Servers {
    /// Bytes that a server takes, and a flow that it sends: queues have room for twice as many.
    pub const BYTES: (u64, u64) = (
        (size_of::<VecDeque<ServerFlow>>() + size_of::<VecDeque<Coming>>() + 3 * size_of::<Time>())
            as u64,
        (2 * size_of::<ServerFlow>() + size_of::<End>()) as u64,
    );

    /// Idle servers; `None` if their links have no rate of their own.
    pub fn new(cluster: &Cluster, flows: &Flows, routes: &Routes) -> Option<Servers> {
        let Nic::Capped(rate) = cluster.nic else {
            return None;
        };
        let end = |(&FlowId(flow), (&cells, &last))| End {
            host: flows.dst[flow as usize].0,
            cells,
            last,
        };
        let cells = routes.cells.iter().zip(&routes.last);
        let hosts = cluster.hosts() as usize;
        Some(Servers {
            rate,
            per_rack: cluster.servers_per_rack,
            full: rate.time_for(routes.payload),
            ends: routes.flow.iter().zip(cells).map(end).collect(),
            up: vec![VecDeque::new(); hosts],
            leaving: Due::new(cluster),
            waiting: 0,
            free: vec![Time::ZERO; hosts],
            down: vec![VecDeque::new(); hosts],
            arriving: Due::new(cluster),
            inside: BTreeMap::new(),
            stopped: Vec::new(),
        })
    }

    /// Whether nothing is moving.
    pub fn idle(&self) -> bool {
        self.leaving.is_empty() && self.arriving.is_empty()
    }

    /// All racks.
    pub fn racks(&self) -> Range<u32> {
        0..self.up.len() as u32 / self.per_rack
    }

    /// Time that a cell takes on a link.
    #[inline]
    fn time(&self, end: End, seq: u32) -> Time {
        match seq + 1 == end.cells {
            true => self.rate.time_for(end.last as u64),
            false => self.full,
        }
    }

    /// A flow arrives at its source.
    pub fn admit(&mut self, flow: FlowId, at: Time, io: &Io, routes: &Routes) {
        let src = io.flows.src[flow.index()];
        let flow_index = routes.flow_index[flow.index()];
        let sent = ServerFlow {
            flow_index,
            seq: 0,
            cells: routes.cells[flow_index as usize],
            run: 0,
            src: routes.src[flow_index as usize],
            dst: routes.dst[flow_index as usize],
        };
        self.waiting += sent.cells as u64;
        if sent.stays() {
            let (left, bytes) = (sent.cells, 0);
            self.inside.insert(flow_index, Inside { left, bytes });
        }
        let queue = &mut self.up[src.0 as usize];
        queue.push_back(sent);
        if queue.len() == 1 {
            self.send_next(src.0, at);
        }
    }

    /// The first cell of the server's turn leaves from `at` on.
    fn send_next(&mut self, host: u32, at: Time) {
        let Some(&ServerFlow {
            flow_index,
            seq,
            cells,
            ..
        }) = self.up[host as usize].front()
        else {
            self.leaving.set(host, Time::NEVER);
            return;
        };
        let time = match seq + 1 == cells {
            true => self.time(self.ends[flow_index as usize], seq),
            false => self.full,
        };
        let (rack, place) = (host / self.per_rack, host % self.per_rack);
        match self.stopped.iter_mut().find(|s| s.rack == rack) {
            Some(s) => s.leaving[place as usize] = s.since + time,
            None => _ = self.leaving.set(host, at + time),
        }
    }

    /// The next cell of a rack that has left its server by `until`, as (when, server,
    /// flow); its flow is given back by [`Servers::again`].
    #[inline]
    pub fn next_sent(&mut self, rack: u32, until: Time) -> Option<(Time, u32, ServerFlow)> {
        let (at, host) = self.leaving.by(rack, until)?;
        let flow = self.up[host as usize].pop_front()?;
        self.waiting -= 1;
        Some((at, host, flow))
    }

    /// A flow has sent its cell at `at`; `run` is the id of the run that it joined.
    pub fn again(&mut self, host: u32, flow: ServerFlow, run: u32, at: Time) {
        if flow.seq + 1 < flow.cells {
            self.up[host as usize].push_back(ServerFlow {
                seq: flow.seq + 1,
                run,
                ..flow
            });
        }
        self.send_next(host, at);
    }

    /// A cell that left its server at `at` is in its rack; says whether it stays there.
    pub fn turn_back(&mut self, flow: ServerFlow, at: Time, routes: &Routes, io: &mut Io) -> bool {
        if flow.stays() {
            io.start(routes.flow[flow.flow_index as usize], at);
            self.arrive(Cell::new(flow.flow_index, flow.seq), at, true);
        }
        flow.stays()
    }

    /// Cells from other racks have arrived at the racks of their servers at `at`.
    pub fn arrive_across(&mut self, cells: &[Cell], at: Time) {
        let end = |cell: &Cell| cell.flow_index() as usize;
        let hint = |servers: &Servers, cell: &Cell| prefetch(&servers.ends, end(cell));
        hinted(cells, self, hint, |servers, &cell| {
            servers.arrive(cell, at, false)
        });
    }

    /// Counts a cell of a flow within a rack that is at its server.
    pub fn count_inside(&mut self, coming: Coming, routes: &Routes, io: &mut Io) {
        let Coming { at, cell, .. } = coming;
        let flow_index = cell.flow_index();
        let Some(inside) = self.inside.get_mut(&flow_index) else {
            return;
        };
        let (flow, bytes) = (routes.flow[flow_index as usize], routes.bytes(cell));
        inside.left -= 1;
        inside.bytes += bytes;
        io.deliver_some(bytes);
        io.flows.hops[flow.index()] = 0.0;
        if inside.left == 0 {
            self.inside.remove(&flow_index);
            io.finish(flow, at);
        }
    }

    /// Writes what has been delivered of flows within racks.
    pub fn settle(&self, routes: &Routes, io: &mut Io) {
        for (&flow_index, inside) in &self.inside {
            let flow = routes.flow[flow_index as usize].index();
            io.flows.delivered[flow] = inside.bytes;
        }
    }

    /// A cell has arrived at the rack switch of its server at `at`.
    #[inline]
    fn arrive(&mut self, cell: Cell, at: Time, inside: bool) {
        let end = self.ends[cell.flow_index() as usize];
        let host = end.host as usize;
        let at = at.max(self.free[host]) + self.time(end, cell.seq());
        self.free[host] = at;
        let queue = &mut self.down[host];
        queue.push_back(Coming { at, cell, inside });
        if queue.len() == 1 {
            self.arriving.set(end.host, at);
        }
    }

    /// Moves the cells of a rack that are at their servers by `until` to the end of `there`.
    #[inline]
    pub fn deliver(&mut self, rack: u32, until: Time, there: &mut Vec<Coming>) {
        self.arriving.pass(rack, until, |host| {
            let queue = &mut self.down[host as usize];
            while let Some(&coming) = queue.front().filter(|coming| coming.at <= until) {
                there.push(coming);
                queue.pop_front();
            }
            next(queue)
        });
    }

    /// A rack stands still from `now` on.
    pub fn stop(&mut self, rack: u32, now: Time) {
        let servers = self.leaving.servers(rack);
        for host in servers.clone() {
            self.arriving.set(host, Time::NEVER);
        }
        self.stopped.push(Stopped {
            rack,
            since: now,
            leaving: servers.map(|h| self.leaving.set(h, Time::NEVER)).collect(),
        });
    }

    /// It goes on.
    pub fn resume(&mut self, rack: u32, now: Time) {
        let Some(at) = self.stopped.iter().position(|s| s.rack == rack) else {
            return;
        };
        let Stopped { since, leaving, .. } = self.stopped.swap_remove(at);
        let late = now - since;
        for (host, leaves) in self.leaving.servers(rack).zip(leaving) {
            if leaves != Time::NEVER {
                self.leaving.set(host, leaves + late);
            }
            self.free[host as usize] += late;
            let queue = &mut self.down[host as usize];
            queue.iter_mut().for_each(|coming| coming.at += late);
            self.arriving.set(host, next(queue));
        }
    }

    /// Bytes not yet sent and not yet delivered (for the audit).
    pub fn bytes(&self, routes: &Routes) -> u64 {
        let unsent = self.up.iter().flatten().map(|s| {
            let cells = s.seq..routes.cells[s.flow_index as usize];
            cells
                .map(|seq| routes.bytes(Cell::new(s.flow_index, seq)))
                .sum::<u64>()
        });
        let coming = self.down.iter().flatten().map(|c| routes.bytes(c.cell));
        unsent.sum::<u64>() + coming.sum::<u64>()
    }
}

/// When the first cell of a queue is at its server.
fn next(queue: &VecDeque<Coming>) -> Time {
    queue.front().map_or(Time::NEVER, |coming| coming.at)
}
