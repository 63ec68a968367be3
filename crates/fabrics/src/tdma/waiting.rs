//! Low-latency packets that wait at their racks until a circuit has room for them.

use lightloom_engine::FlowId;
use std::cmp::Reverse;
use std::collections::VecDeque;

/// Bytes of a flow that wait together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Of this flow.
    pub flow: FlowId,
    /// How many: of what is under way no more than a packet.
    pub bytes: u64,
    /// Circuits that they have crossed.
    pub hops: u16,
}

/// At a rack, what waits to go to one other: first in, first out.
#[derive(Clone, Debug, Default)]
struct Queue {
    /// It has crossed circuits, and goes first.
    under_way: VecDeque<(u64, Waiting)>,
    /// It has not.
    new: VecDeque<(u64, Waiting)>,
}

impl Queue {
    fn kind(&mut self, under_way: bool) -> &mut VecDeque<(u64, Waiting)> {
        match under_way {
            true => &mut self.under_way,
            false => &mut self.new,
        }
    }

    /// What goes first has more of this: whether it is under way, and how long it waits.
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

/// What waits at all racks.
#[derive(Clone, Debug)]
pub struct RackQueues {
    racks: usize,
    /// By rack, then by destination; none for a rack at which nothing has waited yet.
    queues: Vec<Vec<Queue>>,
    /// By rack, the destinations for which something waits, in any order.
    waits_for: Vec<Vec<u32>>,
    /// How much has begun to wait so far.
    number: u64,
}

impl RackQueues {
    /// Nothing waits at so many racks.
    pub fn new(racks: u32) -> RackQueues {
        RackQueues {
            racks: racks as usize,
            queues: vec![Vec::new(); racks as usize],
            waits_for: vec![Vec::new(); racks as usize],
            number: 0,
        }
    }

    /// Memory where something waits at all of so many racks, about [B].
    pub fn memory(racks: u64) -> u64 {
        racks * racks * (std::mem::size_of::<Queue>() as u64 + 4)
    }

    /// Something waits at a rack for one other.
    pub fn push(&mut self, at: u32, to: u32, waiting: Waiting) {
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

    /// Whether anything waits at a rack.
    pub fn any(&self, at: u32) -> bool {
        !self.waits_for[at as usize].is_empty()
    }

    /// The racks for which something waits at one, in any order.
    pub fn destinations(&self, at: u32) -> &[u32] {
        &self.waits_for[at as usize]
    }

    /// Whether anything waits at a rack for one other.
    pub fn any_for(&self, at: u32, to: u32) -> bool {
        let queues = &self.queues[at as usize];
        { queues.get(to as usize) }.is_some_and(|queue| !queue.is_empty())
    }

    /// The destination, of those that will do, of what goes first: of what is under way, or
    /// else of all, what has waited longest.
    pub fn first(&self, at: u32, will_do: impl Fn(u32) -> bool) -> Option<u32> {
        let queues = &self.queues[at as usize];
        let found = self.waits_for[at as usize].iter().copied();
        found
            .filter(|&to| will_do(to))
            .max_by_key(|&to| queues[to as usize].precedence())
    }

    /// No more than a packet of what goes first of what waits at a rack for one other.
    pub fn take(&mut self, at: u32, to: u32, packet: u64) -> Option<Waiting> {
        let queue = self.queues[at as usize].get_mut(to as usize)?;
        let (under_way, _) = queue.precedence();
        let kind = queue.kind(under_way);
        let (_, first) = kind.front_mut()?;
        let taken = Waiting {
            bytes: first.bytes.min(packet),
            ..*first
        };
        first.bytes -= taken.bytes;
        if first.bytes == 0 {
            kind.pop_front();
        }
        if queue.is_empty() {
            self.waits_for[at as usize].retain(|&other| other != to);
        }
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RACKS: u32 = 4;

    proptest! {
        /// As one list at each rack.
        #[test]
        fn what_is_under_way_goes_first_then_what_waits_longest(
            steps in prop::collection::vec((0..RACKS, 0..RACKS, 0u16..3, 1u64..40, 0u32..16), 1..200),
        ) {
            let mut queues = RackQueues::new(RACKS);
            let mut list: Vec<(u32, u32, Waiting)> = Vec::new();
            for (number, (at, to, hops, bytes, open)) in (0u32..).zip(steps) {
                if number % 2 == 0 {
                    let waiting = Waiting { flow: FlowId(number), bytes, hops };
                    queues.push(at, to, waiting);
                    list.push((at, to, waiting));
                    continue;
                }
                let will_do = |to: u32| open >> to & 1 == 1;
                let mut candidates: Vec<usize> = (0..list.len())
                    .filter(|&k| list[k].0 == at && will_do(list[k].1))
                    .collect();
                candidates.sort_by_key(|&k| (list[k].2.hops == 0, k));
                let first = queues.first(at, will_do);
                prop_assert_eq!(first, candidates.first().map(|&k| list[k].1));
                let (Some(to), Some(&k)) = (first, candidates.first()) else { continue };
                let taken = queues.take(at, to, 15);
                let (_, _, waits) = &mut list[k];
                let bytes = waits.bytes.min(15);
                prop_assert_eq!(taken, Some(Waiting { bytes, ..*waits }));
                waits.bytes -= bytes;
                list.retain(|(_, _, waits)| waits.bytes > 0);
                for at in 0..RACKS {
                    prop_assert_eq!(queues.any(at), list.iter().any(|row| row.0 == at));
                    for to in 0..RACKS {
                        let any = list.iter().any(|row| (row.0, row.1) == (at, to));
                        prop_assert_eq!(queues.any_for(at, to), any);
                    }
                }
            }
        }
    }
}
