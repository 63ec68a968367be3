//! `src,dst,bytes,arrival_ps[,group]` with a heading, columns in any order.
//!
//! The columns that a run adds to its flow table (`flow`, `start_ps`,
//! `finish_ps`, `hops`) may be there and are ignored, so that the table of one
//! run is the trace of another.

use super::columns::Builder;
use super::{open_loop, OpenLoop};
use crate::arrivals::MAX_ARRIVAL;
use crate::sizes::MAX_BYTES;
use crate::text::{rows, Field, Row, TextError};
use lightloom_engine::{config, Flows, Refusal};
use std::borrow::Cow;
use std::fmt::Write;

const COLUMNS: [&str; 5] = ["src", "dst", "bytes", "arrival_ps", "group"];
const REQUIRED: usize = 4;
const IGNORED: [&str; 4] = ["flow", "start_ps", "finish_ps", "hops"];
const HEADING: &str = "begin with the heading src,dst,bytes,arrival_ps";

/// Reads a CSV trace; `name` is what errors call it.
///
/// # Errors
/// The line and column of the first thing wrong.
pub fn read_csv(text: &str, name: &str) -> Result<Flows, TextError> {
    read(text, name, u32::MAX)
}

pub(super) fn read(text: &str, name: &str, hosts: u32) -> Result<Flows, TextError> {
    let mut rows = rows(name, text);
    let Some(heading) = rows.next() else {
        return Err(TextError::whole(name, "is empty", HEADING));
    };
    let (places, width) = places(heading)?;
    let mut flows = Builder::new(hosts);
    let mut cells = Vec::with_capacity(width);
    for row in rows {
        cells.clear();
        cells.extend(row.cells());
        if cells.len() != width {
            let problem = format!("has {} values, the heading {width}", cells.len());
            return Err(row.error(problem, "give one value for each column"));
        }
        add(&cells, &places, &mut flows)?;
    }
    match flows.is_empty() {
        true => Err(TextError::whole(name, "has no flows", "add some")),
        false => Ok(flows.finish()),
    }
}

/// Where each of [`COLUMNS`] stands, and how many columns there are.
fn places(heading: Row) -> Result<([Option<usize>; 5], usize), TextError> {
    let mut places = [None; 5];
    let mut width = 0;
    for (at, cell) in heading.cells().enumerate() {
        width = at + 1;
        let title = cell.unquoted();
        if IGNORED.contains(&title) {
            continue;
        }
        let Some(column) = COLUMNS.iter().position(|c| *c == title) else {
            let remedy = match cell.text.starts_with(|c: char| c.is_ascii_digit()) {
                true => HEADING.to_owned(),
                false => config::nearest(title, &COLUMNS),
            };
            return Err(cell.error(format!("{} is not a column", cell.shown()), remedy));
        };
        if places[column].replace(at).is_some() {
            return Err(cell.error(format!("{title} is there twice"), "remove one"));
        }
    }
    match (0..REQUIRED).find(|&c| places[c].is_none()) {
        Some(c) => Err(heading.error(format!("has no column {}", COLUMNS[c]), HEADING)),
        None => Ok((places, width)),
    }
}

fn add(cells: &[Field], places: &[Option<usize>; 5], flows: &mut Builder) -> Result<(), TextError> {
    let cell = |column: usize| places[column].map(|at| cells[at]);
    let number = |column: usize, max: u64| match cell(column) {
        Some(field) => field.whole(COLUMNS[column], 0..=max),
        None => Ok(0),
    };
    let host = u32::MAX as u64;
    let (src, dst) = (number(0, host)? as u32, number(1, host)? as u32);
    let bytes = number(2, MAX_BYTES)?;
    let arrival = number(3, MAX_ARRIVAL.0 as u64)? as i64;
    let group = cell(4).map_or(Ok(Cow::Borrowed("")), unquote)?;
    flows.push(src, dst, bytes, arrival, &group).map_err(|bad| {
        let column = COLUMNS.iter().position(|c| *c == bad.column);
        let field = column.and_then(cell).unwrap_or(cells[0]);
        field.error(bad.problem, bad.remedy)
    })
}

/// A value between double quotes, in which two of them stand for one.
fn unquote(cell: Field) -> Result<Cow<str>, TextError> {
    if !cell.text.contains('"') {
        return Ok(Cow::Borrowed(cell.text));
    }
    let inner = cell
        .text
        .strip_prefix('"')
        .and_then(|t| t.strip_suffix('"'))
        .map(|t| t.replace("\"\"", "\u{0}"));
    match inner {
        Some(text) if !text.contains('"') => Ok(Cow::Owned(text.replace('\u{0}', "\""))),
        _ => Err(cell.error(
            format!("{} has a quote out of place", cell.shown()),
            "write \"…\" around the whole value, and \"\" for a quote inside",
        )),
    }
}

/// Writes a CSV trace, with a column `group` if any flow is in a named one.
///
/// # Errors
/// If flows wait for others.
pub fn write_csv(flows: &Flows) -> Result<String, Refusal> {
    open_loop(flows, OpenLoop::Sized)?;
    let named = flows.group.iter().any(|&g| g != 0);
    let mut out = String::from("src,dst,bytes,arrival_ps");
    out.push_str(if named { ",group\n" } else { "\n" });
    let groups: Vec<String> = flows.groups.iter().map(|g| quote(g)).collect();
    for i in 0..flows.len() {
        let (src, dst) = (flows.src[i].0, flows.dst[i].0);
        let (bytes, arrival) = (flows.bytes[i], flows.arrival[i].0);
        let _ = write!(out, "{src},{dst},{bytes},{arrival}");
        if named {
            let _ = write!(out, ",{}", groups[flows.group[i] as usize]);
        }
        out.push('\n');
    }
    Ok(out)
}

fn quote(name: &str) -> String {
    match name.contains([',', '"']) || name.trim() != name {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_engine::{HostId, Time};

    fn bad(text: &str) -> String {
        read(text, "t.csv", 4).unwrap_err().to_string()
    }

    #[test]
    fn csv() {
        let text = "# made by hand\r\narrival_ps, group,bytes,dst,src,hops\r\n\
                    9,\"a \"\"b\"\"\",10,1,0,2.0\r\n5,,20,2,3,\r\n";
        let flows = read_csv(text, "t.csv").unwrap();
        assert_eq!(flows.src, [HostId(3), HostId(0)]);
        assert_eq!(flows.dst, [HostId(2), HostId(1)]);
        assert_eq!(flows.bytes, [20, 10]);
        assert_eq!(flows.arrival, [Time(5), Time(9)]);
        assert_eq!(flows.groups, ["", "a \"b\""]);
        assert_eq!(flows.group, [0, 1]);
        assert_eq!(
            write_csv(&flows).unwrap(),
            "src,dst,bytes,arrival_ps,group\n3,2,20,5,\n0,1,10,9,\"a \"\"b\"\"\"\n"
        );
    }

    #[test]
    fn errors_name_line_column_and_remedy() {
        let head = "src,dst,bytes,arrival_ps\n";
        let row = |row: &str| bad(&format!("{head}0,1,5,0\n{row}\n"));
        assert_eq!(
            row("0, 1, 5x, 0"),
            "t.csv, line 3, column 7: bytes is `5x`, not a whole number; write bytes as digits"
        );
        assert_eq!(
            row("0,4,5,0"),
            "t.csv, line 3, column 3: dst is 4, the last host is 3; \
             correct it, or enlarge the cluster"
        );
        assert!(row("0,1,0,0").starts_with("t.csv, line 3, column 5: bytes is 0, outside 1"));
        assert!(row("2,2,1,0").starts_with("t.csv, line 3, column 3: host 2 sends to itself"));
        assert!(row("0,1,5,-3").contains("column 7: arrival_ps is `-3`, not a whole number"));
        assert!(row("0,1,5,9223372036854775807").contains("column 7: arrival_ps is `9223"));
        assert!(row("0,1,5").starts_with("t.csv, line 3: has 3 values, the heading 4"));
        assert!(bad(head).starts_with("t.csv: has no flows"));
        assert!(bad("").starts_with("t.csv: is empty"));
        assert!(bad("0,1,5,0\n").ends_with(HEADING));
        assert!(bad("src,dst,byts,arrival_ps\n").ends_with("did you mean \"bytes\"?"));
        assert!(bad("src,dst,bytes\n").starts_with("t.csv, line 1: has no column arrival_ps"));
        assert!(bad("src,src,dst,bytes\n").contains("column 5: src is there twice"));
        let quote = format!("{}0,1,5,0,a\"b\n", head.replace('\n', ",group\n"));
        assert!(bad(&quote).contains("has a quote out of place"));
    }
}
