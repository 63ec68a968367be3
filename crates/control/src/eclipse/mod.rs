//! Eclipse: as much demand as possible carried within a window (Bojja Venkatakrishnan
//! et al., "Costly circuits, submodular schedules and approximate Carathéodory
//! theorems", SIGMETRICS 2016).
//!
//! Coverage has diminishing returns, so the schedule is built greedily: again and
//! again the day α and the matching M that carry most for their time, Σ_M min(α,
//! what is left) / (α + night). For a given α that is an assignment problem; α is
//! looked for on a grid whose steps are a factor 1 + η, which misses at most that
//! factor of the best ratio; the day is then fitted to the matching that was found.
//! Bounds carried from α to α and from slot to slot spare most assignments.
//!
//! Circuits alone are planned, and direct ones only (Eclipse++, their multihop
//! sequel, is not here).

mod bounds;

use crate::assignment::{Solver, Weights};
use crate::demand::Matrix;
use crate::schedule::{check_rate, Frame, Schedule, Slot};
use bounds::{grid, port_bound, Candidate};
use lightloom_engine::{Rate, Refusal, Time};

/// What Eclipse plans for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Of a circuit.
    pub rate: Rate,
    /// W and what bounds a slot. The schedule may end earlier.
    pub frame: Frame,
    /// η: steps of the grid of days; smaller is slower, and better at most by as
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

    fn check(&self) -> Result<(), Refusal> {
        self.frame.check()?;
        check_rate("rate", self.rate)?;
        match (1e-3..=10.0).contains(&self.step) {
            true => Ok(()),
            false => Err(Refusal::new(
                "step",
                self.step,
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

/// Circuits, and how good they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The circuits, within the window.
    pub schedule: Schedule,
    /// Demand that they carry [bytes].
    pub covered: i64,
    /// No schedule of direct circuits in the same frame carries more [bytes].
    pub upper_bound: i64,
}

/// Eclipse's schedule for `demand`. About slots × a few assignments, each O(N³) at
/// worst.
///
/// # Errors
/// As [`Frame::check`]; a rate of 0; a step outside 0.001 to 10; demand beyond a
/// quarter of i64.
///
/// ```
/// use lightloom_control::demand::Matrix;
/// use lightloom_control::eclipse::{plan, Options};
/// use lightloom_control::schedule::Frame;
/// use lightloom_engine::{Rate, Time};
/// let demand = Matrix::new(3, 3, vec![0, 9000, 400, 0, 0, 8000, 9000, 300, 0]).unwrap();
/// let frame = Frame { night: Time::US, shortest: Time::US * 2, ..Frame::of(Time::US * 11) };
/// let plan = plan(&demand, &Options::new(Rate(8_000_000_000), frame)).unwrap();
/// // The large demand in one day of 9 µs; a second night would not leave a day.
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

/// Bytes for a time, compared exactly.
#[derive(Clone, Copy, Debug)]
struct Ratio {
    bytes: i64,
    time: Time,
}

impl Ratio {
    fn beats(self, other: Ratio) -> bool {
        let (a, b) = (i128::from(self.bytes), i128::from(other.bytes));
        a * i128::from(other.time.0) > b * i128::from(self.time.0)
    }

    const NOTHING: Ratio = Ratio {
        bytes: 0,
        time: Time(1),
    };
}

/// A slot that might be next.
struct Choice {
    ratio: Ratio,
    permutation: Vec<u32>,
    day: Time,
}

struct Search<'a> {
    options: &'a Options,
    n: usize,
    left: Vec<i64>,
    /// From short to long.
    grid: Vec<Candidate>,
    solver: Solver,
    slots: Vec<Slot>,
    /// Of the window, after the slots.
    remaining: Time,
    covered: i64,
    upper_bound: i64,
}

impl<'a> Search<'a> {
    fn new(demand: &Matrix, options: &'a Options) -> Search<'a> {
        Search {
            options,
            n: demand.n(),
            left: demand.cells().to_vec(),
            grid: grid(demand, options),
            solver: Solver::new(),
            slots: Vec::new(),
            remaining: options.frame.period,
            covered: 0,
            upper_bound: demand.total(),
        }
    }

    fn run(&mut self) -> Result<(), Refusal> {
        while self.slots.len() < self.options.frame.max_slots {
            self.limit_to_lines();
            let choice = match self.remaining >= self.options.frame.shortest {
                true => self.choose()?,
                false => None,
            };
            self.bound();
            match choice {
                Some(choice) => self.light(choice),
                None => break,
            }
        }
        Ok(())
    }

    /// No matching carries more than the largest entry of every row, or column,
    /// that still fits the day.
    fn limit_to_lines(&mut self) {
        let mut rows = Vec::with_capacity(self.n);
        let mut columns = vec![0; self.n];
        for row in self.left.chunks_exact(self.n.max(1)) {
            let mut most = 0;
            for (column, &entry) in columns.iter_mut().zip(row) {
                most = entry.max(most);
                *column = entry.max(*column);
            }
            rows.push(most);
        }
        for candidate in &mut self.grid {
            let within = |lines: &[i64]| lines.iter().map(|&l| l.min(candidate.cap)).sum();
            let (by_rows, by_columns): (i64, i64) = (within(&rows), within(&columns));
            candidate.most = candidate.most.min(by_rows).min(by_columns);
        }
    }

    /// The best slot of all that still fit the window; `None` if none carries
    /// anything.
    fn choose(&mut self) -> Result<Option<Choice>, Refusal> {
        let mut best: Option<Choice> = None;
        let mut best_ratio = Ratio::NOTHING;
        let mut tried = vec![false; self.grid.len() + 1];
        let longest = self.longest();
        while let Some((at, candidate)) = self.promising(longest, &tried, best_ratio) {
            let (permutation, carried) = self.assign(candidate.cap)?;
            tried[at] = true;
            if let Some(known) = self.grid.get_mut(at) {
                known.most = carried;
            }
            self.spread(candidate, carried);
            let choice = self.fit(permutation, longest.day);
            if choice.ratio.beats(best_ratio) {
                best_ratio = choice.ratio;
                best = Some(choice);
            }
        }
        Ok(best)
    }

    /// The longest day that still fits; it need not be on the grid.
    fn longest(&self) -> Candidate {
        let day = self.remaining - self.options.frame.night;
        let cap = self.options.bytes(day);
        let longer = self.grid.iter().find(|candidate| candidate.day >= day);
        let most = match cap {
            0 => 0,
            _ => longer.map_or(i64::MAX, |candidate| candidate.most),
        };
        Candidate { day, cap, most }
    }

    /// The candidate with the best bound, if it may beat `best`; its place in the
    /// grid, or behind it.
    fn promising(
        &self,
        longest: Candidate,
        tried: &[bool],
        mut best: Ratio,
    ) -> Option<(usize, Candidate)> {
        let fit = self
            .grid
            .partition_point(|candidate| candidate.day < longest.day);
        let on_grid = self.grid[..fit].iter().copied().enumerate();
        let mut found = None;
        for (at, candidate) in on_grid.chain([(self.grid.len(), longest)]) {
            let bound = self.ratio(candidate.day, candidate.most);
            if !tried[at] && bound.beats(best) {
                best = bound;
                found = Some((at, candidate));
            }
        }
        found
    }

    fn ratio(&self, day: Time, bytes: i64) -> Ratio {
        let time = day + self.options.frame.night;
        Ratio { bytes, time }
    }

    /// The matching that carries most in a day, and how much.
    fn assign(&mut self, cap: i64) -> Result<(Vec<u32>, i64), Refusal> {
        let weights = Weights::new(self.n, &self.left).capped(cap);
        let found = self.solver.maximum(&weights)?;
        Ok((found.column_of, found.weight))
    }

    /// What one day carries bounds the others: shorter ones carry no more, longer
    /// ones no more in proportion.
    fn spread(&mut self, known: Candidate, carried: i64) {
        for candidate in &mut self.grid {
            let most = match candidate.cap <= known.cap {
                true => carried,
                false => {
                    let scaled = i128::from(carried) * i128::from(candidate.cap);
                    i64::try_from(scaled / i128::from(known.cap)).unwrap_or(i64::MAX)
                }
            };
            candidate.most = candidate.most.min(most);
        }
    }

    /// The best day for a matching: one that ends with some pair's demand, or the
    /// longest.
    fn fit(&self, permutation: Vec<u32>, longest: Time) -> Choice {
        let frame = &self.options.frame;
        let shortest = frame.shortest - frame.night;
        let pairs = permutation.iter().enumerate();
        let mut entries: Vec<i64> = pairs
            .map(|(i, &j)| self.left[i * self.n + j as usize])
            .collect();
        entries.sort_unstable();
        let mut best = (Ratio::NOTHING, longest);
        let (mut ended, mut i) = (0, 0);
        let days = entries.iter().map(|&entry| self.day_for(entry));
        for day in days.chain([longest]) {
            let day = day.max(shortest).min(longest);
            let cap = self.options.bytes(day);
            while i < entries.len() && entries[i] <= cap {
                ended += entries[i];
                i += 1;
            }
            let open = (entries.len() - i) as i128 * i128::from(cap);
            let bytes = i64::try_from(i128::from(ended) + open).expect("less than the demand");
            let ratio = self.ratio(day, bytes);
            if ratio.beats(best.0) {
                best = (ratio, day);
            }
        }
        Choice {
            ratio: best.0,
            permutation,
            day: best.1,
        }
    }

    fn day_for(&self, bytes: i64) -> Time {
        let ps = (bytes as u128 * 8_000_000_000_000).div_ceil(self.options.rate.0 as u128);
        Time(i64::try_from(ps).unwrap_or(i64::MAX))
    }

    fn light(&mut self, choice: Choice) {
        let cap = self.options.bytes(choice.day);
        for (i, &j) in choice.permutation.iter().enumerate() {
            let entry = &mut self.left[i * self.n + j as usize];
            let sent = cap.min(*entry);
            *entry -= sent;
            self.covered += sent;
        }
        self.remaining -= choice.day + self.options.frame.night;
        self.slots.push(Slot {
            permutation: choice.permutation,
            day: choice.day,
        });
    }

    /// Diminishing returns: whatever is optimal adds to what is covered at most a
    /// window at the best ratio, which the grid misses by a factor 1 + η at most.
    fn bound(&mut self) {
        let mut best = Ratio::NOTHING;
        for candidate in &self.grid {
            let ratio = self.ratio(candidate.day, candidate.most);
            if ratio.beats(best) {
                best = ratio;
            }
        }
        let window = i128::from(best.bytes) * i128::from(self.options.frame.period.0);
        let per_window = (window / i128::from(best.time.0) + 1) as f64;
        // A float's last digit must not make the bound too small.
        let more = (per_window * (1.0 + self.options.step) * (1.0 + 1e-12)).ceil();
        let bound = self.covered.saturating_add(more as i64);
        self.upper_bound = self.upper_bound.min(bound);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demand::tests::demands;
    use proptest::prelude::*;

    /// A byte a nanosecond.
    const RATE: Rate = Rate(8_000_000_000);

    fn options(period: i64, night: i64) -> Options {
        let night = Time::NS * night;
        let shortest = night + Time::NS;
        let frame = Frame {
            night,
            shortest,
            ..Frame::of(Time::NS * period)
        };
        Options::new(RATE, frame)
    }

    /// The most that three ports can carry in days of whole nanoseconds, by trying
    /// all: how long each of the five permutations is lit.
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
            prop_assume!(demand.n() == 3 && night + 1 <= period);
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

        /// Lazy evaluation is an optimisation: no day of the grid, tried afresh on
        /// what is left, has a better ratio than the slot that was chosen.
        #[test]
        fn every_slot_is_the_best_of_the_whole_grid(
            demand in demands(8, 1000), period in 500i64..5_000, night in 1i64..100,
        ) {
            let options = options(period, night);
            let plan = plan(&demand, &options).unwrap();
            let mut search = Search::new(&demand, &options);
            for slot in &plan.schedule.slots {
                let carried: i64 = slot.circuits()
                    .map(|(i, j)| search.left[i * demand.n() + j].min(options.bytes(slot.day)))
                    .sum();
                let chosen = search.ratio(slot.day, carried);
                let longest = search.longest();
                for candidate in search.grid.clone().into_iter().chain([longest]) {
                    if candidate.day <= longest.day {
                        let (_, most) = search.assign(candidate.cap).unwrap();
                        prop_assert!(!search.ratio(candidate.day, most).beats(chosen));
                    }
                }
                let choice = Choice {
                    ratio: chosen,
                    permutation: slot.permutation.clone(),
                    day: slot.day,
                };
                search.light(choice);
            }
        }

        /// Time enough for a stuffed schedule: everything is covered, or nearly.
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
        assert_eq!(refused(&options(100, 100)), "shortest");
        let mut dark = good;
        dark.frame.shortest = Time::NS * 10;
        assert_eq!(refused(&dark), "night");
        let nothing = plan(&Matrix::zeros(4), &good).unwrap();
        assert_eq!((nothing.covered, nothing.upper_bound), (0, 0));
        assert!(nothing.schedule.slots.is_empty());
    }
}
