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

impl Entry {
    /// The action, if it is one.
    pub fn action(&self) -> Option<&Action> {
        match &self.event {
            Event::Action(action) => Some(action),
            Event::Input(_) => None,
        }
    }

    /// Refuses what is not of this controller.
    fn check(&self, header: &Header) -> Result<(), Refusal> {
        let Header {
            hardware,
            estimation,
            ..
        } = header;
        match &self.event {
            Event::Input(Input::PortDown(rack, plane) | Input::PortUp(rack, plane)) => {
                hardware.check_port(*rack, *plane)
            }
            Event::Input(Input::Demand(report)) => report.check(estimation),
            Event::Input(Input::Silence(found)) => found.check(hardware),
            Event::Action(Action::Light(_, circuits) | Action::Dark(_, circuits)) => {
                circuits.check(hardware)
            }
            Event::Action(Action::Follow(_, schedule)) => schedule.check_for(hardware),
            Event::Input(_) | Event::Action(_) => Ok(()),
        }
    }
}

impl Read {
    /// Refuses a log of which a line does not fit the first: names a rack, a plane or a
    /// reporter that there is not, asks for circuits that the switch cannot show, comes
    /// before the line before it, or asks for something when nothing was heard.
    ///
    /// # Errors
    /// Names the line.
    pub fn check(&self) -> Result<(), Refusal> {
        let mut before = Time::ZERO;
        for (at, entry) in self.entries.iter().enumerate() {
            let of_line = |refusal: Refusal| Refusal {
                key: format!("line {}: {}", at + 2, refusal.key),
                ..refusal
            };
            entry.check(&self.header).map_err(of_line)?;
            let remedy = "record the run again";
            if entry.at < before {
                let limit = format!("the line before it is of {before}");
                return Err(of_line(Refusal::new("at_ps", entry.at.0, limit, remedy)));
            }
            if at == 0 && entry.action().is_some() {
                let limit = "nothing has been heard before it";
                return Err(of_line(Refusal::new("action", "the first", limit, remedy)));
            }
            before = entry.at;
        }
        Ok(())
    }
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
            Err(refuse(
                last - 1,
                text.lines().last().unwrap_or(""),
                limit,
                CUT,
            ))
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
    Refusal::new(
        format!("line {}", at + 1),
        format!("{shown}{more}"),
        limit,
        remedy,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::StepId;
    use lightloom_engine::Rate;

    fn text() -> String {
        let mut log = Log::new(&Header {
            format: FORMAT.to_owned(),
            version: "0.1.0".to_owned(),
            host: "a test".to_owned(),
            policy: serde_json::json!({"kind": "cthrough"}),
            order: Some(Order::DELETE_CREATE),
            hardware: Hardware::new(4, 1, Rate::GBPS),
            timing: Timing {
                interval: Time::S,
                computation_delay: Time::ZERO,
            },
            estimation: Estimation::plain(4, 1),
        });
        log.input(Time::ZERO, &Input::Tick);
        log.action(Time::ZERO, &Action::WakeAt(Time::S));
        log.input(Time::S, &Input::Failed(StepId(3), "no light".to_owned()));
        log.finish()
    }

    fn refused(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    /// As the page of the format has it.
    #[test]
    fn a_log_is_lines_that_people_can_read() {
        let text = text();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with(r#"{"format":"lightloom-controller/1","version":"0.1.0""#));
        assert!(lines[0].contains(r#""order":"delete-create","hardware":{"racks":4"#));
        assert_eq!(lines[1], r#"{"at_ps":0,"input":"tick"}"#);
        assert_eq!(
            lines[2],
            r#"{"at_ps":0,"action":{"wake_at":1000000000000}}"#
        );
        assert_eq!(
            lines[3],
            r#"{"at_ps":1000000000000,"input":{"failed":[3,"no light"]}}"#
        );
        assert_eq!(lines[4], r#"{"end":3}"#);
        assert_eq!(read(&text).unwrap().entries.len(), 3);
    }

    #[test]
    fn a_log_that_was_cut_off_is_refused() {
        let text = text();
        let lines: Vec<&str> = text.lines().collect();
        let said = refused(&lines[..4].join("\n"));
        assert!(
            said.starts_with("line 4 = {\"at_ps\":1000000000000"),
            "{said}"
        );
        assert!(
            said.contains("cut off") && said.contains("record the run again"),
            "{said}"
        );
        let said = refused(&text[..text.len() - 20]);
        assert!(
            said.starts_with("line 4") && said.contains("not JSON"),
            "{said}"
        );
        assert!(refused(lines[0]).contains("cut off"));
        assert!(refused("").starts_with("line 1"));
    }

    #[test]
    fn a_log_from_which_lines_are_missing_is_refused() {
        let text = text();
        let mut lines: Vec<&str> = text.lines().collect();
        lines.remove(2);
        let said = refused(&lines.join("\n"));
        assert!(said.starts_with("line 4 = {\"end\":3}: 2 lines"), "{said}");
        let twice = format!("{text}{}\n", r#"{"at_ps":0,"input":"tick"}"#);
        let said = refused(&twice);
        assert!(
            said.starts_with("line 6") && said.contains("line 5 is the end"),
            "{said}"
        );
    }

    #[test]
    fn a_log_of_another_format_is_refused() {
        let newer = text().replace("controller/1", "controller/2");
        assert_eq!(
            refused(&newer),
            "line 1: format = lightloom-controller/2: this version reads \
             lightloom-controller/1; record the run again with this version"
        );
        let said = refused("{\"flows\": 3}\n");
        assert!(
            said.starts_with("line 1") && said.contains("not the first line"),
            "{said}"
        );
        let odd = text().replace("delete-create", "delete-everything");
        let said = refused(&odd);
        assert!(
            said.contains("no order is called delete-everything"),
            "{said}"
        );
    }

    #[test]
    fn a_damaged_line_is_named() {
        for (good, bad) in [
            (r#""input":"tick""#, r#""input":"tock""#),
            (r#""action":{"wake_at""#, r#""action":{"wake_up""#),
            (r#"{"failed":[3,"#, r#"{"failed":["#),
        ] {
            let said = refused(&text().replace(good, bad));
            assert!(
                said.starts_with("line ") && said.contains("no input or action"),
                "{said}"
            );
        }
    }
}
