//! The inputs of an invariant: servers, a fabric's table, flows, faults, and the horizons of the
//! engine.

use crate::trials;
use lightloom_engine::run::Fault;
use lightloom_engine::{Cluster, Dependencies, FlowId, Flows, HostId, Time};
use proptest::prelude::*;
use serde_json::Value;
use std::fmt;

/// One random experiment. Shrinks to few, small, early flows.
#[derive(Clone)]
pub struct Scenario {
    /// The servers.
    pub cluster: Cluster,
    /// The fabric's table, as a user writes it.
    pub table: Value,
    /// The flows, before the number of servers is known.
    pub rows: Vec<Row>,
    /// Seed of the fabric's streams.
    pub seed: u64,
    /// First distance between horizons.
    pub step: Time,
    /// Positions of random horizons, as fractions of the run.
    pub cuts: Vec<f64>,
    /// Faults, for fabrics that model them.
    pub faults: Vec<Fault>,
    /// Whether all flows finish if all parts work in the end.
    pub delivers: bool,
}

/// One flow.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    src: u32,
    dst: Target,
    bytes: u64,
    /// Time since the arrival of the previous flow.
    gap: Time,
    /// Up to two earlier flows on which it depends (closed loop).
    after: [Option<u32>; 2],
    /// Time from the end of the last of them to its own start.
    delay: Time,
}

/// The destination of a flow.
#[derive(Clone, Copy, Debug)]
enum Target {
    Anyone(u32),
    SameRack(u32),
    /// All hosts send to host 0: an incast.
    First,
}

impl fmt::Debug for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:?}\n{}", self.cluster, self.table)?;
        writeln!(
            f,
            "seed {}, step {}, cuts {:?}",
            self.seed, self.step, self.cuts
        )?;
        writeln!(f, "faults {:?}", self.faults)?;
        let flows = self.flows();
        for i in 0..flows.len() {
            let (src, dst) = (flows.src[i].0, flows.dst[i].0);
            let (bytes, at) = (flows.bytes[i], flows.arrival[i].0);
            writeln!(
                f,
                "flow {i}: {src} -> {dst}, {bytes} B at {at} ps, frees {:?}",
                flows.after.waiting_for(FlowId(i as u32))
            )?;
        }
        Ok(())
    }
}

/// Scenarios for the fabric `kind`.
pub fn scenarios(kind: &'static str) -> impl Strategy<Value = Scenario> {
    let table = (trials::of(kind).tables)();
    let rows = prop_oneof![
        2 => prop::collection::vec(row(false), 1..40),
        1 => prop::collection::vec(row(true), 1..40),
    ];
    let cuts = prop::collection::vec(0.0..1.0, 0..12);
    let step = (10i64..10_000).prop_map(|ns| Time::NS * ns);
    (table, rows, any::<u64>(), step, cuts).prop_map(|(site, rows, seed, step, cuts)| Scenario {
        cluster: site.cluster,
        table: site.table,
        faults: site.faults,
        delivers: site.delivers,
        rows,
        seed,
        step,
        cuts,
    })
}

fn row(closed_loop: bool) -> impl Strategy<Value = Row> {
    let dst = prop_oneof![
        6 => any::<u32>().prop_map(Target::Anyone),
        1 => any::<u32>().prop_map(Target::SameRack),
        1 => Just(Target::First),
    ];
    let bytes = prop_oneof![2 => 1u64..2_000, 2 => 1u64..30_000, 1 => 1u64..200_000];
    // Bursts, steady traffic, and idle times.
    let gap = prop_oneof![4 => Just(0), 4 => 0i64..2_000_000, 1 => 0i64..200_000_000];
    let after = match closed_loop {
        true => prop::array::uniform2(any::<Option<u32>>()).boxed(),
        false => Just([None, None]).boxed(),
    };
    let delay = prop_oneof![Just(0), 0i64..3_000_000];
    (any::<u32>(), dst, bytes, gap, after, delay).prop_map(
        |(src, dst, bytes, gap, after, delay)| Row {
            src,
            dst,
            bytes,
            gap: Time(gap),
            after,
            delay: Time(delay),
        },
    )
}

impl Scenario {
    /// The flows: rows in order of arrival; dependent flows have no arrival time.
    pub fn flows(&self) -> Flows {
        let mut flows = Flows::new();
        let mut now = Time::ZERO;
        for row in &self.rows {
            now += row.gap;
            let (src, dst) = self.ends(row);
            flows.push(src, dst, row.bytes, now);
        }
        self.link(&mut flows);
        flows
    }

    fn ends(&self, row: &Row) -> (HostId, HostId) {
        let (hosts, servers) = (self.cluster.hosts(), self.cluster.servers_per_rack);
        let src = row.src % hosts;
        let other = |k: u32| (src + 1 + k % (hosts - 1)) % hosts;
        let dst = match row.dst {
            Target::SameRack(k) if servers > 1 => {
                let rack = src - src % servers;
                rack + (src % servers + 1 + k % (servers - 1)) % servers
            }
            Target::First if src != 0 => 0,
            Target::First => other(0),
            Target::Anyone(k) | Target::SameRack(k) => other(k),
        };
        (HostId(src), HostId(dst))
    }

    /// Adds the dependencies of rows on earlier rows.
    fn link(&self, flows: &mut Flows) {
        let mut waiting = vec![Vec::new(); flows.len()];
        let mut missing = vec![0; flows.len()];
        for (i, row) in self.rows.iter().enumerate().skip(1) {
            let mut earlier: Vec<usize> = row
                .after
                .iter()
                .flatten()
                .map(|&k| k as usize % i)
                .collect();
            earlier.dedup();
            for before in earlier {
                waiting[before].push(FlowId(i as u32));
                missing[i] += 1;
                flows.arrival[i] = Time::NEVER;
            }
        }
        if missing.iter().all(|&m| m == 0) {
            return;
        }
        let mut after = Dependencies {
            starts: vec![0],
            missing,
            delay: self.rows.iter().map(|r| r.delay).collect(),
            ..Dependencies::default()
        };
        for edges in waiting {
            after.edges.extend(edges);
            after.starts.push(after.edges.len() as u32);
        }
        flows.after = after;
    }
}
