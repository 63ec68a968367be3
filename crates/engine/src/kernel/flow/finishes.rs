//! When each flow will have sent its last byte: a heap in which a flow's place
//! is known, since every change of rates moves many of them a little.

use crate::time::Time;

/// Children of an entry. Four make the heap flat and are neighbours in memory.
const WIDTH: usize = 4;
/// Not in the heap.
const NONE: u32 = u32::MAX;

/// Times by slot, the earliest first; at equal times the lowest slot.
#[derive(Clone, Debug, Default)]
pub struct Finishes {
    heap: Vec<(Time, u32)>,
    /// Where each slot is in the heap.
    place: Vec<u32>,
}

impl Finishes {
    /// The earliest, and its slot.
    #[inline]
    pub fn first(&self) -> Option<(Time, u32)> {
        self.heap.first().copied()
    }

    /// Puts a slot at `at`; [`Time::NEVER`] takes it out.
    #[inline]
    pub fn set(&mut self, slot: u32, at: Time) {
        if slot as usize >= self.place.len() {
            self.place.resize(slot as usize + 1, NONE);
        }
        let place = self.place[slot as usize];
        match (place, at) {
            (NONE, Time::NEVER) => {}
            (NONE, _) => {
                self.heap.push((at, slot));
                self.rise(self.heap.len() - 1, (at, slot));
            }
            (_, Time::NEVER) => self.remove(place as usize),
            _ => self.settle(place as usize, (at, slot)),
        }
    }

    fn remove(&mut self, place: usize) {
        self.place[self.heap[place].1 as usize] = NONE;
        let last = self.heap.pop().expect("an entry");
        if place < self.heap.len() {
            self.settle(place, last);
        }
    }

    /// Puts an entry at `place` or where it belongs.
    #[inline]
    fn settle(&mut self, place: usize, entry: (Time, u32)) {
        if place > 0 && entry < self.heap[(place - 1) / WIDTH] {
            self.rise(place, entry);
        } else {
            self.sink(place, entry);
        }
    }

    fn rise(&mut self, mut place: usize, entry: (Time, u32)) {
        while place > 0 {
            let parent = (place - 1) / WIDTH;
            if self.heap[parent] < entry {
                break;
            }
            self.write(place, self.heap[parent]);
            place = parent;
        }
        self.write(place, entry);
    }

    fn sink(&mut self, mut place: usize, entry: (Time, u32)) {
        loop {
            let first = place * WIDTH + 1;
            let children = first..(first + WIDTH).min(self.heap.len());
            let Some(least) = children.min_by_key(|&c| self.heap[c]) else {
                break;
            };
            if entry < self.heap[least] {
                break;
            }
            self.write(place, self.heap[least]);
            place = least;
        }
        self.write(place, entry);
    }

    #[inline]
    fn write(&mut self, place: usize, entry: (Time, u32)) {
        self.heap[place] = entry;
        self.place[entry.1 as usize] = place as u32;
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
