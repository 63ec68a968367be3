//! `src dst bytes start_ns`, separated by white space, one flow on each line. The start may have up
//! to three decimals, so that picoseconds are exact.

use super::columns::Builder;
use super::form::{Form, Unit};
use super::{open_loop, OpenLoop};
use crate::sizes::MAX_BYTES;
use crate::text::{rows, Field, TextError};
use crate::times::picoseconds;
use lightloom_engine::{Flows, Refusal};
use std::fmt::Write;

/// Reads `src dst bytes start_ns`; `name` is the file's name in errors.
///
/// # Errors
/// With line and column of the first error.
pub fn read_ns(text: &str, name: &str) -> Result<Flows, TextError> {
    read(text, name, u32::MAX, &Form::default())
}

pub(super) fn read(text: &str, name: &str, hosts: u32, form: &Form) -> Result<Flows, TextError> {
    let places = form.unit.unwrap_or(Unit::Ns).places();
    let title = form.unit.map_or("start_ns", |_| "the start");
    let mut flows = Builder::new(hosts);
    for row in rows(name, text) {
        let words: Vec<Field> = row.words().take(5).collect();
        let [src, dst, bytes, start] = words[..] else {
            let found = match words.len() {
                5 => "more than 4".to_owned(),
                n => n.to_string(),
            };
            return Err(row.error(
                format!("has {found} values instead of 4"),
                "write src dst bytes start_ns",
            ));
        };
        let (from, to) = (form.host(src, "src")?, form.host(dst, "dst")?);
        let size = bytes.whole("bytes", 0..=MAX_BYTES)?;
        let arrival = picoseconds(start, title, places)?;
        flows.push(from, to, size, arrival, "").map_err(|bad| {
            let field = match bad.column {
                "src" => src,
                "bytes" => bytes,
                "arrival_ps" => start,
                _ => dst,
            };
            field.error(bad.problem, bad.remedy)
        })?;
    }
    match flows.is_empty() {
        true => Err(TextError::whole(name, "has no flows", "add some")),
        false => Ok(flows.finish()),
    }
}

/// Writes `src dst bytes start_ns`. Groups are left out.
///
/// # Errors
/// If flows depend on others.
pub fn write_ns(flows: &Flows) -> Result<String, Refusal> {
    open_loop(flows, OpenLoop::Sized)?;
    let mut out = String::new();
    for i in 0..flows.len() {
        let (src, dst) = (flows.src[i].0, flows.dst[i].0);
        let (bytes, arrival) = (flows.bytes[i], flows.arrival[i].0);
        let _ = write!(out, "{src} {dst} {bytes} {}", arrival / 1000);
        match arrival % 1000 {
            0 => {}
            ps => {
                let _ = write!(out, ".{ps:03}");
            }
        }
        out.push('\n');
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_engine::{HostId, Time};

    #[test]
    fn ns() {
        let flows = read_ns(
            "# src dst bytes ns\n0 1 1000 2.5\n3\t2  20 0\n1 0 7 1001E-3\n",
            "t",
        );
        let flows = flows.unwrap();
        assert_eq!(flows.src, [HostId(3), HostId(1), HostId(0)]);
        assert_eq!(flows.arrival, [Time(0), Time(1_001), Time(2_500)]);
        assert_eq!(
            write_ns(&flows).unwrap(),
            "3 2 20 0\n1 0 7 1.001\n0 1 1000 2.500\n"
        );
    }

    #[test]
    fn errors_name_line_column_and_remedy() {
        let bad = |text: &str| {
            read(text, "t.txt", 4, &Form::default())
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            bad("0 1 5 0\n0 1 5 1.2345\n"),
            "t.txt, line 2, column 7: start_ns is `1.2345`, finer than a picosecond; \
             write at most 3 decimals"
        );
        assert!(bad("0 1 5 0.\n").contains("column 7: start_ns is `0.`, not a number from 0 on"));
        assert!(bad("0 1 5 .5\n").contains("column 7: start_ns is `.5`, not a number from 0 on"));
        assert!(bad("0 1 5 1.-5\n").contains("column 7: start_ns is `1.-5`"));
        assert!(bad("0 1 5 1e99\n").contains("column 7: start_ns is `1e99`, outside 0 to"));
        assert!(bad("0 1 5 99999999999999999\n").contains("outside 0 to"));
        assert!(bad("0 4 5 0\n").contains("column 3: dst is 4, the last host is 3"));
        assert!(bad("12\n").contains("line 1: has 1 values instead of 4"));
        assert!(bad("0 1 5 0 9 9\n").contains("has more than 4 values"));
        assert!(bad("# nothing\n").starts_with("t.txt: has no flows"));
    }
}
