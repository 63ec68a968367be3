//! Circuits, or a schedule, that do not change in the run. The pairs that they connect, the pairs
//! that are never served and the length of slots are known before the run.
//!
//! In the registry, `fixed` and `rotation` make the same decision for every demand; a user's policy
//! may depend on it.

use super::policy_table::PolicyTable;
use crate::contract::Site;
use crate::facts::Unjoined;
use lightloom_control::circuits::Circuits;
use lightloom_control::demand::Matrix;
use lightloom_control::hardware::Hardware;
use lightloom_control::policies::library::Empty;
use lightloom_control::policies::{fixed, rotation};
use lightloom_control::policy::{Demand, SwitchView, Target};
use lightloom_engine::{Refusal, Time};

/// Whether a policy makes the same decision for every demand.
pub fn stands(policy: &PolicyTable) -> bool {
    policy.is_kind(fixed::ENTRY.kind) || policy.is_kind(rotation::ENTRY.kind)
}

/// The circuits that a policy chooses for any demand; none if they may depend on the demand.
///
/// # Errors
/// As [`PolicyTable::build`].
pub fn standing(policy: &PolicyTable, hardware: &Hardware) -> Result<Option<Target>, Refusal> {
    if !stands(policy) {
        return Ok(None);
    }
    let (lit, works) = (Circuits::default(), vec![true; hardware.columns()]);
    let view = SwitchView {
        hardware: *hardware,
        lit: &lit,
        works: &works,
        slots: None,
    };
    let demand = Demand {
        bytes: Matrix::zeros(hardware.racks as usize),
        over: Time::S,
    };
    let read = policy.with_files_read(hardware)?;
    let target = read.build(hardware, &Empty)?.decide(&demand, &view)?;
    // A round robin may need a demand before the length of its slots is known.
    let waits = matches!(&target, Target::Schedule(schedule) if schedule.slots.is_empty());
    Ok((!waits).then_some(target))
}

/// The time after which circuits repeat or are decided again: the period of a permanent schedule,
/// or the `interval` of other policies; `None` for permanent circuits.
pub fn cycle(standing: Option<&Target>, interval: Option<Time>) -> Option<Time> {
    match standing {
        Some(Target::Schedule(schedule)) => Some(schedule.period()),
        Some(Target::Network { .. }) => None,
        None => interval,
    }
}

/// Mean duration of a slot of a schedule; `None` for permanent circuits.
pub fn slot(target: &Target) -> Option<Time> {
    match target {
        Target::Schedule(schedule) => Some(schedule.period() / schedule.slots.len() as i64),
        Target::Network { .. } => None,
    }
}

/// The pairs of racks that have flows and are never connected; `None` if all are connected.
/// `otherwise` states another way to serve them.
pub fn unjoined(target: &Target, site: &Site, otherwise: &'static str) -> Option<Unjoined> {
    let racks = site.cluster.racks as usize;
    let pair = |from: u32, to: u32| from as usize * racks + to as usize;
    let mut waits = vec![false; racks * racks];
    for (src, dst) in site.flows.src.iter().zip(&site.flows.dst) {
        let [from, to] = [src, dst].map(|&host| site.cluster.rack_of(host));
        waits[pair(from, to)] = from != to;
    }
    for (from, to) in joined(target) {
        waits[pair(from, to)] = false;
    }
    let mut left = waits.iter().enumerate().filter(|(_, &waits)| waits);
    let (first, _) = left.next()?;
    Some(Unjoined {
        from: (first / racks) as u32,
        to: (first % racks) as u32,
        others: left.count() as u64,
        otherwise,
    })
}

/// The pairs (from, to) that its circuits connect.
fn joined(target: &Target) -> Vec<(u32, u32)> {
    match target {
        Target::Schedule(schedule) => {
            let circuits = schedule.slots.iter().flat_map(|slot| slot.circuits());
            circuits.map(|(a, b)| (a as u32, b as u32)).collect()
        }
        Target::Network { circuits, .. } => {
            let there = circuits.pairs();
            let back = { there.iter() }.filter(|_| !circuits.directed());
            back.map(|&(a, b)| (b, a)).chain(there.clone()).collect()
        }
    }
}
