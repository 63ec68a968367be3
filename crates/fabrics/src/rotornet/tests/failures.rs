//! A failed rotor switch: the remaining capacity, the pairs that are never served, and the effect
//! of a repair. With S switches, switch s has the matchings that connect racks s + 1, S + s + 1, …
//! places apart.

use super::{built, cluster, Row};
use lightloom_engine::{Command, Element, Rate, Time};
use serde_json::json;

const RATE: Rate = Rate(10 * Rate::GBPS.0);
/// 180 us of a slot at 10 Gb/s: 150 packets of 1,500 B.
const SLOT_CARRIES: u64 = 225_000;
const SLOT: Time = Time(200 * Time::US.0);
const ENDLESS: u64 = 1 << 44;

fn fail(plane: u32) -> Command {
    Command::Fail {
        element: Element::Plane(plane),
        loss: 1.0,
    }
}

/// Whether switch `plane` of `switches` has the pair of racks.
fn has((a, b): (u32, u32), racks: u32, switches: u32, plane: u32) -> bool {
    let places = (b + racks - a) % racks;
    (places - 1) % switches == plane
}

fn every_pair(racks: u32) -> Vec<(u32, u32)> {
    let others = |a| (0..racks).filter(move |&b| b != a).map(move |b| (a, b));
    (0..racks).flat_map(others).collect()
}

/// Bytes that flows of equal size each get in a number of cycles if a switch has failed throughout.
fn gets(
    (racks, switches): (u32, u32),
    indirect: &str,
    dead: u32,
    bytes: u64,
    cycles: i64,
) -> Vec<u64> {
    let table = json!({"switches": switches, "link_rate": "10 Gb/s", "indirect": indirect});
    let row = |&(a, b): &(u32, u32)| -> Row { (a, b, bytes, Time::ZERO) };
    let rows: Vec<Row> = every_pair(racks).iter().map(row).collect();
    let (mut fabric, mut io) = built(&cluster(racks, RATE), &table, &rows);
    fabric.apply(fail(dead)).expect("it has such a switch");
    let cycle = SLOT * i64::from((racks - 1).div_ceil(switches));
    fabric.advance(cycle * cycles + Time(1), &mut io);
    io.flows.delivered.clone()
}

/// With traffic from all to all without relays, pairs of the dead switch get nothing, and the
/// others are not affected: 1 - 1/S of the capacity remains if S divides N - 1.
#[test]
fn all_but_the_pairs_of_the_dead_switch_get_their_slots() {
    for (racks, switches) in [(9, 4), (16, 4), (11, 3), (8, 7), (16, 5), (6, 1)] {
        for dead in 0..switches {
            let got = gets((racks, switches), "none", dead, ENDLESS, 5);
            for (pair, &got) in every_pair(racks).into_iter().zip(&got) {
                let lost = has(pair, racks, switches, dead);
                let expected = if lost { 0 } else { 5 * SLOT_CARRIES };
                assert_eq!(got, expected, "{pair:?} of {racks}, {switches}, {dead}");
            }
            let matchings = (dead..racks - 1).step_by(switches as usize).count() as u64;
            let all = u64::from(racks) * (u64::from(racks) - 1 - matchings);
            assert_eq!(got.iter().sum::<u64>(), all * 5 * SLOT_CARRIES);
            if (racks - 1).is_multiple_of(switches) {
                let sound = u64::from(racks * (racks - 1)) * 5 * SLOT_CARRIES;
                assert_eq!(
                    all * 5 * SLOT_CARRIES * u64::from(switches),
                    sound * u64::from(switches - 1)
                );
            }
        }
    }
}

/// With relays the traffic of the dead switch's pairs goes via racks that meet both ends, if two
/// steps of the other switches add up to the distance. The test counts this for each pair.
#[test]
fn relays_carry_the_pairs_of_the_dead_switch_where_two_steps_make_up_the_distance() {
    let bytes = 6_000;
    let mut waits = 0;
    for (racks, switches) in [(9, 4), (16, 4), (8, 7), (8, 2), (11, 3)] {
        for dead in 0..switches {
            let got = gets((racks, switches), "rotorlb", dead, bytes, 60);
            let works = |places: u32| places != 0 && (places - 1) % switches != dead;
            let reached = |places: u32| {
                works(places) || (1..racks).any(|q| works(q) && works((racks + places - q) % racks))
            };
            for (pair, &got) in every_pair(racks).into_iter().zip(&got) {
                let places = (pair.1 + racks - pair.0) % racks;
                let expected = if reached(places) { bytes } else { 0 };
                assert_eq!(got, expected, "{pair:?} of {racks}, {switches}, {dead}");
                waits += u32::from(expected == 0);
            }
        }
    }
    // Two even steps never add up to an odd distance: 8 racks × 4 distances.
    assert_eq!(waits, 32);
}

/// A switch that fails in its day completes this day; after a repair it lights its next slot.
#[test]
fn a_switch_dies_and_comes_back_with_its_nights() {
    let table = json!({"switches": 1, "link_rate": "10 Gb/s", "indirect": "none"});
    // From 0 to 1 in slots 0, 2, 4, …
    let rows: [Row; 1] = [(0, 1, ENDLESS, Time::ZERO)];
    let (mut fabric, mut io) = built(&cluster(3, RATE), &table, &rows);
    let after = |slots: i64| SLOT * slots + Time(1);
    let lit = |fabric: &dyn lightloom_engine::Fabric, slots: i64| {
        let (from, until) = (SLOT * slots, SLOT * (slots + 1));
        let circuits = fabric.circuits(SLOT * 20);
        let during = |c: &&lightloom_engine::Circuit| c.from < until && from < c.until;
        circuits.iter().filter(during).count()
    };
    fabric.advance(SLOT + SLOT * 3 / 2, &mut io);
    fabric.apply(fail(0)).unwrap();
    fabric.advance(after(3), &mut io);
    assert_eq!(io.flows.delivered[0], 2 * SLOT_CARRIES, "slots 0 and 2");
    fabric.advance(after(6) + SLOT / 2, &mut io);
    assert_eq!(io.flows.delivered[0], 2 * SLOT_CARRIES, "slot 4 is dark");
    fabric.apply(Command::Repair(Element::Plane(0))).unwrap();
    fabric.advance(after(7), &mut io);
    assert_eq!(io.flows.delivered[0], 2 * SLOT_CARRIES, "slot 6 had begun");
    fabric.advance(after(9), &mut io);
    assert_eq!(io.flows.delivered[0], 3 * SLOT_CARRIES, "slot 8");
    let seen: Vec<usize> = (0..9).map(|slot| lit(&*fabric, slot)).collect();
    assert_eq!(seen, [3, 3, 3, 0, 0, 0, 0, 3, 3]);
}

#[test]
fn what_cannot_die_is_refused() {
    let table = json!({"switches": 2});
    let (mut fabric, _) = built(&cluster(5, RATE), &table, &[]);
    let mut told = |element, loss| {
        let told = fabric.apply(Command::Fail { element, loss });
        told.expect_err("refused").0
    };
    assert_eq!(
        told(Element::Plane(2), 1.0),
        "RotorNet has planes 0 to 1; lower it"
    );
    assert_eq!(
        told(Element::Plane(1), 0.5),
        "switches fail wholly, not with loss 0.5; set its loss to 1"
    );
    assert_eq!(
        told(Element::Controller, 1.0),
        "RotorNet has no controller; remove it"
    );
    assert_eq!(
        told(Element::Grating(0), 1.0),
        "in RotorNet the rotor switches alone can fail; write element = \"plane\", or remove it"
    );
}
