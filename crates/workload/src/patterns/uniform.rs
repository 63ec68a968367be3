//! Source and destination servers are drawn uniformly; both may be in the same rack.

use super::{other, Pairs};
use lightloom_engine::{Cluster, HostId, Stream};

#[derive(Debug)]
pub(super) struct UniformPairs {
    hosts: u32,
}

impl UniformPairs {
    pub fn new(cluster: &Cluster) -> UniformPairs {
        UniformPairs {
            hosts: cluster.hosts(),
        }
    }
}

impl Pairs for UniformPairs {
    fn next(&mut self, rng: &mut Stream) -> (HostId, HostId) {
        let src = rng.below(self.hosts);
        (HostId(src), HostId(other(src, self.hosts, rng)))
    }

    fn sends(&self, _: HostId) -> Option<bool> {
        Some(true)
    }

    fn to(&mut self, src: HostId, rng: &mut Stream) -> HostId {
        HostId(other(src.0, self.hosts, rng))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{chi_square, cluster, draw, histogram};
    use serde_json::json;

    #[test]
    fn uniform() {
        let (hosts, n) = (12usize, 132_000);
        let pairs = draw(json!("uniform"), &cluster(4, 3), 1, n);
        let seen = histogram(
            pairs.iter().map(|&(s, d)| s as usize * hosts + d as usize),
            hosts * hosts,
        );
        let expected: Vec<f64> = (0..hosts * hosts)
            .map(|k| if k / hosts == k % hosts { 0.0 } else { 1_000.0 })
            .collect();
        chi_square(&seen, &expected);
    }
}
