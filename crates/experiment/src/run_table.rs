//! `[run]`: the seed, when to end, how often to look.

use lightloom_engine::run::{Fault, Plan, Stop};
use lightloom_engine::{Refusal, Time};
use lightloom_workload::WorkloadConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The seed, when to end, how often to look.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RunTable {
    /// Seed of every random stream.
    pub seed: u64,
    /// When to end: "last-arrival", "drain" or a time. Without it a workload
    /// with a load ends at its last arrival, and any other when it is delivered
    /// and its jobs are done.
    #[schemars(with = "Option<String>")]
    pub stop: Option<StopRule>,
    /// Distance between samples of the time series; about 400 in all without it,
    /// up to 1,000 where there are jobs.
    pub sample: Option<Time>,
    /// No run goes beyond this simulated time: 10 s unless given, 100,000 s where
    /// there are jobs, `stop` if that is a later time.
    pub limit: Option<Time>,
    /// What counts in `goodput_normalized` of the summary: "all", or
    /// "between-racks", which leaves out what never leaves a rack. The time
    /// series and the load count everything.
    pub goodput: Goodput,
}

/// What counts in goodput (the Sirius paper does not say whether traffic within
/// racks does).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Goodput {
    /// Every byte delivered.
    #[default]
    All,
    /// Bytes delivered to another rack than they came from.
    BetweenRacks,
}

/// The default of `limit`, and that for jobs, which take minutes to hours.
const LIMIT: Time = Time(10 * Time::S.0);
const LIMIT_JOBS: Time = Time(100_000 * Time::S.0);

impl Default for RunTable {
    fn default() -> RunTable {
        RunTable {
            seed: 1,
            stop: None,
            sample: None,
            limit: None,
            goodput: Goodput::All,
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
    pub(crate) fn resolve(&self, workload: &WorkloadConfig) -> Result<RunTable, Refusal> {
        let default = match workload.default_stop_is_drain() {
            true => StopRule::Drain,
            false => StopRule::LastArrival,
        };
        let stop = self.stop.unwrap_or(default);
        if stop == StopRule::LastArrival && workload.has_jobs() {
            return Err(Refusal::new(
                "run.stop",
                "\"last-arrival\"",
                "flows of jobs arrive when others are delivered",
                "write \"drain\" or a time, or remove it",
            ));
        }
        let stop_at = match stop {
            StopRule::At(time) => Some(time),
            _ => None,
        };
        let times = [
            ("stop", stop_at),
            ("sample", self.sample),
            ("limit", self.limit),
        ];
        for (key, time) in times {
            if time == Some(Time::ZERO) {
                return Err(Refusal::new(
                    format!("run.{key}"),
                    Time::ZERO,
                    "must be longer than 0",
                    "raise it",
                ));
            }
        }
        let limit = match workload.has_jobs() {
            true => LIMIT_JOBS,
            false => LIMIT,
        };
        Ok(RunTable {
            stop: Some(stop),
            limit: Some(self.limit.unwrap_or(limit.max(stop_at.unwrap_or(limit)))),
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
            limit: self.limit.unwrap_or(LIMIT),
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

    fn read_for(workload: Value, table: Value) -> Result<RunTable, String> {
        let workload: WorkloadConfig = config::read(&workload, "workload").unwrap();
        config::read::<RunTable>(&table, "run")
            .and_then(|t| t.resolve(&workload))
            .map_err(|e| e.to_string())
    }

    fn read(table: Value) -> Result<RunTable, String> {
        read_for(json!({"trace": "x.csv"}), table)
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
    fn jobs_have_the_time_they_need() {
        let jobs = json!({"jobs": ["fft"]});
        let table = read_for(jobs.clone(), json!({})).unwrap();
        assert_eq!(table.stop, Some(StopRule::Drain));
        assert_eq!(table.limit, Some(Time::S * 100_000));
        let table = read_for(jobs.clone(), json!({"limit": "5 s"})).unwrap();
        assert_eq!(table.limit, Some(Time::S * 5));
        assert_eq!(read(json!({})).unwrap().limit, Some(Time::S * 10));
        // A time to stop at is not cut short by a limit that nobody wrote.
        let table = read(json!({"stop": "20 s"})).unwrap();
        assert_eq!(table.plan(Vec::new()).limit, Time::S * 20);
        let e = read_for(jobs, json!({"stop": "last-arrival"})).unwrap_err();
        assert!(
            e.starts_with("run.stop = \"last-arrival\": flows of jobs arrive"),
            "{e}"
        );
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
            (
                json!({"goodput": "within"}),
                "run.goodput = \"within\": must be one of \"all\"",
            ),
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
