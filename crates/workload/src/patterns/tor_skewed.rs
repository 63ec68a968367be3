//! Some racks send and receive more than others.
//!
//! Racks have weights. Each end of a flow is drawn in proportion to its rack's weight, and
//! uniformly within the rack; the destination is drawn among the servers other than the source. The
//! seed determines which racks are heavy.

use super::{fraction, Pairs};
use lightloom_engine::{Cluster, HostId, Refusal, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Some racks send and receive more than others: by Zipf's law, or a fraction of
/// the racks with a fraction of the traffic.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TorSkewed {
    /// Zipf exponent, at most 10: the k-th heaviest rack has weight 1 / k^zipf. 0 is uniform, 1 is
    /// the classic value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zipf: Option<f64>,
    /// Fraction of the racks that are hot; only together with `hot_traffic`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hot_racks: Option<f64>,
    /// Fraction of the flows' sources, and of their destinations, that are in hot racks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hot_traffic: Option<f64>,
}

impl TorSkewed {
    pub(super) fn pairs(
        &self,
        cluster: &Cluster,
        rng: &mut Stream,
    ) -> Result<RackWeights, Refusal> {
        let mut weights = self.weights(cluster.racks)?;
        rng.shuffle(&mut weights);
        RackWeights::new(&weights, cluster.servers_per_rack).ok_or_else(|| {
            Refusal::new(
                "workload.pattern",
                "tor-skewed",
                "one server has nearly all the weight, so no other can be its peer",
                "skew less, or raise cluster.servers_per_rack",
            )
        })
    }

    /// The racks' weights, heaviest first.
    fn weights(&self, racks: u32) -> Result<Vec<f64>, Refusal> {
        match (self.zipf, self.hot_racks, self.hot_traffic) {
            (Some(s), None, None) if (0.0..=10.0).contains(&s) => {
                Ok((1..=racks).map(|k| (k as f64).powf(-s)).collect())
            }
            (Some(s), None, None) => Err(Refusal::new(
                "workload.pattern.zipf",
                s,
                "must be from 0 to 10",
                "correct the exponent",
            )),
            (None, Some(share), Some(traffic)) => hot_and_cold(racks, share, traffic),
            _ => Err(Refusal::new(
                "workload.pattern",
                "tor-skewed",
                "is given by zipf, or by hot_racks and hot_traffic together",
                "give zipf = 1.0, or hot_racks = 0.1 and hot_traffic = 0.8",
            )),
        }
    }
}

fn hot_and_cold(racks: u32, share: f64, traffic: f64) -> Result<Vec<f64>, Refusal> {
    let traffic = fraction("hot_traffic", traffic)?;
    let hot = (fraction("hot_racks", share)? * racks as f64).round() as u32;
    if hot == 0 || hot >= racks {
        return Err(Refusal::new(
            "workload.pattern.hot_racks",
            share,
            format!("makes {hot} of {racks} racks hot: at least 1 must be hot and 1 not"),
            "correct the fraction, or raise cluster.racks",
        ));
    }
    let cold = (1.0 - traffic) / (racks - hot) as f64;
    let weight = |k| if k < hot { traffic / hot as f64 } else { cold };
    Ok((0..racks).map(weight).collect())
}

/// Servers drawn in proportion to the weights of their racks.
#[derive(Debug)]
pub(super) struct RackWeights {
    /// Sum of the weights up to and with each rack.
    sums: Vec<f64>,
    servers: u32,
}

impl RackWeights {
    /// `None` if one server has all the weight, so that no other can be drawn.
    fn new(weights: &[f64], servers: u32) -> Option<RackWeights> {
        let mut sum = 0.0;
        let sums: Vec<f64> = weights
            .iter()
            .map(|w| {
                sum += w;
                sum
            })
            .collect();
        let heaviest = weights.iter().copied().fold(0.0, f64::max) / servers as f64;
        (sum - heaviest > 1e-9 * sum).then_some(RackWeights { sums, servers })
    }

    fn total(&self) -> f64 {
        self.sums[self.sums.len() - 1]
    }

    fn before(&self, rack: usize) -> f64 {
        rack.checked_sub(1).map_or(0.0, |r| self.sums[r])
    }

    /// The server at `x` on a line on which each server is as wide as its weight.
    fn at(&self, x: f64) -> u32 {
        let total = self.total();
        let rack = self.sums.partition_point(|&s| s <= x);
        // Rounding may carry x to the total, beyond the last rack with a weight.
        let rack = rack.min(self.sums.partition_point(|&s| s < total));
        let width = self.sums[rack] - self.before(rack);
        let inside = ((x - self.before(rack)) / width * self.servers as f64) as u32;
        rack as u32 * self.servers + inside.min(self.servers - 1)
    }

    /// The start of server `host` on that line, and its width.
    fn place(&self, host: u32) -> (f64, f64) {
        let rack = (host / self.servers) as usize;
        let start = self.before(rack);
        let width = (self.sums[rack] - start) / self.servers as f64;
        (start + width * (host % self.servers) as f64, width)
    }
}

impl Pairs for RackWeights {
    fn next(&mut self, rng: &mut Stream) -> (HostId, HostId) {
        let src = self.at(rng.unit() * self.total());
        let (start, width) = self.place(src);
        loop {
            let x = rng.unit() * (self.total() - width);
            let dst = self.at(if x < start { x } else { x + width });
            // Only rounding at the boundary can still select the source.
            if dst != src {
                return (HostId(src), HostId(dst));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{chi_square, cluster, draw, histogram, refusal};
    use super::RackWeights;
    use serde_json::json;

    fn sources(v: serde_json::Value, servers: u32, n: usize) -> Vec<f64> {
        let pairs = draw(v, &cluster(8, servers), 1, n);
        let mut seen = histogram(pairs.iter().map(|p| (p.0 / servers) as usize), 8);
        seen.sort_by(|a, b| b.total_cmp(a));
        seen
    }

    #[test]
    fn tor_skewed() {
        let n = 100_000;
        let seen = sources(json!({"kind": "tor-skewed", "zipf": 1.0}), 5, n);
        let total: f64 = (1..=8).map(|k| 1.0 / k as f64).sum();
        let expected: Vec<f64> = (1..=8).map(|k| n as f64 / k as f64 / total).collect();
        chi_square(&seen, &expected);
        let v = json!({"kind": "tor-skewed", "hot_racks": 0.25, "hot_traffic": 0.7});
        let seen = sources(v, 5, n);
        let hot = (seen[0] + seen[1]) / n as f64;
        assert!((hot - 0.7).abs() < 4.0 * (0.21 / n as f64).sqrt(), "{hot}");
    }

    /// The distribution without rejection: P(s, d) = w(s) · w(d) / (1 - w(s)).
    #[test]
    fn destinations_are_weighted_among_the_others() {
        let (n, racks) = (200_000, 4usize);
        let v = json!({"kind": "tor-skewed", "zipf": 2.0});
        let pairs = draw(v, &cluster(racks as u32, 1), 7, n);
        let mut by_rank = histogram(pairs.iter().map(|p| p.0 as usize), racks);
        let rank: Vec<usize> = by_rank
            .iter()
            .map(|c| by_rank.iter().filter(|d| *d > c).count())
            .collect();
        by_rank.sort_by(|a, b| b.total_cmp(a));
        let w: Vec<f64> = (1..=racks).map(|k| (k as f64).powi(-2)).collect();
        let w: Vec<f64> = w.iter().map(|x| x / w.iter().sum::<f64>()).collect();
        let key = |p: &(u32, u32)| rank[p.0 as usize] * racks + rank[p.1 as usize];
        let seen = histogram(pairs.iter().map(key), racks * racks);
        let expected: Vec<f64> = (0..racks * racks)
            .map(|k| (k / racks, k % racks))
            .map(|(s, d)| match s == d {
                true => 0.0,
                false => n as f64 * w[s] * w[d] / (1.0 - w[s]),
            })
            .collect();
        chi_square(&seen, &expected);
    }

    #[test]
    fn rounding_never_reaches_a_rack_without_weight() {
        let racks = RackWeights::new(&[0.0, 0.3, 0.1, 0.0], 2).unwrap();
        assert_eq!(
            [0.0, 0.29, 0.3, racks.total(), 9.0].map(|x| racks.at(x)),
            [2, 3, 4, 5, 5]
        );
    }

    #[test]
    fn bad_skews_are_refused() {
        let bad = |v: serde_json::Value| {
            let mut v = v;
            v["kind"] = json!("tor-skewed");
            refusal(v, &cluster(8, 1))
        };
        assert!(bad(json!({"zipf": -1})).starts_with("workload.pattern.zipf = -1"));
        assert!(bad(json!({})).contains("is given by zipf"));
        assert!(bad(json!({"hot_racks": 0.1})).contains("is given by zipf"));
        assert!(bad(json!({"zipf": 1, "hot_racks": 0.1, "hot_traffic": 0.5})).contains("given by"));
        let e = bad(json!({"hot_racks": 0.01, "hot_traffic": 0.5}));
        assert!(e.contains("makes 0 of 8 racks hot"), "{e}");
        let e = bad(json!({"hot_racks": 0.125, "hot_traffic": 1.0}));
        assert!(e.contains("one server has nearly all the weight"), "{e}");
    }
}
