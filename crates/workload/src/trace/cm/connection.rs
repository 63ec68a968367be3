//! A line of a connection matrix that is a flow: `0->1 id 1 start 0 size 1000`.

use super::LINE;
use crate::arrivals::MAX_ARRIVAL;
use crate::sizes::MAX_BYTES;
use crate::text::{Field, Row, TextError};
use crate::trace::columns::Builder;
use lightloom_engine::config;

const TOKENS: [&str; 7] = [
    "id",
    "start",
    "size",
    "prio",
    "trigger",
    "send_done_trigger",
    "recv_done_trigger",
];

const UNITS: [&str; 5] = [
    "picoseconds",
    "nanoseconds",
    "microseconds",
    "milliseconds",
    "seconds",
];

/// A flow as written on its line.
pub(super) struct Connection<'a> {
    pub row: Row<'a>,
    src: Field<'a>,
    dst: Field<'a>,
    /// Values of [`TOKENS`].
    given: [Option<Field<'a>>; TOKENS.len()],
}

impl<'a> Connection<'a> {
    /// Reads a line that begins with the word `ends`.
    pub fn read(row: Row<'a>, ends: Field<'a>) -> Result<Connection<'a>, TextError> {
        let arrow = ends.text.find("->").ok_or_else(|| {
            let problem = format!("{} is neither a heading nor a connection", ends.shown());
            ends.error(problem, LINE)
        })?;
        let mut connection = Connection {
            row,
            src: ends.part(0, arrow),
            dst: ends.part(arrow + 2, ends.text.len()),
            given: [None; TOKENS.len()],
        };
        let mut words = row.words().skip(1);
        while let Some(word) = words.next() {
            let Some(token) = TOKENS.iter().position(|t| *t == word.text) else {
                let problem = format!("{} is not part of a connection", word.shown());
                return Err(word.error(problem, config::nearest(word.text, &TOKENS)));
            };
            let value = words
                .next()
                .ok_or_else(|| row.end().error(format!("{} has no value", word.text), LINE))?;
            if connection.given[token].replace(value).is_some() {
                return Err(word.error(format!("{} is there twice", word.text), "remove one"));
            }
        }
        Ok(connection)
    }

    fn value(&self, token: &str) -> Option<Field<'a>> {
        let at = TOKENS.iter().position(|t| *t == token)?;
        self.given[at]
    }

    /// The trigger that starts it, with its number.
    pub fn trigger(&self) -> Result<Option<(Field<'a>, u32)>, TextError> {
        let Some(field) = self.value("trigger") else {
            return Ok(None);
        };
        if let Some(start) = self.value("start") {
            let problem = "a flow that waits for a trigger has no start of its own";
            return Err(start.error(problem, "remove the start, or the trigger"));
        }
        let id = field.whole("trigger", 1..=u32::MAX as u64)?;
        Ok(Some((field, id as u32)))
    }

    /// The triggers that it fires when it is done, with their numbers; 0 means none.
    pub fn fires(&self) -> Result<Vec<(Field<'a>, u32)>, TextError> {
        let mut found = Vec::new();
        for token in ["send_done_trigger", "recv_done_trigger"] {
            let Some(field) = self.value(token) else {
                continue;
            };
            match field.whole(token, 0..=u32::MAX as u64)? as u32 {
                0 => {}
                id => found.push((field, id)),
            }
        }
        Ok(found)
    }

    /// Its bytes; `None` for a flow that sends until the end of the run.
    pub fn bytes(&self) -> Result<Option<u64>, TextError> {
        let field = self.required("size")?;
        Ok(Some(field.whole("size", 0..=MAX_BYTES)?).filter(|&bytes| bytes > 0))
    }

    fn required(&self, token: &str) -> Result<Field<'a>, TextError> {
        let missing = || self.row.end().error(format!("has no {token}"), LINE);
        self.value(token).ok_or_else(missing)
    }

    /// Adds it to the flows.
    pub fn push(&self, flows: &mut Builder, places: usize) -> Result<(), TextError> {
        let start = match self.trigger()? {
            Some(_) => None,
            None => Some(picoseconds(self.required("start")?, places)?),
        };
        let bytes = self.bytes()?;
        let host = |field: Field| field.whole("host", 0..=u32::MAX as u64);
        let (from, to) = (host(self.src)? as u32, host(self.dst)? as u32);
        flows
            .push_with(from, to, bytes, start, "")
            .map_err(|bad| match bad.column {
                "src" => self.src.error(bad.problem, bad.remedy),
                _ => self.dst.error(bad.problem, bad.remedy),
            })
    }
}

/// Reads a start [ps] in units of 10^`places` ps: digits with optional decimals; fractions of a
/// picosecond are cut off.
fn picoseconds(field: Field, places: usize) -> Result<i64, TextError> {
    let (whole, decimals) = match field.text.split_once('.') {
        Some((whole, decimals)) => (whole, Some(decimals)),
        None => (field.text, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !decimals.is_none_or(digits) {
        return Err(field.error(
            format!(
                "start is {}, not a number of {}",
                field.shown(),
                UNITS[places / 3]
            ),
            "write it in digits from 0 on, such as 12 or 12.5",
        ));
    }
    let unit = 10i64.pow(places as u32);
    let last = MAX_ARRIVAL.0 / unit;
    let whole = field.part(0, whole.len()).whole("start", 0..=last as u64)? as i64;
    let digits = decimals
        .unwrap_or("")
        .bytes()
        .chain(std::iter::repeat(b'0'));
    let fraction = digits
        .take(places)
        .fold(0, |sum, d| 10 * sum + i64::from(d - b'0'));
    Ok((whole * unit + fraction).min(MAX_ARRIVAL.0))
}
