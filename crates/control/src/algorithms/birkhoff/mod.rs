//! Birkhoff-von Neumann decomposition: a matrix whose rows and columns all have the same sum is
//! decomposed into weighted permutations, whose weights become the slots of a schedule
//! (traffic-matrix scheduling: Porter et al., "Integrating Microsecond Circuit Switching into the
//! Data Center", SIGCOMM 2013).
//!
//! Each permutation is a bottleneck matching of the remaining matrix, so a few heavy ones carry
//! most of the mass: at N = 64 one twelfth of the number that first-fit matchings need. The
//! decomposition with the fewest permutations is not searched for (it is NP-hard).

mod bottleneck;

pub use bottleneck::Bottleneck;

use crate::algorithms::quickstuff;
use crate::algorithms::sinkhorn;
use crate::demand::{number, Matrix};
use crate::schedule::{Frame, Schedule, Slot};
use lightloom_engine::{Refusal, Time};

/// A permutation and its weight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The column of every row.
    pub permutation: Vec<u32>,
    /// The amount that is subtracted from each of its entries.
    pub weight: i64,
}

/// Weighted permutations, heaviest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decomposition {
    /// Rows of the matrix.
    pub n: usize,
    /// The sum of each row and column.
    pub line_sum: i64,
    /// The terms, with weights that never increase.
    pub terms: Vec<Term>,
}

/// The conditions under which a decomposition stops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    /// The decomposition stops when the terms contain this share of the mass.
    pub mass: f64,
    /// The decomposition stops after this number of terms.
    pub terms: usize,
}

impl Stop {
    /// When nothing remains.
    pub const NEVER: Stop = Stop {
        mass: 1.0,
        terms: usize::MAX,
    };
}

/// Decomposes `matrix` into at most N² − 2N + 2 permutations (Marcus & Ree, 1959), or until `stop`.
/// O(N⁴) in the worst case, usually a few O(N²) per permutation.
///
/// # Errors
/// A row or column whose sum is not that of the others; a share that is not in
/// (0, 1].
///
/// ```
/// use lightloom_control::algorithms::birkhoff::{decompose, Stop};
/// use lightloom_control::demand::Matrix;
/// let matrix = Matrix::new(3, 3, vec![0, 7, 3, 3, 0, 7, 7, 3, 0]).unwrap();
/// let found = decompose(&matrix, Stop::NEVER).unwrap();
/// assert_eq!((found.terms.len(), found.line_sum), (2, 10));
/// assert_eq!((&found.terms[0].permutation[..], found.terms[0].weight), (&[1, 2, 0][..], 7));
/// ```
pub fn decompose(matrix: &Matrix, stop: Stop) -> Result<Decomposition, Refusal> {
    check_stop(stop)?;
    let line_sum = equal_lines(matrix)?;
    let n = matrix.n();
    let mut left = matrix.cells().to_vec();
    let mut matching = Bottleneck::new(n);
    let mut terms: Vec<Term> = Vec::new();
    let (mut taken, mut last) = (0, i64::MAX);
    let enough = match stop.mass {
        1.0 => line_sum, // which a float may not represent exactly
        mass => (mass * line_sum as f64).ceil() as i64,
    };
    while taken < enough && terms.len() < stop.terms {
        last = matching.improve(&left, last);
        debug_assert!(last > 0, "equal lines have a perfect matching");
        for (row, &column) in matching.columns().iter().enumerate() {
            left[row * n + column as usize] -= last;
        }
        taken += last;
        terms.push(Term {
            permutation: matching.columns().to_vec(),
            weight: last,
        });
    }
    Ok(Decomposition { n, line_sum, terms })
}

fn check_stop(stop: Stop) -> Result<(), Refusal> {
    match stop.mass > 0.0 && stop.mass <= 1.0 {
        true => Ok(()),
        false => Err(Refusal::new(
            "mass",
            number(stop.mass),
            "must be above 0 and at most 1",
            "give 1 to decompose all, 0.9 for most",
        )),
    }
}

fn equal_lines(matrix: &Matrix) -> Result<i64, Refusal> {
    let (rows, columns) = (matrix.row_sums(), matrix.column_sums());
    let line_sum = rows.first().copied().unwrap_or(0);
    for (name, sums) in [("row", rows), ("column", columns)] {
        if let Some(at) = sums.iter().position(|&sum| sum != line_sum) {
            return Err(Refusal::new(
                format!("demand, {name} {at}"),
                format!("a sum of {}", sums[at]),
                format!(
                    "all rows and columns must have the same sum, but that of row 0 is {line_sum}"
                ),
                "scale the matrix (Sinkhorn) or stuff it (QuickStuff) first",
            ));
        }
    }
    Ok(line_sum)
}

impl Decomposition {
    /// The weights' share of the line sum, in [0, 1]; 1 for a matrix of zeros.
    ///
    /// ```
    /// use lightloom_control::algorithms::birkhoff::{decompose, Stop};
    /// use lightloom_control::demand::Matrix;
    /// let matrix = Matrix::new(3, 3, vec![0, 7, 3, 3, 0, 7, 7, 3, 0]).unwrap();
    /// let found = decompose(&matrix, Stop { terms: 1, ..Stop::NEVER }).unwrap();
    /// assert_eq!(found.mass(), 0.7);
    /// ```
    pub fn mass(&self) -> f64 {
        let taken: i64 = self.terms.iter().map(|term| term.weight).sum();
        match self.line_sum {
            0 => 1.0,
            sum => taken as f64 / sum as f64,
        }
    }

    /// The heaviest terms as slots in proportion to their weights: as many as fit without a slot,
    /// night included, shorter than the frame's shortest. Together they last exactly the period.
    /// The demand of the other terms waits or uses another network.
    ///
    /// # Errors
    /// As [`Frame::check`]; a decomposition without terms.
    ///
    /// ```
    /// use lightloom_control::algorithms::birkhoff::{decompose, Stop};
    /// use lightloom_control::{demand::Matrix, schedule::Frame};
    /// use lightloom_engine::Time;
    /// let matrix = Matrix::new(3, 3, vec![0, 7, 3, 3, 0, 7, 7, 3, 0]).unwrap();
    /// let found = decompose(&matrix, Stop::NEVER).unwrap();
    /// let frame = Frame { night: Time::US, shortest: Time::US * 10, ..Frame::of(Time::US * 100) };
    /// let schedule = found.schedule(&frame).unwrap();
    /// assert_eq!(schedule.slots[0].day, Time::US * 69);
    /// assert_eq!((schedule.period(), schedule.duty_cycle()), (Time::US * 100, 0.98));
    /// ```
    pub fn schedule(&self, frame: &Frame) -> Result<Schedule, Refusal> {
        frame.check()?;
        let weights = self.terms.iter().map(|term| term.weight);
        let lengths = share_out(&weights.collect::<Vec<_>>(), frame);
        if lengths.is_empty() {
            return Err(Refusal::new(
                "demand",
                "only zeros",
                "there is nothing to schedule",
                "give at least one entry above 0",
            ));
        }
        let slot = |(term, length): (&Term, &Time)| Slot {
            permutation: term.permutation.clone(),
            day: *length - frame.night,
        };
        Ok(Schedule {
            ports: self.n,
            night: frame.night,
            slots: self.terms.iter().zip(&lengths).map(slot).collect(),
        })
    }
}

/// The lengths of as many slots as fit, in proportion to falling weights; the rounding remainder
/// goes to the first.
fn share_out(weights: &[i64], frame: &Frame) -> Vec<Time> {
    let period = i128::from(frame.period.0);
    let length = |weight: i64, sum: i128| i128::from(weight) * period / sum;
    let (mut count, mut sum) = (0, 0i128);
    // Each further slot reduces the share of the last one; the first that is too short ends the
    // loop.
    for &weight in weights.iter().take(frame.most_slots()) {
        let with = sum + i128::from(weight);
        if length(weight, with) < i128::from(frame.shortest.0) {
            break;
        }
        (count, sum) = (count + 1, with);
    }
    let kept = weights[..count].iter();
    let mut lengths: Vec<i128> = kept.map(|&weight| length(weight, sum)).collect();
    let used: i128 = lengths.iter().sum();
    if let Some(first) = lengths.first_mut() {
        *first += period - used;
    }
    lengths.into_iter().map(|ps| Time(ps as i64)).collect()
}

/// The scaling that makes demand decomposable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scaling {
    /// Shares of every port's time ([`crate::algorithms::sinkhorn`]).
    Sinkhorn(sinkhorn::Options),
    /// Volumes, raised to those of the busiest port ([`crate::algorithms::quickstuff`]).
    QuickStuff,
}

impl Scaling {
    /// `demand` with equal line sums.
    ///
    /// # Errors
    /// As [`sinkhorn::scale`].
    ///
    /// ```
    /// use lightloom_control::algorithms::birkhoff::Scaling;
    /// use lightloom_control::{algorithms::sinkhorn, demand::Matrix};
    /// let demand = Matrix::new(2, 2, vec![0, 7, 3, 0]).unwrap();
    /// let volumes = Scaling::QuickStuff.apply(&demand).unwrap();
    /// assert_eq!(volumes.cells(), [0, 7, 7, 0]);
    /// let shares = Scaling::Sinkhorn(sinkhorn::Options::default()).apply(&demand).unwrap();
    /// assert_eq!(shares.cells(), [0, sinkhorn::WHOLE, sinkhorn::WHOLE, 0]);
    /// ```
    pub fn apply(&self, demand: &Matrix) -> Result<Matrix, Refusal> {
        match self {
            Scaling::Sinkhorn(options) => Ok(sinkhorn::scale(demand, options)?.units()),
            Scaling::QuickStuff => Ok(quickstuff::stuff(demand).matrix),
        }
    }
}

/// Mordia's schedule for a demand: scaled, decomposed until no more slots could fit, and
/// distributed over the period.
///
/// # Errors
/// As [`Frame::check`], [`Scaling::apply`] and [`Decomposition::schedule`].
///
/// ```
/// use lightloom_control::algorithms::birkhoff::{plan, Scaling};
/// use lightloom_control::{demand::Matrix, schedule::Frame};
/// use lightloom_engine::{Rate, Time};
/// let demand = Matrix::new(3, 3, vec![0, 9000, 500, 700, 0, 8000, 8500, 900, 0]).unwrap();
/// let frame = Frame { night: Time::NS * 100, shortest: Time::US, ..Frame::of(Time::US * 20) };
/// let schedule = plan(&demand, Scaling::QuickStuff, &frame).unwrap();
/// assert_eq!((schedule.slots.len(), schedule.duty_cycle()), (3, 0.985));
/// let carried = schedule.carried(&demand, Rate(12 * Rate::GBPS.0));
/// assert!(carried.share() > 0.99);
/// ```
pub fn plan(demand: &Matrix, scaling: Scaling, frame: &Frame) -> Result<Schedule, Refusal> {
    frame.check()?;
    let matrix = scaling.apply(demand)?;
    // The lightest of k slots has at most one k-th of the period.
    let stop = Stop {
        terms: frame.most_slots(),
        ..Stop::NEVER
    };
    decompose(&matrix, stop)?.schedule(frame)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demand::tests::demands;
    use proptest::prelude::*;

    /// Adds the terms up again.
    fn compose(found: &Decomposition) -> Vec<i64> {
        let mut cells = vec![0; found.n * found.n];
        for term in &found.terms {
            for (i, &j) in term.permutation.iter().enumerate() {
                cells[i * found.n + j as usize] += term.weight;
            }
        }
        cells
    }

    fn check_whole(matrix: &Matrix) {
        let found = decompose(matrix, Stop::NEVER).unwrap();
        let n = matrix.n();
        assert_eq!(compose(&found), matrix.cells());
        assert!(found.terms.len() <= n * n - 2 * n + 2);
        assert!(found.terms.windows(2).all(|w| w[0].weight >= w[1].weight));
        assert!(found.terms.iter().all(|term| term.weight > 0));
        assert_eq!(found.mass(), 1.0);
    }

    proptest! {
        #[test]
        fn terms_add_up_to_the_matrix(demand in demands(10, 1000)) {
            check_whole(&quickstuff::stuff(&demand).matrix);
            check_whole(&Scaling::Sinkhorn(Default::default()).apply(&demand).unwrap());
        }

        #[test]
        fn it_stops_with_the_first_term_that_is_enough(
            demand in demands(10, 1000), mass in 0.01f64..1.0,
        ) {
            let matrix = quickstuff::stuff(&demand).matrix;
            let whole = decompose(&matrix, Stop::NEVER).unwrap();
            let found = decompose(&matrix, Stop { mass, ..Stop::NEVER }).unwrap();
            let count = found.terms.len();
            prop_assert_eq!(&found.terms[..], &whole.terms[..count]);
            prop_assert!(found.mass() >= mass);
            let less = Decomposition { terms: found.terms[..count - 1].to_vec(), ..found };
            prop_assert!(less.mass() < mass);
        }

        #[test]
        fn slots_fill_the_period_and_none_is_short(
            demand in demands(10, 1000),
            period in 1_000i64..1_000_000,
            shortest in 2i64..1_000,
            max_slots in 1usize..30,
        ) {
            let night = Time(shortest / 2);
            let frame = Frame { period: Time(period), night, shortest: Time(shortest), max_slots };
            let schedule = plan(&demand, Scaling::QuickStuff, &frame).unwrap();
            prop_assert_eq!(schedule.check(), Ok(()));
            prop_assert_eq!(schedule.period(), Time(period));
            prop_assert!(schedule.slots.len() <= max_slots);
            for slot in &schedule.slots {
                prop_assert!(slot.day + night >= Time(shortest));
            }
            // One more slot, if there is one, would be too short or exceed the maximum.
            let all = decompose(&quickstuff::stuff(&demand).matrix, Stop::NEVER).unwrap();
            let count = schedule.slots.len();
            if count < all.terms.len().min(max_slots) {
                let sum: i64 = all.terms[..=count].iter().map(|t| t.weight).sum();
                let next = all.terms[count].weight as f64 / sum as f64 * period as f64;
                prop_assert!(next < shortest as f64 + 1e-6);
            }
        }

        /// A period of φ plus one night per permutation carries stuffed demand completely.
        #[test]
        fn a_long_enough_period_carries_everything(demand in demands(8, 1000)) {
            use lightloom_engine::Rate;
            let stuffed = quickstuff::stuff(&demand);
            let rate = Rate(8 * Rate::GBPS.0); // a byte a nanosecond
            let frame = Frame::of(Time::NS * stuffed.line_sum);
            let schedule = plan(&demand, Scaling::QuickStuff, &frame).unwrap();
            prop_assert_eq!(schedule.carried(&demand, rate).share(), 1.0);
        }
    }

    #[test]
    fn unequal_lines_are_refused_by_name() {
        let matrix = Matrix::new(2, 2, vec![0, 7, 3, 0]).unwrap();
        assert_eq!(
            decompose(&matrix, Stop::NEVER).unwrap_err().to_string(),
            "demand, row 1 = a sum of 3: all rows and columns must have the same sum, \
             but that of row 0 is 7; \
             scale the matrix (Sinkhorn) or stuff it (QuickStuff) first"
        );
        let matrix = Matrix::new(3, 3, vec![0, 4, 3, 7, 0, 0, 7, 0, 0]).unwrap();
        assert!(decompose(&matrix, Stop::NEVER)
            .unwrap_err()
            .key
            .contains("column 0"));
    }

    #[test]
    fn nonsense_is_refused_and_nothing_needs_no_terms() {
        let swap = Matrix::new(2, 2, vec![0, 7, 7, 0]).unwrap();
        for mass in [0.0, -1.0, 1.1, f64::NAN] {
            let stop = Stop {
                mass,
                ..Stop::NEVER
            };
            assert_eq!(decompose(&swap, stop).unwrap_err().key, "mass");
        }
        let none = decompose(&Matrix::zeros(3), Stop::NEVER).unwrap();
        assert_eq!((none.terms.len(), none.mass()), (0, 1.0));
        assert!(none.schedule(&Frame::of(Time::US)).is_err());
        let dark = Frame {
            night: Time::US,
            ..Frame::of(Time::US)
        };
        assert_eq!(
            plan(&swap, Scaling::QuickStuff, &dark).unwrap_err().key,
            "night"
        );
    }

    /// The worst case of the bound is N² − 2N + 2 permutations; at N = 3 this is 5, and no 3 × 3
    /// matrix needs more.
    #[test]
    fn small_matrices_stay_within_the_bound() {
        let mut most = 0;
        for code in 0..4096u32 {
            let cell = |at: u32| i64::from(code >> (3 * at) & 7) + 1;
            // Two rows and columns are free; the rest follows from the line sum 20.
            let (a, b, c, d) = (cell(0), cell(1), cell(2), cell(3));
            let rest = |x, y| 20 - x - y;
            let corner = 20 - rest(a, b) - rest(c, d);
            if corner < 0 {
                continue;
            }
            let cells = vec![
                a,
                b,
                rest(a, b),
                c,
                d,
                rest(c, d),
                rest(a, c),
                rest(b, d),
                corner,
            ];
            let matrix = Matrix::from_cells(3, cells);
            most = most.max(decompose(&matrix, Stop::NEVER).unwrap().terms.len());
            check_whole(&matrix);
        }
        assert!(most == 4 || most == 5, "{most}");
    }
}
