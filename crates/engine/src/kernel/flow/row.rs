//! An open flow, and bundles of flows that move together, in exact integers.

use crate::ids::FlowId;
use crate::time::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Units that 1 b/s moves in 1 ps; a byte has this many units.
pub const UNITS: u128 = 8_000_000_000_000;

/// An open flow.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub flow: FlowId,
    /// The bundle that it moves with.
    pub bundle: u32,
    /// Units that a flow of the bundle had sent when this one joined.
    pub joined: u128,
    /// Units that the flow had not sent when it joined.
    pub left: u128,
    /// Units × hops that had been carried when it joined.
    pub carried: u128,
    /// The time from sending a byte to its arrival.
    pub delay: Time,
    /// Hops of its path, and whether a circuit is among them.
    pub hops: u8,
    pub lit: bool,
    pub started: bool,
}

impl Row {
    /// Units that a flow of its bundle has sent when this one has sent all.
    #[inline]
    pub fn end(&self) -> u128 {
        self.joined + self.left
    }

    /// Mean number of hops of a byte, over the bytes sent.
    pub fn hops_mean(&self, sent: u128) -> f32 {
        match sent {
            0 => f32::NAN,
            _ => (self.carried as f64 / sent as f64) as f32,
        }
    }
}

/// Flows over one path with equal rates: each has sent the same since it joined. Flows join and
/// leave with their remaining bytes.
#[derive(Clone, Debug)]
pub struct Bundle {
    /// The common properties of its flows, if more may join.
    pub key: u64,
    /// Rate of each since `anchor` [b/s].
    pub rate: u64,
    /// The rate up to which the next flow ends no earlier than expected.
    pub ceiling: u64,
    pub anchor: Time,
    /// Units that a flow present from the beginning had sent at `anchor`.
    moved: u128,
    /// The total of its next flow at the time when it has sent all bytes (see [`Row::end`]), and
    /// its row; [`NO_FLOW`] without flows.
    next: (u128, u32),
    /// The totals at which the other flows will have sent all bytes, with their rows. Flows that
    /// have left may still be included.
    ends: BinaryHeap<Reverse<(u128, u32)>>,
}

/// A rate may rise by 1 ÷ this number before the next completion is computed again.
const RISE: u64 = 16;

/// A total that no flow can reach.
const NO_FLOW: (u128, u32) = (u128::MAX, u32::MAX);

impl Default for Bundle {
    fn default() -> Bundle {
        Bundle {
            key: 0,
            rate: 0,
            ceiling: 0,
            anchor: Time::ZERO,
            moved: 0,
            next: NO_FLOW,
            ends: BinaryHeap::new(),
        }
    }
}

impl Bundle {
    /// Resets the bundle; it then has no flows.
    pub fn clear(&mut self, now: Time) {
        self.ends.clear();
        (self.rate, self.ceiling, self.moved) = (0, 0, 0);
        (self.anchor, self.next) = (now, NO_FLOW);
    }

    /// Units that a flow present from the beginning has sent by `now`.
    #[inline]
    pub fn moved(&self, now: Time) -> u128 {
        self.moved + self.rate as u128 * (now - self.anchor).0 as u64 as u128
    }

    /// Sets the rate from `now` on.
    #[inline]
    pub fn set_rate(&mut self, rate: u64, now: Time) {
        self.moved = self.moved(now);
        self.anchor = now;
        self.rate = rate;
    }

    /// Adds a flow.
    #[inline]
    pub fn join(&mut self, row: u32, end: u128) {
        let later = self.next.max((end, row));
        self.next = self.next.min((end, row));
        if later != NO_FLOW {
            self.ends.push(Reverse(later));
        }
    }

    /// Removes a flow and finds the next to end. `number` is the bundle's.
    pub fn left(&mut self, number: u32, rows: &[Row]) {
        while self.next != NO_FLOW {
            let (end, row) = self.next;
            let there = &rows[row as usize];
            if there.bundle == number && there.end() == end {
                return;
            }
            self.next = self.ends.pop().map_or(NO_FLOW, |e| e.0);
        }
    }

    /// Removes the next flow if it has sent all bytes by `now`.
    pub fn pop_due(&mut self, now: Time, number: u32, rows: &[Row]) -> Option<u32> {
        let due = self.next;
        if due.0 > self.moved(now) {
            return None;
        }
        // A row is in the heap twice if it has left and come back.
        while self.next == due && due != NO_FLOW {
            self.next = self.ends.pop().map_or(NO_FLOW, |e| e.0);
        }
        self.left(number, rows);
        Some(due.1)
    }

    /// Rows of its flows, and possibly of some that have left.
    pub fn rows(&self) -> impl Iterator<Item = u32> + '_ {
        let next = (self.next != NO_FLOW).then_some(self.next.1);
        next.into_iter().chain(self.ends.iter().map(|e| e.0 .1))
    }

    /// The result of [`Bundle::finish`], which must be computed again when the rate rises.
    #[inline]
    pub fn expect(&mut self) -> Time {
        self.ceiling = self.rate;
        self.finish()
    }

    /// Like `expect` for a rate that may continue to rise slightly, as it did from `before`: a time
    /// before which the next flow will not have sent all bytes even if the rate rises.
    #[inline]
    pub fn expect_early(&mut self, before: u64) -> Time {
        let little = self.rate / RISE;
        self.ceiling = match self.rate - before <= little {
            true => self.rate.saturating_add(little),
            false => self.rate,
        };
        self.finish_at(self.ceiling)
    }

    /// When the next flow will have sent all bytes; [`Time::NEVER`] if that exceeds the range of
    /// time.
    #[inline]
    pub fn finish(&self) -> Time {
        self.finish_at(self.rate)
    }

    /// When the next flow will have sent all bytes, if the rate since `anchor` is `rate`.
    #[inline]
    fn finish_at(&self, rate: u64) -> Time {
        if rate == 0 || self.next == NO_FLOW {
            return Time::NEVER;
        }
        let left = self.next.0 - self.moved;
        // Numbers of one word are faster to divide.
        let takes = match u64::try_from(left) {
            Ok(left) => i64::try_from(left.div_ceil(rate)),
            Err(_) => i64::try_from(left.div_ceil(rate as u128)),
        };
        let at = takes
            .ok()
            .and_then(|takes| self.anchor.0.checked_add(takes));
        at.map_or(Time::NEVER, Time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 days are 8.64e18 ps, of the 9.22e18 that there are.
    #[test]
    fn what_lasts_longer_than_time_never_finishes() {
        let finish = |rate, bytes: u64, anchor| {
            let bundle = Bundle {
                rate,
                anchor,
                next: (bytes as u128 * UNITS, 0),
                ..Bundle::default()
            };
            bundle.finish()
        };
        let day = Time::S * 86_400;
        assert_eq!(finish(8, 100 * 86_400, Time::ZERO), day * 100);
        assert_eq!(finish(8, 107 * 86_400, Time::ZERO), Time::NEVER);
        assert_eq!(finish(8, 100 * 86_400, day * 7), Time::NEVER);
        assert_eq!(finish(1, u64::MAX, Time::ZERO), Time::NEVER);
        assert_eq!(finish(0, 1, Time::ZERO), Time::NEVER);
    }
}
