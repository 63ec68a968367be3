//! The log of a controller: every input and every action, a line of JSON each, so that
//! what was decided can be read, and played again ([`crate::replay`]).
//!
//! ```text
//! {"format":"lightloom-controller/1","version":"0.1.0","policy":{"kind":"cthrough",…},…}
//! {"at_ps":1000000000000,"input":"tick"}
//! {"at_ps":1000000000000,"action":"measure"}
//! {"at_ps":1000000000000,"input":{"demand":[[0,1,125000000]]}}
//! {"at_ps":1000000000000,"action":{"dark":[1,{"directed":false,"circuits":[]}]}}
//! {"at_ps":1000000000000,"input":{"done":1}}
//! {"at_ps":1200000000000,"host":"silent"}
//! ```
//!
//! The lines are in the order in which things happened; actions follow the input that
//! led to them. Of the host it is said when its controller fell silent: until the next
//! `silence` it hears nothing. The last line, `{"end":N}`, counts those between it and
//! the first: a log without it was cut off.
//!
//! | file | concept |
//! |---|---|
//! | here | what stands in a log, and how it is written |
//! | `read` | lines to entries |
//! | `check` | which lines fit each other, and a controller |

mod check;
mod read;
#[cfg(test)]
mod tests;

use crate::controller::{Action, Input, Timing};
use crate::demand::Estimation;
use crate::hardware::Hardware;
use crate::order::Order;
use lightloom_engine::Time;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use read::read;

/// The name of the format in the first line.
pub const FORMAT: &str = "lightloom-controller/1";

/// The first line: what it takes to run the same loop again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// [`FORMAT`].
    pub format: String,
    /// The version of Lightloom that wrote it.
    pub version: String,
    /// The fabric that was simulated, by its label; or whatever else the host was.
    pub host: String,
    /// The policy's table, with its `kind` or `file`.
    pub policy: Value,
    /// The order of a change, if not the policy's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Order>,
    /// Racks, planes, ports.
    pub hardware: Hardware,
    /// When it was asked.
    pub timing: Timing,
    /// How reports became a matrix.
    pub estimation: Estimation,
    /// Slots that a policy wants shorter than the switch can have them last as long, their
    /// night included; those of its schedules below are as they were followed. Logs without
    /// it are of switches that took every slot as it was.
    #[serde(
        default,
        with = "time",
        rename = "shortest_slot_ps",
        skip_serializing_if = "Option::is_none"
    )]
    pub shortest_slot: Option<Time>,
    /// The night for which policies planned, if the switch has one.
    #[serde(
        default,
        with = "time",
        rename = "night_ps",
        skip_serializing_if = "Option::is_none"
    )]
    pub night: Option<Time>,
}

/// A time that need not be there.
mod time {
    use lightloom_engine::Time;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(time: &Option<Time>, s: S) -> Result<S::Ok, S::Error> {
        time.map(|time| time.0).serialize(s)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Time>, D::Error> {
        i64::deserialize(d).map(Time).map(Some)
    }
}

/// An event and its time.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Row")]
pub struct Entry {
    /// When.
    pub at: Time,
    /// The event.
    pub event: Event,
}

/// An input, an action, or what the host does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The controller heard this.
    Input(Input),
    /// The controller requested this action.
    Action(Action),
    /// The host did this.
    Host(Hosting),
}

/// An event of a host that its controller neither receives nor requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hosting {
    /// The controller falls silent: what it had begun is void, and it hears nothing
    /// until [`Input::Silence`].
    Silent,
}

/// A line as it stands in a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    at_ps: i64,
    input: Option<Input>,
    action: Option<Action>,
    host: Option<Hosting>,
}

impl TryFrom<Row> for Entry {
    type Error = &'static str;

    fn try_from(row: Row) -> Result<Entry, &'static str> {
        let event = match (row.input, row.action, row.host) {
            (Some(input), None, None) => Event::Input(input),
            (None, Some(action), None) => Event::Action(action),
            (None, None, Some(hosting)) => Event::Host(hosting),
            _ => return Err("not one of an input, an action and what the host did"),
        };
        let at = Time(row.at_ps);
        Ok(Entry { at, event })
    }
}

impl Entry {
    /// The action, if it is one.
    pub fn action(&self) -> Option<&Action> {
        match &self.event {
            Event::Action(action) => Some(action),
            Event::Input(_) | Event::Host(_) => None,
        }
    }
}

/// A log that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// Its first line.
    pub header: Header,
    /// The others, without the last.
    pub entries: Vec<Entry>,
}

/// A log that is being written.
#[derive(Clone, Debug)]
pub struct Log {
    text: String,
    entries: u64,
}

/// An entry to be written.
#[derive(Default, Serialize)]
struct Line<'a> {
    at_ps: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<&'a Input>,
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<&'a Action>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<Hosting>,
}

impl Log {
    /// A log with its first line.
    pub fn new(header: &Header) -> Log {
        let mut log = Log {
            text: String::new(),
            entries: 0,
        };
        log.line(header);
        log
    }

    /// The controller hears something.
    pub fn input(&mut self, at: Time, input: &Input) {
        self.row(Line {
            at_ps: at.0,
            input: Some(input),
            ..Line::default()
        });
    }

    /// Records an action that the controller requested.
    pub fn action(&mut self, at: Time, action: &Action) {
        self.row(Line {
            at_ps: at.0,
            action: Some(action),
            ..Line::default()
        });
    }

    /// The host does something.
    pub fn host(&mut self, at: Time, hosting: Hosting) {
        self.row(Line {
            at_ps: at.0,
            host: Some(hosting),
            ..Line::default()
        });
    }

    /// Whatever happens.
    pub fn entry(&mut self, entry: &Entry) {
        match &entry.event {
            Event::Input(input) => self.input(entry.at, input),
            Event::Action(action) => self.action(entry.at, action),
            Event::Host(hosting) => self.host(entry.at, *hosting),
        }
    }

    /// The whole text.
    pub fn finish(mut self) -> String {
        let entries = self.entries;
        self.line(&serde_json::json!({ "end": entries }));
        self.text
    }

    fn row(&mut self, line: Line) {
        self.entries += 1;
        self.line(&line);
    }

    fn line(&mut self, line: &impl Serialize) {
        let json = serde_json::to_string(line).expect("logs are plain data");
        self.text.push_str(&json);
        self.text.push('\n');
    }
}
