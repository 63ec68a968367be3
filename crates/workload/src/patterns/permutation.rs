//! Every server, or rack, sends to one other and receives from one other.
//!
//! The permutation is a derangement (no server is its own partner), drawn uniformly among all of
//! them. Each block of N flows has one flow from every server, in a newly shuffled order, so that
//! all servers send equally often. With Poisson arrivals the sender of each flow is drawn instead:
//! a server that sends once in each block would be more regular than a Poisson process, and queues
//! would be several times too short.

use super::Pairs;
use lightloom_engine::{Cluster, HostId, Refusal, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Unit that is permuted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Servers.
    #[default]
    Hosts,
    /// Racks: server k of a rack sends to server k of the partner rack.
    Racks,
}

/// Every server, or rack, sends to one other and receives from one other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Permutation {
    /// Unit that is permuted: "hosts" (the default) or "racks".
    #[serde(default)]
    pub of: Level,
}

#[derive(Debug)]
pub(super) struct PermutationPairs {
    partner: Vec<u32>,
    order: Vec<u32>,
    at: usize,
    /// Whether each sender is drawn, without blocks.
    drawn: bool,
}

impl Permutation {
    pub(super) fn pairs(
        &self,
        cluster: &Cluster,
        rng: &mut Stream,
    ) -> Result<PermutationPairs, Refusal> {
        let partner = match self.of {
            Level::Hosts => derangement(cluster.hosts(), rng),
            Level::Racks if cluster.racks < 2 => {
                return Err(Refusal::new(
                    "workload.pattern.of",
                    "racks",
                    "needs 2 racks, the cluster has 1",
                    "raise cluster.racks, or use of = \"hosts\"",
                ))
            }
            Level::Racks => {
                let servers = cluster.servers_per_rack;
                derangement(cluster.racks, rng)
                    .into_iter()
                    .flat_map(|rack| rack * servers..(rack + 1) * servers)
                    .collect()
            }
        };
        Ok(PermutationPairs {
            order: (0..cluster.hosts()).collect(),
            at: 0,
            drawn: false,
            partner,
        })
    }
}

/// A permutation of 0..n without fixed point, uniform among those; n ≥ 2. Shuffling until there is
/// no fixed point takes e tries on average.
fn derangement(n: u32, rng: &mut Stream) -> Vec<u32> {
    let mut to: Vec<u32> = (0..n).collect();
    loop {
        rng.shuffle(&mut to);
        if to.iter().zip(0..).all(|(&t, i)| t != i) {
            return to;
        }
    }
}

impl Pairs for PermutationPairs {
    fn next(&mut self, rng: &mut Stream) -> (HostId, HostId) {
        if self.drawn {
            let src = rng.below(self.partner.len() as u32);
            return (HostId(src), HostId(self.partner[src as usize]));
        }
        if self.at == 0 {
            rng.shuffle(&mut self.order);
        }
        let src = self.order[self.at];
        self.at = (self.at + 1) % self.order.len();
        (HostId(src), HostId(self.partner[src as usize]))
    }

    fn round(&self) -> Option<u64> {
        (!self.drawn).then_some(self.order.len() as u64)
    }

    fn draw_senders(&mut self) {
        self.drawn = true;
    }

    fn sends(&self, _: HostId) -> Option<bool> {
        Some(true)
    }

    fn to(&mut self, src: HostId, _: &mut Stream) -> HostId {
        HostId(self.partner[src.index()])
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{chi_square, cluster, draw, refusal};
    use super::*;
    use serde_json::json;
    use std::collections::BTreeMap;

    #[test]
    fn permutation() {
        let hosts = 60;
        let pairs = draw(json!("permutation"), &cluster(20, 3), 4, 2 * hosts);
        let (first, second) = pairs.split_at(hosts);
        for block in [first, second] {
            let to: BTreeMap<u32, u32> = block.iter().copied().collect();
            assert!(to.keys().copied().eq(0..60), "each sends once");
            let mut heard: Vec<u32> = to.values().copied().collect();
            heard.sort_unstable();
            assert!(heard.into_iter().eq(0..60), "each hears once");
            assert!(block.iter().all(|(s, d)| s != d));
        }
        let map = |b: &[(u32, u32)]| b.iter().copied().collect::<BTreeMap<_, _>>();
        assert_eq!(map(first), map(second));
        assert_ne!(first, second, "the order is shuffled afresh");
    }

    #[test]
    fn racks_pair_with_racks() {
        let v = json!({"kind": "permutation", "of": "racks"});
        let mut partner = BTreeMap::new();
        for (s, d) in draw(v.clone(), &cluster(20, 3), 4, 60) {
            assert_eq!(s % 3, d % 3);
            assert_eq!(*partner.entry(s / 3).or_insert(d / 3), d / 3);
        }
        assert!(partner.iter().all(|(s, d)| s != d) && partner.len() == 20);
        assert!(refusal(v, &cluster(1, 4)).starts_with("workload.pattern.of = racks"));
    }

    #[test]
    fn every_derangement_is_as_likely() {
        let mut seen = BTreeMap::new();
        let mut rng = Stream::new(1, "t", 0);
        for _ in 0..9_000 {
            *seen.entry(derangement(4, &mut rng)).or_insert(0.0) += 1.0;
        }
        let counts: Vec<f64> = seen.into_values().collect();
        assert_eq!(counts.len(), 9);
        chi_square(&counts, &[1_000.0; 9]);
        for n in 2..100 {
            let to = derangement(n, &mut rng);
            assert!(to.iter().zip(0..).all(|(&t, i)| t != i), "{to:?}");
        }
    }
}
