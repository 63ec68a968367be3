//! The time for which a matching is lit.

use lightloom_engine::{Rate, Time};

/// Bytes per time, compared exactly.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ratio {
    pub bytes: i64,
    pub time: Time,
}

impl Ratio {
    pub const NOTHING: Ratio = Ratio {
        bytes: 0,
        time: Time(1),
    };

    pub fn beats(self, other: Ratio) -> bool {
        let (a, b) = (i128::from(self.bytes), i128::from(other.bytes));
        a * i128::from(other.time.0) > b * i128::from(self.time.0)
    }
}

/// The cost and the limits of lighting a matching.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    pub rate: Rate,
    /// Dark time before it.
    pub night: Time,
    /// The time for which it is lit already.
    pub before: Time,
    /// Shortest time for which the matching has to be lit longer.
    pub shortest: Time,
    /// Longest time for which it may be lit longer.
    pub longest: Time,
}

impl Terms {
    /// The bytes that a pair can send if its circuit is lit for `day` longer.
    pub fn bytes(&self, day: Time) -> i64 {
        let bytes = |day| i64::try_from(self.rate.bytes_in(day)).unwrap_or(i64::MAX);
        bytes(self.before + day) - bytes(self.before)
    }

    /// The shortest day that lets a pair send `bytes`, within the limits.
    pub fn day_for(&self, bytes: i64) -> Time {
        let sent = self.rate.bytes_in(self.before) as u128;
        let bits = (sent + bytes as u128) * 8_000_000_000_000;
        let ps = bits.div_ceil(self.rate.0 as u128);
        let end = Time(i64::try_from(ps).unwrap_or(i64::MAX));
        (end - self.before).max(self.shortest).min(self.longest)
    }

    /// The day that carries most per time. The ratio of a concave function and a line is largest
    /// where the slope changes: where a pair has sent all its `entries`, or at the longest day.
    pub fn best_day(&self, entries: &mut [i64]) -> (Ratio, Time) {
        entries.sort_unstable();
        let mut best = (Ratio::NOTHING, self.longest);
        let (mut sent, mut done) = (0, 0);
        for at in 0..=entries.len() {
            let day = match entries.get(at) {
                Some(&entry) => self.day_for(entry),
                None => self.longest,
            };
            let cap = self.bytes(day);
            while done < entries.len() && entries[done] <= cap {
                sent += entries[done];
                done += 1;
            }
            // Less than all demand, which fits.
            let bytes = sent + (entries.len() - done) as i64 * cap;
            let time = day + self.night;
            let ratio = Ratio { bytes, time };
            if ratio.beats(best.0) {
                best = (ratio, day);
            }
        }
        best
    }
}
