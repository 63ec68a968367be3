//! The computation time of the policy: as given, as measured on this machine, or as measured in an
//! earlier run of the same experiment.
//!
//! A controller has no clock, so this module adds the time to the policy's decisions. Measured
//! times differ from run to run; they are recorded, and a run with this record as input has the
//! same results.

use lightloom_control::order::Order;
use lightloom_control::policy::{Demand, Evidence, Policy, SwitchView, Target};
use lightloom_engine::{config, Refusal, Time};
use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// The key of the computation time.
pub const DELAY: &str = "computation_delay";

/// Time from the demand to the decision: a time, "measured", or a list of measured times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Computation {
    /// All decisions take this time.
    Given(Time),
    /// The time that the policy takes on this machine.
    Measured,
    /// The measured times of the first decision, the second, and so on.
    Recorded(Vec<Time>),
}

impl Computation {
    /// The time that is known before the run.
    pub fn given(&self) -> Time {
        match self {
            Computation::Given(time) => *time,
            Computation::Measured | Computation::Recorded(_) => Time::ZERO,
        }
    }

    /// The time of the first decision, if it is known before the run.
    pub fn first(&self) -> Time {
        match self {
            Computation::Recorded(times) => times.first().copied().unwrap_or(Time::ZERO),
            _ => self.given(),
        }
    }

    /// Refuses a record that cannot come from a run with this interval. A given time may be longer
    /// than the interval; it then delays the next decision.
    pub fn check(&self, interval: Time) -> Result<(), Refusal> {
        let Computation::Recorded(times) = self else {
            return Ok(());
        };
        match times.iter().position(|&time| time > interval) {
            Some(at) => Err(Refusal::new(
                format!("fabric.{DELAY}[{at}]"),
                times[at],
                format!("longer than the interval, {interval}, which no measured time exceeds"),
                "raise the interval to that of the recorded run, or give one time for all",
            )),
            None => Ok(()),
        }
    }
}

impl Default for Computation {
    fn default() -> Computation {
        Computation::Given(Time::ZERO)
    }
}

impl Serialize for Computation {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Computation::Given(time) => time.serialize(s),
            Computation::Measured => s.serialize_str("measured"),
            Computation::Recorded(times) => times.serialize(s),
        }
    }
}

impl<'de> Deserialize<'de> for Computation {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Computation, D::Error> {
        match Value::deserialize(d)? {
            Value::Array(times) => {
                let time = |value| config::nested::<Time, D::Error>(value);
                let times: Result<Vec<Time>, _> = times.iter().map(time).collect();
                times.map(Computation::Recorded)
            }
            Value::String(word) if !config::is_quantity(&word) && word != "measured" => {
                let limit = "neither a time, nor \"measured\", nor a list of times";
                let remedy = "write a time like \"5 ms\"";
                let value = format!("\"{word}\"");
                Err(config::nested_refusal(Refusal::new(
                    "", value, limit, remedy,
                )))
            }
            Value::String(word) if word == "measured" => Ok(Computation::Measured),
            other => config::nested::<Time, D::Error>(&other).map(Computation::Given),
        }
    }
}

impl JsonSchema for Computation {
    fn schema_name() -> Cow<'static, str> {
        "Computation".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let time = generator.subschema_for::<Time>();
        json_schema!({
            "anyOf": [
                time,
                { "const": "measured" },
                { "type": "array", "items": time },
            ]
        })
    }
}

/// A time with three digits, or more if the rounded time would not be longer than `than`.
fn readable(time: Time, than: Time) -> Time {
    let digit = 10i64.pow(time.0.max(1).ilog10().saturating_sub(2));
    let rounded = Time((time.0 / digit + (time.0 % digit * 2 / digit)) * digit);
    if rounded > than {
        rounded
    } else {
        time
    }
}

/// The computation times of all decisions, for the record.
pub type Times = Arc<Mutex<Vec<Time>>>;

/// A policy whose decisions are timed, or have the times of an earlier run.
pub struct Timed {
    policy: Box<dyn Policy>,
    /// Times of an earlier run; times are measured if there is none.
    recorded: Option<VecDeque<Time>>,
    /// Limit of a measured time; `None` if the next decision may wait.
    most: Option<Time>,
    took: Time,
    times: Times,
}

impl Timed {
    /// Wraps a policy unless its decisions take a given time; returns it with the store of the
    /// times. A measured time is refused if it is longer than `most`.
    pub fn wrap(
        policy: Box<dyn Policy>,
        computation: &Computation,
        most: Option<Time>,
    ) -> (Box<dyn Policy>, Option<Times>) {
        let recorded = match computation {
            Computation::Given(_) => return (policy, None),
            Computation::Measured => None,
            Computation::Recorded(times) => Some(times.iter().copied().collect()),
        };
        let times = Times::default();
        let timed = Timed {
            policy,
            recorded,
            most,
            took: Time::ZERO,
            times: times.clone(),
        };
        (Box::new(timed), Some(times))
    }

    fn time(&mut self, measured: Time, target: &Target) -> Result<Time, Refusal> {
        let Some(recorded) = &mut self.recorded else {
            let Some(interval) = self.most.filter(|&most| measured > most) else {
                return Ok(measured);
            };
            let took = readable(measured, interval);
            return Err(Refusal::new(
                "decision",
                target,
                format!("it took {took}, longer than the interval, {interval}"),
                format!("raise the interval, or give fabric.{DELAY} a time of your own"),
            ));
        };
        recorded.pop_front().ok_or_else(|| {
            let known = self.times.lock().map_or(0, |times| times.len());
            let limit = "this run decides more often than the one that was recorded";
            let remedy = "set it to \"measured\", or to one time";
            Refusal::new(DELAY, format!("a list of {known}"), limit, remedy)
        })
    }
}

impl Policy for Timed {
    fn decide(&mut self, seen: &Demand, switch: &SwitchView) -> Result<Target, Refusal> {
        let clock = Instant::now();
        let target = self.policy.decide(seen, switch)?;
        let ps = clock.elapsed().as_nanos().saturating_mul(1_000);
        self.took = self.time(Time(i64::try_from(ps).unwrap_or(i64::MAX)), &target)?;
        if let Ok(mut times) = self.times.lock() {
            times.push(self.took);
        }
        Ok(target)
    }

    fn order(&self) -> Order {
        self.policy.order()
    }

    fn took(&self) -> Option<Time> {
        Some(self.took)
    }

    fn evidence(&self) -> Option<Evidence<'_>> {
        self.policy.evidence()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_control::circuits::Circuits;
    use lightloom_control::demand::Matrix;
    use lightloom_control::hardware::Hardware;
    use lightloom_engine::Rate;
    use serde_json::json;
    use std::time::Duration;

    /// Connects racks 0 and 2; the decision takes 5 ms.
    struct Slow;

    impl Policy for Slow {
        fn decide(&mut self, _: &Demand, _: &SwitchView) -> Result<Target, Refusal> {
            std::thread::sleep(Duration::from_millis(5));
            Ok(Target::direct(Circuits::both_ways([(0, 2)])))
        }

        fn order(&self) -> Order {
            Order::DELETE_CREATE
        }
    }

    #[test]
    fn a_decision_longer_than_its_interval_is_refused_with_what_it_was() {
        let (mut timed, _) =
            Timed::wrap(Box::new(Slow), &Computation::Measured, Some(Time::MS * 3));
        let over = Time::MS * 3;
        let bytes = Matrix::zeros(3);
        let view = SwitchView {
            hardware: Hardware::new(3, 1, Rate::GBPS),
            lit: &Circuits::default(),
            works: &[true; 3],
            slots: None,
        };
        let refused = timed.decide(&Demand { bytes, over }, &view).unwrap_err();
        assert_eq!((&*refused.key, &*refused.value), ("decision", "[(0, 2)]"));
        assert!(refused.limit.starts_with("it took "), "{}", refused.limit);
        let said = "ms, longer than the interval, 3 ms";
        assert!(refused.limit.ends_with(said), "{}", refused.limit);
        // If the next decision may wait, a slow decision is only late.
        let (mut timed, times) = Timed::wrap(Box::new(Slow), &Computation::Measured, None);
        let bytes = Matrix::zeros(3);
        timed.decide(&Demand { bytes, over }, &view).expect("late");
        assert!(timed.took() >= Some(Time::MS * 5) && times.is_some());
    }

    #[test]
    fn times_are_told_to_three_digits() {
        assert_eq!(readable(Time(2_000_283_345_000), Time::S), Time::S * 2);
        assert_eq!(readable(Time(1_239_999_999_999), Time::S), Time::MS * 1_240);
        let barely = Time(1_000_000_000_001);
        assert_eq!(readable(barely, Time::S), barely);
        assert_eq!(readable(Time(7), Time(6)), Time(7));
    }

    #[test]
    fn only_what_may_have_been_measured_is_a_record() {
        let recorded = |times: &[i64]| {
            let times = times.iter().map(|&s| Time::S * s).collect();
            Computation::Recorded(times).check(Time::S * 2)
        };
        assert_eq!(recorded(&[]), Ok(()));
        assert_eq!(recorded(&[1, 2, 2]), Ok(()));
        let refused = recorded(&[2, 3]).unwrap_err();
        assert_eq!(refused.key, "fabric.computation_delay[1]");
        assert_eq!(Computation::Given(Time::S * 3).check(Time::S), Ok(()));
        assert_eq!(Computation::Measured.check(Time::S), Ok(()));
    }

    #[test]
    fn it_is_a_time_a_word_or_a_list() {
        let read = |value: Value| config::read::<Computation>(&value, "fabric.computation_delay");
        assert_eq!(read(json!("5 ms")), Ok(Computation::Given(Time::MS * 5)));
        assert_eq!(read(json!("measured")), Ok(Computation::Measured));
        let list = json!(["1 ms", "2 ms"]);
        let recorded = Computation::Recorded(vec![Time::MS, Time::MS * 2]);
        assert_eq!(read(list.clone()), Ok(recorded.clone()));
        assert_eq!(serde_json::to_value(recorded).unwrap(), list);
        for (value, said) in [
            (json!("soon"), "neither a time"),
            (json!(5), "unit"),
            (json!(["1 ms", "x"]), "\"x\""),
        ] {
            let refused = read(value).unwrap_err().to_string();
            assert!(refused.starts_with("fabric.computation_delay"), "{refused}");
            assert!(refused.contains(said), "{refused}");
        }
    }
}
