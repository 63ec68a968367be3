//! The state that the solver keeps between solutions, compared with its flows.

use super::{Fair, LinkId, HOPS_MAX};

impl Fair {
    /// Checks that the sums of each link equal those of its flows.
    ///
    /// # Panics
    /// If they do not.
    pub(super) fn books_hold(&self) {
        for number in 0..self.links.len() as u32 {
            self.link_holds(number);
        }
        assert!(self.touched.is_empty() && self.fresh.is_empty() && self.sooner.is_empty());
    }

    fn link_holds(&self, number: u32) {
        let link = &self.links[number as usize];
        let (mut load, mut own_rate, mut own_weight) = (0, 0, 0);
        for (place, &hop) in self.members[number as usize].iter().enumerate() {
            assert_eq!(self.path[hop as usize], LinkId(number), "hop {hop}");
            assert_eq!(self.place[hop as usize] as usize, place, "hop {hop}");
            let slot = hop / HOPS_MAX as u32;
            let flow = &self.flows[slot as usize];
            load += flow.rates();
            if flow.bottleneck == number {
                own_rate += flow.rates();
                own_weight += flow.weights();
                assert_eq!(self.own[number as usize][flow.place as usize], slot);
            } else {
                let most = link.most;
                assert!(flow.level <= most, "link {number}: {} > {most}", flow.level);
            }
        }
        assert_eq!(link.load, load, "link {number}");
        let own = (link.own_rate, link.own_weight);
        assert_eq!(own, (own_rate, own_weight), "link {number}");
        assert!(!link.touched, "link {number}");
    }

    /// Advances the number of solutions, for tests.
    pub(super) fn age(&mut self, solutions: u32) {
        assert!(self.flows.is_empty(), "flows know solutions by number");
        self.epoch = solutions;
    }
}
