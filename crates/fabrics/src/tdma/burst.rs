//! The packets that a rack sends during a day, in closed form: they leave back to back, and packets
//! that are not sent entirely within lit time are lost.

use lightloom_engine::{Rate, Time};
use std::ops::Range;

/// The times at which a rack sends over its circuit, and at which the circuit is lit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Earliest departure of the first packet.…
    pub from: Time,
    /// The last packet is completely sent by this time.
    pub until: Time,
    /// Start of the circuit's lit time.…
    pub light: Time,
    /// Start of the next night.
    pub dark: Time,
}

impl Window {
    /// Nothing is sent.
    pub const NONE: Window = Window {
        from: Time::NEVER,
        until: Time::ZERO,
        light: Time::NEVER,
        dark: Time::ZERO,
    };

    /// Whether the circuit is lit for the whole time of sending.
    #[inline]
    pub fn is_lit(&self) -> bool {
        self.light <= self.from && self.until <= self.dark
    }
}

/// Bytes sent back to back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Burst {
    /// Lost: sent before first light.
    pub early: u64,
    /// Carried.
    pub carried: u64,
    /// Lost: sent after the start of the night, or cut off by it.
    pub late: u64,
}

impl Burst {
    /// A burst whose bytes are all carried.
    #[inline]
    pub fn carried(bytes: u64) -> Burst {
        Burst {
            carried: bytes,
            ..Burst::default()
        }
    }

    /// All that was sent.
    #[inline]
    pub fn sent(&self) -> u64 {
        self.early + self.carried + self.late
    }
}

/// The rate and packet size at which a rack sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    /// Rate while it sends.
    pub rate: Rate,
    /// Bytes of a full packet.
    pub packet: u64,
}

impl Wire {
    /// Time at which the last of `bytes` leaves, if the first leaves at `at`.
    #[inline]
    pub fn end(&self, at: Time, bytes: u64) -> Time {
        at + self.rate.time_for(bytes)
    }

    /// The number of packets of these bytes of a flow.
    #[inline]
    pub fn packets(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.packet)
    }

    /// Bytes of the whole packets that can be sent in a time; at least one packet.
    pub fn whole_packets(&self, time: Time) -> u64 {
        (self.rate.bytes_in(time) / self.packet).max(1) * self.packet
    }

    /// Whole packets of `bytes` that fit into this time, given in bytes.
    #[inline]
    pub fn fitting(&self, bytes: u64, room: u64) -> u64 {
        match bytes <= room {
            true => bytes,
            false => room / self.packet * self.packet,
        }
    }

    /// Bytes of the full packets that begin before a time, if the first one begins at `at`.
    pub fn begun(&self, at: Time, before: Time) -> u64 {
        let whole = self.rate.bytes_in(before - at) / self.packet * self.packet;
        match self.end(at, whole) < before {
            true => whole + self.packet,
            false => whole,
        }
    }

    /// The packets of `bytes` that follow `after` bytes, each as a half-open range of bytes.
    pub fn split(&self, after: u64, bytes: u64) -> impl Iterator<Item = Range<u64>> {
        let (packet, end) = (self.packet, after + bytes);
        let starts = (after..end).step_by(packet as usize);
        starts.map(move |start| start..end.min(start + packet))
    }

    /// Sends `bytes` of a flow whose first packet leaves at `at`, which is in the window.
    pub fn burst(&self, window: &Window, at: Time, bytes: u64) -> Burst {
        let room = |until: Time| self.rate.bytes_in(until - at);
        let sent = self.fitting(bytes, room(window.until));
        if at >= window.light && window.until <= window.dark {
            let carried = sent;
            return Burst {
                carried,
                ..Burst::default()
            };
        }
        let early = match at < window.light {
            // Packets that begin in the dark; the first one always does here.
            true => (room(window.light - Time(1)) / self.packet + 1) * self.packet,
            false => 0,
        };
        let early = early.min(sent);
        let whole = self.fitting(sent, room(window.dark)).max(early);
        Burst {
            early,
            carried: whole - early,
            late: sent - whole,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Packet by packet.
    fn one_by_one(wire: &Wire, window: &Window, at: Time, bytes: u64) -> Burst {
        let (mut burst, mut sent) = (Burst::default(), 0);
        while sent < bytes {
            let packet = wire.packet.min(bytes - sent);
            let (begins, ends) = (wire.end(at, sent), wire.end(at, sent + packet));
            if ends > window.until {
                break;
            }
            match (begins < window.light, ends > window.dark) {
                (true, _) => burst.early += packet,
                (_, true) => burst.late += packet,
                _ => burst.carried += packet,
            }
            sent += packet;
        }
        burst
    }

    proptest! {
        #[test]
        fn a_burst_is_its_packets(
            rate in prop::sample::select(vec![1_000u64, 3_333, 10_000, 25_781]),
            packet in 1u64..60,
            edges in prop::array::uniform4(0i64..400),
            at in 0i64..400,
            bytes in 1u64..500,
        ) {
            let wire = Wire { rate: Rate(rate * 1_000_000), packet };
            let [from, until, light, dark] = edges.map(|ns| Time::NS * ns);
            let window = Window { from, until, light, dark };
            let at = (Time::NS * at).max(from);
            let expected = one_by_one(&wire, &window, at, bytes);
            prop_assert_eq!(wire.burst(&window, at, bytes), expected);
            prop_assert!(!window.is_lit() || expected.early + expected.late == 0);
        }
    }

    /// One byte per nanosecond: 100 ns from 50 ns on, in packets of 30 B; light from 60 to 130 ns.
    #[test]
    fn by_hand() {
        let wire = Wire {
            rate: Rate(8 * Rate::GBPS.0),
            packet: 30,
        };
        let ns = |n: i64| Time::NS * n;
        let window = Window {
            from: ns(50),
            until: ns(150),
            light: ns(60),
            dark: ns(130),
        };
        // At 50, 80 and 110 ns; the first begins in the dark, the last ends in it.
        let burst = Burst {
            early: 30,
            carried: 30,
            late: 30,
        };
        assert_eq!(wire.burst(&window, ns(50), 1_000), burst);
        assert_eq!(wire.burst(&window, ns(60), 1_000).carried, 60);
        assert_eq!(wire.burst(&window, ns(60), 70).sent(), 70);
        assert_eq!(wire.burst(&window, ns(140), 30).sent(), 0);
    }
}
