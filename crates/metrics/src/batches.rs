//! Confidence intervals of a correlated sequence, by batch means.
//!
//! Waiting times that follow each other resemble each other, so their sample
//! variance says too little of how sure their mean is. The sequence is cut into
//! [`BATCHES`] stretches, long enough that their means are nearly independent and
//! normal; the interval is Student's for so many means (Law, Simulation Modeling
//! and Analysis, §9.5.3). Whether the stretches were long enough shows in the
//! correlation of neighbours. The number of batches is not adapted to the
//! sequence, and a trend is not removed.

/// Batches of a sequence. Between 10 and 30 serve any length (Schmeiser 1982).
pub const BATCHES: usize = 20;

/// Values that a batch holds at least: of fewer there is no interval.
const LEAST: usize = 5;

/// 97.5 % quantile of Student's t with `BATCHES` − 1 degrees of freedom.
const STUDENT: f64 = 2.093_024_054_408_263;

/// Correlation of neighbours that one in twenty independent sequences of
/// `BATCHES` means exceeds: (−1 + 1.645 √(n − 2)) / (n − 1) (Anderson 1942).
const CORRELATED: f64 = 0.314_7;

/// A mean, how sure it is, and how much that is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Mean of all values.
    pub mean: f64,
    /// Half of the 95 % confidence interval; none of too few values.
    pub half_width: Option<f64>,
    /// Correlation of a batch's mean with the next one's; none where all are
    /// equal, or of too few values.
    pub autocorrelation: Option<f64>,
}

impl Estimate {
    /// Of values in order; none of no values. The batches differ in length by at
    /// most one value.
    pub fn of(values: &[f64]) -> Option<Estimate> {
        let n = values.len();
        if n == 0 {
            return None;
        }
        let mean = average(values);
        if n < BATCHES * LEAST {
            return Some(Estimate {
                mean,
                half_width: None,
                autocorrelation: None,
            });
        }
        let batch = |b: usize| average(&values[b * n / BATCHES..(b + 1) * n / BATCHES]);
        Some(Estimate {
            mean,
            ..Estimate::of_batches(&std::array::from_fn(batch))
        })
    }

    /// Of the means of stretches of equal length.
    pub fn of_batches(means: &[f64; BATCHES]) -> Estimate {
        let mean = average(means);
        let squares: f64 = means.iter().map(|m| (m - mean).powi(2)).sum();
        let neighbours: f64 = means
            .windows(2)
            .map(|w| (w[0] - mean) * (w[1] - mean))
            .sum();
        let n = BATCHES as f64;
        Estimate {
            mean,
            half_width: Some(STUDENT * (squares / (n - 1.0) / n).sqrt()),
            autocorrelation: (squares > 0.0).then(|| neighbours / squares),
        }
    }

    /// Whether neighbouring batches resemble each other more than chance makes
    /// them: then the interval is too narrow, or the sequence has a trend.
    pub fn correlated(&self) -> Option<bool> {
        self.half_width?;
        Some(self.autocorrelation.is_some_and(|r| r > CORRELATED))
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

    /// The area under it within ±t, by the midpoint rule on x = t / √(ν + t²), in
    /// which all of the line is finite.
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
        let inside = within(STUDENT, BATCHES as f64 - 1.0);
        assert!((inside - 0.95).abs() < 1e-7, "{inside}");
    }

    #[test]
    fn worked_out_by_hand() {
        // Means 0, 1, 0, 1, …: variance 5/19, neighbours −1/4 each.
        let values: Vec<f64> = (0..200).map(|i| (i / 10 % 2) as f64).collect();
        let e = Estimate::of(&values).unwrap();
        assert_eq!(e.mean, 0.5);
        let half = STUDENT * (5.0f64 / 19.0 / 20.0).sqrt();
        assert!((e.half_width.unwrap() - half).abs() < 1e-12);
        assert!((e.autocorrelation.unwrap() + 19.0 / 20.0).abs() < 1e-12);
        assert_eq!(e.correlated(), Some(false));
        // A trend is correlated; equal values are not, and are sure.
        let trend: Vec<f64> = (0..2_000).map(f64::from).collect();
        assert_eq!(Estimate::of(&trend).unwrap().correlated(), Some(true));
        let equal = Estimate::of(&[3.0; 100]).unwrap();
        assert_eq!((equal.half_width, equal.autocorrelation), (Some(0.0), None));
    }

    #[test]
    fn too_few_values_have_a_mean_alone() {
        assert_eq!(Estimate::of(&[]), None);
        let e = Estimate::of(&[1.0; 99]).unwrap();
        assert_eq!((e.mean, e.half_width, e.correlated()), (1.0, None, None));
    }

    /// x' = φ x + ε with ε normal: every mean is 0.
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

    /// How many of 1,000 intervals hold the true mean, and how many are said to be
    /// of correlated batches.
    fn intervals(phi: f64, n: usize) -> (f64, f64) {
        let (mut held, mut warned) = (0, 0);
        for i in 0..1_000 {
            let mut rng = Stream::new(5, "ar1", i);
            let e = Estimate::of(&ar1(phi, n, &mut rng)).unwrap();
            held += (e.mean.abs() <= e.half_width.unwrap()) as i32;
            warned += (e.correlated() == Some(true)) as i32;
        }
        (held as f64 / 1e3, warned as f64 / 1e3)
    }

    /// A thousand intervals of 95 % hold 950 ± 27 (four standard errors).
    #[test]
    fn intervals_cover_what_they_promise() {
        for (phi, n) in [(0.0, 200), (0.5, 2_000), (0.9, 10_000)] {
            let (held, warned) = intervals(phi, n);
            assert!((held - 0.95).abs() < 0.028, "{phi}: {held}");
            assert!(warned < 0.08, "{phi}: {warned}");
        }
    }

    /// Batches shorter than the memory of the sequence: the interval is too
    /// narrow, and it is said so.
    #[test]
    fn short_batches_are_told() {
        let (held, warned) = intervals(0.99, 2_000);
        assert!(held < 0.85 && warned > 0.5, "{held} {warned}");
    }
}
