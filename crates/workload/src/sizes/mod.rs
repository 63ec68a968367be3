//! Flow sizes: one file for each distribution.
//!
//! Every distribution is drawn by the inverse of its distribution function from one uniform number
//! for each flow, so that the first flows of a longer run are those of a shorter one. Sizes are
//! rounded to whole bytes and are at least 1 B.

mod empirical;
mod exponential;
mod fixed;
mod pareto;
mod published;
pub mod registry;
mod uniform;

pub use empirical::{Empirical, Interpolation};
pub use exponential::Exponential;
pub use fixed::Fixed;
pub use pareto::Pareto;
pub use published::PublishedSizes;
pub use uniform::Uniform;

use lightloom_engine::{Bytes, Refusal, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The largest flow [B], 9 PB: beyond it a 64-bit float skips whole bytes.
pub const MAX_BYTES: u64 = 1 << 53;

/// A distribution of sizes.
pub trait Law: std::fmt::Debug {
    /// The size [B] below which a fraction `u` of flows is; `u` is in [0, 1).
    fn quantile(&self, u: f64) -> f64;

    /// The mean size [B], in closed form.
    fn mean(&self) -> f64;

    /// The mean square of the size [B²], in closed form; infinite for a tail without a variance.
    fn mean_square(&self) -> f64;
}

/// Treatment of a sample whose mean is not the mean of the distribution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MeanRule {
    /// The sample is not changed. With a heavy tail its load is lower than `load` (200,000 draws of
    /// Pareto 1.05: a median of 0.48 of it).
    #[default]
    Nominal,
    /// All sizes are scaled by one factor, so that the mean of the sample is that of the
    /// distribution, except for rounding to whole bytes.
    Rescaled,
    /// The tail is cut at `sizes.max`, and the scale is chosen so that the distribution with its
    /// tail cut has the given mean. Only for Pareto.
    Truncated,
}

kinded! {
    /// Distribution of flow sizes: a table with a `kind`, or the name of a published distribution
    /// (`lightloom workloads` lists them).
    #[schemars(transform = with_names)]
    pub enum Sizes, "flow sizes", named by by_name {
        /// A Pareto distribution, with a heavy tail and the given mean.
        Pareto(Pareto) = "pareto",
        /// One size for all flows.
        Fixed(Fixed) = "fixed",
        /// A uniform distribution over whole bytes from `min` to `max`.
        Uniform(Uniform) = "uniform",
        /// An exponential distribution with the given mean.
        Exponential(Exponential) = "exponential",
        /// An empirical distribution, from points in this table or in a file.
        Cdf(Empirical) = "cdf",
        /// A published distribution by name.
        Published(PublishedSizes) = "published",
    }
}

fn with_names(schema: &mut schemars::Schema) {
    let names: Vec<&str> = registry::registry().iter().map(|p| p.name).collect();
    crate::kinded::or_names(schema, &names);
}

fn by_name<E: serde::de::Error>(name: &str) -> Result<Sizes, E> {
    if Sizes::KINDS.contains(&name) {
        return Err(lightloom_engine::config::nested_refusal(Refusal::new(
            "",
            format!("\"{name}\""),
            "is a kind, which needs its parameters",
            format!("write sizes = {{ kind = \"{name}\", … }}"),
        )));
    }
    Ok(Sizes::Published(PublishedSizes {
        name: name.to_owned(),
        interpolation: Interpolation::default(),
    }))
}

impl Sizes {
    /// The distribution in use under `rule`.
    ///
    /// # Errors
    /// If the parameters are not a distribution of sizes.
    pub fn law(&self, rule: MeanRule) -> Result<Box<dyn Law>, Refusal> {
        if rule == MeanRule::Truncated && !matches!(self, Sizes::Pareto(_)) {
            return Err(Refusal::new(
                "workload.mean_rule",
                "truncated",
                format!(
                    "only a Pareto tail can be cut, and workload.sizes is {}",
                    self.kind()
                ),
                "use \"nominal\" or \"rescaled\"",
            ));
        }
        match self {
            Sizes::Pareto(p) => p.law(rule),
            Sizes::Fixed(f) => f.law(),
            Sizes::Uniform(u) => u.law(),
            Sizes::Exponential(e) => e.law(),
            Sizes::Cdf(c) => c.law(),
            Sizes::Published(p) => p.law(),
        }
    }
}

/// Number of draws between two calls of an observer [count], which take some milliseconds.
pub const DRAWN_AT_ONCE: usize = 1 << 16;

/// `count` sizes [B] of `law` under `rule`.
pub fn draw(law: &dyn Law, rule: MeanRule, count: usize, rng: &mut Stream) -> Vec<u64> {
    draw_told(law, rule, count, rng, &mut |_| true).unwrap_or_default()
}

/// `count` sizes [B] of `law` under `rule`. `told` is called repeatedly with the number drawn, and
/// cancels by returning `false`: the result is then `None`.
pub fn draw_told(
    law: &dyn Law,
    rule: MeanRule,
    count: usize,
    rng: &mut Stream,
    told: &mut dyn FnMut(usize) -> bool,
) -> Option<Vec<u64>> {
    let whole = |x: f64| (x.round() as u64).clamp(1, MAX_BYTES);
    let mut sizes: Vec<u64> = Vec::with_capacity(count);
    while sizes.len() < count {
        if !told(sizes.len()) {
            return None;
        }
        let more = DRAWN_AT_ONCE.min(count - sizes.len());
        sizes.extend((0..more).map(|_| whole(law.quantile(rng.unit()))));
    }
    if rule == MeanRule::Rescaled && count > 0 {
        let drawn: u128 = sizes.iter().map(|&s| s as u128).sum();
        let factor = law.mean() * count as f64 / drawn as f64;
        for size in &mut sizes {
            *size = whole(*size as f64 * factor);
        }
    }
    Some(sizes)
}

/// Refuses an amount outside 1 B to [`MAX_BYTES`].
fn in_range(key: &str, amount: Bytes) -> Result<f64, Refusal> {
    let limit = match amount.0 {
        0 => "a flow has at least 1 B",
        b if b > MAX_BYTES => "a flow has at most 2^53 B (9 PB)",
        b => return Ok(b as f64),
    };
    let remedy = if amount.0 == 0 {
        "raise it"
    } else {
        "lower it"
    };
    Err(Refusal::new(
        format!("workload.sizes.{key}"),
        amount,
        limit,
        remedy,
    ))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use lightloom_engine::config;
    use serde_json::{json, Value};

    /// Kolmogorov–Smirnov: the largest gap between the draws of `law` and the
    /// textbook `cdf`; 1.95 / sqrt(n) is exceeded by chance once in a thousand.
    pub fn ks(law: &dyn Law, cdf: impl Fn(f64) -> f64) {
        let n = 50_000;
        let mut rng = Stream::new(11, "ks", 0);
        let mut draws: Vec<f64> = (0..n).map(|_| law.quantile(rng.unit())).collect();
        draws.sort_by(f64::total_cmp);
        let gap = (0..n)
            .filter(|&i| i + 1 == n || draws[i + 1] > draws[i])
            .map(|i| ((i + 1) as f64 / n as f64 - cdf(draws[i])).abs())
            .fold(0.0, f64::max);
        let limit = 1.95 / (n as f64).sqrt();
        assert!(gap < limit, "{law:?}: gap {gap} exceeds {limit}");
    }

    /// The mean by numeric integration of the quantile function over (0, 1),
    /// substituted so that the end at 1 is resolved: u = 1 - v^12.
    pub fn integrated_mean(law: &dyn Law) -> f64 {
        integrated(law, |x| x)
    }

    /// The mean of a function of the size, by the same integration.
    fn integrated(law: &dyn Law, of: impl Fn(f64) -> f64) -> f64 {
        let steps = 400_000;
        (0..steps)
            .map(|k| (k as f64 + 0.5) / steps as f64)
            .map(|v| {
                let size = law.quantile((1.0 - v.powi(12)).min(1.0 - f64::EPSILON));
                of(size) * 12.0 * v.powi(11)
            })
            .sum::<f64>()
            / steps as f64
    }

    #[test]
    fn the_closed_mean_square_is_the_integral() {
        let truncated = |shape: f64| {
            let pareto =
                json!({"kind": "pareto", "shape": shape, "mean": "100 KB", "max": "10 MB"});
            sizes(pareto).unwrap().law(MeanRule::Truncated).unwrap()
        };
        let points = json!([["1 KB", 0.2], ["10 KB", 0.7], ["1 MB", 1.0]]);
        let laws = [
            law(json!({"kind": "fixed", "size": "1500 B"})),
            law(json!({"kind": "exponential", "mean": "20 KB"})),
            law(json!({"kind": "uniform", "min": "3 B", "max": "12 B"})),
            law(json!({"kind": "pareto", "shape": 4.5, "mean": "10 KB"})),
            law(json!({"kind": "cdf", "points": points, "interpolation": "linear"})),
            law(json!({"kind": "cdf", "points": points, "interpolation": "step"})),
            law(json!("web-search")),
            truncated(1.05),
            truncated(2.0),
            truncated(3.0),
        ];
        for law in laws {
            let ratio = integrated(&*law, |x| x * x) / law.mean_square();
            assert!((ratio - 1.0).abs() < 1e-3, "{law:?}: {ratio}");
        }
        let heavy = law(json!({"kind": "pareto", "shape": 1.05, "mean": "100 KB"}));
        assert_eq!(heavy.mean_square(), f64::INFINITY);
    }

    pub fn sizes(v: Value) -> Result<Sizes, Refusal> {
        #[derive(Deserialize)]
        struct Outer {
            sizes: Sizes,
        }
        config::read::<Outer>(&json!({ "sizes": v }), "workload").map(|o| o.sizes)
    }

    pub fn law(v: Value) -> Box<dyn Law> {
        sizes(v).unwrap().law(MeanRule::Nominal).unwrap()
    }

    pub fn refusal(v: Value) -> String {
        match sizes(v).and_then(|s| s.law(MeanRule::Nominal)) {
            Ok(law) => panic!("accepted as {law:?}"),
            Err(e) => e.to_string(),
        }
    }

    #[test]
    fn errors_name_the_key_the_value_and_the_remedy() {
        assert_eq!(
            refusal(json!({"kind": "paretto", "shape": 2})),
            "workload.sizes.kind = \"paretto\": must be one of \"pareto\", \"fixed\", \
             \"uniform\", \"exponential\", \"cdf\", \"published\"; did you mean \"pareto\"?"
        );
        assert_eq!(
            refusal(json!({"kind": "pareto", "shape": 2, "mena": "1 KB"})),
            "workload.sizes.mena = \"1 KB\": no such key; did you mean \"mean\"?"
        );
        let e = refusal(json!({"kind": "fixed", "size": 100}));
        assert!(
            e.starts_with("workload.sizes.size = 100: `100` has no unit"),
            "{e}"
        );
        let e = refusal(json!({"shape": 2}));
        assert!(e.starts_with("workload.sizes.kind = (missing)"), "{e}");
        let e = refusal(json!({"fixed": "100 MB"}));
        assert!(e.contains("write { kind = \"fixed\", … }"), "{e}");
        let e = refusal(json!("web-serch"));
        assert!(e.starts_with("workload.sizes.name = \"web-serch\""), "{e}");
        assert!(e.ends_with("did you mean \"web-search\"?"), "{e}");
        let e = refusal(json!("pareto"));
        assert!(e.contains("sizes = { kind = \"pareto\", … }"), "{e}");
        let e = refusal(json!(7));
        assert!(
            e.starts_with("workload.sizes = 7: must be flow sizes: a name"),
            "{e}"
        );
        let e = sizes(json!({"kind": "fixed", "size": "1 B"}))
            .unwrap()
            .law(MeanRule::Truncated)
            .unwrap_err();
        assert_eq!(e.key, "workload.mean_rule");
    }

    #[test]
    fn what_is_written_reads_back() {
        for v in [
            json!({"kind": "pareto", "shape": 1.05, "mean": "100 KB"}),
            json!({"kind": "uniform", "min": "1 KB", "max": "2 KB"}),
            json!({"kind": "cdf", "points": [["1 KB", 0.5], ["2 KB", 1.0]], "interpolation": "step"}),
            json!({"kind": "published", "name": "rpc", "interpolation": "linear"}),
        ] {
            assert_eq!(serde_json::to_value(sizes(v.clone()).unwrap()).unwrap(), v);
        }
        let named = serde_json::to_value(sizes(json!("rpc")).unwrap()).unwrap();
        assert_eq!(
            named,
            json!({"kind": "published", "name": "rpc", "interpolation": "linear"})
        );
    }

    #[test]
    fn a_rescaled_sample_has_the_mean_of_its_law() {
        let law = law(json!({"kind": "pareto", "shape": 1.05, "mean": "100 KB"}));
        for seed in 0..5 {
            let mut rng = Stream::new(seed, "t", 0);
            let sizes = draw(&*law, MeanRule::Rescaled, 20_000, &mut rng);
            let mean = sizes.iter().sum::<u64>() as f64 / sizes.len() as f64;
            assert!((mean - 100_000.0).abs() < 0.5, "{mean}");
        }
    }

    #[test]
    fn a_sample_of_a_heavy_tail_falls_short_of_its_mean() {
        let law = law(json!({"kind": "pareto", "shape": 1.05, "mean": "100 KB"}));
        let mut ratios: Vec<f64> = (0..41)
            .map(|seed| {
                let mut rng = Stream::new(seed, "t", 0);
                let sizes = draw(&*law, MeanRule::Nominal, 200_000, &mut rng);
                sizes.iter().sum::<u64>() as f64 / sizes.len() as f64 / law.mean()
            })
            .collect();
        ratios.sort_by(f64::total_cmp);
        assert!((0.4..0.6).contains(&ratios[20]), "median {}", ratios[20]);
    }
}
