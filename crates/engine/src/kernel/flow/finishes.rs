//! For each bundle, the time at which its next flow will have sent its last byte.

use crate::indexed::{entry, number, rank, IndexedHeap};
use crate::time::Time;

/// Times by slot, the earliest first; at equal times the lowest slot.
#[derive(Clone, Debug, Default)]
pub struct Finishes {
    heap: IndexedHeap,
}

impl Finishes {
    /// The earliest time, and its slot.
    #[inline]
    pub fn first(&self) -> Option<(Time, u32)> {
        let first = self.heap.first()?;
        Some((Time(rank(first) as i64), number(first)))
    }

    /// Sets the time of a slot; [`Time::NEVER`] removes it.
    #[inline]
    pub fn set(&mut self, slot: u32, at: Time) {
        match at {
            Time::NEVER => self.heap.remove(slot),
            _ => self.heap.set(entry(at.0 as u64, 0, slot)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn the_first_is_the_least_of_all(
            steps in prop::collection::vec((0u32..40, prop_oneof![4 => 0i64..60, 1 => Just(i64::MAX)]), 0..300),
        ) {
            let (mut finishes, mut times) = (Finishes::default(), [Time::NEVER; 40]);
            for (slot, at) in steps {
                finishes.set(slot, Time(at));
                times[slot as usize] = Time(at);
                let all: BTreeSet<(Time, u32)> = (0..40)
                    .map(|s| (times[s as usize], s))
                    .filter(|t| t.0 != Time::NEVER)
                    .collect();
                prop_assert_eq!(finishes.first(), all.first().copied());
            }
        }
    }
}
