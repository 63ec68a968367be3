//! `[run]`: the seed, when to end, how often to look.

use lightloom_engine::run::{Fault, Plan, Stop};
use lightloom_engine::{Refusal, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The seed, when to end, how often to look.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RunTable {
    /// Seed of every random stream.
    pub seed: u64,
    /// When to end: "last-arrival", "drain" or a time. Without it a workload
    /// with a load ends at its last arrival, and any other when it is delivered.
    #[schemars(with = "Option<String>")]
    pub stop: Option<StopRule>,
    /// Distance between samples of the time series; about 400 in all without it.
    pub sample: Option<Time>,
    /// No run goes beyond this simulated time.
    pub limit: Time,
}

impl Default for RunTable {
    fn default() -> RunTable {
        RunTable {
            seed: 1,
            stop: None,
            sample: None,
            limit: Time::S * 10,
        }
    }
}

/// `stop`: a word or a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub enum StopRule {
    /// At the last arrival.
    LastArrival,
    /// When everything is delivered.
    Drain,
    /// At this time.
    At(Time),
}

impl TryFrom<String> for StopRule {
    type Error = String;
    fn try_from(text: String) -> Result<StopRule, String> {
        match text.as_str() {
            "last-arrival" | "last_arrival" => Ok(StopRule::LastArrival),
            "drain" => Ok(StopRule::Drain),
            time if time
                .trim_start()
                .starts_with(|c: char| c.is_ascii_digit() || c == '.') =>
            {
                time.parse().map(StopRule::At)
            }
            _ => Err("must be \"last-arrival\", \"drain\" or a time like \"10 us\"".into()),
        }
    }
}

impl From<StopRule> for String {
    fn from(stop: StopRule) -> String {
        match stop {
            StopRule::LastArrival => "last-arrival".into(),
            StopRule::Drain => "drain".into(),
            StopRule::At(time) => time.to_string(),
        }
    }
}

impl RunTable {
    pub(crate) fn resolve(&self, drain: bool) -> Result<RunTable, Refusal> {
        let default = if drain {
            StopRule::Drain
        } else {
            StopRule::LastArrival
        };
        let stop = self.stop.unwrap_or(default);
        let stop_at = match stop {
            StopRule::At(time) => Some(time),
            _ => None,
        };
        for (key, time) in [
            ("stop", stop_at),
            ("sample", self.sample),
            ("limit", Some(self.limit)),
        ] {
            if time == Some(Time::ZERO) {
                return Err(Refusal::new(
                    format!("run.{key}"),
                    Time::ZERO,
                    "must be longer than 0",
                    "raise it",
                ));
            }
        }
        Ok(RunTable {
            stop: Some(stop),
            ..self.clone()
        })
    }

    /// The engine's plan; `self` is resolved.
    pub(crate) fn plan(&self, faults: Vec<Fault>) -> Plan {
        Plan {
            stop: match self.stop {
                Some(StopRule::LastArrival) => Stop::LastArrival,
                Some(StopRule::At(time)) => Stop::At(time),
                Some(StopRule::Drain) | None => Stop::Drain,
            },
            limit: self.limit,
            sample: self.sample,
            faults,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_engine::config;
    use serde_json::{json, Value};

    fn read(table: Value) -> Result<RunTable, String> {
        config::read::<RunTable>(&table, "run")
            .and_then(|t| t.resolve(true))
            .map_err(|e| e.to_string())
    }

    #[test]
    fn every_way_to_stop_reads_and_writes() {
        for (text, stop) in [
            ("drain", StopRule::Drain),
            ("last-arrival", StopRule::LastArrival),
            ("last_arrival", StopRule::LastArrival),
            ("10 us", StopRule::At(Time::US * 10)),
        ] {
            let table = read(json!({ "stop": text })).unwrap();
            assert_eq!(table.stop, Some(stop));
            let again = read(serde_json::to_value(&table).unwrap()).unwrap();
            assert_eq!(again.stop, Some(stop));
        }
        assert_eq!(read(json!({})).unwrap().stop, Some(StopRule::Drain));
    }

    #[test]
    fn refusals_name_the_key() {
        for (table, expect) in [
            (
                json!({"stop": "never"}),
                "run.stop = \"never\": must be \"last-arrival\"",
            ),
            (json!({"stop": "10"}), "run.stop = \"10\": `10` has no unit"),
            (
                json!({"stop": "0 s"}),
                "run.stop = 0 ps: must be longer than 0",
            ),
            (json!({"sample": "0 ns"}), "run.sample = 0 ps: "),
            (json!({"limit": 5}), "run.limit = 5: `5` has no unit"),
            (json!({"seed": -1}), "run.seed = -1: invalid value"),
            (
                json!({"seeds": 1}),
                "run.seeds = 1: no such key; did you mean \"seed\"?",
            ),
        ] {
            let e = read(table).unwrap_err();
            assert!(e.starts_with(expect), "{e}");
        }
    }
}
