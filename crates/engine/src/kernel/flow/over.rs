//! The flows over each link.

use crate::fair::{LinkId, HOPS_MAX};

/// Rows of flows by link, in an order that is the same in every run.
#[derive(Clone, Debug, Default)]
pub struct Over {
    /// Hops by link; those of row `r` begin at `r * HOPS_MAX`.
    links: Vec<Vec<u32>>,
    /// The position of each hop among those of its link.
    place: Vec<u32>,
    /// True if rows will not be queried.
    unasked: bool,
}

impl Over {
    /// Adds a link.
    pub fn add_link(&mut self) {
        self.links.push(Vec::new());
    }

    /// Stops recording, because rows will not be queried.
    pub fn give_up(&mut self) {
        self.unasked = true;
    }

    /// The rows over a link.
    ///
    /// # Panics
    /// After [`Over::give_up`].
    pub fn rows(&self, link: LinkId) -> impl ExactSizeIterator<Item = u32> + '_ {
        assert!(!self.unasked, "the rows over a link were declared unused");
        let hops = &self.links[link.index()];
        hops.iter().map(|h| h / HOPS_MAX as u32)
    }

    /// A flow goes over `path`.
    pub fn attach(&mut self, row: u32, path: &[LinkId]) {
        if self.unasked {
            return;
        }
        let first = row as usize * HOPS_MAX;
        if self.place.len() < first + HOPS_MAX {
            self.place.resize(first + HOPS_MAX, 0);
        }
        for (hop, link) in (first..).zip(path) {
            let hops = &mut self.links[link.index()];
            self.place[hop] = hops.len() as u32;
            hops.push(hop as u32);
        }
    }

    /// Removes a row from the links of its path.
    pub fn detach(&mut self, row: u32, path: &[LinkId]) {
        if self.unasked {
            return;
        }
        let first = row as usize * HOPS_MAX;
        for (hop, link) in (first..).zip(path) {
            let place = self.place[hop];
            let hops = &mut self.links[link.index()];
            hops.swap_remove(place as usize);
            if let Some(&moved) = hops.get(place as usize) {
                self.place[moved as usize] = place;
            }
        }
    }
}
