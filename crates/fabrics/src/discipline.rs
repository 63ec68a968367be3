//! The order in which a server's link serves the flows that wait for it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Queueing discipline of the links between servers and their rack switch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Discipline {
    /// One packet of each flow in turn.
    #[default]
    Fair,
    /// First in, first out: a server sends its flows one after another, and receives packets
    /// in the order in which they reached its rack switch.
    Fifo,
}

/// End of a ring; no flow.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Ring {
    head: u32,
    tail: u32,
}

/// Rings of flows that take turns; a flow is in one ring at most.
#[derive(Clone, Debug)]
pub struct Turns {
    rings: Vec<Ring>,
    /// The next flow in the ring of each flow.
    next: Vec<u32>,
}

impl Turns {
    /// Creates empty rings for `flows` flows.
    pub fn new(rings: usize, flows: usize) -> Turns {
        let empty = Ring {
            head: NONE,
            tail: NONE,
        };
        Turns {
            rings: vec![empty; rings],
            next: vec![NONE; flows],
        }
    }

    /// The flow whose turn it is.
    #[inline]
    pub fn first(&self, ring: usize) -> Option<u32> {
        let head = self.rings[ring].head;
        (head != NONE).then_some(head)
    }

    /// Adds a flow, which is in no ring, at the end of a ring.
    #[inline]
    pub fn join(&mut self, ring: usize, flow: u32) {
        let ring = &mut self.rings[ring];
        match ring.head {
            NONE => ring.head = flow,
            _ => self.next[ring.tail as usize] = flow,
        }
        ring.tail = flow;
    }

    /// Removes the flow whose turn it is from its ring, which is not empty.
    #[inline]
    pub fn leave(&mut self, ring: usize) -> u32 {
        let ring = &mut self.rings[ring];
        let flow = ring.head;
        ring.head = match flow == ring.tail {
            true => NONE,
            false => self.next[flow as usize],
        };
        flow
    }

    /// Moves the flow whose turn it is to the end of its ring, which is not empty.
    #[inline]
    pub fn rotate(&mut self, ring: usize) {
        let Ring { head, tail } = self.rings[ring];
        if head != tail {
            self.leave(ring);
            self.join(ring, head);
        }
    }
}

#[cfg(test)]
mod mouse;
#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        /// Compares with a list for each ring.
        #[test]
        fn flows_take_turns(steps in prop::collection::vec((0usize..3, 0u8..4), 0..200)) {
            let mut turns = Turns::new(3, steps.len());
            let mut lists: [VecDeque<u32>; 3] = Default::default();
            for (flow, (ring, step)) in (0u32..).zip(steps) {
                let list = &mut lists[ring];
                match (step, list.front().copied()) {
                    (0 | 1, _) => {
                        turns.join(ring, flow);
                        list.push_back(flow);
                    }
                    (2, Some(first)) => {
                        prop_assert_eq!(turns.leave(ring), first);
                        list.pop_front();
                    }
                    (_, Some(_)) => {
                        turns.rotate(ring);
                        list.rotate_left(1);
                    }
                    (_, None) => {}
                }
                for (ring, list) in lists.iter().enumerate() {
                    prop_assert_eq!(turns.first(ring), list.front().copied());
                }
            }
        }
    }
}
