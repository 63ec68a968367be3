//! Patterns that compute the destination from the source's number, as in textbooks on
//! interconnection networks: each server sends to one other. Servers whose destination would be
//! themselves send nothing.
//!
//! | pattern | destination of server i of N | N |
//! |---|---|---|
//! | transpose | (i mod s)·s + ⌊i/s⌋, s = √N: the halves of its bits swapped | a square |
//! | complement | N − 1 − i: its bits inverted | any |
//! | shuffle | 2i modulo N − 1: its bits rotated by one | a power of two |
//! | tornado | i + ⌈N/2⌉ − 1 modulo N: almost half around a ring | from 3 |

use super::Pairs;
use lightloom_engine::{Cluster, HostId, Refusal, Stream};

/// The computation of a destination from the bits of its source's index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bits {
    Transpose,
    Complement,
    Shuffle,
    Tornado,
}

#[derive(Debug)]
pub(super) struct BitPairs {
    to: Vec<u32>,
    /// Servers that send.
    senders: Vec<u32>,
}

impl Bits {
    fn name(self) -> &'static str {
        match self {
            Bits::Transpose => "transpose",
            Bits::Complement => "complement",
            Bits::Shuffle => "shuffle",
            Bits::Tornado => "tornado",
        }
    }

    /// The destination of server `i` of `n`; `n` fits the pattern.
    fn destination(self, i: u32, n: u32) -> u32 {
        match self {
            Bits::Transpose => i % n.isqrt() * n.isqrt() + i / n.isqrt(),
            Bits::Complement => n - 1 - i,
            Bits::Shuffle if i == n - 1 => i,
            Bits::Shuffle => (2 * i as u64 % (n as u64 - 1)) as u32,
            Bits::Tornado => ((i as u64 + n.div_ceil(2) as u64 - 1) % n as u64) as u32,
        }
    }

    pub(super) fn pairs(self, cluster: &Cluster) -> Result<BitPairs, Refusal> {
        let n = cluster.hosts();
        let limit = match self {
            Bits::Transpose if n.isqrt().pow(2) != n => "a square number of servers",
            Bits::Shuffle if !n.is_power_of_two() => "a power of two of servers",
            Bits::Shuffle | Bits::Tornado if n < 3 => "3 servers or more",
            _ => {
                let to: Vec<u32> = (0..n).map(|i| self.destination(i, n)).collect();
                let senders = (0..n).filter(|&i| to[i as usize] != i).collect();
                return Ok(BitPairs { to, senders });
            }
        };
        Err(Refusal::new(
            "workload.pattern",
            self.name(),
            format!("needs {limit}, the cluster has {n}"),
            "change cluster.hosts or cluster.racks, or use \"permutation\"",
        ))
    }
}

impl Pairs for BitPairs {
    fn next(&mut self, rng: &mut Stream) -> (HostId, HostId) {
        let src = self.senders[rng.below(self.senders.len() as u32) as usize];
        (HostId(src), HostId(self.to[src as usize]))
    }

    fn senders(&self) -> f64 {
        self.senders.len() as f64 / self.to.len() as f64
    }

    fn sends(&self, src: HostId) -> Option<bool> {
        Some(self.to[src.index()] != src.0)
    }

    fn to(&mut self, src: HostId, _: &mut Stream) -> HostId {
        HostId(self.to[src.index()])
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{cluster, draw, refusal};
    use serde_json::json;
    use std::collections::BTreeMap;

    fn partners(name: &str, hosts: u32) -> BTreeMap<u32, u32> {
        draw(json!(name), &cluster(hosts, 1), 1, 4_000)
            .into_iter()
            .collect()
    }

    /// By their bits, on 64 servers; a server that would send to itself is silent.
    #[test]
    fn bits_are_swapped_inverted_and_rotated() {
        type Rule = fn(u32) -> u32;
        let rules: [(&str, Rule); 4] = [
            ("transpose", |i| (i & 7) << 3 | i >> 3),
            ("complement", |i| !i & 63),
            ("shuffle", |i| (i << 1 | i >> 5) & 63),
            ("tornado", |i| (i + 31) & 63),
        ];
        for (name, rule) in rules {
            let expected = (0..64)
                .map(|i| (i, rule(i)))
                .filter(|(i, to)| i != to)
                .collect();
            assert_eq!(partners(name, 64), expected, "{name}");
        }
    }

    #[test]
    fn nobody_hears_two() {
        let fits = [
            ("transpose", 49),
            ("complement", 11),
            ("shuffle", 128),
            ("tornado", 9),
        ];
        for (name, hosts) in fits {
            let mut heard: Vec<u32> = partners(name, hosts).into_values().collect();
            let all = heard.len();
            heard.sort_unstable();
            heard.dedup();
            assert_eq!(heard.len(), all, "{name}");
        }
    }

    #[test]
    fn numbers_that_do_not_fit_are_refused() {
        for (name, hosts, limit) in [
            (
                "transpose",
                12,
                "needs a square number of servers, the cluster has 12",
            ),
            (
                "shuffle",
                12,
                "needs a power of two of servers, the cluster has 12",
            ),
            ("tornado", 2, "needs 3 servers or more, the cluster has 2"),
        ] {
            let e = refusal(json!(name), &cluster(hosts, 1));
            assert!(
                e.starts_with(&format!("workload.pattern = {name}: {limit}")),
                "{e}"
            );
        }
    }
}
