//! Whole packets, and slots that are not too short for the switch.
//!
//! A day that ends within a packet carries nothing of it, and the packet waits for the next day
//! of its pair. So demand is planned in whole packets, and each day is then shortened to what
//! its circuits have: the last packet of a pair may be short.

use super::{Network, Plan};
use crate::demand::Matrix;
use lightloom_engine::{Refusal, Time};

/// What days and slots have to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// No slot, its night included, is shorter; of no effect up to the night.
    pub shortest: Time,
    /// Largest packet [bytes]; 1 for a demand that may be cut anywhere.
    pub packet: i64,
}

impl Limits {
    /// Days of any length, which end within packets.
    pub const NONE: Limits = Limits {
        shortest: Time::ZERO,
        packet: 1,
    };

    pub(super) fn check(&self) -> Result<(), Refusal> {
        if (1..=65_535).contains(&self.packet) {
            return Ok(());
        }
        let limit = "must be from 1 B to 65535 B";
        let value = format!("{} B", self.packet);
        Err(Refusal::new("packet", value, limit, "use 1500 B"))
    }

    /// Bytes of the packets that so many bytes need.
    pub(super) fn round_up(&self, bytes: i64) -> i64 {
        let packets = bytes / self.packet + i64::from(bytes % self.packet > 0);
        packets.saturating_mul(self.packet)
    }

    /// The demand with the last packet of each pair full.
    pub(super) fn in_whole_packets(&self, demand: &Matrix) -> Result<Matrix, Refusal> {
        let n = demand.n();
        let cells = demand.cells().iter().map(|&bytes| self.round_up(bytes));
        Matrix::new(n, n, cells.collect())
    }

    /// A day for so many bytes, and what a circuit carries in it.
    pub(super) fn day(&self, bytes: i64, network: &Network) -> (Time, i64) {
        let needed = network.circuit.time_for(bytes as u64);
        let day = needed.max(self.shortest - network.night);
        if day == needed {
            return (day, bytes);
        }
        let fits = i64::try_from(network.circuit.bytes_in(day)).unwrap_or(i64::MAX);
        (day, fits / self.packet * self.packet)
    }

    /// The plan of a demand in whole packets for the demand itself: each day ends when its
    /// circuits have sent their last packet, unless the slot would be too short.
    pub(super) fn without_padding(&self, plan: Plan, demand: &Matrix, network: &Network) -> Plan {
        let (mut left, mut schedule) = (demand.clone(), plan.schedule);
        for slot in &mut schedule.slots {
            let fits = i64::try_from(network.circuit.bytes_in(slot.day)).unwrap_or(i64::MAX);
            let mut longest = 0;
            for (row, &column) in slot.permutation.iter().enumerate() {
                let column = column as usize;
                let waiting = left.get(row, column);
                let sent = match waiting <= fits {
                    true => waiting,
                    false => fits / self.packet * self.packet,
                };
                left.set(row, column, waiting - sent);
                longest = longest.max(sent);
            }
            slot.day = match longest {
                0 => Time::ZERO,
                bytes => self.day(bytes, network).0,
            };
        }
        schedule.slots.retain(|slot| slot.day > Time::ZERO);
        let total = network.finish(schedule.period(), left.line_max());
        Plan {
            schedule,
            residual: left,
            total: total.unwrap_or(plan.total),
        }
    }
}
