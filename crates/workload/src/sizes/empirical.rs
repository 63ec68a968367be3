//! Empirical sizes: points of a cumulative distribution, and the rule between them.
//!
//! Points alone are not a distribution. Between (x₀, p₀) and (x₁, p₁), sizes are either spread
//! evenly over x₀..x₁ (`linear`) or all x₁ (`step`), and the means differ by a third or more. So
//! the rule must be declared; there is no default.

use super::{Law, MAX_BYTES};
use crate::text::{self, rows, TextError};
use lightloom_engine::{Bytes, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Distribution between two points of an empirical distribution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Interpolation {
    /// Sizes are uniform between the two points.
    #[default]
    Linear,
    /// All sizes equal that of the upper point.
    Step,
}

/// An empirical distribution, from points in this table or in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Empirical {
    /// Points (size [B], fraction of flows up to that size), such as `[["10 KB", 0.5], ["1 MB",
    /// 1.0]]`; in place of `file`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<Vec<(Bytes, f64)>>,
    /// A text file with one point per line: bytes and cumulative fraction, separated by a comma or
    /// white space; in place of `points`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Distribution between two points: "linear" or "step". There is no default, because the mean
    /// depends on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(required, with = "Interpolation")]
    pub interpolation: Option<Interpolation>,
}

/// A distribution by its points, checked.
#[derive(Clone, Debug)]
pub struct EmpiricalLaw {
    points: Vec<(u64, f64)>,
    rule: Interpolation,
}

impl Empirical {
    pub(super) fn law(&self) -> Result<Box<dyn Law>, Refusal> {
        let refuse = |key: &str, value: String, limit: String, remedy: String| {
            Refusal::new(format!("workload.sizes.{key}"), value, limit, remedy)
        };
        let interpolation = self.interpolation.ok_or_else(|| {
            let limit = "has no default, because the mean depends on it".to_owned();
            let remedy = r#"write "linear" or "step""#.to_owned();
            refuse("interpolation", "(missing)".to_owned(), limit, remedy)
        })?;
        let law = match (&self.points, &self.file) {
            (Some(points), None) => {
                let points = points.iter().map(|&(b, p)| (b.0, p)).collect();
                EmpiricalLaw::new(points, interpolation).map_err(|e| {
                    let (key, value) = match e.index {
                        Some(i) => (format!("points[{i}]"), e.value),
                        None if e.value.is_empty() => ("points".to_owned(), "[]".to_owned()),
                        None => ("points".to_owned(), e.value),
                    };
                    refuse(&key, value, e.problem, e.remedy)
                })?
            }
            (None, Some(file)) => text::load(file)
                .and_then(|t| read_points(&t, file))
                .and_then(|p| EmpiricalLaw::from_file(p, interpolation, file))
                .map_err(|e| e.refusal("workload.sizes.file"))?,
            (given, _) => {
                let value = given.as_ref().map_or("(missing)", |_| "(with file)");
                let limit = "a distribution has either points or a file".to_owned();
                let remedy = "give exactly one of them".to_owned();
                return Err(refuse("points", value.to_owned(), limit, remedy));
            }
        };
        Ok(Box::new(law))
    }
}

/// Points with their line numbers.
type Located = Vec<(u64, f64, usize)>;

/// The reason why points are not a distribution.
struct Broken {
    index: Option<usize>,
    value: String,
    problem: String,
    remedy: String,
}

impl EmpiricalLaw {
    fn new(points: Vec<(u64, f64)>, rule: Interpolation) -> Result<EmpiricalLaw, Broken> {
        check(&points)?;
        let law = EmpiricalLaw { points, rule };
        if law.mean() < 1.0 {
            return Err(Broken {
                index: None,
                value: format!("a mean of {:.3} B", law.mean()),
                problem: "a flow has at least 1 B".to_owned(),
                remedy: "raise the sizes".to_owned(),
            });
        }
        Ok(law)
    }

    fn from_file(
        points: Located,
        rule: Interpolation,
        file: &str,
    ) -> Result<EmpiricalLaw, TextError> {
        let plain = points.iter().map(|&(b, p, _)| (b, p)).collect();
        EmpiricalLaw::new(plain, rule).map_err(|e| {
            let problem = match e.value.is_empty() {
                true => e.problem,
                false => format!("{}: {}", e.value, e.problem),
            };
            TextError {
                line: e.index.map_or(0, |i| points[i].2),
                ..TextError::whole(file, problem, e.remedy)
            }
        })
    }

    /// A distribution from points that are known to be valid.
    pub(super) fn trusted(points: Vec<(u64, f64)>, rule: Interpolation) -> EmpiricalLaw {
        debug_assert!(check(&points).is_ok());
        EmpiricalLaw { points, rule }
    }
}

fn check(points: &[(u64, f64)]) -> Result<(), Broken> {
    let broken = |i: usize, problem: &str, remedy: &str| {
        let (bytes, p) = points[i];
        Err(Broken {
            index: Some(i),
            value: format!("({bytes} B, {p})"),
            problem: problem.to_owned(),
            remedy: remedy.to_owned(),
        })
    };
    let Some(last) = points.len().checked_sub(1) else {
        return Err(Broken {
            index: None,
            value: String::new(),
            problem: "has no points".to_owned(),
            remedy: "give at least one, ending at fraction 1".to_owned(),
        });
    };
    for (i, &(bytes, p)) in points.iter().enumerate() {
        let (bytes_before, p_before) = points[i.saturating_sub(1)];
        if !(0.0..=1.0 + 1e-9).contains(&p) {
            let remedy = "write fractions, not per cent";
            return broken(i, "a cumulative fraction lies between 0 and 1", remedy);
        }
        if bytes > MAX_BYTES {
            return broken(i, "a flow has at most 2^53 B (9 PB)", "lower it");
        }
        if bytes < bytes_before {
            return broken(i, "is smaller than the size before it", "sort by size");
        }
        if p < p_before {
            let limit = "is below the fraction before it: a cumulative distribution never falls";
            return broken(i, limit, "correct the fraction");
        }
        if bytes == 0 && p > 0.0 {
            return broken(i, "gives flows of 0 B a share", "start at 1 B or more");
        }
    }
    if (points[last].1 - 1.0).abs() > 1e-9 {
        return broken(
            last,
            "the last fraction must be 1",
            "add the largest size with 1",
        );
    }
    Ok(())
}

/// Reads lines of `bytes, fraction`; a first line of names is skipped.
pub(super) fn read_points(text: &str, file: &str) -> Result<Located, TextError> {
    let mut points = Vec::new();
    for (i, row) in rows(file, text).enumerate() {
        let fields: Vec<_> = match row.text.contains(',') {
            true => row.cells().collect(),
            false => row.words().collect(),
        };
        let [bytes, fraction] = fields[..] else {
            return Err(row.error(
                format!("has {} values instead of 2", fields.len()),
                "write bytes and cumulative fraction",
            ));
        };
        // Names are not numbers; `nan` and `inf` parse as numbers and are refused below.
        let named = |text: &str| text.parse::<f64>().is_err();
        let letter = |c: char| c.is_ascii_alphabetic();
        if i == 0 && bytes.text.starts_with(letter) && named(bytes.text) && named(fraction.text) {
            continue;
        }
        let size = bytes.whole("bytes", 0..=MAX_BYTES)?;
        points.push((size, fraction.number("the fraction")?, row.line));
    }
    Ok(points)
}

impl Law for EmpiricalLaw {
    fn quantile(&self, u: f64) -> f64 {
        let upper = self.points.partition_point(|&(_, p)| p <= u);
        let (x1, p1) = self.points[upper.min(self.points.len() - 1)];
        if self.rule == Interpolation::Step || upper == 0 || p1 <= u {
            return x1 as f64;
        }
        let (x0, p0) = self.points[upper - 1];
        x0 as f64 + (x1 - x0) as f64 * (u - p0) / (p1 - p0)
    }

    fn mean(&self) -> f64 {
        let first = self.points[0].0 as f64 * self.points[0].1;
        let rest: f64 = self
            .points
            .windows(2)
            .map(|w| {
                let ((x0, p0), (x1, p1)) = (w[0], w[1]);
                let size = match self.rule {
                    Interpolation::Linear => 0.5 * (x0 as f64 + x1 as f64),
                    Interpolation::Step => x1 as f64,
                };
                (p1 - p0) * size
            })
            .sum();
        first + rest
    }

    fn mean_square(&self) -> f64 {
        let square = |x: u64| (x as f64).powi(2);
        let first = square(self.points[0].0) * self.points[0].1;
        let between = |w: &[(u64, f64)]| {
            let ((x0, p0), (x1, p1)) = (w[0], w[1]);
            let size = match self.rule {
                Interpolation::Linear => (square(x0) + x0 as f64 * x1 as f64 + square(x1)) / 3.0,
                Interpolation::Step => square(x1),
            };
            (p1 - p0) * size
        };
        first + self.points.windows(2).map(between).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{integrated_mean, ks, law, refusal};
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn linear_and_step_are_different_workloads() {
        let points = json!([["1 KB", 0.25], ["3 KB", 0.75], ["11 KB", 1.0]]);
        let linear = law(json!({"kind": "cdf", "points": points, "interpolation": "linear"}));
        assert_eq!(linear.mean(), 250.0 + 1_000.0 + 1_750.0);
        ks(&*linear, |x| match x {
            x if x < 3_000.0 => 0.25 + 0.5 * (x - 1_000.0) / 2_000.0,
            x => 0.75 + 0.25 * (x - 3_000.0) / 8_000.0,
        });
        let step = law(json!({"kind": "cdf", "points": points, "interpolation": "step"}));
        assert_eq!(step.mean(), 250.0 + 1_500.0 + 2_750.0);
        ks(&*step, |x| match x {
            x if x < 3_000.0 => 0.25,
            x if x < 11_000.0 => 0.75,
            _ => 1.0,
        });
        // A point without weight is never drawn.
        let points = json!([["0 B", 0.0], ["9 B", 0.0], ["10 B", 1.0]]);
        let step = law(json!({"kind": "cdf", "points": points, "interpolation": "step"}));
        assert_eq!(step.quantile(0.0), 10.0);
        for l in [linear, step] {
            assert!((integrated_mean(&*l) / l.mean() - 1.0).abs() < 1e-4);
        }
    }

    #[test]
    fn points_that_make_no_distribution_are_refused() {
        let points = |p| refusal(json!({"kind": "cdf", "points": p, "interpolation": "step"}));
        assert_eq!(
            points(json!([["1 KB", 0.5], ["2 KB", 0.4], ["3 KB", 1.0]])),
            "workload.sizes.points[1] = (2000 B, 0.4): is below the fraction before it: \
             a cumulative distribution never falls; correct the fraction"
        );
        assert!(points(json!([["1 KB", 0.5]])).contains("the last fraction must be 1"));
        assert!(points(json!([["1 KB", 50], ["2 KB", 100]])).contains("not per cent"));
        assert!(points(json!([["2 KB", 0.5], ["1 KB", 1]])).contains("sort by size"));
        assert!(points(json!([["0 B", 0.5], ["1 KB", 1]])).contains("flows of 0 B a share"));
        assert!(points(json!([])).starts_with("workload.sizes.points = []: has no points"));
        let e = refusal(json!({"kind": "cdf", "points": [["1 KB", 1]]}));
        assert_eq!(
            e,
            "workload.sizes.interpolation = (missing): has no default, because the mean depends \
             on it; write \"linear\" or \"step\""
        );
        let e = refusal(json!({"kind": "cdf", "interpolation": "step"}));
        assert!(e.contains("either points or a file"), "{e}");
    }

    #[test]
    fn a_file_is_read_with_commas_or_blanks_and_located_when_wrong() {
        let want = vec![(0, 0.0, 2), (10, 1.0, 3)];
        let read = |text: &str| read_points(text, "f.csv");
        assert_eq!(read("bytes,cumulative\n0,0\n10,1\n").unwrap(), want);
        assert_eq!(read("# web\n0 0\n  10\t1.0\n").unwrap(), want);
        let e = read("0 0\n10 x1\n").unwrap_err();
        assert_eq!((e.line, e.column), (2, 4));
        assert_eq!(read("0 0 0\n").unwrap_err().line, 1);
        let points = read("0 0\n\n5 0.5\n").unwrap();
        let e = EmpiricalLaw::from_file(points, Interpolation::Step, "f.csv").unwrap_err();
        assert_eq!(
            e.to_string(),
            "f.csv, line 3: (5 B, 0.5): the last fraction must be 1; add the largest size with 1"
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[0-9., \t\n#a\"]*|.*") {
            if let Ok(points) = read_points(&text, "f") {
                if let Ok(law) = EmpiricalLaw::from_file(points, Interpolation::Linear, "f") {
                    prop_assert!(law.quantile(0.5).is_finite());
                }
            }
        }
    }
}
