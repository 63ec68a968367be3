//! Whole packets, and the shortest slot of the switch.
//!
//! A day that ends within a packet does not carry this packet, which waits for the next day of its
//! pair. Demand is therefore planned in whole packets, and each day is then shortened to the demand
//! of its circuits, because the last packet of a pair may be short.

use super::{Network, Plan};
use crate::demand::Matrix;
use lightloom_engine::{Refusal, Time};

/// Limits on days and slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The shortest slot, including its night. It has no effect if it is not longer than the
    /// night.
    pub shortest: Time,
    /// Largest packet [bytes]; 1 if demand may be divided anywhere.
    pub packet: i64,
}

impl Limits {
    /// Days of any length, which may end within packets.
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

    /// The bytes of the packets that carry `bytes`.
    pub(super) fn round_up(&self, bytes: i64) -> i64 {
        let packets = bytes / self.packet + i64::from(bytes % self.packet > 0);
        packets.saturating_mul(self.packet)
    }

    /// The demand with the last packet of each pair full.
    pub(super) fn in_whole_packets(&self, demand: &Matrix) -> Matrix {
        let mut whole = demand.clone();
        for (row, column, bytes) in demand.entries() {
            whole.set(row, column, self.round_up(bytes));
        }
        whole
    }

    /// A day for `bytes`, and the bytes that a circuit carries in it.
    pub(super) fn day(&self, bytes: i64, network: &Network) -> (Time, i64) {
        let needed = network.circuit.time_for(bytes as u64);
        let day = needed.max(self.shortest - network.night);
        if day == needed {
            return (day, bytes);
        }
        let fits = i64::try_from(network.circuit.bytes_in(day)).unwrap_or(i64::MAX);
        (day, fits / self.packet * self.packet)
    }

    /// Converts a plan for whole packets to a plan for the demand itself: each day ends when its
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

#[cfg(test)]
mod tests {
    use super::super::{lower_bound, plan_within};
    use super::*;
    use crate::demand::tests::demands;
    use lightloom_engine::Rate;
    use proptest::prelude::*;

    /// A byte a nanosecond.
    const CIRCUIT: Rate = Rate(8_000_000_000);

    /// Sends a pair's packets one by one while they fit into a day; returns the bytes sent.
    fn send(mut left: i64, packet: i64, day: Time) -> i64 {
        let (had, mut room) = (left, day.0 / 1_000);
        while left > 0 && left.min(packet) <= room {
            room -= left.min(packet);
            left -= left.min(packet);
        }
        had - left
    }

    proptest! {
        /// Packet by packet: days are not longer than needed, and all demand is served by the end.
        #[test]
        fn packets_are_served_when_the_plan_says(
            demand in demands(10, 10_000), packet in 1i64..3_000, share in 0u64..50,
            night in 0i64..2_000, shortest in 0i64..5_000,
        ) {
            let network = Network {
                circuit: CIRCUIT,
                packet: Rate(CIRCUIT.0 * share / 100),
                night: Time::NS * night,
            };
            let limits = Limits { shortest: Time::NS * shortest, packet };
            let plan = plan_within(&demand, &network, &limits).unwrap();
            prop_assert_eq!(plan.schedule.check(), Ok(()));
            let mut left = demand.clone();
            for slot in &plan.schedule.slots {
                let mut longest = 0;
                for (from, to) in slot.circuits() {
                    let sent = send(left.get(from, to), packet, slot.day);
                    left.set(from, to, left.get(from, to) - sent);
                    longest = longest.max(sent);
                }
                let is_shortest = slot.day + network.night == limits.shortest;
                prop_assert!(slot.day + network.night >= limits.shortest);
                // If planned by bytes, the last day may end anywhere, for the packet network.
                prop_assert!(packet == 1 || slot.day == Time::NS * longest || is_shortest);
            }
            prop_assert_eq!(&left, &plan.residual);
            prop_assert!(plan.schedule.period() <= plan.total);
            for line in left.row_sums().into_iter().chain(left.column_sums()) {
                prop_assert!(network.packet.bytes_in(plan.total) >= line as u64);
            }
            prop_assert!(lower_bound(&demand, &network).unwrap() <= plan.total);
        }
    }

    /// Two pairs of 4,000 B share a port, with packets of 1,500 B: 3 packets each, the last of
    /// 1,000 B. No day is rounded up to whole packets.
    #[test]
    fn the_last_packet_may_be_short() {
        let demand = Matrix::new(3, 3, vec![0, 4_000, 4_000, 0, 0, 0, 0, 0, 0]).unwrap();
        let network = Network {
            circuit: CIRCUIT,
            packet: Rate(0),
            night: Time::US,
        };
        let limits = |packet, shortest| Limits { shortest, packet };
        let total = |limits| plan_within(&demand, &network, &limits).unwrap().total;
        assert_eq!(total(limits(1_500, Time::ZERO)), Time::US * 10);
        // Slots of 7 us: days of 6 us also carry the rest.
        assert_eq!(total(limits(1_500, Time::US * 7)), Time::US * 14);
        let refusal = plan_within(&demand, &network, &limits(0, Time::ZERO)).unwrap_err();
        assert_eq!(
            refusal.to_string(),
            "packet = 0 B: must be from 1 B to 65535 B; use 1500 B"
        );
    }
}
