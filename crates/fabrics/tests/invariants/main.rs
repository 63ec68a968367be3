//! The six invariants of ARCHITECTURE.md, on every registered fabric, with random tables, servers
//! and flows. A new fabric is tested as soon as `tests/invariants/trials.rs` states the values of
//! its tables.
//!
//! `PROPTEST_CASES=5000 FABRIC=mordia cargo test --release -p lightloom-fabrics --test invariants`
//! runs more cases of one fabric.

mod broken;
mod butterfly;
mod checks;
mod clos;
mod fingerprints;
mod hybrid;
mod hydra;
mod lions;
mod mordia;
mod opera;
mod physics;
mod policies;
mod refusals;
mod relay;
mod rotornet;
mod scenario;
mod sirius;
mod switches;
mod tables;
mod trials;
mod verdict;
mod watch;

use lightloom_fabrics::{Entry, REGISTRY};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use scenario::scenarios;
use verdict::Checked;

/// Smallest useful number of cases.
const FEW: u32 = 24;

/// The number of cases that the environment sets. Without it, `make test` runs an eighth of the
/// named cases, and `make test-long`, which sets `LIGHTLOOM_LONG`, all of them.
fn runner(cases: u32) -> TestRunner {
    let set = |name| std::env::var_os(name).is_some();
    let cases = match (set("PROPTEST_CASES"), set("LIGHTLOOM_LONG")) {
        (true, _) => Config::default().cases,
        (false, true) => cases,
        (false, false) => cases.min(FEW.max(cases / 8)),
    };
    TestRunner::new(Config {
        cases,
        max_shrink_iters: 4_096,
        max_shrink_time: 30_000,
        // The failing case is printed completely; a stored seed would only be valid for these
        // strategies.
        failure_persistence: None,
        ..Config::default()
    })
}

fn on_every_fabric<S: Strategy>(
    cases: u32,
    strategy: fn(&'static str) -> S,
    check: fn(&Entry, S::Value) -> Checked,
) {
    let only = std::env::var("FABRIC").ok();
    let asked = |kind: &str| only.as_ref().is_none_or(|only| only == kind);
    let of = |entry: &Entry| {
        let outcome = runner(cases).run(&strategy(entry.kind), |case| check(entry, case));
        outcome.unwrap_or_else(|e| panic!("{}: {e}", entry.kind));
    };
    // One thread per fabric, because one of them takes as long as all others.
    std::thread::scope(|scope| {
        for entry in REGISTRY.iter().filter(|entry| asked(entry.kind)) {
            scope.spawn(move || of(entry));
        }
    });
}

/// Complements the invariant that all other fabrics have the same results with any seed.
#[test]
fn these_fabrics_draw() {
    let draws = |entry: &&Entry| {
        let mut runner = TestRunner::deterministic();
        let strategy = scenarios(entry.kind);
        (0..100).any(|_| {
            let drawn = strategy.new_tree(&mut runner).expect("a scenario");
            checks::draws(entry, &drawn.current())
        })
    };
    let found: Vec<&str> = REGISTRY.iter().filter(draws).map(|e| e.kind).collect();
    let known = ["sirius", "mordia", "opera", "lions", "flattened-butterfly"];
    assert_eq!(found, known);
}

#[test]
fn every_fabric_keeps_the_invariants() {
    on_every_fabric(256, scenarios, |entry, s| checks::check(entry, &s));
}

#[test]
fn every_fabric_keeps_them_under_the_physics_of_an_experiment() {
    on_every_fabric(
        24,
        |kind| (scenarios(kind), physics::physics()),
        |entry, (s, physics)| match physics::obeying(entry, s, &physics) {
            Some(s) => checks::check(entry, &s),
            None => Ok(()),
        },
    );
}

#[test]
fn every_fabric_refuses_bad_tables_by_name() {
    on_every_fabric(32, scenarios, |entry, s| refusals::check(entry, &s));
}

#[test]
fn every_fabric_takes_or_refuses_odd_tables() {
    on_every_fabric(
        256,
        |kind| (scenarios(kind), refusals::odd()),
        |entry, (s, odd)| refusals::check_odd(entry, &s, &odd),
    );
}
