//! Eclipse: carries as much demand as possible within a window (Bojja Venkatakrishnan et al.,
//! "Costly circuits, submodular schedules and approximate Carathéodory theorems", SIGMETRICS 2016).
//!
//! Coverage has diminishing returns, so the schedule is built greedily: each step adds the day α
//! and the matching M with the largest Σ_M min(α, remaining demand) / (α + night). For a given α
//! that is an assignment problem; α is searched on a grid whose steps are a factor 1 + η, which
//! misses at most that factor of the best ratio; the day is then fitted to the matching. Unlike in
//! the paper, an existing slot may also be lengthened, without a night. Every α keeps its
//! potentials from slot to slot: their bounds avoid most assignments, and the others resume from
//! them.
//!
//! Only direct circuits are planned (Eclipse++, their multihop extension, is not implemented).

mod bounds;
mod fit;
mod forest;
mod left;
mod potentials;
mod search;
mod sides;

use crate::demand::{number, Matrix};
use crate::schedule::{check_rate, Frame, Schedule};
use bounds::port_bound;
use lightloom_engine::{Rate, Refusal, Time};
use search::Search;

/// The circuits and limits for which Eclipse plans.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Rate of a circuit.
    pub rate: Rate,
    /// W and the limits of a slot. The schedule may end earlier.
    pub frame: Frame,
    /// η: step of the grid of days. Smaller steps are slower and improve the result by at most as
    /// much.
    pub step: f64,
}

impl Options {
    /// The window `frame` at `rate`, days in steps of a tenth.
    pub fn new(rate: Rate, frame: Frame) -> Options {
        Options {
            rate,
            frame,
            step: 0.1,
        }
    }

    pub(crate) fn check(&self) -> Result<(), Refusal> {
        self.frame.check()?;
        check_rate("rate", self.rate)?;
        match (1e-3..=10.0).contains(&self.step) {
            true => Ok(()),
            false => Err(Refusal::new(
                "step",
                number(self.step),
                "from 0.001 to 10",
                "give 0.1, say",
            )),
        }
    }

    /// Whole bytes of one circuit in a day.
    fn bytes(&self, day: Time) -> i64 {
        i64::try_from(self.rate.bytes_in(day)).unwrap_or(i64::MAX)
    }
}

/// Circuits and bounds on their quality.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The circuits, within the window.
    pub schedule: Schedule,
    /// Demand that they carry [bytes].
    pub covered: i64,
    /// An upper bound on the bytes that any schedule of direct circuits in the same frame carries.
    pub upper_bound: i64,
}

/// Eclipse's schedule for `demand`. It takes about slots × twenty assignments, which resume from
/// earlier potentials and are O(N³) in the worst case, and memory for a hundred bounds of 24 N
/// bytes and for 32 bytes per pair with demand.
///
/// # Errors
/// As [`Frame::check`]; a rate of 0; a step outside 0.001 to 10; an entry of which a
/// day would carry more than an eighth of i64.
///
/// ```
/// use lightloom_control::demand::Matrix;
/// use lightloom_control::algorithms::eclipse::{plan, Options};
/// use lightloom_control::schedule::Frame;
/// use lightloom_engine::{Rate, Time};
/// let demand = Matrix::new(3, 3, vec![0, 9000, 400, 0, 0, 8000, 9000, 300, 0]).unwrap();
/// let frame = Frame { night: Time::US, shortest: Time::US * 2, ..Frame::of(Time::US * 11) };
/// let plan = plan(&demand, &Options::new(Rate(8_000_000_000), frame)).unwrap();
/// // The large demand in one day; a second night would hardly leave another.
/// assert_eq!(plan.schedule.slots.len(), 1);
/// assert_eq!((plan.covered, plan.schedule.slots[0].day), (26_000, Time::US * 9));
/// assert!(plan.upper_bound >= plan.covered);
/// ```
pub fn plan(demand: &Matrix, options: &Options) -> Result<Plan, Refusal> {
    options.check()?;
    let ports = port_bound(demand, options);
    let mut search = Search::new(demand, options);
    search.run()?;
    let schedule = Schedule {
        ports: demand.n(),
        night: options.frame.night,
        slots: search.slots,
    };
    Ok(Plan {
        schedule,
        covered: search.covered,
        upper_bound: ports.min(search.upper_bound),
    })
}

/// An upper bound on the bytes of `demand` that any schedule of direct circuits in the same frame
/// carries: with m slots a port is lit for the window less m nights, and meets m peers. O(N² log
/// N).
///
/// # Errors
/// The errors of [`plan`].
///
/// ```
/// use lightloom_control::demand::Matrix;
/// use lightloom_control::algorithms::eclipse::{upper_bound, Options};
/// use lightloom_control::schedule::Frame;
/// use lightloom_engine::{Rate, Time};
/// let demand = Matrix::new(3, 3, vec![0, 9000, 4000, 0, 0, 0, 0, 0, 0]).unwrap();
/// let frame = Frame { night: Time::US, shortest: Time::US * 2, ..Frame::of(Time::US * 12) };
/// // Both peers of node 0 within 12 µs less two nights, at 1 byte a nanosecond.
/// let bound = upper_bound(&demand, &Options::new(Rate(8_000_000_000), frame));
/// assert_eq!(bound, Ok(10_000));
/// ```
pub fn upper_bound(demand: &Matrix, options: &Options) -> Result<i64, Refusal> {
    options.check()?;
    Ok(port_bound(demand, options))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demand::tests::demands;
    use proptest::prelude::*;

    /// A byte a nanosecond.
    const RATE: Rate = Rate(8_000_000_000);

    pub(super) fn options(period: i64, night: i64) -> Options {
        let night = Time::NS * night;
        let shortest = night + Time::NS;
        let frame = Frame {
            night,
            shortest,
            ..Frame::of(Time::NS * period)
        };
        Options::new(RATE, frame)
    }

    /// The largest demand that three ports can carry in days of whole nanoseconds, by trying all
    /// lengths of the five permutations.
    fn exhaustive(demand: &Matrix, period: i64, night: i64) -> i64 {
        const PERMUTATIONS: [[usize; 3]; 5] =
            [[1, 2, 0], [2, 0, 1], [1, 0, 2], [2, 1, 0], [0, 2, 1]];
        fn best(demand: &Matrix, lit: &mut [i64; 5], at: usize, time: i64, night: i64) -> i64 {
            if at == 5 {
                let mut left = demand.clone();
                for (permutation, lit) in PERMUTATIONS.iter().zip(lit.iter()) {
                    for (i, &j) in permutation.iter().enumerate().filter(|(i, &j)| *i != j) {
                        left.set(i, j, (left.get(i, j) - lit).max(0));
                    }
                }
                return demand.total() - left.total();
            }
            lit[at] = 0;
            let mut most = best(demand, lit, at + 1, time, night);
            for day in 1..=time - night {
                lit[at] = day;
                most = most.max(best(demand, lit, at + 1, time - night - day, night));
            }
            most
        }
        best(demand, &mut [0; 5], 0, period, night)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn three_ports_get_at_least_half_of_what_is_possible(
            demand in demands(3, 9), period in 3i64..13, night in 1i64..4,
        ) {
            prop_assume!(demand.n() == 3 && night < period);
            let plan = plan(&demand, &options(period, night)).unwrap();
            let optimum = exhaustive(&demand, period, night);
            prop_assert!(2 * plan.covered >= optimum, "{} of {optimum}", plan.covered);
            prop_assert!(plan.upper_bound >= optimum);
        }
    }

    proptest! {
        #[test]
        fn what_is_said_to_be_covered_is(
            demand in demands(10, 1000), period in 10i64..20_000, night in 0i64..100,
            max_slots in 1usize..20,
        ) {
            let mut options = options(period, night.min(period - 1));
            options.frame.max_slots = max_slots;
            let plan = plan(&demand, &options).unwrap();
            prop_assert_eq!(plan.schedule.check(), Ok(()));
            prop_assert_eq!(plan.schedule.carried(&demand, RATE).bytes, plan.covered);
            prop_assert!(plan.schedule.period() <= options.frame.period);
            prop_assert!(plan.schedule.slots.len() <= max_slots);
            for slot in &plan.schedule.slots {
                prop_assert!(slot.day + options.frame.night >= options.frame.shortest);
            }
            prop_assert!(plan.covered <= plan.upper_bound);
            prop_assert!(plan.upper_bound <= demand.total());
        }

        /// No two slots have the same permutation, because the second night would be wasted.
        #[test]
        fn permutations_differ(demand in demands(6, 1000), period in 500i64..5_000) {
            let plan = plan(&demand, &options(period, 50)).unwrap();
            let slots = &plan.schedule.slots;
            for (at, slot) in slots.iter().enumerate() {
                prop_assert!(slots[..at].iter().all(|s| s.permutation != slot.permutation));
            }
        }

        /// With enough time for a stuffed schedule, everything is covered, or nearly everything.
        #[test]
        fn a_generous_window_covers_everything(demand in demands(6, 1000)) {
            let slots = 2 * demand.n() as i64 * demand.n() as i64;
            let options = options(4 * demand.line_max() + slots * 10, 5);
            prop_assert_eq!(plan(&demand, &options).unwrap().covered, demand.total());
        }
    }

    #[test]
    fn nonsense_is_refused_by_name() {
        let demand = Matrix::new(2, 2, vec![0, 5, 9, 0]).unwrap();
        let good = options(100, 10);
        let refused = |options: &Options| plan(&demand, options).unwrap_err().key;
        assert_eq!(
            refused(&Options {
                rate: Rate(0),
                ..good
            }),
            "rate"
        );
        assert_eq!(refused(&Options { step: 0.0, ..good }), "step");
        assert_eq!(
            refused(&Options {
                step: f64::NAN,
                ..good
            }),
            "step"
        );
        assert_eq!(refused(&options(100, 100)), "night");
        let mut long = good;
        long.frame.shortest = Time::NS * 101;
        assert_eq!(refused(&long), "shortest");
        // More than assignments can weigh, in a day that would carry it.
        let fast = Options {
            rate: Rate(u64::MAX),
            ..options(5_000_000_000, 10)
        };
        let huge = Matrix::new(2, 2, vec![0, 5, i64::MAX / 2, 0]).unwrap();
        assert_eq!(plan(&huge, &fast).unwrap_err().key, "demand[1][0]");
        let mut dark = good;
        dark.frame.shortest = Time::NS * 10;
        assert_eq!(refused(&dark), "night");
        let nothing = plan(&Matrix::zeros(4), &good).unwrap();
        assert_eq!((nothing.covered, nothing.upper_bound), (0, 0));
        assert!(nothing.schedule.slots.is_empty());
    }
}
