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
//! ```
//!
//! The lines are in the order in which things happened; actions follow the input that
//! led to them. The last line, `{"end":N}`, counts those between it and the first: a
//! log without it was cut off.

use crate::controller::{Action, Input, Timing};
use crate::demand::Estimation;
use crate::hardware::Hardware;
use crate::order::Order;
use lightloom_engine::{Refusal, Time};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What the first line calls itself.
pub const FORMAT: &str = "lightloom-controller/1";

/// The first line: what it takes to run the same loop again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
}

/// What happened at a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// When.
    #[serde(with = "crate::ps", rename = "at_ps")]
    pub at: Time,
    /// What.
    #[serde(flatten)]
    pub event: Event,
}

/// An input or an action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The controller heard this.
    Input(Input),
    /// It asked for this.
    Action(Action),
}

/// A log that is being written.
#[derive(Clone, Debug)]
pub struct Log {
    text: String,
    entries: u64,
}

/// An entry to be written.
#[derive(Serialize)]
struct Line<'a> {
    at_ps: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<&'a Input>,
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<&'a Action>,
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
        self.entry(at, Some(input), None);
    }

    /// It asks for something.
    pub fn action(&mut self, at: Time, action: &Action) {
        self.entry(at, None, Some(action));
    }

    /// The whole text.
    pub fn finish(mut self) -> String {
        let entries = self.entries;
        self.line(&serde_json::json!({ "end": entries }));
        self.text
    }

    fn entry(&mut self, at: Time, input: Option<&Input>, action: Option<&Action>) {
        self.entries += 1;
        self.line(&Line {
            at_ps: at.0,
            input,
            action,
        });
    }

    fn line(&mut self, line: &impl Serialize) {
        let json = serde_json::to_string(line).expect("logs are plain data");
        self.text.push_str(&json);
        self.text.push('\n');
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

/// Reads a log.
///
/// # Errors
/// Names the line: of a log of another format, one that was cut off, or one in which a
/// line is not what it should be.
pub fn read(text: &str) -> Result<Read, Refusal> {
    let mut lines = text.lines().enumerate();
    let header = lines.next().map_or("", |(_, line)| line);
    let header = read_header(header)?;
    let mut entries = Vec::new();
    let mut end = None;
    for (at, line) in lines {
        if let Some(end) = end {
            let limit = format!("line {end} is the end of the log");
            return Err(refuse(at, line, &limit, "remove what follows"));
        }
        let value: Value = serde_json::from_str(line)
            .map_err(|e| refuse(at, line, &format!("not JSON ({e})"), CUT))?;
        if let Some(count) = value.get("end") {
            if *count != entries.len() as u64 {
                let limit = format!("{} lines stand before it", entries.len());
                return Err(refuse(at, line, &limit, "record the run again"));
            }
            end = Some(at + 1);
            continue;
        }
        let entry = serde_json::from_value(value)
            .map_err(|e| refuse(at, line, &format!("no input or action ({e})"), CUT))?;
        entries.push(entry);
    }
    match end {
        Some(_) => Ok(Read { header, entries }),
        None => {
            let last = entries.len() + 1;
            let limit = "the log was cut off: its last line is no {\"end\": …}";
            Err(refuse(last - 1, text.lines().last().unwrap_or(""), limit, CUT))
        }
    }
}

const CUT: &str = "record the run again, or copy the whole file";

fn read_header(line: &str) -> Result<Header, Refusal> {
    let remedy = "name a controller.jsonl that a run has written";
    let value: Value = serde_json::from_str(line)
        .map_err(|_| refuse(0, line, "not the first line of a controller's log", remedy))?;
    match value.get("format").and_then(Value::as_str) {
        Some(FORMAT) => serde_json::from_value(value)
            .map_err(|e| refuse(0, line, &format!("not a header ({e})"), remedy)),
        Some(other) => {
            let limit = format!("this version reads {FORMAT}");
            let remedy = "record the run again with this version";
            Err(Refusal::new("line 1: format", other, limit, remedy))
        }
        None => {
            let limit = "not the first line of a controller's log";
            Err(refuse(0, line, limit, remedy))
        }
    }
}

fn refuse(at: usize, line: &str, limit: &str, remedy: &str) -> Refusal {
    let shown: String = line.chars().take(60).collect();
    let more = if shown.len() < line.len() { "…" } else { "" };
    Refusal::new(format!("line {}", at + 1), format!("{shown}{more}"), limit, remedy)
}
