//! Topologies of several planes, and paths over them.

use super::arrays::{demand, table};
use super::{named, solve};
use lightloom_control::algorithms::multihop::{self, Hardware, Need, Options, Topology};
use lightloom_control::algorithms::vlan;
use lightloom_engine::Refusal;
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<ControlTopology>()?;
    m.add_function(wrap_pyfunction!(control_multihop, m)?)?;
    m.add_function(wrap_pyfunction!(control_vlans, m)?)
}

type Any<'a, 'py> = &'a Bound<'py, PyAny>;
type Row<'py> = Bound<'py, PyArray1<i64>>;
type Table<'py> = Bound<'py, PyArray2<i64>>;

/// Circuits and the demands that use them; parts can be changed.
#[pyclass(frozen)]
pub struct ControlTopology {
    topology: Topology,
    hops: u32,
    without_ports: bool,
}

impl ControlTopology {
    /// The topology that a policy computed by the heuristic with these options.
    pub fn of(topology: Topology, options: Options) -> ControlTopology {
        ControlTopology {
            topology,
            hops: options.hops,
            without_ports: options.without_ports,
        }
    }

    fn options(&self) -> Options {
        Options {
            hops: self.hops,
            without_ports: self.without_ports,
        }
    }
}

fn need(each: Option<i64>) -> Need {
    each.map_or(Need::Larger, Need::Each)
}

/// Computes the topology for all demands.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // the same arguments as its Python function
fn control_multihop(
    py: Python<'_>,
    matrix: Any<'_, '_>,
    planes: u32,
    ports: u32,
    radix: Option<u32>,
    capacity: i64,
    each: Option<i64>,
    hops: u32,
    without_ports: bool,
) -> PyResult<ControlTopology> {
    let matrix = demand(matrix)?;
    let plain = Hardware::new(matrix.n() as u32, planes, capacity);
    let hardware = Hardware {
        ports,
        radix: radix.unwrap_or(plain.racks.saturating_mul(ports)),
        ..plain
    };
    let options = Options {
        hops,
        without_ports,
    };
    let topology = solve(py, move || {
        multihop::plan(hardware, &multihop::demands(&matrix, need(each)), options)
    })?;
    Ok(ControlTopology {
        topology,
        hops,
        without_ports,
    })
}

#[pymethods]
impl ControlTopology {
    /// One row for each circuit: a, b, plane, and the capacity that no path has reserved.
    fn circuits<'py>(&self, py: Python<'py>) -> PyResult<Table<'py>> {
        let circuits = self.topology.circuits.iter();
        let rows = circuits.flat_map(|c| [c.a.into(), c.b.into(), c.plane.into(), c.residual]);
        table(py, 4, rows.collect())
    }

    /// One row for each demand: a, b, weight, need, and the length of its path.
    fn demands<'py>(&self, py: Python<'py>) -> PyResult<Table<'py>> {
        let demands = self.topology.demands.iter().zip(&self.topology.routes);
        let rows = demands
            .flat_map(|(d, route)| [d.a.into(), d.b.into(), d.weight, d.need, route.len() as i64]);
        table(py, 5, rows.collect())
    }

    /// The circuits of all paths, one path after another.
    fn routes<'py>(&self, py: Python<'py>) -> Row<'py> {
        let routes = self.topology.routes.iter().flatten();
        PyArray1::from_vec(py, routes.map(|&circuit| circuit.into()).collect())
    }

    /// The racks of all existing paths, one path after another.
    fn racks<'py>(&self, py: Python<'py>) -> Row<'py> {
        let demands = 0..self.topology.demands.len();
        let racks = demands.flat_map(|at| self.topology.racks(at));
        PyArray1::from_vec(py, racks.map(i64::from).collect())
    }

    /// Computes the topology after listed ports and demands have changed.
    fn reconfigure(
        &self,
        py: Python<'_>,
        ports: Vec<(u32, u32)>,
        released: Vec<usize>,
        matrix: Option<Any<'_, '_>>,
        each: Option<i64>,
    ) -> PyResult<ControlTopology> {
        let coming = match matrix {
            Some(matrix) => multihop::demands(&self.sized(matrix)?, need(each)),
            None => Vec::new(),
        };
        let (before, options) = (self.topology.clone(), self.options());
        let topology = solve(py, move || {
            before.reconfigure(&ports, &released, &coming, options)
        })?;
        Ok(ControlTopology { topology, ..*self })
    }
}

impl ControlTopology {
    /// Reads a demand whose size matches the number of racks.
    fn sized(&self, matrix: Any<'_, '_>) -> PyResult<lightloom_control::demand::Matrix> {
        let matrix = demand(matrix)?;
        let racks = self.topology.hardware.racks as usize;
        if matrix.n() == racks {
            return Ok(matrix);
        }
        Err(named(Refusal::new(
            "demand",
            format!("{0} x {0} numbers", matrix.n()),
            format!("the topology has {racks} racks"),
            "give a row and a column for each",
        )))
    }
}

type Allocated<'py> = (Row<'py>, Table<'py>, Vec<Vec<u32>>, usize, usize);

/// Returns the VLAN of every path, -1 if it has none; the circuits, one per row; those of every
/// VLAN; the number of paths that are not part of others; and the lower bound.
#[pyfunction]
fn control_vlans<'py>(
    py: Python<'py>,
    circuits: Option<Vec<(u32, u32)>>,
    paths: Vec<Vec<u32>>,
    seed: u64,
) -> PyResult<Allocated<'py>> {
    let (found, circuits) = solve(py, move || {
        let (circuits, paths) = match circuits {
            Some(circuits) => (circuits, paths),
            None => vlan::from_racks(&paths),
        };
        Ok((vlan::allocate(&circuits, &paths, seed)?, circuits))
    })?;
    let vlan_of = found.vlan_of.iter().map(|vlan| vlan.map_or(-1, i64::from));
    let ends = circuits.iter().flat_map(|&(a, b)| [a.into(), b.into()]);
    Ok((
        PyArray1::from_vec(py, vlan_of.collect()),
        table(py, 2, ends.collect())?,
        found.circuits,
        found.distinct,
        found.lower_bound,
    ))
}
