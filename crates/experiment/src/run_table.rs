//! `[run]`: the seed, when to end, how often to look, and what to measure.

use crate::stop_rule::StopRule;
use lightloom_engine::run::{Fault, Plan, Stop};
use lightloom_engine::{Bytes, Cluster, Flows, Precision, Refusal, Time};
use lightloom_metrics::Span;
use lightloom_workload::WorkloadConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of a run: seed, end, measurement and samples.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RunTable {
    /// Seed of every random stream.
    pub seed: u64,
    /// Number of times that `run` and `compare` simulate the experiment, each with its own seed:
    /// `seed`, `seed` + 1, and so on. Results are then means with 95 % confidence intervals
    /// (Student's t over the seeds). Default 1, at most 1,000. A sweep has its own key `repeat`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat: Option<u64>,
    /// End of the run: "last-arrival", "drain", "measured" or a time. Default: with `measure`, when
    /// all flows that arrived in the window are delivered ("measured"); for a workload with a load,
    /// at its last arrival; for any other workload, when all flows are delivered and all jobs are
    /// complete.
    #[schemars(with = "Option<String>")]
    pub stop: Option<StopRule>,
    /// Simulated time before the window of `measure` begins [s]. Default 0 s.
    pub warm_up: Option<Time>,
    /// Length of the window in which latency and throughput are measured [s], with confidence
    /// intervals. Traffic continues after it until the flows that arrived in it are delivered, or
    /// until `limit`. Without `workload.flows` the number of flows is derived from the window.
    pub measure: Option<Time>,
    /// Time between samples of the time series [s]. Default: about 400 samples in total, up to
    /// 1,000 if there are jobs. At 1,000 samples, every other sample is dropped and the time
    /// between samples is doubled from then on.
    pub sample: Option<Time>,
    /// Largest simulated time [s]. Default if `stop` is a time: `stop` or 10 s, whichever is later;
    /// with jobs: 100,000 s; with `measure`: the length of the window after its end; for a run that
    /// ends at its last arrival: none. A run that drains ends after the latest of 10 s, 100 times
    /// the sum of its last arrival and the time that one server's link needs for all bytes, and 100
    /// intervals of a fabric that decides on circuits. `cut` of `summary.json` contains the flows
    /// that are unfinished at a limit.
    pub limit: Option<Time>,
    /// Traffic that counts in `goodput_normalized` of the summary: "all", or "between-racks", which
    /// excludes traffic within racks. The time series and the load count all traffic.
    pub goodput: Goodput,
    /// Precision of max-min fair rates (tree, c-Through, HydRA, hybrid; Clos and Sirius with
    /// `detail = "flows"`): "exact" (the default), or the part of its capacity that a full link may
    /// leave unused, from 0.0000001 % to 10 %. With "1 %" a change of rates does not propagate
    /// beyond links that remain at least 99 % full, which takes less computation. No link carries
    /// more than its capacity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_precision: Option<Precision>,
    /// Limits of the ranges of flow sizes for which slowdowns are reported separately [B], in
    /// ascending order: `["10 KB", "1 MB"]` gives three ranges. At most 32 limits. The results are
    /// in `by_size` of `summary.json`; with `measure` they cover the flows that arrive in the
    /// window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_limits: Option<Vec<Bytes>>,
    /// Whether to record the inputs and actions of the controller of circuits in `controller.jsonl`
    /// of the results, one JSON object per line. Default false. The other results do not depend on
    /// it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub controller_log: bool,
}

/// Traffic that counts in goodput (the Sirius paper does not state whether traffic within racks
/// counts).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Goodput {
    /// Every byte delivered.
    #[default]
    All,
    /// Bytes delivered to a rack other than that of their source.
    BetweenRacks,
}

/// The default of `limit`, and that for jobs, which take minutes to hours.
const LIMIT: Time = Time(10 * Time::S.0);
const LIMIT_JOBS: Time = Time(100_000 * Time::S.0);

/// A run that drains ends when no byte was delivered during this number of decisions on circuits,
/// plus a number per rack, because a policy that serves one pair after another reaches all pairs in
/// this time.
const STILL_DECISIONS: i64 = 100;
const STILL_PER_RACK: i64 = 10;
/// The same limit as a time, and as a number of packets at the rate of a server's link.
const STILL: Time = LIMIT;
const STILL_PACKETS: i64 = 1_000;
const PACKET_BYTES: u64 = 1_500;

/// A run that drains ends after this multiple of the time that one server's link needs for all
/// bytes.
const DRAIN_TIMES: i64 = 100;

/// Largest number of slots of circuits that take turns; each slot is at least one event, so more
/// would take hours.
const SLOTS_MAX: i64 = 1 << 31;

/// Picoseconds in a second × bits in a byte.
const PS_BITS: u128 = 8_000_000_000_000;

/// Neither warm-up nor window may be longer.
const LONGEST: Time = LIMIT_JOBS;

/// More repetitions hardly narrow an interval: it shrinks by their square root.
const REPEAT_MAX: u64 = 1_000;

/// Maximum number of flow-size ranges; for a full distribution use `flows.parquet`.
const SIZE_LIMITS_MAX: usize = 32;

impl Default for RunTable {
    fn default() -> RunTable {
        RunTable {
            seed: 1,
            repeat: None,
            stop: None,
            warm_up: None,
            measure: None,
            sample: None,
            limit: None,
            goodput: Goodput::All,
            rate_precision: None,
            size_limits: None,
            controller_log: false,
        }
    }
}

impl RunTable {
    pub(crate) fn resolve(&self, workload: &WorkloadConfig) -> Result<RunTable, Refusal> {
        self.refuse_zeros()?;
        self.check_repeat()?;
        self.check_size_limits()?;
        let span = self.checked_span(workload)?;
        let default = match (span, workload.default_stop_is_drain()) {
            (Some(_), _) => StopRule::Measured,
            (None, true) => StopRule::Drain,
            (None, false) => StopRule::LastArrival,
        };
        let stop = self.stop.unwrap_or(default);
        self.check_stop(stop, span, workload)?;
        let stop_at = match stop {
            StopRule::At(time) => Some(time),
            _ => None,
        };
        let limit = match (span, workload.has_jobs(), stop_at) {
            (Some(span), ..) => Some(span.until + (span.until - span.from)),
            (None, true, _) => Some(LIMIT_JOBS),
            (None, false, Some(_)) => Some(LIMIT),
            // The flows of the workload bound the run.
            (None, false, None) => None,
        };
        let limit = limit.map(|limit| limit.max(stop_at.unwrap_or(limit)));
        Ok(RunTable {
            stop: Some(stop),
            warm_up: span.map(|s| s.from),
            limit: self.limit.or(limit),
            repeat: self.repeat.filter(|&times| times > 1),
            ..self.clone()
        })
    }

    fn refuse_zeros(&self) -> Result<(), Refusal> {
        let stop = match self.stop {
            Some(StopRule::At(time)) => Some(time),
            _ => None,
        };
        let times = [
            ("stop", stop),
            ("measure", self.measure),
            ("sample", self.sample),
            ("limit", self.limit),
        ];
        match times.iter().find(|t| t.1 == Some(Time::ZERO)) {
            None => Ok(()),
            Some((key, _)) => Err(Refusal::new(
                format!("run.{key}"),
                Time::ZERO,
                "must be longer than 0",
                "raise it",
            )),
        }
    }

    /// Refuses an invalid number of repetitions, and one for which there are not enough seeds.
    fn check_repeat(&self) -> Result<(), Refusal> {
        let Some(times) = self.repeat else {
            return Ok(());
        };
        let refuse =
            |limit: String, remedy: &str| Err(Refusal::new("run.repeat", times, limit, remedy));
        if times == 0 {
            return refuse("must be at least 1".into(), "raise it, or remove it");
        }
        if times > REPEAT_MAX {
            return refuse(format!("must be at most {REPEAT_MAX}"), "lower it");
        }
        if self.seed.checked_add(times - 1).is_none() {
            let limit = format!("the seeds after run.seed = {} exceed 64 bits", self.seed);
            return refuse(limit, "lower run.seed");
        }
        Ok(())
    }

    /// Refuses sizes between which there are no ranges.
    fn check_size_limits(&self) -> Result<(), Refusal> {
        let Some(limits) = &self.size_limits else {
            return Ok(());
        };
        let refuse = |k: usize, limit: &str| {
            let key = format!("run.size_limits[{k}]");
            Err(Refusal::new(
                key,
                limits[k],
                limit,
                "write them in ascending order",
            ))
        };
        if limits.is_empty() || limits.len() > SIZE_LIMITS_MAX {
            return Err(Refusal::new(
                "run.size_limits",
                format!("{} sizes", limits.len()),
                format!("must be from 1 to {SIZE_LIMITS_MAX} sizes"),
                "write [\"10 KB\", \"1 MB\"], or remove it",
            ));
        }
        if limits[0].0 == 0 {
            return refuse(0, "must be above 0");
        }
        match (1..limits.len()).find(|&k| limits[k] <= limits[k - 1]) {
            Some(k) => refuse(k, "must be above the one before it"),
            None => Ok(()),
        }
    }

    fn check_stop(
        &self,
        stop: StopRule,
        span: Option<Span>,
        workload: &WorkloadConfig,
    ) -> Result<(), Refusal> {
        let refuse = |limit: String, remedy: &str| {
            let value = match stop {
                StopRule::At(time) => time.to_string(),
                word => format!("\"{}\"", String::from(word)),
            };
            Err(Refusal::new("run.stop", value, limit, remedy))
        };
        match (stop, span) {
            (StopRule::LastArrival, _) if workload.has_jobs() => refuse(
                "flows of jobs arrive when others are delivered".into(),
                "write \"drain\" or a time, or remove it",
            ),
            (StopRule::Measured, None) => refuse(
                "nothing is measured".into(),
                "add run.measure, or remove it",
            ),
            (StopRule::At(time), Some(span)) if time < span.until => refuse(
                format!("the window ends at {}", span.until),
                "raise it, or remove it",
            ),
            _ => Ok(()),
        }
    }

    /// The window; refuses an invalid one.
    fn checked_span(&self, workload: &WorkloadConfig) -> Result<Option<Span>, Refusal> {
        let Some(measure) = self.measure else {
            return match self.warm_up {
                None => Ok(None),
                Some(time) => Err(Refusal::new(
                    "run.warm_up",
                    time,
                    "has no effect without a window",
                    "add run.measure, or remove it",
                )),
            };
        };
        let refuse =
            |limit: String, remedy: &str| Err(Refusal::new("run.measure", measure, limit, remedy));
        if workload.has_jobs() {
            return refuse(
                "jobs have no load that is constant during a window".into(),
                "remove it, or use arrivals with a load",
            );
        }
        let from = self.warm_up.unwrap_or(Time::ZERO);
        if measure.0 > LONGEST.0 || from.0 > LONGEST.0 {
            return refuse(
                format!("warm-up and window may take {LONGEST} each"),
                "shorten them",
            );
        }
        let until = from + measure;
        match self.limit {
            Some(limit) if limit < until => refuse(
                format!("the window ends at {until}, beyond run.limit = {limit}"),
                "raise run.limit, or remove it",
            ),
            _ => Ok(Some(Span { from, until })),
        }
    }

    /// Refuses a run in which circuits take turns so often that it would not end: those of
    /// the fabric `at` in slots of `slot` or less, with flows until `last`. `self` is resolved.
    pub(crate) fn refuse_turns(&self, slot: Time, last: Time, at: &str) -> Result<(), Refusal> {
        let (stop, limit) = (self.engine_stop(), self.limit.unwrap_or(Time::NEVER));
        let (value, until) = match stop {
            Stop::At(time) => (time.to_string(), time),
            Stop::Delivered(time) => ("\"measured\"".to_owned(), time),
            Stop::LastArrival => ("\"last-arrival\"".to_owned(), last),
            Stop::Drain => ("\"drain\"".to_owned(), last),
        };
        let slots = until.min(limit).0 / slot.0.max(1);
        if slots <= SLOTS_MAX {
            return Ok(());
        }
        let most = slot.0.saturating_mul(SLOTS_MAX);
        let three_figures = 10i64.pow(most.ilog10().saturating_sub(2));
        let most = Time(most / three_figures * three_figures);
        Err(Refusal::new(
            "run.stop",
            value,
            format!("takes {slots} slots of {slot} in {at}, but at most {SLOTS_MAX} can be run"),
            format!("use longer slots, or stop at {most} or before"),
        ))
    }

    /// The measured time, if it was requested.
    pub(crate) fn span(&self) -> Option<Span> {
        let from = self.warm_up.unwrap_or(Time::ZERO);
        let until = from + self.measure?;
        Some(Span { from, until })
    }

    /// The engine's plan for these flows. `interval` is the time between two decisions of the fabric
    /// on its circuits, if it makes any; `self` is resolved.
    pub(crate) fn plan(
        &self,
        faults: Vec<Fault>,
        flows: &Flows,
        cluster: &Cluster,
        interval: Option<Time>,
    ) -> Plan {
        let decided = Time(interval.unwrap_or_default().0.saturating_mul(DRAIN_TIMES));
        let bounded = || self.bounded_by(flows, cluster).max(decided);
        Plan {
            stop: self.engine_stop(),
            limit: { self.limit }.unwrap_or_else(bounded),
            sample: self.sample,
            faults,
        }
    }

    fn engine_stop(&self) -> Stop {
        match self.stop {
            Some(StopRule::LastArrival) => Stop::LastArrival,
            Some(StopRule::At(time)) => Stop::At(time),
            Some(StopRule::Measured) => {
                Stop::Delivered(self.span().map_or(Time::ZERO, |s| s.until))
            }
            Some(StopRule::Drain) | None => Stop::Drain,
        }
    }

    /// The latest end of a run that its flows bound.
    fn bounded_by(&self, flows: &Flows, cluster: &Cluster) -> Time {
        if self.stop == Some(StopRule::LastArrival) {
            return Time::NEVER;
        }
        let one_link = flows.total_bytes() as u128 * PS_BITS / cluster.server_rate.0.max(1) as u128;
        let last = i64::try_from(one_link).unwrap_or(i64::MAX);
        let longest = flows.last_arrival().0.saturating_add(last);
        Time(longest.saturating_mul(DRAIN_TIMES)).max(LIMIT)
    }
}

/// The time for which a run that drains waits for the next delivered byte, on a fabric that decides
/// on circuits every `interval`, if it has an interval.
pub(crate) fn patience(cluster: &Cluster, interval: Option<Time>) -> Time {
    let decisions = STILL_DECISIONS + STILL_PER_RACK * i64::from(cluster.racks);
    let decided = interval.unwrap_or_default().0.saturating_mul(decisions);
    let packets = cluster.server_rate.time_for(PACKET_BYTES).0;
    STILL
        .max(Time(decided))
        .max(Time(packets.saturating_mul(STILL_PACKETS)))
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
    fn limits_of_sizes_ascend() {
        for (limits, start) in [
            (json!([]), "run.size_limits = 0 sizes: must be from 1 to 32"),
            (json!(["0 B"]), "run.size_limits[0] = 0 B: must be above 0"),
            (
                json!(["1 KB", "1 MB", "1 MB"]),
                "run.size_limits[2] = 1 MB: must be above the one before",
            ),
        ] {
            let refused = read(json!({ "size_limits": limits })).unwrap_err();
            assert!(refused.starts_with(start), "{refused}");
        }
        assert!(read(json!({"size_limits": ["10 KB", "1 MB"]})).is_ok());
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

    /// 2³¹ slots of 4 ns are 8.6 s.
    #[test]
    fn no_run_takes_more_slots_than_can_be_run() {
        let says = |run: Value, slot: i64, last: i64| {
            let run = read(run).unwrap();
            let refused = run.refuse_turns(Time::NS * slot, Time::S * last, "fabric");
            refused.map_err(|refusal| refusal.to_string())
        };
        assert_eq!(
            says(json!({"stop": "10 s"}), 4, 0).unwrap_err(),
            "run.stop = 10 s: takes 2500000000 slots of 4 ns in fabric, but at most 2147483648 can \
             be run; use longer slots, or stop at 8.58 s or before"
        );
        assert_eq!(says(json!({"stop": "10 s"}), 5, 0), Ok(()));
        for stop in ["last-arrival", "drain"] {
            let run = json!({"stop": stop, "limit": "20 s"});
            assert_eq!(says(run.clone(), 4, 8), Ok(()));
            assert!(says(run, 4, 9).is_err());
            assert_eq!(says(json!({"stop": stop, "limit": "8 s"}), 4, 9), Ok(()));
        }
        let window = |end: &str| json!({"warm_up": "1 s", "measure": end});
        assert_eq!(says(window("7 s"), 4, 0), Ok(()));
        assert!(says(window("8 s"), 4, 0).is_err());
    }

    #[test]
    fn one_repetition_is_none() {
        assert_eq!(read(json!({"repeat": 1})).unwrap().repeat, None);
        assert_eq!(read(json!({"repeat": 5})).unwrap().repeat, Some(5));
        let last = json!({"repeat": 2, "seed": u64::MAX - 1});
        assert_eq!(read(last).unwrap().repeat, Some(2));
    }

    #[test]
    fn jobs_have_the_time_they_need() {
        let jobs = json!({"jobs": ["fft"]});
        let table = read_for(jobs.clone(), json!({})).unwrap();
        assert_eq!(table.stop, Some(StopRule::Drain));
        assert_eq!(table.limit, Some(Time::S * 100_000));
        let table = read_for(jobs.clone(), json!({"limit": "5 s"})).unwrap();
        assert_eq!(table.limit, Some(Time::S * 5));
        assert_eq!(read(json!({})).unwrap().limit, None);
        // A default limit does not end a run before its `stop`.
        let table = read(json!({"stop": "20 s"})).unwrap();
        assert_eq!(table.limit, Some(Time::S * 20));
        let e = read_for(jobs, json!({"stop": "last-arrival"})).unwrap_err();
        assert!(
            e.starts_with("run.stop = \"last-arrival\": flows of jobs arrive"),
            "{e}"
        );
    }

    #[test]
    fn a_window_is_drained_for_as_long_as_it_lasts() {
        let load = json!({"load": 0.5, "sizes": "rpc"});
        let window = json!({"warm_up": "10 us", "measure": "100 us"});
        let table = read_for(load.clone(), window).unwrap();
        assert_eq!(table.stop, Some(StopRule::Measured));
        assert_eq!(table.limit, Some(Time::US * 210));
        assert_eq!(table.engine_stop(), Stop::Delivered(Time::US * 110));
        let again = serde_json::to_value(&table).unwrap();
        assert_eq!(
            again,
            serde_json::to_value(read_for(load.clone(), again.clone()).unwrap()).unwrap()
        );
        let longer = json!({"measure": "100 us", "limit": "1 ms", "stop": "drain"});
        let table = read_for(load, longer).unwrap();
        assert_eq!(
            (table.warm_up, table.limit),
            (Some(Time::ZERO), Some(Time::MS))
        );
        assert_eq!(table.stop, Some(StopRule::Drain));
    }

    #[test]
    fn refusals_name_the_key() {
        let jobs = read_for(json!({"jobs": ["fft"]}), json!({"measure": "1 us"}));
        let e = jobs.unwrap_err();
        assert!(
            e.starts_with("run.measure = 1 us: jobs have no load"),
            "{e}"
        );
        for (table, expect) in [
            (
                json!({"stop": "never"}),
                "run.stop = \"never\": must be \"last-arrival\"",
            ),
            (json!({"stop": "10"}), "run.stop = \"10\": `10` has no unit"),
            (json!({"stop": 10}), "run.stop = 10: `10` has no unit"),
            (
                json!({"stop": "0 s"}),
                "run.stop = 0 ps: must be longer than 0",
            ),
            (json!({"sample": "0 ns"}), "run.sample = 0 ps: "),
            (
                json!({"measure": "0 s"}),
                "run.measure = 0 ps: must be longer",
            ),
            (json!({"measure": "-1 us"}), "run.measure = \"-1 us\": "),
            (
                json!({"warm_up": "1 us"}),
                "run.warm_up = 1 us: has no effect without a window; add run.measure",
            ),
            (
                json!({"stop": "measured"}),
                "run.stop = \"measured\": nothing is measured; add run.measure",
            ),
            (
                json!({"warm_up": "1 us", "measure": "2 us", "stop": "2 us"}),
                "run.stop = 2 us: the window ends at 3 us; raise it",
            ),
            (
                json!({"measure": "2 us", "limit": "1 us"}),
                "run.measure = 2 us: the window ends at 2 us, beyond run.limit = 1 us; raise",
            ),
            (
                json!({"measure": "2000000 s"}),
                "run.measure = 2000000 s: warm-up and window may take 100000 s each",
            ),
            (json!({"limit": 5}), "run.limit = 5: `5` has no unit"),
            (
                json!({"goodput": "within"}),
                "run.goodput = \"within\": must be one of \"all\"",
            ),
            (
                json!({"rate_precision": "0 %"}),
                "run.rate_precision = \"0 %\": must be \"exact\" or from 0.0000001 % to 10 %; write",
            ),
            (
                json!({"rate_precision": "11 %"}),
                "run.rate_precision = \"11 %\": must be \"exact\" or from",
            ),
            (
                json!({"rate_precision": 0.01}),
                "run.rate_precision = 0.01: must be \"exact\" or from",
            ),
            (json!({"repeat": 0}), "run.repeat = 0: must be at least 1; raise it"),
            (json!({"repeat": 1001}), "run.repeat = 1001: must be at most 1000; lower"),
            (
                json!({"repeat": 2, "seed": u64::MAX}),
                "run.repeat = 2: the seeds after run.seed = 18446744073709551615 exceed",
            ),
            (json!({"repeat": "5"}), "run.repeat = \"5\": must be a whole number"),
            (json!({"repeats": 5}), "run.repeats = 5: no such key; did you mean \"repeat\"?"),
            (json!({"seed": -1}), "run.seed = -1: must be a whole number, at least 0"),
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
