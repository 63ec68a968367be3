//! Overlapping failures of one part: the failures that are in force at each time.
//!
//! A part works while no failure of it is in force. If several failures overlap, their causes are
//! independent: each loses its share of the cells that the others let through. The commands of a
//! run are therefore the changes of the joint loss, and a failure during a total one causes no
//! command.

use crate::fabric::{Command, Element};
use crate::run::Fault;
use crate::time::Time;
use std::collections::BTreeMap;

/// One failure of a part, in force during [`from`, `until`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outage {
    /// The part.
    pub element: Element,
    /// The probability with which it loses a cell or packet: above 0, at most 1.
    pub loss: f64,
    /// Time of the failure.
    pub from: Time,
    /// Time of the repair; `None` if there is none.
    pub until: Option<Time>,
}

/// The beginning or the end of an outage.
#[derive(Clone, Copy, Debug)]
struct Edge {
    at: Time,
    outage: usize,
    begins: bool,
}

/// The commands for `outages`, in order of time and, at one instant, in the order of the outages
/// that cause them.
///
/// ```
/// use lightloom_engine::outages::{commands, Outage};
/// use lightloom_engine::{Command, Element, Time};
/// let outage = |from: i64, until: i64| Outage {
///     element: Element::Plane(0),
///     loss: 1.0,
///     from: Time::MS * from,
///     until: Some(Time::MS * until),
/// };
/// let commands = commands(&[outage(1, 6), outage(2, 3)]);
/// assert_eq!(commands.len(), 2);
/// assert_eq!(commands[1].at, Time::MS * 6);
/// assert_eq!(commands[1].command, Command::Repair(Element::Plane(0)));
/// ```
pub fn commands(outages: &[Outage]) -> Vec<Fault> {
    let mut of_part: BTreeMap<Element, Vec<Edge>> = BTreeMap::new();
    for (outage, &Outage { from, until, .. }) in outages.iter().enumerate() {
        let edges = of_part.entry(outages[outage].element).or_default();
        let edge = |at, begins| Edge { at, outage, begins };
        edges.push(edge(from, true));
        edges.extend(until.map(|at| edge(at, false)));
    }
    let mut commands = Vec::new();
    for (element, mut edges) in of_part {
        edges.sort_by_key(|edge| edge.at);
        changes(element, &edges, outages, &mut commands);
    }
    commands.sort_by_key(|&(cause, Fault { at, .. })| (at, cause));
    commands.into_iter().map(|(_, fault)| fault).collect()
}

/// Adds the changes of one part's loss, each with the outage that causes it.
fn changes(
    element: Element,
    edges: &[Edge],
    outages: &[Outage],
    commands: &mut Vec<(usize, Fault)>,
) {
    // The bits of positive floats are in the order of the numbers.
    let mut in_force: BTreeMap<u64, u32> = BTreeMap::new();
    let mut before = None;
    for instant in edges.chunk_by(|a, b| a.at == b.at) {
        for edge in instant {
            let loss = outages[edge.outage].loss.to_bits();
            let count = in_force.entry(loss).or_default();
            *count = count.wrapping_add_signed(if edge.begins { 1 } else { -1 });
        }
        in_force.retain(|_, count| *count > 0);
        let now = together(&in_force);
        if now == before {
            continue;
        }
        let command = match now {
            Some(loss) => Command::Fail { element, loss },
            None => Command::Repair(element),
        };
        let at = instant[0].at;
        commands.push((instant[0].outage, Fault { at, command }));
        before = now;
    }
}

/// The joint loss of the failures in force, 1 − ∏(1 − loss); for a single failure exactly its loss;
/// `None` if there is none. `in_force` has the number of failures by the bits of their loss.
fn together(in_force: &BTreeMap<u64, u32>) -> Option<f64> {
    let mut losses = in_force
        .iter()
        .flat_map(|(&loss, &count)| std::iter::repeat_n(f64::from_bits(loss), count as usize));
    let first = losses.next()?;
    let rest: Vec<f64> = losses.collect();
    match rest.is_empty() {
        true => Some(first),
        false => Some(
            1.0 - rest
                .iter()
                .fold(1.0 - first, |pass, loss| pass * (1.0 - loss)),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PARTS: [Element; 3] = [
        Element::Node(0),
        Element::Transceiver { node: 0, uplink: 0 },
        Element::Controller,
    ];

    fn outage(element: Element, loss: f64, from: i64, until: Option<i64>) -> Outage {
        Outage {
            element,
            loss,
            from: Time(from),
            until: until.map(Time),
        }
    }

    fn of_node(spans: &[(i64, Option<i64>)]) -> Vec<Fault> {
        let node = PARTS[0];
        let outages = spans.iter().map(|&(a, b)| outage(node, 1.0, a, b));
        commands(&outages.collect::<Vec<_>>())
    }

    #[test]
    fn overlapping_outages_are_their_union() {
        let union = of_node(&[(1, Some(6))]);
        assert_eq!(union.len(), 2);
        for spans in [
            &[(1, Some(6)), (2, Some(3))][..],
            &[(2, Some(3)), (1, Some(6))],
            &[(1, Some(6)), (1, Some(6))],
            &[(1, Some(3)), (3, Some(6))],
            &[(3, Some(6)), (1, Some(3))],
            &[(1, Some(4)), (2, Some(5)), (3, Some(6))],
            &[(1, Some(6)), (2, Some(6)), (2, Some(3))],
        ] {
            assert_eq!(of_node(spans), union, "{spans:?}");
        }
        let for_ever = of_node(&[(1, None), (2, Some(3))]);
        assert_eq!(for_ever, of_node(&[(1, None)]));
        assert_eq!(of_node(&[(1, Some(3)), (4, Some(6))]).len(), 4);
    }

    #[test]
    fn losses_that_overlap_multiply_what_passes() {
        let node = PARTS[0];
        let losses = |given: &[f64]| {
            let outages = given.iter().map(|&loss| outage(node, loss, 1, None));
            match commands(&outages.collect::<Vec<_>>())[..] {
                [Fault {
                    command: Command::Fail { loss, .. },
                    ..
                }] => loss,
                ref others => panic!("{others:?}"),
            }
        };
        assert_eq!(losses(&[0.1]), 0.1);
        assert_eq!(losses(&[0.5, 0.5]), 0.75);
        assert_eq!(losses(&[0.5, 0.5, 0.25]), 0.8125);
        assert_eq!(losses(&[0.1, 1.0]), 1.0);
    }

    #[test]
    fn a_total_failure_covers_a_grey_one() {
        let node = PARTS[0];
        let grey = outage(node, 0.25, 1, Some(6));
        let dead = outage(node, 1.0, 2, Some(3));
        let at = |at, command| Fault {
            at: Time(at),
            command,
        };
        let fail = |loss| Command::Fail {
            element: node,
            loss,
        };
        let expected = [
            at(1, fail(0.25)),
            at(2, fail(1.0)),
            at(3, fail(0.25)),
            at(6, Command::Repair(node)),
        ];
        assert_eq!(commands(&[grey, dead]), expected);
        assert_eq!(commands(&[dead, grey]), expected);
    }

    /// Computes the commands by brute force, instant by instant.
    fn loss_at(outages: &[Outage], part: Element, at: Time) -> f64 {
        let here = outages.iter().filter(|o| o.element == part);
        let now = here.filter(|o| o.from <= at && o.until.is_none_or(|until| at < until));
        1.0 - now.map(|o| 1.0 - o.loss).product::<f64>()
    }

    fn any_outage() -> impl Strategy<Value = Outage> {
        let span = (0i64..20, prop::option::of(1i64..10));
        let loss = prop_oneof![Just(1.0), Just(0.5), Just(0.25)];
        (0..PARTS.len(), loss, span).prop_map(|(part, loss, (from, length))| {
            outage(PARTS[part], loss, from, length.map(|l| from + l))
        })
    }

    proptest! {
        #[test]
        fn commands_set_the_loss_in_force(outages in prop::collection::vec(any_outage(), 0..12)) {
            let commands = commands(&outages);
            prop_assert!(commands.is_sorted_by_key(|c| c.at));
            let mut set = [0.0; PARTS.len()];
            let mut next = commands.iter().peekable();
            for at in (0..40).map(Time) {
                while let Some(fault) = next.next_if(|fault| fault.at == at) {
                    let (element, loss) = match fault.command {
                        Command::Fail { element, loss } => (element, loss),
                        Command::Repair(element) => (element, 0.0),
                    };
                    let part = PARTS.iter().position(|&p| p == element).unwrap();
                    prop_assert!(set[part] != loss, "a command that changes nothing");
                    set[part] = loss;
                }
                for (part, &loss) in PARTS.iter().zip(&set) {
                    prop_assert_eq!(loss, loss_at(&outages, *part, at));
                }
            }
        }
    }
}
