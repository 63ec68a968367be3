//! The state that a fabric shares with the engine: the arrival cursor, the flow columns, and the
//! ledger that counts every byte exactly once.

use crate::audit::Audit;
use crate::deliveries::Deliveries;
use crate::flows::Flows;
use crate::halt::Halt;
use crate::ids::FlowId;
use crate::time::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The number of bytes in each state. `offered = delivered + dropped + in flight`, always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Flows handed to the fabric.
    pub flows_offered: u64,
    /// Flows delivered completely.
    pub flows_completed: u64,
    /// Bytes handed to the fabric.
    pub offered: u64,
    /// Bytes delivered to their destination hosts.
    pub delivered: u64,
    /// Bytes that were dropped permanently.
    pub dropped: u64,
    /// Cells or packets lost in transit, whether retransmitted or dropped.
    pub losses: u64,
}

impl Ledger {
    /// Bytes inside the fabric.
    pub fn in_flight(&self) -> u64 {
        self.offered - self.delivered - self.dropped
    }
}

/// The fabric's side of the engine.
#[derive(Clone, Debug)]
pub struct Io {
    /// The flow columns.
    pub flows: Flows,
    /// Byte counts.
    pub ledger: Ledger,
    /// The record of every transmission, if a test requests it.
    pub audit: Option<Audit>,
    /// Counts of bytes delivered until certain instants, if a throughput is measured; the run loop
    /// updates them.
    pub deliveries: Option<Deliveries>,
    /// The flag by which the caller requests the end: a fabric then stops during a horizon.
    pub halt: Halt,
    open: usize,
    open_order: Vec<FlowId>,
    /// The latest delivery or barrier among the predecessors of each node; empty without
    /// dependencies.
    latest: Vec<Time>,
    /// Nodes whose dependent nodes are not updated yet; empty between calls.
    reached: Vec<(FlowId, Time)>,
    /// The number of nodes that each turnstile has released.
    through: Vec<u32>,
    released: BinaryHeap<Reverse<(Time, FlowId)>>,
}

impl Io {
    /// Offers `flows`: those with a known arrival at that time, others when their predecessors have
    /// been delivered.
    pub fn new(flows: Flows) -> Io {
        let mut open_order: Vec<FlowId> = (0..flows.len() as u32)
            .map(FlowId)
            .filter(|f| flows.arrival[f.index()] != Time::NEVER)
            .collect();
        open_order.sort_by_key(|f| flows.arrival[f.index()]);
        let nodes = flows.after.nodes();
        let mut io = Io {
            latest: vec![Time::ZERO; nodes],
            reached: Vec::new(),
            through: vec![0; flows.after.turnstiles as usize],
            flows,
            ledger: Ledger::default(),
            audit: None,
            deliveries: None,
            halt: Halt::default(),
            open: 0,
            open_order,
            released: BinaryHeap::new(),
        };
        let barriers = io.flows.len()..nodes - io.through.len();
        let free = barriers.filter(|&b| io.flows.after.missing[b] == 0);
        io.reached = free
            .map(|b| (FlowId(b as u32), io.flows.after.delay[b]))
            .collect();
        io.release();
        io
    }

    /// The time of the next arrival that is known.
    #[inline]
    pub fn next_arrival(&self) -> Option<Time> {
        let open = self
            .open_order
            .get(self.open)
            .map(|f| self.flows.arrival[f.index()]);
        let released = self.released.peek().map(|r| r.0 .0);
        match (open, released) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Takes the next flow that arrives at or before `now`, in order of arrival.
    #[inline]
    pub fn arrive(&mut self, now: Time) -> Option<FlowId> {
        let next = self.next_arrival()?;
        if next > now {
            return None;
        }
        let flow = match self.open_order.get(self.open) {
            Some(&f) if self.flows.arrival[f.index()] == next => {
                self.open += 1;
                f
            }
            _ => self.released.pop()?.0 .1,
        };
        self.ledger.flows_offered += 1;
        self.ledger.offered += self.flows.bytes[flow.index()];
        Some(flow)
    }

    /// Records that the fabric has begun to serve `flow`; only the first call has an effect.
    #[inline]
    pub fn start(&mut self, flow: FlowId, at: Time) {
        let start = &mut self.flows.start[flow.index()];
        if at < *start {
            *start = at;
        }
    }

    /// Hands `bytes` of `flow` to its destination host at `at`.
    #[inline]
    pub fn deliver(&mut self, flow: FlowId, bytes: u64, at: Time) {
        let f = flow.index();
        self.ledger.delivered += bytes;
        self.flows.delivered[f] += bytes;
        debug_assert!(
            self.flows.delivered[f] <= self.flows.bytes[f],
            "delivered more than was sent"
        );
        if self.flows.delivered[f] == self.flows.bytes[f] {
            self.complete(flow, at);
        }
    }

    /// Counts `bytes` as delivered without naming the flow, for kernels that keep the progress of
    /// flows in their own columns and call [`Io::finish`].
    #[inline]
    pub fn deliver_some(&mut self, bytes: u64) {
        self.ledger.delivered += bytes;
    }

    /// Records that the last byte of `flow` was delivered at `at`; [`Io::deliver_some`] has counted
    /// its bytes.
    pub fn finish(&mut self, flow: FlowId, at: Time) {
        self.flows.delivered[flow.index()] = self.flows.bytes[flow.index()];
        self.complete(flow, at);
    }

    fn complete(&mut self, flow: FlowId, at: Time) {
        self.ledger.flows_completed += 1;
        self.flows.finish[flow.index()] = at;
        if !self.flows.after.is_empty() {
            self.reached.push((flow, at));
            self.release();
        }
    }

    /// Updates the dependent nodes of all reached nodes. If a node has no predecessors left, it
    /// arrives if it is a flow, and is reached if it is a barrier.
    fn release(&mut self) {
        while let Some((node, at)) = self.reached.pop() {
            for edge in self.flows.after.row(node) {
                let waits = self.flows.after.edges[edge];
                match self.flows.after.turnstile(waits) {
                    None => self.tell(waits, at),
                    Some(number) => self.turn(waits, number, at),
                }
            }
        }
    }

    /// Records that one predecessor of `node` was reached at `at`.
    #[inline]
    fn tell(&mut self, node: FlowId, at: Time) {
        let after = &mut self.flows.after;
        // Within a slot kernels may report deliveries out of order of time.
        let latest = &mut self.latest[node.index()];
        *latest = at.max(*latest);
        after.missing[node.index()] -= 1;
        if after.missing[node.index()] > 0 {
            return;
        }
        let then = Time(latest.0.saturating_add(after.delay[node.index()].0));
        if node.index() < self.flows.src.len() {
            self.flows.arrival[node.index()] = then;
            self.released.push(Reverse((then, node)));
        } else {
            self.reached.push((node, then));
        }
    }

    /// Releases the next node in the row of a turnstile that was reached at `at`.
    fn turn(&mut self, turnstile: FlowId, number: usize, at: Time) {
        let row = self.flows.after.row(turnstile);
        let next = row.start + self.through[number] as usize;
        if next < row.end {
            self.through[number] += 1;
            self.tell(self.flows.after.edges[next], at);
        }
    }

    /// The time at which `node` was delivered (a flow) or is reached (a barrier; it may be in the
    /// future because of its compute time). [`Time::NEVER`] if a predecessor is missing.
    pub fn completed(&self, node: FlowId) -> Time {
        let (n, after) = (node.index(), &self.flows.after);
        if n < self.flows.len() {
            return self.flows.finish[n];
        }
        match after.missing[n] {
            0 => Time(self.latest[n].0.saturating_add(after.delay[n].0)),
            _ => Time::NEVER,
        }
    }

    /// The end of the last job whose end is known, including compute time; zero without jobs.
    pub fn jobs_end(&self) -> Time {
        let ends = self.flows.after.jobs.iter().map(|j| self.completed(j.end));
        latest(ends)
    }

    /// The last delivery so far, or [`Io::jobs_end`] if that is later.
    pub fn last_completion(&self) -> Time {
        latest(self.flows.finish.iter().copied()).max(self.jobs_end())
    }

    /// Counts a cell or packet that was lost in transit; its bytes stay in flight until they are
    /// retransmitted.
    pub fn lose(&mut self) {
        self.ledger.losses += 1;
    }

    /// Drops `bytes` of a flow permanently.
    pub fn drop(&mut self, bytes: u64) {
        self.ledger.dropped += bytes;
    }

    /// Whether no flow will arrive unless another one is delivered first.
    pub fn exhausted(&self) -> bool {
        self.next_arrival().is_none()
    }
}

/// The latest of the times that are known; zero without any.
fn latest(times: impl Iterator<Item = Time>) -> Time {
    times
        .filter(|&t| t != Time::NEVER)
        .max()
        .unwrap_or(Time::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flows::Dependencies;
    use crate::ids::HostId;

    /// Regression test for closed loops on slotted fabrics: flow 2 depended on a delivery at 9 ns
    /// and on one at 4 ns that was reported later, and started at 5 ns.
    #[test]
    fn a_flow_waits_for_the_latest_delivery_whatever_the_order_of_reports() {
        let mut flows = Flows::new();
        for _ in 0..3 {
            flows.push(HostId(0), HostId(1), 10, Time::ZERO);
        }
        flows.arrival[2] = Time::NEVER;
        flows.after = Dependencies {
            starts: vec![0, 1, 2, 2],
            edges: vec![FlowId(2), FlowId(2)],
            missing: vec![0, 0, 2],
            delay: vec![Time::NS; 3],
            ..Dependencies::default()
        };
        let mut io = Io::new(flows);
        while io.arrive(Time::ZERO).is_some() {}
        io.deliver(FlowId(0), 10, Time::NS * 9);
        assert_eq!(io.next_arrival(), None);
        io.deliver(FlowId(1), 10, Time::NS * 4);
        assert_eq!(io.next_arrival(), Some(Time::NS * 10));
        assert_eq!(io.arrive(Time::NS * 10), Some(FlowId(2)));
    }

    /// Flows 0 and 1 trigger a turnstile for which flows 2, 3 and 4 wait; flow 2 triggers it once
    /// more.
    #[test]
    fn a_turnstile_lets_one_through_each_time() {
        let mut flows = Flows::new();
        for f in 0..5 {
            let at = if f < 2 { Time::ZERO } else { Time::NEVER };
            flows.push(HostId(0), HostId(1), 10, at);
        }
        let turnstile = FlowId(5);
        let fired = [0, 1, 2].map(|f| (turnstile, FlowId(f)));
        let waiting = [2, 3, 4].map(|f| (FlowId(f), turnstile));
        flows.after = Dependencies::of(vec![Time::ZERO; 6], &[fired, waiting].concat());
        flows.after.turnstiles = 1;
        let mut io = Io::new(flows);
        while io.arrive(Time::ZERO).is_some() {}
        io.deliver(FlowId(1), 10, Time::NS * 3);
        assert_eq!(io.arrive(Time::NEVER), Some(FlowId(2)));
        assert_eq!(io.next_arrival(), None);
        io.deliver(FlowId(0), 10, Time::NS * 4);
        assert_eq!(io.arrive(Time::NEVER), Some(FlowId(3)));
        io.deliver(FlowId(3), 10, Time::NS * 5);
        assert_eq!(io.next_arrival(), None);
        io.deliver(FlowId(2), 10, Time::NS * 6);
        assert_eq!(io.arrive(Time::NEVER), Some(FlowId(4)));
        io.deliver(FlowId(4), 10, Time::NS * 7);
        assert!(io.exhausted());
        let arrived: Vec<i64> = io.flows.arrival.iter().map(|t| t.0 / 1000).collect();
        assert_eq!(arrived, [0, 0, 3, 4, 6]);
    }
}
