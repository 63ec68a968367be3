//! Circuits: the racks that a switch connects on each plane, and the circuits that a change keeps,
//! removes and adds.
//!
//! A bidirectional circuit takes a port at each end. A directed circuit takes the transmitter of
//! `a` and the receiver of `b`. Wavelengths and losses are not modelled.

use crate::hardware::Hardware;
use lightloom_engine::Refusal;
use serde::{Deserialize, Serialize};

/// One circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "(u32, u32, u32)", into = "(u32, u32, u32)")]
pub struct Circuit {
    /// The rack with the lower number; the sending rack if the circuit is directed.
    pub a: u32,
    /// The other rack.
    pub b: u32,
    /// The optical switch that connects them.
    pub plane: u32,
}

impl From<(u32, u32, u32)> for Circuit {
    fn from((a, b, plane): (u32, u32, u32)) -> Circuit {
        Circuit { a, b, plane }
    }
}

impl From<Circuit> for (u32, u32, u32) {
    fn from(Circuit { a, b, plane }: Circuit) -> (u32, u32, u32) {
        (a, b, plane)
    }
}

/// Circuits in the order in which they were added, either all directed or all bidirectional.
///
/// ```
/// use lightloom_control::circuits::{Circuit, Circuits};
/// use lightloom_control::hardware::Hardware;
/// use lightloom_engine::Rate;
/// let now = Circuits::both_ways([(0, 1), (3, 2)]);
/// let then = Circuits::both_ways([(0, 3), (2, 1)]);
/// assert_eq!(now.iter().last(), Some(Circuit { a: 2, b: 3, plane: 0 }));
/// let switch = Hardware::new(4, 1, Rate::GBPS);
/// assert!(now.check(&switch).is_ok());
/// assert_eq!(now.change_to(&then).kept.len(), 0);
/// // Rack 1 has one port.
/// assert!(Circuits::both_ways([(0, 1), (1, 2)]).check(&switch).is_err());
/// // But it has a transmitter and a receiver.
/// assert!(Circuits::one_way([(0, 1), (1, 2)]).check(&switch).is_ok());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Listed")]
pub struct Circuits {
    directed: bool,
    #[serde(rename = "circuits")]
    rows: Vec<Circuit>,
}

/// The serialised form; bidirectional circuits may be given from either end.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    directed: bool,
    circuits: Vec<Circuit>,
}

impl From<Listed> for Circuits {
    fn from(listed: Listed) -> Circuits {
        Circuits::of(listed.directed, listed.circuits)
    }
}

/// Circuits in ascending order, for lookups.
#[derive(Clone, Debug)]
pub struct Index {
    directed: bool,
    rows: Vec<Circuit>,
    /// Number of circuits with the same racks and plane that were taken, at the index of the first
    /// of them.
    taken: Vec<u32>,
}

impl Index {
    /// Whether it contains a circuit; a bidirectional one may be given from either end.
    pub fn holds(&self, circuit: Circuit) -> bool {
        self.rows.binary_search(&self.in_order(circuit)).is_ok()
    }

    /// Takes a circuit out; returns `false` if no such circuit is left.
    fn take(&mut self, circuit: Circuit) -> bool {
        let circuit = self.in_order(circuit);
        let first = self.rows.partition_point(|c| *c < circuit);
        let Some(taken) = self.taken.get_mut(first) else {
            return false;
        };
        let there = self.rows.get(first + *taken as usize) == Some(&circuit);
        *taken += u32::from(there);
        there
    }

    fn in_order(&self, Circuit { a, b, plane }: Circuit) -> Circuit {
        let (a, b) = match self.directed {
            true => (a, b),
            false => (a.min(b), a.max(b)),
        };
        Circuit { a, b, plane }
    }
}

/// The difference between two sets of circuits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Circuits that stay and are never dark.
    pub kept: Circuits,
    /// Circuits that go dark.
    pub removed: Circuits,
    /// Circuits that come up.
    pub added: Circuits,
}

impl Circuits {
    /// Bidirectional circuits of plane 0 between the racks of each pair.
    pub fn both_ways(pairs: impl IntoIterator<Item = (u32, u32)>) -> Circuits {
        let on_plane_0 = |(a, b)| (a, b, 0);
        Circuits::on_planes(pairs.into_iter().map(on_plane_0))
    }

    /// Bidirectional circuits: two racks and a plane.
    pub fn on_planes(rows: impl IntoIterator<Item = (u32, u32, u32)>) -> Circuits {
        let row = |(a, b, plane): (u32, u32, u32)| Circuit {
            a: a.min(b),
            b: a.max(b),
            plane,
        };
        Circuits {
            directed: false,
            rows: rows.into_iter().map(row).collect(),
        }
    }

    /// Circuits of plane 0 from the first rack of each pair to the second.
    pub fn one_way(pairs: impl IntoIterator<Item = (u32, u32)>) -> Circuits {
        let row = |(a, b)| Circuit { a, b, plane: 0 };
        Circuits {
            directed: true,
            rows: pairs.into_iter().map(row).collect(),
        }
    }

    /// Circuits as given, either all directed or all bidirectional.
    pub fn of(directed: bool, rows: impl IntoIterator<Item = Circuit>) -> Circuits {
        match directed {
            true => Circuits {
                directed,
                rows: rows.into_iter().collect(),
            },
            false => Circuits::on_planes(rows.into_iter().map(|c| (c.a, c.b, c.plane))),
        }
    }

    /// Whether the circuits are directed.
    pub fn directed(&self) -> bool {
        self.directed
    }

    /// The circuits in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Circuit> + '_ {
        self.rows.iter().copied()
    }

    /// Number of circuits.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The racks of each circuit, without its plane.
    pub fn pairs(&self) -> Vec<(u32, u32)> {
        self.iter().map(|c| (c.a, c.b)).collect()
    }

    /// The change from these circuits to `wanted`; each list keeps its own order.
    pub fn change_to(&self, wanted: &Circuits) -> Change {
        let mut there = wanted.index();
        Change {
            kept: self.filtered(|c| there.take(c)),
            removed: self.without(wanted),
            added: wanted.without(self),
        }
    }

    /// The circuits that remain when `others` are removed one for one. Racks with several ports on
    /// a plane may be connected more than once.
    pub fn without(&self, others: &Circuits) -> Circuits {
        let mut others = others.index();
        self.filtered(|c| !others.take(c))
    }

    /// The circuits for which `keep` is true, in their order.
    pub fn filtered(&self, mut keep: impl FnMut(Circuit) -> bool) -> Circuits {
        Circuits {
            directed: self.directed,
            rows: self.iter().filter(|&c| keep(c)).collect(),
        }
    }

    /// An index for many lookups.
    pub fn index(&self) -> Index {
        let mut rows = self.rows.clone();
        rows.sort_unstable();
        Index {
            directed: self.directed,
            taken: vec![0; rows.len()],
            rows,
        }
    }

    /// Refuses circuits that a switch cannot have: a rack or plane that does not exist, a rack
    /// connected to itself, or more circuits than a rack has ports on a plane.
    ///
    /// # Errors
    /// If there is such a circuit; names the first.
    pub fn check(&self, hardware: &Hardware) -> Result<(), Refusal> {
        let Hardware { racks, planes, .. } = *hardware;
        // Transmitters and receivers; a bidirectional port counts as a transmitter.
        let mut taken = [(); 2].map(|()| vec![0; hardware.columns()]);
        for (at, &circuit) in self.rows.iter().enumerate() {
            let Circuit { a, b, plane } = circuit;
            if a >= racks || b >= racks || plane >= planes {
                let limit = format!("racks are 0 to {}, planes 0 to {}", racks - 1, planes - 1);
                return Err(refuse(at, circuit, limit, "join racks that exist"));
            }
            if a == b {
                let limit = "joins a rack with itself".to_owned();
                return Err(refuse(at, circuit, limit, "leave it out"));
            }
            for (rack, side) in [(a, 0), (b, self.directed as usize)] {
                let used = &mut taken[side][hardware.port(rack, plane)];
                *used += 1;
                if *used > hardware.ports {
                    let limit = format!("rack {rack} has no port left that is free");
                    return Err(refuse(at, circuit, limit, "give each port one circuit"));
                }
            }
        }
        Ok(())
    }
}

fn refuse(at: usize, circuit: Circuit, limit: String, remedy: &str) -> Refusal {
    let Circuit { a, b, plane } = circuit;
    let value = format!("({a}, {b}) on plane {plane}");
    Refusal::new(format!("circuits[{at}]"), value, limit, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_engine::Rate;
    use proptest::prelude::*;

    fn switch(racks: u32) -> Hardware {
        Hardware::new(racks, 2, Rate::GBPS)
    }

    #[test]
    fn what_no_switch_can_show_is_refused_by_name() {
        let refused = |circuits: Circuits| circuits.check(&switch(3)).unwrap_err().to_string();
        assert_eq!(
            refused(Circuits::both_ways([(0, 3)])),
            "circuits[0] = (0, 3) on plane 0: racks are 0 to 2, planes 0 to 1; \
             join racks that exist"
        );
        assert!(refused(Circuits::on_planes([(0, 1, 2)])).contains("on plane 2"));
        assert!(refused(Circuits::both_ways([(1, 1)])).contains("with itself"));
        assert_eq!(
            refused(Circuits::both_ways([(0, 1), (2, 1)])),
            "circuits[1] = (1, 2) on plane 0: rack 1 has no port left that is free; \
             give each port one circuit"
        );
        assert!(refused(Circuits::one_way([(0, 1), (2, 1)])).starts_with("circuits[1]"));
        assert!(refused(Circuits::one_way([(0, 1), (0, 2)])).starts_with("circuits[1]"));
        let twice = Circuits::on_planes([(0, 1, 0), (0, 1, 1)]);
        assert!(twice.check(&switch(3)).is_ok());
    }

    proptest! {
        /// Compares the difference with counts of circuits and ports.
        #[test]
        fn a_change_is_a_difference_one_for_one(
            from in prop::collection::vec((0u32..5, 0u32..5, 0u32..2), 0..8),
            to in prop::collection::vec((0u32..5, 0u32..5, 0u32..2), 0..8),
        ) {
            let (from, to) = (Circuits::on_planes(from), Circuits::on_planes(to));
            let change = from.change_to(&to);
            let count = |of: &Circuits, c: Circuit| of.iter().filter(|&d| d == c).count();
            for c in from.iter().chain(to.iter()) {
                let (here, there) = (count(&from, c), count(&to, c));
                prop_assert_eq!(count(&change.kept, c), here.min(there));
                prop_assert_eq!(count(&change.removed, c), here.saturating_sub(there));
                prop_assert_eq!(count(&change.added, c), there.saturating_sub(here));
            }
            prop_assert_eq!(change.kept.len() + change.removed.len(), from.len());
            prop_assert_eq!(change.kept.len() + change.added.len(), to.len());

            let mut ports: Vec<(u32, u32)> = from.iter().flat_map(|c| [(c.a, c.plane), (c.b, c.plane)]).collect();
            let all = ports.len();
            ports.sort_unstable();
            ports.dedup();
            let distinct = from.iter().all(|c| c.a != c.b) && ports.len() == all;
            prop_assert_eq!(from.check(&switch(5)).is_ok(), distinct);
        }
    }
}
