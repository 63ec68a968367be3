//! The data planes of the Linux testbed; `_core.pyi` documents the classes.

use lightloom_testbed::backlog::Backlog;
use lightloom_testbed::counters;
use lightloom_testbed::kernel_plane::{KernelPlane, Port, Role, BUILT, FIRST_TAG, NOWHERE, TAGS};
use lightloom_testbed::sockets::Sockets;
use lightloom_testbed::user_plane::days::{Schedule, Slot};
use lightloom_testbed::user_plane::{Host, Settings, UserPlane};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("TESTBED_KERNEL_PLANE", BUILT)?;
    m.add("TESTBED_NOWHERE", NOWHERE)?;
    m.add("TESTBED_FIRST_TAG", FIRST_TAG)?;
    m.add("TESTBED_TAGS", TAGS)?;
    m.add_class::<TestbedKernelPlane>()?;
    m.add_class::<TestbedUserPlane>()?;
    m.add_class::<TestbedSockets>()?;
    m.add_class::<TestbedBacklog>()?;
    m.add_function(wrap_pyfunction!(testbed_counters, m)?)
}

/// An interface: name, index, rack, role, and the number of its host or optical switch.
type Row = (String, u32, u32, String, u32);

fn port((name, index, rack, role, number): Row) -> PyResult<Port> {
    let role = match role.as_str() {
        "host" => Role::Host(number),
        "tor-electrical" => Role::TorElectrical,
        "tor-optical" => Role::TorOptical(number),
        "core" => Role::Core,
        "ocs" => Role::Ocs(number),
        other => return Err(PyValueError::new_err(format!("no role is called {other}"))),
    };
    Ok(Port {
        name,
        index,
        rack,
        role,
    })
}

#[pyclass(module = "lightloom._core", unsendable)]
struct TestbedKernelPlane(KernelPlane);

#[pymethods]
impl TestbedKernelPlane {
    #[new]
    fn new(
        namespace: PathBuf,
        racks: u32,
        planes: u32,
        electrical: bool,
        ports: Vec<Row>,
    ) -> PyResult<TestbedKernelPlane> {
        let ports: Vec<Port> = ports.into_iter().map(port).collect::<PyResult<_>>()?;
        let plane = KernelPlane::new(&namespace, racks, planes, electrical, &ports)?;
        Ok(TestbedKernelPlane(plane))
    }

    fn classify(&mut self, namespaces: Vec<PathBuf>, device: String) -> PyResult<()> {
        Ok(self.0.classify(&namespaces, &device)?)
    }

    fn lead(&mut self, next: Vec<u32>) -> PyResult<()> {
        Ok(self.0.lead(&next)?)
    }

    fn lead_tagged(&mut self, rows: Vec<(u32, u32, u32, u32)>) -> PyResult<()> {
        Ok(self.0.lead_tagged(&rows)?)
    }

    fn cross(&mut self, outputs: Vec<u32>) -> PyResult<()> {
        Ok(self.0.cross(&outputs)?)
    }

    fn lost(&mut self) -> PyResult<(u64, u64, u64)> {
        let lost = self.0.lost()?;
        Ok((lost.dark, lost.strange, lost.nowhere))
    }
}

#[pyclass(module = "lightloom._core", unsendable)]
struct TestbedUserPlane(UserPlane);

#[pymethods]
impl TestbedUserPlane {
    #[new]
    fn new(
        hosts: Vec<(PathBuf, u32, u32)>,
        racks: u32,
        rate_bps: u64,
        device: String,
        mtu: usize,
        frames: usize,
    ) -> PyResult<TestbedUserPlane> {
        let of = |(namespace, rack, number)| Host {
            namespace,
            rack,
            number,
        };
        let hosts: Vec<Host> = hosts.into_iter().map(of).collect();
        let settings = Settings {
            racks,
            rate_bps,
            device,
            mtu,
            frames,
        };
        Ok(TestbedUserPlane(UserPlane::new(&settings, &hosts)?))
    }

    fn follow(&self, night_ns: u64, slots: Vec<(Vec<u32>, u64)>) -> PyResult<()> {
        let slots = { slots.into_iter() }.map(|(outputs, day_ns)| Slot { outputs, day_ns });
        let schedule = Schedule {
            night_ns,
            slots: slots.collect(),
        };
        Ok(self.0.follow(schedule)?)
    }

    fn works(&self) -> bool {
        self.0.works()
    }

    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counts = self.0.counts();
        let found = PyDict::new(py);
        let numbers = [
            ("frames", counts.frames),
            ("in_day", counts.in_day),
            ("out_of_day", counts.out_of_day),
            ("lost", counts.lost),
            ("strange", counts.strange),
            ("sync", counts.sync),
            ("days", counts.days),
            ("missed_days", counts.missed_days),
        ];
        for (name, number) in numbers {
            found.set_item(name, number)?;
        }
        found.set_item("carried", counts.carried)?;
        found.set_item("waiting", counts.waiting)?;
        found.set_item("offered", counts.offered)?;
        found.set_item("lateness_ns", counts.lateness_ns.to_vec())?;
        Ok(found)
    }

    fn stop(&mut self, py: Python<'_>) -> PyResult<()> {
        let plane = &mut self.0;
        // The thread of the plane needs no interpreter.
        let stopped = plane.stop();
        let _ = py;
        Ok(stopped?)
    }
}

#[pyclass(module = "lightloom._core", unsendable)]
struct TestbedSockets(Sockets);

#[pymethods]
impl TestbedSockets {
    #[new]
    fn new(namespace: PathBuf) -> PyResult<TestbedSockets> {
        Ok(TestbedSockets(Sockets::of(&namespace)?))
    }

    fn waiting(&mut self) -> PyResult<BTreeMap<String, u64>> {
        let waiting: BTreeMap<Ipv4Addr, u64> = self.0.waiting()?;
        let texts = waiting
            .into_iter()
            .map(|(peer, bytes)| (peer.to_string(), bytes));
        Ok(texts.collect())
    }
}

#[pyclass(module = "lightloom._core", unsendable)]
struct TestbedBacklog(Backlog);

#[pymethods]
impl TestbedBacklog {
    #[new]
    fn new(namespace: PathBuf) -> PyResult<TestbedBacklog> {
        Ok(TestbedBacklog(Backlog::of(&namespace)?))
    }

    fn read(&mut self) -> PyResult<BTreeMap<u32, (u32, u32)>> {
        let queues = self.0.read()?.into_iter();
        Ok(queues.map(|(at, q)| (at, (q.bytes, q.drops))).collect())
    }
}

/// For each interface: bytes, packets and drops received, then sent.
type Columns = (u64, u64, u64, u64, u64, u64);

#[pyfunction]
fn testbed_counters(namespace: PathBuf) -> PyResult<BTreeMap<String, Columns>> {
    let found = counters::read(Path::new(&namespace))?;
    let columns = |c: counters::Counters| {
        let received = (c.rx_bytes, c.rx_packets, c.rx_dropped);
        (
            received.0,
            received.1,
            received.2,
            c.tx_bytes,
            c.tx_packets,
            c.tx_dropped,
        )
    };
    Ok(found
        .into_iter()
        .map(|(name, c)| (name, columns(c)))
        .collect())
}
