//! Rescheduling: which schedule is in force when, and its epochs.

use crate::sirius::reference::Reference;
use lightloom_control::algorithms::cyclic::RoundRobin;
use std::ops::Range;

/// A schedule that came into force.
#[derive(Clone, Debug, Default)]
pub struct InForce {
    pub slot: i64,
    epoch: i64,
    /// The nodes that meet by a round robin; `None` if all meet by the wiring.
    pub members: Option<Vec<usize>>,
}

impl Reference {
    /// The schedule in force in a slot.
    pub(super) fn in_force(&self, slot: i64) -> &InForce {
        let schedules = self.failures.schedules.iter().rev();
        schedules
            .into_iter()
            .find(|e| e.slot <= slot)
            .expect("the first")
    }

    /// Slots of an epoch of a schedule, as a fraction.
    pub(super) fn epoch_length(&self, in_force: &InForce) -> (i64, i64) {
        match &in_force.members {
            None => self.derived.epoch,
            Some(members) => {
                let ring = self.ring(members);
                (ring.nodes as i64, ring.uplinks as i64)
            }
        }
    }

    pub(super) fn ring(&self, members: &[usize]) -> RoundRobin {
        let nodes = members.len() as u32;
        RoundRobin {
            nodes,
            uplinks: self.derived.uplinks.min(nodes),
        }
    }

    /// The epoch of a slot by the schedule in force.
    pub(super) fn epoch_of(&self, slot: i64) -> i64 {
        let now = self.failures.schedules.last().expect("the first");
        let (slots, of) = self.epoch_length(now);
        now.epoch + ((slot - now.slot) * of).div_euclid(slots)
    }

    /// The epoch that begins with `slot`, if one does.
    pub(in crate::sirius::reference) fn epoch_from(&self, slot: i64) -> Option<i64> {
        let epoch = self.epoch_of(slot);
        (self.epoch_of(slot - 1) < epoch).then_some(epoch)
    }

    /// The slots of the epoch that begins with `slot`.
    pub(in crate::sirius::reference) fn slots_from(&self, slot: i64) -> Range<i64> {
        let next = (slot + 1..).find(|&s| self.epoch_of(s) > self.epoch_of(slot));
        slot..next.expect("epochs end")
    }

    /// The peer that an uplink of a node meets in a slot, and the receive port there.
    pub(super) fn met(&self, node: usize, uplink: u32, slot: i64) -> Option<(usize, u32)> {
        let Some(members) = &self.in_force(slot).members else {
            let schedule = &self.derived.schedule;
            let (peer, port) = schedule.peer(schedule.node(node as u32), uplink, slot);
            return Some((schedule.label(peer) as usize, port));
        };
        let (ring, place) = (self.ring(members), members.iter().position(|&m| m == node)?);
        let to = ring.peer(place as u32, uplink, slot) as usize;
        (uplink < ring.uplinks).then_some((members[to], uplink))
    }

    /// Lets the remaining nodes agree on a schedule of their own.
    pub(super) fn reschedule(&mut self, slot: i64, epoch: i64) {
        let all = 0..self.nodes;
        let living: Vec<usize> = all.filter(|&n| !self.failures.is_known(n)).collect();
        // A single node has no peer to meet.
        if living.len() < 2 {
            return;
        }
        let members = (living.len() < self.nodes).then_some(living);
        if self.failures.schedules.last().expect("the first").members != members {
            self.failures.schedules.push(InForce {
                slot,
                epoch,
                members,
            });
        }
    }
}
