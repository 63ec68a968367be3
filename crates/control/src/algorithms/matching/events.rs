//! The events of a search, ordered by time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The next event of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// This node joins the tree by its best edge.
    Grow(u32),
    /// z of this blossom becomes 0.
    Expand(u32),
    /// The edge between these even vertices becomes tight.
    Shrink(u32, u32),
}

/// An event in two words with its time, where the enum takes three. At the same time, joining nodes
/// come first, by number, so that results are reproducible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Packed(u64);

const EXPAND: u64 = 1 << 62;
const SHRINK: u64 = 1 << 63;

impl From<Event> for Packed {
    fn from(event: Event) -> Packed {
        Packed(match event {
            Event::Grow(node) => u64::from(node),
            Event::Expand(node) => EXPAND | u64::from(node),
            Event::Shrink(u, v) => SHRINK | u64::from(u) << 31 | u64::from(v),
        })
    }
}

impl From<Packed> for Event {
    fn from(Packed(bits): Packed) -> Event {
        if bits & SHRINK != 0 {
            Event::Shrink((bits >> 31) as u32, bits as u32 & (u32::MAX >> 1))
        } else if bits & EXPAND != 0 {
            Event::Expand(bits as u32)
        } else {
            Event::Grow(bits as u32)
        }
    }
}

/// Pending events. Events that have become void are not removed; they are ignored when they are
/// processed.
#[derive(Clone, Debug, Default)]
pub(super) struct Events {
    heap: BinaryHeap<Reverse<(i64, Packed)>>,
}

impl Events {
    pub fn push(&mut self, moment: i64, event: Event) {
        self.heap.push(Reverse((moment, event.into())));
    }

    /// The next event if it occurs before `end`.
    pub fn pop_before(&mut self, end: i64) -> Option<(i64, Event)> {
        match self.heap.peek() {
            Some(&Reverse((moment, _))) if moment < end => {}
            _ => return None,
        }
        let Reverse((moment, event)) = self.heap.pop()?;
        Some((moment, event.into()))
    }

    pub fn clear(&mut self) {
        self.heap.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_by_moment_and_whole() {
        const LAST: u32 = (1 << 31) - 1;
        let mut events = Events::default();
        let queued = [
            (3, Event::Shrink(LAST, LAST - 1)),
            (3, Event::Expand(u32::MAX - 1)),
            (3, Event::Grow(u32::MAX - 1)),
            (-7, Event::Shrink(0, 1)),
            (9, Event::Grow(0)),
        ];
        queued
            .iter()
            .for_each(|&(moment, event)| events.push(moment, event));
        let popped: Vec<(i64, Event)> = std::iter::from_fn(|| events.pop_before(9)).collect();
        assert_eq!(popped, [queued[3], queued[2], queued[1], queued[0]]);
        assert_eq!(events.pop_before(10), Some(queued[4]));
        assert_eq!(events.pop_before(i64::MAX), None);
    }
}
