//! Properties of the control loop that hold for every policy, every order of changes, and all
//! failures and silences.
//!
//! Every policy of the registry, and one with arbitrary targets, is run on random tables, demands
//! and failures; a new policy is tested as soon as `policies.rs` states the values of its tables.
//! `broken.rs` shows for each property a loop that violates it and is detected.
//!
//! `PROPTEST_CASES=5000 cargo test --release -p lightloom-control --test controller` runs more
//! cases.

mod anything;
mod broken;
mod checks;
mod mishaps;
mod policies;
mod replays;
mod scenario;

use anything::ANYTHING;
use lightloom_control::policies::REGISTRY;
use proptest::test_runner::{Config, TestError, TestRng, TestRunner};
use scenario::{scenarios, Scenario};
use std::cell::RefCell;

/// Smallest useful number of cases.
const FEW: u32 = 64;

/// The number of random cases that the environment sets. Without it, `make test` runs an eighth of
/// the named cases, and `make test-long`, which sets `LIGHTLOOM_LONG`, all of them.
fn runner(cases: u32) -> TestRunner {
    let set = |name| std::env::var_os(name).is_some();
    let cases = match (set("PROPTEST_CASES"), set("LIGHTLOOM_LONG")) {
        (true, _) => Config::default().cases,
        (false, true) => cases,
        (false, false) => cases.min(FEW.max(cases / 8)),
    };
    TestRunner::new(config(cases))
}

/// Uses the same cases each time, because a count over few random cases would sometimes be too low.
fn samples(cases: u32) -> TestRunner {
    let config = config(cases);
    let rng = TestRng::deterministic_rng(config.rng_algorithm);
    TestRunner::new_with_rng(config, rng)
}

fn config(cases: u32) -> Config {
    Config {
        cases,
        max_shrink_iters: 4_096,
        max_shrink_time: 30_000,
        // The failing case is printed completely; a stored seed would only be valid for these
        // strategies.
        failure_persistence: None,
        ..Config::default()
    }
}

/// All policies, and one with arbitrary targets.
fn kinds() -> impl Iterator<Item = &'static str> {
    REGISTRY.iter().map(|entry| entry.kind).chain([ANYTHING])
}

/// The violation, and the smallest scenario that shows it, in one line each.
fn in_short(error: TestError<Scenario>) -> String {
    match error {
        TestError::Abort(why) => why.to_string(),
        TestError::Fail(why, scenario) => format!("{why}\n{scenario:?}"),
    }
}

#[test]
fn every_policy_in_every_order_keeps_the_promises() {
    for kind in kinds() {
        let outcome = runner(512).run(&scenarios(kind), |s| checks::check(&s));
        outcome.unwrap_or_else(|e| panic!("{kind}: {}", in_short(e)));
    }
}

/// Checks that enough events occur; otherwise a loop that does nothing would have all properties.
#[test]
fn things_happen() {
    for kind in kinds() {
        let seen = RefCell::new(mishaps::Seen::default());
        let outcome = samples(128).run(&scenarios(kind), |s| {
            let ran = checks::run(s.controller(), &s)?;
            seen.borrow_mut().count(&ran);
            Ok(())
        });
        outcome.unwrap_or_else(|e| panic!("{kind}: {}", in_short(e)));
        seen.borrow().assert_enough(kind);
    }
}
