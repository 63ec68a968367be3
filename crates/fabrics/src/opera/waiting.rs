//! Low-latency packets that wait at their racks until a circuit has room for them.
//!
//! Packets that have crossed circuits go first, in order of arrival. All other packets are at the
//! rack of their source. With [`Discipline::Fair`] their flows take turns, one packet each, so that
//! a flow of megabytes delays a flow of one packet by at most one packet.

use crate::discipline::Discipline;
use lightloom_engine::FlowId;
use std::cmp::Reverse;
use std::collections::VecDeque;

/// Bytes of one flow that wait in one entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The flow of the bytes.
    pub flow: FlowId,
    /// Number of bytes; at most one packet if they are in transit.
    pub bytes: u64,
    /// Number of circuits that they have crossed.
    pub hops: u16,
}

/// The packets at one rack that wait for one destination. Each entry has a number; the lowest goes
/// first.
#[derive(Clone, Debug, Default)]
struct Queue {
    /// Bytes that have crossed circuits; they go first.
    under_way: VecDeque<(u64, Waiting)>,
    /// Bytes that have crossed no circuit; if flows take turns, each flow is here once, with all
    /// its bytes.
    new: VecDeque<(u64, Waiting)>,
}

impl Queue {
    fn kind(&mut self, under_way: bool) -> &mut VecDeque<(u64, Waiting)> {
        match under_way {
            true => &mut self.under_way,
            false => &mut self.new,
        }
    }

    /// The precedence of the first bytes (the largest goes first): whether they are in transit,
    /// then how long they have waited.
    fn precedence(&self) -> (bool, Reverse<u64>) {
        match (self.under_way.front(), self.new.front()) {
            (Some((since, _)), _) => (true, Reverse(*since)),
            (None, Some((since, _))) => (false, Reverse(*since)),
            (None, None) => (false, Reverse(u64::MAX)),
        }
    }

    fn is_empty(&self) -> bool {
        self.under_way.is_empty() && self.new.is_empty()
    }
}

/// The bytes that wait at all racks.
#[derive(Clone, Debug)]
pub struct RackQueues {
    racks: usize,
    /// Queues by rack, then by destination; empty for a rack at which nothing has waited yet.
    queues: Vec<Vec<Queue>>,
    /// By rack, the destinations of waiting packets, in any order.
    waits_for: Vec<Vec<u32>>,
    /// Number of entries so far, which numbers the next one.
    number: u64,
    /// If flows take turns: by flow, bytes that wait at the rack of its source.
    of_flows: Vec<u64>,
}

impl RackQueues {
    /// Empty queues for `racks` racks and `flows` flows.
    pub fn new(racks: u32, flows: usize, order: Discipline) -> RackQueues {
        let flows = if order == Discipline::Fair { flows } else { 0 };
        RackQueues {
            racks: racks as usize,
            queues: vec![Vec::new(); racks as usize],
            waits_for: vec![Vec::new(); racks as usize],
            number: 0,
            of_flows: vec![0; flows],
        }
    }

    fn takes_turns(&self) -> bool {
        !self.of_flows.is_empty()
    }

    /// The approximate memory of the queues if packets wait at all of these racks [B].
    pub fn memory(racks: u64) -> u64 {
        racks * racks * (std::mem::size_of::<Queue>() as u64 + 4)
    }

    /// Adds bytes that wait at a rack for a destination.
    pub fn push(&mut self, at: u32, to: u32, waiting: Waiting) {
        if self.takes_turns() && waiting.hops == 0 {
            let bytes = &mut self.of_flows[waiting.flow.index()];
            *bytes += waiting.bytes;
            if *bytes > waiting.bytes {
                // The flow has its place.
                return;
            }
        }
        let queues = &mut self.queues[at as usize];
        if queues.is_empty() {
            queues.resize(self.racks, Queue::default());
        }
        let queue = &mut queues[to as usize];
        if queue.is_empty() {
            self.waits_for[at as usize].push(to);
        }
        self.number += 1;
        let kind = queue.kind(waiting.hops > 0);
        kind.push_back((self.number, waiting));
    }

    /// Whether packets wait at a rack.
    pub fn any(&self, at: u32) -> bool {
        !self.waits_for[at as usize].is_empty()
    }

    /// The destinations of the packets that wait at a rack, in any order.
    pub fn destinations(&self, at: u32) -> &[u32] {
        &self.waits_for[at as usize]
    }

    /// Whether packets wait at a rack for a destination.
    pub fn any_for(&self, at: u32, to: u32) -> bool {
        let queues = &self.queues[at as usize];
        { queues.get(to as usize) }.is_some_and(|queue| !queue.is_empty())
    }

    /// The destination to serve next, among those for which `will_do` is true: the destination of
    /// bytes in transit if there are any, otherwise that of the bytes that have waited longest.
    pub fn first(&self, at: u32, will_do: impl Fn(u32) -> bool) -> Option<u32> {
        let queues = &self.queues[at as usize];
        let found = self.waits_for[at as usize].iter().copied();
        found
            .filter(|&to| will_do(to))
            .max_by_key(|&to| queues[to as usize].precedence())
    }

    /// Takes at most one packet of the bytes that a rack sends next to a destination.
    pub fn take(&mut self, at: u32, to: u32, packet: u64) -> Option<Waiting> {
        let takes_turns = self.takes_turns();
        let queue = self.queues[at as usize].get_mut(to as usize)?;
        let (under_way, _) = queue.precedence();
        let kind = queue.kind(under_way);
        let taken = if takes_turns && !under_way {
            self.number += 1;
            next_turn(kind, &mut self.of_flows, self.number, packet)?
        } else {
            next_in_order(kind, packet)?
        };
        if queue.is_empty() {
            self.waits_for[at as usize].retain(|&other| other != to);
        }
        Some(taken)
    }
}

/// Takes a packet of the first entry, which keeps its place until all its bytes are taken.
fn next_in_order(kind: &mut VecDeque<(u64, Waiting)>, packet: u64) -> Option<Waiting> {
    let (_, first) = kind.front_mut()?;
    let bytes = first.bytes.min(packet);
    let taken = Waiting { bytes, ..*first };
    first.bytes -= bytes;
    if first.bytes == 0 {
        kind.pop_front();
    }
    Some(taken)
}

/// Takes a packet of the flow whose turn it is; the flow then is the last.
fn next_turn(
    kind: &mut VecDeque<(u64, Waiting)>,
    of_flows: &mut [u64],
    number: u64,
    packet: u64,
) -> Option<Waiting> {
    let (_, first) = kind.pop_front()?;
    let left = &mut of_flows[first.flow.index()];
    let bytes = packet.min(*left);
    *left -= bytes;
    if *left > 0 {
        kind.push_back((number, first));
    }
    Some(Waiting { bytes, ..first })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RACKS: u32 = 4;

    proptest! {
        /// Compares with a model that has one list at each rack.
        #[test]
        fn what_is_under_way_goes_first_then_what_waits_longest(
            steps in prop::collection::vec((0..RACKS, 0..RACKS, 0u16..3, 1u64..40, 0u32..16), 1..200),
        ) {
            check(Discipline::Fifo, steps)?;
        }

        /// Compares with the model if flows take turns: a flow whose packet was taken is behind all
        /// others.
        #[test]
        fn flows_take_turns(
            steps in prop::collection::vec((0..RACKS, 0..RACKS, 0u16..3, 1u64..40, 0u32..16), 1..200),
        ) {
            check(Discipline::Fair, steps)?;
        }
    }

    type Step = (u32, u32, u16, u64, u32);

    /// Each pair has one new flow, whose later bytes join those that wait.
    fn check(order: Discipline, steps: Vec<Step>) -> Result<(), TestCaseError> {
        let mut queues = RackQueues::new(RACKS, 1_000, order);
        let mut list: Vec<(u32, u32, Waiting)> = Vec::new();
        for (number, (at, to, hops, bytes, open)) in (0u32..).zip(steps) {
            if number % 2 == 0 {
                let same = order == Discipline::Fair && hops == 0 && number % 4 == 0;
                let flow = FlowId(if same { 500 + at * RACKS + to } else { number });
                let waiting = Waiting { flow, bytes, hops };
                queues.push(at, to, waiting);
                let there = list.iter_mut().find(|row| row.2.flow == flow);
                match there {
                    Some(row) => row.2.bytes += bytes,
                    None => list.push((at, to, waiting)),
                }
                continue;
            }
            let will_do = |to: u32| open >> to & 1 == 1;
            let mut candidates: Vec<usize> = (0..list.len())
                .filter(|&k| list[k].0 == at && will_do(list[k].1))
                .collect();
            candidates.sort_by_key(|&k| (list[k].2.hops == 0, k));
            let first = queues.first(at, will_do);
            prop_assert_eq!(first, candidates.first().map(|&k| list[k].1));
            let (Some(to), Some(&k)) = (first, candidates.first()) else {
                continue;
            };
            let taken = queues.take(at, to, 15).expect("something waits");
            let mut row = list.remove(k);
            prop_assert_eq!((taken.flow, taken.hops), (row.2.flow, row.2.hops));
            prop_assert_eq!(taken.bytes, row.2.bytes.min(15));
            row.2.bytes -= taken.bytes;
            let goes_behind = order == Discipline::Fair && row.2.hops == 0;
            match row.2.bytes {
                0 => {}
                _ if goes_behind => list.push(row),
                _ => list.insert(k, row),
            }
            for at in 0..RACKS {
                prop_assert_eq!(queues.any(at), list.iter().any(|row| row.0 == at));
                for to in 0..RACKS {
                    let any = list.iter().any(|row| (row.0, row.1) == (at, to));
                    prop_assert_eq!(queues.any_for(at, to), any);
                }
            }
        }
        Ok(())
    }

    /// A flow of 100 packets waits at its rack when a flow of one packet arrives: the latter waits
    /// for one packet.
    #[test]
    fn an_elephant_delays_a_mouse_by_a_packet() {
        for (order, before) in [(Discipline::Fair, 1), (Discipline::Fifo, 100)] {
            let mut queues = RackQueues::new(RACKS, 2, order);
            let flow = |flow, bytes| Waiting {
                flow: FlowId(flow),
                bytes,
                hops: 0,
            };
            queues.push(0, 1, flow(0, 150_000));
            queues.push(0, 1, flow(1, 1_500));
            let mut taken = std::iter::from_fn(|| queues.take(0, 1, 1_500));
            assert_eq!(taken.position(|w| w.flow == FlowId(1)), Some(before));
        }
    }
}
