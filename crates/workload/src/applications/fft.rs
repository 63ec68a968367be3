//! A parallel Fourier transform by matrix transposes (c-Through §6.3, FFTW over MPI).
//!
//! Each node holds a slab of the matrix, transforms its rows, and exchanges one block with every
//! other node so that columns become rows, with a global barrier before and after each exchange.
//! FFTW exchanges blocks partner by partner. Messages of the barrier itself, and nodes with
//! different computing speeds, are not modelled.

use crate::collectives::Exchange;
use crate::sizes::MAX_BYTES;
use crate::tasks::{check, Application, Extent, Placement, Site};
use lightloom_engine::{Bytes, Cluster, Node, Refusal, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A parallel Fourier transform: matrix transposes, separated by global barriers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Fft {
    /// Number of complex elements of the matrix (c-Through §6.3: 256 M).
    pub elements: u64,
    /// Size of an element, a double-precision complex number [B]. The matrix has 4 GB (c-Through
    /// §6.3), and 15 nodes exchange blocks of 19 MB.
    pub element: Bytes,
    /// Number of nodes. Default 15 (c-Through §6.3).
    pub hosts: Option<u32>,
    /// Selection of the servers: "first" (the default), "spread" or a list.
    pub placement: Placement,
    /// Number of transposes of the matrix. Default 2: there, and back to its original order (FFTW's
    /// default).
    pub transposes: u32,
    /// Computation time of every node before each transpose [s]. The default is derived: a
    /// transform of 2^28 elements takes 5 N log2 N = 37.6 G operations, half of them before each of
    /// 2 transposes, on 15 nodes with 1 G operations per second (an assumption: one core of
    /// c-Through's servers).
    pub compute: Time,
    /// Order in which blocks are exchanged. Default: "tournament", the order of FFTW over MPI,
    /// which c-Through §6.3 runs.
    pub exchange: Exchange,
}

impl Default for Fft {
    fn default() -> Fft {
        Fft {
            elements: 1 << 28,
            element: Bytes(16),
            hosts: None,
            placement: Placement::First,
            transposes: 2,
            compute: Time::MS * 1_250,
            exchange: Exchange::Tournament,
        }
    }
}

/// The number of nodes in the paper's run, the default without `hosts` or a list.
const NODES: u32 = 15;

impl Fft {
    fn count(&self) -> Option<u32> {
        match self.placement {
            Placement::List(_) => self.hosts,
            _ => Some(self.hosts.unwrap_or(NODES)),
        }
    }

    fn matrix(&self) -> u64 {
        self.elements.saturating_mul(self.element.0)
    }
}

impl Application for Fft {
    fn resolve(mut self, cluster: &Cluster) -> Result<Fft, Refusal> {
        check::bytes("element", self.element, 1)?;
        let hosts = self.placement.hosts(self.count(), 2, cluster)?.len() as u32;
        self.hosts = Some(hosts);
        check::count("transposes", self.transposes as u64, 1 << 20)?;
        if self.elements < (hosts as u64).pow(2) {
            return Err(Refusal::new(
                "elements",
                self.elements,
                format!("{hosts} nodes exchange {hosts} × {hosts} blocks of at least one"),
                "raise it, or lower hosts",
            ));
        }
        if self.matrix() > MAX_BYTES {
            let limit = format!("of {} each take more than 9 PB", self.element);
            return Err(Refusal::new("elements", self.elements, limit, "lower it"));
        }
        Ok(self)
    }

    fn extent(&self, _: &Cluster) -> Extent {
        let n = self.hosts.unwrap_or(NODES) as u64;
        let blocks = n.saturating_mul(n - 1);
        let phase = self.exchange.extent(n) + Extent::job(blocks);
        phase.times(self.transposes as u64) + Extent::job(blocks)
    }

    fn build(&self, site: &mut Site) -> Vec<Node> {
        let hosts = self.placement.hosts(self.hosts, 2, site.cluster);
        let hosts = hosts.expect("a resolved placement fits");
        let n = hosts.len() as u64;
        let (elements, size) = (self.elements, self.element.0);
        let block = |i: usize, j: usize| {
            check::part(check::part(elements, n, i as u64), n, j as u64) * size
        };
        let mut last = Vec::new();
        for _ in 0..self.transposes {
            let barrier = site.dag.barrier(self.compute, &last);
            last = self.exchange.build(&hosts, block, &[barrier], site.dag);
        }
        last
    }
}
