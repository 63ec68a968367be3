//! Bounds on figures over all flows that were offered, if some of them are unfinished.
//!
//! An unfinished flow takes at least its age at the end of the run. Each order statistic of all
//! completion times is therefore at least that of the known times and these ages, and at most that
//! of the known times and infinity. If the two agree, the figure is exact. This does not require
//! every flow: a median is known as soon as half the flows are delivered and all others are older
//! than it.
//!
//! The 95 % interval of a percentile lies between order statistics. The distance of their ranks
//! from the percentile's own rank follows from the scatter of the share of flows below it. The
//! flows, in order of arrival, are cut into [`BATCHES`](crate::BATCHES) batches, and the scatter is
//! Student's of their shares (Woodruff 1952, for clusters), because the waiting times of
//! consecutive flows are correlated. It is never less than that of independent flows. With few
//! flows an interval is open: 300 flows give no upper limit for the 99th percentile. It is also
//! open if the run is too short for the time over which waiting times are correlated (see
//! [`Room`]).

use crate::batches::Estimate;
use crate::room::Room;
use lightloom_engine::{Flows, Time};
use serde::Serialize;

/// The 97.5 % quantile of the normal distribution.
const NORMAL: f64 = 1.959_963_984_540_054;

/// Bounds on a figure. A limit that is not known is null.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Bound {
    /// Lower bound of the figure over all offered flows, for any outcome of the unfinished ones.
    pub low: Option<f64>,
    /// Upper bound; equal to `low` if the figure is exact.
    pub high: Option<f64>,
    /// Lower end of the figure's 95 % interval.
    pub from: Option<f64>,
    /// Upper end of the interval.
    pub until: Option<f64>,
}

/// Bounds on the completion times of a class of flows [µs].
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FctBound {
    /// Flows that were offered.
    pub flows: u64,
    /// Flows that were not delivered when the run ended.
    pub unfinished: u64,
    /// Median.
    pub p50_us: Bound,
    /// 99th percentile.
    pub p99_us: Bound,
    /// Mean.
    pub mean_us: Bound,
}

impl FctBound {
    /// The bounds for flows in order of their arrival, from their times in µs.
    pub fn of(times: &[Taken], room: Room) -> FctBound {
        let times = Bounded::of(times, room);
        FctBound {
            flows: times.flows(),
            unfinished: times.unfinished(),
            p50_us: times.percentile(50),
            p99_us: times.percentile(99),
            mean_us: times.mean(),
        }
    }
}

/// The completion time of an offered flow, or its time until the end of the run [µs].
pub fn taken(flows: &Flows, f: usize, ended: Time) -> Taken {
    let done = flows.finish[f] != Time::NEVER;
    let until = if done { flows.finish[f] } else { ended };
    Taken {
        least: micros((until - flows.arrival[f]).max(Time::ZERO)),
        done,
    }
}

/// A time in µs.
pub fn micros(time: Time) -> f64 {
    time.0 as f64 / Time::US.0 as f64
}

/// An offered flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Taken {
    /// The completion time, or the time since arrival.
    pub least: f64,
    /// Whether it was delivered.
    pub done: bool,
}

/// Values of flows in order of arrival, prepared for percentiles.
#[derive(Clone, Debug)]
pub struct Bounded<'a> {
    taken: &'a [Taken],
    least: Vec<f64>,
    done: Vec<f64>,
    room: Room,
}

impl<'a> Bounded<'a> {
    /// The bounds for flows in order of their arrival; `room` describes the length of the time in
    /// which they arrived.
    pub fn of(taken: &'a [Taken], room: Room) -> Bounded<'a> {
        let sorted = |mut values: Vec<f64>| {
            values.sort_unstable_by(f64::total_cmp);
            values
        };
        Bounded {
            taken,
            room,
            least: sorted(taken.iter().map(|t| t.least).collect()),
            done: sorted(taken.iter().filter(|t| t.done).map(|t| t.least).collect()),
        }
    }

    /// The number of flows.
    pub fn flows(&self) -> u64 {
        self.taken.len() as u64
    }

    /// The number of unfinished flows.
    pub fn unfinished(&self) -> u64 {
        (self.least.len() - self.done.len()) as u64
    }

    /// The `p`-th percentile (0 < `p` < 100) by nearest rank.
    pub fn percentile(&self, p: u32) -> Bound {
        let n = self.taken.len();
        if n == 0 {
            return Bound::default();
        }
        let rank = (n * p as usize).div_ceil(100).max(1);
        let half = self.ranks_around(rank, f64::from(p) / 100.0);
        let nth = |sorted: &[f64], rank: f64| match rank >= 1.0 {
            true => sorted.get(rank as usize - 1).copied(),
            false => None,
        };
        Bound {
            low: nth(&self.least, rank as f64),
            high: nth(&self.done, rank as f64),
            from: half.and_then(|half| nth(&self.least, (rank as f64 - half).floor())),
            until: half.and_then(|half| nth(&self.done, (rank as f64 + half).ceil())),
        }
    }

    /// The number of ranks that the 95 % interval extends to either side; `None` without an
    /// interval.
    fn ranks_around(&self, rank: usize, share: f64) -> Option<f64> {
        let n = self.taken.len() as f64;
        let at = self.least[rank - 1];
        let below = self.least.partition_point(|&v| v < at);
        let equal = self.least.partition_point(|&v| v <= at) - below;
        // Equal values count in part, so that the shares add up to the rank.
        let part = (rank - below) as f64 / equal as f64;
        let within = |t: &Taken| match t.least.total_cmp(&at) {
            std::cmp::Ordering::Less => 1.0,
            std::cmp::Ordering::Equal => part,
            std::cmp::Ordering::Greater => 0.0,
        };
        let shares: Vec<f64> = self.taken.iter().map(within).collect();
        if self.room == Room::Short {
            return None;
        }
        let found = Estimate::within(&shares, self.room)?;
        let alike = match found.scatter {
            Some(_) => found.half_width?,
            None => 0.0, // too few flows for batches
        };
        let independent = NORMAL * (n * share * (1.0 - share)).sqrt();
        Some(independent.max(alike * n))
    }

    /// The mean; a single unfinished flow leaves it without an upper limit.
    pub fn mean(&self) -> Bound {
        let values: Vec<f64> = self.taken.iter().map(|t| t.least).collect();
        let Some(found) = Estimate::within(&values, self.room) else {
            return Bound::default();
        };
        let whole = self.unfinished() == 0;
        Bound {
            low: Some(found.mean),
            high: whole.then_some(found.mean),
            from: found.half_width.map(|half| found.mean - half),
            until: { found.half_width }
                .filter(|_| whole)
                .map(|half| found.mean + half),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::percentile::percentile;
    use lightloom_engine::Stream;
    use proptest::prelude::*;

    fn taken(rows: &[(f64, bool)]) -> Vec<Taken> {
        rows.iter()
            .map(|&(least, done)| Taken { least, done })
            .collect()
    }

    #[test]
    fn worked_out_by_hand() {
        // Three of four are delivered; the fourth has waited for 2.5.
        let flows = taken(&[(1.0, true), (2.5, false), (2.0, true), (9.0, true)]);
        let b = Bounded::of(&flows, Room::Unknown);
        assert_eq!((b.flows(), b.unfinished()), (4, 1));
        let ends = |p| (b.percentile(p).low, b.percentile(p).high);
        assert_eq!(ends(25), (Some(1.0), Some(1.0)));
        assert_eq!(ends(50), (Some(2.0), Some(2.0)));
        assert_eq!(ends(75), (Some(2.5), Some(9.0)));
        assert_eq!(ends(99), (Some(9.0), None));
        assert_eq!((b.mean().low, b.mean().high), (Some(3.625), None));
        assert_eq!(
            Bounded::of(&[], Room::Unknown).percentile(50),
            Bound::default()
        );
        assert_eq!(Bounded::of(&[], Room::Unknown).mean(), Bound::default());
    }

    /// A fabric does not gain by delivering only the fast flows.
    #[test]
    fn who_leaves_the_slow_ones_does_not_look_quicker() {
        let all = taken(&(1..=100).map(|i| (i as f64, true)).collect::<Vec<_>>());
        let some: Vec<Taken> = all
            .iter()
            .map(|t| Taken {
                done: t.least <= 39.0,
                ..*t
            })
            .collect();
        for p in [50, 99] {
            let (whole, left) = (
                Bounded::of(&all, Room::Unknown).percentile(p),
                Bounded::of(&some, Room::Unknown).percentile(p),
            );
            assert_eq!(left.low, whole.low);
            assert_eq!((left.high, left.until), (None, None));
        }
    }

    proptest! {
        /// The bounds hold for any final times of the unfinished flows.
        #[test]
        fn what_becomes_of_the_rest_stays_within(
            rows in prop::collection::vec((0u32..60, any::<bool>(), 0u32..90), 1..150), p in 1u32..100,
        ) {
            let now: Vec<Taken> = rows.iter()
                .map(|&(least, done, _)| Taken { least: least.into(), done }).collect();
            let mut then: Vec<f64> = rows.iter()
                .map(|&(least, done, more)| f64::from(least + if done { 0 } else { more })).collect();
            let b = Bounded::of(&now, Room::Unknown);
            let (bound, mean) = (b.percentile(p), b.mean());
            let average = then.iter().sum::<f64>() / then.len() as f64;
            then.sort_unstable_by(f64::total_cmp);
            let truth = percentile(&then, p).unwrap();
            prop_assert!(bound.low.unwrap() <= truth);
            prop_assert!(bound.high.is_none_or(|high| truth <= high));
            prop_assert!(bound.from.is_none_or(|from| from <= bound.low.unwrap()));
            prop_assert!(bound.until.is_none_or(|until| bound.high.is_some_and(|h| h <= until)));
            prop_assert!(mean.low.unwrap() <= average + 1e-9);
            prop_assert!(mean.high.is_none_or(|high| (high - average).abs() < 1e-9));
        }

        /// The bounds are attained by flows that are delivered at this instant, or never.
        #[test]
        fn the_bounds_are_the_closest(
            rows in prop::collection::vec((0u32..60, any::<bool>()), 1..150), p in 1u32..100,
        ) {
            let now: Vec<Taken> = rows.iter()
                .map(|&(least, done)| Taken { least: least.into(), done }).collect();
            let at_once: Vec<f64> = now.iter().map(|t| t.least).collect();
            let never: Vec<f64> = now.iter()
                .map(|t| if t.done { t.least } else { f64::INFINITY }).collect();
            let sorted = |mut v: Vec<f64>| { v.sort_unstable_by(f64::total_cmp); v };
            let bound = Bounded::of(&now, Room::Unknown).percentile(p);
            prop_assert_eq!(bound.low, percentile(&sorted(at_once), p));
            let high = percentile(&sorted(never), p).filter(|v| v.is_finite());
            prop_assert_eq!(bound.high, high);
        }
    }

    /// The number of 1,000 samples whose interval contains the true percentile of an exponential
    /// distribution. Flows come in trains of `train` flows with equal waiting times.
    fn held(p: u32, n: usize, train: usize) -> f64 {
        let truth = -(1.0 - f64::from(p) / 100.0).ln();
        let held = (0..1_000).filter(|&i| {
            let mut rng = Stream::new(3, "bounds", i);
            let mut value = 0.0;
            let flows: Vec<Taken> = (0..n)
                .map(|f| {
                    if f % train == 0 {
                        value = -(1.0 - rng.unit()).ln();
                    }
                    Taken {
                        least: value,
                        done: true,
                    }
                })
                .collect();
            let b = Bounded::of(&flows, Room::Unknown).percentile(p);
            b.from.is_none_or(|from| from <= truth) && b.until.is_none_or(|until| truth <= until)
        });
        held.count() as f64 / 1e3
    }

    /// 950 of 1,000 intervals of 95 % contain the true value (28 fewer are four standard errors).
    /// More may contain it, because the widest of several scatters is used and ranks are rounded
    /// outwards.
    #[test]
    fn intervals_cover_what_they_promise() {
        for (p, n, train) in [
            (50, 2_000, 1),
            (99, 5_000, 1),
            (50, 8_000, 20),
            (99, 40_000, 20),
        ] {
            let held = held(p, n, train);
            assert!(held >= 0.922, "p{p} of {n}: {held}");
        }
    }

    #[test]
    fn the_tail_of_a_few_flows_is_open() {
        // Not in sorted order: 7 and 300 have no common divisor.
        let few = taken(
            &(0..300)
                .map(|i| ((i * 7 % 300) as f64, true))
                .collect::<Vec<_>>(),
        );
        let b = Bounded::of(&few, Room::Unknown).percentile(99);
        assert_eq!((b.low, b.high, b.until), (Some(296.0), Some(296.0), None));
        assert!(b.from.is_some());
        // A short run has no half-open interval either.
        let b = Bounded::of(&few, Room::Short).percentile(99);
        assert_eq!((b.low, b.from, b.until), (Some(296.0), None, None));
    }
}
