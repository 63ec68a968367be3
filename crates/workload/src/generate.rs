//! Draws the flows of a workload.

use crate::config::WorkloadConfig;
use crate::plan::Plan;
use crate::{jobs, mix, sizes};
use lightloom_engine::{Cluster, Flows, Refusal, Stream};

impl WorkloadConfig {
    /// The flows of this workload on `cluster`, sorted by arrival; those of jobs are in the order
    /// of their graph. Sizes, arrivals, pattern and each job have random streams of their own under
    /// `seed`. The flows of a trace are as in its file; [`WorkloadConfig::at_load`] scales their
    /// times.
    ///
    /// # Errors
    /// If [`WorkloadConfig::resolve`] refuses it, or if a sample has sizes or arrivals beyond 64
    /// bits.
    pub fn generate(&self, cluster: &Cluster, seed: u64) -> Result<Flows, Refusal> {
        self.generate_told(cluster, seed, &mut |_| true)
    }

    /// Generates flows as [`WorkloadConfig::generate`] does. While flows are drawn, `told` is called
    /// repeatedly with the fraction drawn; it cancels by returning `false`.
    ///
    /// # Errors
    /// Those of [`WorkloadConfig::generate`], and a refusal if it was cancelled.
    pub fn generate_told(
        &self,
        cluster: &Cluster,
        seed: u64,
        told: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Flows, Refusal> {
        if let Some(path) = &self.trace {
            self.alone()?;
            return self.load_trace(path, cluster);
        }
        if self.has_jobs() {
            let resolved = self.clone().resolve(cluster)?;
            let schedule = resolved.schedule.unwrap_or_default();
            let jobs = resolved.jobs.unwrap_or_default();
            return jobs::generate(&jobs, schedule, cluster, seed);
        }
        if let Some(parts) = &self.mix {
            let parts = self.resolve_mix(parts.clone(), cluster)?;
            return mix::generate(&parts, self.load, cluster, seed, told);
        }
        let config = self.clone().with_defaults()?;
        config.draw(config.plan(cluster, seed, 0)?, seed, 0, told)
    }

    /// The flows of a plan; `part` numbers the random stream of the sizes.
    pub(crate) fn draw(
        &self,
        mut plan: Plan,
        seed: u64,
        part: u64,
        told: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Flows, Refusal> {
        let count = plan.flows as usize;
        let mut rng = Stream::new(seed, "workload.sizes", part);
        // Drawing sizes is half of the work, drawing pairs and times the other half.
        let mut half = |base: usize, done: usize| told((base + done) as f64 / (2 * count) as f64);
        let of_sizes = &mut |done| half(0, done);
        let sizes = sizes::draw_told(&*plan.law, plan.rule, count, &mut rng, of_sizes)
            .ok_or_else(|| ended(count))?;
        check_sum(&sizes)?;
        let mut flows = Flows::new();
        let mut arrival = Default::default();
        for (k, &bytes) in sizes.iter().enumerate() {
            if k.is_multiple_of(sizes::DRAWN_AT_ONCE) && !half(count, k) {
                return Err(ended(count));
            }
            if let Some(sources) = &mut plan.sources {
                let (at, src) = sources.next().ok_or_else(|| self.too_long(f64::MAX))?;
                let dst = plan.pairs.to(src, &mut plan.pattern_rng);
                flows.push(src, dst, bytes, at);
                continue;
            }
            if (k as u64).is_multiple_of(plan.pairs.burst()) {
                arrival = plan.clock.next().ok_or_else(|| self.too_long(f64::MAX))?;
            }
            let (src, dst) = plan.pairs.next(&mut plan.pattern_rng);
            flows.push(src, dst, bytes, arrival);
        }
        Ok(flows)
    }
}

/// The error of a drawing that was cancelled.
fn ended(count: usize) -> Refusal {
    let limit = "the drawing was interrupted";
    Refusal::new("workload.flows", count, limit, "run it again")
}

/// Refuses more bytes than the ledger's 64 bits count.
fn check_sum(sizes: &[u64]) -> Result<(), Refusal> {
    let sum: u128 = sizes.iter().map(|&s| s as u128).sum();
    match sum <= u64::MAX as u128 {
        true => Ok(()),
        false => Err(Refusal::new(
            "workload.flows",
            sizes.len(),
            format!("their sizes add up to {sum} B, more than 64 bits count"),
            "send fewer flows, or smaller ones",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patterns::tests::{cluster, every_kind};
    use crate::{trace, WorkloadConfig};
    use lightloom_engine::{config, Time};
    use serde_json::{json, Value};

    fn generate(v: &Value, seed: u64) -> Flows {
        let config: WorkloadConfig = config::read(v, "workload").unwrap();
        config.generate(&cluster(4, 3), seed).unwrap()
    }

    fn paper(flows: u64) -> Value {
        json!({"load": 0.5, "flows": flows, "pattern": "uniform",
               "sizes": {"kind": "pareto", "shape": 1.05, "mean": "100 KB"}})
    }

    #[test]
    fn the_same_seed_gives_the_same_flows_and_another_others() {
        let (a, b, c) = (
            generate(&paper(1_000), 1),
            generate(&paper(1_000), 1),
            generate(&paper(1_000), 2),
        );
        assert_eq!(
            (&a.src, &a.dst, &a.bytes, &a.arrival),
            (&b.src, &b.dst, &b.bytes, &b.arrival)
        );
        assert!(a.src != c.src && a.bytes != c.bytes && a.arrival != c.arrival);
        assert!(a.arrival.is_sorted() && a.len() == 1_000);
    }

    /// The share rises to one and never falls; the callback changes no result.
    #[test]
    fn a_drawing_is_told_of_and_ends_when_asked() {
        let config: WorkloadConfig = config::read(&paper(200_000), "workload").unwrap();
        let mut shares = Vec::new();
        let told = &mut |share| {
            shares.push(share);
            true
        };
        let flows = config.generate_told(&cluster(4, 3), 1, told).unwrap();
        assert_eq!(flows.bytes, generate(&paper(200_000), 1).bytes);
        assert!(shares.is_sorted() && shares.len() == 8, "{shares:?}");
        assert!(shares[0] == 0.0 && shares[7] > 0.9 && shares[7] < 1.0);
        for calls in 1..=shares.len() {
            let mut heard = 0;
            let told = &mut |_| {
                heard += 1;
                heard < calls
            };
            let ended = config.generate_told(&cluster(4, 3), 1, told).unwrap_err();
            assert_eq!((heard, ended.key.as_str()), (calls, "workload.flows"));
        }
    }

    #[test]
    fn each_law_has_its_own_stream() {
        let base = generate(&paper(500), 1);
        for pattern in every_kind() {
            let mut v = paper(500);
            v["pattern"] = pattern.clone();
            let flows = generate(&v, 1);
            assert_eq!(flows.bytes, base.bytes, "{pattern}");
            assert!(
                pattern["kind"] == "incast" || flows.arrival == base.arrival,
                "{pattern}"
            );
        }
        let mut v = paper(500);
        v["sizes"] = json!("web-search");
        let flows = generate(&v, 1);
        assert_eq!((&flows.src, &flows.dst), (&base.src, &base.dst));
        let longer = generate(&paper(700), 1);
        assert_eq!(longer.bytes[..500], base.bytes[..]);
        assert_eq!(longer.arrival[..500], base.arrival[..]);
        assert_eq!(longer.dst[..500], base.dst[..]);
    }

    /// The first draws of two streams of the same name would agree under every seed.
    #[test]
    fn the_streams_are_independent_of_each_other() {
        let v = json!({"load": 0.5, "flows": 1, "sizes": {"kind": "uniform", "min": "1 KB", "max": "2 KB"}});
        let mut agree = [0; 3];
        let seeds = 400;
        for seed in 0..seeds {
            let f = generate(&v, seed);
            // Each is in the upper half of its distribution.
            let size = f.bytes[0] > 1_500;
            let gap = f.arrival[0].0 as f64 > 1_500.0 * 8e12 / 6e9 * std::f64::consts::LN_2;
            let src = f.src[0].0 >= 6;
            for (count, same) in agree.iter_mut().zip([size == gap, gap == src, src == size]) {
                *count += same as i32;
            }
        }
        // Half of them, within four standard errors.
        assert!(agree.iter().all(|a| (a - 200).abs() < 40), "{agree:?}");
    }

    /// Offered load as drawn: bytes relative to those that 12 servers of 1 Gb/s send until the last
    /// arrival.
    fn load(flows: &Flows) -> f64 {
        let seconds = flows.last_arrival().as_secs_f64();
        flows.total_bytes() as f64 * 8.0 / (12e9 * seconds)
    }

    #[test]
    fn the_load_is_offered_as_asked() {
        let n = 200_000;
        let mut v = paper(n);
        for sizes in [json!({"kind": "fixed", "size": "10 KB"}), json!("storage")] {
            v["sizes"] = sizes;
            for arrivals in [json!("poisson"), json!({"kind": "fixed-gap"})] {
                v["arrivals"] = arrivals;
                for l in [0.1, 1.5] {
                    v["load"] = json!(l);
                    let drawn = load(&generate(&v, 3));
                    assert!((drawn / l - 1.0).abs() < 0.02, "{v}: {drawn}");
                }
            }
        }
        v = paper(n);
        v["pattern"] = json!({"kind": "incast", "fan_in": 8});
        v["sizes"] = json!({"kind": "fixed", "size": "10 KB"});
        let drawn = load(&generate(&v, 3));
        assert!((drawn / 0.5 - 1.0).abs() < 0.02, "{drawn}");
    }

    #[test]
    fn mean_rules_decide_the_load_of_a_heavy_tail() {
        let mut v = paper(200_000);
        let nominal = load(&generate(&v, 1));
        assert!(nominal < 0.4, "{nominal}");
        v["mean_rule"] = json!("rescaled");
        let rescaled = load(&generate(&v, 1));
        assert!((rescaled / 0.5 - 1.0).abs() < 0.01, "{rescaled}");
        v["mean_rule"] = json!("truncated");
        v["sizes"]["max"] = json!("10 MB");
        let flows = generate(&v, 1);
        let truncated = load(&flows);
        assert!((truncated / 0.5 - 1.0).abs() < 0.03, "{truncated}");
        assert!(flows.bytes.iter().all(|&b| b <= 10_000_000));
    }

    /// For any arrivals and any pattern, flows continue for the requested time, and not for much
    /// longer.
    #[test]
    fn flows_follow_from_load_and_time() {
        let hot = json!({"kind": "hotspot", "fraction": 1, "targets": [5]});
        let span = Time::MS * 40;
        for arrivals in [
            json!("poisson"),
            json!("fixed-gap"),
            json!("paced"),
            json!({"kind": "bernoulli", "slot": "80 us"}),
        ] {
            let incast = json!({"kind": "incast", "fan_in": 8});
            for pattern in [json!("uniform"), hot.clone(), json!("tornado"), incast] {
                let mut v = json!({"load": 0.5, "sizes": {"kind": "fixed", "size": "10 KB"}});
                (v["arrivals"], v["pattern"]) = (arrivals.clone(), pattern.clone());
                let config: WorkloadConfig = config::read(&v, "workload").unwrap();
                let chosen = arrivals == "paced" || arrivals.is_object();
                if chosen && pattern["kind"] == "incast" {
                    assert!(config.flows_for(span, &cluster(4, 3)).is_err());
                    continue;
                }
                v["flows"] = json!(config.flows_for(span, &cluster(4, 3)).unwrap());
                let last = generate(&v, 3).last_arrival();
                let longer = last.0 as f64 / span.0 as f64;
                assert!((1.0..1.4).contains(&longer), "{v}: {longer}");
            }
        }
        let v = json!({"load": 0.5, "sizes": {"kind": "fixed", "size": "1 B"}});
        let config: WorkloadConfig = config::read(&v, "workload").unwrap();
        let e = config.flows_for(Time::S * 1_000, &cluster(4, 3));
        let e = e.unwrap_err().to_string();
        assert!(e.starts_with("workload.flows = 7500"), "{e}");
    }

    /// Gaps of each server in units of its own mean, in their order.
    fn gaps_by_server(flows: &Flows) -> Vec<Vec<f64>> {
        let mut at = vec![Vec::new(); 12];
        for f in 0..flows.len() {
            at[flows.src[f].index()].push(flows.arrival[f].0 as f64);
        }
        let gaps = |at: Vec<f64>| {
            let mean = (at[at.len() - 1] - at[0]) / (at.len() - 1) as f64;
            at.windows(2).map(|w| (w[1] - w[0]) / mean).collect()
        };
        at.into_iter()
            .filter(|at| at.len() > 2_000)
            .map(gaps)
            .collect()
    }

    /// Arrivals are a Poisson process at each server, too: the standard deviation of gaps equals
    /// their mean, e^-1 of the gaps are longer than the mean, and no gap depends on the one before.
    /// If permutations and all-to-all used servers in rounds, the deviation would be 0.47 and 0.29
    /// of the mean.
    #[test]
    fn poisson_arrivals_are_poisson_at_every_server() {
        let path = std::env::temp_dir().join(format!("lightloom-gaps-{}.csv", std::process::id()));
        std::fs::write(&path, "0,1,2,1\n1,0,1,3\n2,2,0,1\n1,1,1,0\n").unwrap();
        let matrix = json!({"kind": "matrix", "file": path.to_str().unwrap()});
        let incast = json!({"kind": "incast", "fan_in": 5, "target": 4});
        let flows = 240_000;
        for pattern in every_kind().into_iter().chain([matrix, incast]) {
            let v = json!({"load": 0.5, "flows": flows, "pattern": pattern,
                           "sizes": {"kind": "fixed", "size": "10 KB"}});
            let servers = gaps_by_server(&generate(&v, 1));
            assert!(servers.len() > 6, "{pattern}: {} send", servers.len());
            for gaps in servers {
                // Four standard errors, or more.
                let (n, within) = (gaps.len() as f64, 6.0 / (gaps.len() as f64).sqrt());
                let mean = |f: &dyn Fn(&[f64]) -> f64| gaps.windows(2).map(f).sum::<f64>() / n;
                let deviation = mean(&|w| (w[0] - 1.0).powi(2)).sqrt();
                assert!((deviation - 1.0).abs() < within, "{pattern}: {deviation}");
                let long = mean(&|w| (w[0] > 1.0) as u8 as f64) - (-1.0f64).exp();
                assert!(long.abs() < within, "{pattern}: {long}");
                let next = mean(&|w| (w[0] - 1.0) * (w[1] - 1.0));
                assert!(next.abs() < within, "{pattern}: {next}");
            }
        }
        std::fs::remove_file(&path).unwrap();
    }

    /// Without Poisson arrivals a round has one flow from every server.
    #[test]
    fn rounds_stay_where_nothing_is_poisson() {
        for arrivals in ["at-once", "fixed-gap"] {
            let mut v = json!({"pattern": "permutation", "arrivals": arrivals,
                               "sizes": {"kind": "fixed", "size": "10 KB"}});
            if arrivals == "fixed-gap" {
                v["load"] = json!(0.5);
            }
            let mut senders = generate(&v, 1).src;
            senders.sort();
            assert!(senders.iter().map(|s| s.0).eq(0..12), "{arrivals}");
        }
        let v = json!({"load": 0.5, "pattern": "permutation", "sizes": {"kind": "fixed", "size": "10 KB"}});
        let config: WorkloadConfig = config::read(&v, "workload").unwrap();
        let e = config.generate(&cluster(4, 3), 1).unwrap_err();
        assert!(
            e.to_string().starts_with("workload.flows = (missing): "),
            "{e}"
        );
    }

    #[test]
    fn a_round_of_incast_arrives_at_once() {
        let v = json!({"load": 0.5, "flows": 40, "sizes": {"kind": "fixed", "size": "20 KB"},
                       "pattern": {"kind": "incast", "fan_in": 8, "target": 0}});
        let flows = generate(&v, 1);
        let mut times = flows.arrival.clone();
        times.dedup();
        assert_eq!(times.len(), 5);
        assert!(flows
            .arrival
            .chunks(8)
            .all(|r| r.iter().all(|t| *t == r[0])));
    }

    /// Arrivals for 12 servers of 1 Gb/s, in any order, some at the same time.
    #[test]
    fn arrivals_are_exactly_those_of_the_file() {
        let path = std::env::temp_dir().join(format!("lightloom-at-{}.csv", std::process::id()));
        std::fs::write(&path, "arrival_us\n40\n0.25\n7.000001\n40\n0\n").unwrap();
        let arrivals = json!({"kind": "file", "file": path.to_str().unwrap()});
        let mut v = paper(5);
        v.as_object_mut().unwrap().remove("load");
        v["arrivals"] = arrivals;
        let read = |v: &Value| config::read::<WorkloadConfig>(v, "workload").unwrap();
        let resolved = |v: &Value| read(v).resolve(&cluster(4, 3));
        let want = [0, 250_000, 7_000_001, 40_000_000, 40_000_000].map(Time);
        let flows = generate(&v, 1);
        assert_eq!(flows.arrival, want);
        // The other distributions keep their random streams.
        let base = generate(&paper(5), 1);
        assert_eq!(
            (flows.src, flows.dst, flows.bytes),
            (base.src, base.dst, base.bytes)
        );
        v["flows"] = json!(3);
        assert_eq!(generate(&v, 1).arrival, want[..3]);
        v["flows"] = json!(6);
        assert_eq!(
            resolved(&v).unwrap_err().to_string(),
            "workload.flows = 6: the file of workload.arrivals has times for 5; \
             lower it, or remove it to send that many"
        );
        v["flows"] = Value::Null;
        // A time of the file belongs to a round, not to each of its flows.
        v["pattern"] = json!({"kind": "incast", "fan_in": 4});
        assert_eq!(resolved(&v).unwrap().flows, Some(20));
        let rounds = generate(&v, 1).arrival;
        assert!(rounds.chunks(4).zip(want).all(|(r, at)| r == [at; 4]));
        // A pattern's own round does not count.
        v["pattern"] = json!("all-to-all");
        let whole = resolved(&v).unwrap();
        assert_eq!(whole.flows, Some(5));
        assert!(whole.default_stop_is_drain() && !whole.has_rate());
        let written = serde_json::to_value(&whole).unwrap();
        assert_eq!(resolved(&written).unwrap(), whole);
        v["load"] = json!(0.5);
        let e = resolved(&v).unwrap_err().to_string();
        assert!(
            e.starts_with("workload.load = 0.5: has no effect on file arrivals"),
            "{e}"
        );
        std::fs::write(&path, "arrival_us\n40\n0,25\n").unwrap();
        let e = resolved(&v).unwrap_err().to_string();
        std::fs::remove_file(&path).unwrap();
        let place = format!("workload.arrivals.file = {:?}: line 3, column 3: ", path);
        assert!(e.starts_with(&place), "{e}");
        let e = resolved(&v).unwrap_err().to_string();
        assert!(
            e.starts_with("workload.arrivals.file = ") && e.contains("cannot be read"),
            "{e}"
        );
    }

    #[test]
    fn a_trace_is_read_instead() {
        let path = std::env::temp_dir().join(format!("lightloom-{}.csv", std::process::id()));
        let flows = generate(&paper(50), 1);
        std::fs::write(&path, trace::write_csv(&flows).unwrap()).unwrap();
        let v = json!({"trace": path.to_str().unwrap()});
        let back = generate(&v, 9);
        assert_eq!((back.bytes, back.arrival), (flows.bytes, flows.arrival));
        let small: WorkloadConfig = config::read(&v, "workload").unwrap();
        let e = small.resolve(&cluster(1, 2)).unwrap_err().to_string();
        std::fs::remove_file(&path).unwrap();
        assert!(
            e.contains("line 2, column") && e.contains("the last host is 1"),
            "{e}"
        );
    }

    #[test]
    fn sizes_beyond_64_bits_are_refused() {
        let v = json!({"arrivals": "at-once", "flows": 3_000,
                       "sizes": {"kind": "fixed", "size": "9000 TB"}});
        let config: WorkloadConfig = config::read(&v, "workload").unwrap();
        let e = config.generate(&cluster(4, 3), 1).unwrap_err().to_string();
        assert!(
            e.starts_with("workload.flows = 3000: their sizes add up to"),
            "{e}"
        );
    }
}
