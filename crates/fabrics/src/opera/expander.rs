//! The lit circuits as a network: the distances between racks over them, and the circuits on
//! shortest paths (Mellette et al., "Expanding across time to deliver bandwidth efficiency and low
//! latency", NSDI 2020).

use lightloom_engine::Time;

/// No rack, and no path.
const NONE: u32 = u32::MAX;
const FAR: u16 = u16::MAX;

/// The circuits of a slice, with the distances between racks that have been computed.
#[derive(Clone, Debug)]
pub struct Expander {
    racks: usize,
    /// When the circuits change.
    until: Time,
    /// The planes of these circuits.
    planes: Vec<u16>,
    /// By plane and rack, the rack to which it sends.
    sends: Vec<u32>,
    /// By plane and rack, the rack from which it receives.
    hears: Vec<u32>,
    /// By destination and rack, the number of circuits on a shortest path; for computed
    /// destinations.
    distances: Vec<u16>,
    known: Vec<bool>,
    reached: Vec<u32>,
}

impl Expander {
    /// Creates an expander of `racks` racks without circuits.
    pub fn new(racks: u32) -> Expander {
        let n = racks as usize;
        Expander {
            racks: n,
            until: Time::ZERO,
            planes: Vec::new(),
            sends: Vec::new(),
            hears: Vec::new(),
            distances: vec![FAR; n * n],
            known: vec![false; n],
            reached: Vec::new(),
        }
    }

    /// When the circuits change.
    pub fn until(&self) -> Time {
        self.until
    }

    /// Removes all circuits; circuits that are added afterwards exist until `until`.
    pub fn replace_circuits(&mut self, until: Time) {
        self.until = until;
        self.planes.clear();
        self.sends.clear();
        self.hears.clear();
        self.known.fill(false);
    }

    /// Adds the circuits of a plane. `permutation` has the rack to which each rack sends, which is
    /// the rack itself if it has no circuit.
    pub fn add_plane(&mut self, plane: u16, permutation: &[u32]) {
        let first = self.hears.len();
        self.planes.push(plane);
        self.sends.extend_from_slice(permutation);
        self.hears.resize(first + self.racks, NONE);
        for (from, &to) in (0..).zip(permutation) {
            if to != from {
                self.hears[first + to as usize] = from;
            }
        }
    }

    /// The planes of the circuits.
    pub fn planes(&self) -> &[u16] {
        &self.planes
    }

    /// Finds the planes on which a shortest path between two racks begins; there are none if there
    /// is no path.
    pub fn find_planes(&mut self, from: u32, to: u32, planes: &mut Vec<u16>) {
        planes.clear();
        self.ensure_distances(to);
        let found = (0..self.planes.len()).filter(|&k| self.is_nearer(k, from, to));
        planes.extend(found.map(|k| self.planes[k]));
    }

    /// Whether a shortest path between two racks begins on the plane with index `place` in
    /// [`Expander::planes`]. The distances to `to` must be known ([`Expander::ensure_distances`]).
    pub fn is_nearer(&self, place: usize, from: u32, to: u32) -> bool {
        let row = &self.distances[to as usize * self.racks..][..self.racks];
        let next = self.sends[place * self.racks + from as usize];
        // An unreachable rack is not nearer than any other.
        row[next as usize] < row[from as usize]
    }

    /// Computes the distances to a rack, unless they are stored.
    pub fn ensure_distances(&mut self, to: u32) {
        if !self.known[to as usize] {
            self.find_distances(to);
        }
    }

    /// Breadth-first search backwards from a rack.
    fn find_distances(&mut self, to: u32) {
        self.known[to as usize] = true;
        let row = &mut self.distances[to as usize * self.racks..][..self.racks];
        row.fill(FAR);
        row[to as usize] = 0;
        self.reached.clear();
        self.reached.push(to);
        let mut next = 0;
        while let Some(&rack) = self.reached.get(next) {
            next += 1;
            let farther = row[rack as usize] + 1;
            for hears in self.hears.chunks_exact(self.racks) {
                let from = hears[rack as usize];
                if from != NONE && row[from as usize] > farther {
                    row[from as usize] = farther;
                    self.reached.push(from);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Distances of all pairs by relaxing every circuit N times.
    fn relaxed(n: usize, permutations: &[Vec<u32>]) -> Vec<u32> {
        let mut distance = vec![1_000; n * n];
        (0..n).for_each(|rack| distance[rack * n + rack] = 0);
        for _ in 0..n {
            for permutation in permutations {
                for (from, &next) in permutation.iter().enumerate() {
                    for to in 0..n {
                        let over = distance[next as usize * n + to] + 1;
                        let direct = &mut distance[from * n + to];
                        *direct = over.min(*direct);
                    }
                }
            }
        }
        distance
    }

    proptest! {
        #[test]
        fn every_shortest_path_and_no_other(
            permutations in (2usize..10).prop_flat_map(|n| {
                let order = Just((0..n as u32).collect::<Vec<u32>>()).prop_shuffle();
                prop::collection::vec(order, 1..4)
            }),
        ) {
            let n = permutations[0].len();
            let mut expander = Expander::new(n as u32);
            // The previous circuits are removed.
            expander.replace_circuits(Time(1));
            expander.add_plane(0, &(0..n as u32).rev().collect::<Vec<_>>());
            expander.find_planes(0, 1, &mut Vec::new());
            expander.replace_circuits(Time(2));
            for (plane, permutation) in permutations.iter().enumerate() {
                expander.add_plane(2 * plane as u16, permutation);
            }
            let distance = relaxed(n, &permutations);
            let mut planes = Vec::new();
            for from in 0..n {
                for to in (0..n).filter(|&to| to != from) {
                    expander.find_planes(from as u32, to as u32, &mut planes);
                    let far = distance[from * n + to];
                    let nearer = |p: &Vec<u32>| far < 1_000 && distance[p[from] as usize * n + to] < far;
                    let expected: Vec<u16> = (0..permutations.len())
                        .filter(|&plane| nearer(&permutations[plane]))
                        .map(|plane| 2 * plane as u16)
                        .collect();
                    prop_assert_eq!(&planes, &expected);
                }
            }
        }
    }
}
