//! `[[workload.mix]]`: parts with distributions of their own, such as background traffic at a load
//! and incasts at a rate.
//!
//! Each part draws its flows from random streams of its own; the flows of all parts are then
//! sorted by arrival. The first part draws the flows that it would draw alone.
//!
//! Not modelled: traces and jobs as parts, and parts that depend on each other.

use crate::arrivals::MAX_ARRIVAL;
use crate::config::WorkloadConfig;
use crate::part::Part;
use lightloom_engine::{Cluster, Flows, Refusal, Time};

impl Part {
    /// The part as a workload of its own; `load` is that of the whole mix.
    pub(crate) fn alone(&self, load: Option<f64>) -> WorkloadConfig {
        let arrivals = self.arrivals.clone().unwrap_or_default();
        let common = load.filter(|_| arrivals.needs_load());
        WorkloadConfig {
            arrivals: Some(arrivals),
            load: self.load.or(common),
            sizes: self.sizes.clone(),
            mean_rule: self.mean_rule,
            pattern: self.pattern.clone(),
            flows: self.flows,
            ..WorkloadConfig::default()
        }
    }

    /// Returns the part with the defaults and the number of flows of `whole`. Its load is kept as
    /// written, so that another load of the mix applies to it.
    fn resolved(&self, whole: WorkloadConfig) -> Part {
        Part {
            load: self.load,
            arrivals: whole.arrivals,
            sizes: whole.sizes,
            mean_rule: whole.mean_rule,
            pattern: whole.pattern,
            flows: whole.flows,
        }
    }
}

impl WorkloadConfig {
    /// The parts of its mix with their defaults and their numbers of flows.
    ///
    /// # Errors
    /// If it has keys that belong to its parts; also the refusals of [`resolve`].
    pub(crate) fn resolve_mix(
        &self,
        parts: Vec<Part>,
        cluster: &Cluster,
    ) -> Result<Vec<Part>, Refusal> {
        self.alone_with_mix()?;
        resolve(parts, self.load, cluster)
    }

    /// [`WorkloadConfig::mean_bytes_by_byte`] over all parts; `None` if a part has no rate.
    ///
    /// # Errors
    /// Those of [`resolve`].
    pub(crate) fn mix_by_byte(
        &self,
        parts: &[Part],
        cluster: &Cluster,
    ) -> Result<Option<f64>, Refusal> {
        let (mut bytes, mut weighted) = (0.0, 0.0);
        for (k, part) in parts.iter().enumerate() {
            if !part.alone(self.load).has_rate() {
                return Ok(None);
            }
            let of = in_part((k, part), self.load, |whole| whole.rate_by_byte(cluster))?;
            bytes += of.0;
            weighted += of.0 * of.1;
        }
        Ok((bytes > 0.0).then(|| weighted / bytes))
    }

    /// The parts of its mix, as [`filled_for`] fills them.
    ///
    /// # Errors
    /// Those of [`filled_for`].
    pub(crate) fn fill_mix(
        &self,
        parts: &[Part],
        span: Time,
        cluster: &Cluster,
    ) -> Result<Vec<Part>, Refusal> {
        filled_for(parts, self.load, span, cluster)
    }
}

/// Applies `of` to part `k` of a mix of that `load`; a refusal names the part.
fn in_part<T>(
    (k, part): (usize, &Part),
    load: Option<f64>,
    of: impl FnOnce(WorkloadConfig) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    let common = load.is_some() && part.load.is_none();
    of(part.alone(load)).map_err(|refusal| match refusal.key.strip_prefix("workload.") {
        Some("load") if common => refusal,
        Some(key) => Refusal {
            key: format!("workload.mix[{k}].{key}"),
            ..refusal
        },
        None => refusal,
    })
}

/// The parts with their defaults and their numbers of flows.
///
/// # Errors
/// If there is no part, a part is refused, or no part determines how long flows arrive.
fn resolve(parts: Vec<Part>, load: Option<f64>, cluster: &Cluster) -> Result<Vec<Part>, Refusal> {
    if parts.is_empty() {
        let limit = "has no parts";
        return Err(Refusal::new(
            "workload.mix",
            "[]",
            limit,
            "add one, or remove it",
        ));
    }
    check_common_load(&parts, load)?;
    let span = longest(&parts, load, cluster)?;
    let resolve = |(k, part): (usize, &Part)| {
        let resolved = in_part((k, part), load, |mut whole| {
            if let (None, true, Some(span)) = (whole.flows, whole.has_rate(), span) {
                let mean = span.0 as f64 / whole.mean_gap(cluster)?;
                whole.flows = Some((mean.round() as u64).max(1));
            }
            whole.resolve(cluster)
        })?;
        Ok(part.resolved(resolved))
    };
    parts.iter().enumerate().map(resolve).collect()
}

/// Refuses a common load that no part uses.
fn check_common_load(parts: &[Part], load: Option<f64>) -> Result<(), Refusal> {
    let takes = |p: &Part| p.load.is_none() && p.arrivals.clone().unwrap_or_default().needs_load();
    match load {
        Some(load) if !parts.iter().any(takes) => Err(Refusal::new(
            "workload.load",
            load,
            "every part of workload.mix has its own load or rate",
            "remove it, or the load of the part that is to follow it",
        )),
        _ => Ok(()),
    }
}

/// The longest mean duration of the parts that give their number of flows.
fn longest(parts: &[Part], load: Option<f64>, cluster: &Cluster) -> Result<Option<Time>, Refusal> {
    let mut longest = None;
    for (k, part) in parts.iter().enumerate() {
        let Some(flows) = part.flows else { continue };
        let gap = in_part((k, part), load, |whole| whole.mean_gap(cluster))?;
        let span = Time((gap * flows as f64).min(MAX_ARRIVAL.0 as f64) as i64);
        longest = longest.max(Some(span).filter(|&span| span > Time::ZERO));
    }
    Ok(longest)
}

/// The parts with as many flows as arrive during `span`, if they have a rate and no number of
/// flows.
///
/// # Errors
/// The refusals of [`WorkloadConfig::flows_for`] for the part.
fn filled_for(
    parts: &[Part],
    load: Option<f64>,
    span: Time,
    cluster: &Cluster,
) -> Result<Vec<Part>, Refusal> {
    let fill = |(k, part): (usize, &Part)| {
        let filled = in_part((k, part), load, |whole| whole.filled_for(span, cluster))?;
        Ok(Part {
            flows: filled.flows,
            ..part.clone()
        })
    };
    parts.iter().enumerate().map(fill).collect()
}

/// The flows of all parts, sorted by arrival; flows of equal arrival are in the order of the parts.
///
/// # Errors
/// The refusals of [`WorkloadConfig::generate`] for the part.
pub(crate) fn generate(
    parts: &[Part],
    load: Option<f64>,
    cluster: &Cluster,
    seed: u64,
    told: &mut dyn FnMut(f64) -> bool,
) -> Result<Flows, Refusal> {
    let mut flows = Flows::new();
    let count = parts.len() as f64;
    for (k, part) in parts.iter().enumerate() {
        let drawn = in_part((k, part), load, |whole| {
            let whole = whole.with_defaults()?;
            let plan = whole.plan(cluster, seed, k as u64)?;
            whole.draw(plan, seed, k as u64, &mut |share| {
                told((k as f64 + share) / count)
            })
        })?;
        for f in 0..drawn.len() {
            flows.push(drawn.src[f], drawn.dst[f], drawn.bytes[f], drawn.arrival[f]);
        }
    }
    flows.sort_by_arrival();
    Ok(flows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patterns::tests::cluster;
    use lightloom_engine::config;
    use serde_json::{json, Value};

    fn read(v: Value) -> WorkloadConfig {
        config::read(&v, "workload").unwrap()
    }

    fn resolved(v: Value) -> WorkloadConfig {
        read(v).resolve(&cluster(4, 3)).unwrap()
    }

    fn refusal(v: Value) -> String {
        let read = config::read::<WorkloadConfig>(&v, "workload");
        let refused = read.and_then(|w| w.resolve(&cluster(4, 3)));
        refused.unwrap_err().to_string()
    }

    fn background() -> Value {
        json!({"load": 0.4, "flows": 5_000, "sizes": {"kind": "fixed", "size": "10 KB"}})
    }

    fn incasts(every: &str) -> Value {
        json!({"pattern": {"kind": "incast", "fan_in": 8}, "sizes": {"kind": "fixed", "size": "1 KB"},
               "arrivals": {"kind": "poisson", "every": every}})
    }

    /// Rows of one size, without the others.
    fn of_size(flows: &Flows, bytes: u64) -> Vec<(u32, u32, i64)> {
        let rows = (0..flows.len()).filter(|&f| flows.bytes[f] == bytes);
        rows.map(|f| (flows.src[f].0, flows.dst[f].0, flows.arrival[f].0))
            .collect()
    }

    #[test]
    fn the_first_part_draws_what_it_draws_alone() {
        let alone = read(background()).generate(&cluster(4, 3), 7).unwrap();
        let mix = read(json!({"mix": [background(), incasts("100 us")]}));
        let mixed = mix.generate(&cluster(4, 3), 7).unwrap();
        assert_eq!(of_size(&mixed, 10_000), of_size(&alone, 10_000));
        assert!(mixed.arrival.is_sorted());
    }

    /// 5,000 flows of 10 KB at load 0.4 of 12 Gb/s take 83.3 ms: 833 incasts of 8 flows, one
    /// every 100 us, whose flows arrive together.
    #[test]
    fn incasts_have_a_rate_of_their_own_for_as_long_as_the_background() {
        let mix = resolved(json!({"mix": [background(), incasts("100 us")]}));
        let parts = mix.mix.as_ref().unwrap();
        assert_eq!((parts[0].flows, parts[1].flows), (Some(5_000), Some(6_667)));
        let flows = mix.generate(&cluster(4, 3), 3).unwrap();
        let rows = of_size(&flows, 1_000);
        for incast in rows.chunks_exact(8) {
            assert!(incast
                .iter()
                .all(|r| (r.1, r.2) == (incast[0].1, incast[0].2)));
            let mut senders: Vec<u32> = incast.iter().map(|r| r.0).collect();
            senders.sort_unstable();
            senders.dedup();
            assert_eq!(senders.len(), 8);
        }
        // Four standard errors of the duration of 833 incasts.
        let (events, last) = (833.0, rows.last().unwrap().2 as f64 * 1e-12);
        assert!(
            (last / (events * 100e-6) - 1.0).abs() < 4.0 / f64::sqrt(events),
            "{last}"
        );
    }

    /// Two equal halves draw different flows, whose loads add up.
    #[test]
    fn parts_are_independent_and_their_loads_add_up() {
        let half =
            json!({"load": 0.2, "flows": 40_000, "sizes": {"kind": "fixed", "size": "10 KB"}});
        let flows = read(json!({"mix": [half, half]}));
        let flows = flows.generate(&cluster(4, 3), 1).unwrap();
        let seconds = flows.last_arrival().as_secs_f64();
        let load = flows.total_bytes() as f64 * 8.0 / (12e9 * seconds);
        assert!(
            (load / 0.4 - 1.0).abs() < 4.0 / f64::sqrt(40_000.0),
            "{load}"
        );
        let pairs = flows.src.windows(2).filter(|w| w[0] == w[1]).count() as f64;
        let expected = flows.len() as f64 / 12.0;
        assert!((pairs - expected).abs() < 4.0 * expected.sqrt(), "{pairs}");
    }

    #[test]
    fn the_load_of_the_mix_is_that_of_parts_without_one() {
        let part = json!({"flows": 5_000, "sizes": {"kind": "fixed", "size": "10 KB"}});
        let mix = read(json!({"load": 0.4, "mix": [part, incasts("1 ms")]}));
        let flows = mix.generate(&cluster(4, 3), 7).unwrap();
        let alone = read(background()).generate(&cluster(4, 3), 7).unwrap();
        assert_eq!(of_size(&flows, 10_000), of_size(&alone, 10_000));
    }

    #[test]
    fn resolving_again_changes_nothing_and_a_window_fills_every_part() {
        let once = resolved(json!({"load": 0.3, "mix": [
            {"sizes": "rpc", "flows": 100}, incasts("1 ms")]}));
        assert_eq!(once.clone().resolve(&cluster(4, 3)).unwrap(), once);
        let endless = json!({"mix": [{"load": 0.4, "sizes": "rpc"}, incasts("1 ms")]});
        let filled = read(endless).filled_for(Time::S, &cluster(4, 3)).unwrap();
        for (k, part) in filled.mix.as_ref().unwrap().iter().enumerate() {
            let alone = part.alone(None);
            let last = alone.generate(&cluster(4, 3), 5).unwrap().last_arrival();
            assert!(last >= Time::S, "part {k}: {last}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_part() {
        let with = |part: Value| json!({"mix": [background(), part]});
        for (v, start) in [
            (json!({"mix": []}), "workload.mix = []: has no parts"),
            (
                with(json!({"load": 0.1, "flows": 5})),
                "workload.mix[1].sizes = (missing)",
            ),
            (
                with(json!({"sizes": "rpc"})),
                "workload.mix[1].load = (missing)",
            ),
            (
                with(json!({"sizes": "rpc", "load": 50})),
                "workload.mix[1].load = 50: must be at most",
            ),
            (
                with(json!({"sizes": "rpc", "sise": 1})),
                "workload.mix[1].sise = 1: no such key",
            ),
            (
                with(incasts("0 s")),
                "workload.mix[1].arrivals.every = 0 ps: must be",
            ),
            (
                json!({"mix": [background()], "sizes": "rpc"}),
                "workload.sizes = (set): the parts",
            ),
            (
                json!({"mix": [background()], "load": 0.5}),
                "workload.load = 0.5: every part",
            ),
            (
                json!({"load": 50, "mix": [{"sizes": "rpc", "flows": 9}]}),
                "workload.load = 50: must",
            ),
            (
                json!({"mix": [{"load": 0.5, "sizes": "rpc"}]}),
                "workload.mix[0].flows = (missing): this pattern does not determine",
            ),
            (
                json!({"load": 0.1, "flows": 9, "sizes": "rpc",
                       "arrivals": {"kind": "poisson", "every": "1 ms"}}),
                "workload.load = 0.1: has no effect on poisson (every = 1 ms) arrivals",
            ),
        ] {
            let e = refusal(v);
            assert!(e.starts_with(start), "{e}");
        }
    }
}
