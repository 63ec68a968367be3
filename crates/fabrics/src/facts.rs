//! Values that follow from a fabric's table before a run.

use lightloom_engine::{Bytes, Rate, Time};
use serde_json::Value;

/// A number of equal parts, or their bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The name of the part, in words joined by `_`; ends in `_bps` if it is a bandwidth [b/s].
    pub name: &'static str,
    /// Number of these parts.
    pub count: u64,
}

/// A value in force that no key of the resolved table holds, as a fraction: an
/// epoch of 32/3 slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Derived {
    /// The name of the value: that of the key that it replaces, if there is one, followed by its
    /// unit.
    pub name: &'static str,
    /// Numerator.
    pub value: u64,
    /// Denominator, above 0; 1 for whole numbers.
    pub of: u64,
}

impl Derived {
    /// A whole number.
    pub fn whole(name: &'static str, value: u64) -> Derived {
        Derived { name, value, of: 1 }
    }
}

/// The share of a server's link that packets use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framing {
    /// Rate of the link [b/s].
    pub rate: Rate,
    /// Payload of a full packet [B].
    pub packet: Bytes,
    /// Header of every packet [B].
    pub header: Bytes,
    /// A packet with its header is padded to a multiple of this [B].
    pub word: Bytes,
    /// Silence after every packet [time].
    pub gap: Time,
}

impl Framing {
    /// Time for which a message occupies the link.
    pub fn time_for(&self, message: Bytes) -> Time {
        let wire = |payload: u64| {
            let words = (payload + self.header.0).div_ceil(self.word.0);
            self.rate.time_for(words * self.word.0) + self.gap
        };
        let (full, rest) = (message.0 / self.packet.0, message.0 % self.packet.0);
        let last = if rest > 0 { wire(rest) } else { Time::ZERO };
        wire(self.packet.0) * full as i64 + last
    }
}

/// Pairs of racks that have flows and are never connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unjoined {
    /// The sending rack of the first pair.
    pub from: u32,
    /// The destination of the first pair.
    pub to: u32,
    /// Number of further pairs.
    pub others: u64,
    /// Another setting that would serve them, as an instruction that names the key.
    pub otherwise: &'static str,
}

/// The links of a group of adjacent racks to all other racks; every group has the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uplinks {
    /// The name of a group: `rack` or `pod`.
    pub group: &'static str,
    /// Racks in each group.
    pub racks: u32,
    /// The highest rate of payload that they carry in each direction, all circuits included [b/s].
    pub rate: Rate,
}

impl Uplinks {
    /// The uplinks of each rack, at a constant rate.
    pub fn of_racks(rate: Rate) -> Uplinks {
        let (group, racks) = ("rack", 1);
        Uplinks { group, racks, rate }
    }

    /// The uplinks of racks with `links` circuits each, which are dark for `night` of every `slot`.
    pub fn by_turns(links: u32, rate: Rate, night: Time, slot: Time) -> Uplinks {
        let lit = u128::from(links) * u128::from(rate.0) * (slot - night).0.max(0) as u128;
        Uplinks::of_racks(Rate((lit / slot.0.max(1) as u128) as u64))
    }
}

/// The values of a resolved table on its cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The bill of parts; empty if the fabric computes none.
    pub parts: Vec<Part>,
    /// The share of a server's link that packets use; none for a fabric without packets.
    pub framing: Option<Framing>,
    /// Values that follow from the table and the cluster and affect results; empty if the resolved
    /// table has all.
    pub derived: Vec<Derived>,
    /// The racks whose flows are never served; `None` if all are served, or if this is not known
    /// before the run.
    pub unjoined: Option<Unjoined>,
    /// The links that connect racks, and groups of racks, to others; empty if they are not known.
    /// The sum of their rates bounds the traffic that a fabric carries; few fabrics reach it.
    pub uplinks: Vec<Uplinks>,
    /// The rate at which a server receives, if that is not the rate of its link (`cluster.nic`).
    pub receives: Option<Rate>,
    /// Upper bound of the mean length of a slot, if circuits take turns.
    pub slot: Option<Time>,
    /// Time from one decision on circuits to the next; `None` without decisions.
    pub interval: Option<Time>,
    /// The time in which circuits connect every pair of racks once, or are chosen again: a shorter
    /// run shows a part of the fabric's capacity. `None` if circuits do not change.
    pub cycle: Option<Time>,
    /// Values that follow from the devices that the table names; `None` if it names none.
    pub devices: Option<Value>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 8 Gb/s are 1 B per nanosecond. 250 B are two packets of 100 B and one of 50 B.
    #[test]
    fn messages_take_what_their_packets_do() {
        let framing = |word, gap| Framing {
            rate: Rate(8 * Rate::GBPS.0),
            packet: Bytes(100),
            header: Bytes(5),
            word: Bytes(word),
            gap: Time::NS * gap,
        };
        for (message, word, gap, ns) in [
            (250, 1, 0, 105 + 105 + 55),
            (250, 1, 7, 105 + 105 + 55 + 3 * 7),
            (250, 8, 0, 112 + 112 + 56),
            (100, 8, 7, 112 + 7),
            (1, 8, 0, 8),
            (3, 8, 0, 8),
            (4, 8, 0, 16),
        ] {
            let took = framing(word, gap).time_for(Bytes(message));
            assert_eq!(took, Time::NS * ns, "{message} B, {word} B, {gap} ns");
        }
    }
}
