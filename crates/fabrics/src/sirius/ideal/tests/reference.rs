//! The rules of SIRIUS (IDEAL) once more, as plainly as they can be put: cells
//! in lists, windows counted afresh for every cell. Slow, and compared flow by
//! flow with the kernel.

use super::*;
use crate::sirius::config::{Derived, Intermediates};

/// A cell on its way to an intermediate, or there.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Relayed {
    flow: usize,
    seq: u64,
    via: u32,
    /// The slot from which it waits there.
    from: i64,
}

/// All of the state.
pub struct Plain<'a> {
    config: &'a SiriusConfig,
    derived: &'a Derived,
    cluster: &'a Cluster,
    flows: &'a Flows,
    /// Flows of each node by place; the place whose turn it is.
    places: Vec<(Vec<Option<usize>>, usize)>,
    next: Vec<u64>,
    /// Cells away, in order of sending.
    away: Vec<Relayed>,
    /// Flows that wait for their second hop, by node and destination.
    turns: Vec<Vec<Vec<usize>>>,
    arrived: Vec<u64>,
    /// When the first cell left and the last arrived.
    pub start: Vec<Time>,
    /// The same of the last.
    pub finish: Vec<Time>,
    /// Cells sent.
    pub hops: u64,
    /// Most cells that wait for their second hop at a node.
    pub peak: u64,
}

impl<'a> Plain<'a> {
    /// Runs until everything is delivered.
    pub fn run(
        config: &'a SiriusConfig,
        derived: &'a Derived,
        cluster: &'a Cluster,
        flows: &'a Flows,
    ) -> Self {
        let n = cluster.racks as usize;
        let mut plain = Plain {
            config,
            derived,
            cluster,
            flows,
            places: vec![(Vec::new(), 0); n],
            next: vec![0; flows.len()],
            away: Vec::new(),
            turns: vec![vec![Vec::new(); n]; n],
            arrived: vec![0; flows.len()],
            start: vec![Time::NEVER; flows.len()],
            finish: vec![Time::NEVER; flows.len()],
            hops: 0,
            peak: 0,
        };
        let mut admitted = 0;
        for slot in 0.. {
            while admitted < flows.len() && flows.arrival[admitted] <= config.slot * slot {
                plain.admit(admitted);
                admitted += 1;
            }
            plain.slot(slot);
            let over = plain.finish.iter().all(|&f| f != Time::NEVER);
            if over && admitted == flows.len() {
                break;
            }
            assert!(slot < 1_000_000, "nothing moves any more");
        }
        plain
    }

    fn cells(&self, flow: usize) -> u64 {
        self.flows.bytes[flow].div_ceil(self.derived.cell)
    }

    fn ends(&self, flow: usize) -> (u32, u32) {
        (
            self.cluster.rack_of(self.flows.src[flow]),
            self.cluster.rack_of(self.flows.dst[flow]),
        )
    }

    fn admit(&mut self, flow: usize) {
        let (src, dst) = self.ends(flow);
        if src == dst {
            let rate = self.cluster.rack_rate();
            self.start[flow] = self.flows.arrival[flow];
            self.finish[flow] = self.start[flow] + rate.time_for(self.flows.bytes[flow]);
            return;
        }
        let places = &mut self.places[src as usize].0;
        match places.iter().position(Option::is_none) {
            Some(free) => places[free] = Some(flow),
            None => places.push(Some(flow)),
        }
    }

    fn slot(&mut self, slot: i64) {
        let then = self.away.clone();
        let mut landed: Vec<Relayed> = Vec::new();
        let mut left: Vec<Relayed> = Vec::new();
        let schedule = &self.derived.schedule;
        for node in (0..self.cluster.racks).map(|label| schedule.node(label)) {
            for uplink in 0..self.derived.uplinks {
                let peer = schedule.peer(node, uplink, slot).0;
                if let Some(&flow) = self.turns[node as usize][peer as usize].first() {
                    let cell = self.first_there(flow, node, slot).unwrap();
                    left.push(cell);
                    self.turns[node as usize][peer as usize].remove(0);
                    self.deliver(flow, slot);
                } else if let Some(flow) = self.next_flow(node, peer, &then) {
                    self.send(flow, node, peer, slot);
                }
            }
        }
        self.away.retain(|c| !left.contains(c));
        for cell in left {
            if self.first_there(cell.flow, cell.via, slot).is_some() {
                let dst = self.ends(cell.flow).1 as usize;
                self.turns[cell.via as usize][dst].push(cell.flow);
            }
        }
        landed.extend(self.away.iter().filter(|c| c.from == slot + 1));
        for cell in landed {
            let dst = self.ends(cell.flow).1 as usize;
            let turns = &mut self.turns[cell.via as usize][dst];
            if !turns.contains(&cell.flow) {
                turns.push(cell.flow);
            }
        }
        self.free_places();
        let here = |n: u32| {
            self.away
                .iter()
                .filter(|c| c.via == n && c.from <= slot + 1)
                .count()
        };
        let worst = (0..self.cluster.racks).map(here).max().unwrap();
        self.peak = self.peak.max(worst as u64);
    }

    /// The flow's first cell that waits at `via` in `slot`.
    fn first_there(&self, flow: usize, via: u32, slot: i64) -> Option<Relayed> {
        let there = |c: &&Relayed| c.flow == flow && c.via == via && c.from <= slot;
        self.away.iter().find(there).copied()
    }

    fn next_flow(&mut self, node: u32, peer: u32, then: &[Relayed]) -> Option<usize> {
        let others = self.config.intermediates == Intermediates::Others;
        let window = self.config.ideal_window as usize;
        let (places, turn) = &self.places[node as usize];
        let may = |flow: usize| {
            let away = then
                .iter()
                .filter(|c| c.flow == flow && c.via == peer)
                .count();
            let (src, dst) = self.ends(flow);
            let excluded = others && (peer == src || peer == dst);
            self.next[flow] < self.cells(flow) && away < window && !excluded
        };
        let round = (*turn..places.len()).chain(0..(*turn).min(places.len()));
        let place = round.into_iter().find(|&p| places[p].is_some_and(may))?;
        let flow = places[place];
        // Places come in words of 64: behind the last is room for more.
        let room = places.len().div_ceil(64) * 64;
        self.places[node as usize].1 = (place + 1) % room;
        flow
    }

    fn send(&mut self, flow: usize, node: u32, peer: u32, slot: i64) {
        let delay = self.config.propagation.div_ceil(self.config.slot);
        let seq = self.next[flow];
        self.next[flow] += 1;
        self.start[flow] = self.start[flow].min(self.config.slot * slot);
        debug_assert_eq!(self.ends(flow).0, node);
        if self.ends(flow).1 == peer {
            self.deliver(flow, slot);
            return;
        }
        self.hops += 1;
        self.away.push(Relayed {
            flow,
            seq,
            via: peer,
            from: slot + delay + 1,
        });
    }

    fn deliver(&mut self, flow: usize, slot: i64) {
        self.hops += 1;
        self.arrived[flow] += 1;
        if self.arrived[flow] == self.cells(flow) {
            self.finish[flow] = self.config.slot * (slot + 1) + self.config.propagation;
        }
    }

    fn free_places(&mut self) {
        for (places, _) in &mut self.places {
            for place in places.iter_mut() {
                let over = |f: usize| {
                    let cells = self.flows.bytes[f].div_ceil(self.derived.cell);
                    self.next[f] == cells && self.away.iter().all(|c| c.flow != f)
                };
                *place = place.filter(|&f| !over(f));
            }
        }
    }
}
