//! A fraction of the flows goes to a few servers, the rest to all the others;
//! sources are uniform.

use super::{fraction, other, Pairs};
use lightloom_engine::{Cluster, HostId, Refusal, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A given fraction of the flows goes to a few hot servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HotSpot {
    /// Fraction of the flows that go to a hot server, above 0 and at most 1.
    pub fraction: f64,
    /// Number of hot servers, which the seed selects. Default 1, unless `targets` lists them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<u32>,
    /// Indices of the hot servers; in place of `hosts`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub targets: Option<Vec<u32>>,
}

#[derive(Debug)]
pub(super) struct HotSpotPairs {
    fraction: f64,
    /// All servers, the hot ones first; and the position of each server in that list.
    hosts: Vec<u32>,
    place: Vec<u32>,
    hot: u32,
}

impl HotSpot {
    pub(super) fn pairs(
        &self,
        cluster: &Cluster,
        rng: &mut Stream,
    ) -> Result<HotSpotPairs, Refusal> {
        let fraction = fraction("fraction", self.fraction)?;
        let mut hosts: Vec<u32> = (0..cluster.hosts()).collect();
        let (key, hot) = match (&self.targets, self.hosts) {
            (Some(_), Some(n)) => {
                return Err(Refusal::new(
                    "workload.pattern.hosts",
                    n,
                    "targets already names the hot servers",
                    "remove one of the two",
                ))
            }
            (Some(targets), None) => ("targets", self.front(targets, &mut hosts)?),
            (None, n) => {
                rng.shuffle(&mut hosts);
                ("hosts", n.unwrap_or(1))
            }
        };
        if hot == 0 || hot >= cluster.hosts() {
            return Err(Refusal::new(
                format!("workload.pattern.{key}"),
                format!("{hot} servers"),
                format!(
                    "between 1 and {} of the {} servers can be hot",
                    cluster.hosts() - 1,
                    cluster.hosts()
                ),
                "correct the number",
            ));
        }
        let mut place = vec![0; hosts.len()];
        for (at, &host) in hosts.iter().enumerate() {
            place[host as usize] = at as u32;
        }
        Ok(HotSpotPairs {
            fraction,
            place,
            hosts,
            hot,
        })
    }

    /// Moves `targets` to the front of `hosts`, which is 0, 1, 2, ….
    fn front(&self, targets: &[u32], hosts: &mut [u32]) -> Result<u32, Refusal> {
        let mut hot = vec![false; hosts.len()];
        for &t in targets {
            let limit = match hot.get(t as usize) {
                None => format!("the last server is {}", hosts.len() - 1),
                Some(true) => "is named twice".to_owned(),
                Some(false) => {
                    hot[t as usize] = true;
                    continue;
                }
            };
            return Err(Refusal::new(
                "workload.pattern.targets",
                t,
                limit,
                "correct the list",
            ));
        }
        hosts.sort_by_key(|&h| !hot[h as usize]);
        Ok(targets.len() as u32)
    }
}

impl HotSpotPairs {
    /// The position in `hosts` of a random server of one of its two parts, other than `not` if
    /// there is another.
    fn among(&self, hot: bool, not: Option<u32>, rng: &mut Stream) -> u32 {
        let all = self.hosts.len() as u32;
        let (first, end) = if hot { (0, self.hot) } else { (self.hot, all) };
        match not.filter(|n| (first..end).contains(n)) {
            None => first + rng.below(end - first),
            Some(_) if end - first == 1 => self.among(!hot, None, rng),
            Some(not) => first + other(not - first, end - first, rng),
        }
    }
}

impl Pairs for HotSpotPairs {
    fn next(&mut self, rng: &mut Stream) -> (HostId, HostId) {
        let hot = rng.unit() < self.fraction;
        let dst = self.hosts[self.among(hot, None, rng) as usize];
        let all = self.hosts.len() as u32;
        (HostId(other(dst, all, rng)), HostId(dst))
    }

    /// The only hot server has no destination if all flows go to it.
    fn sends(&self, src: HostId) -> Option<bool> {
        let alone = self.hot == 1 && self.fraction == 1.0;
        Some(!(alone && self.hosts[0] == src.0))
    }

    fn to(&mut self, src: HostId, rng: &mut Stream) -> HostId {
        let own = self.place[src.index()];
        let hot = rng.unit() < self.fraction;
        HostId(self.hosts[self.among(hot, Some(own), rng) as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{chi_square, cluster, draw, histogram, refusal};
    use crate::patterns::Pattern;
    use lightloom_engine::{HostId, Stream};
    use serde_json::json;

    #[test]
    fn hotspot() {
        let v = json!({"kind": "hotspot", "fraction": 0.4, "targets": [7, 2]});
        let n = 100_000;
        let pairs = draw(v, &cluster(4, 3), 1, n);
        let seen = histogram(pairs.iter().map(|p| p.1 as usize), 12);
        let expected: Vec<f64> = (0..12)
            .map(|h| if h == 7 || h == 2 { 0.2 } else { 0.06 } * n as f64)
            .collect();
        chi_square(&seen, &expected);
        // A source is uniform among the 11 that are not the destination.
        let seen = histogram(pairs.iter().map(|p| p.0 as usize), 12);
        let expected: Vec<f64> = expected.iter().map(|e| (n as f64 - e) / 11.0).collect();
        chi_square(&seen, &expected);
    }

    /// If the sender is given, hot destinations are equally likely; the only hot server sends to
    /// the others.
    #[test]
    fn hotspot_of_a_sender() {
        let v = json!({"kind": "hotspot", "fraction": 0.4, "targets": [7]});
        let pattern: Pattern = serde_json::from_value(v).unwrap();
        let mut rng = Stream::new(1, "t", 0);
        let mut pairs = pattern.pairs(&cluster(4, 3), &mut rng).unwrap();
        let n = 100_000.0;
        for src in [2, 7] {
            let to = (0..n as usize).map(|_| pairs.to(HostId(src), &mut rng).0 as usize);
            let seen = histogram(to, 12);
            let expected: Vec<f64> = (0..12u32)
                .map(|h| match (h, src) {
                    _ if h == src => 0.0,
                    (_, 7) => n / 11.0,
                    (7, _) => 0.4 * n,
                    _ => 0.06 * n,
                })
                .collect();
            chi_square(&seen, &expected);
        }
    }

    #[test]
    fn hot_servers_are_drawn_by_the_seed() {
        let v = json!({"kind": "hotspot", "fraction": 1.0, "hosts": 3});
        let hot = |seed| {
            let mut hot: Vec<u32> = draw(v.clone(), &cluster(10, 10), seed, 500)
                .iter()
                .map(|p| p.1)
                .collect();
            hot.sort_unstable();
            hot.dedup();
            hot
        };
        assert_eq!(hot(1).len(), 3);
        assert_ne!(hot(1), hot(2));
    }

    #[test]
    fn bad_hot_spots_are_refused() {
        let c = cluster(4, 3);
        for (v, start) in [
            (json!({"fraction": 0}), "workload.pattern.fraction = 0"),
            (json!({"fraction": 1.5}), "workload.pattern.fraction = 1.5"),
            (
                json!({"fraction": 0.5, "hosts": 12}),
                "workload.pattern.hosts = 12 servers",
            ),
            (
                json!({"fraction": 0.5, "hosts": 0}),
                "workload.pattern.hosts = 0 servers",
            ),
            (
                json!({"fraction": 0.5, "targets": [12]}),
                "workload.pattern.targets = 12: the last",
            ),
            (
                json!({"fraction": 0.5, "targets": [1, 1]}),
                "workload.pattern.targets = 1: is named",
            ),
            (
                json!({"fraction": 0.5, "targets": []}),
                "workload.pattern.targets = 0 servers",
            ),
            (
                json!({"fraction": 0.5, "targets": [1], "hosts": 1}),
                "workload.pattern.hosts = 1",
            ),
        ] {
            let mut v = v;
            v["kind"] = json!("hotspot");
            let e = refusal(v, &c);
            assert!(e.starts_with(start), "{e}");
        }
    }
}
