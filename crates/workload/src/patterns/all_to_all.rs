//! Every server sends to every other, shift by shift: the k-th block of N flows
//! is the permutation that sends everybody's flow k + 1 servers further on.

use super::Pairs;
use lightloom_engine::{Cluster, HostId, Stream};

#[derive(Debug)]
pub(super) struct AllToAll {
    hosts: u32,
    src: u32,
    shift: u32,
}

impl AllToAll {
    pub fn new(cluster: &Cluster) -> AllToAll {
        AllToAll {
            hosts: cluster.hosts(),
            src: 0,
            shift: 1,
        }
    }
}

impl Pairs for AllToAll {
    fn next(&mut self, _: &mut Stream) -> (HostId, HostId) {
        let src = self.src;
        let dst = ((src as u64 + self.shift as u64) % self.hosts as u64) as u32;
        self.src = (src + 1) % self.hosts;
        if self.src == 0 {
            self.shift = self.shift % (self.hosts - 1) + 1;
        }
        (HostId(src), HostId(dst))
    }

    fn round(&self) -> Option<u64> {
        Some(self.hosts as u64 * (self.hosts as u64 - 1))
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
