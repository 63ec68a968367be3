//! Flows from columns, checked row by row; all readers use this.

use crate::arrivals::MAX_ARRIVAL;
use crate::memory::check_memory;
use crate::sizes::MAX_BYTES;
use lightloom_engine::{Dependencies, Flows, HostId, Refusal, Time};
use std::collections::BTreeMap;

/// Columns of a flow table, all of the same length.
#[derive(Clone, Copy, Debug, Default)]
pub struct Columns<'a> {
    /// Source hosts.
    pub src: &'a [u32],
    /// Destination hosts.
    pub dst: &'a [u32],
    /// Sizes [B], at least 1.
    pub bytes: &'a [u64],
    /// Arrivals [ps], from 0.
    pub arrival_ps: &'a [i64],
    /// Indices into `groups`; empty if all flows are in the unnamed group.
    pub group: &'a [u16],
    /// Names of the groups.
    pub groups: &'a [String],
}

/// The flows of `columns` between hosts 0 to `hosts` - 1, sorted by arrival.
///
/// # Errors
/// The first row, as `workload.trace = row k`, that is not a flow.
pub fn from_columns(columns: &Columns, hosts: u32) -> Result<Flows, Refusal> {
    let rows = columns.src.len();
    let refuse = |value: String, limit: String, remedy: &str| {
        Err(Refusal::new("workload.trace", value, limit, remedy))
    };
    for (name, length) in [
        ("dst", columns.dst.len()),
        ("bytes", columns.bytes.len()),
        ("arrival_ps", columns.arrival_ps.len()),
        ("group", columns.group.len()),
    ] {
        if length != rows && !(name == "group" && length == 0) {
            let limit = format!("{name} has {length} rows, src has {rows}");
            return refuse("columns".to_owned(), limit, "give columns of equal length");
        }
    }
    if rows == 0 {
        return refuse("0 rows".to_owned(), "has no flows".to_owned(), "add some");
    }
    check_memory("workload.trace", rows as u64)?;
    let mut builder = Builder::new(hosts);
    for row in 0..rows {
        let code = columns.group.get(row).copied();
        let group = match code.map(|c| columns.groups.get(c as usize)) {
            None => "",
            Some(Some(name)) => name,
            Some(None) => {
                let limit = format!("group {} has no name", code.unwrap_or(0));
                return refuse(format!("row {row}"), limit, "name every group");
            }
        };
        let (src, dst) = (columns.src[row], columns.dst[row]);
        let (bytes, arrival) = (columns.bytes[row], columns.arrival_ps[row]);
        if let Err(bad) = builder.push(src, dst, bytes, arrival, group) {
            return refuse(format!("row {row}"), bad.problem, bad.remedy);
        }
    }
    Ok(builder.finish())
}

/// The column of a row that is wrong, and the reason.
#[derive(Debug)]
pub(crate) struct BadRow {
    pub column: &'static str,
    pub problem: String,
    pub remedy: &'static str,
}

/// Collects checked flows.
pub(crate) struct Builder {
    flows: Flows,
    hosts: u32,
    codes: BTreeMap<String, u16>,
}

impl Builder {
    pub fn new(hosts: u32) -> Builder {
        Builder {
            flows: Flows::new(),
            hosts,
            codes: BTreeMap::from([(String::new(), 0)]),
        }
    }

    pub fn push(
        &mut self,
        src: u32,
        dst: u32,
        bytes: u64,
        arrival: i64,
        group: &str,
    ) -> Result<(), BadRow> {
        self.push_with(src, dst, Some(bytes), Some(arrival), group)
    }

    /// Adds a flow that may send until the end of the run (no `bytes`), and may wait for others (no
    /// `arrival`).
    pub fn push_with(
        &mut self,
        src: u32,
        dst: u32,
        bytes: Option<u64>,
        arrival: Option<i64>,
        group: &str,
    ) -> Result<(), BadRow> {
        self.check(src, dst, bytes, arrival)?;
        let code = self.code(group)?;
        let arrival = arrival.map_or(Time::NEVER, Time);
        self.flows
            .push(HostId(src), HostId(dst), bytes.unwrap_or(0), arrival);
        if let Some(last) = self.flows.group.last_mut() {
            *last = code;
        }
        Ok(())
    }

    fn check(
        &self,
        src: u32,
        dst: u32,
        bytes: Option<u64>,
        arrival: Option<i64>,
    ) -> Result<(), BadRow> {
        let bad = |column, problem, remedy| {
            Err(BadRow {
                column,
                problem,
                remedy,
            })
        };
        for (column, host) in [("src", src), ("dst", dst)] {
            if host >= self.hosts {
                let problem = format!("{column} is {host}, the last host is {}", self.hosts - 1);
                return bad(column, problem, "correct it, or enlarge the cluster");
            }
        }
        if src == dst {
            let problem = format!("host {src} sends to itself");
            return bad("dst", problem, "remove the flow");
        }
        if let Some(bytes) = bytes.filter(|b| !(1..=MAX_BYTES).contains(b)) {
            let problem = format!("bytes is {bytes}, outside 1 to {MAX_BYTES}");
            return bad("bytes", problem, "correct bytes");
        }
        if let Some(arrival) = arrival.filter(|at| !(0..=MAX_ARRIVAL.0).contains(at)) {
            let problem = format!("arrival is {arrival} ps, outside 0 to {}", MAX_ARRIVAL.0);
            return bad("arrival_ps", problem, "correct the arrival");
        }
        Ok(())
    }

    fn code(&mut self, group: &str) -> Result<u16, BadRow> {
        if let Some(&code) = self.codes.get(group) {
            return Ok(code);
        }
        let bad = |problem: &str, remedy| BadRow {
            column: "group",
            problem: problem.to_owned(),
            remedy,
        };
        if group.chars().any(char::is_control) {
            return Err(bad("the group's name has a control character", "rename it"));
        }
        let code = u16::try_from(self.codes.len())
            .map_err(|_| bad("there are more than 65,536 groups", "merge some"))?;
        self.codes.insert(group.to_owned(), code);
        self.flows.groups.push(group.to_owned());
        Ok(code)
    }

    pub fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    pub fn len(&self) -> usize {
        self.flows.len()
    }

    pub fn finish(mut self) -> Flows {
        self.flows.sort_by_arrival();
        self.flows
    }

    /// The flows in the order in which they were added; some of them wait for others.
    pub fn finish_with(self, after: Dependencies) -> Flows {
        Flows {
            after,
            ..self.flows
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: Columns = Columns {
        src: &[0, 3],
        dst: &[1, 2],
        bytes: &[10, 20],
        arrival_ps: &[7, 5],
        group: &[],
        groups: &[],
    };

    #[test]
    fn columns_become_sorted_flows() {
        let names = ["ring".to_owned(), String::new()];
        let columns = Columns {
            group: &[0, 1],
            groups: &names,
            ..GOOD
        };
        let flows = from_columns(&columns, 4).unwrap();
        assert_eq!(flows.arrival, [Time(5), Time(7)]);
        assert_eq!(flows.src, [HostId(3), HostId(0)]);
        assert_eq!(flows.groups, ["", "ring"]);
        assert_eq!(flows.group, [0, 1]);
        assert_eq!(from_columns(&GOOD, 4).unwrap().group, [0, 0]);
    }

    #[test]
    fn bad_rows_are_named() {
        let bad = |c: Columns, hosts| from_columns(&c, hosts).unwrap_err().to_string();
        assert_eq!(
            bad(GOOD, 3),
            "workload.trace = row 1: src is 3, the last host is 2; \
             correct it, or enlarge the cluster"
        );
        let b = |bytes: &[u64]| bad(Columns { bytes, ..GOOD }, 4);
        assert!(b(&[1, 0]).starts_with("workload.trace = row 1: bytes is 0"));
        assert!(b(&[1]).contains("bytes has 1 rows, src has 2"));
        let a = |arrival_ps: &[i64]| bad(Columns { arrival_ps, ..GOOD }, 4);
        assert!(a(&[-1, 0]).starts_with("workload.trace = row 0: arrival is -1 ps"));
        assert!(a(&[0, i64::MAX]).starts_with("workload.trace = row 1: arrival"));
        let d = |dst: &[u32]| bad(Columns { dst, ..GOOD }, 4);
        assert!(d(&[0, 1]).contains("host 0 sends to itself"));
        let g = |group: &[u16]| bad(Columns { group, ..GOOD }, 4);
        assert!(g(&[0, 0]).contains("group 0 has no name"));
        assert!(bad(Columns::default(), 4).contains("has no flows"));
    }
}
