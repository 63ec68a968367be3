//! The interface of a policy: it receives demand and the state of the switch, and returns a target.
//!
//! The [controller](crate::controller) determines when a policy decides, how long a decision may
//! take and in which order a change is carried out. The controller's host measures demand and
//! operates the switch.

use crate::algorithms::{assignment, matching, multihop};
use crate::circuits::{Circuit, Circuits};
use crate::demand::Matrix;
use crate::hardware::{Hardware, Pair, Slots};
use crate::order::Order;
use crate::routes::Routes;
use crate::schedule::Schedule;
use lightloom_engine::{Refusal, Time};
use std::fmt;

/// The demand between racks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Racks × racks [bytes]; all zeros if there is no demand.
    pub bytes: Matrix,
    /// The time that the demand is for: the interval between decisions.
    pub over: Time,
}

/// The present state of the switch.
#[derive(Clone, Copy, Debug)]
pub struct SwitchView<'a> {
    /// Racks, planes, ports and rate.
    pub hardware: Hardware,
    /// The lit circuits.
    pub lit: &'a Circuits,
    /// Whether each port works, at [`Hardware::port`].
    pub works: &'a [bool],
    /// The limits of its slots if it follows only schedules; otherwise the policy plans the night
    /// of a schedule.
    pub slots: Option<Slots>,
}

impl SwitchView<'_> {
    /// Whether the port of `rack` on `plane` works.
    pub fn works(&self, rack: u32, plane: u32) -> bool {
        self.works[self.hardware.port(rack, plane)]
    }
}

/// Rules that a user has set, for any demand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Bidirectional circuits that always exist, the lower rack first.
    pub pinned: Vec<Circuit>,
    /// Pairs of racks that no circuit connects.
    pub apart: Vec<Pair>,
}

/// The decision of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Circuits that stay until the next decision, and the routes over them.
    Network {
        /// The circuits to light.
        circuits: Circuits,
        /// Routes over these circuits only.
        routes: Routes,
    },
    /// Matchings of directed circuits that take turns until the next decision.
    Schedule(Schedule),
}

impl Target {
    /// Circuits that each carry the traffic between their own two racks.
    pub fn direct(circuits: Circuits) -> Target {
        Target::Network {
            routes: Routes::direct(&circuits),
            circuits,
        }
    }

    /// Refuses a target that the switch cannot have.
    ///
    /// # Errors
    /// If a circuit uses ports that do not exist, are taken or do not work; if a route uses a
    /// circuit that is not in the target; if a schedule has another size or is for a switch with
    /// several planes. Names the circuit, the route or the slot.
    pub fn check(&self, switch: &SwitchView) -> Result<(), Refusal> {
        match self {
            Target::Network { circuits, routes } => {
                circuits.check(&switch.hardware)?;
                check_ports(circuits, switch)?;
                check_routes(routes, circuits)
            }
            Target::Schedule(schedule) => schedule.check_for(&switch.hardware),
        }
    }
}

/// The number of circuits that a message lists.
const LISTED: usize = 8;

/// One line for messages: circuits in the form in which a policy in Python returns them.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let circuits = match self {
            Target::Network { circuits, .. } => circuits,
            Target::Schedule(schedule) => {
                return write!(f, "a schedule of {} slots", schedule.slots.len());
            }
        };
        let one_plane = circuits.iter().all(|c| c.plane == 0);
        let shown = circuits.iter().take(LISTED).map(|c| match one_plane {
            true => format!("({}, {})", c.a, c.b),
            false => format!("({}, {}, {})", c.a, c.b, c.plane),
        });
        let more = circuits.len().saturating_sub(LISTED);
        let more = (more > 0).then(|| format!("… {more} more"));
        let rows: Vec<String> = shown.chain(more).collect();
        let way = if circuits.directed() { " one way" } else { "" };
        write!(f, "[{}]{way}", rows.join(", "))
    }
}

fn check_ports(circuits: &Circuits, switch: &SwitchView) -> Result<(), Refusal> {
    for (at, c) in circuits.iter().enumerate() {
        let broken = [c.a, c.b].into_iter().find(|&r| !switch.works(r, c.plane));
        if let Some(rack) = broken {
            return Err(Refusal::new(
                format!("circuits[{at}]"),
                format!("({}, {}) on plane {}", c.a, c.b, c.plane),
                format!("the port of rack {rack} does not work"),
                "ask the switch which ports work",
            ));
        }
    }
    Ok(())
}

fn check_routes(routes: &Routes, circuits: &Circuits) -> Result<(), Refusal> {
    let lit = circuits.index();
    for (pair, route) in routes.iter() {
        for hop in route.hops() {
            if !lit.holds(hop) {
                return Err(Refusal::new(
                    format!("route of racks {} and {}", pair.0, pair.1),
                    format!("over ({}, {}) on plane {}", hop.a, hop.b, hop.plane),
                    "the route uses a circuit that is not requested",
                    "add the circuit, or use another path",
                ));
            }
        }
    }
    Ok(())
}

/// Evidence for the quality of a decision.
#[derive(Clone, Copy, Debug)]
pub enum Evidence<'a> {
    /// A matching with its certificate, and the weights of this certificate.
    Matching {
        /// The maximum-weight matching.
        matching: &'a matching::Matching,
        /// Demand of both directions, with a bonus for lit circuits.
        weights: &'a matching::Weights,
    },
    /// An assignment with its potentials.
    Assignment(&'a assignment::Assignment),
    /// A topology with its demands, and the options of its search.
    Topology(&'a multihop::Topology, multihop::Options),
    /// An upper bound on the bytes that any schedule of the same frame carries.
    Covers(i64),
    /// The time at which all demand is served, and a lower bound on this time.
    Completes {
        /// The time at which all demand is served, by circuits or by packets.
        at: Time,
        /// A lower bound on this time for every schedule.
        bound: Time,
    },
}

/// Decides which racks are connected.
///
/// A policy may have state (previous circuits, turns), but it has no clock, no input or output and
/// no random source of its own: the same calls give the same answers.
pub trait Policy: Send {
    /// Returns the target, given the demand of the racks and the lit circuits.
    ///
    /// # Errors
    /// The named reason for which it cannot decide.
    fn decide(&mut self, seen: &Demand, switch: &SwitchView) -> Result<Target, Refusal>;

    /// The order in which a change to other circuits is carried out.
    fn order(&self) -> Order;

    /// The time that the last decision took, if it was measured or recorded; otherwise the
    /// controller's given computation time applies.
    fn took(&self) -> Option<Time> {
        None
    }

    /// Evidence for the quality of the last decision.
    fn evidence(&self) -> Option<Evidence<'_>> {
        None
    }

    /// Sets rules for all later decisions; returns false if the policy does not support rules; the
    /// caller then applies the rules.
    fn lay_down(&mut self, _: &Rules) -> bool {
        false
    }
}

impl<P: Policy + ?Sized> Policy for Box<P> {
    fn decide(&mut self, seen: &Demand, switch: &SwitchView) -> Result<Target, Refusal> {
        (**self).decide(seen, switch)
    }
    fn order(&self) -> Order {
        (**self).order()
    }
    fn took(&self) -> Option<Time> {
        (**self).took()
    }
    fn evidence(&self) -> Option<Evidence<'_>> {
        (**self).evidence()
    }
    fn lay_down(&mut self, rules: &Rules) -> bool {
        (**self).lay_down(rules)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_told_in_a_line() {
        let told = |circuits: Circuits| Target::direct(circuits).to_string();
        assert_eq!(
            told(Circuits::both_ways([(0, 1), (3, 2)])),
            "[(0, 1), (2, 3)]"
        );
        assert_eq!(told(Circuits::one_way([(3, 2)])), "[(3, 2)] one way");
        let planes = Circuits::on_planes([(0, 1, 0), (0, 2, 1)]);
        assert_eq!(told(planes), "[(0, 1, 0), (0, 2, 1)]");
        let many = told(Circuits::both_ways((0..10).map(|a| (a, a + 10))));
        assert!(many.ends_with("(7, 17), … 2 more]"), "{many}");
        assert_eq!(told(Circuits::default()), "[]");
    }
}
