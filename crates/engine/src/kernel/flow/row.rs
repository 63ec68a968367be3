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

    /// When all will have been sent, anchored now; never, if time does not reach so far.
    pub fn finish(&self, now: Time) -> Time {
        let lasts = match self.rate {
            0 => return Time::NEVER,
            rate => i64::try_from(self.left.div_ceil(rate as u128)),
        };
        let at = lasts.ok().and_then(|lasts| now.0.checked_add(lasts));
        at.map_or(Time::NEVER, Time)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 days are 8.64e18 ps, of the 9.22e18 that there are.
    #[test]
    fn what_lasts_longer_than_time_never_finishes() {
        let row = |rate, bytes: u64| Row {
            flow: FlowId(0),
            rate,
            anchor: Time::ZERO,
            left: bytes as u128 * UNITS,
            carried: 0,
            delay: Time::ZERO,
            hops: 1,
            lit: false,
            started: true,
        };
        let day = Time::S * 86_400;
        assert_eq!(row(8, 100 * 86_400).finish(Time::ZERO), day * 100);
        assert_eq!(row(8, 107 * 86_400).finish(Time::ZERO), Time::NEVER);
        assert_eq!(row(8, 100 * 86_400).finish(day * 7), Time::NEVER);
        assert_eq!(row(1, u64::MAX).finish(Time::ZERO), Time::NEVER);
        assert_eq!(row(0, 1).finish(Time::ZERO), Time::NEVER);
    }
}
