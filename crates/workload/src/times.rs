//! Arrivals from a file: one column of times, with a heading that states their unit. Sources,
//! destinations and sizes are drawn as usual; a file that holds whole flows is a
//! [`trace`](crate::trace).
//!
//! Rows may be in any order, as in a trace. Times are decimals and are held exactly; a time finer
//! than a picosecond is an error and is not rounded.

use crate::arrivals::MAX_ARRIVAL;
use crate::decimal::Decimal;
use crate::text::{self, rows, Field, Row, TextError};
use lightloom_engine::{config, Refusal, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Headings, and the decimals down to a picosecond.
const COLUMNS: [(&str, usize); 5] = [
    ("arrival_ps", 0),
    ("arrival_ns", 3),
    ("arrival_us", 6),
    ("arrival_ms", 9),
    ("arrival_s", 12),
];
const HEADING: &str = "begin with a heading that names the unit, such as arrival_us";
const ONE_COLUMN: &str = "keep only the times, or use the file of whole flows as workload.trace";

/// At the times of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FromFile {
    /// A text file with one time per line, in any order, under the heading `arrival_ps`,
    /// `arrival_ns`, `arrival_us`, `arrival_ms` or `arrival_s`. `workload.flows` selects the
    /// earliest times. Default: all times.
    pub file: String,
}

impl FromFile {
    /// The times, in order.
    ///
    /// # Errors
    /// If the file cannot be read, or contains anything but times.
    pub(crate) fn times(&self) -> Result<Vec<Time>, Refusal> {
        text::load(&self.file)
            .and_then(|t| read_times(&t, &self.file))
            .map_err(|e| e.refusal("workload.arrivals.file"))
    }
}

/// Reads a column of times, and sorts them; `name` is the file's name in errors.
///
/// # Errors
/// With line and column of the first error.
pub fn read_times(text: &str, name: &str) -> Result<Vec<Time>, TextError> {
    let mut rows = rows(name, text);
    let Some(heading) = rows.next() else {
        return Err(TextError::whole(name, "is empty", HEADING));
    };
    let (title, places) = unit(heading)?;
    let mut times = rows
        .map(|row| picoseconds(alone(row)?, title, places).map(Time))
        .collect::<Result<Vec<Time>, TextError>>()?;
    if times.is_empty() {
        return Err(TextError::whole(name, "has no times", "add some"));
    }
    times.sort_unstable();
    Ok(times)
}

/// The entry of [`COLUMNS`] that the heading names.
fn unit(heading: Row) -> Result<(&'static str, usize), TextError> {
    let cell = alone(heading)?;
    let title = cell.unquoted();
    if let Some(column) = COLUMNS.iter().find(|c| c.0 == title) {
        return Ok(*column);
    }
    let remedy = match cell.text.starts_with(|c: char| c.is_ascii_digit()) {
        true => HEADING.to_owned(),
        false => config::nearest(title, &COLUMNS.map(|c| c.0)),
    };
    Err(cell.error(format!("{} is not a column", cell.shown()), remedy))
}

/// The only value of a line.
fn alone(row: Row) -> Result<Field, TextError> {
    let mut cells = row.cells();
    match (cells.next(), cells.next()) {
        (Some(first), None) => Ok(first),
        (_, Some(second)) => Err(second.error(
            format!("{} is a second value, but a line has one", second.shown()),
            ONE_COLUMN,
        )),
        (None, None) => Ok(row.end()),
    }
}

/// Converts a decimal number of units of 10^`places` ps exactly to ps.
///
/// # Errors
/// If the text is not such a number, is finer than a picosecond, or exceeds [`MAX_ARRIVAL`].
pub(crate) fn picoseconds(field: Field, what: &str, places: usize) -> Result<i64, TextError> {
    let last = MAX_ARRIVAL.0 / 10i64.pow(places as u32);
    let Some(number) = Decimal::read(field.unquoted().trim()) else {
        return Err(field.error(
            format!("{what} is {}, not a number from 0 on", field.shown()),
            match places {
                0 => format!("write {what} as digits"),
                _ => format!("write {what} as a number such as 12, 12.5 or 1.25e-5"),
            },
        ));
    };
    match number.scaled(places) {
        Some((_, true)) => Err(field.error(
            format!("{what} is {}, finer than a picosecond", field.shown()),
            match places {
                0 => "write a whole number".to_owned(),
                _ => format!("write at most {places} decimals"),
            },
        )),
        Some((time, false)) if time <= MAX_ARRIVAL.0 as u64 => Ok(time as i64),
        _ => Err(field.error(
            format!("{what} is {}, outside 0 to {last}", field.shown()),
            format!("correct {what}"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::sample::select;

    fn bad(text: &str) -> String {
        read_times(text, "t.csv").unwrap_err().to_string()
    }

    #[test]
    fn each_heading_has_its_unit() {
        for (title, ps) in [
            ("arrival_ps", 1),
            ("arrival_ns", 1_000),
            ("arrival_us", 1_000_000),
            ("arrival_ms", 1_000_000_000),
            ("arrival_s", 1_000_000_000_000),
        ] {
            let text = format!("\u{feff}# by hand\r\n\"{title}\"\r\n7\r\n\n \"3\" \r\n");
            let want = [Time(3 * ps), Time(7 * ps)];
            assert_eq!(read_times(&text, "t").unwrap(), want, "{title}");
        }
        let times = read_times("arrival_us\n2.000001\n\"0.5\"\n1.25000000\n", "t").unwrap();
        assert_eq!(times, [Time(500_000), Time(1_250_000), Time(2_000_001)]);
        let times = read_times("arrival_s\n1.2500001E-5\n\"1.5e-06\"\n0.1e1\n", "t").unwrap();
        assert_eq!(
            times,
            [Time(1_500_000), Time(12_500_001), Time(1_000_000_000_000)]
        );
        assert_eq!(
            read_times("arrival_ps\n1e9\n", "t").unwrap(),
            [Time(1_000_000_000)]
        );
    }

    #[test]
    fn errors_name_line_column_and_remedy() {
        let row = |row: &str| bad(&format!("arrival_us\n0\n{row}\n"));
        assert_eq!(
            row(" 1.5x"),
            "t.csv, line 3, column 2: arrival_us is `1.5x`, not a number from 0 on; \
             write arrival_us as a number such as 12, 12.5 or 1.25e-5"
        );
        assert_eq!(
            row("1.2345678"),
            "t.csv, line 3, column 1: arrival_us is `1.2345678`, finer than a picosecond; \
             write at most 6 decimals"
        );
        assert_eq!(
            row("1, 2"),
            "t.csv, line 3, column 4: `2` is a second value, but a line has one; \
             keep only the times, or use the file of whole flows as workload.trace"
        );
        assert!(row("-3").contains("column 1: arrival_us is `-3`, not a number from 0 on"));
        assert!(row("1 .5").contains("column 1: arrival_us is `1 .5`, not a number from 0 on"));
        assert!(row("1.5e").contains("column 1: arrival_us is `1.5e`, not a number"));
        assert!(row("1.5e-7").contains("column 1: arrival_us is `1.5e-7`, finer than a pico"));
        assert!(row("1.5e99").contains("column 1: arrival_us is `1.5e99`, outside 0 to 46116"));
        assert!(row("nan").contains("column 1: arrival_us is `nan`"));
        assert!(row("9999999999999").contains("outside 0 to 4611686018427"));
        assert!(row("4611686018427.9").contains("column 1: arrival_us is `4611686018427.9`, outs"));
        assert!(bad("arrival_ps\n1.5\n")
            .contains("column 1: arrival_ps is `1.5`, finer than a picosecond; write a whole"));
        assert!(bad("").starts_with("t.csv: is empty; begin with a heading"));
        assert!(bad("arrival_us\n").starts_with("t.csv: has no times"));
        assert!(bad("12\n13\n").starts_with("t.csv, line 1, column 1: `12` is not a column"));
        assert!(bad("12\n13\n").ends_with(HEADING));
        assert!(bad("arival_us\n").ends_with("did you mean \"arrival_us\"?"));
        assert!(bad("src,dst,bytes,arrival_ps\n0,1,9,0\n").contains("line 1, column 5: `dst` is"));
    }

    proptest! {
        /// The test writes all decimals in another way than the reader parses them.
        #[test]
        fn times_read_back_exactly_and_sorted(
            mut ps in prop::collection::vec(prop_oneof![0..=MAX_ARRIVAL.0, 0i64..5_000], 1..40),
            (title, places) in select(COLUMNS.to_vec()),
        ) {
            let mut text = format!("{title}\n");
            for time in &ps {
                let mut digits = format!("{time:0width$}", width = places + 1);
                if places > 0 {
                    digits.insert(digits.len() - places, '.');
                }
                text += &format!("{digits}\n");
            }
            let read: Vec<i64> = read_times(&text, "t").unwrap().iter().map(|t| t.0).collect();
            ps.sort_unstable();
            prop_assert_eq!(read, ps);
        }

        #[test]
        fn any_text_is_read_or_refused(
            heading in select(COLUMNS.map(|c| c.0).to_vec()), text in "[0-9., \n#a\"é]*|.*",
        ) {
            for text in [format!("{heading}\n{text}"), text] {
                match read_times(&text, "t") {
                    Ok(times) => prop_assert!(!times.is_empty() && times.is_sorted()),
                    Err(e) => prop_assert!(e.line <= text.lines().count() && !e.remedy.is_empty()),
                }
            }
        }
    }
}
