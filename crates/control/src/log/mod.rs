//! The log of a controller: every input and every action as one line of JSON, so that decisions can
//! be read and replayed ([`crate::replay`]).
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
//! The lines are in the order of the events; actions follow the input that caused them. The log
//! also records when the host's controller became silent: until the next `silence` it receives
//! nothing. The last line, `{"end":N}`, holds the number of lines between it and the first; a log
//! without it is truncated.
//!
//! | file | concept |
//! |---|---|
//! | this file | the contents of a log, and its writer |
//! | `read` | parsing of lines to entries |
//! | `check` | consistency of the lines with each other and with a controller |

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

/// The first line: everything that is needed to run the same loop again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// [`FORMAT`].
    pub format: String,
    /// The version of Lightloom that wrote it.
    pub version: String,
    /// The label of the simulated fabric, or the name of another host.
    pub host: String,
    /// The policy's table, with its `kind` or `file`.
    pub policy: Value,
    /// The order of a change, if it differs from the policy's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Order>,
    /// Racks, planes, ports.
    pub hardware: Hardware,
    /// The times of decisions.
    pub timing: Timing,
    /// The rules that turned reports into a matrix.
    pub estimation: Estimation,
    /// The shortest slot of the switch, with its night. Shorter slots of a policy were extended to
    /// it; the schedules in the log are as they were followed. In logs without this key the switch
    /// accepted every slot.
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

/// Serialisation of an optional time.
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
    /// Time of the event.
    pub at: Time,
    /// The event.
    pub event: Event,
}

/// An input, an action, or an event of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The controller received this input.
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
    /// The controller becomes silent: actions in progress are void, and it receives nothing until
    /// [`Input::Silence`].
    Silent,
}

/// A line in its file format.
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

/// A parsed log.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// The first line.
    pub header: Header,
    /// The lines between the header and the line that ends the log.
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

    /// Records an input of the controller.
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

    /// Records an event of the host.
    pub fn host(&mut self, at: Time, hosting: Hosting) {
        self.row(Line {
            at_ps: at.0,
            host: Some(hosting),
            ..Line::default()
        });
    }

    /// Records any entry.
    pub fn entry(&mut self, entry: &Entry) {
        match &entry.event {
            Event::Input(input) => self.input(entry.at, input),
            Event::Action(action) => self.action(entry.at, action),
            Event::Host(hosting) => self.host(entry.at, *hosting),
        }
    }

    /// The complete text.
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
