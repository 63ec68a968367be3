//! All flows have the same size.

use super::{in_range, Law};
use lightloom_engine::{Bytes, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One size for all flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fixed {
    /// Size of each flow [B].
    pub size: Bytes,
}

#[derive(Debug)]
struct FixedLaw(f64);

impl Fixed {
    pub(super) fn law(&self) -> Result<Box<dyn Law>, Refusal> {
        Ok(Box::new(FixedLaw(in_range("size", self.size)?)))
    }
}

impl Law for FixedLaw {
    fn quantile(&self, _: f64) -> f64 {
        self.0
    }

    fn mean(&self) -> f64 {
        self.0
    }

    fn mean_square(&self) -> f64 {
        self.0 * self.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{law, refusal};
    use super::super::{draw, MeanRule};
    use lightloom_engine::Stream;
    use serde_json::json;

    #[test]
    fn fixed() {
        let law = law(json!({"kind": "fixed", "size": "81.8 KB"}));
        let mut rng = Stream::new(1, "t", 0);
        assert_eq!(draw(&*law, MeanRule::Nominal, 3, &mut rng), [81_800; 3]);
        assert_eq!(law.mean(), 81_800.0);
        let e = refusal(json!({"kind": "fixed", "size": "10000 TB"}));
        assert!(e.contains("at most 2^53 B"), "{e}");
    }
}
