//! The time for which an all-optical NACK occupies a host that has one packet in flight.

use super::config::{Architecture, LionsConfig};
use lightloom_engine::Time;

/// The times at which a host has the result for its packet. With the edge detector of §IV at most
/// one packet per host may be in flight.
#[derive(Clone, Copy, Debug)]
pub struct Nack {
    /// Time from the start of a packet to the start of its NACK; 0 without NACKs.
    round_trip: Time,
    /// Whether a NACK ends the transmission of its packet.
    abort: bool,
}

impl Nack {
    /// Creates the state of a resolved configuration.
    pub fn new(config: &LionsConfig) -> Nack {
        let has = config.architecture == Architecture::AoNack;
        Nack {
            round_trip: if has { config.round_trip() } else { Time::ZERO },
            abort: config.aborts(),
        }
    }

    /// Time for which a packet that is not reflected occupies the transmitter. It is longer than
    /// the packet if the packet is too short for the edge detector.
    #[inline]
    pub fn when_none(&self, wire: Time) -> Time {
        wire.max(self.round_trip)
    }

    /// Duration of a reflected packet, and the time for which it occupies its transmitter.
    pub fn when_one(&self, wire: Time) -> (Time, Time) {
        match self.abort && self.round_trip < wire {
            true => (self.round_trip, self.round_trip),
            false => (wire, self.when_none(wire)),
        }
    }
}
