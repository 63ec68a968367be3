//! The traffic that a workload offers in the long run: a sample of its pairs of servers, each with
//! the rate that it represents. Sizes and times are not drawn, so the length of a run does not
//! matter.

use crate::config::WorkloadConfig;
use crate::plan::Plan;
use lightloom_engine::{Cluster, HostId, Refusal};

/// Number of pairs in a sample: each of 64 racks is drawn about 2,000 times, so that its share of
/// the traffic is known to 2 %.
const SAMPLED: usize = 1 << 17;

/// A pair of servers, and the mean rate for which it stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offered {
    /// The sending server.
    pub src: HostId,
    /// The receiving server.
    pub dst: HostId,
    /// Its part of the offered rate [b/s].
    pub rate_bps: f64,
    /// Number of flows of the same instant, such as those of an incast, to which the pair belongs.
    pub burst: u64,
}

impl WorkloadConfig {
    /// A sample of the traffic that is offered in the long run; empty if flows do not arrive at a
    /// rate. Random patterns, such as hot racks, are those of the run with that seed.
    ///
    /// # Errors
    /// The errors of [`WorkloadConfig::resolve`].
    pub fn offered(&self, cluster: &Cluster, seed: u64) -> Result<Vec<Offered>, Refusal> {
        if let Some(parts) = &self.mix {
            let alone: Vec<_> = parts.iter().map(|part| part.alone(self.load)).collect();
            if !alone.iter().all(WorkloadConfig::has_rate) {
                return Ok(Vec::new());
            }
            let count = SAMPLED / alone.len().max(1);
            let of =
                |(k, part): (usize, &WorkloadConfig)| part.sample(cluster, seed, k as u64, count);
            return alone
                .iter()
                .enumerate()
                .map(of)
                .collect::<Result<Vec<_>, _>>()
                .map(|parts| parts.concat());
        }
        match self.has_rate() && self.sizes.is_some() {
            true => self.sample(cluster, seed, 0, SAMPLED),
            false => Ok(Vec::new()),
        }
    }

    fn sample(
        &self,
        cluster: &Cluster,
        seed: u64,
        part: u64,
        count: usize,
    ) -> Result<Vec<Offered>, Refusal> {
        let one = WorkloadConfig {
            flows: Some(1),
            ..self.clone()
        };
        let mut plan = one.with_defaults()?.plan(cluster, seed, part)?;
        let pairs: Vec<_> = (0..count).map_while(|_| plan.next_pair()).collect();
        let total = plan.law.mean() * 8.0 / (plan.gap * 1e-12);
        let burst = plan.pairs.burst();
        let rate_bps = total / pairs.len().max(1) as f64;
        let of = |&(src, dst): &(HostId, HostId)| Offered {
            src,
            dst,
            rate_bps,
            burst,
        };
        Ok(pairs.iter().map(of).collect())
    }
}

impl Plan {
    /// The servers of the next flow; `None` beyond the clock's range.
    fn next_pair(&mut self) -> Option<(HostId, HostId)> {
        match &mut self.sources {
            Some(sources) => {
                let (_, src) = sources.next()?;
                Some((src, self.pairs.to(src, &mut self.pattern_rng)))
            }
            None => Some(self.pairs.next(&mut self.pattern_rng)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patterns::tests::cluster;
    use lightloom_engine::config;
    use serde_json::{json, Value};

    fn offered(v: Value) -> Vec<Offered> {
        let config: WorkloadConfig = config::read(&v, "workload").unwrap();
        config.offered(&cluster(4, 4), 1).unwrap()
    }

    fn workload(pattern: Value) -> Value {
        json!({"load": 0.5, "flows": 100, "pattern": pattern,
               "sizes": {"kind": "fixed", "size": "100 KB"}})
    }

    /// 16 servers of 1 Gb/s at half of their rate: 8 Gb/s, a quarter of them from each rack.
    #[test]
    fn the_rates_of_a_uniform_pattern_are_shares_of_the_load() {
        let found = offered(workload(json!("uniform")));
        let sum = |of: &dyn Fn(&&Offered) -> bool| -> f64 {
            found.iter().filter(of).map(|o| o.rate_bps).sum()
        };
        assert!((sum(&|_| true) / 8e9 - 1.0).abs() < 1e-9);
        assert!((sum(&|o| o.src.0 < 4) / 2e9 - 1.0).abs() < 0.02);
        // A server has 15 others, 12 of them in other racks.
        let leaves = |o: &&Offered| o.src.0 < 4 && o.dst.0 >= 4;
        assert!((sum(&leaves) / (2e9 * 12.0 / 15.0) - 1.0).abs() < 0.02);
    }

    /// Rates of parts add up; an incast's servers send at the rate of its own load.
    #[test]
    fn the_parts_of_a_mix_keep_their_rates() {
        let incast = json!({"kind": "incast", "fan_in": 15, "target": 3});
        let parts = [(0.5, json!("uniform")), (0.05, incast)];
        let parts: Vec<Value> = { parts.into_iter() }
            .map(|(load, pattern)| {
                let mut part = workload(pattern);
                part["load"] = json!(load);
                part
            })
            .collect();
        let found = offered(json!({ "mix": parts }));
        let to: f64 = { found.iter() }
            .filter(|o| o.dst.0 == 3)
            .map(|o| o.rate_bps)
            .sum();
        // A sixteenth of 8 Gb/s, and all of 0.05 × 16 Gb/s.
        assert!((to / (0.5e9 + 0.8e9) - 1.0).abs() < 0.02, "{to}");
    }

    #[test]
    fn traffic_without_a_rate_has_none() {
        let mut at_once = workload(json!("uniform"));
        at_once["arrivals"] = json!("at-once");
        at_once.as_object_mut().unwrap().remove("load");
        assert_eq!(offered(at_once), []);
    }
}
