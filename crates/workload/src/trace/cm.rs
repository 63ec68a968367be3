//! htsim's connection matrix (`.cm`):
//!
//! ```text
//! Nodes 16
//! Connections 2
//! 0->1 id 1 start 0 size 1000
//! 3->2 id 2 start 5000000 size 250000
//! ```
//!
//! `start` is in picoseconds, `size` in bytes. `id` and `prio` are read and
//! ignored: flows are numbered by arrival, and no fabric here knows priorities.
//! Triggers make a flow wait for another, which a trace does not hold: a file
//! that uses them is refused, never read in part.

use super::columns::Builder;
use super::open_loop;
use crate::arrivals::MAX_ARRIVAL;
use crate::sizes::MAX_BYTES;
use crate::text::{rows, Field, Row, TextError};
use lightloom_engine::{config, Flows, Refusal};
use std::fmt::Write;

const TOKENS: [&str; 4] = ["id", "start", "size", "prio"];
const TRIGGERS: [&str; 3] = ["trigger", "send_done_trigger", "recv_done_trigger"];
const LINE: &str = "write it like `0->1 id 1 start 0 size 1000`";

/// Reads htsim's connection matrix; `name` is what errors call it.
///
/// # Errors
/// The line and column of the first thing wrong.
pub fn read_cm(text: &str, name: &str) -> Result<Flows, TextError> {
    read(text, name, u32::MAX)
}

/// A line that declares a number.
#[derive(Clone, Copy)]
struct Declared<'a> {
    field: Field<'a>,
    value: u64,
}

pub(super) fn read(text: &str, name: &str, hosts: u32) -> Result<Flows, TextError> {
    let (mut nodes, mut connections) = (None, None);
    let mut flows: Option<Builder> = None;
    for row in rows(name, text) {
        let Some(first) = row.words().next() else {
            continue;
        };
        match first.text {
            "Nodes" => declare(row, &mut nodes, u32::MAX as u64)?,
            "Connections" => declare(row, &mut connections, u64::MAX)?,
            "Triggers" | "Failures" => none(row)?,
            word if TRIGGERS.contains(&word) => return Err(triggered(first)),
            _ => {
                let flows = match &mut flows {
                    Some(flows) => flows,
                    None => flows.insert(Builder::new(limit(row, nodes, hosts)?)),
                };
                connection(row, first, flows)?;
            }
        }
    }
    let found = flows.as_ref().map_or(0, Builder::len) as u64;
    match (connections, flows) {
        (None, _) => Err(TextError::whole(
            name,
            "does not say how many connections it has",
            "add a line `Connections M` after `Nodes N`",
        )),
        (Some(c), _) if c.value != found => Err(c.field.error(
            format!("declares {} connections, the file has {found}", c.value),
            "correct the number, or complete the file",
        )),
        (_, None) => Err(TextError::whole(name, "has no flows", "add some")),
        (_, Some(flows)) => Ok(flows.finish()),
    }
}

fn declare<'a>(
    row: Row<'a>,
    declared: &mut Option<Declared<'a>>,
    max: u64,
) -> Result<(), TextError> {
    let (title, field) = one_value(row)?;
    let value = field.whole(title.text, 0..=max)?;
    match declared.replace(Declared { field, value }) {
        None => Ok(()),
        Some(_) => Err(title.error(format!("{} is there twice", title.text), "remove one")),
    }
}

/// A feature that is accepted only where it is not used.
fn none(row: Row) -> Result<(), TextError> {
    let (title, field) = one_value(row)?;
    match field.whole(title.text, 0..=u64::MAX)? {
        0 => Ok(()),
        _ if title.text == "Triggers" => Err(triggered(title)),
        _ => Err(title.error(
            "failures are not part of a trace",
            "remove them, and add [[fault]] tables to the experiment",
        )),
    }
}

fn one_value(row: Row) -> Result<(Field, Field), TextError> {
    let words: Vec<Field> = row.words().collect();
    match words[..] {
        [title, value] => Ok((title, value)),
        _ => Err(row.error(
            format!("has {} words, not a name and a number", words.len()),
            "write it like `Nodes 16`",
        )),
    }
}

fn triggered(at: Field) -> TextError {
    at.error(
        "triggers make flows wait for others, which a trace does not hold",
        "remove the triggers and give every flow its start",
    )
}

/// Hosts that a connection may name: those of the cluster and of the file.
fn limit(row: Row, nodes: Option<Declared>, hosts: u32) -> Result<u32, TextError> {
    match nodes {
        None => Err(row.error(
            "a connection before the number of nodes",
            "begin with a line `Nodes N`",
        )),
        Some(n) if n.value == 0 => Err(n.field.error("declares no nodes", "correct it")),
        Some(n) if n.value > hosts as u64 => Err(n.field.error(
            format!(
                "declares {} nodes, and the cluster has {hosts} servers",
                n.value
            ),
            "raise cluster.racks or cluster.servers_per_rack, or declare as many as send",
        )),
        Some(n) => Ok(n.value as u32),
    }
}

fn connection(row: Row, ends: Field, flows: &mut Builder) -> Result<(), TextError> {
    let (src, dst) = self::ends(ends)?;
    let mut given: [Option<Field>; 4] = [None; 4];
    let mut words = row.words().skip(1);
    while let Some(word) = words.next() {
        let Some(token) = TOKENS.iter().position(|t| *t == word.text) else {
            let problem = format!("{} is not part of a connection", word.shown());
            return Err(match TRIGGERS.contains(&word.text) {
                true => triggered(word),
                false => word.error(problem, config::nearest(word.text, &TOKENS)),
            });
        };
        let value = words
            .next()
            .ok_or_else(|| row.end().error(format!("{} has no value", word.text), LINE))?;
        if given[token].replace(value).is_some() {
            return Err(word.error(format!("{} is there twice", word.text), "remove one"));
        }
    }
    let value = |token: usize, max: u64| match given[token] {
        Some(field) => field.whole(TOKENS[token], 0..=max),
        None => Err(row.end().error(format!("has no {}", TOKENS[token]), LINE)),
    };
    let start = value(1, MAX_ARRIVAL.0 as u64)? as i64;
    let bytes = value(2, MAX_BYTES)?;
    let host = |field: Field| field.whole("host", 0..=u32::MAX as u64);
    let (from, to) = (host(src)? as u32, host(dst)? as u32);
    flows.push(from, to, bytes, start, "").map_err(|bad| {
        let field = match bad.column {
            "src" => src,
            "bytes" => given[2].unwrap_or(ends),
            "arrival_ps" => given[1].unwrap_or(ends),
            _ => dst,
        };
        field.error(bad.problem, bad.remedy)
    })
}

fn ends(word: Field) -> Result<(Field, Field), TextError> {
    let arrow = word.text.find("->").ok_or_else(|| {
        word.error(
            format!("{} is neither a heading nor a connection", word.shown()),
            LINE,
        )
    })?;
    Ok((word.part(0, arrow), word.part(arrow + 2, word.text.len())))
}

/// Writes htsim's connection matrix for `nodes` nodes; ids count from 1. Groups
/// are left out.
///
/// # Errors
/// If flows wait for others.
pub fn write_cm(flows: &Flows, nodes: u32) -> Result<String, Refusal> {
    open_loop(flows)?;
    let mut out = format!("Nodes {nodes}\nConnections {}\n", flows.len());
    for i in 0..flows.len() {
        let (src, dst) = (flows.src[i].0, flows.dst[i].0);
        let (bytes, start) = (flows.bytes[i], flows.arrival[i].0);
        let id = i + 1;
        let _ = writeln!(out, "{src}->{dst} id {id} start {start} size {bytes}");
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_engine::{HostId, Time};

    #[test]
    fn cm() {
        let text = "Nodes 16\nConnections 2\nTriggers 0\n\
                    3->2 id 7 start 5000000 size 250000 prio 1\n0->1 size 1000 start 0\n";
        let flows = read_cm(text, "t.cm").unwrap();
        assert_eq!(flows.src, [HostId(0), HostId(3)]);
        assert_eq!(flows.dst, [HostId(1), HostId(2)]);
        assert_eq!(flows.bytes, [1_000, 250_000]);
        assert_eq!(flows.arrival, [Time(0), Time(5_000_000)]);
        assert_eq!(
            write_cm(&flows, 16).unwrap(),
            "Nodes 16\nConnections 2\n0->1 id 1 start 0 size 1000\n\
             3->2 id 2 start 5000000 size 250000\n"
        );
    }

    #[test]
    fn errors_name_line_column_and_remedy() {
        let bad = |text: &str| read(text, "t.cm", 8).unwrap_err().to_string();
        let line = |line: &str| bad(&format!("Nodes 8\nConnections 1\n{line}\n"));
        assert_eq!(
            line("0->1 id 1 start x size 1"),
            "t.cm, line 3, column 17: start is `x`, not a whole number; write start as digits"
        );
        assert_eq!(
            line("0->1 id 1 trigger 2 size 1"),
            "t.cm, line 3, column 11: triggers make flows wait for others, which a trace does not \
             hold; remove the triggers and give every flow its start"
        );
        assert!(line("trigger id 1 oneshot").contains("triggers make flows wait"));
        assert!(line("0->8 start 0 size 1").contains("column 4: dst is 8, the last host is 7"));
        assert!(line("0-1 start 0 size 1").contains("neither a heading nor a connection"));
        assert!(line("0->1 start 0").contains("column 13: has no size"));
        assert!(line("0->1 start 0 size").contains("column 18: size has no value"));
        assert!(line("0->1 start 0 sizes 1").ends_with("did you mean \"size\"?"));
        assert!(line("0->1 start 0 start 1 size 1").contains("start is there twice"));
        assert!(line("0->1 start 0 size 0").contains("column 19: bytes is 0"));
        assert!(line("0->0 start 0 size 1").contains("column 4: host 0 sends to itself"));
        assert!(line("").contains("column 13: declares 1 connections, the file has 0"));
        let e = bad("Nodes 4\nConnections 99999999999\n0->1 start 0 size 1\n");
        assert!(e.contains("line 2, column 13: declares 99999999999"), "{e}");
        assert!(bad("Nodes 4\nConnections 1\n0->5 start 0 size 1\n").contains("last host is 3"));
        assert!(bad("0->1 start 0 size 1\n").contains("before the number of nodes"));
        assert!(bad("Nodes 4\nNodes 4\n").contains("Nodes is there twice"));
        assert!(bad("Nodes 4 4\n").contains("has 3 words"));
        assert!(bad("Nodes 4\nConnections 0\n").contains("has no flows"));
        assert!(bad("Nodes 4\n0->1 start 0 size 1\n").contains("how many connections"));
        assert!(bad("Failures 2\n").contains("[[fault]]"));
        assert_eq!(
            bad("Nodes 9\nConnections 1\n0->1 start 0 size 1\n"),
            "t.cm, line 1, column 7: declares 9 nodes, and the cluster has 8 servers; raise \
             cluster.racks or cluster.servers_per_rack, or declare as many as send"
        );
    }
}
