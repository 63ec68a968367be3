//! The invariants of a run, one function each.

use crate::scenario::Scenario;
use crate::verdict::{ensure, equal, fail, Checked};
use crate::watch::{Outcome, Run};
use lightloom_engine::audit::Load;
use lightloom_engine::run::{run, Plan, Silent, Stop};
use lightloom_engine::{Audit, FlowId, Nic, Time};
use lightloom_fabrics::Entry;
use proptest::test_runner::TestCaseError;

/// Invariants 1 to 5 on one scenario.
pub fn check(entry: &Entry, scenario: &Scenario) -> Checked {
    let mut watched = Run::new(entry, scenario, 1).audited();
    let faulty = watched.is_faulty();
    let mended = watched.is_mended();
    watched.drain(scenario.step)?;
    watched.fabric.settle(&mut watched.io);
    equal(
        watched.fabric.trouble(),
        None,
        "refusal: after the run had begun",
    )?;
    if mended {
        delivered(&watched)?;
    }
    causality(scenario, &watched)?;
    dependencies(&watched)?;
    capacity(&watched)?;
    circuits(&watched)?;
    complete(scenario, &watched)?;
    let mut direct = Run::new(entry, scenario, 1);
    direct.advance(watched.now);
    let (end, direct) = (direct.now, direct.outcome());
    same(&direct, &watched.outcome(), || {
        "horizons: watched on the way".to_owned()
    })?;
    determinism(entry, scenario, end, &direct)?;
    seeds(entry, scenario, end, &direct)?;
    horizons(entry, scenario, end, &direct)?;
    match faulty {
        true => Ok(()),
        false => engine_agrees(entry, scenario),
    }
}

/// 1. A drained network has delivered every byte, to its own flow.
fn delivered(run: &Run) -> Checked {
    let (flows, ledger) = (&run.io.flows, &run.io.ledger);
    equal(
        ledger.offered,
        flows.total_bytes(),
        "conservation: bytes offered, of all",
    )?;
    equal(
        ledger.delivered,
        ledger.offered,
        "conservation: bytes delivered, of those offered",
    )?;
    equal(
        &flows.delivered,
        &flows.bytes,
        "conservation: bytes delivered, by flow",
    )
}

/// 2. No byte arrives before its earliest possible time.
fn causality(scenario: &Scenario, run: &Run) -> Checked {
    let flows = &run.io.flows;
    for f in (0..flows.len()).filter(|&f| flows.finish[f] != Time::NEVER) {
        let (src, dst, bytes) = (flows.src[f], flows.dst[f], flows.bytes[f]);
        let (arrival, start, finish) = (flows.arrival[f], flows.start[f], flows.finish[f]);
        let took = finish - arrival;
        let least = run.fabric.soonest(src, dst, bytes);
        ensure(least > Time::ZERO, || {
            format!("causality: {bytes} B may come at once")
        })?;
        ensure(took >= least, || {
            format!("causality: flow {f} took {took}, at least {least}")
        })?;
        ensure(arrival <= start && start <= finish, || {
            format!(
                "causality: flow {f} arrived at {arrival}, started at {start}, ended at {finish}"
            )
        })?;
        if let Nic::Capped(rate) = scenario.cluster.nic {
            let least = rate.time_for(bytes);
            ensure(took >= least, || {
                format!("causality: flow {f} took {took}, its server's link alone {least}")
            })?;
        }
    }
    Ok(())
}

/// 2. A dependent flow arrives when the last flow on which it depends is delivered.
fn dependencies(run: &Run) -> Checked {
    let flows = &run.io.flows;
    let mut ready: Vec<Option<Time>> = vec![None; flows.len()];
    for f in 0..flows.len() {
        for w in flows.after.waiting_for(FlowId(f as u32)) {
            let finish = flows.finish[f];
            ready[w.index()] = Some(ready[w.index()].map_or(finish, |t| t.max(finish)));
        }
    }
    for (f, ready) in ready.iter().enumerate() {
        let expected = match *ready {
            None => continue,
            Some(Time::NEVER) => Time::NEVER,
            Some(last) => last + flows.after.delay[f],
        };
        equal(
            flows.arrival[f],
            expected,
            format!("causality: arrival of flow {f}"),
        )?;
    }
    Ok(())
}

/// 3. No port carries more than its rate or two things at once, and no dark
///    circuit carries anything.
fn capacity(run: &Run) -> Checked {
    let audit = audit(run);
    equal(
        audit.overlap(|t| t.tx),
        None,
        "capacity: two at once from a transmitter",
    )?;
    equal(
        audit.overlap(|t| t.rx),
        None,
        "capacity: two at once at a receiver",
    )?;
    let first = run.io.flows.arrival.iter().min().copied();
    for t in &audit.transmissions {
        let rate = run.fabric.port_rate(t.tx);
        ensure(t.bytes <= rate.bytes_in(t.until - t.from) + 1, || {
            format!("capacity: {t:?} is faster than {rate}")
        })?;
        ensure(first.is_some_and(|first| first <= t.from), || {
            format!("causality: {t:?} before the first flow")
        })?;
        for at in [t.from, t.until - Time(1)] {
            ensure(run.fabric.lit(t.tx, t.rx, at), || {
                format!("capacity: {t:?} in the dark at {at}")
            })?;
        }
    }
    loads(run, first)
}

/// 3. The same for fabrics whose flows have rates.
fn loads(run: &Run, first: Option<Time>) -> Checked {
    let audit = audit(run);
    for l in &audit.loads {
        let rate = run.fabric.port_rate(l.link);
        ensure(l.rate <= l.capacity && l.capacity <= rate, || {
            format!("capacity: {l:?} is more than the link has, or than {rate}")
        })?;
        ensure(first.is_some_and(|first| first <= l.from), || {
            format!("causality: {l:?} before the first flow")
        })?;
        for at in [l.from, l.until - Time(1)] {
            ensure(run.fabric.lit(l.link, l.link, at), || {
                format!("capacity: {l:?} in the dark at {at}")
            })?;
        }
    }
    let mut by_link: Vec<_> = audit.loads.iter().collect();
    by_link.sort_by_key(|l| (l.link, l.from));
    let twice = by_link
        .windows(2)
        .find(|w| w[0].link == w[1].link && w[1].from < w[0].until);
    equal(twice, None, "capacity: two loads of a link at once")
}

/// 3. No optical port of a rack sends to, or receives from, two circuits at once; a bidirectional
///    circuit takes the transmitter and the receiver of its port.
fn circuits(run: &Run) -> Checked {
    let mut ends = Vec::new();
    for c in run.fabric.circuits(run.now) {
        let racks = c.a < c.b || c.directed && c.a != c.b;
        ensure(racks && c.from < c.until && c.until <= run.now, || {
            format!("capacity: no circuit of this kind: {c:?} at {}", run.now)
        })?;
        let mut end = |rack, hears| ends.push(((c.plane, rack, hears), c.from, c.until));
        end(c.a, false);
        end(c.b, true);
        if !c.directed {
            end(c.b, false);
            end(c.a, true);
        }
    }
    ends.sort();
    let twice = ends
        .windows(2)
        .find(|w| w[0].0 == w[1].0 && w[1].1 < w[0].2);
    equal(twice, None, "capacity: two circuits at once at a port")
}

/// 3. The audit has every hop; otherwise a fabric that records nothing would respect every
///    capacity.
fn complete(scenario: &Scenario, run: &Run) -> Checked {
    let (audit, flows, totals) = (audit(run), &run.io.flows, run.fabric.totals());
    let sent = audit.transmissions.len() as u64;
    if let Some(hops) = totals.cell_hops.or(totals.packet_hops) {
        equal(
            sent,
            hops,
            "capacity: transmissions on record, hops counted",
        )?;
    }
    let rack = |host| scenario.cluster.rack_of(host);
    let moved: f64 = (0..flows.len())
        .filter(|&f| rack(flows.src[f]) != rack(flows.dst[f]))
        .map(|f| {
            let hops = if flows.hops[f].is_nan() {
                1.0
            } else {
                flows.hops[f]
            };
            flows.delivered[f] as f64 * hops as f64
        })
        .sum();
    let sent: u64 = audit.transmissions.iter().map(|t| t.bytes).sum();
    let carried = |l: &Load| l.rate.0 as u128 * (l.until - l.from).0 as u128;
    let loads: u128 = audit.loads.iter().map(carried).sum();
    let recorded = sent + (loads / 8_000_000_000_000) as u64;
    // The number of hops is a mean over cells, and the last cell of a flow may be short.
    let largest = audit
        .transmissions
        .iter()
        .map(|t| t.bytes)
        .max()
        .unwrap_or(0);
    // The bytes of flows with rates are rounded at each change of a path.
    let slack = 1e-4 * moved + (2.0 * largest as f64 + 1.0) * flows.len() as f64;
    ensure(recorded as f64 + slack >= moved, || {
        format!("capacity: {recorded} B on record, {moved} B × hops delivered")
    })
}

fn audit(run: &Run) -> &Audit {
    run.io.audit.as_ref().expect("an audited run")
}

/// 4. The same seed gives the same results, for any number of threads.
fn determinism(entry: &Entry, scenario: &Scenario, end: Time, expected: &Outcome) -> Checked {
    for threads in [1, 2, 4] {
        let mut run = Run::new(entry, scenario, threads);
        run.advance(end);
        same(expected, &run.outcome(), || {
            format!("determinism: {threads} threads")
        })?;
    }
    Ok(())
}

/// 4. A fabric without random values has the same results with any seed.
fn seeds(entry: &Entry, scenario: &Scenario, end: Time, expected: &Outcome) -> Checked {
    let table = (entry.resolve)(&scenario.table, &scenario.cluster).expect("a valid table");
    if (entry.draws)(&table).expect("a table that was resolved") {
        return Ok(());
    }
    same(expected, &seeded(entry, scenario, end), || {
        "determinism: another seed".to_owned()
    })
}

/// Whether a fabric that declares random values has other results with another seed.
pub fn draws(entry: &Entry, scenario: &Scenario) -> bool {
    let table = (entry.resolve)(&scenario.table, &scenario.cluster).expect("a valid table");
    let mut run = Run::new(entry, scenario, 1);
    let drained = run.drain(scenario.step).is_ok();
    drained
        && (entry.draws)(&table).expect("a table that was resolved")
        && seeded(entry, scenario, run.now) != run.outcome()
}

/// The outcome with another seed.
fn seeded(entry: &Entry, scenario: &Scenario, end: Time) -> Outcome {
    let seed = scenario.seed.wrapping_add(1);
    let other = Scenario {
        seed,
        ..scenario.clone()
    };
    let mut run = Run::new(entry, &other, 1);
    run.advance(end);
    run.outcome()
}

/// 5. The horizons of the engine affect neither the results up to them nor later ones.
fn horizons(entry: &Entry, scenario: &Scenario, end: Time, expected: &Outcome) -> Checked {
    let part = |c: &f64| Time((end.0 as f64 * c) as i64);
    let mut cuts: Vec<Time> = scenario.cuts.iter().map(part).collect();
    cuts.sort();
    let tiny = (end / 3_000).max(Time(1));
    let ticks: Vec<Time> = (1..).map(|k| tiny * k).take_while(|&t| t < end).collect();
    let middle = cuts.get(cuts.len() / 2).copied().unwrap_or(end / 2);
    let after = |looks: &[Time], last: Time| {
        let mut run = Run::new(entry, scenario, 1);
        for &t in looks.iter().filter(|&&t| t < last) {
            run.advance(t);
            // Settling flows at a horizon affects nothing either.
            run.fabric.settle(&mut run.io);
        }
        run.advance(last);
        // A second call for the same horizon changes nothing.
        run.advance(last);
        run
    };
    let halfway = partial(after(&[], middle))?;
    for looks in [&cuts, &ticks] {
        let what = |until: Time| format!("horizons: {} looks up to {until}", looks.len());
        same(&halfway, &partial(after(looks, middle))?, || what(middle))?;
        same(expected, &after(looks, end).outcome(), || what(end))?;
    }
    Ok(())
}

fn same(expected: &Outcome, found: &Outcome, what: impl Fn() -> String) -> Checked {
    match expected.difference(found) {
        None => Ok(()),
        Some(difference) => fail(format!("{}: {difference}", what())),
    }
}

/// The outcome of a run that may be unfinished; its flows are consistent with the ledger.
fn partial(run: Run) -> Result<Outcome, TestCaseError> {
    let (now, bytes) = (run.now, run.io.flows.bytes.clone());
    let outcome = run.outcome();
    let by_flow: u64 = outcome.delivered.iter().sum();
    equal(
        by_flow,
        outcome.ledger.delivered,
        "conservation: bytes delivered, by flow and in total",
    )?;
    for (f, &bytes) in bytes.iter().enumerate() {
        let (has, finish) = (outcome.delivered[f], outcome.finish[f]);
        ensure((has == bytes) == (finish != Time::NEVER), || {
            format!("conservation: flow {f} has {has} of {bytes} B at {now}, finish {finish}")
        })?;
    }
    Ok(outcome)
}

/// 1 and 5. The engine's own loop, which all users run, has the same results and a consistent
/// ledger at every sample.
fn engine_agrees(entry: &Entry, scenario: &Scenario) -> Checked {
    let limit = if scenario.delivers { Time::S } else { Time::MS };
    let finished = |sample: Option<Time>| -> Result<(Outcome, Time), TestCaseError> {
        let mut it = Run::new(entry, scenario, 1).audited();
        let plan = Plan {
            stop: Stop::Drain,
            limit,
            sample,
            faults: Vec::new(),
        };
        let out = run(&mut *it.fabric, &mut it.io, &plan, &mut Silent).expect("no faults");
        for s in &out.samples {
            let what = format!(
                "conservation: bytes inside by queues and ledger, sample at {}",
                s.at
            );
            equal(s.view.in_flight_bytes, s.ledger.in_flight(), &what)?;
            equal(s.view.placed_bytes(), s.ledger.in_flight(), what)?;
        }
        Ok((it.outcome(), out.simulated))
    };
    let (a, ends) = finished(None)?;
    // Limits the number of samples of a long run, to save memory.
    let step = scenario.step.max(ends / 100_000);
    let (b, again) = finished(Some(step))?;
    same(&a, &b, || format!("horizons: a sample every {step}"))?;
    equal(ends, again, "horizons: end of the run")
}
