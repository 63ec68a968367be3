//! Actions in words, for messages and for tables that people read.
//!
//! A circuit is `0-1`, or `0>1` if it is directed; where it is not on plane 0, its plane
//! follows: `0-1/2`. A route is the racks that it visits: `0-3-1`, `0-3/2-1`.

use crate::circuits::{Circuit, Circuits};
use crate::controller::Action;
use crate::routes::{Pair, Routes};
use crate::schedule::Schedule;

/// An action, in a line.
///
/// ```
/// use lightloom_control::circuits::Circuits;
/// use lightloom_control::controller::{Action, StepId};
/// use lightloom_control::words::in_words;
/// use lightloom_engine::Time;
/// let circuits = Circuits::on_planes([(0, 1, 0), (3, 2, 1)]);
/// assert_eq!(in_words(&Action::Light(StepId(2), circuits)), "light 2: 0-1, 2-3/1");
/// assert_eq!(in_words(&Action::WakeAt(Time::MS * 10)), "wake at 10 ms");
/// ```
pub fn in_words(action: &Action) -> String {
    match action {
        Action::Measure => "measure".to_owned(),
        Action::WakeAt(at) => format!("wake at {at}"),
        Action::Drain(step, pairs) => format!("drain {}: {}", step.0, of_pairs(pairs)),
        Action::Dark(step, circuits) => format!("dark {}: {}", step.0, of_circuits(circuits)),
        Action::Light(step, circuits) => format!("light {}: {}", step.0, of_circuits(circuits)),
        Action::Route(step, routes) => format!("route {}: {}", step.0, of_routes(routes)),
        Action::Enter(step, pairs, routes) => {
            let back = match pairs.is_empty() {
                true => String::new(),
                false => format!("; undrain {}", of_pairs(pairs)),
            };
            format!("enter {}: {}{back}", step.0, of_routes(routes))
        }
        Action::Follow(step, schedule) => format!("follow {}: {}", step.0, of_schedule(schedule)),
    }
}

fn listed(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    match items.is_empty() {
        true => "none".to_owned(),
        false => items.join(", "),
    }
}

fn of_pairs(pairs: &[Pair]) -> String {
    listed(pairs.iter().map(|(a, b)| format!("{a}-{b}")))
}

/// Circuits, in their order.
pub(crate) fn of_circuits(circuits: &Circuits) -> String {
    let sign = sign(circuits.directed());
    let one = |c: Circuit| format!("{}{sign}{}{}", c.a, c.b, of_plane(c.plane));
    listed(circuits.iter().map(one))
}

fn of_routes(routes: &Routes) -> String {
    let sign = sign(routes.directed());
    let one = |hops: &mut dyn Iterator<Item = Circuit>| {
        let mut text = String::new();
        for hop in hops {
            if text.is_empty() {
                text = hop.a.to_string();
            }
            text += &format!("{sign}{}{}", hop.b, of_plane(hop.plane));
        }
        text
    };
    listed(routes.iter().map(|(_, route)| one(&mut route.hops())))
}

fn sign(directed: bool) -> char {
    if directed {
        '>'
    } else {
        '-'
    }
}

fn of_plane(plane: u32) -> String {
    match plane {
        0 => String::new(),
        plane => format!("/{plane}"),
    }
}

fn of_schedule(schedule: &Schedule) -> String {
    let (slots, ports) = (schedule.slots.len(), schedule.ports);
    format!("{slots} slots of {ports} ports in {}", schedule.period())
}
