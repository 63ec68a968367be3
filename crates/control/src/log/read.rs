//! Parses the lines of a log. An invalid line is refused with its number and key.

use super::check::of_line;
use super::{Entry, Header, Read, FORMAT};
use lightloom_engine::{config, Refusal};
use serde::de::DeserializeOwned;
use serde_json::Value;

const CUT: &str = "record the run again, or copy the whole file";
const AGAIN: &str = "record the run again";
const FIRST: &str = "name a controller.jsonl that a run has written";
/// Number of characters of a value that are shown.
const SHOWN: usize = 60;

/// Reads a log.
///
/// # Errors
/// If the log has another format or is truncated, if its switch or times are invalid
/// ([`Header::check`]), or if a line is invalid. Names the line.
pub fn read(text: &str) -> Result<Read, Refusal> {
    let mut lines = text.lines().enumerate();
    let header = read_header(lines.next().map_or("", |(_, line)| line))?;
    let mut entries = Vec::new();
    let mut end = None;
    for (at, line) in lines {
        if let Some(end) = end {
            let limit = format!("line {end} is the end of the log");
            return Err(refuse(at, line, &limit, "remove what follows"));
        }
        match read_line(at, line)? {
            Line::Entry(entry) => entries.push(entry),
            Line::End(count) if count == entries.len() as u64 => end = Some(at + 1),
            Line::End(_) => {
                let limit = format!("{} lines precede it", entries.len());
                return Err(refuse(at, line, &limit, AGAIN));
            }
        }
    }
    match end {
        Some(_) => Ok(Read { header, entries }),
        None => {
            let last = text.lines().last().unwrap_or("");
            let limit = "the log was cut off: its last line is not {\"end\": …}";
            Err(refuse(entries.len(), last, limit, CUT))
        }
    }
}

enum Line {
    Entry(Entry),
    End(u64),
}

fn read_line(at: usize, line: &str) -> Result<Line, Refusal> {
    let odd = match serde_json::from_str(line) {
        Ok(entry) => return Ok(Line::Entry(entry)),
        Err(odd) => odd,
    };
    // Parsed again, to locate the error.
    let value: Value = serde_json::from_str(line)
        .map_err(|e| refuse(at, line, &format!("not JSON ({e})"), CUT))?;
    match value.get("end").map(Value::as_u64) {
        Some(Some(count)) if value.as_object().is_some_and(|keys| keys.len() == 1) => {
            Ok(Line::End(count))
        }
        Some(_) => Err(refuse(at, line, "not an end, which has only a count", CUT)),
        None => Err(located::<Entry>(at, line, &value).err().unwrap_or_else(|| {
            refuse(
                at,
                line,
                &format!("neither an input nor an action ({odd})"),
                CUT,
            )
        })),
    }
}

fn read_header(line: &str) -> Result<Header, Refusal> {
    let value: Value = serde_json::from_str(line)
        .map_err(|_| refuse(0, line, "not the first line of a controller's log", FIRST))?;
    match value.get("format") {
        Some(Value::String(format)) if format == FORMAT => {}
        Some(other) => {
            let limit = format!("this version reads {FORMAT}");
            let remedy = "record the run again with this version";
            return Err(Refusal::new("line 1: format", other, limit, remedy));
        }
        None => {
            let limit = "not the first line of a controller's log";
            return Err(refuse(0, line, limit, FIRST));
        }
    }
    let header: Header = located(0, line, &value)?;
    header.check()?;
    Ok(header)
}

/// The contents of a line, or the key that is wrong.
fn located<T: DeserializeOwned>(at: usize, line: &str, value: &Value) -> Result<T, Refusal> {
    config::read(value, "").map_err(|refusal| match refusal.key.is_empty() {
        true => refuse(at, line, &refusal.limit, AGAIN),
        false => of_line(
            at,
            Refusal {
                value: shown(&refusal.value),
                ..refusal
            },
        ),
    })
}

fn refuse(at: usize, line: &str, limit: &str, remedy: &str) -> Refusal {
    Refusal::new(format!("line {}", at + 1), shown(line), limit, remedy)
}

/// The beginning of a long text.
fn shown(text: &str) -> String {
    if text.is_empty() {
        return "(empty)".to_owned();
    }
    let shown: String = text.chars().take(SHOWN).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    format!("{shown}{more}")
}
