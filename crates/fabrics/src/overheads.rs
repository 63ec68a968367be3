//! Overheads of packets that a fluid model does not have: propagation, the switches on the way, and
//! headers.
//!
//! If flows have rates and no packets, or if the packets of a day are computed at once, links carry
//! payload only, reduced by the share of a full packet's header. For flows with rates, the last
//! byte arrives later than its rate gives, by the latency of its path and by the additional header
//! of a short last packet. A flow alone therefore takes as long as its packets would, one behind
//! another on each link: stored at every switch ([`crate::alone`]), or not
//! ([`Forwarding::CutThrough`]).
//!
//! Not modelled: headers of acknowledgements.

use crate::ranges::{self, refuse};
use lightloom_engine::{check_range, Bytes, Rate, Refusal, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Forwarding of packets by switches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Forwarding {
    /// Cut-through: a single flow takes the time that its bytes need at the lowest rate of its
    /// path.
    CutThrough,
    /// Store-and-forward (default), as in `clos`: the last packet of a flow takes its transmission
    /// time again on every link.
    #[default]
    StoreAndForward,
}

/// The keys by which users describe overheads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overheads {
    /// Propagation delay from a rack to another over one circuit, or over the longest path of the
    /// tree.
    pub propagation: Time,
    /// Latency of every electrical switch, those of racks included.
    pub switch_latency: Time,
    /// Latency of every link between racks or switches.
    pub fec_latency: Time,
    /// Header of every packet.
    pub header: Bytes,
    /// Payload of a full packet.
    pub packet: Option<Bytes>,
}

/// The default payload of a full packet.
const PACKET: Bytes = Bytes(1_500);
/// No latency is longer.
const LATENCY_MAX: Time = Time::MS;
/// No header is larger.
const HEADER_MAX: Bytes = Bytes(65_535);

/// The links of a path between two racks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// Links of the tree.
    pub tree: u32,
    /// Circuits.
    pub circuits: u32,
}

impl Overheads {
    /// Fills in the size of a packet if there are headers.
    ///
    /// # Errors
    /// If a key is out of range or has no effect.
    pub fn resolve(mut self) -> Result<Overheads, Refusal> {
        ranges::propagation("propagation", self.propagation, LATENCY_MAX)?;
        for (key, value) in [
            ("fabric.switch_latency", self.switch_latency),
            ("fabric.fec_latency", self.fec_latency),
        ] {
            check_range(key, value, Time::ZERO..=LATENCY_MAX)?;
        }
        ranges::amounts(&[("header", self.header)], HEADER_MAX)?;
        match (self.packet, self.header) {
            (Some(packet), Bytes(0)) => {
                let limit = "has no effect without headers";
                return refuse("packet", packet, limit, "remove it, or add fabric.header");
            }
            (packet, Bytes(1..)) => {
                let packet = packet.unwrap_or(PACKET);
                ranges::packet(packet)?;
                self.packet = Some(packet);
            }
            (None, _) => {}
        }
        Ok(self)
    }

    /// Resolves overheads for switches that may store packets, whose size without headers then
    /// counts as well.
    ///
    /// # Errors
    /// As [`Overheads::resolve`].
    pub fn resolve_for(self, forwarding: Forwarding) -> Result<Overheads, Refusal> {
        match (forwarding, self.packet, self.header) {
            (Forwarding::StoreAndForward, Some(packet), Bytes(0)) => {
                ranges::packet(packet)?;
                let without = Overheads {
                    packet: None,
                    ..self
                };
                Ok(Overheads {
                    packet: self.packet,
                    ..without.resolve()?
                })
            }
            _ => self.resolve(),
        }
    }

    /// Payload of a full packet.
    pub fn payload_of_packet(&self) -> Bytes {
        self.packet.unwrap_or(PACKET)
    }

    /// Whether there are none.
    pub fn is_nothing(&self) -> bool {
        *self == Overheads::default()
    }

    /// The idealised properties, as text.
    pub fn ideal(&self) -> Vec<&'static str> {
        crate::physics::ideal_of(&[
            ("no propagation", self.propagation == Time::ZERO),
            ("no switch latency", self.switch_latency == Time::ZERO),
            ("no FEC", self.fec_latency == Time::ZERO),
            ("no headers", self.header == Bytes(0)),
        ])
    }

    /// Delay from one rack to another over one circuit, including the switch of the other rack.
    pub fn crossing(&self) -> Time {
        self.propagation + self.fec_latency + self.switch_latency
    }

    /// The other terms of the delay, in the refusal of a propagation that is too long with them.
    pub fn beside_the_way(&self) -> String {
        match self.fec_latency + self.switch_latency {
            Time::ZERO => String::new(),
            more => format!(", with {more} of fec_latency and switch_latency,"),
        }
    }

    /// The payload rate of a rate on the wire.
    pub fn payload(&self, wire: Rate) -> Rate {
        let (Some(packet), 1..) = (self.packet, self.header.0) else {
            return wire;
        };
        let on_wire = u128::from(packet.0 + self.header.0);
        Rate((u128::from(wire.0) * u128::from(packet.0) / on_wire) as u64)
    }

    /// The latency of the first bit between two racks; within a rack only that of its switch.
    /// `longest` is the number of links on the tree's longest path.
    pub fn latency(&self, passed: Passed, longest: u32) -> Time {
        let links = i64::from(passed.tree + passed.circuits);
        let tree = self.propagation.0 * i64::from(passed.tree) / i64::from(longest.max(1));
        let fibre = self.propagation * i64::from(passed.circuits) + Time(tree);
        fibre + self.fec_latency * links + self.switch_latency * (links + 1)
    }

    /// Time that the header of the last, short packet of a flow needs beyond its part of the
    /// payload rate, on the slowest link of the path; 0 if no circuit is lit.
    pub fn last_header(&self, bytes: u64, payload: Rate) -> Time {
        let (Some(packet), 1..) = (self.packet, payload.0) else {
            return Time::ZERO;
        };
        let missing = bytes.next_multiple_of(packet.0) - bytes;
        let bits = u128::from(self.header.0) * u128::from(missing) * 8_000_000_000_000;
        let rate = u128::from(packet.0 + self.header.0) * u128::from(payload.0);
        Time(bits.div_ceil(rate) as i64)
    }
}

/// Declares the table of a fabric: its keys with their defaults, followed by the keys of
/// [`Overheads`]. Each fabric describes its `propagation` itself. A completed table omits the keys
/// of [`Overheads`] if they have no effect, because they were added to the fabrics later.
///
/// A flattened table is not used, because serde does not name its keys in errors.
macro_rules! with_overheads {
    (
        $(#[$table:meta])*
        pub struct $name:ident {
            $( $(#[$doc:meta])* pub $key:ident: $type:ty = $default:expr, )*
        }
        $(#[$way:meta])*
        propagation
    ) => {
        $(#[$table])*
        pub struct $name {
            $( $(#[$doc])* pub $key: $type, )*
            $(#[$way])*
            #[serde(skip_serializing_if = "crate::physics::is_nothing")]
            pub propagation: lightloom_engine::Time,
            /// Forwarding latency of every electrical switch on the path, including the racks'
            /// switches [time]. Default 0 s (idealised).
            #[serde(skip_serializing_if = "crate::physics::is_nothing")]
            pub switch_latency: lightloom_engine::Time,
            /// Latency that forward error correction adds to every link between racks or switches
            /// [time]. Default 0 s (idealised).
            #[serde(skip_serializing_if = "crate::physics::is_nothing")]
            pub fec_latency: lightloom_engine::Time,
            /// Header bytes of every packet [B]; they reduce the payload that links carry. Default
            /// 0 B (idealised).
            #[serde(skip_serializing_if = "crate::physics::is_nothing")]
            pub header: lightloom_engine::Bytes,
            /// Payload of a full packet [B]; it has an effect only with headers or with switches
            /// that store packets. Default 1500 B.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub packet: Option<lightloom_engine::Bytes>,
        }

        impl Default for $name {
            fn default() -> $name {
                let $crate::overheads::Overheads {
                    propagation,
                    switch_latency,
                    fec_latency,
                    header,
                    packet,
                } = Default::default();
                $name {
                    $( $key: $default, )*
                    propagation,
                    switch_latency,
                    fec_latency,
                    header,
                    packet,
                }
            }
        }

        impl $name {
            /// Headers and other overheads of packets.
            pub fn overheads(&self) -> $crate::overheads::Overheads {
                $crate::overheads::Overheads {
                    propagation: self.propagation,
                    switch_latency: self.switch_latency,
                    fec_latency: self.fec_latency,
                    header: self.header,
                    packet: self.packet,
                }
            }
        }
    };
}
pub(crate) use with_overheads;

#[cfg(test)]
mod tests {
    use super::*;

    fn overheads(header: u64, packet: u64) -> Overheads {
        Overheads {
            propagation: Time::NS * 500,
            switch_latency: Time::NS * 600,
            fec_latency: Time::NS * 100,
            header: Bytes(header),
            packet: Some(Bytes(packet)),
        }
    }

    /// 8 Gb/s on the wire are 1 B a nanosecond.
    #[test]
    fn a_flow_alone_takes_what_its_packets_do() {
        let wire = Rate(8 * Rate::GBPS.0);
        for (header, packet, bytes) in [(38, 1_500, 1_500), (38, 1_500, 1), (50, 100, 250)] {
            let these = overheads(header, packet);
            let payload = these.payload(wire);
            let took = payload.time_for(bytes) + these.last_header(bytes, payload);
            let packets = bytes.div_ceil(packet);
            let exact = Time::NS * (bytes + packets * header) as i64;
            // Both of its times are rounded up, by less than a picosecond each.
            assert!((took - exact).0.abs() <= 2, "{bytes} B: {took}, {exact}");
        }
    }

    #[test]
    fn latency_is_that_of_the_links_and_switches_passed() {
        let ns = |passed, longest| overheads(0, 1).latency(passed, longest).0 / Time::NS.0;
        let passed = |tree, circuits| Passed { tree, circuits };
        assert_eq!(ns(passed(0, 0), 4), 600);
        // Half of the way up and down within a pod.
        assert_eq!(ns(passed(2, 0), 4), 250 + 2 * 100 + 3 * 600);
        assert_eq!(ns(passed(4, 0), 4), 500 + 4 * 100 + 5 * 600);
        assert_eq!(ns(passed(2, 0), 2), 500 + 2 * 100 + 3 * 600);
        assert_eq!(ns(passed(0, 1), 2), 500 + 100 + 2 * 600);
        assert_eq!(ns(passed(0, 3), 2), 3 * 500 + 3 * 100 + 4 * 600);
    }

    #[test]
    fn what_has_no_effect_or_is_out_of_range_is_refused() {
        let key = |o: Overheads| o.resolve().unwrap_err().key;
        let good = overheads(38, 1_500);
        assert_eq!(good.resolve(), Ok(good));
        assert_eq!(key(overheads(0, 1_500)), "fabric.packet");
        assert_eq!(key(overheads(38, 0)), "fabric.packet");
        assert_eq!(key(overheads(70_000, 1_500)), "fabric.header");
        let long = |f: fn(&mut Overheads)| {
            let mut changed = good;
            f(&mut changed);
            key(changed)
        };
        assert_eq!(long(|o| o.propagation = Time(-1)), "fabric.propagation");
        assert_eq!(
            long(|o| o.switch_latency = Time::S),
            "fabric.switch_latency"
        );
        assert_eq!(long(|o| o.fec_latency = Time::S), "fabric.fec_latency");
        let mut slow = good;
        slow.fec_latency = Time::S;
        let words = "fabric.fec_latency = 1 s: must be from 0 ps to 1 ms; lower it";
        assert_eq!(slow.resolve().unwrap_err().to_string(), words);
        let alone = Overheads {
            packet: None,
            ..good
        };
        assert_eq!(alone.resolve().unwrap().packet, Some(PACKET));
        assert!(Overheads::default().resolve().unwrap().is_nothing());
    }
}
