//! Quantities of optics with their unit, as users write them: `"6 dB"`, `"-8 dBm"`.
//!
//! Floats, unlike the engine's times and rates: none of them decides an order of events.

use lightloom_engine::config;
use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};
use serde::{de, Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $unit:literal, $what:literal, $example:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
        pub struct $name(pub f64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!("{} ", $unit), self.0)
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, String> {
                let text = text.trim();
                let number = text.replace('−', "-");
                let number = number.strip_suffix($unit).map(|n| n.trim().parse::<f64>());
                match number {
                    Some(Ok(value)) if value.is_finite() => Ok($name(value)),
                    _ => Err(format!(
                        concat!("`{}` is not ", $what, ": write it like \"", $example, "\""),
                        text
                    )),
                }
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                config::word_or_quantity(d)?.parse().map_err(de::Error::custom)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "format": $what, "examples": [$example] })
            }
        }
    };
}

quantity!(
    /// A ratio of powers [dB]; a loss is positive, crosstalk negative.
    Decibel, "dB", "a ratio of powers", "6 dB"
);
quantity!(
    /// A power relative to 1 mW [dBm].
    Dbm, "dBm", "a power", "-8 dBm"
);
quantity!(
    /// What fibre takes of the light [dB/km].
    Attenuation, "dB/km", "an attenuation", "0.2 dB/km"
);
quantity!(
    /// How fast a phase drifts, relative to time [ppm]: 1 ppm is 1 ps a microsecond.
    Drift, "ppm", "a drift", "0.1 ppm"
);

impl Decibel {
    /// The ratio that it is: 3 dB is about 2.
    pub fn ratio(self) -> f64 {
        10f64.powf(self.0 / 10.0)
    }

    /// A ratio of powers, which is positive.
    pub fn of(ratio: f64) -> Decibel {
        Decibel(10.0 * ratio.log10())
    }
}

impl Dbm {
    /// In milliwatts.
    pub fn milliwatts(self) -> f64 {
        Decibel(self.0).ratio()
    }
}

/// Rounded to `digits` decimals, for messages.
pub(crate) fn rounded(value: f64, digits: i32) -> f64 {
    let scale = 10f64.powi(digits);
    (value * scale).round() / scale + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_read_with_its_unit_only() {
        assert_eq!("-8 dBm".parse(), Ok(Dbm(-8.0)));
        assert_eq!("−30dB".parse(), Ok(Decibel(-30.0)));
        assert_eq!(Dbm(-8.5).to_string().parse(), Ok(Dbm(-8.5)));
        let told = "6".parse::<Decibel>().unwrap_err();
        assert_eq!(told, "`6` is not a ratio of powers: write it like \"6 dB\"");
        assert!("6 dBm".parse::<Decibel>().is_err());
        assert!("inf dB".parse::<Decibel>().is_err());
    }
}
