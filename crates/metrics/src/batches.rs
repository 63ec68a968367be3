//! Confidence intervals of a correlated sequence, from batch means.
//!
//! Consecutive waiting times are correlated, so their sample variance underestimates the error of
//! their mean. The sequence is cut into batches. If the batches are long enough, their means are
//! nearly independent and normal, and the interval is Student's for that number of means (Law,
//! Simulation Modeling and Analysis, §9.5.3).
//!
//! The necessary length is not known in advance. Three lengths are tried: [`BATCHES`] batches, half
//! and a quarter as many. The widest interval is used, because correlated means scatter more in
//! fewer, longer batches. Each interval allows for the skewness of its means.
//!
//! Queueing theory gives the necessary length of the longest batches, where it applies ([`Room`]).
//! The integrated correlation time τ of the sequence (Geyer 1992, Practical Markov Chain Monte
//! Carlo) is a second test: if the longest batches are shorter than [`TIMES_LONG`] τ, or [`TIMES`]
//! τ without a theory, the run is too short and there is no interval. The estimate of τ alone does
//! not suffice: among runs that are too short it accepts those that look uncorrelated by chance,
//! which are the runs whose batches scatter too little.

use crate::room::Room;

/// The number of batches. Between 10 and 30 suit any run length (Schmeiser 1982).
pub const BATCHES: usize = 20;

/// The numbers of batches that are tried, each with the 97.5 % quantile of its Student's t
/// distribution.
const TRIED: [(usize, f64); 3] = [
    (BATCHES, STUDENT),
    (BATCHES / 2, 2.262_157_162_740_992),
    (BATCHES / 4, 2.776_445_105_197_799),
];

/// The smallest length of the longest batches, in correlation times.
const TIMES: f64 = 20.0;

/// The smallest length of the longest batches for a run that is long enough by theory, in
/// correlation times.
const TIMES_LONG: f64 = 4.0;

/// The smallest number of values in a batch; with fewer there is no interval.
const LEAST: usize = 5;

/// The 97.5 % quantile of Student's t with `BATCHES` − 1 degrees of freedom.
const STUDENT: f64 = 2.093_024_054_408_263;

/// The correlation of neighbours that one in twenty independent sequences of `BATCHES` means
/// exceeds: (−1 + 1.645 √(n − 2)) / (n − 1) (Anderson 1942).
const CORRELATED: f64 = 0.314_7;

/// The bound of the autocorrelation for half as many means.
const CORRELATED_HALF: f64 = 0.405_9;

/// A mean, its confidence interval, and diagnostics of the interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Mean of all values.
    pub mean: f64,
    /// Half the width of the 95 % confidence interval; `None` if there are too few values or if the
    /// sequence is too short for its correlation.
    pub half_width: Option<f64>,
    /// Half the width of Student's interval from [`BATCHES`] batches alone, without regard to their
    /// correlation; `None` if there are too few values.
    pub scatter: Option<f64>,
    /// Correlation of a batch's mean with the next one's; `None` if all are equal or there are too
    /// few values.
    pub autocorrelation: Option<f64>,
}

impl Estimate {
    /// The estimate from values in order; `None` without values. The batch lengths differ by at
    /// most one value.
    pub fn of(values: &[f64]) -> Option<Estimate> {
        Estimate::within(values, Room::Unknown)
    }

    /// The estimate from the values of a run or a window whose length `room` describes.
    pub fn within(values: &[f64], room: Room) -> Option<Estimate> {
        let n = values.len();
        if n == 0 {
            return None;
        }
        let mean = average(values);
        if n < BATCHES * LEAST {
            return Some(Estimate {
                mean,
                half_width: None,
                scatter: None,
                autocorrelation: None,
            });
        }
        let batch = |b: usize| average(&values[b * n / BATCHES..(b + 1) * n / BATCHES]);
        let found = Estimate::widest(&std::array::from_fn(batch));
        let batches = TRIED[TRIED.len() - 1].0 as f64;
        let times = match room {
            Room::Unknown => TIMES,
            Room::Short => f64::INFINITY,
            Room::Long => TIMES_LONG,
        };
        let long = n as f64 >= batches * times * correlation_time(values, mean);
        Some(Estimate {
            mean,
            half_width: found.half_width.filter(|_| long),
            ..found
        })
    }

    /// The estimate from the means of intervals of equal length. It has no confidence interval if
    /// intervals of twice the length are also correlated by more than chance and `room` does not
    /// show that the run is long enough.
    pub fn of_batches(means: &[f64; BATCHES], room: Room) -> Estimate {
        let found = Estimate::widest(means);
        let alike = neighbours(&joined(means, BATCHES / 2)).is_some_and(|r| r > CORRELATED_HALF);
        Estimate {
            half_width: { found.half_width }.filter(|_| !alike && room != Room::Short),
            ..found
        }
    }

    /// The widest of the intervals that are tried.
    fn widest(means: &[f64; BATCHES]) -> Estimate {
        let half = |(batches, student): (usize, f64)| half_width(&joined(means, batches), student);
        Estimate {
            mean: average(means),
            half_width: Some(TRIED.map(half).into_iter().fold(0.0, f64::max)),
            scatter: Some(students(means, STUDENT)),
            autocorrelation: neighbours(means),
        }
    }

    /// Whether neighbouring batches are correlated by more than chance: then the batches are too
    /// short, or the sequence has a trend.
    pub fn correlated(&self) -> Option<bool> {
        self.scatter?;
        Some(self.autocorrelation.is_some_and(|r| r > CORRELATED))
    }
}

/// The means of `batches` longer batches.
fn joined(means: &[f64; BATCHES], batches: usize) -> Vec<f64> {
    means.chunks(BATCHES / batches).map(average).collect()
}

/// Half the width of Student's interval for independent values.
fn students(means: &[f64], student: f64) -> f64 {
    let n = means.len() as f64;
    student * (squares(means) / (n - 1.0) / n).sqrt()
}

/// Half the width of the interval for independent values: Student's, or the longer side of the
/// interval that allows for their skewness (Willink, Communications in Statistics 34, 2005), if it
/// is longer.
fn half_width(means: &[f64], student: f64) -> f64 {
    let n = means.len() as f64;
    let deviation = (squares(means) / (n - 1.0)).sqrt();
    if deviation <= 0.0 {
        return 0.0;
    }
    let mean = average(means);
    let cubes: f64 = means.iter().map(|m| ((m - mean) / deviation).powi(3)).sum();
    let skew = cubes.abs() * n / (n - 1.0) / (n - 2.0) / 6.0 / n.sqrt();
    let longer = match skew > 1e-6 {
        true => (1.0 - (1.0 - 6.0 * skew * (student + skew)).cbrt()) / (2.0 * skew),
        false => student,
    };
    longer.max(student) * deviation / n.sqrt()
}

/// The correlation of neighbours; `None` if all are equal.
fn neighbours(means: &[f64]) -> Option<f64> {
    let (mean, all) = (average(means), squares(means));
    let pairs = means.windows(2).map(|w| (w[0] - mean) * (w[1] - mean));
    (all > 0.0).then(|| pairs.sum::<f64>() / all)
}

fn squares(means: &[f64]) -> f64 {
    let mean = average(means);
    means.iter().map(|m| (m - mean).powi(2)).sum()
}

/// The integrated correlation time, at least 1: the number of values that carry as much information
/// on the mean as one independent value. Correlations are summed in pairs until a pair is not
/// positive, and no pair counts more than the pair before it. Sequences longer than 4,096 values
/// are first averaged in groups; τ is then at least the group size, because full correlation is
/// assumed within a group.
fn correlation_time(values: &[f64], mean: f64) -> f64 {
    const MOST: usize = 4_096;
    let group = values.len().div_ceil(MOST);
    let off: Vec<f64> = values.chunks(group).map(|v| average(v) - mean).collect();
    let n = off.len();
    let product = |lag: usize| -> f64 { (0..n - lag).map(|i| off[i] * off[i + lag]).sum() };
    let all = product(0);
    if all <= 0.0 {
        return 1.0;
    }
    let (mut sum, mut before) = (0.0, f64::INFINITY);
    for lag in (0..n.saturating_sub(1)).step_by(2) {
        let pair = (product(lag) + product(lag + 1)) / all;
        if pair <= 0.0 {
            break;
        }
        before = pair.min(before);
        sum += before;
        if sum > n as f64 {
            break;
        }
    }
    // For independent groups τ is that of the values in a group, which is not known but at most the
    // group size.
    (2.0 * sum - 1.0).max(1.0)
        * if group > 1 && sum > 1.0 {
            group as f64
        } else {
            1.0
        }
}

fn average(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_engine::Stream;

    /// Student's density with ν degrees of freedom, up to a constant.
    fn density(t: f64, nu: f64) -> f64 {
        (1.0 + t * t / nu).powf(-(nu + 1.0) / 2.0)
    }

    /// The area under the density within ±t, by the midpoint rule on x = t / √(ν + t²), which maps
    /// the whole line to a finite interval.
    fn within(t: f64, nu: f64) -> f64 {
        let area = |to: f64| {
            let n = 200_000;
            let h = to / n as f64;
            (0..n)
                .map(|i| {
                    let x = (i as f64 + 0.5) * h;
                    let t = nu.sqrt() * x / (1.0 - x * x).sqrt();
                    density(t, nu) * nu.sqrt() / (1.0 - x * x).powf(1.5) * h
                })
                .sum::<f64>()
        };
        area(t / (nu + t * t).sqrt()) / area(1.0)
    }

    #[test]
    fn the_quantile_is_students() {
        for (batches, student) in TRIED {
            let inside = within(student, batches as f64 - 1.0);
            assert!((inside - 0.95).abs() < 1e-7, "{batches}: {inside}");
        }
    }

    #[test]
    fn worked_out_by_hand() {
        // Means 0, 1, 0, 1, …: variance 5/19, neighbours −1/4 each.
        let values: Vec<f64> = (0..200).map(|i| (i / 10 % 2) as f64).collect();
        let e = Estimate::of(&values).unwrap();
        assert_eq!(e.mean, 0.5);
        let half = STUDENT * (5.0f64 / 19.0 / 20.0).sqrt();
        assert!((e.scatter.unwrap() - half).abs() < 1e-12);
        // In ten batches each holds a 0 and a 1, so the widest interval is that of the twenty.
        assert!(
            (Estimate::of_batches(&std::array::from_fn(|b| (b % 2) as f64), Room::Unknown)
                .half_width
                .unwrap()
                - half)
                .abs()
                < 1e-12
        );
        // Pairs of equal batches: ten means 0, 1, 0, 1, …; variance 5/18, t of 9 degrees.
        let pairs = std::array::from_fn(|b| (b / 2 % 2) as f64);
        assert_eq!(Estimate::of_batches(&pairs, Room::Short).half_width, None);
        let pairs = Estimate::of_batches(&pairs, Room::Unknown);
        let half = 2.262_157_162_740_992 * (5.0f64 / 2.0 / 9.0 / 10.0).sqrt();
        assert!((pairs.half_width.unwrap() - half).abs() < 1e-12);
        assert!((e.autocorrelation.unwrap() + 19.0 / 20.0).abs() < 1e-12);
        assert_eq!(e.correlated(), Some(false));
        // A trend is correlated. Equal values are not, and their interval has no width.
        let trend: Vec<f64> = (0..2_000).map(f64::from).collect();
        let trend = Estimate::of(&trend).unwrap();
        assert_eq!((trend.correlated(), trend.half_width), (Some(true), None));
        let equal = Estimate::of(&[3.0; 100]).unwrap();
        assert_eq!((equal.half_width, equal.autocorrelation), (Some(0.0), None));
    }

    #[test]
    fn too_few_values_have_a_mean_alone() {
        assert_eq!(Estimate::of(&[]), None);
        let e = Estimate::of(&[1.0; 99]).unwrap();
        assert_eq!((e.mean, e.half_width, e.correlated()), (1.0, None, None));
    }

    #[test]
    fn without_room_there_is_no_interval() {
        let mut rng = Stream::new(3, "series", 0);
        let values = ar1(0.9, 2_000, &mut rng);
        let half = |room| Estimate::within(&values, room).unwrap().half_width;
        // τ is 19: 2,000 values are 105 τ, and about 100 τ are required without a theory.
        assert_eq!(half(Room::Short), None);
        assert!(half(Room::Long).is_some());
        assert_eq!(
            Estimate::of(&values),
            Estimate::within(&values, Room::Unknown)
        );
    }

    /// x' = φ x + ε with normal ε: the mean is 0.
    fn ar1(phi: f64, n: usize, rng: &mut Stream) -> Vec<f64> {
        let mut normal = || {
            let radius = (-2.0 * (1.0 - rng.unit()).ln()).sqrt();
            radius * (std::f64::consts::TAU * rng.unit()).cos()
        };
        let mut x = normal() / (1.0 - phi * phi).sqrt();
        (0..n)
            .map(|_| {
                x = phi * x + normal();
                x
            })
            .collect()
    }

    /// Results of 200 sequences: the share with an interval, the share of these whose interval
    /// contains the true mean, and the share that is correlated.
    fn intervals(sequence: impl Fn(&mut Stream) -> Vec<f64>, truth: f64) -> (f64, f64, f64) {
        let (mut given, mut held, mut warned) = (0, 0, 0);
        for i in 0..200 {
            let e = Estimate::of(&sequence(&mut Stream::new(5, "series", i))).unwrap();
            if let Some(half) = e.half_width {
                given += 1;
                held += ((e.mean - truth).abs() <= half) as i32;
            }
            warned += (e.correlated() == Some(true)) as i32;
        }
        let share = |part: i32, of: i32| f64::from(part) / f64::from(of.max(1));
        (share(given, 200), share(held, given), share(warned, 200))
    }

    /// Fewer than 90 % of 200 intervals of 95 % contain the true value at most once in 500 tests.
    /// More than 95 % may contain it, because the widest of three is used.
    const HELD: std::ops::RangeInclusive<f64> = 0.9..=1.0;

    #[test]
    fn intervals_hold_the_mean_of_an_autoregressive_sequence() {
        for (phi, n) in [(0.0, 200), (0.5, 2_000), (0.9, 10_000), (0.99, 40_000)] {
            let (given, held, warned) = intervals(|rng| ar1(phi, n, rng), 0.0);
            assert!(
                given > 0.95 && HELD.contains(&held),
                "{phi}: {given} {held}"
            );
            assert!(warned < 0.12, "{phi}: {warned}");
        }
    }

    /// The run is too short, so there is no interval. With 20 batches alone, the interval would
    /// contain the mean less than 85 times in 100.
    #[test]
    fn a_sequence_that_is_shorter_than_its_correlation_has_no_interval() {
        let (given, _, warned) = intervals(|rng| ar1(0.99, 2_000, rng), 0.0);
        assert!(given < 0.02 && warned > 0.5, "{given} {warned}");
    }

    /// Waiting times of a queue with exponential gaps and service times from `service`, after a
    /// warm-up (Lindley's recursion).
    fn waits(load: f64, n: usize, rng: &mut Stream, service: fn(f64) -> f64) -> Vec<f64> {
        let warm_up = (60.0 / (1.0 - load).powi(2)) as usize;
        let mut wait: f64 = 0.0;
        let mut next = || {
            let gap = -(1.0 - rng.unit()).ln() / load;
            wait = (wait + service(rng.unit()) - gap).max(0.0);
            wait
        };
        (0..warm_up).for_each(|_| {
            next();
        });
        (0..n).map(|_| next()).collect()
    }

    /// Pollaczek and Khinchine: ρ ÷ 2(1 − ρ) for M/D/1, ρ ÷ (1 − ρ) for M/M/1. Short runs have
    /// fewer intervals, not narrower ones.
    #[test]
    fn intervals_hold_the_mean_wait_of_queues() {
        let exponential = |u: f64| -(1.0 - u).ln();
        for (load, n, share) in [
            (0.5, 1_000, 0.1),
            (0.5, 20_000, 0.99),
            (0.8, 2_000, 0.0),
            (0.8, 20_000, 0.5),
            (0.9, 100_000, 0.2),
        ] {
            let fixed = intervals(
                |rng| waits(load, n, rng, |_| 1.0),
                load / 2.0 / (1.0 - load),
            );
            let drawn = intervals(|rng| waits(load, n, rng, exponential), load / (1.0 - load));
            for (given, held, _) in [fixed, drawn] {
                assert!(given >= share * 0.9, "{load}, {n}: {given} given");
                assert!(
                    given < 0.15 || HELD.contains(&held),
                    "{load}, {n}: {held} of {given}"
                );
            }
        }
    }
}
