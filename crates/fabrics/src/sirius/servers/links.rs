//! Servers whose link to the rack switch has a rate (`cluster.nic`).
//!
//! - *ServerFlow*: a server sends the cells of its flows in turn, one each, or its flows one after
//!   another (`discipline`); a cell joins LOCAL in the first slot after its last bit has left the
//!   server.
//! - *Receiving* ([`receiving`](super::receiving)): cells leave the rack switch for their
//!   server in the same order.
//! - Traffic within a rack passes both links, without latency between them.
//! - While a rack switch is dead its servers' links stop.
//!
//! The buffers of the rack switch towards its servers are unbounded; their contents count in the
//! rack's queue. (The paper's servers have no links, so its figures do not include them.) The order
//! of cells from the same rack and from other racks is exact to a slot. *Not modelled*: padding on
//! these links, propagation within the rack, back-pressure to the server.

use super::due::Due;
use super::receiving::{Coming, Receiving};
use crate::discipline::Discipline;
use crate::sirius::cell::{Cell, FlowIndex, Routes};
use lightloom_engine::{Cluster, FlowId, Flows, Io, Nic, Time};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// A flow that its server is sending, with the data that each of its cells needs.
#[derive(Clone, Copy, Debug)]
pub struct ServerFlow {
    /// Index of the flow.
    pub flow_index: FlowIndex,
    /// Its next cell.
    pub seq: u32,
    /// Its cells.
    cells: u32,
    /// The id of the run in LOCAL that its last cell joined.
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

/// The delivered part of a flow within a rack.
#[derive(Clone, Copy, Debug)]
struct IntraRackFlow {
    /// Cells that are missing.
    left: u32,
    /// Bytes delivered.
    bytes: u64,
}

/// A stopped rack, the time at which it stopped, and the times at which the next cells of its
/// servers would have left.
#[derive(Clone, Debug)]
struct Stopped {
    rack: u32,
    since: Time,
    leaving: Vec<Time>,
}

/// The links between servers and rack switches.
#[derive(Clone, Debug)]
pub struct Servers {
    discipline: Discipline,
    per_rack: u32,
    /// The flows that each server sends, by server.
    up: Vec<VecDeque<ServerFlow>>,
    /// The time at which the next cell of each server has left it.
    leaving: Due,
    /// The links to servers.
    pub receiving: Receiving,
    /// Flows within racks, by flow index.
    inside: BTreeMap<u32, IntraRackFlow>,
    stopped: Vec<Stopped>,
}

impl Servers {
    /// Bytes per server, and per flow that it sends; queues have twice the needed capacity.
    pub const BYTES: (u64, u64) = (
        (size_of::<VecDeque<ServerFlow>>() + size_of::<Time>()) as u64 + Receiving::BYTES.0,
        2 * size_of::<ServerFlow>() as u64 + Receiving::BYTES.1,
    );

    /// Idle servers; `None` if their links have no rate of their own.
    pub fn new(
        cluster: &Cluster,
        discipline: Discipline,
        flows: &Flows,
        routes: &Routes,
    ) -> Option<Servers> {
        let Nic::Capped(rate) = cluster.nic else {
            return None;
        };
        Some(Servers {
            discipline,
            per_rack: cluster.servers_per_rack,
            up: vec![VecDeque::new(); cluster.hosts() as usize],
            leaving: Due::new(cluster),
            receiving: Receiving::new(rate, discipline, cluster, flows, routes),
            inside: BTreeMap::new(),
            stopped: Vec::new(),
        })
    }

    /// Whether no cell is on a link.
    pub fn idle(&self) -> bool {
        self.leaving.is_empty() && self.receiving.idle()
    }

    /// All racks.
    pub fn racks(&self) -> Range<u32> {
        0..self.up.len() as u32 / self.per_rack
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
        if sent.stays() {
            let (left, bytes) = (sent.cells, 0);
            self.inside
                .insert(flow_index, IntraRackFlow { left, bytes });
        }
        let queue = &mut self.up[src.0 as usize];
        queue.push_back(sent);
        if queue.len() == 1 {
            self.send_next(src.0, at);
        }
    }

    /// Starts to send, at `at`, the next cell in the server's order.
    fn send_next(&mut self, host: u32, at: Time) {
        let Some(&ServerFlow {
            flow_index, seq, ..
        }) = self.up[host as usize].front()
        else {
            self.leaving.set(host, Time::NEVER);
            return;
        };
        let time = self.receiving.time(flow_index, seq);
        let (rack, place) = (host / self.per_rack, host % self.per_rack);
        match self.stopped.iter_mut().find(|s| s.rack == rack) {
            Some(s) => s.leaving[place as usize] = s.since + time,
            None => _ = self.leaving.set(host, at + time),
        }
    }

    /// The next cell of a rack that has left its server by `until`, as (time, server, flow). The
    /// caller returns the flow by [`Servers::schedule_next_cell`].
    #[inline]
    pub fn next_sent(&mut self, rack: u32, until: Time) -> Option<(Time, u32, ServerFlow)> {
        let (at, host) = self.leaving.by(rack, until)?;
        let flow = self.up[host as usize].pop_front()?;
        Some((at, host, flow))
    }

    /// Schedules the next cell of a server after `flow` has sent one at `at`; `run` is the id of
    /// the run that the cell joined.
    pub fn schedule_next_cell(&mut self, host: u32, flow: ServerFlow, run: u32, at: Time) {
        if flow.seq + 1 < flow.cells {
            let next = ServerFlow {
                seq: flow.seq + 1,
                run,
                ..flow
            };
            match self.discipline {
                Discipline::Fair => self.up[host as usize].push_back(next),
                Discipline::Fifo => self.up[host as usize].push_front(next),
            }
        }
        self.send_next(host, at);
    }

    /// Moves a cell that left its server at `at` to its rack; returns whether it stays there.
    pub fn turn_back(&mut self, flow: ServerFlow, at: Time, routes: &Routes, io: &mut Io) -> bool {
        if flow.stays() {
            io.start(routes.flow[flow.flow_index as usize], at);
            let cell = Cell::new(flow.flow_index, flow.seq);
            self.receiving.arrive(cell, at, true);
        }
        flow.stays()
    }

    /// Counts a cell of a flow within a rack that has reached its server.
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

    /// Writes the delivered bytes of flows within racks.
    pub fn settle(&self, routes: &Routes, io: &mut Io) {
        for (&flow_index, inside) in &self.inside {
            let flow = routes.flow[flow_index as usize].index();
            io.flows.delivered[flow] = inside.bytes;
        }
    }

    /// Stops a rack from `now` on.
    pub fn stop(&mut self, rack: u32, now: Time) {
        let servers = self.leaving.servers(rack);
        self.receiving.stop(rack);
        self.stopped.push(Stopped {
            rack,
            since: now,
            leaving: servers.map(|h| self.leaving.set(h, Time::NEVER)).collect(),
        });
    }

    /// A rack resumes after a failure.
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
        }
        self.receiving.resume(rack, late);
    }

    /// Bytes that have not left their servers.
    pub fn unsent(&self, routes: &Routes) -> u64 {
        let flows = self.up.iter().flatten();
        flows
            .map(|s| routes.bytes_of(s.flow_index, s.seq, s.cells - s.seq))
            .sum()
    }
}
