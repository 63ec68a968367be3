//! Oracles of Mordia: duty cycles, bytes that schedules carry, refusals.

use super::ENTRY;
use crate::contract::Site;
use crate::tdma::testing;
use lightloom_control::algorithms::birkhoff::{self, Scaling};
use lightloom_control::algorithms::{eclipse, solstice};
use lightloom_control::demand::Matrix;
use lightloom_control::schedule::{Frame, Schedule};
use lightloom_engine::{Cluster, Command, Element, Fabric, Flows, HostId, Io, Nic, Rate, Time};
use serde_json::{json, Value};

mod kernel;
mod packet_switch;
mod replays;
mod solstice_promise;

/// Each of `racks` racks has one server of 10 Gb/s.
fn cluster(racks: u32) -> Cluster {
    testing::cluster(racks, Rate(10 * Rate::GBPS.0))
}

fn built(cluster: &Cluster, table: &Value, flows: Flows) -> (Box<dyn Fabric>, Io) {
    testing::built(&ENTRY, cluster, table, flows)
}

/// A flow for every entry of a demand, at time zero.
fn of_demand(demand: &Matrix) -> Flows {
    let mut flows = Flows::new();
    for (from, to, bytes) in demand.entries() {
        flows.push(
            HostId(from as u32),
            HostId(to as u32),
            bytes as u64,
            Time::ZERO,
        );
    }
    flows
}

fn every_pair(racks: usize, bytes: i64) -> Matrix {
    let mut demand = Matrix::zeros(racks);
    for a in 0..racks {
        for b in (0..racks).filter(|&b| b != a) {
            demand.set(a, b, bytes);
        }
    }
    demand
}

/// §6.1: T = 106 us and t_setup = 11.5 us give a duty cycle of 89.15 %, and in saturation
/// each pair gets its day at the rate of the circuit, to the byte.
#[test]
fn saturated_bytes_are_days_at_the_rate() {
    let racks = 24;
    let demand = every_pair(racks, 1 << 40);
    // A day of 94.5 us carries 118,125 B, which are 105 packets.
    let table = json!({"policy": "rotation", "packet": "1125 B"});
    let (mut fabric, mut io) = built(&cluster(24), &table, of_demand(&demand));
    let round = Time::US * 106 * 23;
    fabric.advance(round * 4 + Time(1), &mut io);
    assert!(io.flows.delivered.iter().all(|&bytes| bytes == 4 * 118_125));
    let duty = fabric
        .lit_for(round * 4)
        .expect("it has days")
        .as_secs_f64()
        / (round * 4).as_secs_f64();
    assert!((duty - 0.8915).abs() < 1e-4, "{duty}");
    // With packets of 9,000 B the day's last 1,125 B are not used.
    let table = json!({"policy": "rotation", "packet": "9000 B"});
    let (mut fabric, mut io) = built(&cluster(24), &table, of_demand(&demand));
    fabric.advance(round * 4 + Time(1), &mut io);
    assert!(io
        .flows
        .delivered
        .iter()
        .all(|&bytes| bytes == 4 * 13 * 9_000));
}

/// Uniform traffic below saturation: the backlog of a round robin does not grow. Every pair has 100
/// KB per round, of 118 KB that its day carries.
#[test]
fn a_round_robin_serves_uniform_traffic_up_to_its_duty_cycle() {
    let racks = 8;
    let round = Time::US * 106 * 7;
    let delivered = |bytes: u64| {
        let mut flows = Flows::new();
        for turn in 0..20 {
            for (a, b, _) in every_pair(racks, 1).entries() {
                flows.push(HostId(a as u32), HostId(b as u32), bytes, round * turn);
            }
        }
        let all = flows.total_bytes();
        let (mut fabric, mut io) = built(&cluster(8), &json!({"policy": "rotation"}), flows);
        fabric.advance(round * 20 + Time(1), &mut io);
        io.ledger.delivered as f64 / all as f64
    };
    assert_eq!(delivered(117_000), 1.0);
    // 78 packets of 1,500 B a day, of 134.
    assert!((delivered(201_000) - 78.0 / 134.0).abs() < 1e-12);
}

const SKEWED: [i64; 16] = [
    0, 900_000, 40_000, 10_000, //
    70_000, 0, 800_000, 60_000, //
    30_000, 20_000, 0, 700_000, //
    850_000, 50_000, 90_000, 0,
];

/// In one period the network carries the whole demand for which a schedule was planned, to the
/// byte, for every policy.
#[test]
fn a_schedule_serves_its_own_demand() {
    let demand = Matrix::new(4, 4, SKEWED.to_vec()).expect("square");
    let rate = Rate(10 * Rate::GBPS.0);
    let frame = Frame {
        night: Time(11_500_000),
        shortest: Time::US * 61,
        ..Frame::of(Time::MS)
    };
    let planned: [(Value, Schedule); 3] = [
        (
            json!("tms"),
            birkhoff::plan(
                &demand,
                Scaling::Sinkhorn(Default::default()),
                &Frame {
                    max_slots: 1_000,
                    ..frame
                },
            )
            .expect("a plan"),
        ),
        (
            json!("eclipse"),
            eclipse::plan(
                &demand,
                &eclipse::Options::new(
                    rate,
                    Frame {
                        max_slots: 1_000,
                        ..frame
                    },
                ),
            )
            .expect("a plan")
            .schedule,
        ),
        (
            json!("solstice"),
            solstice::plan(
                &demand,
                &solstice::Network {
                    circuit: rate,
                    packet: Rate(0),
                    night: frame.night,
                },
            )
            .expect("a plan")
            .schedule,
        ),
    ];
    for (policy, schedule) in planned {
        // Solstice has no shortest slot.
        let shortest = if policy == "solstice" {
            "12 us"
        } else {
            "61 us"
        };
        let table = json!({
            "policy": policy, "interval": "1 ms", "packet": "1 B", "shortest_slot": shortest,
        });
        let (mut fabric, mut io) = built(&cluster(4), &table, of_demand(&demand));
        let end = Time::MS + schedule.period().min(Time::MS);
        fabric.advance(end + Time(1), &mut io);
        let carried = schedule.carried(&demand, rate).bytes;
        assert_eq!(io.ledger.delivered, carried as u64, "{policy}");
        assert!(carried > 2_000_000, "{policy}: {carried}");
    }
}

/// TMS and Eclipse plan bytes, for any packet size: in each day a circuit carries at most one
/// packet less than planned.
#[test]
fn plans_of_bytes_leave_less_than_a_packet_a_day() {
    let demand = Matrix::new(4, 4, SKEWED.iter().map(|b| b * 50).collect()).expect("square");
    for policy in ["tms", "eclipse"] {
        let carried = |packet: &str| {
            let table = json!({"policy": policy, "interval": "1 ms", "packet": packet});
            let (mut fabric, mut io) = built(&cluster(4), &table, of_demand(&demand));
            // Includes a day that ends at this instant.
            fabric.advance(Time::MS * 2 + Time(1), &mut io);
            let days = fabric.circuits(Time::MS * 2).len() as u64;
            (io.ledger.delivered, days)
        };
        let (whole, days) = carried("1500 B");
        let (bytes, same) = carried("1 B");
        assert_eq!(days, same, "{policy}");
        assert!(
            whole < bytes && bytes - whole < 1_500 * days,
            "{policy}: {whole} of {bytes} B in {days} days"
        );
    }
}

/// No schedule carries more than the busiest port could carry while it is lit.
#[test]
fn tms_stays_below_the_fluid_bound_and_above_round_robin() {
    let demand = Matrix::new(4, 4, SKEWED.to_vec()).expect("square");
    let scaled = Matrix::new(4, 4, SKEWED.iter().map(|b| b * 50).collect()).expect("square");
    let carried = |policy: &str| {
        let table = json!({"policy": policy, "interval": "1 ms"});
        let (mut fabric, mut io) = built(&cluster(4), &table, of_demand(&scaled));
        fabric.advance(Time::MS * 21, &mut io);
        (
            io.ledger.delivered,
            fabric.lit_for(Time::MS * 21).expect("days"),
        )
    };
    let (tms, lit) = carried("mordia");
    let (rotation, _) = carried("rotation");
    let bound = 4 * Rate(10 * Rate::GBPS.0).bytes_in(lit);
    assert!(tms <= bound, "{tms} {bound}");
    // Four pairs have 86 % of the demand, and round robin gives them a third of the time.
    assert!(tms as f64 > 0.9 * bound as f64, "{tms} of {bound}");
    assert!(tms as f64 > 1.5 * rotation as f64, "{tms} {rotation}");
    assert!(
        demand.total() * 50 > tms as i64,
        "or else there would be no saturation"
    );
}

/// Solstice lights a pair exactly for its demand, so it must include the delay of the interfaces.
#[test]
fn policies_plan_for_the_delay_of_interfaces() {
    let demand = Matrix::new(4, 4, SKEWED.to_vec()).expect("square");
    for policy in ["solstice", "eclipse", "mordia", "rotation"] {
        let table = json!({"policy": policy, "interval": "1 ms", "nic_delay": "23 us"});
        let (mut fabric, mut io) = built(&cluster(4), &table, of_demand(&demand));
        fabric.advance(Time::MS * 20, &mut io);
        assert_eq!(io.ledger.in_flight(), 0, "{policy}");
        // No rack sends sooner than 34.5 us after the tear-down.
        let first = io.flows.start.iter().min().expect("flows");
        let rotation = policy == "rotation";
        let begins = if rotation { Time::ZERO } else { Time::MS };
        assert_eq!(*first, begins + Time(34_500_000), "{policy}");
        let light = fabric.circuits(Time::MS * 20)[0].from;
        assert_eq!(light, begins + Time(11_500_000), "{policy}");
    }
}

/// Schedules as long as the interval follow each other without a gap: each decision is in
/// force when its interval begins.
#[test]
fn decisions_follow_each_other() {
    let scaled = Matrix::new(4, 4, SKEWED.iter().map(|b| b * 50).collect()).expect("square");
    let table = json!({"policy": "mordia", "interval": "1 ms"});
    let (mut fabric, mut io) = built(&cluster(4), &table, of_demand(&scaled));
    fabric.advance(Time::MS * 8, &mut io);
    let circuits = fabric.circuits(Time::MS * 8);
    for ms in 1..8 {
        let dawn = Time::MS * ms + Time(11_500_000);
        assert!(circuits.iter().any(|c| c.from == dawn), "dark at {dawn}");
        let cut =
            |c: &&lightloom_engine::Circuit| c.from < Time::MS * ms && c.until > Time::MS * ms;
        assert_eq!(circuits.iter().find(cut), None, "over {ms} ms");
    }
}

/// Without the limit Solstice would light pairs for less than the time to program the switches.
#[test]
fn no_slot_is_shorter_than_the_shortest() {
    let demand = Matrix::new(4, 4, SKEWED.iter().map(|b| b / 100).collect()).expect("square");
    let table = json!({"policy": "solstice", "interval": "1 ms"});
    let (mut fabric, mut io) = built(&cluster(4), &table, of_demand(&demand));
    fabric.advance(Time::MS * 2, &mut io);
    let circuits = fabric.circuits(Time::MS * 2 - Time::US * 70);
    let short = |c: &&lightloom_engine::Circuit| c.until - c.from < Time(49_500_000);
    assert!(!circuits.is_empty());
    let whole = circuits
        .iter()
        .filter(|c| c.until < Time::MS * 2 - Time::US * 70);
    assert_eq!(whole.clone().find(short), None);
    let day = Time::US * 61 - Time(11_500_000);
    assert!(whole.clone().any(|c| c.until - c.from == day));
}

/// Bytes that arrive while their circuit is lit first pass the interface.
#[test]
fn packets_spend_the_delay_of_the_interface() {
    let mut flows = Flows::new();
    flows.push(HostId(0), HostId(1), 1_250, Time::US * 50);
    flows.push(HostId(0), HostId(1), 1_250, Time::US * 90);
    let table = json!({"policy": "rotation", "nic_delay": "23 us"});
    let (mut fabric, mut io) = built(&cluster(2), &table, flows);
    fabric.advance(Time::MS, &mut io);
    // A day ends at 106 us: the second has to wait for the next, which begins at 140.5 us.
    let finish: Vec<i64> = io.flows.finish.iter().map(|t| t.0).collect();
    assert_eq!(finish, [74_000_000, 141_500_000]);
}

/// A decision is delayed by its computation time.
#[test]
fn a_scheduler_that_computes_is_late() {
    let demand = Matrix::new(4, 4, SKEWED.to_vec()).expect("square");
    let first = |delay: &str| {
        let table = json!({"policy": "tms", "interval": "1 ms", "computation_delay": delay});
        let (mut fabric, mut io) = built(&cluster(4), &table, of_demand(&demand));
        fabric.advance(Time::MS * 3, &mut io);
        fabric.circuits(Time::MS * 3)[0].from
    };
    assert_eq!(first("0 s"), Time::MS + Time(11_500_000));
    assert_eq!(
        first("300 us"),
        Time::MS + Time::US * 300 + Time(11_500_000)
    );
}

/// The schedule in force continues unchanged while the controller is dead.
#[test]
fn schedules_outlive_their_controller() {
    let demand = Matrix::new(4, 4, SKEWED.to_vec()).expect("square");
    let table = json!({"policy": "tms", "interval": "1 ms"});
    let (mut fabric, mut io) = built(&cluster(4), &table, of_demand(&demand));
    fabric.advance(Time::US * 1_500, &mut io);
    let element = Element::Controller;
    let fail = Command::Fail { element, loss: 1.0 };
    fabric.apply(fail).expect("it has a controller");
    fabric.advance(Time::MS * 10, &mut io);
    // Pairs whose share was too short for a slot are never served.
    let circuits = fabric.circuits(Time::MS * 10);
    let is_lit = |&(a, b, _): &(usize, usize, i64)| {
        circuits
            .iter()
            .any(|c| (c.a as usize, c.b as usize) == (a, b))
    };
    let waits: i64 = demand.entries().filter(|e| !is_lit(e)).map(|e| e.2).sum();
    assert_eq!(io.ledger.in_flight(), waits as u64);
    assert!(circuits.last().is_some_and(|c| c.until > Time::US * 9_990));
    let port = Element::Port { node: 0, plane: 0 };
    let fail = Command::Fail {
        element: port,
        loss: 1.0,
    };
    assert!(fabric.apply(fail).is_err());
}

/// With a packet switch of a tenth of the rate, the demand that the schedule leaves crosses it, and
/// all demand is served earlier.
#[test]
fn a_packet_switch_takes_what_schedules_leave() {
    let demand = Matrix::new(4, 4, SKEWED.to_vec()).expect("square");
    let end = |packets: Option<&str>| {
        let table = json!({
            "policy": "solstice", "interval": "1 ms", "night": "20 us", "packet_rate": packets,
        });
        let (mut fabric, mut io) = built(&cluster(4), &table, of_demand(&demand));
        fabric.advance(Time::MS * 50, &mut io);
        assert_eq!(io.ledger.in_flight(), 0);
        let circuits = fabric.totals().circuit_bytes.expect("it has circuits");
        (io.last_completion(), demand.total() as u64 - circuits)
    };
    let ((alone, none), (hybrid, residual)) = (end(None), end(Some("1 Gb/s")));
    assert_eq!(none, 0);
    assert!(
        residual > 0 && hybrid < alone,
        "{residual} B, {hybrid} {alone}"
    );
}

/// Memory: a day of 16 racks takes 24 B plus 32 B per circuit, for at most four million circuits; a
/// slot of a schedule takes 32 B plus 4 B per rack.
#[test]
fn memory_is_of_days_and_schedules_too() {
    let memory = |policy: &str, us: i64| {
        let mut flows = Flows::new();
        flows.push(HostId(0), HostId(1), 1_000, Time::US * us);
        let cluster = cluster(16);
        let site = Site::plain(&cluster, &flows);
        let table = json!({"policy": policy, "slot": "100 us"});
        let table = (ENTRY.resolve)(&table, &cluster).expect("a good table");
        (ENTRY.memory)(&table, &site).expect("a good table").sound
    };
    let day = 24 + 16 * 32;
    let slot = 32 + 16 * 4;
    let few = memory("rotation", 0);
    assert_eq!(memory("rotation", 100_000) - few, 1_000 * day);
    assert_eq!(memory("rotation", 10_000_000_000) - few, 250_000 * day);
    // Other policies store their decisions; a round robin has three copies of its 15 slots.
    let decided = memory("mordia", 100_000) - memory("mordia", 0);
    assert_eq!(decided, 1_000 * (day + slot));
    assert_eq!(few - memory("mordia", 0), 3 * 15 * slot);
}

/// The ring never connects racks 0 and 2. Two packets of 1,500 B may cross the packet switch at 1
/// ms; each takes 12 us per link, and the first is on its second link while the second is on its
/// first. Propagation is 5 us.
#[test]
fn the_packet_switch_is_as_far_as_the_circuits() {
    let turns = json!({"ports": 4, "night_ps": 11_500_000, "slots": [
        {"permutation": [1, 2, 3, 0], "day_ps": 90_000_000},
    ]});
    let finish = |propagation: &str, nic: Nic| {
        let mut flows = Flows::new();
        flows.push(HostId(0), HostId(2), 3_000, Time::ZERO);
        let table = json!({
            "policy": {"kind": "fixed", "schedule": turns}, "interval": "1 ms",
            "packet_rate": "1 Gb/s", "propagation": propagation,
        });
        let cluster = Cluster { nic, ..cluster(4) };
        let (mut fabric, mut io) = built(&cluster, &table, flows);
        // Both packets have left the switch, and the last is not there yet.
        fabric.advance(Time::US * 1_038, &mut io);
        let before = (io.ledger.delivered, fabric.idle());
        fabric.advance(Time::MS * 2, &mut io);
        assert!(fabric.idle());
        (before, io.flows.finish[0])
    };
    let end = |us: i64| Time::MS + Time::US * us;
    assert_eq!(finish("0 s", Nic::Uncapped), ((3_000, true), end(36)));
    assert_eq!(finish("5 us", Nic::Uncapped), ((1_500, false), end(41)));
    // The link of the server then takes its time at 10 Gb/s.
    let capped = Nic::Capped(Rate(10 * Rate::GBPS.0));
    let last = end(41) + Time(1_200_000);
    assert_eq!(finish("5 us", capped), ((1_500, false), last));
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let refused = |racks, table: Value| {
        let refusal = (ENTRY.resolve)(&table, &cluster(racks)).expect_err("refused");
        refusal.to_string()
    };
    let says = |racks, table: Value, words: &str| {
        let said = refused(racks, table);
        assert!(said.contains(words), "{said}");
    };
    says(
        64,
        json!({}),
        "cluster.racks = 64: a ring of 44 wavelengths has 44 ports",
    );
    says(
        8,
        json!({"slot": "61 us", "night": "40 us"}),
        "its day, 21 us, is shorter",
    );
    says(
        8,
        json!({"nic_delay": "94 us", "shortest_slot": "106 us"}),
        "500 ns remain, but a packet takes 1.2 us",
    );
    says(
        8,
        json!({"shortest_slot": "12.6 us"}),
        "fabric.shortest_slot = 12.6 us: without the night and nic_delay, 1.1 us remain, but a \
         packet takes 1.2 us; raise it",
    );
    says(
        8,
        json!({"nic_delay": "50 us"}),
        "fabric.nic_delay = 50 us: it and the night, 11.5 us, leave no time",
    );
    says(
        8,
        json!({"night": "70 us"}),
        "not shorter than the shortest slot",
    );
    says(
        8,
        json!({"policy": {"kind": "rotation", "slots": 3}}),
        "fabric.policy.slots",
    );
    says(
        8,
        json!({"interval": "20 us"}),
        "shorter than the shortest slot",
    );
    let short = json!({"kind": "rotation", "day": "30 us"});
    let table = (ENTRY.resolve)(&json!({ "policy": short }), &cluster(8)).expect("checked later");
    let flows = Flows::new();
    let eight = cluster(8);
    let site = Site::plain(&eight, &flows);
    let refusal = (ENTRY.build)(&table, &site).err().expect("refused");
    assert_eq!(refusal.key, "fabric.policy", "{refusal}");
    says(
        8,
        json!({"computation_delay": ["4000 s"]}),
        "fabric.computation_delay[0]",
    );
    // A policy that sets permanent circuits has no schedule.
    let table = (ENTRY.resolve)(&json!({"policy": "cthrough"}), &cluster(8)).expect("known");
    let flows = Flows::new();
    let eight = cluster(8);
    let site = Site::plain(&eight, &flows);
    let refusal = (ENTRY.build)(&table, &site)
        .err()
        .expect("refused")
        .to_string();
    assert!(refusal.starts_with("fabric.policy"), "{refusal}");
    assert!(refusal.contains("follows schedules"), "{refusal}");
}
