//! Circuits, or a schedule, that stay as they are for the whole run: who is joined by them is
//! known before it begins, and so is who waits for ever.
//!
//! Of the registry only `fixed` decides the same whatever there is to send, and may leave
//! pairs out; a user's policy may do anything.

use super::policy_table::PolicyTable;
use crate::facts::Unjoined;
use crate::registry::Site;
use lightloom_control::circuits::Circuits;
use lightloom_control::demand::Matrix;
use lightloom_control::hardware::Hardware;
use lightloom_control::policies::fixed;
use lightloom_control::policies::library::Empty;
use lightloom_control::policy::{Demand, SwitchView, Target};
use lightloom_engine::{Refusal, Time};

/// The pairs of racks that have flows and that a fixed policy never joins; none if it is
/// another, or joins all of them. `otherwise` says how they could be served all the same.
///
/// # Errors
/// As [`PolicyTable::build`].
pub fn unjoined(
    policy: &PolicyTable,
    hardware: &Hardware,
    site: &Site,
    otherwise: &'static str,
) -> Result<Option<Unjoined>, Refusal> {
    if !policy.is_kind(fixed::ENTRY.kind) {
        return Ok(None);
    }
    let racks = hardware.racks as usize;
    let pair = |from: u32, to: u32| from as usize * racks + to as usize;
    let mut waits = vec![false; racks * racks];
    for (src, dst) in site.flows.src.iter().zip(&site.flows.dst) {
        let [from, to] = [src, dst].map(|&host| site.cluster.rack_of(host));
        waits[pair(from, to)] = from != to;
    }
    for (from, to) in joined(&target(policy, hardware)?) {
        waits[pair(from, to)] = false;
    }
    let mut left = { 0.. }.zip(&waits).filter(|(_, &waits)| waits);
    Ok(left.next().map(|(first, _): (usize, _)| Unjoined {
        from: (first / racks) as u32,
        to: (first % racks) as u32,
        others: left.count() as u64,
        otherwise,
    }))
}

/// What the policy decides, whoever asks.
fn target(policy: &PolicyTable, hardware: &Hardware) -> Result<Target, Refusal> {
    let (lit, works) = (Circuits::default(), vec![true; hardware.columns()]);
    let view = SwitchView {
        hardware: *hardware,
        lit: &lit,
        works: &works,
    };
    let demand = Demand {
        bytes: Matrix::zeros(hardware.racks as usize),
        over: Time::S,
    };
    let read = policy.with_files_read(hardware)?;
    read.build(hardware, &Empty)?.decide(&demand, &view)
}

/// From where to where its circuits lead.
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
