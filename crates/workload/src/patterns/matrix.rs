//! Racks exchange traffic in proportion to the weights in a file: row = source rack, column =
//! destination rack, comma-separated, with one row and one column for each rack of the cluster.
//! Servers are uniform within their racks. Weights apply to flows; as sizes are drawn
//! independently, they apply to bytes on average as well.

use super::{other, Pairs};
use crate::text::{self, rows, Field, TextError};
use lightloom_engine::{Cluster, HostId, Refusal, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The only format that is read; the demand of `plan` may have other formats.
const FORM: &str = "write CSV with numbers only: one line for each source rack, commas between \
                    numbers, no names (NPY, JSON, blanks and semicolons are not read here)";

/// Racks exchange traffic in proportion to the weights in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Matrix {
    /// A CSV file of weights, at least 0 and in any unit, without a heading: row = source rack,
    /// column = destination rack.
    pub file: String,
}

#[derive(Debug)]
pub(super) struct MatrixPairs {
    /// Sum of the weights up to and with each entry, row by row.
    sums: Vec<f64>,
    racks: usize,
    servers: u32,
}

impl Matrix {
    pub(super) fn pairs(&self, cluster: &Cluster) -> Result<MatrixPairs, Refusal> {
        text::load(&self.file)
            .map_err(|e| match e.problem.contains("UTF-8") {
                true => TextError::whole(&self.file, e.problem, FORM),
                false => e,
            })
            .and_then(|t| MatrixPairs::read(&t, &self.file, cluster))
            .map_err(|e| e.refusal("workload.pattern.file"))
    }
}

impl MatrixPairs {
    fn read(text: &str, file: &str, cluster: &Cluster) -> Result<MatrixPairs, TextError> {
        let (racks, servers) = (cluster.racks as usize, cluster.servers_per_rack);
        let (mut sums, mut sum, mut count) = (Vec::new(), 0.0, 0);
        let expected = format!("the cluster has {racks} racks");
        for row in rows(file, text) {
            if count == racks {
                let problem = format!("is row {}, but {expected}", count + 1);
                return Err(row.error(problem, "remove it, or correct cluster.racks"));
            }
            let mut columns = 0;
            for cell in row.cells() {
                let weight = weight(cell)?;
                if columns == count && servers == 1 && weight > 0.0 {
                    return Err(cell.error(
                        "gives a rack of one server traffic to itself",
                        "put 0 on the diagonal",
                    ));
                }
                sum += weight;
                columns += 1;
                if columns <= racks {
                    sums.push(sum);
                }
            }
            if columns != racks {
                let problem = format!("has {columns} weights, but {expected}");
                return Err(row.error(problem, "give one weight for each rack"));
            }
            count += 1;
        }
        let fault = match () {
            _ if count != racks => format!("has {count} rows, but {expected}"),
            _ if sum == 0.0 => "has only zeros".to_owned(),
            _ if !sum.is_finite() => "has weights too large to add up".to_owned(),
            _ => {
                return Ok(MatrixPairs {
                    sums,
                    racks,
                    servers,
                })
            }
        };
        Err(TextError::whole(file, fault, "correct the matrix"))
    }
}

/// Reads a weight. A row in another form than CSV of numbers is a single cell that is not a number.
fn weight(cell: Field) -> Result<f64, TextError> {
    cell.number("the weight")
        .map_err(|e| match e.problem.ends_with("not a number") {
            true => cell.error(e.problem, FORM),
            false => e,
        })
}

impl Pairs for MatrixPairs {
    fn next(&mut self, rng: &mut Stream) -> (HostId, HostId) {
        let total = self.sums[self.sums.len() - 1];
        let x = rng.unit() * total;
        // Rounding may carry x to the total, beyond the last positive weight.
        let entry = self.sums.partition_point(|&s| s <= x);
        let entry = entry.min(self.sums.partition_point(|&s| s < total));
        let (from, to) = ((entry / self.racks) as u32, (entry % self.racks) as u32);
        let src = rng.below(self.servers);
        let dst = match from == to {
            true => other(src, self.servers, rng),
            false => rng.below(self.servers),
        };
        (
            HostId(from * self.servers + src),
            HostId(to * self.servers + dst),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{chi_square, cluster, histogram};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn matrix() {
        let text = "# demand\n1, 2, 3\n0, 4, 0\n\n5, 0, 5\n";
        let mut pairs = MatrixPairs::read(text, "m.csv", &cluster(3, 4)).unwrap();
        let mut rng = Stream::new(1, "t", 0);
        let n = 60_000;
        let drawn: Vec<(u32, u32)> = (0..n)
            .map(|_| pairs.next(&mut rng))
            .map(|(s, d)| (s.0, d.0))
            .collect();
        assert!(drawn.iter().all(|(s, d)| s != d));
        let key = |p: &(u32, u32)| (p.0 / 4 * 3 + p.1 / 4) as usize;
        let weights = [1.0, 2.0, 3.0, 0.0, 4.0, 0.0, 5.0, 0.0, 5.0];
        let expected = weights.map(|w| w / 20.0 * n as f64);
        chi_square(&histogram(drawn.iter().map(key), 9), &expected);
        // Within the pair of racks (2, 0) servers are uniform.
        let inside: Vec<_> = drawn.iter().filter(|p| key(p) == 6).collect();
        let seen = histogram(inside.iter().map(|p| (p.0 % 4 * 4 + p.1 % 4) as usize), 16);
        chi_square(&seen, &[inside.len() as f64 / 16.0; 16]);
        // Within rack 1 they are uniform as well, except for the sender itself.
        let inside: Vec<_> = drawn.iter().filter(|p| key(p) == 4).collect();
        let seen = histogram(inside.iter().map(|p| (p.0 % 4 * 4 + p.1 % 4) as usize), 16);
        let expected: Vec<f64> = (0..16)
            .map(|k| {
                if k / 4 == k % 4 {
                    0.0
                } else {
                    inside.len() as f64 / 12.0
                }
            })
            .collect();
        chi_square(&seen, &expected);
    }

    #[test]
    fn errors_name_line_and_column() {
        let bad = |text: &str, servers| {
            MatrixPairs::read(text, "m.csv", &cluster(2, servers))
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            bad("0, 1\n1, -2\n", 2),
            "m.csv, line 2, column 4: the weight is `-2`, not a number from 0 upwards; \
             correct the weight"
        );
        for other in [
            "0 1\n1 0\n",
            "0;1\n1;0\n",
            "a,b\n0,1\n1,0\n",
            "[[0, 1], [1, 0]]\n",
        ] {
            assert!(
                bad(other, 2).contains("not a number; write CSV with numbers only"),
                "{other}"
            );
        }
        assert!(bad("0,1\n1,x\n", 2).starts_with("m.csv, line 2, column 3: the weight is `x`"));
        assert!(bad("0,nan\n1,0\n", 2).starts_with("m.csv, line 1, column 3"));
        assert!(bad("0,1\n1,\n", 2).starts_with("m.csv, line 2, column 3"));
        assert!(
            bad("0,1,2\n", 2).starts_with("m.csv, line 1: has 3 weights, but the cluster has 2")
        );
        assert!(bad("0,1\n1,0\n1,0\n", 2).starts_with("m.csv, line 3: is row 3"));
        assert!(bad("0,1\n", 2).starts_with("m.csv: has 1 rows"));
        assert!(bad("0,0\n0,0\n", 2).starts_with("m.csv: has only zeros"));
        assert!(bad("0,1e308\n1e308,1e308\n", 2).contains("too large to add up"));
        assert!(bad("0,1\n1,3\n", 1).starts_with("m.csv, line 2, column 3: gives a rack of one"));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[0-9.,e \n]*|.*") {
            if let Ok(mut pairs) = MatrixPairs::read(&text, "m", &cluster(2, 2)) {
                let (s, d) = pairs.next(&mut Stream::new(1, "t", 0));
                prop_assert!(s != d && s.0 < 4 && d.0 < 4);
            }
        }
    }
}
