//! Durations of packets: constants of a configuration that kernels use.

use super::config::LionsConfig;
use lightloom_engine::{Rate, Time};

/// Times and sizes.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Payload of a full packet [B].
    pub packet: u64,
    header: u64,
    rate: Rate,
    /// Transmission time of a full packet.
    pub full: Time,
    /// Gap between packets of a host.
    pub gap: Time,
    /// Gap between packets at a receiver.
    pub settling: Time,
    /// Time from the transmission of a packet's first bit by a host until the switch forwards it.
    pub to_switch: Time,
    /// Time from the switch to a host.
    pub to_host: Time,
}

impl Pace {
    /// Creates the pace of a resolved configuration.
    pub fn new(config: &LionsConfig) -> Pace {
        Pace {
            packet: config.packet.0,
            header: config.header.0,
            rate: config.line_rate(),
            full: config.full(),
            gap: config.gap(),
            settling: config.settling(),
            to_switch: config.to_switch(),
            to_host: config.fibre.delay(),
        }
    }

    /// Transmission time of a packet with that payload.
    #[inline]
    pub fn wire(&self, bytes: u32) -> Time {
        if bytes as u64 == self.packet {
            self.full
        } else {
            self.rate.time_for(bytes as u64 + self.header)
        }
    }

    /// Bytes on the wire of a packet with that payload.
    #[inline]
    pub fn bytes(&self, payload: u32) -> u64 {
        payload as u64 + self.header
    }

    /// Bytes that are sent within a time.
    pub fn within(&self, time: Time) -> u64 {
        self.rate.bytes_in(time)
    }

    /// Duration of a full packet and the gap after it.
    pub fn slot(&self) -> Time {
        self.full + self.gap
    }
}
