//! htsim's connection matrix (`.cm`), as its `connection_matrix.cpp` and `trigger.cpp`
//! read and play it (github.com/Broadcom/csg-htsim):
//!
//! ```text
//! Nodes 16
//! Connections 3
//! Triggers 1
//! 0->1 id 1 start 0 size 1000 send_done_trigger 1
//! 3->2 id 2 trigger 1 size 250000
//! 4->5 id 3 start 2.5 size 0
//! trigger id 1 oneshot
//! ```
//!
//! `start` is in picoseconds unless a unit is given, with or without decimals; fractions of a
//! picosecond are cut off. (csg-htsim reads picoseconds; uet-htsim reads microseconds, as its
//! writer writes them, rounded to 24 bits, which is not done here.) `size` is in bytes; 0 is a flow
//! that sends until the end of the run. `id` and `prio` are ignored: flows are numbered by their
//! rows, and no fabric here has priorities. Failures are refused, because they refer to htsim's own
//! topologies.
//!
//! Triggers are in [`triggers`].

mod connection;
mod triggers;

use super::columns::Builder;
use super::form::Unit;
use super::{open_loop, OpenLoop};
use crate::text::{rows, Field, Row, TextError};
use connection::Connection;
use lightloom_engine::{Flows, Refusal};
use std::fmt::Write;
use triggers::Triggers;

const LINE: &str = "write it like `0->1 id 1 start 0 size 1000`";

/// Reads htsim's connection matrix; `name` is the file's name in errors.
///
/// # Errors
/// With line and column of the first error.
pub fn read_cm(text: &str, name: &str) -> Result<Flows, TextError> {
    read(text, name, u32::MAX, None)
}

/// A line that declares a number.
#[derive(Clone, Copy)]
struct Declared<'a> {
    field: Field<'a>,
    value: u64,
}

/// The headings that were read.
#[derive(Default)]
struct Headings<'a> {
    nodes: Option<Declared<'a>>,
    connections: Option<Declared<'a>>,
    triggers: Option<Declared<'a>>,
}

pub(super) fn read(
    text: &str,
    name: &str,
    hosts: u32,
    unit: Option<Unit>,
) -> Result<Flows, TextError> {
    let places = unit.unwrap_or(Unit::Ps).places();
    let mut headings = Headings::default();
    let mut flows: Option<Builder> = None;
    let mut triggers = Triggers::new(name);
    for row in rows(name, text) {
        let Some(first) = row.words().next() else {
            continue;
        };
        match first.text {
            "Nodes" => declare(row, &mut headings.nodes, u32::MAX as u64)?,
            "Connections" => declare(row, &mut headings.connections, u64::MAX)?,
            "Triggers" => declare(row, &mut headings.triggers, u64::MAX)?,
            "Failures" => no_failures(row)?,
            "trigger" => triggers.declare(row)?,
            _ => {
                let flows = match &mut flows {
                    Some(flows) => flows,
                    None => flows.insert(Builder::new(limit(row, headings.nodes, hosts)?)),
                };
                let connection = Connection::read(row, first)?;
                triggers.name(&connection, flows.len() as u32)?;
                connection.push(flows, places)?;
            }
        }
    }
    let found = flows.as_ref().map_or(0, Builder::len) as u64;
    headings.check(found, &triggers, name)?;
    let flows = flows.ok_or_else(|| TextError::whole(name, "has no flows", "add some"))?;
    match triggers.graph(flows.len())? {
        None => Ok(flows.finish()),
        Some(after) => Ok(flows.finish_with(after)),
    }
}

impl Headings<'_> {
    /// Refuses a file whose contents contradict its headings.
    fn check(&self, connections: u64, triggers: &Triggers, name: &str) -> Result<(), TextError> {
        match self.connections {
            None => Err(TextError::whole(
                name,
                "has no line with the number of connections",
                "add a line `Connections M` after `Nodes N`",
            )),
            Some(declared) => declared.check(connections, "connections"),
        }?;
        match (self.triggers, triggers.len()) {
            (None, 0) => Ok(()),
            (None, found) => Err(TextError::whole(
                name,
                format!("has no line with the number of triggers, {found}"),
                format!("add a line `Triggers {found}` after `Connections M`"),
            )),
            (Some(declared), found) => declared.check(found, "triggers"),
        }
    }
}

impl Declared<'_> {
    fn check(self, found: u64, what: &str) -> Result<(), TextError> {
        match self.value == found {
            true => Ok(()),
            false => Err(self.field.error(
                format!("declares {} {what}, the file has {found}", self.value),
                "correct the number, or complete the file",
            )),
        }
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

/// Refuses failures, unless their number is 0.
fn no_failures(row: Row) -> Result<(), TextError> {
    let (title, field) = one_value(row)?;
    match field.whole(title.text, 0..=u64::MAX)? {
        0 => Ok(()),
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

/// The number of hosts that a connection may name: those of the cluster and of the file.
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

/// Writes htsim's connection matrix for `nodes` nodes; ids count from 1. Groups
/// are left out.
///
/// # Errors
/// If flows depend on others.
pub fn write_cm(flows: &Flows, nodes: u32) -> Result<String, Refusal> {
    open_loop(flows, OpenLoop::EndlessToo)?;
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
mod tests;
