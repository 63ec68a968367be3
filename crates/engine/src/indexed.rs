//! A heap that stores the position of each number, so that ranks can change often while the lowest
//! is always known.

/// Children of an entry. Four make the heap flat and are neighbours in memory.
const WIDTH: usize = 4;

/// A rank, and below it the number that has it, in one integer, so that entries compare without a
/// branch.
pub type Entry = u128;

/// A rank as an entry. Of equal ranks the lower `kind` comes first, then the lower number.
#[inline]
pub fn entry(rank: u64, kind: u32, number: u32) -> Entry {
    (rank as u128) << 64 | (kind as u128) << 32 | number as u128
}

/// The rank of an entry.
#[inline]
pub fn rank(entry: Entry) -> u64 {
    (entry >> 64) as u64
}

/// The kind of an entry.
#[inline]
pub fn kind(entry: Entry) -> u32 {
    (entry >> 32) as u32
}

/// The number of an entry.
#[inline]
pub fn number(entry: Entry) -> u32 {
    entry as u32
}

/// A heap with an entry for each of some numbers; the lowest is first.
#[derive(Clone, Debug, Default)]
pub struct IndexedHeap {
    heap: Vec<Entry>,
    /// The position of a number in the heap. It is valid only if the entry there has that number
    /// (Briggs & Torczon 1993), so that emptying the heap resets nothing.
    place: Vec<u32>,
}

impl IndexedHeap {
    /// The lowest entry.
    #[inline]
    pub fn first(&self) -> Option<Entry> {
        self.heap.first().copied()
    }

    /// Replaces the first entry by another one of the same number, which is not lower.
    #[inline]
    pub fn raise_first(&mut self, entry: Entry) {
        self.sink(0, entry);
    }

    /// Removes the first entry.
    #[inline]
    pub fn pop(&mut self) {
        let last = self.heap.pop().expect("an entry");
        if !self.heap.is_empty() {
            self.sink(0, last);
        }
    }

    /// Sets the entry of a number, unless it has a lower one; returns whether it was set.
    #[inline]
    pub fn lower(&mut self, entry: Entry) -> bool {
        match self.place_of(number(entry)) {
            Some(place) if self.heap[place] <= entry => return false,
            Some(place) => self.rise(place, entry),
            None => self.push(entry),
        }
        true
    }

    /// Sets the entry of a number, replacing the one that it may have.
    #[inline]
    pub fn set(&mut self, entry: Entry) {
        match self.place_of(number(entry)) {
            Some(place) => self.settle(place, entry),
            None => self.push(entry),
        }
    }

    /// Removes the entry of a number, if it has one.
    #[inline]
    pub fn remove(&mut self, number: u32) {
        if let Some(place) = self.place_of(number) {
            let last = self.heap.pop().expect("an entry");
            if place < self.heap.len() {
                self.settle(place, last);
            }
        }
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.heap.clear();
    }

    #[inline]
    fn place_of(&self, number: u32) -> Option<usize> {
        let place = *self.place.get(number as usize)? as usize;
        let entry = *self.heap.get(place)?;
        (self::number(entry) == number).then_some(place)
    }

    fn push(&mut self, entry: Entry) {
        let least = number(entry) as usize + 1;
        if self.place.len() < least {
            self.place.resize(least, 0);
        }
        self.heap.push(entry);
        self.rise(self.heap.len() - 1, entry);
    }

    /// Inserts an entry at `place`, or moves it to where it belongs.
    #[inline]
    fn settle(&mut self, place: usize, entry: Entry) {
        if place > 0 && entry < self.heap[(place - 1) / WIDTH] {
            self.rise(place, entry);
        } else {
            self.sink(place, entry);
        }
    }

    fn rise(&mut self, mut place: usize, entry: Entry) {
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

    fn sink(&mut self, mut place: usize, entry: Entry) {
        while let Some(least) = self.least_child(place) {
            if entry < self.heap[least] {
                break;
            }
            self.write(place, self.heap[least]);
            place = least;
        }
        self.write(place, entry);
    }

    #[inline]
    fn least_child(&self, place: usize) -> Option<usize> {
        let first = place * WIDTH + 1;
        match self.heap.get(first..) {
            Some(&[a, b, c, d, ..]) => {
                let (ab, cd) = ((b < a) as usize, 2 + (d < c) as usize);
                Some(first + if c.min(d) < a.min(b) { cd } else { ab })
            }
            Some(few) => (0..few.len()).min_by_key(|&k| few[k]).map(|k| first + k),
            None => None,
        }
    }

    #[inline]
    fn write(&mut self, place: usize, entry: Entry) {
        self.heap[place] = entry;
        self.place[number(entry) as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[derive(Clone, Debug)]
    enum Step {
        Set(u32, u64),
        Lower(u32, u64),
        RaiseFirst(u64),
        Remove(u32),
        Pop,
        Clear,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let (whose, rank) = (|| 0u32..40, || 0u64..60);
        let step = prop_oneof![
            6 => (whose(), rank()).prop_map(|(n, r)| Step::Set(n, r)),
            6 => (whose(), rank()).prop_map(|(n, r)| Step::Lower(n, r)),
            4 => (0u64..20).prop_map(Step::RaiseFirst),
            2 => whose().prop_map(Step::Remove),
            4 => Just(Step::Pop),
            1 => Just(Step::Clear),
        ];
        prop::collection::vec(step, 0..300)
    }

    fn first(ranks: &BTreeMap<u32, u64>) -> Option<Entry> {
        ranks.iter().map(|(&n, &r)| entry(r, 0, n)).min()
    }

    proptest! {
        #[test]
        fn the_first_is_the_lowest_of_all(steps in steps()) {
            let (mut heap, mut ranks) = (IndexedHeap::default(), BTreeMap::new());
            for step in steps {
                let lowest = first(&ranks);
                match step {
                    Step::Set(n, r) => {
                        heap.set(entry(r, 0, n));
                        ranks.insert(n, r);
                    }
                    Step::Lower(n, r) => {
                        let lower = ranks.get(&n).is_none_or(|&had| r < had);
                        prop_assert_eq!(heap.lower(entry(r, 0, n)), lower);
                        if lower {
                            ranks.insert(n, r);
                        }
                    }
                    Step::RaiseFirst(by) => if let Some(e) = lowest {
                        heap.raise_first(entry(rank(e) + by, 0, number(e)));
                        ranks.insert(number(e), rank(e) + by);
                    },
                    Step::Remove(n) => {
                        heap.remove(n);
                        ranks.remove(&n);
                    }
                    Step::Pop => if let Some(e) = lowest {
                        heap.pop();
                        ranks.remove(&number(e));
                    },
                    Step::Clear => {
                        heap.clear();
                        ranks.clear();
                    }
                }
                prop_assert_eq!(heap.first(), first(&ranks));
            }
        }
    }

    #[test]
    fn rank_comes_before_kind_and_kind_before_number() {
        let order = [
            entry(1, 2, 9),
            entry(2, 0, 7),
            entry(2, 1, 3),
            entry(2, 1, 4),
        ];
        assert!(order.is_sorted());
        let last = entry(u64::MAX, 2, u32::MAX);
        assert_eq!(
            (rank(last), kind(last), number(last)),
            (u64::MAX, 2, u32::MAX)
        );
    }
}
