//! Shared parts of the tests of whole runs.

mod failures;
mod memory;
mod protocol;
mod servers;

use crate::contract::Site;
use crate::sirius::config::SiriusConfig;
use crate::sirius::index::{Label, Row};
use crate::sirius::kernel::Sirius;
use crate::sirius::shard::Shard;
use lightloom_engine::kernel::slot::Slotted;
use lightloom_engine::run::{run, Fault, Outcome, Plan, Silent, Stop};
use lightloom_engine::*;
use proptest::prelude::*;
use serde_json::{json, Value};

const SLOT: Time = Time(100 * Time::NS.0);

fn cluster(racks: u32, base: u64) -> Cluster {
    Cluster {
        racks,
        servers_per_rack: 2,
        server_rate: Rate(base * 25 * Rate::GBPS.0),
        nic: Nic::Uncapped,
    }
}

fn between(f: &mut Flows, src: u32, dst: u32, bytes: u64, at: Time) {
    f.push(HostId(2 * src), HostId(2 * dst + 1), bytes, at);
}

/// Every node sends to the next one.
fn permutation(c: &Cluster, bytes: u64) -> Flows {
    let mut f = Flows::new();
    (0..c.racks).for_each(|r| between(&mut f, r, (r + 1) % c.racks, bytes, Time::ZERO));
    f
}

/// `count` flows of up to `most` bytes, one every `gap`.
fn random(c: &Cluster, count: u32, most: u32, gap: Time, seed: u64) -> Flows {
    let (mut rng, mut f) = (Stream::new(seed, "test", 0), Flows::new());
    for k in 0..count {
        let (src, dst) = rng.below2(c.hosts(), c.hosts() - 1);
        let dst = (src + 1 + dst) % c.hosts();
        f.push(
            HostId(src),
            HostId(dst),
            1 + rng.below(most) as u64,
            gap * k as i64,
        );
    }
    f
}

struct Ran {
    out: Outcome,
    io: Io,
    fabric: Slotted<Sirius>,
}

struct Case {
    cluster: Cluster,
    table: Value,
    flows: Flows,
    faults: Vec<Fault>,
    stop: Stop,
    sample: Time,
    threads: usize,
    audit: bool,
}

impl Case {
    fn new(cluster: Cluster, table: Value, flows: Flows, faults: Vec<Fault>) -> Case {
        Case {
            cluster,
            table,
            flows,
            faults,
            stop: Stop::Drain,
            sample: SLOT * 37,
            threads: 1,
            audit: true,
        }
    }

    fn until(mut self, at: Time) -> Case {
        self.stop = Stop::At(at);
        self
    }

    fn run(&self) -> Ran {
        let config: SiriusConfig = lightloom_engine::config::read(&self.table, "fabric").unwrap();
        let derived = config.derive(&self.cluster).unwrap();
        let site = Site {
            threads: self.threads,
            ..Site::plain(&self.cluster, &self.flows)
        };
        let mut fabric = Slotted::new(Sirius::new(&config, derived, &site));
        let mut io = Io::new(self.flows.clone());
        io.audit = self.audit.then(Audit::default);
        let plan = Plan {
            stop: self.stop,
            limit: Time::MS * 50,
            sample: Some(self.sample),
            faults: self.faults.clone(),
        };
        let out = run(&mut fabric, &mut io, &plan, &mut Silent).unwrap();
        let ran = Ran { out, io, fabric };
        if self.audit {
            ran.check();
        }
        ran
    }
}

impl Ran {
    /// Cells queued and granted at all nodes, the sum of M: none when the fabric is idle.
    fn outstanding(&self) -> i64 {
        let kernel = self.fabric.kernel();
        let of = |s: &Shard| -> i64 {
            let nodes = kernel.cluster.racks as usize;
            let pairs = (0..s.rows).flat_map(|row| (0..nodes).map(move |d| (row, d)));
            pairs
                .map(|(row, d)| s.grants.count(Row(row), Label::new(d)) as i64)
                .sum()
        };
        kernel.shards.iter().map(of).sum()
    }

    /// Checks the invariants: bytes are conserved, light follows the schedule, every link carries
    /// one cell at a time; and when nothing moves any more, no grant is outstanding.
    fn check(&self) {
        for s in &self.out.samples {
            assert_eq!(s.view.in_flight_bytes, s.ledger.in_flight(), "at {}", s.at);
        }
        let audit = self.io.audit.as_ref().unwrap();
        assert!(audit.overlap(|t| t.tx).is_none() && audit.overlap(|t| t.rx).is_none());
        assert!(audit
            .transmissions
            .iter()
            .all(|t| self.fabric.lit(t.tx, t.rx, t.from)));
        assert!(self.fabric.kernel().longest_relay_queue() <= 4);
        if self.fabric.idle() {
            assert_eq!(self.outstanding(), 0, "M is released exactly");
            assert!(self.io.flows.delivered.iter().sum::<u64>() == self.io.ledger.delivered);
        }
    }

    fn losses(&self) -> u64 {
        self.io.ledger.losses
    }

    fn unfinished(&self) -> Vec<(u32, u32)> {
        let f = &self.io.flows;
        (0..f.len())
            .filter(|&k| f.finish[k] == Time::NEVER)
            .map(|k| (f.src[k].0 / 2, f.dst[k].0 / 2))
            .collect()
    }

    /// Bytes delivered between two samples.
    fn delivered(&self, from: Time, to: Time) -> f64 {
        let at = |t| {
            let s = self.out.samples.iter().rev().find(|s| s.at <= t);
            s.map_or(0, |s| s.ledger.delivered)
        };
        (at(to) - at(from)) as f64
    }
}

fn fail(at: Time, element: Element, loss: f64) -> Fault {
    let command = Command::Fail { element, loss };
    Fault { at, command }
}

fn repair(at: Time, element: Element) -> Fault {
    let command = Command::Repair(element);
    Fault { at, command }
}

const NODE: Element = Element::Node(5);
