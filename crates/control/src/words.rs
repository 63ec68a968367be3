//! Actions as text, for messages and for tables that people read.
//!
//! A circuit is `0-1`, or `0>1` if it is directed. A plane other than 0 follows: `0-1/2`. A route
//! is the list of its racks: `0-3-1`, `0-3/2-1`.

use crate::circuits::{Circuit, Circuits};
use crate::controller::Action;
use crate::routes::{Pair, Routes};
use crate::schedule::{Schedule, Slot};

/// An action in one line.
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
        Action::Drain(step, pairs, staying) => {
            let beside = match staying.is_empty() {
                true => String::new(),
                false => format!("; stay {}", of_routes(staying)),
            };
            format!("drain {}: {}{beside}", step.0, of_pairs(pairs))
        }
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

/// Circuits in their order.
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

/// Different texts for two different actions: schedules with the same number of slots and the same
/// length differ in a night, a day or a circuit.
pub(crate) fn apart(one: &Action, other: &Action) -> (String, String) {
    let (mut first, mut second) = (in_words(one), in_words(other));
    if let (Action::Follow(_, a), Action::Follow(_, b), true) = (one, other, first == second) {
        if let Some((here, there)) = first_difference(a, b) {
            first += &format!("; {here}");
            second += &format!("; {there}");
        }
    }
    (first, second)
}

/// The first difference of two schedules with the same number of slots.
fn first_difference(one: &Schedule, other: &Schedule) -> Option<(String, String)> {
    if one.night != other.night {
        let told = |schedule: &Schedule| format!("nights of {}", schedule.night);
        return Some((told(one), told(other)));
    }
    let mut slots = one.slots.iter().zip(&other.slots).enumerate();
    let (at, (a, b)) = slots.find(|(_, (a, b))| a != b)?;
    if a.day != b.day {
        let told = |slot: &Slot| format!("slots[{at}] has a day of {}", slot.day);
        return Some((told(a), told(b)));
    }
    let mut ports = a.permutation.iter().zip(&b.permutation).enumerate();
    let (from, (to, instead)) = ports.find(|(_, (to, instead))| to != instead)?;
    let told = |to: &u32| match from == *to as usize {
        true => format!("slots[{at}] leaves {from} dark"),
        false => format!("slots[{at}] has {from}>{to}"),
    };
    Some((told(to), told(instead)))
}

fn of_schedule(schedule: &Schedule) -> String {
    let (slots, ports) = (schedule.slots.len(), schedule.ports);
    format!("{slots} slots of {ports} ports in {}", schedule.period())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::StepId;
    use lightloom_engine::Time;

    #[test]
    fn schedules_of_as_many_slots_are_told_apart() {
        let ring = Schedule::round_robin(4, Time::US, Time::NS).unwrap();
        let told = |change: &dyn Fn(&mut Schedule)| {
            let mut other = ring.clone();
            change(&mut other);
            let follow = |schedule: &Schedule| Action::Follow(StepId(1), schedule.clone());
            let (here, there) = apart(&follow(&ring), &follow(&other));
            assert_ne!(here, there);
            let all = in_words(&follow(&ring));
            let beyond = |text: String| text.strip_prefix(&all).map(str::to_owned);
            (beyond(here), beyond(there))
        };
        let both = |here: &str, there: &str| (Some(here.to_owned()), Some(there.to_owned()));
        // In a round robin, rack a sends to a + 1 in the first slot and to a + 2 in the second.
        assert_eq!(
            told(&|s| s.slots[1].permutation = vec![2, 3, 1, 0]),
            both("; slots[1] has 2>0", "; slots[1] has 2>1")
        );
        assert_eq!(
            told(&|s| s.slots[0].permutation = vec![0, 2, 3, 1]),
            both("; slots[0] has 0>1", "; slots[0] leaves 0 dark")
        );
        let longer = |s: &mut Schedule| {
            s.slots[1].day += Time::NS;
            s.slots[2].day += Time(-1_000);
        };
        assert_eq!(
            told(&longer),
            both(
                "; slots[1] has a day of 1 us",
                "; slots[1] has a day of 1.001 us"
            )
        );
    }
}
