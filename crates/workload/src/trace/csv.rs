//! `src,dst,bytes,arrival_ps[,group]` with a heading, columns in any order. Arrivals may be in
//! another unit, which the end of the column's name states: `arrival_us`.
//!
//! The columns that a run adds to its flow table (`flow`, `start_ps`, `finish_ps`, `hops`) are
//! ignored, so that the table of one run is a trace for another.

use super::columns::Builder;
use super::form::{Form, Unit};
use super::{open_loop, OpenLoop};
use crate::sizes::MAX_BYTES;
use crate::text::{rows, Field, Row, TextError};
use crate::times::picoseconds;
use lightloom_engine::{config, Flows, Refusal};
use std::borrow::Cow;
use std::fmt::Write;

const COLUMNS: [&str; 5] = ["src", "dst", "bytes", "arrival_ps", "group"];
const REQUIRED: usize = 4;
const ARRIVAL: usize = 3;
const ARRIVALS: [&str; 5] = [
    "arrival_ps",
    "arrival_ns",
    "arrival_us",
    "arrival_ms",
    "arrival_s",
];
const IGNORED: [&str; 4] = ["flow", "start_ps", "finish_ps", "hops"];
const HEADING: &str =
    "begin with the heading src,dst,bytes,arrival_ps (or arrival_ns, arrival_us, arrival_ms, arrival_s)";
/// Beginnings of column names in other tools.
const ALIKE: [&[&str]; REQUIRED] = [
    &["source", "src", "from", "sender"],
    &["destination", "dest", "dst", "to", "receiver"],
    &["size", "byte", "length", "volume", "flow_size"],
    &["arrival", "start", "time", "timestamp"],
];

/// The index of each of [`COLUMNS`], the number of columns, and the decimals of arrivals down to a
/// picosecond.
struct Layout {
    places: [Option<usize>; 5],
    width: usize,
    decimals: usize,
}

/// An error in the heading.
struct Problem<'a> {
    /// The cell; `None` for the heading as a whole.
    cell: Option<Field<'a>>,
    problem: String,
    remedy: String,
}

/// Reads a CSV trace; `name` is the file's name in errors.
///
/// # Errors
/// With line and column of the first error.
pub fn read_csv(text: &str, name: &str) -> Result<Flows, TextError> {
    read(text, name, u32::MAX, &Form::default())
}

pub(super) fn read(text: &str, name: &str, hosts: u32, form: &Form) -> Result<Flows, TextError> {
    let mut rows = rows(name, text);
    let Some(heading) = rows.next() else {
        return Err(TextError::whole(name, "is empty", HEADING));
    };
    let layout = layout(heading, form)?;
    let width = layout.width;
    let mut flows = Builder::new(hosts);
    let mut cells = Vec::with_capacity(width);
    for row in rows {
        cells.clear();
        cells.extend(row.cells());
        if cells.len() != width {
            let problem = format!("has {} values, the heading {width}", cells.len());
            return Err(row.error(problem, "give one value for each column"));
        }
        add(&cells, &layout, form, &mut flows)?;
    }
    match flows.is_empty() {
        true => Err(TextError::whole(name, "has no flows", "add some")),
        false => Ok(flows.finish()),
    }
}

/// The layout of a heading.
fn layout(heading: Row, form: &Form) -> Result<Layout, TextError> {
    let named = form.columns.map(|c| c.named()).unwrap_or_default();
    let mut places = [None; 5];
    let mut problems: Vec<Problem> = Vec::new();
    let mut unit = None;
    let mut unknown: Vec<&str> = Vec::new();
    let mut width = 0;
    for (at, cell) in heading.cells().enumerate() {
        width = at + 1;
        let title = cell.unquoted();
        let Some(column) = column_of(title, &named) else {
            unknown.push(title);
            if !IGNORED.contains(&title) && form.columns.is_none() {
                problems.push(not_a_column(cell, title));
            }
            continue;
        };
        if column == ARRIVAL {
            unit = Unit::of_column(title);
        }
        if places[column].replace(at).is_some() {
            problems.push(Problem {
                cell: Some(cell),
                problem: format!("{title} is there twice"),
                remedy: "remove one".to_owned(),
            });
        }
    }
    let missing = (0..5).filter(|&c| places[c].is_none() && (c < REQUIRED || named[c].is_some()));
    for c in missing {
        let title = named[c].unwrap_or(COLUMNS[c]);
        problems.push(Problem {
            cell: None,
            problem: format!("has no column {title}"),
            remedy: match named[c] {
                None => HEADING.to_owned(),
                Some(_) => named_elsewhere(title, &unknown),
            },
        });
    }
    refused(heading, problems, &unknown, &named)?;
    let decimals = decimals(heading, unit, form)?;
    Ok(Layout {
        places,
        width,
        decimals,
    })
}

/// Suggests a name in the heading for a column that `trace_columns` names.
fn named_elsewhere(title: &str, unknown: &[&str]) -> String {
    match unknown {
        [] => "name one that the heading has in workload.trace_columns".to_owned(),
        _ => config::nearest(title, unknown),
    }
}

/// The column of [`COLUMNS`] for a title, by the given names or the default ones.
fn column_of(title: &str, named: &[Option<&str>; 5]) -> Option<usize> {
    (0..COLUMNS.len()).find(|&c| match named[c] {
        Some(name) => name == title,
        None if c == ARRIVAL => ARRIVALS.contains(&title),
        None => COLUMNS[c] == title,
    })
}

fn not_a_column<'a>(cell: Field<'a>, title: &str) -> Problem<'a> {
    Problem {
        cell: Some(cell),
        problem: format!("{} is not a column", cell.shown()),
        remedy: match cell.text.starts_with(|c: char| c.is_ascii_digit()) {
            true => HEADING.to_owned(),
            false => config::nearest(title, &COLUMNS),
        },
    }
}

/// The remedy for a column of arrivals that does not name its unit.
const WITH_UNIT: &str =
    "name its unit: arrival_ps, arrival_ns, arrival_us, arrival_ms or arrival_s";

/// All errors of a heading in one message; if there are several, with the names of columns that
/// would correct it.
fn refused(
    heading: Row,
    problems: Vec<Problem>,
    unknown: &[&str],
    named: &[Option<&str>; 5],
) -> Result<(), TextError> {
    let Some(first) = problems.first() else {
        return Ok(());
    };
    let no_heading = first.remedy == HEADING && first.cell.is_some();
    // A misspelt column is also missing; both are one error.
    let spelling = problems.len() == 2
        && problems[1].cell.is_none()
        && problems[1]
            .problem
            .strip_prefix("has no column ")
            .is_some_and(|missing| first.remedy == format!("did you mean \"{missing}\"?"));
    if problems.len() == 1 || no_heading || spelling {
        let without_unit = first.cell.is_some_and(|cell| cell.text.trim() == "arrival");
        let remedy = match without_unit {
            true => WITH_UNIT.to_owned(),
            false => first.remedy.clone(),
        };
        return Err(match first.cell {
            Some(cell) => cell.error(first.problem.clone(), remedy),
            None => heading.error(first.problem.clone(), remedy),
        });
    }
    let all: Vec<&str> = problems.iter().map(|p| p.problem.as_str()).collect();
    let alike = |c: usize| {
        let missing = format!("has no column {}", named[c].unwrap_or(COLUMNS[c]));
        let there = unknown.iter().find(|title| {
            let small = title.to_ascii_lowercase();
            ALIKE[c].iter().any(|start| small.starts_with(start))
        });
        let key = ["src", "dst", "bytes", "arrival"][c];
        let wanted = problems.iter().any(|p| p.problem == missing);
        wanted.then(|| format!("{key} = \"{}\"", there.unwrap_or(&"NAME")))
    };
    let columns: Vec<String> = (0..REQUIRED).filter_map(alike).collect();
    let remedy = match columns.is_empty() {
        true => HEADING.to_owned(),
        false => format!("set workload.trace_columns = {{ {} }}", columns.join(", ")),
    };
    // If names are not found, the remedy lists the existing ones.
    let remedy = match named.iter().any(Option::is_some) && !unknown.is_empty() {
        true => format!("{remedy}, of the columns {}", unknown.join(", ")),
        false => remedy,
    };
    Err(heading.error(all.join(", "), remedy))
}

/// The decimals of arrivals, by the name of their column, or by the given unit.
fn decimals(heading: Row, named: Option<Unit>, form: &Form) -> Result<usize, TextError> {
    match (named, form.unit) {
        (Some(unit), None) => Ok(unit.places()),
        (None, Some(unit)) => Ok(unit.places()),
        (Some(unit), Some(given)) if unit == given => Ok(unit.places()),
        (Some(_), Some(_)) => Err(heading.error(
            "the column of arrivals has another unit in its name than trace_unit",
            "remove workload.trace_unit",
        )),
        (None, None) => Err(heading.error(
            "the column of arrivals has no unit",
            "set workload.trace_unit to \"ps\", \"ns\", \"us\", \"ms\" or \"s\"",
        )),
    }
}

fn add(
    cells: &[Field],
    layout: &Layout,
    form: &Form,
    flows: &mut Builder,
) -> Result<(), TextError> {
    let cell = |column: usize| layout.places[column].map(|at| cells[at]);
    let host = |column: usize| {
        let field = cell(column).map(|field| form.host(field, COLUMNS[column]));
        field.unwrap_or(Ok(0))
    };
    let (src, dst) = (host(0)?, host(1)?);
    let bytes = cell(2).map_or(Ok(0), |field| field.whole(COLUMNS[2], 0..=MAX_BYTES))?;
    let arrival = match (cell(ARRIVAL), layout.decimals) {
        (Some(field), 0) => picoseconds(field, COLUMNS[ARRIVAL], 0)?,
        (Some(field), decimals) => picoseconds(field, "the arrival", decimals)?,
        (None, _) => 0,
    };
    let group = cell(4).map_or(Ok(Cow::Borrowed("")), unquote)?;
    flows.push(src, dst, bytes, arrival, &group).map_err(|bad| {
        let column = COLUMNS.iter().position(|c| *c == bad.column);
        let field = column.and_then(cell).unwrap_or(cells[0]);
        field.error(bad.problem, bad.remedy)
    })
}

/// A value between double quotes, in which two quotes represent one.
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
/// If flows depend on others.
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
    use crate::trace::TraceColumns;
    use lightloom_engine::{HostId, Time};

    fn bad(text: &str) -> String {
        read(text, "t.csv", 4, &Form::default())
            .unwrap_err()
            .to_string()
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

    fn with(text: &str, columns: &TraceColumns, unit: Option<Unit>) -> Result<Flows, TextError> {
        let form = Form {
            unit,
            columns: Some(columns),
            ..Form::default()
        };
        read(text, "t.csv", 4, &form)
    }

    #[test]
    fn arrivals_have_the_unit_of_their_column() {
        for (unit, ps) in [
            ("ps", 1),
            ("ns", 1_000),
            ("us", 1_000_000),
            ("ms", 1_000_000_000),
        ] {
            let flows = read_csv(&format!("src,dst,bytes,arrival_{unit}\n0,1,5,7\n"), "t");
            assert_eq!(flows.unwrap().arrival, [Time(7 * ps)]);
        }
        let flows = read_csv("src,dst,bytes,arrival_s\n0,1,5,0.000000000003\n", "t").unwrap();
        assert_eq!(flows.arrival, [Time(3)]);
        let text = "src,dst,bytes,arrival_s\n0,1,5,1.2500001E-5\n1,0,5,1e9\n";
        assert!(bad(text).contains("line 3, column 7: the arrival is `1e9`, outside 0 to 4611686"));
        let text = text.replace("1e9", "1e3");
        let flows = read_csv(&text, "t").unwrap();
        assert_eq!(
            flows.arrival,
            [Time(12_500_001), Time(1_000_000_000_000_000)]
        );
        let flows = read_csv("src,dst,bytes,arrival_ps\n0,1,5,1e9\n", "t").unwrap();
        assert_eq!(flows.arrival, [Time(1_000_000_000)]);
        let e = bad("src,dst,bytes,arrival_ns\n0,1,5,0.0001\n");
        assert!(e.contains("finer than a picosecond"), "{e}");
    }

    #[test]
    fn columns_are_named() {
        let columns = TraceColumns {
            src: Some("source".to_owned()),
            arrival: Some("start_us".to_owned()),
            ..TraceColumns::default()
        };
        let text = "id,source,dst,bytes,start_us\n9,3,2,20,1.5\n9,0,1,10,0\n";
        let flows = with(text, &columns, None).unwrap();
        assert_eq!(flows.src, [HostId(0), HostId(3)]);
        assert_eq!(flows.arrival, [Time(0), Time(1_500_000)]);
        let start = TraceColumns {
            arrival: Some("start".to_owned()),
            ..TraceColumns::default()
        };
        let text = "src,dst,bytes,start\n0,1,5,2\n";
        let e = with(text, &start, None).unwrap_err().to_string();
        assert!(e.contains("has no unit; set workload.trace_unit"), "{e}");
        let flows = with(text, &start, Some(Unit::Ms)).unwrap();
        assert_eq!(flows.arrival, [Time(2_000_000_000)]);
        let e = with("src,dst,bytes\n", &start, None).unwrap_err();
        assert!(e.to_string().contains("has no column start"), "{e}");
    }

    #[test]
    fn all_that_is_wrong_with_a_heading_is_one_message() {
        assert_eq!(
            bad("source,destination,size,start_us\n0,1,5,0\n"),
            "t.csv, line 1: `source` is not a column, `destination` is not a column, `size` is \
             not a column, `start_us` is not a column, has no column src, has no column dst, has \
             no column bytes, has no column arrival_ps; set workload.trace_columns = { src = \
             \"source\", dst = \"destination\", bytes = \"size\", arrival = \"start_us\" }"
        );
    }

    #[test]
    fn names_that_are_not_there_call_for_those_that_are() {
        let columns = TraceColumns {
            src: Some("a".to_owned()),
            dst: Some("b".to_owned()),
            arrival: Some("t_us".to_owned()),
            ..TraceColumns::default()
        };
        let e = with("from,to,bytes,when\n0,1,5,0\n", &columns, None).unwrap_err();
        assert_eq!(
            e.to_string(),
            "t.csv, line 1: has no column a, has no column b, has no column t_us; set \
             workload.trace_columns = { src = \"from\", dst = \"to\", arrival = \"NAME\" }, of \
             the columns from, to, when"
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
        assert!(row("0,1,5,-3").contains(
            "column 7: arrival_ps is `-3`, not a number from 0 on; write arrival_ps as digits"
        ));
        assert!(row("0,1,5,9223372036854775807").contains("column 7: arrival_ps is `9223"));
        assert!(row("0,1,5").starts_with("t.csv, line 3: has 3 values, the heading 4"));
        assert!(bad(head).starts_with("t.csv: has no flows"));
        assert!(bad("").starts_with("t.csv: is empty"));
        assert!(bad("0,1,5,0\n").ends_with(HEADING));
        assert!(bad("src,dst,byts,arrival_ps\n").ends_with("did you mean \"bytes\"?"));
        assert!(bad("src,dst,bytes,arrival\n").ends_with(WITH_UNIT));
        assert!(bad("src,dst,bytes\n").starts_with("t.csv, line 1: has no column arrival_ps"));
        assert!(bad("src,src,dst,bytes\n")
            .contains("src is there twice, has no column arrival_ps; set"));
        let quote = format!("{}0,1,5,0,a\"b\n", head.replace('\n', ",group\n"));
        assert!(bad(&quote).contains("has a quote out of place"));
    }
}
