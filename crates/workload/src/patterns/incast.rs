//! Incast: in each round many servers send to one server at the same time.
//!
//! The flows of a round share their arrival time. Rounds are `fan_in` times as far apart as single
//! flows would be, so that the load is the same. The senders of a round are all different.
//! `workload.flows` may shorten the last round.

use super::Pairs;
use lightloom_engine::{Cluster, HostId, Refusal, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Incast: in each round many servers send to one server at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Incast {
    /// Number of servers that send in a round.
    pub fan_in: u32,
    /// Index of the receiving server. Default: drawn for each round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<u32>,
}

#[derive(Debug)]
pub(super) struct IncastPairs {
    fixed: Option<u32>,
    target: u32,
    fan_in: usize,
    sent: usize,
    /// The senders, as ranks among the servers other than the target; the first
    /// `sent` are those of this round.
    ranks: Vec<u32>,
}

impl Incast {
    pub(super) fn pairs(&self, cluster: &Cluster) -> Result<IncastPairs, Refusal> {
        let last = cluster.hosts() - 1;
        if self.fan_in == 0 || self.fan_in > last {
            return Err(Refusal::new(
                "workload.pattern.fan_in",
                self.fan_in,
                format!("between 1 and {last} servers can send to another one"),
                "correct it, or enlarge the cluster",
            ));
        }
        if let Some(target) = self.target.filter(|&t| t > last) {
            return Err(Refusal::new(
                "workload.pattern.target",
                target,
                format!("the last server is {last}"),
                "name a server of the cluster",
            ));
        }
        Ok(IncastPairs {
            fixed: self.target,
            target: 0,
            fan_in: self.fan_in as usize,
            sent: 0,
            ranks: (0..last).collect(),
        })
    }
}

impl Pairs for IncastPairs {
    fn next(&mut self, rng: &mut Stream) -> (HostId, HostId) {
        if self.sent == 0 {
            let hosts = self.ranks.len() as u32 + 1;
            self.target = self.fixed.unwrap_or_else(|| rng.below(hosts));
        }
        let left = (self.ranks.len() - self.sent) as u32;
        self.ranks
            .swap(self.sent, self.sent + rng.below(left) as usize);
        let rank = self.ranks[self.sent];
        self.sent = (self.sent + 1) % self.fan_in;
        let src = rank + (rank >= self.target) as u32;
        (HostId(src), HostId(self.target))
    }

    fn burst(&self) -> u64 {
        self.fan_in as u64
    }

    fn round(&self) -> Option<u64> {
        Some(self.fan_in as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{chi_square, cluster, draw, histogram, refusal};
    use serde_json::json;

    #[test]
    fn incast() {
        let v = json!({"kind": "incast", "fan_in": 5, "target": 4});
        let pairs = draw(v, &cluster(4, 3), 1, 55_000);
        for round in pairs.chunks(5) {
            let mut senders: Vec<u32> = round.iter().map(|p| p.0).collect();
            senders.sort_unstable();
            senders.dedup();
            assert_eq!(senders.len(), 5);
            assert!(round.iter().all(|p| p.1 == 4));
        }
        let seen = histogram(pairs.iter().map(|p| p.0 as usize), 12);
        let expected: Vec<f64> = (0..12)
            .map(|h| if h == 4 { 0.0 } else { 5_000.0 })
            .collect();
        chi_square(&seen, &expected);
    }

    #[test]
    fn without_a_target_every_round_draws_one() {
        let pairs = draw(
            json!({"kind": "incast", "fan_in": 3}),
            &cluster(4, 3),
            1,
            36_000,
        );
        assert!(pairs.chunks(3).all(|r| r.iter().all(|p| p.1 == r[0].1)));
        let seen = histogram(pairs.chunks(3).map(|r| r[0].1 as usize), 12);
        chi_square(&seen, &[1_000.0; 12]);
    }

    #[test]
    fn bad_incasts_are_refused() {
        let bad = |fan_in, target| {
            let v = json!({"kind": "incast", "fan_in": fan_in, "target": target});
            refusal(v, &cluster(4, 3))
        };
        assert!(bad(0, 1).starts_with("workload.pattern.fan_in = 0: between 1 and 11"));
        assert!(bad(12, 1).starts_with("workload.pattern.fan_in = 12"));
        assert_eq!(
            bad(3, 12),
            "workload.pattern.target = 12: the last server is 11; name a server of the cluster"
        );
    }
}
