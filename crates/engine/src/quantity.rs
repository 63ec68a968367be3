//! Quantities with units, as users write them: `"100 ns"`, `"50 Gb/s"`, `"562 B"`, `"10 m"`.
//! [`Time`], [`Rate`], [`Bytes`] and [`Length`] read and write such strings through serde and
//! describe themselves to JSON Schema. A bare number is an error, because `slot = 100` in a file
//! does not state the unit.

use crate::time::{Rate, Time};
use crate::units::{format_with, parse_with, BYTES, LENGTHS, RATES, SPANS};
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

    /// The propagation delay of light in fibre: 5 ns per metre (2 × 10⁸ m/s).
    pub fn delay(self) -> Time {
        Time(5 * self.0 as i64)
    }

    /// The length of fibre with a propagation delay, in whole millimetres; 0 if the delay is
    /// negative.
    pub fn of_delay(delay: Time) -> Length {
        Length((delay.0 / 5).max(0) as u64)
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format_with(self.0 as u128, LENGTHS))
    }
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
        for text in ["400G", "400 Gbps", "400Gbit/s", "0.4T", "400000M"] {
            assert_eq!(text.parse(), Ok(Rate(400_000_000_000)), "{text}");
        }
        assert!("400G".parse::<Bytes>().is_err());
        assert!("400M".parse::<Length>().is_err());
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
        let e = "m10".parse::<Length>().unwrap_err();
        assert!(e.contains("`m10` is not a length"), "{e}");
        let e = serde_json::from_str::<Rate>("50").unwrap_err().to_string();
        assert!(e.contains("`50` has no unit"), "{e}");
        assert!("1.2.3 ns".parse::<Time>().is_err());
        let e = "1.5 B".parse::<Bytes>().unwrap_err();
        assert_eq!(
            e,
            "`1.5 B` is not a whole number of B: write one, like \"562 B\""
        );
        assert!("0.5 ps".parse::<Time>().is_err());
        assert_eq!("2.0 B".parse(), Ok(Bytes(2)));
        assert_eq!("1.5 KB".parse(), Ok(Bytes(1500)));
        assert!("99999999999999999999 s".parse::<Time>().is_err());
    }

    #[test]
    fn what_is_negative_is_called_so() {
        let told = [
            (
                "-1us".parse::<Time>().map(drop),
                "a duration like \"100 ns\"",
            ),
            ("-10 Gb/s".parse::<Rate>().map(drop), "a data rate like"),
            (" -.5 KB".parse::<Bytes>().map(drop), "an amount of data"),
            ("−10 m".parse::<Length>().map(drop), "a length like"),
            ("-5".parse::<Time>().map(drop), "a duration like"),
        ];
        for (read, what) in told {
            let e = read.unwrap_err();
            assert!(
                e.contains("` is negative: write ") && e.contains(what),
                "{e}"
            );
        }
        let e = "-us".parse::<Time>().unwrap_err();
        assert!(e.contains("`-us` is not a duration"), "{e}");
    }

    #[test]
    fn times_are_written_in_a_unit_that_fits_however_odd_they_are() {
        for (ps, text) in [
            (0, "0 ps"),
            (999, "999 ps"),
            (3_840, "3.84 ns"),
            (11_500_000, "11.5 us"),
            // The time of a packet plus a picosecond; that of 100,000 packets.
            (1_800_001, "1.800001 us"),
            (3_034_500_001, "3.034500001 ms"),
            (1_234_567_000, "1.234567 ms"),
            (2_000_000_000_001, "2.000000000001 s"),
        ] {
            assert_eq!(Time(ps).to_string(), text);
            assert_eq!(text.parse(), Ok(Time(ps)));
        }
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
