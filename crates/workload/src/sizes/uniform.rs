//! A uniform distribution over whole bytes from `min` to `max`.

use super::{in_range, Law};
use lightloom_engine::{Bytes, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A uniform distribution over whole bytes from `min` to `max`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Uniform {
    /// Smallest size [B].
    pub min: Bytes,
    /// Largest size [B], inclusive.
    pub max: Bytes,
}

#[derive(Debug)]
struct UniformLaw {
    min: f64,
    max: f64,
}

impl Uniform {
    pub(super) fn law(&self) -> Result<Box<dyn Law>, Refusal> {
        let (min, max) = (in_range("min", self.min)?, in_range("max", self.max)?);
        if max < min {
            return Err(Refusal::new(
                "workload.sizes.max",
                self.max,
                format!("is below workload.sizes.min, {}", self.min),
                "exchange them",
            ));
        }
        Ok(Box::new(UniformLaw { min, max }))
    }
}

impl Law for UniformLaw {
    fn quantile(&self, u: f64) -> f64 {
        self.min + (u * (self.max - self.min + 1.0)).floor()
    }

    fn mean(&self) -> f64 {
        0.5 * (self.min + self.max)
    }

    fn mean_square(&self) -> f64 {
        let values = self.max - self.min + 1.0;
        self.mean().powi(2) + (values * values - 1.0) / 12.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{integrated_mean, ks, law, refusal};
    use serde_json::json;

    #[test]
    fn uniform() {
        let law = law(json!({"kind": "uniform", "min": "3 B", "max": "12 B"}));
        ks(&*law, |x| (x - 2.0) / 10.0);
        assert_eq!(law.mean(), 7.5);
        assert!((integrated_mean(&*law) - 7.5).abs() < 1e-3);
        let e = refusal(json!({"kind": "uniform", "min": "3 B", "max": "2 B"}));
        assert!(e.starts_with("workload.sizes.max = 2 B: is below"), "{e}");
    }
}
