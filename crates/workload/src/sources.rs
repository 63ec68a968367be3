//! Arrivals by server: each server has a clock of its own, so that the time of a flow determines
//! its sender.
//!
//! At load L, a server offers a flow every F / (R · L) on average. Servers that a pattern makes
//! silent stay silent, and the others do not offer more to compensate.

use crate::arrivals::{Arrivals, MAX_ARRIVAL};
use crate::patterns::Pairs;
use lightloom_engine::{Cluster, HostId, Refusal, Stream, Time};

/// Yields arrival times with their senders, in order of time.
#[derive(Debug)]
pub(crate) struct Sources {
    law: Law,
    /// Servers that send.
    senders: Vec<u32>,
    /// The number of slots or rounds begun, and the position in `senders` of the next sender.
    round: u64,
    at: usize,
    rng: Stream,
}

#[derive(Debug)]
enum Law {
    /// A flow in each slot with this probability.
    Bernoulli { slot: Time, chance: f64 },
    /// A flow every `gap` [ps] from an initial time of each server; in order of these times.
    Paced { gap: f64, phase: Vec<f64> },
}

impl Sources {
    /// The clocks that `arrivals` requires, if any; `gap` is the mean gap between flows of all
    /// servers [ps].
    ///
    /// # Errors
    /// If the pattern chooses the senders, or a slot is too short.
    pub fn new(
        arrivals: &Arrivals,
        load: f64,
        gap: f64,
        pairs: &dyn Pairs,
        pattern: &str,
        cluster: &Cluster,
        mut rng: Stream,
    ) -> Result<Option<Sources>, Refusal> {
        let gap = gap * cluster.hosts() as f64;
        let law = match arrivals {
            Arrivals::Bernoulli(b) => Law::Bernoulli {
                slot: b.slot,
                chance: chance(b.slot, gap, load)?,
            },
            Arrivals::Paced(_) => Law::Paced {
                gap,
                phase: Vec::new(),
            },
            _ => return Ok(None),
        };
        let Some(mut senders) = senders(pairs, cluster) else {
            return Err(Refusal::new(
                "workload.pattern",
                pattern,
                format!("chooses the senders, as {} arrivals do", arrivals.kind()),
                "use uniform, permutation, hotspot or a bit pattern, or other arrivals",
            ));
        };
        let law = match law {
            Law::Paced { gap, .. } => phased(gap, &mut senders, &mut rng),
            other => other,
        };
        Ok(Some(Sources {
            law,
            senders,
            round: 0,
            at: 0,
            rng,
        }))
    }

    /// The number of servers that send.
    pub fn senders(&self) -> usize {
        self.senders.len()
    }

    /// The time and the sender of the next flow; `None` beyond [`MAX_ARRIVAL`].
    pub fn next(&mut self) -> Option<(Time, HostId)> {
        if let Law::Bernoulli { chance, .. } = self.law {
            self.skip(chance);
        }
        let src = HostId(self.senders[self.at]);
        let ps = match &self.law {
            Law::Bernoulli { slot, .. } => self.round as f64 * slot.0 as f64,
            Law::Paced { gap, phase } => self.round as f64 * gap + phase[self.at],
        };
        if ps > MAX_ARRIVAL.0 as f64 {
            return None;
        }
        let time = match self.law {
            Law::Bernoulli { slot, .. } => slot * self.round as i64,
            Law::Paced { .. } => Time(ps as i64),
        };
        self.step(1);
        Some((time, src))
    }

    /// Skips servers that do not send in a slot, by a geometric number.
    fn skip(&mut self, chance: f64) {
        if chance < 1.0 {
            let quiet = (1.0 - self.rng.unit()).ln() / (-chance).ln_1p();
            self.step(quiet as u64);
        }
    }

    fn step(&mut self, by: u64) {
        let to = (self.at as u64).saturating_add(by);
        self.round = self.round.saturating_add(to / self.senders.len() as u64);
        self.at = (to % self.senders.len() as u64) as usize;
    }
}

/// The probability of a flow in a slot.
fn chance(slot: Time, gap: f64, load: f64) -> Result<f64, Refusal> {
    if slot <= Time::ZERO || slot > Time::S {
        return Err(Refusal::new(
            "workload.arrivals.slot",
            slot,
            "must be more than 0 s and at most 1 s",
            "use the time of a packet",
        ));
    }
    let chance = slot.0 as f64 / gap;
    if chance <= 1.0 + 1e-9 {
        return Ok(chance.min(1.0));
    }
    Err(Refusal::new(
        "workload.load",
        load,
        format!(
            "a server offers one flow a slot at most: a load of {:.6}",
            load / chance
        ),
        "lower it, or shorten workload.arrivals.slot",
    ))
}

/// The servers that send; `None` if the pattern itself chooses them.
fn senders(pairs: &dyn Pairs, cluster: &Cluster) -> Option<Vec<u32>> {
    let mut senders = Vec::new();
    for host in 0..cluster.hosts() {
        if pairs.sends(HostId(host))? {
            senders.push(host);
        }
    }
    Some(senders)
}

/// Servers in order of times within a gap, drawn uniformly.
fn phased(gap: f64, senders: &mut [u32], rng: &mut Stream) -> Law {
    let mut drawn: Vec<(f64, u32)> = senders.iter().map(|&s| (rng.unit() * gap, s)).collect();
    drawn.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (sender, &(_, drawn)) in senders.iter_mut().zip(&drawn) {
        *sender = drawn;
    }
    let phase = drawn.into_iter().map(|d| d.0).collect();
    Law::Paced { gap, phase }
}

#[cfg(test)]
mod tests {
    use crate::patterns::tests::cluster;
    use crate::WorkloadConfig;
    use lightloom_engine::{config, Flows, Refusal, Time};
    use serde_json::{json, Value};

    /// 12 servers of 1 Gb/s; 125 B take 1 µs.
    fn generate(keys: Value) -> Result<Flows, Refusal> {
        let mut table = json!({"sizes": {"kind": "fixed", "size": "125 B"}});
        for (key, value) in keys.as_object().unwrap() {
            table[key] = value.clone();
        }
        let workload: WorkloadConfig = config::read(&table, "workload")?;
        workload
            .resolve(&cluster(12, 1))?
            .generate(&cluster(12, 1), 4)
    }

    fn bernoulli(load: f64, pattern: &str) -> Result<Flows, Refusal> {
        generate(json!({
            "arrivals": {"kind": "bernoulli", "slot": "1 us"},
            "load": load, "pattern": pattern, "flows": 60_000,
        }))
    }

    /// Slots are whole, senders of a slot differ, and their number is binomial.
    #[test]
    fn each_server_sends_in_each_slot_with_the_same_chance() {
        let flows = bernoulli(0.3, "uniform").unwrap();
        let slots = flows.last_arrival().0 / Time::US.0;
        let mut sent = vec![0.0; slots as usize + 1];
        let mut by_host = [0.0f64; 12];
        let mut seen = std::collections::BTreeSet::new();
        for f in 0..flows.len() {
            let (at, src) = (flows.arrival[f].0, flows.src[f].0);
            assert!(at % Time::US.0 == 0 && seen.insert((at, src)));
            sent[(at / Time::US.0) as usize] += 1.0;
            by_host[src as usize] += 1.0;
        }
        assert!(flows.arrival.is_sorted());
        let n = sent.len() as f64;
        let mean = sent.iter().sum::<f64>() / n;
        let variance = sent.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / n;
        // 12 · 0.3 and 12 · 0.3 · 0.7, within four standard errors.
        assert!((mean - 3.6).abs() < 4.0 * (2.52 / n).sqrt(), "{mean}");
        assert!(
            (variance - 2.52).abs() < 4.0 * 2.52 * (2.0 / n).sqrt(),
            "{variance}"
        );
        let error = (60_000.0f64 / 12.0 * 0.7).sqrt();
        assert!(
            by_host.iter().all(|b| (b - 5_000.0).abs() < 4.5 * error),
            "{by_host:?}"
        );
    }

    #[test]
    fn a_slot_holds_one_flow_of_a_server() {
        let full = bernoulli(1.0, "tornado").unwrap();
        assert!((0..full.len()).all(|f| full.arrival[f] == Time::US * (f as i64 / 12)));
        let e = bernoulli(1.5, "uniform").unwrap_err();
        assert_eq!(
            e.to_string(),
            "workload.load = 1.5: a server offers one flow a slot at most: a \
            load of 1.000000; lower it, or shorten workload.arrivals.slot"
        );
        let e = bernoulli(0.5, "all-to-all").unwrap_err().to_string();
        assert!(
            e.starts_with("workload.pattern = all-to-all: chooses the senders, as bernoulli"),
            "{e}"
        );
        let e = generate(json!({"arrivals": {"kind": "bernoulli"}, "load": 0.1, "flows": 1}));
        assert!(e
            .unwrap_err()
            .to_string()
            .starts_with("workload.arrivals.slot = (missing)"));
    }

    /// At half load a server sends every 2 µs, and servers are not in step.
    #[test]
    fn paced_servers_keep_their_distance() {
        let flows = generate(json!({"arrivals": "paced", "load": 0.5, "flows": 1_200})).unwrap();
        assert!(flows.arrival.is_sorted());
        let mut phases = Vec::new();
        for host in 0..12 {
            let mine = (0..1_200).filter(|&f| flows.src[f].0 == host);
            let at: Vec<i64> = mine.map(|f| flows.arrival[f].0).collect();
            assert_eq!(at.len(), 100);
            assert!(at
                .windows(2)
                .all(|w| (w[1] - w[0] - 2 * Time::US.0).abs() <= 1));
            phases.push(at[0]);
        }
        phases.sort_unstable();
        phases.dedup();
        assert!(phases.len() == 12 && phases[11] < 2 * Time::US.0);
    }

    /// All but the hot server send to it; a silent one adds nothing to the others.
    #[test]
    fn the_silent_stay_silent() {
        let hot = json!({"kind": "hotspot", "fraction": 1, "targets": [5]});
        for arrivals in [json!("paced"), json!({"kind": "bernoulli", "slot": "1 us"})] {
            let keys = json!({"arrivals": arrivals, "load": 0.5, "pattern": hot, "flows": 11_000});
            let flows = generate(keys).unwrap();
            assert!(flows.dst.iter().all(|d| d.0 == 5) && flows.src.iter().all(|s| s.0 != 5));
            let gap = flows.last_arrival().0 as f64 / 1_000.0;
            assert!((gap / 2e6 - 1.0).abs() < 0.05, "{gap}");
        }
        // 3 of 9 servers are silent: Poisson flows arrive two thirds as fast.
        let table = json!({
            "sizes": {"kind": "fixed", "size": "125 B"}, "load": 0.5, "pattern": "transpose",
            "flows": 60_000,
        });
        let workload: WorkloadConfig = config::read(&table, "workload").unwrap();
        let flows = workload.generate(&cluster(9, 1), 4).unwrap();
        let gap = flows.last_arrival().0 as f64 / 60_000.0;
        assert!((gap / (2e6 / 6.0) - 1.0).abs() < 0.02, "{gap}");
    }
}
