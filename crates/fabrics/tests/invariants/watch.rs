//! Runs a fabric and checks its ledger at every horizon.

use crate::scenario::Scenario;
use crate::verdict::{ensure, equal, Checked};
use lightloom_engine::run::Fault;
use lightloom_engine::{Audit, Command, Element, Fabric, Io, Ledger, Time, Totals, View};
use lightloom_fabrics::{Entry, Site};
use proptest::test_runner::TestCaseError;

/// The time after which a run counts as stuck.
const LIMIT: Time = Time(100 * Time::MS.0);

/// A fabric and its context.
pub struct Run {
    /// The fabric.
    pub fabric: Box<dyn Fabric>,
    /// Its side of the engine.
    pub io: Io,
    /// The time up to which it has run.
    pub now: Time,
    faults: Vec<Fault>,
    delivers: bool,
}

/// The results of a run, which must not depend on its horizons.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The time at which each flow finished.
    pub finish: Vec<Time>,
    /// Bytes delivered, by flow.
    pub delivered: Vec<u64>,
    /// The ledger at the end.
    pub ledger: Ledger,
    arrival: Vec<Time>,
    start: Vec<Time>,
    hops: Vec<u32>,
    totals: Totals,
    view: View,
}

impl Run {
    /// The fabric of `scenario` at time zero.
    pub fn new(entry: &Entry, scenario: &Scenario, threads: usize) -> Run {
        let (cluster, flows) = (&scenario.cluster, scenario.flows());
        let site = Site {
            cluster,
            flows: &flows,
            seed: scenario.seed,
            threads,
            library: None,
        };
        let table = (entry.resolve)(&scenario.table, cluster).expect("a valid table");
        let build = || (entry.build)(&table, &site).expect("a table that was resolved");
        // A fabric that models no failures rejects them; it is then tested without.
        let mut trial = build();
        let accepted = scenario
            .faults
            .iter()
            .all(|f| trial.apply(f.command).is_ok());
        Run {
            fabric: build(),
            faults: if accepted {
                scenario.faults.clone()
            } else {
                Vec::new()
            },
            delivers: scenario.delivers,
            io: Io::new(flows),
            now: Time::ZERO,
        }
    }

    /// Records every transmission from now on.
    pub fn audited(mut self) -> Run {
        self.io.audit = Some(Audit::default());
        self
    }

    /// Whether anything fails during the run.
    pub fn is_faulty(&self) -> bool {
        !self.faults.is_empty()
    }

    /// Whether all flows finish: all parts work in the end, and no flow waits for an event that may
    /// never happen.
    pub fn is_mended(&self) -> bool {
        let element = |c: &Command| match *c {
            Command::Fail { element, .. } | Command::Repair(element) => element,
        };
        let last = |e: Element| self.faults.iter().rfind(|f| element(&f.command) == e);
        let mut faults = self.faults.iter();
        let mended = faults.all(|f| {
            last(element(&f.command)).is_some_and(|l| matches!(l.command, Command::Repair(_)))
        });
        mended && self.delivers
    }

    /// Advances to `to`; failures and repairs before then happen on time.
    pub fn advance(&mut self, to: Time) {
        while let Some(fault) = self.faults.first().copied().filter(|f| f.at <= to) {
            self.fabric.advance(fault.at, &mut self.io);
            self.fabric
                .apply(fault.command)
                .expect("accepted in the trial");
            self.faults.remove(0);
        }
        self.fabric.advance(to, &mut self.io);
        self.now = to;
    }

    /// Whether the fabric has no more work.
    pub fn is_drained(&self) -> bool {
        self.fabric.idle() && self.io.exhausted() && self.faults.is_empty()
    }

    /// Advances in growing steps until nothing is left, and checks the ledger at each step. Parts
    /// that stay broken may hold bytes for ever.
    pub fn drain(&mut self, first_step: Time) -> Checked {
        let mended = self.is_mended();
        let limit = if mended { LIMIT } else { Time::MS };
        let (mut step, mut before) = (first_step, View::default());
        while !self.is_drained() {
            if self.now >= limit {
                return ensure(!mended, || {
                    format!("conservation: nothing moves any more at {limit}")
                });
            }
            self.advance(self.now + step);
            step += step / 16;
            before = self.check_books(before)?;
        }
        Ok(())
    }

    /// The state that the fabric exposes.
    pub fn view(&self) -> View {
        let mut view = View::default();
        self.fabric.observe(&self.io, &mut view);
        view
    }

    /// Checks invariant 1, and that no result is reported before its time.
    fn check_books(&self, before: View) -> Result<View, TestCaseError> {
        let (view, ledger, now) = (self.view(), &self.io.ledger, self.now);
        let inside = ledger.in_flight();
        equal(
            view.in_flight_bytes,
            inside,
            format!("conservation: inside by queues and ledger at {now}"),
        )?;
        equal(
            view.placed_bytes(),
            inside,
            format!("conservation: bytes that wait and that are on links at {now}: {view:?}"),
        )?;
        ensure(
            view.queued_bytes_worst <= view.queued_bytes + view.waiting_bytes,
            || format!("conservation: the worst node has more than all: {view:?}"),
        )?;
        ensure(view.carried_bytes >= before.carried_bytes, || {
            format!("conservation: carried less at {now} than before")
        })?;
        let flows = &self.io.flows;
        let finished = |f: &usize| flows.finish[*f] != Time::NEVER;
        let done: Vec<usize> = (0..flows.len()).filter(finished).collect();
        let bytes: u64 = done.iter().map(|&f| flows.bytes[f]).sum();
        equal(
            done.len() as u64,
            ledger.flows_completed,
            format!("conservation: flows at {now}"),
        )?;
        ensure(bytes <= ledger.delivered, || {
            format!("conservation: finished flows have {bytes} B at {now}: {ledger:?}")
        })?;
        let last = done.iter().map(|&f| flows.finish[f]).max();
        ensure(last.is_none_or(|last| last <= now), || {
            format!("causality: known at {now}: a flow finishes at {last:?}")
        })?;
        Ok(view)
    }

    /// The results of the run, after flows are settled.
    pub fn outcome(mut self) -> Outcome {
        self.fabric.settle(&mut self.io);
        let view = View {
            // Counted only in audited runs.
            in_flight_bytes: 0,
            ..self.view()
        };
        let flows = self.io.flows;
        Outcome {
            arrival: flows.arrival,
            start: flows.start,
            finish: flows.finish,
            delivered: flows.delivered,
            hops: flows.hops.iter().map(|h| h.to_bits()).collect(),
            ledger: self.io.ledger,
            totals: self.fabric.totals(),
            view,
        }
    }
}

impl Outcome {
    /// The first difference between two runs, as text.
    pub fn difference(&self, other: &Outcome) -> Option<String> {
        let times = [
            ("arrival", &self.arrival, &other.arrival),
            ("start", &self.start, &other.start),
            ("finish", &self.finish, &other.finish),
        ];
        for (column, a, b) in times {
            if let Some(f) = (0..a.len()).find(|&f| a[f] != b[f]) {
                return Some(format!(
                    "{column} of flow {f}: {} ps, {} ps",
                    a[f].0, b[f].0
                ));
            }
        }
        let figures = |o: &Outcome| format!("{:?} {:?} {:?}", o.ledger, o.totals, o.view);
        match self == other {
            true => None,
            false if figures(self) != figures(other) => {
                Some(format!("{}\n{}", figures(self), figures(other)))
            }
            false => Some("bytes delivered or hops of some flow".to_owned()),
        }
    }
}
