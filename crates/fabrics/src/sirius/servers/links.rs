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

use crate::sirius::cell::{Cell, FlowIndex, Routes};
use lightloom_engine::{Cluster, FlowId, HostId, Io, Nic, Rate, Time};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// A flow that its server is sending.
#[derive(Clone, Copy, Debug)]
pub struct ServerFlow {
    /// Rank of the flow.
    pub flow_index: FlowIndex,
    /// Its next cell.
    pub seq: u32,
    /// Where its last cells wait in LOCAL.
    pub run: u32,
}

/// A cell on its way to a server: when it is there, its number, the server.
type Arrival = Reverse<(Time, u64, u32)>;

/// Flows within racks, as far as they have been delivered.
#[derive(Clone, Copy, Debug)]
struct Inside {
    /// Cells that are missing.
    left: u32,
    /// Bytes delivered.
    bytes: u64,
}

/// A rack that stands still, since when, and what stands there.
#[derive(Clone, Debug)]
struct Stopped {
    rack: u32,
    since: Time,
    up: Vec<Reverse<(Time, u32)>>,
    down: Vec<Arrival>,
}

/// The links between servers and rack switches.
#[derive(Clone, Debug)]
pub struct Servers {
    rate: Rate,
    per_rack: u32,
    /// By server, the flows that it sends.
    up: Vec<VecDeque<ServerFlow>>,
    /// When the next cell of a server has left it.
    leaving: BinaryHeap<Reverse<(Time, u32)>>,
    /// Cells not yet sent by their servers.
    pub waiting: u64,
    /// By server, when the link to it is free.
    free: Vec<Time>,
    down: BinaryHeap<Arrival>,
    cells: BTreeMap<u64, Cell>,
    order: u64,
    /// Flows within racks, by flow index.
    inside: BTreeMap<u32, Inside>,
    stopped: Vec<Stopped>,
}

impl Servers {
    /// Bytes that a server takes, and a flow that it sends: queues have room for twice as many.
    pub const BYTES: (u64, u64) = (
        (size_of::<VecDeque<ServerFlow>>() + size_of::<Time>() + size_of::<(Time, u32)>()) as u64,
        2 * size_of::<ServerFlow>() as u64,
    );

    /// Idle servers; `None` if their links have no rate of their own.
    pub fn new(cluster: &Cluster) -> Option<Servers> {
        let Nic::Capped(rate) = cluster.nic else {
            return None;
        };
        Some(Servers {
            rate,
            per_rack: cluster.servers_per_rack,
            up: vec![VecDeque::new(); cluster.hosts() as usize],
            leaving: BinaryHeap::new(),
            waiting: 0,
            free: vec![Time::ZERO; cluster.hosts() as usize],
            down: BinaryHeap::new(),
            cells: BTreeMap::new(),
            order: 0,
            inside: BTreeMap::new(),
            stopped: Vec::new(),
        })
    }

    /// Whether nothing is moving.
    pub fn idle(&self) -> bool {
        self.leaving.is_empty() && self.down.is_empty()
    }

    fn time(&self, flow_index: FlowIndex, seq: u32, routes: &Routes) -> Time {
        self.rate.time_for(routes.bytes(Cell::new(flow_index, seq)))
    }

    /// A flow arrives at its source.
    pub fn admit(&mut self, flow: FlowId, at: Time, io: &Io, routes: &Routes) {
        let src = io.flows.src[flow.index()];
        let flow_index = routes.flow_index[flow.index()];
        let cells = routes.cells[flow_index as usize];
        self.waiting += cells as u64;
        if routes.stays(flow_index) {
            let (left, bytes) = (cells, 0);
            self.inside.insert(flow_index, Inside { left, bytes });
        }
        let queue = &mut self.up[src.0 as usize];
        queue.push_back(ServerFlow {
            flow_index,
            seq: 0,
            run: 0,
        });
        if queue.len() == 1 {
            self.send_next(src.0, at, routes);
        }
    }

    /// The first cell of the server's turn leaves from `at` on.
    fn send_next(&mut self, host: u32, at: Time, routes: &Routes) {
        let Some(&ServerFlow {
            flow_index, seq, ..
        }) = self.up[host as usize].front()
        else {
            return;
        };
        let (rack, time) = (host / self.per_rack, self.time(flow_index, seq, routes));
        match self.stopped.iter_mut().find(|s| s.rack == rack) {
            Some(s) => s.up.push(Reverse((s.since + time, host))),
            None => self.leaving.push(Reverse((at + time, host))),
        }
    }

    /// The next cell that has left its server by `until`, as (when, server,
    /// flow); its flow is given back by [`Servers::again`].
    pub fn next_sent(&mut self, until: Time) -> Option<(Time, u32, ServerFlow)> {
        self.leaving.peek().filter(|l| l.0 .0 <= until)?;
        let Reverse((at, host)) = self.leaving.pop()?;
        let flow = self.up[host as usize].pop_front()?;
        self.waiting -= 1;
        Some((at, host, flow))
    }

    /// A flow has sent its cell at `at`; `run` is the id of the run that it joined.
    pub fn again(&mut self, host: u32, flow: ServerFlow, run: u32, at: Time, routes: &Routes) {
        if flow.seq + 1 < routes.cells[flow.flow_index as usize] {
            self.up[host as usize].push_back(ServerFlow {
                seq: flow.seq + 1,
                run,
                ..flow
            });
        }
        self.send_next(host, at, routes);
    }

    /// A cell that left its server at `at` is in its rack; says whether it stays there.
    pub fn turn_back(&mut self, flow: ServerFlow, at: Time, routes: &Routes, io: &mut Io) -> bool {
        let stays = routes.stays(flow.flow_index);
        if stays {
            let id = routes.flow[flow.flow_index as usize];
            io.start(id, at);
            let cell = Cell::new(flow.flow_index, flow.seq);
            self.arrive(io.flows.dst[id.index()], cell, at, routes);
        }
        stays
    }

    /// A cell from another rack has arrived at the rack of its server at `at`.
    pub fn arrive_across(&mut self, cell: Cell, at: Time, routes: &Routes, io: &Io) {
        let flow = routes.flow[cell.flow_index() as usize];
        self.arrive(io.flows.dst[flow.index()], cell, at, routes);
    }

    /// Counts a cell that is at its server at `at`, if its flow is within a rack; says whether
    /// it is.
    pub fn count_inside(&mut self, cell: Cell, at: Time, routes: &Routes, io: &mut Io) -> bool {
        let flow_index = cell.flow_index();
        let Some(inside) = self.inside.get_mut(&flow_index) else {
            return false;
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
        true
    }

    /// Writes what has been delivered of flows within racks.
    pub fn settle(&self, routes: &Routes, io: &mut Io) {
        for (&flow_index, inside) in &self.inside {
            let flow = routes.flow[flow_index as usize].index();
            io.flows.delivered[flow] = inside.bytes;
        }
    }

    /// A cell for server `host` has arrived at its rack switch at `at`.
    fn arrive(&mut self, host: HostId, cell: Cell, at: Time, routes: &Routes) {
        let free = &mut self.free[host.0 as usize];
        *free = at.max(*free) + self.rate.time_for(routes.bytes(cell));
        self.cells.insert(self.order, cell);
        self.down.push(Reverse((*free, self.order, host.0)));
        self.order += 1;
    }

    /// The next cell that is at its server by `until`.
    pub fn next_delivered(&mut self, until: Time) -> Option<(Time, Cell)> {
        self.down.peek().filter(|d| d.0 .0 <= until)?;
        let Reverse((at, order, ..)) = self.down.pop()?;
        self.cells.remove(&order).map(|cell| (at, cell))
    }

    /// A rack stands still from `now` on.
    pub fn stop(&mut self, rack: u32, now: Time) {
        let per = self.per_rack;
        let (up, go) = split(&mut self.leaving, |e| e.0 .1 / per == rack);
        self.leaving = go;
        let (down, go) = split(&mut self.down, |e| e.0 .2 / per == rack);
        self.down = go;
        self.stopped.push(Stopped {
            rack,
            since: now,
            up,
            down,
        });
    }

    /// It goes on.
    pub fn resume(&mut self, rack: u32, now: Time) {
        let Some(at) = self.stopped.iter().position(|s| s.rack == rack) else {
            return;
        };
        let s = self.stopped.swap_remove(at);
        let late = now - s.since;
        for host in rack * self.per_rack..(rack + 1) * self.per_rack {
            self.free[host as usize] += late;
        }
        let up = s.up.into_iter();
        self.leaving
            .extend(up.map(|Reverse((t, host))| Reverse((t + late, host))));
        let down = s.down.into_iter();
        self.down
            .extend(down.map(|Reverse((t, order, host))| Reverse((t + late, order, host))));
    }

    /// Bytes not yet sent and not yet delivered (for the audit).
    pub fn bytes(&self, routes: &Routes) -> u64 {
        let unsent = self.up.iter().flatten().map(|s| {
            let cells = s.seq..routes.cells[s.flow_index as usize];
            cells
                .map(|seq| routes.bytes(Cell::new(s.flow_index, seq)))
                .sum::<u64>()
        });
        let coming = self.cells.values().map(|&c| routes.bytes(c));
        unsent.sum::<u64>() + coming.sum::<u64>()
    }
}

/// Divides a heap into what `goes` and what stays.
fn split<T: Ord>(heap: &mut BinaryHeap<T>, goes: impl Fn(&T) -> bool) -> (Vec<T>, BinaryHeap<T>) {
    let all = std::mem::take(heap).into_vec().into_iter();
    let (gone, stays): (Vec<T>, Vec<T>) = all.partition(goes);
    (gone, stays.into())
}
