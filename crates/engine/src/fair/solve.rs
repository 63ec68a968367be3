//! Progressive filling: the level of all flows rises together; a flow stops at
//! its limit, or when a link on its path is full.

use super::{Fair, Slot};

impl Fair {
    /// Gives every flow its rate; returns [`Fair::changed`].
    pub fn solve(&mut self) -> &[Slot] {
        self.changed.clear();
        if std::mem::take(&mut self.dirty) {
            self.fill();
        }
        &self.changed
    }

    fn fill(&mut self) {
        let before: Vec<u64> = self.flows.iter().map(|f| f.rate).collect();
        let mut unsettled: Vec<usize> = (0..self.flows.len())
            .filter(|&f| self.flows[f].open)
            .collect();
        let mut left: Vec<u64> = self.links.iter().map(|l| l.capacity).collect();
        while !unsettled.is_empty() {
            let mut weights = vec![0u64; left.len()];
            let mut level = f64::INFINITY;
            for &f in &unsettled {
                let flow = self.flows[f];
                for link in self.path(Slot(f as u32)) {
                    weights[link.index()] += flow.weight as u64;
                }
                if flow.limit != u64::MAX {
                    level = level.min(flow.limit as f64 / flow.weight as f64);
                }
            }
            for (&left, &weight) in left.iter().zip(&weights).filter(|(_, &w)| w > 0) {
                level = level.min(left as f64 / weight as f64);
            }
            let full = |l: usize| weights[l] > 0 && left[l] as f64 / weights[l] as f64 <= level;
            let full: Vec<bool> = (0..left.len()).map(full).collect();
            let stops = |f: &usize| {
                let (flow, slot) = (self.flows[*f], Slot(*f as u32));
                flow.limit as f64 / flow.weight as f64 <= level
                    || self.path(slot).iter().any(|l| full[l.index()])
            };
            let (stopped, rest): (Vec<usize>, Vec<usize>) = unsettled.into_iter().partition(stops);
            unsettled = rest;
            for f in stopped {
                let flow = self.flows[f];
                let mut rate = ((flow.weight as f64 * level) as u64).min(flow.limit);
                for link in self.path(Slot(f as u32)) {
                    rate = rate.min(left[link.index()]);
                }
                for link in self.path(Slot(f as u32)) {
                    left[link.index()] -= rate;
                }
                self.flows[f].rate = rate;
            }
        }
        for (link, left) in self.links.iter_mut().zip(left) {
            link.load = link.capacity - left;
        }
        for (f, flow) in self.flows.iter_mut().enumerate() {
            if flow.open && (flow.rate != before[f] || flow.changed) {
                flow.changed = false;
                self.changed.push(Slot(f as u32));
            }
        }
    }
}
