//! Flow traces as text: in and out.
//!
//! | format | content | times |
//! |---|---|---|
//! | [`Format::Csv`] | `src,dst,bytes,arrival_ps[,group]`, columns in any order | as the column's name ends: `_ps` to `_s` |
//! | [`Format::Cm`] | htsim's connection matrix: `0->1 id 1 start 0 size 1000` | ps, decimals cut off |
//! | [`Format::Ns`] | `src dst bytes start_ns`, white space between | ns, up to 3 decimals |
//! | [`Format::Hpcc`] | a count, then `src dst pg dport bytes start` (HPCC on ns-3) | s, up to 12 decimals |
//!
//! A [`Form`] states another unit, the names of columns, and, by [`HostNames`], the server of each
//! name or address.
//!
//! Rows may be in any order; flows are sorted by arrival, and equal ones keep their order. Only
//! `.cm` holds flows that depend on others (htsim's triggers), in the order of its rows, and flows
//! of size 0 that send until the end of the run; neither are written. Only CSV holds groups.
//!
//! Parquet is read in Python, which passes columns to [`from_columns`].

mod cm;
mod columns;
mod csv;
mod form;
mod hpcc;
mod names;
mod ns;
mod scale;

pub use cm::{read_cm, write_cm};
pub use columns::{from_columns, Columns};
pub use csv::{read_csv, write_csv};
pub use form::{Form, TraceColumns, Unit};
pub use names::HostNames;
pub use ns::{read_ns, write_ns};
pub use scale::{check_unit, own_load, scaled, Scale};

use crate::text::{self, TextError};
use lightloom_engine::{Flows, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// File format of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Comma-separated with a heading: `src,dst,bytes,arrival_ps[,group]`.
    Csv,
    /// htsim's connection matrix (`.cm`), with start times in picoseconds.
    Cm,
    /// `src dst bytes start_ns`, separated by white space.
    Ns,
    /// HPCC's flow files for ns-3: a count, then `src dst pg dport bytes start_s`.
    Hpcc,
}

impl Format {
    /// The format by a file's name; `None` if it does not show it.
    pub fn of(path: &str) -> Option<Format> {
        let extension = std::path::Path::new(path).extension()?.to_str()?;
        match extension.to_ascii_lowercase().as_str() {
            "csv" => Some(Format::Csv),
            "cm" => Some(Format::Cm),
            "ns" | "txt" | "flows" => Some(Format::Ns),
            _ => None,
        }
    }
}

/// Reads text in `format`; hosts are 0 to `hosts` - 1.
///
/// # Errors
/// With line and column of the first error.
pub fn read(format: Format, text: &str, name: &str, hosts: u32) -> Result<Flows, TextError> {
    read_as(format, text, name, hosts, &Form::default())
}

/// Reads a trace as [`read`] does, with the unit of times and the names of columns of `form`.
///
/// # Errors
/// With line and column of the first error.
pub fn read_as(
    format: Format,
    text: &str,
    name: &str,
    hosts: u32,
    form: &Form,
) -> Result<Flows, TextError> {
    match format {
        Format::Csv => csv::read(text, name, hosts, form),
        Format::Cm => cm::read(text, name, hosts, form.unit),
        // Both formats are separated by white space; a name does not show which it is.
        Format::Ns if form.format.is_none() && hpcc::is_hpcc(text) => {
            hpcc::read(text, name, hosts, form)
        }
        Format::Ns => ns::read(text, name, hosts, form),
        Format::Hpcc => hpcc::read(text, name, hosts, form),
    }
}

/// Reads the file of `workload.trace`; its name shows the format unless `form` states it.
///
/// # Errors
/// If the file cannot be read, or is not a trace between `hosts` hosts.
pub fn load(path: &str, form: &Form, hosts: u32) -> Result<Flows, Refusal> {
    let key = "workload.trace";
    let Some(format) = form.format.or_else(|| Format::of(path)) else {
        let (limit, remedy) = match path.ends_with(".parquet") {
            true => (
                "Parquet is read by the Python package only",
                "load it there, or convert it to CSV",
            ),
            false => (
                "its extension names no known format",
                "set workload.trace_format to \"csv\", \"cm\", \"ns\" or \"hpcc\"",
            ),
        };
        return Err(Refusal::new(key, format!("\"{path}\""), limit, remedy));
    };
    form.check(format)?;
    text::load(path)
        .and_then(|t| read_as(format, &t, path, hosts, form))
        .map_err(|e| e.refusal(key))
}

/// Writes `flows` in `format`; `hosts` is the number of hosts they may name.
///
/// # Errors
/// If flows depend on others, which no text format holds.
pub fn write(format: Format, flows: &Flows, hosts: u32) -> Result<String, Refusal> {
    match format {
        Format::Csv => write_csv(flows),
        Format::Cm => write_cm(flows, hosts),
        Format::Ns => write_ns(flows),
        Format::Hpcc => Err(Refusal::new(
            "format",
            "\"hpcc\"",
            "is read, not written",
            "use \"csv\", \"cm\" or \"ns\"",
        )),
    }
}

/// Whether a format holds flows that send until the end of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenLoop {
    /// The format also holds endless flows.
    EndlessToo,
    /// All flows must have a size.
    Sized,
}

/// Refuses flows whose arrival is not known before the run, and flows without a size if `held`
/// requires one.
///
/// # Errors
/// If there are such flows.
pub fn open_loop(flows: &Flows, held: OpenLoop) -> Result<(), Refusal> {
    let refuse = |limit: &str, remedy: &str| {
        Err(Refusal::new(
            "trace",
            format!("{} flows", flows.len()),
            limit,
            remedy,
        ))
    };
    if !flows.after.is_empty() {
        return refuse(
            "some wait for others, but this format holds only known arrivals",
            "run it, and use the flow table of the run instead",
        );
    }
    if held == OpenLoop::Sized && flows.bytes.contains(&0) {
        return refuse(
            "some have size 0 and send until a run stops, but this format needs a size",
            "name the .cm file as workload.trace, or give them sizes",
        );
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use lightloom_engine::{HostId, Time};
    use proptest::prelude::*;

    const HOSTS: u32 = 50;

    /// Rows of (src, dst, bytes, arrival, group) that make a trace.
    fn flows() -> impl Strategy<Value = Flows> {
        let row = (
            0..HOSTS,
            1..HOSTS,
            1u64..=1 << 53,
            0i64..=1 << 62,
            0usize..4,
        );
        let names = ["", "ring", " a, \"b\" ", "#é"];
        prop::collection::vec(row, 1..40).prop_map(move |rows| {
            let mut builder = columns::Builder::new(HOSTS);
            for (src, shift, bytes, arrival, group) in rows {
                let dst = (src + shift) % HOSTS;
                builder
                    .push(src, dst, bytes, arrival, names[group])
                    .unwrap();
            }
            builder.finish()
        })
    }

    type Rows = Vec<(HostId, HostId, u64, Time, String)>;

    fn table(f: &Flows, groups: bool) -> Rows {
        (0..f.len())
            .map(|i| {
                let group = f.groups[f.group[i] as usize].clone();
                let group = if groups { group } else { String::new() };
                (f.src[i], f.dst[i], f.bytes[i], f.arrival[i], group)
            })
            .collect()
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(flows in flows()) {
            for format in [Format::Csv, Format::Cm, Format::Ns] {
                let text = write(format, &flows, HOSTS).unwrap();
                let back = read(format, &text, "t", HOSTS).unwrap();
                let groups = format == Format::Csv;
                prop_assert_eq!(table(&back, groups), table(&flows, groups));
                prop_assert!(back.arrival.is_sorted());
                prop_assert_eq!(&back.groups[0], "");
                prop_assert_eq!(write(format, &back, HOSTS).unwrap(), text);
            }
        }

        #[test]
        fn any_text_is_read_or_refused(text in any::<String>()) {
            for format in [Format::Csv, Format::Cm, Format::Ns] {
                let _ = read(format, &text, "t", HOSTS);
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in any::<Vec<u8>>()) {
            if let Ok(text) = text::decode("t", bytes) {
                for format in [Format::Csv, Format::Cm, Format::Ns] {
                    let _ = read(format, &text, "t", HOSTS);
                }
            }
        }

        /// Text made of the formats' own tokens gets further than random text.
        #[test]
        fn near_misses_are_read_or_refused(tokens in prop::collection::vec(
            prop::sample::select(vec![
                "src,dst,bytes,arrival_ps\n", "group", "Nodes", "Connections", "0->1", "->", "id",
                "start", "size", "prio", "trigger", "Triggers", "send_done_trigger",
                "recv_done_trigger", "oneshot", "multishot", "barrier", "count", "0", "1", "7", "99999999999999999999", "-1",
                "1.5", ".", "\"", "\"\"", ",", " ", "\n", "\r\n", "é", "\u{feff}", "#",
            ]), 0..60))
        {
            let text = tokens.concat();
            for format in [Format::Csv, Format::Cm, Format::Ns] {
                match read(format, &text, "t", HOSTS) {
                    Ok(flows) => prop_assert!(!flows.is_empty()),
                    Err(e) => prop_assert!(!e.problem.is_empty() && !e.remedy.is_empty()),
                }
            }
        }
    }

    #[test]
    fn a_spoilt_byte_is_read_or_located() {
        let mut builder = columns::Builder::new(HOSTS);
        for i in 0..20 {
            builder.push(i, i + 1, 1_000, i as i64 * 77, "g").unwrap();
        }
        let flows = builder.finish();
        for format in [Format::Csv, Format::Cm, Format::Ns] {
            let text = write(format, &flows, HOSTS).unwrap();
            for at in 0..text.len() {
                for bad in ["x", ",", "\n", "\"", "-", "9"] {
                    let mut spoilt = text.clone();
                    spoilt.replace_range(at..at + 1, bad);
                    if let Err(e) = read(format, &spoilt, "t", HOSTS) {
                        assert!(e.line <= spoilt.lines().count(), "{e}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_name_tells_the_format() {
        assert_eq!(Format::of("a/b.CSV"), Some(Format::Csv));
        assert_eq!(Format::of("b.cm"), Some(Format::Cm));
        assert_eq!(Format::of("b.txt"), Some(Format::Ns));
        let e = load("b.parquet", &Form::default(), 4)
            .unwrap_err()
            .to_string();
        assert!(e.contains("by the Python package only"), "{e}");
        let e = load("b", &Form::default(), 4).unwrap_err().to_string();
        assert!(e.contains("set workload.trace_format"), "{e}");
        let e = load("no/such.csv", &Form::default(), 4)
            .unwrap_err()
            .to_string();
        assert!(
            e.starts_with("workload.trace = \"no/such.csv\": cannot be read"),
            "{e}"
        );
    }

    #[test]
    fn closed_loops_are_not_written() {
        let mut flows = columns::Builder::new(4);
        flows.push(0, 1, 1, 0, "").unwrap();
        let mut flows = flows.finish();
        flows.after.starts = vec![0, 0];
        let e = write(Format::Csv, &flows, 4).unwrap_err();
        assert!(e.limit.starts_with("some wait for others"));
        flows.after = Default::default();
        flows.bytes[0] = 0;
        let e = write(Format::Csv, &flows, 4).unwrap_err();
        assert!(e.limit.starts_with("some have size 0"));
        assert!(write(Format::Cm, &flows, 4).is_ok());
    }
}
