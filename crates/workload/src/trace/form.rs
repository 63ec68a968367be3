//! The format of a trace if its file does not state it: the unit of its times, and the roles of its
//! columns.

use super::names::HostNames;
use crate::text::{Field, TextError};
use lightloom_engine::Refusal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Picoseconds.
    Ps,
    /// Nanoseconds.
    Ns,
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
    /// Seconds.
    S,
}

impl Unit {
    /// All units, with the endings of column names.
    pub const ALL: [(&'static str, Unit); 5] = [
        ("ps", Unit::Ps),
        ("ns", Unit::Ns),
        ("us", Unit::Us),
        ("ms", Unit::Ms),
        ("s", Unit::S),
    ];

    /// Decimals down to a picosecond.
    pub fn places(self) -> usize {
        3 * self as usize
    }

    /// The unit of a column: the end of its name, after a `_`.
    pub fn of_column(title: &str) -> Option<Unit> {
        let (_, ending) = title.rsplit_once('_')?;
        let found = Unit::ALL.iter().find(|(name, _)| *name == ending)?;
        Some(found.1)
    }
}

/// Names of the columns of a CSV or Parquet trace, if they are not the default names. Other columns
/// are then ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceColumns {
    /// Column of the sources, numbered from 0. Default: `src`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub src: Option<String>,
    /// Column of the destinations, numbered from 0. Default: `dst`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dst: Option<String>,
    /// Column of the sizes [B]. Default: `bytes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<String>,
    /// Column of the arrival times. Their unit is the ending of the name (`start_us`), or
    /// `trace_unit`. Default: `arrival_ps`, `arrival_ns`, `arrival_us`, `arrival_ms` or
    /// `arrival_s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrival: Option<String>,
    /// Column of the names of groups. Default: `group`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

impl TraceColumns {
    /// The name of each column, in the order of a trace's.
    pub(super) fn named(&self) -> [Option<&str>; 5] {
        [
            &self.src,
            &self.dst,
            &self.bytes,
            &self.arrival,
            &self.group,
        ]
        .map(Option::as_deref)
    }
}

/// How a trace is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Form<'a> {
    /// Its format; by default from its name.
    pub format: Option<super::Format>,
    /// The unit of its times; by default that of the format.
    pub unit: Option<Unit>,
    /// The names of its columns.
    pub columns: Option<&'a TraceColumns>,
    /// The servers of the names and addresses in it; `None` if it has numbers.
    pub hosts: Option<&'a HostNames>,
}

impl Form<'_> {
    /// The server of a field of a trace.
    pub(super) fn host(&self, field: Field, what: &str) -> Result<u32, TextError> {
        let Some(hosts) = self.hosts else {
            let number = field.whole(what, 0..=u32::MAX as u64);
            return number
                .map(|n| n as u32)
                .map_err(|error| with_map(field, error));
        };
        hosts.of(field, what)
    }

    /// Refuses names of columns for a format that has none, and names of hosts for a format that
    /// numbers them.
    pub(super) fn check(&self, format: super::Format) -> Result<(), Refusal> {
        if self.hosts.is_some() && format == super::Format::Cm {
            return Err(Refusal::new(
                "workload.trace_hosts",
                "(set)",
                "a connection matrix has numbers, not names, of hosts",
                "remove it, or write the trace as CSV",
            ));
        }
        if self.columns.is_some() && format != super::Format::Csv {
            return Err(Refusal::new(
                "workload.trace_columns",
                "(set)",
                "only CSV and Parquet have columns with names",
                "remove it, or write the trace as CSV",
            ));
        }
        Ok(())
    }
}

/// Adds to the error of a field that is not a number the file that names need.
fn with_map(field: Field, error: TextError) -> TextError {
    let is_name = field.unquoted().starts_with(char::is_alphabetic)
        || field.unquoted().parse::<std::net::IpAddr>().is_ok();
    match is_name {
        true => TextError {
            remedy: "write the server's number, or name a file of hosts by workload.trace_hosts"
                .to_owned(),
            ..error
        },
        false => error,
    }
}
