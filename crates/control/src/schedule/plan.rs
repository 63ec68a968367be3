//! A schedule that was planned before: the text of a file that `lightloom plan -o` wrote.
//!
//! The parts of a plan that a switch follows are read: its ports, the night, and the permutation
//! and day of each slot. The start of a slot and the bytes that it carries follow from these and
//! from the demand and are not read. Ports are racks in their order; their names in the plan are
//! used only in messages.

use super::{Schedule, Slot};
use crate::hardware::Hardware;
use lightloom_engine::{config, Refusal, Time};
use serde::de::DeserializeOwned;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The format of plans that can be read.
pub const FORMAT: &str = "lightloom-plan/1";

/// The remedy for a text that is not a plan.
pub const REMEDY: &str = "name a file that `lightloom plan -o` wrote";

/// The keys of a plan that `lightloom plan -o` writes.
const KEYS: [&str; 11] = [
    "format",
    "version",
    "algorithm",
    "demand",
    "options",
    "figures",
    "circuits",
    "schedule",
    "proof",
    "paths",
    "vlans",
];

/// The number of node names that a message lists.
const LISTED: usize = 3;

/// A checked schedule, and the names of the ports for which it was planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// The matchings and their times, at least one slot.
    pub schedule: Schedule,
    /// The plan's names of the ports; empty if there are none.
    pub names: Vec<String>,
}

/// The keys that show whether a text is a plan.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    format: Value,
}

#[derive(Deserialize)]
struct Plan {
    #[serde(default)]
    algorithm: String,
    #[serde(default)]
    demand: Demanded,
    schedule: Option<Rows>,
}

#[derive(Default, Deserialize)]
struct Demanded {
    names: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Rows {
    ports: usize,
    #[serde(with = "crate::ps")]
    night_ps: Time,
    slots: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    #[serde(deserialize_with = "super::outputs")]
    permutation: Vec<u32>,
    #[serde(with = "crate::ps")]
    day_ps: Time,
}

impl Rows {
    fn schedule(self) -> Schedule {
        let slot = |row: Row| Slot {
            permutation: row.permutation,
            day: row.day_ps,
        };
        Schedule {
            ports: self.ports,
            night: self.night_ps,
            slots: self.slots.into_iter().map(slot).collect(),
        }
    }
}

/// Reads the schedule of a plan.
///
/// # Errors
/// If the text is not JSON, has another format, is a plan of circuits, has no slots, or has slots
/// that no switch can have ([`Schedule::check`]). Names the key of the plan, or no key if the text
/// as a whole is wrong.
///
/// ```
/// use lightloom_control::schedule::plan;
/// let text = r#"{"format": "lightloom-plan/1", "schedule": {"ports": 3, "night_ps": 0,
///     "slots": [{"start_ps": 0, "day_ps": 5000000, "permutation": [1, 2, 0]}]}}"#;
/// let planned = plan::read(text).unwrap();
/// assert_eq!(planned.schedule.period(), lightloom_engine::Time::US * 5);
/// ```
pub fn read(text: &str) -> Result<Planned, Refusal> {
    if text.trim_start().starts_with('[') {
        // serde would read the list as the keys in order.
        return Err(Refusal::new("", "", "not a plan, but a list", REMEDY));
    }
    let Head { format } = parsed(text)?;
    if format != FORMAT {
        let limit = format!("only plans of the format \"{FORMAT}\" can be read");
        let (value, remedy) = match format {
            Value::Null => ("(missing)".to_owned(), REMEDY),
            other => (other.to_string(), "create the plan again with this version"),
        };
        return Err(Refusal::new("format", value, limit, remedy));
    }
    let plan: Plan = parsed(text)?;
    let Some(rows) = plan.schedule else {
        return Err(unscheduled(text, &plan.algorithm));
    };
    let schedule = rows.schedule();
    check(&schedule).map_err(|refusal| Refusal {
        key: format!("schedule.{}", refusal.key),
        ..refusal
    })?;
    let names = plan.demand.names.unwrap_or_default();
    if !names.is_empty() && names.len() != schedule.ports {
        let (key, value) = ("demand.names", format!("{} names", names.len()));
        let limit = format!("the schedule has {} ports", schedule.ports);
        return Err(Refusal::new(key, value, limit, REMEDY));
    }
    Ok(Planned { schedule, names })
}

/// The reason for which a plan has no schedule: its key is misspelt or missing, or the plan
/// contains circuits.
fn unscheduled(text: &str, algorithm: &str) -> Refusal {
    let plan: Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
    if plan.contains_key("schedule") {
        let limit = format!("a plan of permanent circuits ({algorithm})");
        let remedy = "use an algorithm that makes schedules, such as tms, or give circuits";
        return Refusal::new("schedule", "null", limit, remedy);
    }
    match plan.iter().find(|(key, _)| !KEYS.contains(&key.as_str())) {
        None => Refusal::new("schedule", "(missing)", "required", REMEDY),
        Some((key, value)) => {
            let value = match value {
                Value::Object(_) => "{…}".to_owned(),
                Value::Array(_) => "[…]".to_owned(),
                plain => plain.to_string(),
            };
            Refusal::new(key, value, "no such key", config::nearest(key, &KEYS))
        }
    }
}

/// Refuses a schedule that no switch can follow repeatedly, with its keys in plans and tables.
///
/// # Errors
/// No slots; as [`Schedule::check`].
pub fn check(schedule: &Schedule) -> Result<(), Refusal> {
    if schedule.slots.is_empty() {
        let (limit, remedy) = ("no circuit is ever lit", "give at least one slot");
        return Err(Refusal::new("slots", "[]", limit, remedy));
    }
    schedule.check().map_err(|refusal| {
        let is_time = refusal.key == "night" || refusal.key.ends_with(".day");
        let unit = if is_time { "_ps" } else { "" };
        Refusal {
            key: format!("{}{unit}", refusal.key),
            ..refusal
        }
    })
}

/// The contents of the text, or the key that is wrong.
fn parsed<T: DeserializeOwned>(text: &str) -> Result<T, Refusal> {
    if let Ok(found) = serde_json::from_str(text) {
        return Ok(found);
    }
    // Parsed again, to locate the error.
    let whole = |limit: String| Refusal::new("", "", limit, REMEDY);
    let value: Value =
        { serde_json::from_str(text) }.map_err(|error| whole(format!("not JSON ({error})")))?;
    config::read(&value, "").map_err(|refusal| match refusal.key.is_empty() {
        true => whole(format!("not a plan ({})", refusal.limit)),
        false => Refusal {
            remedy: REMEDY.to_owned(),
            ..refusal
        },
    })
}

impl Planned {
    /// The schedule for a switch whose number of racks equals the number of ports.
    ///
    /// # Errors
    /// If the sizes differ; names `schedule.ports`, both sizes, and the ports of the plan.
    pub fn for_switch(self, hardware: &Hardware) -> Result<Schedule, Refusal> {
        let (ports, racks) = (self.schedule.ports, hardware.racks);
        if ports == racks as usize {
            return Ok(self.schedule);
        }
        Err(Refusal::new(
            "schedule.ports",
            format!("{ports}{}", self.listed()),
            format!("a schedule for another cluster: this one has {racks} racks"),
            "plan for the demand of this cluster",
        ))
    }

    /// ` (a, b, c, … 5 more)`, or nothing without names.
    fn listed(&self) -> String {
        if self.names.is_empty() {
            return String::new();
        }
        let more = self.names.len().saturating_sub(LISTED);
        let more = (more > 0).then(|| format!("… {more} more"));
        let shown = self.names.iter().take(LISTED).cloned().chain(more);
        format!(" ({})", shown.collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_engine::Rate;
    use proptest::prelude::*;
    use serde_json::json;

    /// The text that `lightloom plan` writes, with the keys that are not read.
    fn text(schedule: &Schedule, names: Option<Vec<&str>>) -> String {
        let mut start = 0;
        let slot = |slot: &Slot| {
            let day = slot.day.0;
            let row = json!({
                "start_ps": start, "day_ps": day, "bytes": 7, "permutation": slot.permutation,
            });
            start += schedule.night.0 + day;
            row
        };
        let slots: Vec<Value> = schedule.slots.iter().map(slot).collect();
        let plan = json!({
            "format": "lightloom-plan/1", "version": "9.9.9", "algorithm": "tms",
            "demand": {"nodes": schedule.ports, "pairs": 1, "bytes": 7, "names": names},
            "options": {"night": "1 us"}, "figures": {"slots": schedule.slots.len()},
            "circuits": null,
            "schedule": {
                "ports": schedule.ports, "period_ps": start, "night_ps": schedule.night.0,
                "slots": slots,
            },
            "proof": null,
        });
        plan.to_string()
    }

    fn ring(ports: usize) -> Schedule {
        Schedule::round_robin(ports, Time::US, Time::NS).unwrap()
    }

    fn refused(text: &str) -> (String, String, String) {
        let Refusal {
            key, value, limit, ..
        } = read(text).unwrap_err();
        (key, value, limit)
    }

    #[test]
    fn what_is_no_plan_is_refused() {
        let whole = |text: &str| {
            let (key, value, limit) = refused(text);
            assert_eq!((key, value), (String::new(), String::new()), "{text}");
            limit
        };
        assert_eq!(
            whole("{\n  \"format\": oops"),
            "not JSON (expected value at line 2 column 13)"
        );
        assert!(whole("").starts_with("not JSON (EOF"));
        assert_eq!(whole(&"[".repeat(100_000)), "not a plan, but a list");
        assert_eq!(whole("[[0, 1], [2, 3]]"), "not a plan, but a list");
        let deep = format!("{{\"format\": {}", "[".repeat(100_000));
        assert!(whole(&deep).starts_with("not JSON (recursion limit"));
        assert!(whole("3").starts_with("not a plan (must be a table"));
        // This text is the log of a controller, several lines of JSON.
        assert!(whole("{\"format\": \"x\"}\n{}").starts_with("not JSON (trailing"));
        let (key, value, _) = refused("{}");
        assert_eq!((key.as_str(), value.as_str()), ("format", "(missing)"));
        let (key, value, limit) = refused(r#"{"format": "lightloom-plan/2", "schedule": 5}"#);
        assert_eq!(
            (key.as_str(), value.as_str()),
            ("format", "\"lightloom-plan/2\"")
        );
        assert_eq!(
            limit,
            "only plans of the format \"lightloom-plan/1\" can be read"
        );
        let circuits = r#"{"format": "lightloom-plan/1", "algorithm": "edmonds",
            "circuits": [{"a": 0, "b": 1, "bytes": 4}], "schedule": null}"#;
        let (key, _, limit) = refused(circuits);
        assert_eq!(key, "schedule");
        assert_eq!(limit, "a plan of permanent circuits (edmonds)");
    }

    #[test]
    fn a_plan_whose_schedule_is_called_otherwise_is_told_so() {
        let misspelt = text(&ring(3), None).replace("\"schedule\"", "\"shedule\"");
        assert_eq!(
            read(&misspelt).unwrap_err().to_string(),
            "shedule = {…}: no such key; did you mean \"schedule\"?"
        );
        let missing = r#"{"format": "lightloom-plan/1", "algorithm": "tms", "circuits": null}"#;
        assert_eq!(
            read(missing).unwrap_err().to_string(),
            "schedule = (missing): required; name a file that `lightloom plan -o` wrote"
        );
    }

    #[test]
    fn slots_that_no_switch_can_show_are_refused_by_their_keys_in_the_plan() {
        let key = |change: &dyn Fn(&mut Value)| {
            let mut plan: Value = serde_json::from_str(&text(&ring(3), None)).unwrap();
            change(&mut plan["schedule"]);
            refused(&plan.to_string())
        };
        let named = |change: &dyn Fn(&mut Value)| key(change).0;
        assert_eq!(
            named(&|s| s["slots"][1]["permutation"] = json!([1, 0, 0])),
            "schedule.slots[1].permutation[2]"
        );
        assert_eq!(
            named(&|s| s["slots"][0]["permutation"] = json!([1, 0])),
            "schedule.slots[0].permutation"
        );
        assert_eq!(
            named(&|s| s["slots"][1]["day_ps"] = json!(0)),
            "schedule.slots[1].day_ps"
        );
        assert_eq!(named(&|s| s["night_ps"] = json!(-1)), "schedule.night_ps");
        assert_eq!(
            named(&|s| s["slots"][1]["day_ps"] = json!(i64::MAX)),
            "schedule.slots"
        );
        assert_eq!(named(&|s| s["slots"] = json!([])), "schedule.slots");
        let fraction = key(&|s| s["slots"][1]["day_ps"] = json!(1.5));
        let (at, value, limit) = (
            "schedule.slots[1].day_ps".to_owned(),
            "1.5".to_owned(),
            "must be a whole number".to_owned(),
        );
        assert_eq!(fraction, (at, value, limit));
        let missing = key(&|s| drop(s.as_object_mut().unwrap().remove("ports")));
        assert_eq!(
            (missing.0.as_str(), missing.2.as_str()),
            ("schedule.ports", "required")
        );
    }

    #[test]
    fn a_schedule_from_another_cluster_is_told_by_size_and_names() {
        let here = Hardware::new(4, 1, Rate::GBPS);
        let refused = |ports, names| {
            let planned = read(&text(&ring(ports), names)).unwrap();
            planned.for_switch(&here).unwrap_err().to_string()
        };
        assert_eq!(
            refused(3, None),
            "schedule.ports = 3: a schedule for another cluster: this one has 4 racks; \
             plan for the demand of this cluster"
        );
        let five = vec!["db", "web", "a", "b", "c"];
        assert!(refused(5, Some(five)).starts_with("schedule.ports = 5 (db, web, a, … 2 more): "));
        let few = read(&text(&ring(4), Some(vec!["db"]))).unwrap_err();
        assert_eq!(few.key, "demand.names");
        let fits = read(&text(&ring(4), None)).unwrap();
        assert_eq!(fits.for_switch(&here), Ok(ring(4)));
    }

    fn schedules() -> impl Strategy<Value = Schedule> {
        (2usize..12).prop_flat_map(|ports| {
            let order = Just((0..ports as u32).collect::<Vec<_>>()).prop_shuffle();
            let slot = (order, 1i64..1 << 50).prop_map(|(permutation, day)| Slot {
                permutation,
                day: Time(day),
            });
            let slots = prop::collection::vec(slot, 1..20);
            (0i64..1 << 40, slots).prop_map(move |(night, slots)| Schedule {
                ports,
                night: Time(night),
                slots,
            })
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(schedule in schedules()) {
            let planned = read(&text(&schedule, None)).unwrap();
            prop_assert_eq!(planned.schedule, schedule);
        }

        /// A plan that was truncated or damaged is either refused, or read as a schedule that can
        /// be followed.
        #[test]
        fn damage_is_refused_or_harmless(
            schedule in schedules(), at in any::<prop::sample::Index>(), byte in 32u8..127,
        ) {
            let whole = text(&schedule, None);
            let at = at.index(whole.len());
            prop_assert!(read(&whole[..at]).is_err());
            let mut damaged = whole.into_bytes();
            damaged[at] = byte;
            if let Ok(planned) = read(std::str::from_utf8(&damaged).unwrap()) {
                prop_assert_eq!(planned.schedule.check(), Ok(()));
            }
        }
    }
}
