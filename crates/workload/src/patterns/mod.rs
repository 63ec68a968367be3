//! Traffic patterns: the destinations of servers, one file per pattern.
//!
//! No server sends to itself; servers of one rack may send to each other. A pattern uses its own
//! random stream and does not depend on sizes.

mod all_to_all;
mod bits;
mod hotspot;
mod incast;
mod matrix;
mod permutation;
mod tor_skewed;
mod uniform;

pub use hotspot::HotSpot;
pub use incast::Incast;
pub use matrix::Matrix;
pub use permutation::{Level, Permutation};
pub use tor_skewed::TorSkewed;

use crate::kinded::NoKeys;
use bits::Bits;
use lightloom_engine::{Cluster, HostId, Refusal, Stream};

/// A source of (source, destination) pairs.
pub trait Pairs: std::fmt::Debug {
    /// The next pair.
    fn next(&mut self, rng: &mut Stream) -> (HostId, HostId);

    /// The number of flows that arrive at the same instant.
    fn burst(&self) -> u64 {
        1
    }

    /// The number of flows of one round of the pattern, if it has rounds: the default of
    /// `workload.flows`.
    fn round(&self) -> Option<u64> {
        None
    }

    /// Makes the pattern draw the sender of each flow instead of naming senders in rounds, so that
    /// arrivals at a server are as random as those of all servers. The pattern then has no rounds.
    fn draw_senders(&mut self) {}

    /// The fraction of the servers that send, if the others never do.
    fn senders(&self) -> f64 {
        1.0
    }

    /// Whether `src` ever sends; `None` if destinations cannot be chosen for a given source, so
    /// that [`Pairs::to`] must not be called.
    fn sends(&self, src: HostId) -> Option<bool> {
        let _ = src;
        None
    }

    /// The destination of the next flow of `src`, which must be a server that sends.
    fn to(&mut self, src: HostId, rng: &mut Stream) -> HostId {
        let _ = rng;
        src
    }
}

kinded! {
    /// Traffic pattern, which gives the destinations of flows: a name, or a table with a `kind`.
    #[schemars(transform = with_names)]
    pub enum Pattern, "pattern", named by by_name {
        /// Source and destination servers are drawn uniformly (Sirius §7).
        Uniform(NoKeys) = "uniform",
        /// Every server, or rack, sends to one other and receives from one other. With Poisson
        /// arrivals the sender of each flow is drawn; otherwise all servers send once in each
        /// round.
        Permutation(Permutation) = "permutation",
        /// A given fraction of the flows goes to a few hot servers.
        HotSpot(HotSpot) = "hotspot",
        /// Incast: in each round many servers send to one server at the same time.
        Incast(Incast) = "incast",
        /// Every server sends to every other in turn: flow k of a round of N · (N - 1) flows goes
        /// from server k mod N to the server 1 + k div N places after it. With Poisson arrivals the
        /// sender of each flow is drawn, and its destinations take turns.
        AllToAll(NoKeys) = "all-to-all",
        /// Some racks send and receive more than others.
        TorSkewed(TorSkewed) = "tor-skewed",
        /// The halves of the source's bits are swapped: server i of s² sends to
        /// (i mod s)·s + ⌊i/s⌋.
        Transpose(NoKeys) = "transpose",
        /// The source's bits are inverted: server i of N sends to N − 1 − i.
        Complement(NoKeys) = "complement",
        /// The source's bits are rotated by one: server i of N sends to 2i modulo
        /// N − 1.
        Shuffle(NoKeys) = "shuffle",
        /// Destinations are almost half a ring away: server i of N sends to i + ⌈N/2⌉ − 1 modulo N.
        Tornado(NoKeys) = "tornado",
        /// Racks exchange traffic in proportion to the weights in a file.
        Matrix(Matrix) = "matrix",
    }
}

/// Kinds that require no keys.
const NAMES: &[&str] = &[
    "uniform",
    "permutation",
    "all-to-all",
    "transpose",
    "complement",
    "shuffle",
    "tornado",
];

fn with_names(schema: &mut schemars::Schema) {
    crate::kinded::or_names(schema, NAMES);
}

fn by_name<E: serde::de::Error>(name: &str) -> Result<Pattern, E> {
    crate::kinded::kind_alone(name, Pattern::KINDS)
}

impl Default for Pattern {
    fn default() -> Pattern {
        Pattern::Uniform(NoKeys {})
    }
}

impl Pattern {
    /// The pattern on the servers of `cluster`; its fixed parts (a permutation, the hot racks) are
    /// drawn from `rng`.
    ///
    /// # Errors
    /// If the parameters do not fit the cluster.
    pub fn pairs(&self, cluster: &Cluster, rng: &mut Stream) -> Result<Box<dyn Pairs>, Refusal> {
        if cluster.hosts() < 2 {
            return Err(Refusal::new(
                "workload.pattern",
                self.kind(),
                format!("needs 2 servers, the cluster has {}", cluster.hosts()),
                "raise cluster.racks or cluster.servers_per_rack",
            ));
        }
        Ok(match self {
            Pattern::Uniform(_) => Box::new(uniform::UniformPairs::new(cluster)),
            Pattern::Permutation(p) => Box::new(p.pairs(cluster, rng)?),
            Pattern::HotSpot(h) => Box::new(h.pairs(cluster, rng)?),
            Pattern::Incast(i) => Box::new(i.pairs(cluster)?),
            Pattern::AllToAll(_) => Box::new(all_to_all::AllToAll::new(cluster)),
            Pattern::TorSkewed(t) => Box::new(t.pairs(cluster, rng)?),
            Pattern::Transpose(_) => Box::new(Bits::Transpose.pairs(cluster)?),
            Pattern::Complement(_) => Box::new(Bits::Complement.pairs(cluster)?),
            Pattern::Shuffle(_) => Box::new(Bits::Shuffle.pairs(cluster)?),
            Pattern::Tornado(_) => Box::new(Bits::Tornado.pairs(cluster)?),
            Pattern::Matrix(m) => Box::new(m.pairs(cluster)?),
        })
    }
}

/// A server other than `host`, uniformly among `hosts`.
fn other(host: u32, hosts: u32, rng: &mut Stream) -> u32 {
    let drawn = rng.below(hosts - 1);
    drawn + (drawn >= host) as u32
}

/// Refuses a number that is not a fraction in (0, 1].
fn fraction(key: &str, value: f64) -> Result<f64, Refusal> {
    if value > 0.0 && value <= 1.0 {
        return Ok(value);
    }
    Err(Refusal::new(
        format!("workload.pattern.{key}"),
        value,
        "must be above 0 and at most 1",
        "write a fraction",
    ))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use lightloom_engine::{config, Nic, Rate};
    use serde::Deserialize;
    use serde_json::{json, Value};

    pub fn cluster(racks: u32, servers_per_rack: u32) -> Cluster {
        Cluster {
            racks,
            servers_per_rack,
            server_rate: Rate::GBPS,
            nic: Nic::Uncapped,
        }
    }

    pub fn pattern(v: Value) -> Result<Pattern, Refusal> {
        #[derive(Deserialize)]
        struct Outer {
            pattern: Pattern,
        }
        config::read::<Outer>(&json!({ "pattern": v }), "workload").map(|o| o.pattern)
    }

    /// The first `n` pairs as host numbers.
    pub fn draw(v: Value, cluster: &Cluster, seed: u64, n: usize) -> Vec<(u32, u32)> {
        let mut rng = Stream::new(seed, "t", 0);
        let mut pairs = pattern(v).unwrap().pairs(cluster, &mut rng).unwrap();
        (0..n)
            .map(|_| pairs.next(&mut rng))
            .map(|(s, d)| (s.0, d.0))
            .collect()
    }

    pub fn refusal(v: Value, cluster: &Cluster) -> String {
        match pattern(v).and_then(|p| p.pairs(cluster, &mut Stream::new(1, "t", 0))) {
            Ok(pairs) => panic!("accepted as {pairs:?}"),
            Err(e) => e.to_string(),
        }
    }

    /// Chi-square of `seen` against `expected`, which must stay below the
    /// 99.9th percentile (Wilson and Hilferty's approximation).
    pub fn chi_square(seen: &[f64], expected: &[f64]) {
        let cells = expected.iter().filter(|&&e| e > 0.0).count();
        let freedom = (cells - 1) as f64;
        let chi2: f64 = seen
            .iter()
            .zip(expected)
            .map(|(&s, &e)| match e > 0.0 {
                true => (s - e).powi(2) / e,
                false => s * f64::INFINITY.min(1e18),
            })
            .sum();
        let third = 2.0 / (9.0 * freedom);
        let limit = freedom * (1.0 - third + 3.09 * third.sqrt()).powi(3);
        assert!(
            chi2 < limit,
            "chi2 {chi2} of {freedom} degrees exceeds {limit}"
        );
    }

    /// Counts of `n` keys.
    pub fn histogram(keys: impl Iterator<Item = usize>, n: usize) -> Vec<f64> {
        let mut seen = vec![0.0; n];
        keys.for_each(|k| seen[k] += 1.0);
        seen
    }

    pub fn every_kind() -> Vec<Value> {
        vec![
            json!("uniform"),
            json!("permutation"),
            json!({"kind": "permutation", "of": "racks"}),
            json!({"kind": "hotspot", "fraction": 0.5}),
            json!({"kind": "incast", "fan_in": 5}),
            json!("all-to-all"),
            json!({"kind": "tor-skewed", "zipf": 1.2}),
            json!("complement"),
            json!("tornado"),
        ]
    }

    #[test]
    fn nobody_sends_to_itself_and_everybody_exists() {
        for v in every_kind() {
            for (racks, servers) in [(4, 3), (12, 1), (2, 40)] {
                for (s, d) in draw(v.clone(), &cluster(racks, servers), 3, 5_000) {
                    assert!(s != d && s.max(d) < racks * servers, "{v} {s} {d}");
                }
            }
        }
    }

    #[test]
    fn a_single_server_has_nobody_to_talk_to() {
        let e = refusal(json!("uniform"), &cluster(1, 1));
        assert_eq!(
            e,
            "workload.pattern = uniform: needs 2 servers, the cluster has 1; \
             raise cluster.racks or cluster.servers_per_rack"
        );
    }

    #[test]
    fn names_stand_for_tables() {
        assert_eq!(pattern(json!("uniform")).unwrap(), Pattern::default());
        let e = refusal(json!("unifrom"), &cluster(2, 2));
        assert!(
            e.starts_with("workload.pattern = \"unifrom\": must be one of")
                && e.ends_with("did you mean \"uniform\"?"),
            "{e}"
        );
        let e = refusal(json!("hotspot"), &cluster(2, 2));
        assert_eq!(e, "workload.pattern.fraction = (missing): required; add it");
    }
}
