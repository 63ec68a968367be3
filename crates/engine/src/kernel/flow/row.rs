//! A flow under way, in exact integers.

use crate::ids::FlowId;
use crate::time::Time;

/// What 1 b/s moves in 1 ps; a byte has so many of them.
pub const UNITS: u128 = 8_000_000_000_000;

/// A flow under way.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub flow: FlowId,
    /// Rate since `anchor` [b/s].
    pub rate: u64,
    pub anchor: Time,
    /// Units not sent at `anchor`.
    pub left: u128,
    /// Units × hops that have been carried until `anchor`.
    pub carried: u128,
    /// From a byte sent to its arrival.
    pub delay: Time,
    /// Hops of its path, and whether a circuit is among them.
    pub hops: u8,
    pub lit: bool,
    pub started: bool,
}

impl Row {
    /// Units sent between `anchor` and `now`.
    #[inline]
    pub fn sent(&self, now: Time) -> u128 {
        (self.rate as u128 * (now - self.anchor).0 as u128).min(self.left)
    }

    /// Hops a byte, over those sent.
    pub fn hops_mean(&self, sent: u128) -> f32 {
        match sent {
            0 => f32::NAN,
            _ => (self.carried as f64 / sent as f64) as f32,
        }
    }

    /// Whole bytes not sent by `now`.
    pub fn missing(&self, now: Time) -> u64 {
        (self.left - self.sent(now)).div_ceil(UNITS) as u64
    }
}
