//! Designs of optical devices, their derived values and laser tuning times; circuit switches and
//! their link budgets.

use crate::columns;
use crate::errors::{refused, ConfigError};
use lightloom_fabrics::sirius::schedule::plan::gratings;
use lightloom_fabrics::sirius::schedule::wiring::Bank;
use lightloom_photonics::circuit_switch::{SwitchDesign, SWITCHES};
use lightloom_photonics::design::{Design, PRESETS};
use lightloom_photonics::Named;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use serde_json::{json, Value};

fn read(text: &str) -> PyResult<Design> {
    let table: Value =
        serde_json::from_str(text).map_err(|e| ConfigError::new_err(e.to_string()))?;
    let named = Named::read(&table, "devices").map_err(refused)?;
    Ok(named.0)
}

/// Returns the designs by name, and the circuit switches of the papers.
#[pyfunction]
pub fn device_presets() -> String {
    let designs = PRESETS.iter().map(|preset| {
        let design = (preset.design)();
        json!({ "name": preset.name, "summary": preset.summary, "design": design })
    });
    json!({ "designs": Value::from_iter(designs), "switches": SWITCHES }).to_string()
}

/// Returns the JSON Schema of a design.
#[pyfunction]
pub fn device_schema() -> String {
    schemars::schema_for!(Design).to_value().to_string()
}

/// Returns the design with all defaults and its derived values.
#[pyfunction]
pub fn derive_devices(py: Python<'_>, text: &str) -> PyResult<String> {
    let design = read(text)?;
    let derived = py.detach(|| design.derive()).map_err(refused)?;
    let by_distance = py.detach(|| design.laser.tuning(design.grating.ports).by_distance());
    let both = json!({ "design": design, "derived": derived, "tuning_by_distance": by_distance });
    Ok(both.to_string())
}

/// Returns a circuit switch with all defaults, and its link budget (null if its loss is not known).
#[pyfunction]
pub fn derive_switch(text: &str) -> PyResult<String> {
    let table: Value =
        serde_json::from_str(text).map_err(|e| ConfigError::new_err(e.to_string()))?;
    let switch = Named::<SwitchDesign>::read(&table, "devices")
        .map_err(refused)?
        .0;
    switch.check("devices").map_err(refused)?;
    let budget = switch.budget("devices").map_err(refused)?;
    Ok(json!({ "design": switch, "budget": budget }).to_string())
}

/// Returns the tuning times from each wavelength (row) to each wavelength (column) [ps].
#[pyfunction]
pub fn laser_tuning<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyArray2<i64>>> {
    columns::load_numpy(py)?;
    let design = read(text)?;
    design.laser.check("devices").map_err(refused)?;
    let tuning = py.detach(|| design.laser.tuning(design.grating.ports));
    let side = tuning.wavelengths as usize;
    let times = tuning.times.into_iter().map(|time| time.0).collect();
    PyArray1::from_vec(py, times).reshape([side, side])
}

/// Returns the gratings of Sirius' uplink plan: for each bank its uplinks, its gratings and their
/// ports.
#[pyfunction]
pub fn sirius_banks(
    plan: &str,
    nodes: u32,
    ports: u32,
    uplinks: u32,
) -> PyResult<Vec<(u32, u32, u32)>> {
    let plan = serde_json::from_value(Value::from(plan))
        .map_err(|e| ConfigError::new_err(format!("uplink_plan: {e}")))?;
    let wiring = gratings(plan, nodes, ports, uplinks).map_err(|unwirable| {
        let numbers = format!("{nodes} nodes, {uplinks} uplinks, {ports} ports");
        ConfigError::new_err(format!("no plan wires {numbers}: {unwirable:?}"))
    })?;
    let bank = |bank: &Bank| (bank.uplinks, bank.gratings(), bank.awgr.ports);
    Ok(wiring.banks.iter().map(bank).collect())
}
