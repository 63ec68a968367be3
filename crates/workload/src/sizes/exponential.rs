//! Exponential sizes.
//!
//! Rounding to whole bytes of at least 1 B raises the mean of very small ones:
//! by 35 % at a mean of 1 B, by less than 0.5 % from 10 B on.

use super::{in_range, Law};
use lightloom_engine::{Bytes, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An exponential distribution with the given mean.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Exponential {
    /// Mean size [B].
    pub mean: Bytes,
}

#[derive(Debug)]
struct ExponentialLaw(f64);

impl Exponential {
    pub(super) fn law(&self) -> Result<Box<dyn Law>, Refusal> {
        Ok(Box::new(ExponentialLaw(in_range("mean", self.mean)?)))
    }
}

impl Law for ExponentialLaw {
    fn quantile(&self, u: f64) -> f64 {
        -self.0 * (-u).ln_1p()
    }

    fn mean(&self) -> f64 {
        self.0
    }

    fn mean_square(&self) -> f64 {
        2.0 * self.0 * self.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{integrated_mean, ks, law};
    use super::super::{draw, MeanRule};
    use lightloom_engine::Stream;
    use serde_json::json;

    #[test]
    fn exponential() {
        let law = law(json!({"kind": "exponential", "mean": "20 KB"}));
        ks(&*law, |x| 1.0 - (-x / 20_000.0).exp());
        assert_eq!(law.mean(), 20_000.0);
        assert!((integrated_mean(&*law) / 20_000.0 - 1.0).abs() < 1e-5);
    }

    #[test]
    fn rounding_to_whole_bytes_raises_only_tiny_means() {
        for (mean, rise) in [("1 B", 0.353), ("10 B", 0.0045)] {
            let law = law(json!({"kind": "exponential", "mean": mean}));
            let sizes = draw(
                &*law,
                MeanRule::Nominal,
                400_000,
                &mut Stream::new(2, "t", 0),
            );
            let drawn = sizes.iter().sum::<u64>() as f64 / sizes.len() as f64;
            assert!(
                (drawn / law.mean() - 1.0 - rise).abs() < 0.006,
                "{mean}: {drawn}"
            );
        }
    }
}
