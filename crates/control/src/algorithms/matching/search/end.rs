//! The end of a search: duals get their values at its last moment, and the found path is flipped.

use super::{End, Label, Search};
use crate::algorithms::matching::forest::{Forest, NONE};

impl Search {
    /// Sets duals to their present values, flips the edges of the found path, and clears the tree.
    pub(super) fn finish(&mut self, forest: &mut Forest) {
        self.settle_duals(forest);
        match self.end {
            End::Augment(u, v) => {
                let other = forest.top(v);
                forest.rebase(other, v);
                self.set_label(other, Label::Outside, forest);
                self.flip(u, v, forest);
                forest.mate[v as usize] = u;
            }
            End::Alone(u) => self.flip(u, NONE, forest),
            End::Pause(_) => {}
        }
        self.drop_hollow(forest);
        if let End::Alone(u) | End::Pause(u) = self.end {
            self.set_label(forest.top(u), Label::Free, forest);
        }
        for (blossom, links) in self.apart.drain(..) {
            forest.recycle(blossom, links);
        }
        for node in self.has_best.drain(..) {
            self.best[node as usize].0 = i64::MAX;
        }
        self.events.clear();
    }

    fn settle_duals(&mut self, forest: &mut Forest) {
        let now = self.bound;
        let mut labelled = std::mem::take(&mut self.labelled);
        for node in labelled.drain(..) {
            if !forest.is_outermost(node) {
                continue;
            }
            match self.label[forest.first(node) as usize] {
                Label::Even => forest.shift(node, -now),
                Label::Odd => forest.shift(node, now),
                Label::Outside | Label::Free => continue,
            }
            self.set_label(node, Label::Outside, forest);
        }
        self.labelled = labelled;
    }

    /// Dissolves blossoms that were created at the last moment and have z = 0.
    fn drop_hollow(&mut self, forest: &mut Forest) {
        while let Some(blossom) = self.made.pop() {
            if forest.is_outermost(blossom) && forest.z(blossom) == 0 {
                let links = forest.dissolve(blossom);
                self.apart.push((blossom, links));
            }
        }
    }

    /// Matches the even `u` with `mate`, or with none, and every vertex on the path to the root
    /// with the one that has become free.
    fn flip(&self, mut u: u32, mut mate: u32, forest: &mut Forest) {
        loop {
            let even = forest.top(u);
            let given_up = forest.partner(even);
            forest.rebase(even, u);
            forest.mate[u as usize] = mate;
            if given_up == NONE {
                return;
            }
            let odd = forest.top(given_up);
            let (above, own) = self.entry[odd as usize];
            forest.rebase(odd, own);
            forest.mate[own as usize] = above;
            (u, mate) = (above, own);
        }
    }
}
