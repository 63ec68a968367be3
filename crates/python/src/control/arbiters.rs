//! iSLIP and DRRM on tables of requests.

use super::arrays::{booleans, indices};
use lightloom_control::algorithms::drrm::Drrm;
use lightloom_control::algorithms::islip::Islip;
use lightloom_control::algorithms::round_robin::Set;
use numpy::PyArray1;
use pyo3::prelude::*;

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(control_islip, m)?)?;
    m.add_function(wrap_pyfunction!(control_drrm, m)?)
}

type Row<'py> = Bound<'py, PyArray1<i64>>;

/// The result of an arbiter: the output of each input, and both kinds of pointers.
struct Agreed {
    output_of: Vec<Option<u32>>,
    pointers: [Vec<u32>; 2],
}

/// Converts requests, row by row, to the sets that arbiters use.
fn sets<const W: usize>(ports: usize, at: impl Fn(usize, usize) -> bool) -> Vec<Set<W>> {
    let set = |of: usize| {
        let mut set = [0; W];
        let members = (0..ports).filter(|&port| at(of, port));
        members.for_each(|port| set[port / 64] |= 1 << (port % 64));
        set
    };
    (0..ports).map(set).collect()
}

fn islip<const W: usize>(requests: &[bool], [grant, accept]: &Pointers, rounds: usize) -> Agreed {
    let ports = grant.len();
    let sets = sets::<W>(ports, |output, input| requests[input * ports + output]);
    let mut switch = Islip::<W>::with_pointers(grant, accept);
    let mut output_of = vec![None; ports];
    switch.schedule(
        rounds,
        |output| sets[output],
        |i, o| output_of[i] = Some(o as u32),
    );
    let (grant, accept) = switch.pointers();
    let pointers = [grant.to_vec(), accept.to_vec()];
    Agreed {
        output_of,
        pointers,
    }
}

fn drrm<const W: usize>(requests: &[bool], [request, grant]: &Pointers, rounds: usize) -> Agreed {
    let ports = grant.len();
    let sets = sets::<W>(ports, |input, output| requests[input * ports + output]);
    let mut switch = Drrm::<W>::with_pointers(request, grant);
    let mut output_of = vec![None; ports];
    switch.schedule(
        rounds,
        |input| sets[input],
        |i, o| output_of[i] = Some(o as u32),
    );
    let (request, grant) = switch.pointers();
    let pointers = [request.to_vec(), grant.to_vec()];
    Agreed {
        output_of,
        pointers,
    }
}

type Pointers = [Vec<u32>; 2];
type Answer<'py> = (Row<'py>, Row<'py>, Row<'py>);

fn answer(py: Python<'_>, agreed: Agreed) -> Answer<'_> {
    let [first, second] = &agreed.pointers;
    (
        indices(py, agreed.output_of),
        indices(py, first.iter().copied().map(Some)),
        indices(py, second.iter().copied().map(Some)),
    )
}

/// Returns the output of every input, and the pointers afterwards: of outputs, of inputs. Python
/// has checked that the numbers of pointers match the rows and columns of the requests.
#[pyfunction]
fn control_islip<'py>(
    py: Python<'py>,
    requests: &Bound<'py, PyAny>,
    grant: Vec<u32>,
    accept: Vec<u32>,
    rounds: usize,
) -> PyResult<Answer<'py>> {
    let (ports, _, requests) = booleans(requests)?;
    let pointers = [grant, accept];
    let agreed = py.detach(|| match ports {
        0..=64 => islip::<1>(&requests, &pointers, rounds),
        65..=256 => islip::<4>(&requests, &pointers, rounds),
        257..=1024 => islip::<16>(&requests, &pointers, rounds),
        _ => islip::<256>(&requests, &pointers, rounds),
    });
    Ok(answer(py, agreed))
}

/// Returns the output of every input, and the pointers afterwards: of inputs, of outputs.
#[pyfunction]
fn control_drrm<'py>(
    py: Python<'py>,
    requests: &Bound<'py, PyAny>,
    request: Vec<u32>,
    grant: Vec<u32>,
    rounds: usize,
) -> PyResult<Answer<'py>> {
    let (ports, _, requests) = booleans(requests)?;
    let pointers = [request, grant];
    let agreed = py.detach(|| match ports {
        0..=64 => drrm::<1>(&requests, &pointers, rounds),
        65..=256 => drrm::<4>(&requests, &pointers, rounds),
        257..=1024 => drrm::<16>(&requests, &pointers, rounds),
        _ => drrm::<256>(&requests, &pointers, rounds),
    });
    Ok(answer(py, agreed))
}
