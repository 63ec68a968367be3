//! Fabrics that break one invariant each: proof that the checks can fail.

use crate::{checks, refusals, scenarios};
use lightloom_engine::{
    Cluster, Command, Fabric, HostId, Io, Load, PortId, Rate, Refusal, Rejected, Reports, Shape,
    Time, Totals, View,
};
use lightloom_fabrics::{find, Entry, Site};
use proptest::test_runner::{Config, TestError, TestRunner};
use serde_json::{json, Value};

/// An error in a Clos network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    Miscounts,
    Forgets,
    Hurries,
    Foresees,
    SendsTwice,
    Overdrives,
    Darkens,
    HidesTraffic,
    CountsThreads,
    CountsSeed,
    CountsLooks,
    AcceptsAnything,
    BlamesAnother,
}

const FLAWS: &[(Flaw, &str)] = &[
    (Flaw::Miscounts, "conservation"),
    (Flaw::Forgets, "conservation"),
    (Flaw::Hurries, "causality"),
    (Flaw::Foresees, "causality"),
    (Flaw::SendsTwice, "capacity"),
    (Flaw::Overdrives, "capacity"),
    (Flaw::Darkens, "capacity"),
    (Flaw::HidesTraffic, "capacity"),
    (Flaw::CountsThreads, "determinism"),
    (Flaw::CountsSeed, "determinism"),
    (Flaw::CountsLooks, "horizons"),
    (Flaw::AcceptsAnything, "refusal"),
    (Flaw::BlamesAnother, "refusal"),
];

struct Broken {
    clos: Box<dyn Fabric>,
    flaw: Flaw,
    threads: i64,
    seed: u64,
    looks: u64,
}

fn clos() -> &'static Entry {
    find("clos").expect("registered")
}

fn build<const N: usize>(table: &Value, site: &Site) -> Result<Box<dyn Fabric>, Refusal> {
    Ok(Box::new(Broken {
        clos: (clos().build)(table, site)?,
        flaw: FLAWS[N].0,
        threads: site.threads as i64,
        seed: site.seed,
        looks: 0,
    }))
}

fn resolve<const N: usize>(table: &Value, cluster: &Cluster) -> Result<Value, Refusal> {
    let resolved = (clos().resolve)(table, cluster);
    match FLAWS[N].0 {
        Flaw::AcceptsAnything => Ok(resolved.unwrap_or_default()),
        Flaw::BlamesAnother => resolved.map_err(|e| Refusal {
            key: "fabric.kind".to_owned(),
            ..e
        }),
        _ => resolved,
    }
}

fn entry<const N: usize>() -> Entry {
    Entry {
        build: build::<N>,
        resolve: resolve::<N>,
        ..*clos()
    }
}

impl Broken {
    /// One delivered byte counts as dropped, for any horizons of the engine.
    fn forget(&self, io: &mut Io) {
        if io.ledger.dropped == 0 && io.ledger.delivered > 0 {
            io.ledger.delivered -= 1;
            io.ledger.dropped += 1;
        }
    }

    /// Moves the end of every flow that ended in the last step.
    fn finish_by(&self, by: Time, before: &[Time], io: &mut Io) {
        if !io.flows.after.starts.is_empty() {
            // Waiting flows would violate causality.
            return;
        }
        for (now, before) in io.flows.finish.iter_mut().zip(before) {
            if *now != *before {
                *now += by;
            }
        }
    }
}

impl Fabric for Broken {
    fn advance(&mut self, to: Time, io: &mut Io) {
        let before = io.flows.finish.clone();
        self.clos.advance(to, io);
        self.looks += 1;
        match self.flaw {
            Flaw::Hurries => self.finish_by(-Time::NS, &before, io),
            Flaw::Foresees => self.finish_by(Time::MS, &before, io),
            Flaw::CountsThreads => self.finish_by(Time(self.threads - 1), &before, io),
            Flaw::CountsSeed => self.finish_by(Time((self.seed % 2) as i64), &before, io),
            Flaw::Forgets => self.forget(io),
            _ => {}
        }
        let Some(audit) = &mut io.audit else {
            return;
        };
        match (self.flaw, audit.loads.last().copied()) {
            (Flaw::SendsTwice, Some(last)) => audit.loads.push(last),
            (Flaw::Overdrives, Some(last)) => {
                audit.loads.pop();
                let rate = Rate(last.capacity.0 + 1);
                audit.loads.push(Load { rate, ..last });
            }
            (Flaw::HidesTraffic, Some(_)) => audit.loads.clear(),
            _ => {}
        }
        match (self.flaw, audit.transmissions.last().copied()) {
            (Flaw::SendsTwice, Some(last)) => audit.transmissions.push(last),
            (Flaw::Overdrives, Some(last)) => {
                let most = self
                    .clos
                    .port_rate(last.tx)
                    .bytes_in(last.until - last.from);
                audit.transmissions.pop();
                audit.transmit(last.tx, last.rx, last.from, last.until, most + 2);
            }
            (Flaw::HidesTraffic, Some(_)) => audit.transmissions.clear(),
            _ => {}
        }
    }

    fn apply(&mut self, command: Command) -> Result<(), Rejected> {
        self.clos.apply(command)
    }

    fn idle(&self) -> bool {
        self.clos.idle()
    }
}

impl Reports for Broken {
    fn observe(&self, io: &Io, view: &mut View) {
        self.clos.observe(io, view);
        if self.flaw == Flaw::Miscounts && io.audit.is_some() {
            view.in_flight_bytes += 1;
        }
    }

    fn lit(&self, _: PortId, _: PortId, _: Time) -> bool {
        self.flaw != Flaw::Darkens
    }

    fn shape(&self) -> Shape {
        self.clos.shape()
    }

    fn totals(&self) -> Totals {
        let mut totals = self.clos.totals();
        if self.flaw == Flaw::CountsLooks {
            *totals.queue_peak_bytes.get_or_insert(0) += self.looks;
        }
        totals
    }

    fn settle(&self, io: &mut Io) {
        self.clos.settle(io)
    }

    fn soonest(&self, src: HostId, dst: HostId, bytes: u64) -> Time {
        self.clos.soonest(src, dst, bytes)
    }

    fn port_rate(&self, tx: PortId) -> Rate {
        self.clos.port_rate(tx)
    }
}

/// Packets and rates are recorded in different ways, so that both are checked.
fn assert_noticed<const N: usize>() {
    noticed::<N>("packets");
    noticed::<N>("flows");
}

fn noticed<const N: usize>(detail: &str) {
    let (flaw, invariant) = FLAWS[N];
    let entry = entry::<N>();
    let config = Config {
        cases: 16,
        max_shrink_iters: 0,
        failure_persistence: None,
        ..Config::default()
    };
    let noticed = TestRunner::new(config).run(&scenarios("clos"), |mut s| {
        s.table["detail"] = json!(detail);
        checks::check(&entry, &s)?;
        refusals::check(&entry, &s)
    });
    match noticed {
        Err(TestError::Fail(reason, _)) if reason.message().starts_with(invariant) => {}
        other => panic!("{flaw:?} of {detail} should break {invariant}: {other:?}"),
    }
}

#[test]
fn each_flaw_is_noticed_by_its_invariant() {
    assert_noticed::<0>();
    assert_noticed::<1>();
    assert_noticed::<2>();
    assert_noticed::<3>();
    assert_noticed::<4>();
    assert_noticed::<5>();
    assert_noticed::<6>();
    assert_noticed::<7>();
    assert_noticed::<8>();
    assert_noticed::<9>();
    assert_noticed::<10>();
    assert_noticed::<11>();
    assert_noticed::<12>();
    assert_eq!(FLAWS.len(), 13);
}
