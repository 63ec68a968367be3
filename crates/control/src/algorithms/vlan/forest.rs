//! A forest of circuits, to which whole paths are added.

/// A path, by its circuits and by its racks.
#[derive(Clone, Debug)]
pub(super) struct Path<'a> {
    pub circuits: &'a [u32],
    /// One rack more than circuits, in their order.
    pub racks: Vec<u32>,
}

/// The racks that are connected already, and the circuits that connect them.
#[derive(Clone, Debug)]
pub(super) struct Forest {
    /// The tree of each rack. Paths are tried far more often than trees are merged, so all racks of
    /// a tree store its number.
    tree: Vec<u32>,
    /// A bit for every circuit.
    has: Vec<u64>,
}

impl Forest {
    pub fn new(racks: usize, circuits: usize) -> Forest {
        Forest {
            tree: (0..racks as u32).collect(),
            has: vec![0; circuits.div_ceil(64)],
        }
    }

    fn contains(&self, circuit: u32) -> bool {
        self.has[circuit as usize / 64] >> (circuit % 64) & 1 == 1
    }

    fn tree(&self, rack: u32) -> u32 {
        self.tree[rack as usize]
    }

    /// Whether the circuits of a path that are missing here would close no loop: none of them may
    /// lead back to a tree that the path has visited.
    pub fn fits(&self, path: &Path) -> bool {
        path.circuits.iter().enumerate().all(|(hop, &circuit)| {
            let (before, to) = (&path.racks[..=hop], self.tree(path.racks[hop + 1]));
            self.contains(circuit) || before.iter().all(|&rack| self.tree(rack) != to)
        })
    }

    /// Adds the missing circuits of a path; adds none and returns false if they would close a loop.
    pub fn add(&mut self, path: &Path) -> bool {
        if !self.fits(path) {
            return false;
        }
        for (pair, &circuit) in path.racks.windows(2).zip(path.circuits) {
            let (into, from) = (self.tree(pair[0]), self.tree(pair[1]));
            for tree in &mut self.tree {
                *tree = if *tree == from { into } else { *tree };
            }
            self.has[circuit as usize / 64] |= 1 << (circuit % 64);
        }
        true
    }

    /// The circuits, ascending.
    pub fn circuits(&self) -> Vec<u32> {
        let all = 0..self.has.len() as u32 * 64;
        all.filter(|&circuit| self.contains(circuit)).collect()
    }
}
