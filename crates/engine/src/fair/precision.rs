//! The precision of rates.
//!
//! With a precision of 1 %, rates are max-min fair for links with 99 to 100 % of their capacity;
//! the percentage differs between links. A flow has its limit, or a link on its path is at least 99
//! % full and no flow on that link has a higher rate ÷ weight. No link ever carries more than its
//! capacity. The error of a single rate is not bounded by the precision: if most of a link is used
//! by flows that are limited elsewhere, a small change of their rates is a large relative change
//! for the others.

use crate::config;
use crate::refusal::Refusal;
use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::fmt;

/// The share of its capacity that a full link may leave unused: `"exact"` or a percentage, in the
/// form that users write.
///
/// ```
/// use lightloom_engine::Precision;
/// let precision: Precision = serde_json::from_str("\"0.1 %\"").unwrap();
/// assert_eq!(Some(precision), Precision::billionths(1_000_000));
/// assert_eq!(precision.to_string(), "0.1 %");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(into = "String")]
pub struct Precision {
    /// The share in parts of 10^9; 0 is exact.
    billionths: u32,
}

/// 1 % in billionths.
const PERCENT: u32 = 10_000_000;

impl Precision {
    /// Exact except for rounding rates to integer b/s.
    pub const EXACT: Precision = Precision { billionths: 0 };
    /// A tenth.
    pub const COARSEST: Precision = Precision {
        billionths: 10 * PERCENT,
    };

    /// A precision in parts of 10^9; `None` for [`Precision::EXACT`] and beyond
    /// [`Precision::COARSEST`].
    pub fn billionths(billionths: u32) -> Option<Precision> {
        let precision = Precision { billionths };
        (precision <= Precision::COARSEST).then_some(precision)
    }

    /// The share of its capacity that a full link may leave unused: numerator, denominator.
    pub fn fraction(self) -> (u64, u64) {
        (self.billionths as u64, 1_000_000_000)
    }

    /// The share in parts of 2^64, rounded down.
    pub(super) fn share(self) -> u64 {
        (((self.billionths as u128) << 64) / 1_000_000_000) as u64
    }

    /// Reads `"exact"`, or a percentage that is not 0, to 10^-7 of a percent.
    fn read(text: &str) -> Option<Precision> {
        let text = text.trim();
        if text == "exact" {
            return Some(Precision::EXACT);
        }
        let number = text.strip_suffix('%')?.trim_end();
        let digits = |c: char| c.is_ascii_digit() || c == '.';
        let percent: f64 = number.chars().all(digits).then(|| number.parse().ok())??;
        let billionths = (percent * PERCENT as f64).round();
        let precision = Precision::billionths(billionths as u32)?;
        (precision > Precision::EXACT).then_some(precision)
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Precision::EXACT => f.write_str("exact"),
            p => write!(f, "{} %", p.billionths as f64 / PERCENT as f64),
        }
    }
}

impl From<Precision> for String {
    fn from(precision: Precision) -> String {
        precision.to_string()
    }
}

impl<'de> Deserialize<'de> for Precision {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Precision, D::Error> {
        let text = config::word_or_quantity(d)?;
        Precision::read(&text).ok_or_else(|| {
            config::nested_refusal(Refusal::new(
                "",
                match text.parse::<f64>() {
                    Ok(_) => text,
                    Err(_) => format!("\"{text}\""),
                },
                "must be \"exact\" or from 0.0000001 % to 10 %",
                "write \"1 %\" for rates of links that are full to 99 % or more",
            ))
        })
    }
}

impl JsonSchema for Precision {
    fn schema_name() -> Cow<'static, str> {
        "Precision".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "format": "\"exact\" or a percentage",
            "pattern": r"^\s*(exact|[0-9.]+\s*%)\s*$",
            "examples": ["1 %"]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Option<u32> {
        Precision::read(text).map(|p| p.billionths)
    }

    #[test]
    fn reads_what_users_write_and_nothing_else() {
        assert_eq!(read("exact"), Some(0));
        assert_eq!(read("0.1 %"), Some(1_000_000));
        assert_eq!(read(" 10% "), Some(100_000_000));
        assert_eq!(read("0.0000001 %"), Some(1));
        let outside = [
            "0 %",
            "0.00000001 %",
            "10.0000001 %",
            "1e300 %",
            "99999999999 %",
        ];
        let malformed = [
            "", "1", "%", ". %", "-1 %", "+1 %", "1 %%", "nan %", "inf %", "Exact",
        ];
        for text in outside.into_iter().chain(malformed) {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn no_link_is_allowed_more_than_the_share() {
        assert_eq!(Precision::EXACT.share(), 0);
        let tenth = Precision::COARSEST.share() as f64 / 2f64.powi(64);
        assert!((tenth - 0.1).abs() < 1e-15);
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(billionths in 0u32..=100_000_000) {
            let precision = Precision { billionths };
            prop_assert_eq!(Precision::read(&precision.to_string()), Some(precision));
        }
    }
}
