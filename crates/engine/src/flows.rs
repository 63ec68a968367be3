//! Flow columns: the flows to send, and their results.
//!
//! A workload fills the first group of columns, a run the second. A closed-loop
//! workload is a graph: a flow starts `delay` after the last of the flows it
//! depends on has been delivered. [`Dag`](crate::Dag) builds such graphs.

use crate::ids::{FlowId, HostId};
use crate::time::Time;

/// Flows as a struct of arrays; rows are sorted by `arrival` where it is known.
#[derive(Clone, Debug, Default)]
pub struct Flows {
    /// Source host.
    pub src: Vec<HostId>,
    /// Destination host.
    pub dst: Vec<HostId>,
    /// Size [B], at least 1; 0 for a flow that sends until the end of the run, before that time is
    /// known.
    pub bytes: Vec<u64>,
    /// Time at which the flow is offered; [`Time::NEVER`] until its dependencies are delivered.
    pub arrival: Vec<Time>,
    /// Index into `groups`: the job or collective this flow belongs to.
    pub group: Vec<u16>,
    /// Names of the groups; entry 0 is empty.
    pub groups: Vec<String>,
    /// Time at which the fabric first served the flow; [`Time::NEVER`] if it has not been served.
    pub start: Vec<Time>,
    /// Time at which the last byte was delivered; [`Time::NEVER`] if the flow is unfinished.
    pub finish: Vec<Time>,
    /// Bytes delivered so far.
    pub delivered: Vec<u64>,
    /// Mean number of hops of the bytes delivered; NaN if unknown.
    pub hops: Vec<f32>,
    /// The dependency graph; empty for open-loop workloads.
    pub after: Dependencies,
    /// Flows that send until the end of the run, in order; their `bytes` are more than a server can
    /// send in the run.
    pub endless: Vec<FlowId>,
}

/// Dependencies in compressed rows: `edges[starts[f]..starts[f + 1]]` are the nodes that wait for
/// node `f`.
///
/// Nodes are the flows, by their rows, followed by the barriers: points without bytes that are
/// reached `delay` after the last of their predecessors (at `delay` if they have none). With a
/// barrier, n flows that wait for n others need 2n edges, not n². Fabrics never see barriers.
///
/// The last nodes may be turnstiles: each time a turnstile is reached, it releases the next of the
/// nodes that wait for it, in the order of its row; after the last one it has no effect. A
/// turnstile never waits for a turnstile.
#[derive(Clone, Debug, Default)]
pub struct Dependencies {
    /// Row starts, one more than nodes; empty if there are no dependencies.
    pub starts: Vec<u32>,
    /// Waiting nodes.
    pub edges: Vec<FlowId>,
    /// The number of deliveries and barriers that each node still waits for.
    pub missing: Vec<u32>,
    /// Compute time of each node: from the last of these to the start of the flow or to the
    /// barrier.
    pub delay: Vec<Time>,
    /// The jobs of the graph, in the order in which they begin.
    pub jobs: Vec<Job>,
    /// The number of turnstiles, which are the last nodes.
    pub turnstiles: u32,
}

/// A job: the part of a graph between two barriers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The name of the job in results.
    pub name: String,
    /// The barrier at which the job begins; time zero if there is none.
    pub begin: Option<FlowId>,
    /// The barrier that is reached when the whole job is done.
    pub end: FlowId,
}

/// Length of an initial pause ÷ mean time between arrivals above which the pause is excluded; with
/// Poisson arrivals, one run in 22,000 begins with such a pause.
const SILENCE: i128 = 10;

impl Flows {
    /// No flows, and one unnamed group.
    pub fn new() -> Flows {
        Flows {
            groups: vec![String::new()],
            ..Flows::default()
        }
    }

    /// The number of flows.
    pub fn len(&self) -> usize {
        self.src.len()
    }

    /// Whether there are no flows.
    pub fn is_empty(&self) -> bool {
        self.src.is_empty()
    }

    /// Adds an open-loop flow in the unnamed group; returns its row.
    pub fn push(&mut self, src: HostId, dst: HostId, bytes: u64, arrival: Time) -> FlowId {
        let id = FlowId(self.src.len() as u32);
        self.src.push(src);
        self.dst.push(dst);
        self.bytes.push(bytes);
        self.arrival.push(arrival);
        self.group.push(0);
        self.start.push(Time::NEVER);
        self.finish.push(Time::NEVER);
        self.delivered.push(0);
        self.hops.push(f32::NAN);
        id
    }

    /// Sorts the rows by arrival, keeping the order of equals. Only for
    /// open-loop flows that have not run.
    ///
    /// # Panics
    /// If flows depend on each other: rows are then named by their index.
    pub fn sort_by_arrival(&mut self) {
        assert!(
            self.after.starts.is_empty(),
            "closed-loop flows keep their rows"
        );
        if self.arrival.is_sorted() {
            return;
        }
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        order.sort_by_key(|&f| self.arrival[f as usize]);
        self.src = order.iter().map(|&f| self.src[f as usize]).collect();
        self.dst = order.iter().map(|&f| self.dst[f as usize]).collect();
        self.bytes = order.iter().map(|&f| self.bytes[f as usize]).collect();
        self.arrival = order.iter().map(|&f| self.arrival[f as usize]).collect();
        self.group = order.iter().map(|&f| self.group[f as usize]).collect();
    }

    /// Sum of the sizes [B].
    pub fn total_bytes(&self) -> u64 {
        self.bytes.iter().sum()
    }

    /// Time from which loads are counted. It is 0, except for a trace that begins with a pause
    /// longer than `SILENCE` times the mean time between its arrivals; then it is the first
    /// arrival.
    pub fn first_arrival(&self) -> Time {
        let known = self.arrival.iter().copied().filter(|&t| t != Time::NEVER);
        let (first, count) = known.fold((Time::NEVER, 0), |(first, count), at| {
            (first.min(at), count + 1)
        });
        let span = || i128::from((self.last_arrival() - first).0);
        match count > 1 && i128::from(first.0) * (count - 1) > span() * SILENCE {
            true => first,
            false => Time::ZERO,
        }
    }

    /// The latest arrival that is known before the run.
    pub fn last_arrival(&self) -> Time {
        self.arrival
            .iter()
            .copied()
            .filter(|&t| t != Time::NEVER)
            .max()
            .unwrap_or(Time::ZERO)
    }
}

impl Dependencies {
    /// Returns the graph of nodes with these delays and edges (dependent node, predecessor). Rows
    /// keep the order of the edges.
    pub fn of(delay: Vec<Time>, edges: &[(FlowId, FlowId)]) -> Dependencies {
        let nodes = delay.len();
        let (mut starts, mut missing) = (vec![0u32; nodes + 1], vec![0u32; nodes]);
        for &(waits, before) in edges {
            missing[waits.index()] += 1;
            starts[before.index() + 1] += 1;
        }
        for n in 0..nodes {
            starts[n + 1] += starts[n];
        }
        let mut next = starts.clone();
        let mut rows = vec![FlowId(0); edges.len()];
        for &(waits, before) in edges {
            let slot = &mut next[before.index()];
            rows[*slot as usize] = waits;
            *slot += 1;
        }
        Dependencies {
            starts,
            edges: rows,
            missing,
            delay,
            ..Dependencies::default()
        }
    }

    /// The index of `node` among the turnstiles, if it is one.
    #[inline]
    pub fn turnstile(&self, node: FlowId) -> Option<usize> {
        let first = self.nodes() - self.turnstiles as usize;
        node.index().checked_sub(first)
    }

    /// Memory of a node [B]: its row start, its missing predecessors, its delay, and in
    /// [`Io`](crate::Io) its latest predecessor and its position in the order of arrival.
    pub const BYTES_PER_NODE: u64 = 40;
    /// Memory of an edge [B].
    pub const BYTES_PER_EDGE: u64 = 4;

    /// Whether there are no dependencies.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// The number of flows and barriers.
    pub fn nodes(&self) -> usize {
        self.missing.len()
    }

    /// The positions in `edges` of the nodes that wait for `node`.
    #[inline]
    pub fn row(&self, node: FlowId) -> std::ops::Range<usize> {
        match self.starts.get(node.index()..node.index() + 2) {
            Some(row) => row[0] as usize..row[1] as usize,
            None => 0..0,
        }
    }

    /// The nodes that wait for `node`.
    pub fn waiting_for(&self, node: FlowId) -> &[FlowId] {
        &self.edges[self.row(node)]
    }

    /// Memory that the graph takes during a run [B].
    pub fn memory(&self) -> u64 {
        self.nodes() as u64 * Self::BYTES_PER_NODE + self.edges.len() as u64 * Self::BYTES_PER_EDGE
    }
}
