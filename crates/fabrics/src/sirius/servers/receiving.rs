//! The links from rack switches to their servers.
//!
//! Cells wait at the rack switch: flows take turns, one cell each ([`Discipline::Fair`]), or cells
//! leave in order of arrival ([`Discipline::Fifo`]). The reorder buffer is in the server, behind
//! the link; a cell is delivered when it has left the link.

use super::due::Due;
use crate::discipline::{Discipline, Turns};
use crate::sirius::cell::{Cell, FlowIndex, Routes};
use crate::sirius::prefetch::{hinted, prefetch};
use lightloom_engine::{Cluster, FlowId, Flows, Rate, Time};
use std::collections::VecDeque;

/// End of a list; no cell.
const NONE: u32 = u32::MAX;

/// The receiving side of a flow. Its fields are stored together, because flows are accessed in
/// random order and each access then reads memory once.
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
    /// Time of its arrival.
    pub at: Time,
    pub cell: Cell,
    /// Whether it has come from the same rack.
    pub inside: bool,
}

/// A cell that waits for the link to its server.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    cell: Cell,
    inside: bool,
    /// The next cell of its flow; for unused entries, the next unused one.
    next: u32,
}

/// The first and the last waiting cell of a flow.
#[derive(Clone, Copy, Debug)]
struct Queue {
    head: u32,
    tail: u32,
}

/// The links, without their due times.
#[derive(Clone, Debug)]
struct Links {
    discipline: Discipline,
    rate: Rate,
    per_rack: u32,
    payload: u64,
    /// Time that a full cell takes on the link.
    full: Time,
    /// The receiving side of each flow, by flow index.
    ends: Vec<End>,
    /// Time at which the link to each server is free, by server.
    free: Vec<Time>,
    /// By server, the cells on its link.
    sent: Vec<VecDeque<Coming>>,
    /// The flows whose cells wait, by server.
    turns: Turns,
    /// By flow index, its waiting cells; empty if flows do not take turns.
    queues: Vec<Queue>,
    cells: Vec<Waiting>,
    unused: u32,
    /// Bytes that wait or are on links, by rack.
    held: Vec<u64>,
}

impl Links {
    /// Time that a cell takes on a link.
    #[inline]
    fn time(&self, end: End, seq: u32) -> Time {
        match seq + 1 == end.cells {
            true => self.rate.time_for(end.last as u64),
            false => self.full,
        }
    }

    /// Payload of a cell [B].
    #[inline]
    fn bytes(&self, end: End, seq: u32) -> u64 {
        match seq + 1 == end.cells {
            true => end.last as u64,
            false => self.payload,
        }
    }

    /// Handles a cell that has arrived at the rack switch of its server at `at`. Returns the
    /// server, and the time at which the cell reaches it if no other cell is before it.
    #[inline]
    fn arrive(&mut self, cell: Cell, at: Time, inside: bool) -> (u32, Option<Time>) {
        let end = self.ends[cell.flow_index() as usize];
        let host = end.host as usize;
        self.held[(end.host / self.per_rack) as usize] += self.bytes(end, cell.seq());
        let idle = self.sent[host].is_empty();
        if self.discipline == Discipline::Fair {
            self.send_waiting(host, at);
            if self.free[host] > at && !idle {
                self.wait(host, cell, inside);
                return (end.host, None);
            }
        }
        self.send(end, cell, inside, at);
        (end.host, idle.then_some(self.free[host]))
    }

    /// Puts a cell on its link at `at`, or as soon as the link is free.
    #[inline]
    fn send(&mut self, end: End, cell: Cell, inside: bool, at: Time) {
        let host = end.host as usize;
        let at = at.max(self.free[host]) + self.time(end, cell.seq());
        self.free[host] = at;
        self.sent[host].push_back(Coming { at, cell, inside });
    }

    /// Adds a cell to the queue of its flow.
    fn wait(&mut self, host: usize, cell: Cell, inside: bool) {
        let waiting = Waiting {
            cell,
            inside,
            next: NONE,
        };
        let row = match self.unused {
            NONE => {
                self.cells.push(waiting);
                (self.cells.len() - 1) as u32
            }
            row => {
                self.unused = self.cells[row as usize].next;
                self.cells[row as usize] = waiting;
                row
            }
        };
        let queue = &mut self.queues[cell.flow_index() as usize];
        match queue.head {
            NONE => {
                queue.head = row;
                self.turns.join(host, cell.flow_index());
            }
            _ => self.cells[queue.tail as usize].next = row,
        }
        queue.tail = row;
    }

    /// Puts waiting cells of a server on its link while the link is free by `until`.
    #[inline]
    fn send_waiting(&mut self, host: usize, until: Time) {
        while self.free[host] <= until {
            let Some(flow) = self.turns.first(host) else {
                return;
            };
            let Waiting { cell, inside, .. } = self.take(host, flow);
            let end = self.ends[flow as usize];
            self.send(end, cell, inside, self.free[host]);
        }
    }

    /// The first cell of the flow whose turn it is.
    fn take(&mut self, host: usize, flow: FlowIndex) -> Waiting {
        let queue = &mut self.queues[flow as usize];
        let row = queue.head;
        let waiting = self.cells[row as usize];
        queue.head = waiting.next;
        match waiting.next {
            NONE => _ = self.turns.leave(host),
            _ => self.turns.rotate(host),
        }
        self.cells[row as usize].next = self.unused;
        self.unused = row;
        waiting
    }

    /// Moves the cells that are at their server by `until` to the end of `there`; returns the time
    /// of the next.
    #[inline]
    fn deliver(&mut self, host: u32, until: Time, there: &mut Vec<Coming>) -> Time {
        self.send_waiting(host as usize, until);
        let rack = (host / self.per_rack) as usize;
        loop {
            let Some(&coming) = self.sent[host as usize].front() else {
                return Time::NEVER;
            };
            if coming.at > until {
                return coming.at;
            }
            self.sent[host as usize].pop_front();
            let end = self.ends[coming.cell.flow_index() as usize];
            self.held[rack] -= self.bytes(end, coming.cell.seq());
            there.push(coming);
        }
    }
}

/// The links from rack switches to servers, with the times at which cells leave them.
#[derive(Clone, Debug)]
pub struct Receiving {
    links: Links,
    /// The time at which the next cell reaches each server.
    arriving: Due,
}

impl Receiving {
    /// Bytes of memory per server, and per flow.
    pub const BYTES: (u64, u64) = (
        (size_of::<VecDeque<Coming>>() + 2 * size_of::<Time>() + 8) as u64,
        (size_of::<End>() + size_of::<Queue>() + 4) as u64,
    );

    /// Idle links of a rate.
    pub fn new(
        rate: Rate,
        discipline: Discipline,
        cluster: &Cluster,
        flows: &Flows,
        routes: &Routes,
    ) -> Receiving {
        let end = |(&FlowId(flow), (&cells, &last))| End {
            host: flows.dst[flow as usize].0,
            cells,
            last,
        };
        let cells = routes.cells.iter().zip(&routes.last);
        let hosts = cluster.hosts() as usize;
        let empty = Queue {
            head: NONE,
            tail: NONE,
        };
        let take_turns = match discipline {
            Discipline::Fair => flows.len(),
            Discipline::Fifo => 0,
        };
        Receiving {
            links: Links {
                discipline,
                rate,
                per_rack: cluster.servers_per_rack,
                payload: routes.payload,
                full: rate.time_for(routes.payload),
                ends: routes.flow.iter().zip(cells).map(end).collect(),
                free: vec![Time::ZERO; hosts],
                sent: vec![VecDeque::new(); hosts],
                turns: Turns::new(hosts, take_turns),
                queues: vec![empty; take_turns],
                cells: Vec::new(),
                unused: NONE,
                held: vec![0; cluster.racks as usize],
            },
            arriving: Due::new(cluster),
        }
    }

    /// Whether nothing is moving.
    pub fn idle(&self) -> bool {
        self.arriving.is_empty()
    }

    /// Time that a cell of a flow takes on a link of that rate.
    #[inline]
    pub fn time(&self, flow_index: FlowIndex, seq: u32) -> Time {
        let links = &self.links;
        links.time(links.ends[flow_index as usize], seq)
    }

    /// A cell has arrived at the rack switch of its server at `at`.
    #[inline]
    pub fn arrive(&mut self, cell: Cell, at: Time, inside: bool) {
        if let (host, Some(there)) = self.links.arrive(cell, at, inside) {
            self.arriving.set(host, there);
        }
    }

    /// Handles cells from other racks that have arrived at the racks of their servers at `at`.
    pub fn arrive_across(&mut self, cells: &[Cell], at: Time) {
        let end = |cell: &Cell| cell.flow_index() as usize;
        let hint = |receiving: &Receiving, cell: &Cell| prefetch(&receiving.links.ends, end(cell));
        hinted(cells, self, hint, |receiving, &cell| {
            receiving.arrive(cell, at, false)
        });
    }

    /// Moves the cells of a rack that are at their servers by `until` to the end of `there`.
    #[inline]
    pub fn deliver(&mut self, rack: u32, until: Time, there: &mut Vec<Coming>) {
        let links = &mut self.links;
        self.arriving
            .pass(rack, until, |host| links.deliver(host, until, there));
    }

    /// Stops the links of a rack.
    pub fn stop(&mut self, rack: u32) {
        for host in self.arriving.servers(rack) {
            self.arriving.set(host, Time::NEVER);
        }
    }

    /// The servers of a rack resume; their cells arrive `late` later.
    pub fn resume(&mut self, rack: u32, late: Time) {
        for host in self.arriving.servers(rack) {
            self.links.free[host as usize] += late;
            let sent = &mut self.links.sent[host as usize];
            sent.iter_mut().for_each(|coming| coming.at += late);
            let next = sent.front().map_or(Time::NEVER, |coming| coming.at);
            self.arriving.set(host, next);
        }
    }

    /// Bytes at a rack that wait for the links to its servers, or are on them.
    #[inline]
    pub fn at(&self, rack: u32) -> u64 {
        self.links.held[rack as usize]
    }
}
