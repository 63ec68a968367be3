//! Every server sends to every other, shift by shift: the k-th block of N flows is the permutation
//! in which every server sends to the server k + 1 further on.
//!
//! With Poisson arrivals the sender of each flow is drawn; the destinations of each server take
//! turns, beginning with the next server.

use super::Pairs;
use lightloom_engine::{Cluster, HostId, Stream};

#[derive(Debug)]
pub(super) struct AllToAll {
    hosts: u32,
    src: u32,
    shift: u32,
    /// The shift of each server's next flow, if senders are drawn.
    shifts: Option<Vec<u32>>,
}

impl AllToAll {
    pub fn new(cluster: &Cluster) -> AllToAll {
        AllToAll {
            hosts: cluster.hosts(),
            src: 0,
            shift: 1,
            shifts: None,
        }
    }

    fn further(&self, src: u32, shift: u32) -> u32 {
        ((src as u64 + shift as u64) % self.hosts as u64) as u32
    }
}

impl Pairs for AllToAll {
    fn next(&mut self, rng: &mut Stream) -> (HostId, HostId) {
        let last = self.hosts - 1;
        if let Some(shifts) = &mut self.shifts {
            let src = rng.below(self.hosts);
            let shift = shifts[src as usize];
            shifts[src as usize] = shift % last + 1;
            return (HostId(src), HostId(self.further(src, shift)));
        }
        let (src, shift) = (self.src, self.shift);
        self.src = (src + 1) % self.hosts;
        if self.src == 0 {
            self.shift = shift % last + 1;
        }
        (HostId(src), HostId(self.further(src, shift)))
    }

    fn round(&self) -> Option<u64> {
        let pairs = self.hosts as u64 * (self.hosts as u64 - 1);
        self.shifts.is_none().then_some(pairs)
    }

    fn draw_senders(&mut self) {
        self.shifts = Some(vec![1; self.hosts as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{cluster, draw};
    use serde_json::json;

    #[test]
    fn all_to_all() {
        let pairs = draw(json!("all-to-all"), &cluster(4, 3), 1, 264);
        let (first, second) = pairs.split_at(132);
        assert_eq!(first, second, "rounds repeat");
        let mut unique = first.to_vec();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), 132, "every pair once");
        for block in first.chunks(12) {
            let mut heard: Vec<u32> = block.iter().map(|p| p.1).collect();
            heard.sort_unstable();
            assert!(heard.into_iter().eq(0..12), "each block is a permutation");
        }
    }

    #[test]
    fn two_servers_take_turns() {
        let pairs = draw(json!("all-to-all"), &cluster(2, 1), 1, 4);
        assert_eq!(pairs, [(0, 1), (1, 0), (0, 1), (1, 0)]);
    }
}
