//! Converts columns between Rust vectors and NumPy arrays, and reads and writes flow traces.

use crate::errors::refused;
use crate::listen::listened;
use lightloom_engine::{Circuit, Flows, LinkLoad, Refusal};
use lightloom_experiment::Experiment;
use lightloom_metrics::Series;
use lightloom_workload::trace::{self, Columns, Form, Format, OpenLoop};
use numpy::{Element, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::panic::resume_unwind;
use std::thread;

/// The number of hosts that a trace can name if the cluster is not given.
const ANY_HOST: u32 = 1 << 30;

/// Imports NumPy before the first array is made. The import runs in another thread, because Python
/// handles signals in its main thread: Ctrl-C during an import there would leave a partly imported
/// NumPy, which cannot be imported again.
pub fn load_numpy(py: Python<'_>) -> PyResult<()> {
    let import = || {
        Python::attach(|py| {
            py.import("numpy")?;
            PyArray1::<u8>::zeros(py, 0, false); // loads NumPy's C interface
            Ok(())
        })
    };
    py.detach(|| thread::spawn(import).join())
        .unwrap_or_else(|panic| resume_unwind(panic))
}

/// Adds a vector as an array without copying it.
pub fn put<T: Element>(dict: &Bound<'_, PyDict>, name: &str, column: Vec<T>) -> PyResult<()> {
    dict.set_item(name, PyArray1::from_vec(dict.py(), column))
}

/// The flow columns by the names of `flows.parquet`; groups are codes and names. If flows send
/// until the run stops, `endless` marks them, and `delivered` holds the delivered bytes of all
/// flows.
pub fn of_flows(py: Python<'_>, flows: Flows) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    if !flows.endless.is_empty() {
        let mut endless = vec![false; flows.src.len()];
        flows.endless.iter().for_each(|f| endless[f.index()] = true);
        put(&dict, "delivered", flows.delivered)?;
        put(&dict, "endless", endless)?;
    }
    put(&dict, "src", flows.src.into_iter().map(|h| h.0).collect())?;
    put(&dict, "dst", flows.dst.into_iter().map(|h| h.0).collect())?;
    put(&dict, "bytes", flows.bytes)?;
    for (name, column) in [
        ("arrival_ps", flows.arrival),
        ("start_ps", flows.start),
        ("finish_ps", flows.finish),
    ] {
        put(&dict, name, column.into_iter().map(|t| t.0).collect())?;
    }
    put(&dict, "hops", flows.hops)?;
    put(&dict, "group", flows.group)?;
    dict.set_item("groups", flows.groups)?;
    Ok(dict)
}

/// The time series by the column names of `timeseries.parquet`, in their order.
pub fn of_series(py: Python<'_>, series: Series) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    put(&dict, "time_ps", series.time_ps)?;
    for (name, column) in [
        ("bytes_offered", series.bytes_offered),
        ("bytes_delivered", series.bytes_delivered),
        ("bytes_dropped", series.bytes_dropped),
        ("bytes_in_flight", series.bytes_in_flight),
        ("losses", series.losses),
        ("queued_bytes", series.queued_bytes),
        ("queued_bytes_worst", series.queued_bytes_worst),
        ("waiting_bytes", series.waiting_bytes),
        ("on_links_bytes", series.on_links_bytes),
        ("carried_bytes", series.carried_bytes),
    ] {
        put(&dict, name, column)?;
    }
    put(&dict, "goodput_normalized", series.goodput_normalized)?;
    put(&dict, "utilisation", series.utilisation)?;
    put(&dict, "flows_offered", series.flows_offered)?;
    put(&dict, "flows_completed", series.flows_completed)?;
    Ok(dict)
}

/// Circuits by the column names of `circuits.parquet`.
pub fn of_circuits(py: Python<'_>, circuits: Vec<Circuit>) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    put(&dict, "a", circuits.iter().map(|c| c.a).collect())?;
    put(&dict, "b", circuits.iter().map(|c| c.b).collect())?;
    put(
        &dict,
        "directed",
        circuits.iter().map(|c| c.directed).collect(),
    )?;
    put(&dict, "plane", circuits.iter().map(|c| c.plane).collect())?;
    put(
        &dict,
        "from_ps",
        circuits.iter().map(|c| c.from.0).collect(),
    )?;
    put(
        &dict,
        "until_ps",
        circuits.iter().map(|c| c.until.0).collect(),
    )?;
    Ok(dict)
}

/// Link loads by the column names of `links.parquet`. Ends in the core are -1.
pub fn of_links(py: Python<'_>, links: Vec<LinkLoad>) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    let end = |end: Option<u32>| end.map_or(-1, i64::from);
    let tiers: Vec<&str> = links.iter().map(|l| l.tier).collect();
    dict.set_item("tier", tiers)?;
    put(&dict, "from", links.iter().map(|l| end(l.from)).collect())?;
    put(&dict, "to", links.iter().map(|l| end(l.to)).collect())?;
    put(&dict, "links", links.iter().map(|l| l.links).collect())?;
    put(&dict, "rate_bps", links.iter().map(|l| l.rate.0).collect())?;
    put(&dict, "bytes", links.iter().map(|l| l.bytes).collect())?;
    Ok(dict)
}

fn get<'py, T: Element>(
    dict: &Bound<'py, PyDict>,
    name: &str,
) -> PyResult<PyReadonlyArray1<'py, T>> {
    let column = dict
        .get_item(name)?
        .ok_or_else(|| PyKeyError::new_err(format!("column {name}")))?;
    column.extract()
}

/// Reads flows from NumPy columns and checks each row.
fn flows(dict: &Bound<'_, PyDict>, hosts: u32) -> PyResult<Result<Flows, Refusal>> {
    let (src, dst) = (get::<u32>(dict, "src")?, get::<u32>(dict, "dst")?);
    let (bytes, arrival) = (get::<u64>(dict, "bytes")?, get::<i64>(dict, "arrival_ps")?);
    let (group, groups) = match dict.get_item("groups")? {
        Some(names) => (
            get::<u16>(dict, "group")?.as_slice()?.to_vec(),
            names.extract()?,
        ),
        None => (Vec::new(), Vec::<String>::new()),
    };
    let columns = Columns {
        src: src.as_slice()?,
        dst: dst.as_slice()?,
        bytes: bytes.as_slice()?,
        arrival_ps: arrival.as_slice()?,
        group: &group,
        groups: &groups,
    };
    Ok(trace::from_columns(&columns, hosts))
}

/// Returns the flows of a trace that Python has read for `experiment`.
pub fn to_flows(dict: &Bound<'_, PyDict>, experiment: &Experiment) -> PyResult<Flows> {
    load_numpy(dict.py())?;
    let hosts = experiment.cluster().map_err(refused)?.hosts();
    flows(dict, hosts)?.map_err(|refusal| {
        let file = experiment.workload.trace.as_deref().unwrap_or_default();
        refused(Refusal {
            value: format!("\"{file}\""),
            limit: format!("{}: {}", refusal.value, refusal.limit),
            ..refusal
        })
    })
}

fn named(format: &str) -> PyResult<Format> {
    match format {
        "csv" => Ok(Format::Csv),
        "cm" => Ok(Format::Cm),
        "ns" => Ok(Format::Ns),
        "hpcc" => Ok(Format::Hpcc),
        _ => Err(refused(Refusal::new(
            "format",
            format!("\"{format}\""),
            "no such trace format",
            "use \"csv\", \"cm\", \"ns\" or \"hpcc\"",
        ))),
    }
}

/// Reads the flow columns of a text trace.
#[pyfunction]
#[pyo3(signature = (path, format=None, hosts=None))]
pub fn read_trace<'py>(
    py: Python<'py>,
    path: &str,
    format: Option<&str>,
    hosts: Option<u32>,
) -> PyResult<Bound<'py, PyDict>> {
    let format = format.map(named).transpose()?;
    let path = path.to_owned();
    let work = move || {
        let form = Form {
            format,
            ..Form::default()
        };
        let flows = trace::load(&path, &form, hosts.unwrap_or(ANY_HOST))?;
        let open = trace::open_loop(&flows, OpenLoop::Sized);
        open.map_err(|refusal| Refusal {
            key: "workload.trace".to_owned(),
            value: format!("\"{path}\""),
            ..refusal
        })?;
        Ok(flows)
    };
    let flows = listened(py, work)?.map_err(refused)?;
    of_flows(py, flows)
}

/// Returns flow columns as the text of a trace.
#[pyfunction]
#[pyo3(signature = (columns, format, hosts=None))]
pub fn trace_text(
    columns: &Bound<'_, PyDict>,
    format: &str,
    hosts: Option<u32>,
) -> PyResult<String> {
    let format = named(format)?;
    let flows = flows(columns, hosts.unwrap_or(ANY_HOST))?.map_err(refused)?;
    let ends = flows.src.iter().chain(&flows.dst).map(|h| h.0 + 1);
    let hosts = hosts.or_else(|| ends.max()).unwrap_or(0);
    trace::write(format, &flows, hosts).map_err(refused)
}
