//! `run.stop`: when a run ends.

use lightloom_engine::{config, Time};
use serde::{de, Deserialize, Deserializer, Serialize};
use std::str::FromStr;

/// `stop`: a word or a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "String")]
pub enum StopRule {
    /// At the last arrival.
    LastArrival,
    /// When everything is delivered.
    Drain,
    /// When what arrived in the window is delivered.
    Measured,
    /// At this time.
    At(Time),
}

impl FromStr for StopRule {
    type Err = String;
    fn from_str(text: &str) -> Result<StopRule, String> {
        match text {
            "last-arrival" | "last_arrival" => Ok(StopRule::LastArrival),
            "drain" => Ok(StopRule::Drain),
            "measured" => Ok(StopRule::Measured),
            time if config::is_quantity(time) => time.parse().map(StopRule::At),
            _ => Err(
                "must be \"last-arrival\", \"drain\", \"measured\" or a time like \"10 us\"".into(),
            ),
        }
    }
}

impl<'de> Deserialize<'de> for StopRule {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<StopRule, D::Error> {
        let text = config::word_or_quantity(d)?;
        text.parse().map_err(de::Error::custom)
    }
}

impl From<StopRule> for String {
    fn from(stop: StopRule) -> String {
        match stop {
            StopRule::LastArrival => "last-arrival".into(),
            StopRule::Drain => "drain".into(),
            StopRule::Measured => "measured".into(),
            StopRule::At(time) => time.to_string(),
        }
    }
}
