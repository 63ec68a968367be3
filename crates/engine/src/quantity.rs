//! Quantities with units, as users write them: `"100 ns"`, `"50 Gb/s"`,
//! `"562 B"`, `"10 m"`.
//!
//! [`Time`], [`Rate`], [`Bytes`] and [`Length`] read and write such strings through serde
//! and describe themselves to JSON Schema. A bare number is refused: a file
//! that says `slot = 100` leaves its reader guessing.

use crate::time::{Rate, Time};
use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};
use serde::{de, Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// An amount of data [B].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format_with(self.0 as u128, BYTES))
    }
}

/// A length of fibre or wire [mm].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Length(pub u64);

impl Length {
    /// One metre.
    pub const M: Length = Length(1_000);

    /// How long light takes in fibre: 5 ns a metre (2 × 10⁸ m/s).
    pub fn delay(self) -> Time {
        Time(5 * self.0 as i64)
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format_with(self.0 as u128, LENGTHS))
    }
}

/// Unit names and their size in the base unit, largest first.
type Units = &'static [(&'static str, u128)];

const SPANS: Units = &[
    ("s", 1_000_000_000_000),
    ("ms", 1_000_000_000),
    ("us", 1_000_000),
    ("ns", 1_000),
    ("ps", 1),
];
const RATES: Units = &[
    ("Tb/s", 1_000_000_000_000),
    ("Gb/s", 1_000_000_000),
    ("Mb/s", 1_000_000),
    ("kb/s", 1_000),
    ("b/s", 1),
];
const BYTES: Units = &[
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1_000),
    ("B", 1),
];
const LENGTHS: Units = &[("km", 1_000_000), ("m", 1_000), ("cm", 10), ("mm", 1)];
/// Spellings that are read but not written.
const ALIASES: &[(&str, &str, u128)] = &[
    ("µs", "us", 1),
    ("μs", "us", 1),
    ("Kb/s", "kb/s", 1),
    ("Tbps", "Tb/s", 1),
    ("Gbps", "Gb/s", 1),
    ("Mbps", "Mb/s", 1),
    ("kbps", "kb/s", 1),
    ("bps", "b/s", 1),
    ("kB", "KB", 1),
];
const BINARY: Units = &[
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
];

fn unit_size(name: &str, units: Units) -> Option<u128> {
    let canonical = ALIASES.iter().find(|a| a.0 == name).map_or(name, |a| a.1);
    let binary: Units = if std::ptr::eq(units, BYTES) {
        BINARY
    } else {
        &[]
    };
    units
        .iter()
        .chain(binary)
        .find(|u| u.0 == canonical)
        .map(|u| u.1)
}

/// Reads `"<decimal number> <unit>"` exactly (no binary float in between).
fn parse_with(text: &str, units: Units, what: &str, example: &str) -> Result<u128, String> {
    let names = || units.iter().map(|u| u.0).collect::<Vec<_>>().join(", ");
    let text = text.trim();
    let split = text
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '_')))
        .unwrap_or(text.len());
    let (number, unit) = (text[..split].replace('_', ""), text[split..].trim());
    if unit.is_empty() {
        return Err(format!(
            "`{text}` has no unit: write {what} like \"{example}\" ({})",
            names()
        ));
    }
    if number.is_empty() {
        return Err(format!(
            "`{text}` is not {what}: write it like \"{example}\" ({})",
            names()
        ));
    }
    let size = unit_size(unit, units)
        .ok_or_else(|| format!("`{unit}` is not a unit of {what}: use one of {}", names()))?;
    decimal_times(&number, size).ok_or_else(|| {
        format!("`{text}` is not {what} that can be represented: write it like \"{example}\"")
    })
}

fn decimal_times(number: &str, size: u128) -> Option<u128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) || fraction.len() > 15 {
        return None;
    }
    let whole: u128 = if whole.is_empty() {
        0
    } else {
        whole.parse().ok()?
    };
    let scale = 10u128.pow(fraction.len() as u32);
    let fraction: u128 = if fraction.is_empty() {
        0
    } else {
        fraction.parse().ok()?
    };
    whole
        .checked_mul(size)?
        .checked_add((fraction.checked_mul(size)? + scale / 2) / scale)
}

/// Writes the value in the largest unit in which it has at most three decimals.
fn format_with(value: u128, units: Units) -> String {
    for (name, size) in units {
        if value >= *size && (value * 1000).is_multiple_of(*size) {
            let milli = value * 1000 / size;
            let (whole, rest) = (milli / 1000, milli % 1000);
            if rest == 0 {
                return format!("{whole} {name}");
            }
            let fraction = format!("{rest:03}");
            return format!("{whole}.{} {name}", fraction.trim_end_matches('0'));
        }
    }
    format!("{value} {}", units[units.len() - 1].0)
}

/// Writes the value in the largest unit of which there is one or more, with all decimals.
fn format_whole(value: u128, units: Units) -> String {
    let fits = units.iter().find(|(_, size)| value >= *size);
    let (name, size) = fits.unwrap_or(&units[units.len() - 1]);
    let (whole, rest) = (value / size, value % size);
    if rest == 0 {
        return format!("{whole} {name}");
    }
    let digits = size.ilog10() as usize;
    let fraction = format!("{rest:0digits$}");
    format!("{whole}.{} {name}", fraction.trim_end_matches('0'))
}

pub(crate) fn format_span(t: Time) -> String {
    let sign = if t.0 < 0 { "-" } else { "" };
    format!("{sign}{}", format_with(t.0.unsigned_abs() as u128, SPANS))
}

pub(crate) fn format_rate(r: Rate) -> String {
    // Rates are divided among links: a third of 100 Gb/s is no number of kb/s to a reader.
    format_whole(r.0 as u128, RATES)
}

macro_rules! quantity {
    ($type:ident, $int:ty, $units:expr, $what:literal, $example:literal) => {
        impl std::str::FromStr for $type {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, String> {
                let value = parse_with(text, $units, $what, $example)?;
                <$int>::try_from(value)
                    .map($type)
                    .map_err(|_| format!("`{}` is too large for {}", text.trim(), $what))
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                struct Visitor;
                impl de::Visitor<'_> for Visitor {
                    type Value = $type;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str(concat!($what, " with its unit, like \"", $example, "\""))
                    }
                    fn visit_str<E: de::Error>(self, v: &str) -> Result<$type, E> {
                        v.parse().map_err(E::custom)
                    }
                    fn visit_u64<E: de::Error>(self, v: u64) -> Result<$type, E> {
                        v.to_string().parse().map_err(E::custom)
                    }
                    fn visit_i64<E: de::Error>(self, v: i64) -> Result<$type, E> {
                        v.to_string().parse().map_err(E::custom)
                    }
                    fn visit_f64<E: de::Error>(self, v: f64) -> Result<$type, E> {
                        v.to_string().parse().map_err(E::custom)
                    }
                }
                d.deserialize_any(Visitor)
            }
        }

        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "string",
                    "format": $what,
                    "pattern": r"^\s*[0-9._]+\s*[A-Za-zµμ/]+\s*$",
                    "examples": [$example]
                })
            }
        }
    };
}

quantity!(Time, i64, SPANS, "a duration", "100 ns");
quantity!(Rate, u64, RATES, "a data rate", "50 Gb/s");
quantity!(Bytes, u64, BYTES, "an amount of data", "562 B");
quantity!(Length, u64, LENGTHS, "a length", "10 m");

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_what_users_write() {
        assert_eq!("100 ns".parse(), Ok(Time(100_000)));
        assert_eq!("3.84ns".parse(), Ok(Time(3_840)));
        assert_eq!("2.5 µs".parse(), Ok(Time(2_500_000)));
        assert_eq!("50 Gb/s".parse(), Ok(Rate(50_000_000_000)));
        assert_eq!("12.8 Tbps".parse(), Ok(Rate(12_800_000_000_000)));
        assert_eq!("1.5 KiB".parse(), Ok(Bytes(1536)));
        assert_eq!("1_000 B".parse(), Ok(Bytes(1000)));
        assert_eq!("1.75 m".parse(), Ok(Length(1750)));
        assert_eq!(
            "10 m".parse::<Length>().map(Length::delay),
            Ok(Time::NS * 50)
        );
    }

    #[test]
    fn refuses_by_name() {
        let e = "100".parse::<Time>().unwrap_err();
        assert!(
            e.contains("`100` has no unit") && e.contains("100 ns"),
            "{e}"
        );
        let e = "100 m".parse::<Time>().unwrap_err();
        assert!(e.contains("`m` is not a unit of a duration"), "{e}");
        let e = "-10 m".parse::<Length>().unwrap_err();
        assert!(e.contains("`-10 m` is not a length"), "{e}");
        let e = serde_json::from_str::<Rate>("50").unwrap_err().to_string();
        assert!(e.contains("`50` has no unit"), "{e}");
        assert!("-5 ns".parse::<Time>().is_err());
        assert!("1.2.3 ns".parse::<Time>().is_err());
        assert!("99999999999999999999 s".parse::<Time>().is_err());
    }

    #[test]
    fn rates_are_written_in_a_unit_that_fits_whatever_they_were_divided_by() {
        for (bps, text) in [
            (0, "0 b/s"),
            (999, "999 b/s"),
            (50_000_000_000, "50 Gb/s"),
            (12_800_000_000_000, "12.8 Tb/s"),
            // A sixth of 100 Gb/s, and a seventh of 1 Gb/s.
            (16_666_666_666, "16.666666666 Gb/s"),
            (142_857_142, "142.857142 Mb/s"),
            (1_000_000_001, "1.000000001 Gb/s"),
        ] {
            assert_eq!(Rate(bps).to_string(), text);
            assert_eq!(text.parse(), Ok(Rate(bps)));
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(ps in 0i64..i64::MAX, bps in 0u64..u64::MAX, b in 0u64..u64::MAX) {
            prop_assert_eq!(Time(ps).to_string().parse(), Ok(Time(ps)));
            prop_assert_eq!(Rate(bps).to_string().parse(), Ok(Rate(bps)));
            prop_assert_eq!(Bytes(b).to_string().parse(), Ok(Bytes(b)));
            prop_assert_eq!(Length(b).to_string().parse(), Ok(Length(b)));
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".*") {
            let _ = text.parse::<Time>();
            let _ = text.parse::<Bytes>();
        }
    }
}
