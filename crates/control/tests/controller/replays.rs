//! Replays logs of random runs with the policy that wrote them, and with another.

use crate::checks::{self, ensure, Checked};
use crate::scenario::{scenarios, Scenario, END};
use crate::{in_short, kinds, runner};
use lightloom_control::log::{self, Read};
use lightloom_control::order::Order;
use lightloom_control::policies::find;
use lightloom_control::replay::{replay, Account};
use proptest::test_runner::TestCaseError;
use serde_json::json;

/// The log of a run, unless its policy refused to decide.
fn recorded(s: &Scenario) -> Result<Option<Read>, TestCaseError> {
    let ran = checks::run(s.controller(), s)?;
    let text = checks::write(&s.header(), &ran.log);
    let read = log::read(&text).map_err(|e| TestCaseError::fail(e.to_string()))?;
    Ok((!ran.refused).then_some(read))
}

fn the_same(s: &Scenario) -> Checked {
    let Some(log) = recorded(s)? else {
        return Ok(());
    };
    let again = replay(&log, s.policy(), log.header.order);
    let again = again.map_err(|e| TestCaseError::fail(e.to_string()))?;
    ensure(again.parted.is_none(), || {
        format!("parted: {:?}", again.parted)
    })?;
    ensure(again.recorded == again.replayed, || format!("{again:?}"))
}

#[test]
fn the_same_policy_never_parts() {
    for kind in kinds() {
        let outcome = runner(64).run(&scenarios(kind), |s| the_same(&s));
        outcome.unwrap_or_else(|e| panic!("{kind}: {}", in_short(e)));
    }
}

/// Checks that every port is lit or dark at each moment, and that each circuit that came up is
/// still lit or has ended.
fn is_balanced(s: &Scenario, account: &Account, seconds: f64) -> bool {
    let lit: f64 = account.lit_circuit_s.iter().sum();
    let dark: f64 = account.dark_port_s.iter().sum();
    let ports = s.hardware.racks * s.hardware.planes * s.hardware.ports;
    let ports = f64::from(ports) * seconds;
    let close = |x: f64| (x - ports).abs() < 1e-6;
    let ended = account.broken + account.lost;
    (close(dark + lit) || close(dark + 2.0 * lit)) && ended <= account.made
}

/// Another policy either differs at some action or does the same; both accounts of light are
/// complete.
#[test]
fn another_policy_is_accounted_for() {
    for kind in kinds() {
        let outcome = runner(64).run(&scenarios(kind), |s| {
            let Some(log) = recorded(&s)? else {
                return Ok(());
            };
            let table = json!({ "circuits": [[0, 1]] });
            let fixed = find("fixed", "policy").expect("registered");
            let fixed = (fixed.build)(&table, &s.hardware).expect("two racks");
            let other = replay(&log, fixed, Some(Order::THREE_SUBSTEPS));
            let other = other.map_err(|e| TestCaseError::fail(e.to_string()))?;
            let same = other.recorded == other.replayed;
            ensure(same || other.parted.is_some(), || format!("{other:?}"))?;
            let seconds = log.entries.last().map_or(0.0, |e| e.at.as_secs_f64());
            for account in [&other.recorded, &other.replayed] {
                ensure(is_balanced(&s, account, seconds), || {
                    format!("{account:?} {END}")
                })?;
            }
            let decisions = other.replayed.decisions.iter();
            let one_pair = decisions.clone().all(|d| d.joined_bytes <= d.demand_bytes);
            ensure(one_pair, || format!("{other:?}"))
        });
        outcome.unwrap_or_else(|e| panic!("{kind}: {}", in_short(e)));
    }
}
