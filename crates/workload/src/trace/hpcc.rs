//! The flow files of HPCC's simulator on ns-3: a line with the number of flows, then `src dst pg
//! dport bytes start` on each line, with the start in seconds. The priority group and the port are
//! ignored, because no fabric here has them.

use super::columns::Builder;
use super::form::{Form, Unit};
use crate::sizes::MAX_BYTES;
use crate::text::{rows, Field, TextError};
use crate::times::picoseconds;
use lightloom_engine::Flows;

const LINE: &str = "write src dst pg dport bytes start_s";
const COUNT: &str = "begin with a line that has the number of flows";

/// Whether text begins like such a file: with a single number.
pub(super) fn is_hpcc(text: &str) -> bool {
    rows("", text).next().is_some_and(|row| {
        let words: Vec<Field> = row.words().take(2).collect();
        words.len() == 1 && words[0].text.bytes().all(|b| b.is_ascii_digit())
    })
}

pub(super) fn read(text: &str, name: &str, hosts: u32, form: &Form) -> Result<Flows, TextError> {
    let mut rows = rows(name, text);
    let first = rows
        .next()
        .ok_or_else(|| TextError::whole(name, "is empty", COUNT))?;
    let mut words = first.words();
    let (Some(count), None) = (words.next(), words.next()) else {
        return Err(first.error("is not the number of flows", COUNT));
    };
    let said = count.whole("the number of flows", 0..=u64::MAX)?;
    let places = form.unit.unwrap_or(Unit::S).places();
    let mut flows = Builder::new(hosts);
    for row in rows {
        let words: Vec<Field> = row.words().take(7).collect();
        let [src, dst, _, _, bytes, start] = words[..] else {
            return Err(row.error("has not 6 values", LINE));
        };
        let (from, to) = (form.host(src, "src")?, form.host(dst, "dst")?);
        let size = bytes.whole("bytes", 0..=MAX_BYTES)?;
        let arrival = picoseconds(start, "the start", places)?;
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
    if flows.len() as u64 != said {
        return Err(count.error(
            format!("declares {said} flows, the file has {}", flows.len()),
            "correct the number, or complete the file",
        ));
    }
    match flows.is_empty() {
        true => Err(TextError::whole(name, "has no flows", "add some")),
        false => Ok(flows.finish()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_engine::{HostId, Time};

    const TEXT: &str = "3\n0 1 3 100 1000 2.000000001\n3 2 3 100 20 0.5\n1 0 3 100 7 2\n";

    #[test]
    fn starts_are_seconds() {
        assert!(is_hpcc(TEXT));
        assert!(!is_hpcc("0 1 1000 2\n"));
        let flows = read(TEXT, "flow.txt", 4, &Form::default()).unwrap();
        assert_eq!(flows.src, [HostId(3), HostId(1), HostId(0)]);
        assert_eq!(flows.bytes, [20, 7, 1000]);
        let second = 1_000_000_000_000;
        let starts = [Time(second / 2), Time(2 * second), Time(2 * second + 1000)];
        assert_eq!(flows.arrival, starts);
    }

    #[test]
    fn errors_name_line_column_and_remedy() {
        let bad = |text: &str| {
            let read = read(text, "f.txt", 4, &Form::default());
            read.unwrap_err().to_string()
        };
        let e = bad("2\n0 1 3 100 5 0\n");
        assert!(e.starts_with("f.txt, line 1, column 1: declares 2 flows, the file has 1"));
        assert!(bad("1\n0 1 5 0\n").contains("line 2: has not 6 values; write src dst pg"));
        assert!(bad("1\n0 4 3 100 5 0\n").contains("column 3: dst is 4, the last host is 3"));
        assert!(bad("# none\n").contains("is empty; begin with a line"));
        assert!(bad("0\n").contains("has no flows"));
    }
}
