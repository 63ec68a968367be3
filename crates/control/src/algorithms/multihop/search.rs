//! The breadth-first search, from both ends at once, over bitsets of racks.

/// Levels from one end: the racks at each distance.
struct Side {
    levels: Vec<Vec<u64>>,
    /// Number of levels, the end itself included.
    depth: usize,
    seen: Vec<u64>,
}

impl Side {
    fn new(words: usize) -> Side {
        Side {
            levels: Vec::new(),
            depth: 0,
            seen: vec![0; words],
        }
    }

    fn start(&mut self, rack: u32) {
        self.depth = 0;
        self.seen.fill(0);
        self.seen[rack as usize / 64] |= 1 << (rack % 64);
        let level = self.push();
        level[rack as usize / 64] |= 1 << (rack % 64);
    }

    /// Adds an empty level after the others.
    fn push(&mut self) -> &mut Vec<u64> {
        if self.levels.len() == self.depth {
            self.levels.push(vec![0; self.seen.len()]);
        }
        let level = &mut self.levels[self.depth];
        level.fill(0);
        self.depth += 1;
        level
    }

    fn last(&self) -> &[u64] {
        &self.levels[self.depth - 1]
    }

    fn size(&self) -> u32 {
        self.last().iter().map(|word| word.count_ones()).sum()
    }
}

/// The workspace of the search.
pub(super) struct Search {
    from: Side,
    to: Side,
    row: Vec<u64>,
    /// The racks of the found path.
    pub path: Vec<u32>,
}

impl Search {
    pub fn new(words: usize) -> Search {
        Search {
            from: Side::new(words),
            to: Side::new(words),
            row: vec![0; words],
            path: Vec::new(),
        }
    }

    /// Finds a shortest path of at most `hops` hops and stores it in `path`; returns false if there
    /// is none. `neighbours` adds the neighbours of a rack to a set and is symmetric. Ties go to
    /// the lowest racks.
    pub fn run(
        &mut self,
        from: u32,
        to: u32,
        hops: u32,
        neighbours: impl Fn(u32, &mut [u64]),
    ) -> bool {
        self.from.start(from);
        self.to.start(to);
        for _ in 0..hops {
            let forwards = self.from.size() <= self.to.size();
            if let Some((near, meeting)) = self.step(forwards, &neighbours) {
                self.trace(forwards, near, meeting, &neighbours);
                return true;
            }
            let side = if forwards { &self.from } else { &self.to };
            if side.size() == 0 {
                return false;
            }
        }
        false
    }

    /// Grows one side by a level. If it meets the other side, returns the rack from which they met
    /// and the rack that was reached.
    fn step(
        &mut self,
        forwards: bool,
        neighbours: &impl Fn(u32, &mut [u64]),
    ) -> Option<(u32, u32)> {
        let (side, other) = match forwards {
            true => (&mut self.from, &self.to),
            false => (&mut self.to, &self.from),
        };
        let at = side.depth - 1;
        side.push();
        let (known, new) = side.levels.split_at_mut(at + 1);
        for rack in racks(&known[at]) {
            self.row.fill(0);
            neighbours(rack, &mut self.row);
            if let Some(meeting) = first_common(&self.row, other.last()) {
                return Some((rack, meeting));
            }
            for ((new, seen), row) in new[0].iter_mut().zip(&side.seen).zip(&self.row) {
                *new |= row & !seen;
            }
        }
        for (seen, new) in side.seen.iter_mut().zip(&new[0]) {
            *seen |= new;
        }
        None
    }

    /// Follows the levels from the two racks at which the sides met back to both ends.
    fn trace(
        &mut self,
        forwards: bool,
        near: u32,
        meeting: u32,
        neighbours: &impl Fn(u32, &mut [u64]),
    ) {
        // The side that grew has started a level that it does not need.
        let (left, right) = match forwards {
            true => (near, meeting),
            false => (meeting, near),
        };
        let (from, to) = match forwards {
            true => (self.from.depth - 2, self.to.depth - 1),
            false => (self.from.depth - 1, self.to.depth - 2),
        };
        self.path.clear();
        self.path.push(left);
        for level in (0..from).rev() {
            let rack = back(
                &mut self.row,
                &self.path,
                &self.from.levels[level],
                neighbours,
            );
            self.path.push(rack);
        }
        self.path.reverse();
        self.path.push(right);
        for level in (0..to).rev() {
            let rack = back(
                &mut self.row,
                &self.path,
                &self.to.levels[level],
                neighbours,
            );
            self.path.push(rack);
        }
    }
}

/// The lowest rack of a level that is a neighbour of the last one of a path.
fn back(
    row: &mut [u64],
    path: &[u32],
    level: &[u64],
    neighbours: &impl Fn(u32, &mut [u64]),
) -> u32 {
    row.fill(0);
    neighbours(path[path.len() - 1], row);
    first_common(row, level).expect("a rack was reached from the level before")
}

fn first_common(a: &[u64], b: &[u64]) -> Option<u32> {
    let common = a.iter().zip(b).map(|(a, b)| a & b).enumerate();
    let (word, bits) = { common }.find(|&(_, bits)| bits != 0)?;
    Some(word as u32 * 64 + bits.trailing_zeros())
}

/// The racks of a set, ascending.
fn racks(set: &[u64]) -> impl Iterator<Item = u32> + '_ {
    set.iter().enumerate().flat_map(|(word, &bits)| {
        let mut bits = bits;
        std::iter::from_fn(move || {
            (bits != 0).then(|| {
                let bit = bits.trailing_zeros();
                bits &= bits - 1;
                word as u32 * 64 + bit
            })
        })
    })
}
