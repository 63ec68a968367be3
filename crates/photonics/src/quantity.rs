//! Fractional quantities with their unit, as users write them: `"6 dB"`, `"-8 dBm"`, `"0.5 ps"`. A
//! bare number is refused. [`crate::clock::quantity`] has the quantities of clocks.
//!
//! They are floats, unlike the engine's times and rates, because none of them determines the order
//! of events.

/// Names of units, each with its factor to the first unit.
pub(crate) type Units = &'static [(&'static str, f64)];

/// Reads `"<number> <unit>"`; the value is in the first unit.
pub(crate) fn parse(text: &str, units: Units, what: &str, example: &str) -> Result<f64, String> {
    let text = &text.trim().replace('−', "-");
    let written = format!("write {what} like \"{example}\" ({})", names(units));
    let end = text.find(|c: char| !(c.is_ascii_digit() || ".+-_eE".contains(c)));
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    if unit.trim().is_empty() {
        return Err(format!("`{text}` has no unit: {written}"));
    }
    let value: f64 = match number.replace('_', "").parse() {
        Ok(value) => value,
        Err(_) => return Err(format!("`{text}` is not {what}: {written}")),
    };
    let unit = unit.trim().replace(['µ', 'μ'], "u");
    match units.iter().find(|known| known.0 == unit) {
        Some((_, size)) if (value * size).is_finite() => Ok(value * size),
        Some(_) => Err(format!("`{text}` is too large for {what}")),
        None => Err(format!(
            "`{unit}` is not a unit of {what}: use one of {}",
            names(units)
        )),
    }
}

fn names(units: Units) -> String {
    let names: Vec<_> = units.iter().map(|unit| unit.0).collect();
    names.join(", ")
}

/// Defines a float with a unit, with parsing, formatting and a JSON Schema.
macro_rules! quantity {
    ($(#[$doc:meta])* $type:ident, $units:expr, $what:literal, $example:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
        pub struct $type(pub f64);

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{} {}", self.0, ($units as $crate::quantity::Units)[0].0)
            }
        }

        impl std::str::FromStr for $type {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, String> {
                $crate::quantity::parse(text, $units, $what, $example).map($type)
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                let text = lightloom_engine::config::word_or_quantity(d)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "format": $what, "examples": [$example] })
            }
        }
    };
}

pub(crate) use quantity;

quantity!(
    /// A ratio of powers [dB]; a loss is positive, crosstalk negative.
    Decibel,
    &[("dB", 1.0)],
    "a ratio of powers",
    "6 dB"
);
quantity!(
    /// A power relative to 1 mW [dBm].
    Dbm,
    &[("dBm", 1.0)],
    "a power",
    "-8 dBm"
);
quantity!(
    /// Attenuation of fibre [dB/km].
    Attenuation,
    &[("dB/km", 1.0)],
    "an attenuation",
    "0.2 dB/km"
);
quantity!(
    /// The drift of a phase relative to time [ppm]: 1 ppm is 1 ps per microsecond.
    Drift,
    &[("ppm", 1.0), ("ppb", 1e-3)],
    "a drift",
    "0.1 ppm"
);

quantity!(
    /// The drift of a power [dB/s].
    DriftOfLevel,
    &[("dB/s", 1.0), ("dB/min", 1.0 / 60.0), ("dB/h", 1.0 / 3600.0)],
    "a drift of power",
    "0.1 dB/s"
);

impl Decibel {
    /// The ratio, for example about 2 for 3 dB.
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

/// Rounds to `digits` decimals, for messages.
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
        let expected = "`6` has no unit: write a ratio of powers like \"6 dB\" (dB)";
        assert_eq!(told, expected);
        assert!("6 dBm".parse::<Decibel>().is_err());
        assert!("inf dB".parse::<Decibel>().is_err());
    }
}
