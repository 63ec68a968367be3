//! Eclipse: as much demand as possible carried within a window (Bojja Venkatakrishnan
//! et al., "Costly circuits, submodular schedules and approximate Carathéodory
//! theorems", SIGMETRICS 2016).
//!
//! Coverage has diminishing returns, so the schedule is built greedily: again and
//! again the day α and the matching M that carry most for their time, Σ_M min(α,
//! what is left) / (α + night). For a given α that is an assignment problem; α is
//! looked for on a grid whose steps are a factor 1 + η, which misses at most that
//! factor of the best ratio; the day is then fitted to the matching that was found.
//! Unlike in the paper, a slot there is may also be lit longer, without a night.
//! Bounds carried from α to α and from slot to slot spare most assignments.
//!
//! Circuits alone are planned, and direct ones only (Eclipse++, their multihop
//! sequel, is not here).

mod bounds;
mod fit;

use crate::assignment::{Assignment, Solver, Weights};
use crate::demand::{number, Matrix};
use crate::schedule::{check_rate, Frame, Schedule, Slot};
use bounds::{grid, port_bound, Candidate};
use fit::{Ratio, Terms};
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

/// No schedule of direct circuits in the same frame carries more of `demand` [bytes],
/// whoever made it: with m slots a port is lit for the window less m nights, and
/// meets m peers. O(N² log N).
///
/// # Errors
/// As [`plan`].
///
/// ```
/// use lightloom_control::demand::Matrix;
/// use lightloom_control::eclipse::{upper_bound, Options};
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

/// What might be lit next.
struct Choice {
    ratio: Ratio,
    day: Time,
    what: What,
}

enum What {
    /// A slot, by index, for a day more.
    Longer(usize),
    /// A permutation, after a night.
    New(Vec<u32>),
}

/// What is known of a candidate in this step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// A bound from the step before.
    Old,
    /// A bound by the largest entries of lines.
    Rough,
    /// A bound by the prices of its neighbour.
    Priced,
    /// The best matching.
    Solved,
}

struct Search<'a> {
    options: &'a Options,
    n: usize,
    left: Vec<i64>,
    /// From short to long.
    grid: Vec<Candidate>,
    /// For each day of the grid that was solved, the columns' potentials then.
    prices: Vec<Vec<i64>>,
    solver: Solver,
    slots: Vec<Slot>,
    /// Of the window, after the slots.
    remaining: Time,
    covered: i64,
    upper_bound: i64,
}

impl<'a> Search<'a> {
    fn new(demand: &Matrix, options: &'a Options) -> Search<'a> {
        let grid = grid(demand, options);
        Search {
            options,
            n: demand.n(),
            left: demand.cells().to_vec(),
            prices: vec![Vec::new(); grid.len()],
            grid,
            solver: Solver::new(),
            slots: Vec::new(),
            remaining: options.frame.period,
            covered: 0,
            upper_bound: demand.total(),
        }
    }

    fn run(&mut self) -> Result<(), Refusal> {
        loop {
            let choice = self.choose()?;
            self.bound();
            match choice {
                Some(choice) => self.light(choice),
                None => return Ok(()),
            }
        }
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

    /// The best of what still fits the window; `None` if nothing carries anything.
    fn choose(&mut self) -> Result<Option<Choice>, Refusal> {
        let mut best = self.longer();
        let Frame {
            max_slots,
            shortest,
            ..
        } = self.options.frame;
        if self.slots.len() == max_slots || self.remaining < shortest {
            return Ok(best);
        }
        let mut stages = vec![Stage::Old; self.grid.len() + 1];
        let mut longest = self.longest();
        while let Some(at) = self.promising(longest, &stages, ratio_of(&best)) {
            if stages[at] == Stage::Old {
                self.limit_to_lines();
                longest = self.longest();
                stages.fill(Stage::Rough);
                continue;
            }
            let candidate = *self.grid.get(at).unwrap_or(&longest);
            let most = match stages[at] {
                Stage::Rough => {
                    stages[at] = Stage::Priced;
                    candidate.most.min(self.most_at_prices(at, candidate.cap))
                }
                _ => {
                    stages[at] = Stage::Solved;
                    let found = self.assign(at, candidate.cap)?;
                    self.spread(candidate, found.weight);
                    let (ratio, day) = self.fit(&found.column_of, self.terms(longest.day));
                    if ratio.beats(ratio_of(&best)) {
                        let what = What::New(found.column_of);
                        best = Some(Choice { ratio, day, what });
                    }
                    found.weight
                }
            };
            self.grid.get_mut(at).unwrap_or(&mut longest).most = most;
        }
        Ok(best)
    }

    /// The slot that is best lit longer, which costs no night: until the next of its
    /// pairs has sent all, since it only gets worse then.
    fn longer(&self) -> Option<Choice> {
        let mut best = None;
        for (at, slot) in self.slots.iter().enumerate() {
            let (mut open, mut least) = (0, i64::MAX);
            for (line, &column) in self.left.chunks_exact(self.n).zip(&slot.permutation) {
                let entry = line[column as usize];
                if entry > 0 {
                    open += 1;
                    least = entry.min(least);
                }
            }
            let terms = Terms {
                night: Time::ZERO,
                before: slot.day,
                shortest: Time::ZERO,
                ..self.terms(self.remaining)
            };
            let day = terms.day_for(least);
            let ratio = Ratio {
                bytes: open * terms.bytes(day),
                time: day,
            };
            if open > 0 && ratio.beats(ratio_of(&best)) {
                let what = What::Longer(at);
                best = Some(Choice { ratio, day, what });
            }
        }
        best
    }

    fn terms(&self, longest: Time) -> Terms {
        let frame = &self.options.frame;
        Terms {
            rate: self.options.rate,
            night: frame.night,
            before: Time::ZERO,
            shortest: frame.shortest - frame.night,
            longest,
        }
    }

    /// By duality no matching carries more than any potentials that cover what is
    /// left for a day: those of the nearest day that was solved, mended where they
    /// no longer fit, in two passes.
    fn most_at_prices(&self, at: usize, cap: i64) -> i64 {
        let solved = |&at: &usize| self.prices.get(at).is_some_and(|p| !p.is_empty());
        let steps = 0..=self.grid.len();
        let around = steps.flat_map(|step| [at.wrapping_sub(step), at + step]);
        let Some(nearest) = { around }.find(solved) else {
            return i64::MAX;
        };
        let prices = &self.prices[nearest];
        let mut columns = vec![0; self.n];
        let mut sum = 0;
        for line in self.left.chunks_exact(self.n) {
            let pairs = line.iter().zip(prices);
            let row = pairs.fold(0, |row, (&entry, price)| row.max(entry.min(cap) - price));
            for (column, &entry) in columns.iter_mut().zip(line) {
                *column = (entry.min(cap) - row).max(*column);
            }
            sum += row;
        }
        columns
            .iter()
            .fold(sum, |sum, column| sum.saturating_add(*column))
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

    /// The candidate with the best bound, if it may beat `best`: its place in the
    /// grid, or behind it.
    fn promising(&self, longest: Candidate, stages: &[Stage], mut best: Ratio) -> Option<usize> {
        let fit = self
            .grid
            .partition_point(|candidate| candidate.day < longest.day);
        let on_grid = self.grid[..fit].iter().copied().enumerate();
        let mut found = None;
        for (at, candidate) in on_grid.chain([(self.grid.len(), longest)]) {
            let bound = self.ratio(candidate.day, candidate.most);
            if stages[at] != Stage::Solved && bound.beats(best) {
                best = bound;
                found = Some(at);
            }
        }
        found
    }

    fn ratio(&self, day: Time, bytes: i64) -> Ratio {
        let time = day + self.options.frame.night;
        Ratio { bytes, time }
    }

    /// The matching that carries most in a day.
    fn assign(&mut self, at: usize, cap: i64) -> Result<Assignment, Refusal> {
        let weights = Weights::new(self.n, &self.left).capped(cap);
        let of_demand = |refusal: Refusal| Refusal {
            key: refusal.key.replacen("weights", "demand", 1),
            ..refusal
        };
        let found = self.solver.maximum(&weights).map_err(of_demand)?;
        if let Some(prices) = self.prices.get_mut(at) {
            prices.clone_from(&found.column_potential);
        }
        Ok(found)
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

    fn fit(&self, permutation: &[u32], terms: Terms) -> (Ratio, Time) {
        let pairs = permutation.iter().enumerate();
        let entries = pairs.map(|(i, &j)| self.left[i * self.n + j as usize]);
        terms.best_day(&mut entries.collect::<Vec<_>>())
    }

    fn light(&mut self, choice: Choice) {
        let (at, night) = match choice.what {
            What::Longer(at) => (at, Time::ZERO),
            What::New(permutation) => {
                let day = Time::ZERO;
                self.slots.push(Slot { permutation, day });
                (self.slots.len() - 1, self.options.frame.night)
            }
        };
        let slot = &mut self.slots[at];
        let day = slot.day + choice.day;
        let cap = self.options.bytes(day) - self.options.bytes(slot.day);
        for (i, &j) in slot.permutation.iter().enumerate() {
            let entry = &mut self.left[i * self.n + j as usize];
            let sent = cap.min(*entry);
            *entry -= sent;
            self.covered += sent;
        }
        slot.day = day;
        self.remaining -= choice.day + night;
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

fn ratio_of(choice: &Option<Choice>) -> Ratio {
    choice
        .as_ref()
        .map_or(Ratio::NOTHING, |choice| choice.ratio)
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

        /// Lazy evaluation is an optimisation: no day of the grid, tried afresh on
        /// what is left, has a better ratio than what was chosen.
        #[test]
        fn every_choice_is_the_best_of_the_whole_grid(
            demand in demands(8, 1000), period in 500i64..5_000, night in 1i64..100,
        ) {
            let options = options(period, night);
            let mut search = Search::new(&demand, &options);
            loop {
                let choice = search.choose().unwrap();
                let chosen = ratio_of(&choice);
                let longest = search.longest();
                for candidate in search.grid.clone().into_iter().chain([longest]) {
                    if candidate.day <= longest.day && candidate.cap > 0 {
                        let most = search.assign(usize::MAX, candidate.cap).unwrap().weight;
                        prop_assert!(!search.ratio(candidate.day, most).beats(chosen));
                    }
                }
                match choice {
                    Some(choice) => search.light(choice),
                    None => break,
                }
            }
            prop_assert_eq!(search.covered, plan(&demand, &options).unwrap().covered);
        }

        /// No two slots show the same: the second night would be wasted.
        #[test]
        fn permutations_differ(demand in demands(6, 1000), period in 500i64..5_000) {
            let plan = plan(&demand, &options(period, 50)).unwrap();
            let slots = &plan.schedule.slots;
            for (at, slot) in slots.iter().enumerate() {
                prop_assert!(slots[..at].iter().all(|s| s.permutation != slot.permutation));
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
