//! Pareto sizes: P(size > x) = (scale / x)^shape.
//!
//! With `mean_rule = "truncated"` the distribution is conditioned on size ≤ `max`, and its scale is
//! chosen so that the conditioned distribution has the requested mean.

use super::{in_range, Law, MeanRule};
use lightloom_engine::{Bytes, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A Pareto distribution, with a heavy tail and the given mean.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pareto {
    /// Shape of the tail, above 1: the closer to 1, the heavier (Sirius §7: 1.05).
    pub shape: f64,
    /// Mean size [B] (Sirius §7: 100 KB).
    pub mean: Bytes,
    /// Largest size, at which the tail is cut [B]. Required with `mean_rule = "truncated"`, and
    /// without effect otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Bytes>,
}

#[derive(Debug)]
struct ParetoLaw {
    shape: f64,
    scale: f64,
    /// P(size ≤ max) before the tail is cut; 1 if it is not cut.
    kept: f64,
    mean: f64,
}

impl Pareto {
    pub(super) fn law(&self, rule: MeanRule) -> Result<Box<dyn Law>, Refusal> {
        if !(self.shape.is_finite() && self.shape > 1.0) {
            return Err(Refusal::new(
                "workload.sizes.shape",
                self.shape,
                "a Pareto law has a mean only if its shape is above 1",
                "raise it (Sirius uses 1.05)",
            ));
        }
        let mean = in_range("mean", self.mean)?;
        let max = self.cut(rule, mean)?;
        let (a, scale) = (self.shape, scale(self.shape, mean, max));
        if scale < 1.0 {
            return Err(Refusal::new(
                "workload.sizes.mean",
                self.mean,
                format!("at shape {a} the smallest flow would have {scale:.3} B, below 1 B"),
                "raise workload.sizes.mean or workload.sizes.shape",
            ));
        }
        Ok(Box::new(ParetoLaw {
            shape: a,
            scale,
            kept: kept(a, scale, max),
            mean,
        }))
    }

    fn cut(&self, rule: MeanRule, mean: f64) -> Result<f64, Refusal> {
        match (rule, self.max) {
            (MeanRule::Truncated, None) => Err(Refusal::new(
                "workload.sizes.max",
                "(missing)",
                "mean_rule = \"truncated\" needs the size at which the tail is cut",
                "add max, such as \"1 GB\"",
            )),
            (MeanRule::Truncated, Some(max)) if in_range("max", max)? <= mean => Err(Refusal::new(
                "workload.sizes.max",
                max,
                format!("must be above the mean, {}", self.mean),
                "raise it",
            )),
            (MeanRule::Truncated, Some(max)) => Ok(max.0 as f64),
            (_, Some(max)) => Err(Refusal::new(
                "workload.sizes.max",
                max,
                "the tail is cut only if workload.mean_rule = \"truncated\"",
                "set that rule, or remove max",
            )),
            (_, None) => Ok(f64::INFINITY),
        }
    }
}

/// P(size ≤ max) at `scale`.
fn kept(shape: f64, scale: f64, max: f64) -> f64 {
    1.0 - (scale / max).powf(shape)
}

/// The mean of the distribution cut at `max`.
fn cut_mean(shape: f64, scale: f64, max: f64) -> f64 {
    let whole = shape / (shape - 1.0) * scale;
    whole * (1.0 - (scale / max).powf(shape - 1.0)) / kept(shape, scale, max)
}

/// The scale for which the distribution has `mean`, by bisection if the tail is cut: the mean grows
/// with the scale, from 0 to `max`.
fn scale(shape: f64, mean: f64, max: f64) -> f64 {
    if max.is_infinite() {
        return mean * (shape - 1.0) / shape;
    }
    let (mut low, mut high) = (0.0, mean);
    for _ in 0..200 {
        let mid = 0.5 * (low + high);
        match cut_mean(shape, mid, max) < mean {
            true => low = mid,
            false => high = mid,
        }
    }
    0.5 * (low + high)
}

impl Law for ParetoLaw {
    fn quantile(&self, u: f64) -> f64 {
        self.scale * (1.0 - u * self.kept).powf(-1.0 / self.shape)
    }

    fn mean(&self) -> f64 {
        self.mean
    }

    /// ∫ x² f(x) dx of the density a sᵃ x⁻ᵃ⁻¹ from the scale s to the cut.
    fn mean_square(&self) -> f64 {
        let (a, scale) = (self.shape, self.scale);
        let from_scale = a * scale * scale / (a - 2.0);
        if self.kept >= 1.0 {
            return if a > 2.0 { from_scale } else { f64::INFINITY };
        }
        let cut = scale / (1.0 - self.kept).powf(1.0 / a);
        if (a - 2.0).abs() < 1e-9 {
            return 2.0 * scale * scale * (cut / scale).ln() / self.kept;
        }
        from_scale * (1.0 - (scale / cut).powf(a - 2.0)) / self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{integrated_mean, ks, law, refusal, sizes};
    use super::*;
    use serde_json::json;

    fn cut(shape: f64, mean: &str, max: &str) -> Box<dyn Law> {
        sizes(json!({"kind": "pareto", "shape": shape, "mean": mean, "max": max}))
            .unwrap()
            .law(MeanRule::Truncated)
            .unwrap()
    }

    #[test]
    fn draws_follow_the_textbook() {
        let sirius = law(json!({"kind": "pareto", "shape": 1.05, "mean": "100 KB"}));
        let scale = 100_000.0 * 0.05 / 1.05;
        ks(&*sirius, |x| 1.0 - (scale / x).powf(1.05));
        assert_eq!(sirius.mean(), 100_000.0);
        assert!((sirius.quantile(0.0) - scale).abs() < 1e-9);
    }

    #[test]
    fn the_closed_mean_is_the_integral() {
        let light = law(json!({"kind": "pareto", "shape": 2.5, "mean": "10 KB"}));
        assert!((integrated_mean(&*light) / 10_000.0 - 1.0).abs() < 1e-3);
        for (shape, mean, max) in [
            (1.05, "100 KB", "1 GB"),
            (1.05, "100 KB", "1 MB"),
            (1.05, "100 KB", "101 KB"),
            (3.0, "1 KB", "2 KB"),
        ] {
            let law = cut(shape, mean, max);
            let ratio = integrated_mean(&*law) / law.mean();
            assert!((ratio - 1.0).abs() < 1e-4, "{law:?}: {ratio}");
        }
    }

    #[test]
    fn the_cut_law_by_its_density() {
        // ∫ x f(x) dx over [scale, max] by midpoints in log x, from the textbook
        // density of the bounded Pareto law.
        let (shape, max) = (1.05f64, 1e9f64);
        let law = cut(shape, "100 KB", "1 GB");
        let low = law.quantile(0.0);
        let steps = 200_000;
        let width = (max / low).ln() / steps as f64;
        let norm = 1.0 - (low / max).powf(shape);
        let mean: f64 = (0..steps)
            .map(|k| low * ((k as f64 + 0.5) * width).exp())
            .map(|x| shape * low.powf(shape) * x.powf(1.0 - shape) / norm * width)
            .sum();
        assert!((mean / 100_000.0 - 1.0).abs() < 1e-6, "{mean}");
        assert!(law.quantile(1.0 - f64::EPSILON) <= max * (1.0 + 1e-9));
        ks(&*law, |x| (1.0 - (low / x).powf(shape)) / norm);
    }

    #[test]
    fn what_has_no_mean_is_refused() {
        let shape = |s: f64| refusal(json!({"kind": "pareto", "shape": s, "mean": "100 KB"}));
        assert!(shape(1.0).starts_with("workload.sizes.shape = 1: a Pareto law has a mean only"));
        assert!(shape(-2.0).starts_with("workload.sizes.shape = -2"));
        let e = refusal(json!({"kind": "pareto", "shape": 1.05, "mean": "0 B"}));
        assert!(
            e.starts_with("workload.sizes.mean = 0 B: a flow has at least 1 B"),
            "{e}"
        );
        let e = refusal(json!({"kind": "pareto", "shape": 1.05, "mean": "10 B"}));
        assert!(e.contains("the smallest flow would have 0.476 B"), "{e}");
        let e = refusal(json!({"kind": "pareto", "shape": 2, "mean": "1 KB", "max": "1 MB"}));
        assert!(
            e.starts_with("workload.sizes.max = 1 MB: the tail is cut only"),
            "{e}"
        );
        let cut = |v| sizes(v).unwrap().law(MeanRule::Truncated).unwrap_err();
        let e = cut(json!({"kind": "pareto", "shape": 2, "mean": "1 KB"}));
        assert_eq!(
            (e.key.as_str(), e.value.as_str()),
            ("workload.sizes.max", "(missing)")
        );
        let e = cut(json!({"kind": "pareto", "shape": 2, "mean": "1 KB", "max": "1 KB"}));
        assert_eq!(e.limit, "must be above the mean, 1 KB");
    }
}
