//! Published flow-size distributions by name.
//!
//! A name alone does not identify a workload: in public repositories, the mean of "Hadoop" differs
//! 28-fold, and that of web search is 1.71 MB or 2.43 MB with the same points, by the rule between
//! them. Therefore an entry consists of points, rule, mean and checksum, and tests compare these.
//!
//! The points are read off the cited figures as they are circulated; some fractions are rounded to
//! five digits. The means here are those of the points.

use super::empirical::{read_points, EmpiricalLaw};
use super::Interpolation;
use serde_json::{json, Value};

/// A published distribution.
#[derive(Clone, Copy, Debug)]
pub struct Published {
    /// The name that users write.
    pub name: &'static str,
    /// A heading.
    pub title: &'static str,
    /// The source of the points.
    pub source: &'static str,
    /// The default rule between points.
    pub interpolation: Interpolation,
    /// Mean with linear interpolation [B].
    pub mean_linear: u64,
    /// Mean with steps [B].
    pub mean_step: u64,
    /// FNV-1a (64 bits) of the points, each written on a line as `bytes fraction`.
    pub checksum: u64,
    csv: &'static str,
}

macro_rules! published {
    ($name:literal, $title:literal, $source:literal, $linear:literal, $step:literal, $sum:literal) => {
        Published {
            name: $name,
            title: $title,
            source: $source,
            interpolation: Interpolation::Linear,
            mean_linear: $linear,
            mean_step: $step,
            checksum: $sum,
            csv: include_str!(concat!("points/", $name, ".csv")),
        }
    };
}

const REGISTRY: &[Published] = &[
    published!(
        "web-search",
        "Web search",
        "Alizadeh et al., DCTCP, SIGCOMM 2010, Fig. 4 (as circulated since pFabric)",
        1_711_250,
        2_434_900,
        0x2e4d_fd67_da03_dfea
    ),
    published!(
        "data-mining",
        "Data mining",
        "Greenberg et al., VL2, SIGCOMM 2009, Fig. 2 (as circulated since pFabric)",
        12_658_199,
        23_199_799,
        0x1a41_3005_9f06_f681
    ),
    published!(
        "hadoop",
        "Hadoop",
        "Roy et al., SIGCOMM 2015, Hadoop (as used by HPCC, SIGCOMM 2019)",
        120_421,
        183_897,
        0x3fc9_b537_5273_d8fc
    ),
    published!(
        "storage",
        "Storage",
        "Alibaba storage: Li et al., HPCC, SIGCOMM 2019",
        40_870,
        67_050,
        0x4754_95e5_a64f_8262
    ),
    published!(
        "cache-follower",
        "Cache follower",
        "Roy et al., SIGCOMM 2015, Fig. 6, cache follower, all",
        609_883,
        698_172,
        0x525b_b37d_283d_a691
    ),
    published!(
        "web-server",
        "Web server",
        "Roy et al., SIGCOMM 2015, Fig. 6, web server, all",
        91_370,
        152_879,
        0x72f8_a37c_c47c_acb6
    ),
    published!(
        "rpc",
        "RPC",
        "Google RPC 2008, as used by HPCC (SIGCOMM 2019), thinned",
        2_973,
        3_589,
        0x6b9e_bbb0_5ede_50a9
    ),
];

/// Every published distribution.
pub fn registry() -> &'static [Published] {
    REGISTRY
}

/// The distribution of that name.
pub fn find(name: &str) -> Option<&'static Published> {
    REGISTRY.iter().find(|p| p.name == name)
}

/// The registry as a list of tables, for listings.
pub fn describe() -> Value {
    REGISTRY.iter().map(Published::describe).collect()
}

impl Published {
    /// (size [B], fraction of flows up to it).
    pub fn points(&self) -> Vec<(u64, f64)> {
        read_points(self.csv, self.name)
            .expect("the points in this crate are tested")
            .into_iter()
            .map(|(bytes, fraction, _)| (bytes, fraction))
            .collect()
    }

    /// The distribution under `rule`.
    pub fn law(&self, rule: Interpolation) -> EmpiricalLaw {
        EmpiricalLaw::trusted(self.points(), rule)
    }

    fn describe(&self) -> Value {
        json!({
            "name": self.name,
            "title": self.title,
            "source": self.source,
            "interpolation": self.interpolation,
            "mean_linear_bytes": self.mean_linear,
            "mean_step_bytes": self.mean_step,
            "checksum": format!("{:016x}", self.checksum),
            "points": self.points(),
        })
    }
}

/// FNV-1a, 64 bits, of the points' canonical text.
pub fn checksum(points: &[(u64, f64)]) -> u64 {
    let text: String = points.iter().map(|(b, p)| format!("{b} {p}\n")).collect();
    fnv1a(text.as_bytes())
}

fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &b| {
        (hash ^ b as u64).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::integrated_mean;
    use super::super::Law;
    use super::*;

    #[test]
    fn fnv1a_gives_its_published_vectors() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn every_entry_is_what_it_says() {
        for entry in registry() {
            let mean = |rule| entry.law(rule).mean().round() as u64;
            assert_eq!(mean(Interpolation::Linear), entry.mean_linear, "{entry:?}");
            assert_eq!(mean(Interpolation::Step), entry.mean_step, "{entry:?}");
            assert_eq!(checksum(&entry.points()), entry.checksum, "{entry:?}");
            let first_line = entry.csv.lines().next().unwrap();
            assert!(first_line.starts_with("# "), "{} has no source", entry.name);
        }
    }

    /// The means published with the points. Those of the last two differ from
    /// the points' own, because their points are rounded to five digits: half a
    /// unit of the last digit of 0.99395, times the 18.5 MB to the next point,
    /// is 92 B.
    #[test]
    fn means_are_the_published_ones() {
        for (name, linear, step, off) in [
            ("web-search", 1_711_250, 2_434_900, 0),
            ("data-mining", 12_658_199, 23_199_799, 0),
            ("hadoop", 120_421, 183_897, 0),
            ("storage", 40_870, 67_050, 0),
            ("rpc", 2_973, 3_589, 0),
            ("cache-follower", 609_883, 698_171, 1),
            ("web-server", 91_343, 152_824, 92),
        ] {
            let entry = find(name).unwrap();
            assert!(entry.mean_linear.abs_diff(linear) <= off, "{entry:?}");
            assert!(entry.mean_step.abs_diff(step) <= off, "{entry:?}");
        }
        assert_eq!(registry().len(), 7);
    }

    #[test]
    fn draws_have_the_mean_that_is_printed() {
        for entry in registry() {
            for rule in [Interpolation::Linear, Interpolation::Step] {
                let law = entry.law(rule);
                let ratio = integrated_mean(&law) / law.mean();
                assert!(
                    (ratio - 1.0).abs() < 2e-3,
                    "{} {rule:?}: {ratio}",
                    entry.name
                );
            }
        }
    }
}
