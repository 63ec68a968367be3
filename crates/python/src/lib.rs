//! The Python binding: `lightloom._core`.
//!
//! Configurations and summaries are passed as JSON text; columns are passed as NumPy arrays that
//! take over the memory of their vectors. The GIL is released while a simulation runs. `_core.pyi`
//! documents the functions.

mod clock;
mod columns;
mod control;
mod devices;
mod ending;
mod errors;
mod family;
mod listen;
mod listing;
mod policy;
mod progress;
#[cfg(target_os = "linux")]
mod testbed;

use errors::{refused, ConfigError};
use lightloom_engine::{config, Halt, Time};
use lightloom_experiment::{ClusterTable, Experiment, FabricTable};
use lightloom_fabrics::{Ended, JobFlow, Ran};
use numpy::PyReadonlyArray1;
use policy::PyLibrary;
use progress::{Teller, Told};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::de::DeserializeOwned;
use std::time::Duration;

fn read(json: &str) -> PyResult<Experiment> {
    let json = serde_json::from_str(json).map_err(|e| ConfigError::new_err(e.to_string()))?;
    Experiment::read(&json).map_err(refused)
}

fn table_of<T: DeserializeOwned>(json: &str, at: &str) -> PyResult<T> {
    let json = serde_json::from_str(json).map_err(|e| ConfigError::new_err(e.to_string()))?;
    config::read(&json, at).map_err(refused)
}

/// Refuses the first key of an experiment that no table has; no files are read.
#[pyfunction]
fn check_keys(json: &str) -> PyResult<()> {
    let json = serde_json::from_str(json).map_err(|e| ConfigError::new_err(e.to_string()))?;
    lightloom_experiment::check_keys(&json).map_err(refused)
}

/// Returns the number of the server that each name has in `workload.trace_hosts` of an experiment,
/// or None for a name that the file does not have.
#[pyfunction]
fn trace_hosts(json: &str, names: Vec<String>) -> PyResult<Vec<Option<u32>>> {
    let experiment = read(json)?;
    let cluster = experiment.cluster().map_err(refused)?;
    let hosts = experiment.workload.host_names(&cluster).map_err(refused)?;
    let number = |name: String| hosts.as_ref().and_then(|hosts| hosts.number(&name));
    Ok(names.into_iter().map(number).collect())
}

/// Returns the experiment with all defaults.
#[pyfunction]
fn resolve(py: Python<'_>, json: &str) -> PyResult<String> {
    let experiment = read(json)?;
    // This reads the files of the workload, which can be large.
    let resolved = listen::listened(py, move || experiment.resolve())?.map_err(refused)?;
    Ok(resolved.to_json().to_string())
}

/// Returns the idealised properties of each fabric of a resolved experiment, and its relation to
/// the physics.
#[pyfunction]
fn assumptions(json: &str) -> PyResult<String> {
    let found = read(json)?.assumptions().map_err(refused)?;
    Ok(serde_json::to_string(&found).expect("plain data"))
}

/// Returns the values of a fabric's resolved table that limit the results of a finished run. Its
/// arguments are the end of the run, the arrival of its last flow, the time that the slowest flow
/// of its jobs took and the time it would take alone [ps], and the way to make the run longer.
#[pyfunction]
#[pyo3(signature = (json, at_ps, arrived_ps, job_flow_ps, longer))]
fn findings_of_run(
    json: &str,
    at_ps: i64,
    arrived_ps: Option<i64>,
    job_flow_ps: Option<(i64, i64)>,
    longer: String,
) -> PyResult<String> {
    let table: FabricTable = table_of(json, "fabric")?;
    let ended = Ended {
        at: Time(at_ps),
        arrived: arrived_ps.map(Time),
        job_flow: job_flow_ps.map(|(took, alone)| JobFlow {
            took: Time(took),
            alone: Time(alone),
        }),
        longer,
    };
    let found = table.findings_of_run(&ended).map_err(refused)?;
    Ok(serde_json::to_string(&found).expect("plain data"))
}

/// Returns the doubts of a fabric about the figures of a finished run. Its arguments are the
/// resolved tables of the fabric and of the cluster; source, destination and size of each flow; and
/// the goodput and the offered load ÷ the rate of all servers.
#[pyfunction]
#[pyo3(signature = (fabric, cluster, src, dst, bytes, goodput, load))]
fn doubts_of_run(
    fabric: &str,
    cluster: &str,
    src: PyReadonlyArray1<'_, u32>,
    dst: PyReadonlyArray1<'_, u32>,
    bytes: PyReadonlyArray1<'_, u64>,
    goodput: Option<f64>,
    load: Option<f64>,
) -> PyResult<String> {
    let table: FabricTable = table_of(fabric, "fabric")?;
    let cluster: ClusterTable = table_of(cluster, "cluster")?;
    let run = Ran {
        src: src.as_slice()?,
        dst: dst.as_slice()?,
        bytes: bytes.as_slice()?,
        goodput,
        load,
    };
    let found = table.doubts(&cluster, &run).map_err(refused)?;
    Ok(serde_json::to_string(&found).expect("plain data"))
}

/// Returns the JSON Schema of an experiment.
#[pyfunction]
fn schema() -> String {
    lightloom_experiment::schema().to_string()
}

type Columns<'py> = Bound<'py, PyDict>;
/// The log of the controller, and the computing times of its decisions.
type Control = (Option<String>, Option<Vec<String>>);
type Results<'py> = (
    String,
    Columns<'py>,
    Columns<'py>,
    Option<Columns<'py>>,
    Option<Columns<'py>>,
    Control,
);

/// Runs one fabric. Returns the summary as JSON, the flow columns, the time-series columns, the
/// circuit columns if the fabric has circuits, the link columns if it counts the bytes on links,
/// and the record of its controller.
#[pyfunction]
#[pyo3(signature = (json, fabric, threads, progress=None, columns=None))]
fn run<'py>(
    py: Python<'py>,
    json: &str,
    fabric: usize,
    threads: usize,
    progress: Option<Py<PyAny>>,
    columns: Option<&Bound<'py, PyDict>>,
) -> PyResult<Results<'py>> {
    let experiment = read(json)?;
    let flows = columns
        .map(|c| columns::to_flows(c, &experiment))
        .transpose()?;
    let library = PyLibrary::default();
    let told = Told::default();
    let (beside, policies) = (told.clone(), library.clone());
    let work = move || {
        let drawn = &mut |share| beside.drawn(share);
        let prepared = experiment.prepare_told(fabric, threads, flows, &policies, drawn)?;
        let mut teller = Teller::new(beside.clone(), prepared.total_bytes());
        prepared.halted_by(beside.halt.clone()).run(&mut teller)
    };
    let visit = |py: Python<'_>| told.visit(py, progress.as_ref());
    let output = listen::visited(py, &told.halt, visit, work)?;
    let output = output.map_err(|refusal| library.error(py, refusal))?;
    told.visit(py, progress.as_ref())?;
    columns::load_numpy(py)?; // not earlier, because a command imports NumPy during the run
    let control = output.control.unwrap_or_default();
    let computed = control.computed;
    let summary = serde_json::to_string(&output.summary).expect("summaries are plain data");
    let links = (!output.links.is_empty()).then(|| columns::of_links(py, output.links));
    let circuits = output.circuits.map(|c| columns::of_circuits(py, c));
    Ok((
        summary,
        columns::of_flows(py, output.flows)?,
        columns::of_series(py, output.series)?,
        circuits.transpose()?,
        links.transpose()?,
        (
            control.log,
            computed.map(|times| times.iter().map(Time::to_string).collect()),
        ),
    ))
}

/// Runs a fabric for at most `seconds` of wall time. Returns the results of this part of the run as
/// JSON.
#[pyfunction]
#[pyo3(signature = (json, fabric, threads, seconds, columns=None))]
fn trial(
    py: Python<'_>,
    json: &str,
    fabric: usize,
    threads: usize,
    seconds: f64,
    columns: Option<&Bound<'_, PyDict>>,
) -> PyResult<String> {
    let experiment = read(json)?;
    let flows = columns
        .map(|c| columns::to_flows(c, &experiment))
        .transpose()?;
    let library = PyLibrary::default();
    let budget = Duration::from_secs_f64(seconds.clamp(0.0, 60.0));
    let halt = Halt::default();
    let (beside, policies) = (halt.clone(), library.clone());
    let work = move || {
        let drawn = &mut |_| !beside.asked();
        let prepared = experiment.prepare_told(fabric, threads, flows, &policies, drawn)?;
        prepared.halted_by(beside.clone()).trial(budget)
    };
    let tried = listen::visited(py, &halt, |_| Ok(()), work)?;
    let tried = tried.map_err(|refusal| library.error(py, refusal))?;
    Ok(serde_json::to_string(&tried).expect("trials are plain data"))
}

/// The native core of Lightloom.
#[pymodule]
fn _core(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", lightloom_experiment::VERSION)?;
    m.add("NEVER", lightloom_engine::Time::NEVER.0)?;
    m.add("RELAXATIONS", lightloom_metrics::RELAXATIONS)?;
    errors::register(m)?;
    control::register(m)?;
    m.add_function(wrap_pyfunction!(ending::ending_watch, m)?)?;
    m.add_function(wrap_pyfunction!(ending::ending_unfinished, m)?)?;
    m.add_function(wrap_pyfunction!(ending::ending_finished, m)?)?;
    m.add_function(wrap_pyfunction!(ending::ending_told, m)?)?;
    m.add_function(wrap_pyfunction!(listing::registry, m)?)?;
    m.add_function(wrap_pyfunction!(listing::policies, m)?)?;
    m.add_function(wrap_pyfunction!(listing::orders, m)?)?;
    m.add_function(wrap_pyfunction!(listing::workloads, m)?)?;
    m.add_function(wrap_pyfunction!(devices::device_presets, m)?)?;
    m.add_function(wrap_pyfunction!(devices::device_schema, m)?)?;
    m.add_function(wrap_pyfunction!(devices::derive_devices, m)?)?;
    m.add_function(wrap_pyfunction!(devices::derive_switch, m)?)?;
    m.add_function(wrap_pyfunction!(devices::sirius_banks, m)?)?;
    m.add_function(wrap_pyfunction!(devices::laser_tuning, m)?)?;
    m.add_function(wrap_pyfunction!(schema, m)?)?;
    m.add_function(wrap_pyfunction!(check_keys, m)?)?;
    m.add_function(wrap_pyfunction!(trace_hosts, m)?)?;
    m.add_function(wrap_pyfunction!(resolve, m)?)?;
    m.add_function(wrap_pyfunction!(assumptions, m)?)?;
    m.add_function(wrap_pyfunction!(findings_of_run, m)?)?;
    m.add_function(wrap_pyfunction!(doubts_of_run, m)?)?;
    m.add_function(wrap_pyfunction!(run, m)?)?;
    m.add_function(wrap_pyfunction!(trial, m)?)?;
    m.add_function(wrap_pyfunction!(clock::clock_resolve, m)?)?;
    m.add_function(wrap_pyfunction!(clock::clock_schema, m)?)?;
    m.add_function(wrap_pyfunction!(clock::clock_run, m)?)?;
    m.add_function(wrap_pyfunction!(clock::clock_starts, m)?)?;
    m.add_function(wrap_pyfunction!(columns::read_trace, m)?)?;
    m.add_function(wrap_pyfunction!(columns::trace_text, m)?)?;
    #[cfg(target_os = "linux")]
    testbed::register(m)?;
    Ok(())
}
