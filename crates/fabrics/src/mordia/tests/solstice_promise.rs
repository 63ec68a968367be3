//! The network takes the time that Solstice computes: the last byte of a demand arrives at the end
//! of its plan, including the packet switch.

use super::{built, cluster, of_demand};
use lightloom_control::algorithms::solstice::{plan_within, Limits, Network, Plan};
use lightloom_control::demand::Matrix;
use lightloom_engine::{Rate, Stream, Time};
use serde_json::{json, Value};

const CIRCUIT: Rate = Rate(10 * Rate::GBPS.0);
const NIGHT: Time = Time(11_500_000);
/// The first decision.
const ASKED: Time = Time(20 * Time::MS.0);
const PACKET: i64 = 1_500;

/// Some pairs with up to a megabyte, others with less than a packet.
fn drawn(seed: u64, racks: usize) -> Matrix {
    let mut random = Stream::new(seed, "test.solstice", 0);
    let mut demand = Matrix::zeros(racks);
    for from in 0..racks {
        for to in (0..racks).filter(|&to| to != from) {
            let most = [1_500, 40_000, 1_000_000][random.below(3) as usize];
            if random.unit() < 0.7 {
                demand.set(from, to, 1 + random.below(most) as i64);
            }
        }
    }
    demand
}

/// Time from the decision to the end of the last flow.
fn took(demand: &Matrix, more: &Value) -> Time {
    let mut table = json!({
        "policy": {"kind": "solstice"}, "interval": "20 ms", "shortest_slot": "12.7 us",
    });
    for (key, value) in more.as_object().expect("a table") {
        table[key] = value.clone();
    }
    let racks = demand.n() as u32;
    let (mut fabric, mut io) = built(&cluster(racks), &table, of_demand(demand));
    fabric.advance(ASKED * 20, &mut io);
    io.flows.finish.iter().copied().max().expect("a flow") - ASKED
}

fn promised(demand: &Matrix, packet: i64, packet_rate: Rate) -> Plan {
    let network = Network {
        circuit: CIRCUIT,
        packet: packet_rate,
        night: NIGHT,
    };
    let limits = Limits {
        shortest: Time(12_700_000),
        packet,
    };
    plan_within(demand, &network, &limits).expect("a plan")
}

/// To the picosecond, unless the last slot is the shortest: then it ends within a packet.
#[test]
fn circuits_alone_take_what_was_promised() {
    for seed in 0..40 {
        let demand = drawn(seed, 3 + seed as usize % 6);
        let plan = promised(&demand, PACKET, Rate(0));
        let took = took(&demand, &json!({}));
        let a_packet = CIRCUIT.time_for(PACKET as u64);
        assert!(plan.total < ASKED, "{seed}: {}", plan.total);
        assert!(took <= plan.total, "{seed}: {took}, {}", plan.total);
        assert!(
            took > plan.total - a_packet,
            "{seed}: {took}, {}",
            plan.total
        );
    }
}

/// Counter-example to the test above: days that are planned by bytes end within packets, which wait
/// for the next round.
#[test]
fn a_plan_by_bytes_promises_too_much() {
    let policy = json!({"policy": {"kind": "solstice", "packet": "1 B"}});
    let ratios = (0..20).map(|seed| {
        let demand = drawn(seed, 3 + seed as usize % 6);
        let total = promised(&demand, 1, Rate(0)).total;
        took(&demand, &policy).0 as f64 / total.0 as f64
    });
    let worst = ratios.fold(0.0, f64::max);
    assert!(worst > 1.5, "{worst}");
}

/// With a packet switch: each link to it sends the residual demand of its rack without a pause, and
/// each link from it carries at most the residual demand for its rack; each packet is stored once.
#[test]
fn circuits_and_packets_take_what_was_promised() {
    let rate = Rate(Rate::GBPS.0);
    let (mut most, mut crossed) = (0.0f64, 0);
    for seed in 0..40 {
        let demand = drawn(seed, 3 + seed as usize % 6);
        let plan = promised(&demand, PACKET, rate);
        let took = took(&demand, &json!({"packet_rate": "1 Gb/s"}));
        let sums = |of: Vec<i64>| rate.time_for(of.into_iter().max().unwrap_or(0) as u64);
        let (up, down) = (
            sums(plan.residual.row_sums()),
            sums(plan.residual.column_sums()),
        );
        let packets = rate.time_for(2 * PACKET as u64);
        let bound = plan.total.max(up + down) + packets;
        assert!(plan.total < ASKED, "{seed}: {}", plan.total);
        assert!(took <= bound, "{seed}: {took}, {bound}");
        most = most.max((took - packets).0 as f64 / plan.total.0 as f64);
        crossed += usize::from(!plan.residual.is_zero());
    }
    assert!(crossed > 20, "{crossed} of 40 use the packet switch");
    assert!(most < 1.1, "{most}");
}

/// Headers take the same share of the packet switch's links as of the circuits. The plan uses the
/// payload rates of both, and a packet switch as fast as the circuits is accepted.
#[test]
fn headers_are_left_out_of_both_rates() {
    let header = 100;
    let left = |rate: Rate| Rate(rate.0 * PACKET as u64 / (PACKET as u64 + header));
    let packets = Rate(Rate::GBPS.0);
    for seed in 0..20 {
        let demand = drawn(seed, 3 + seed as usize % 6);
        let network = Network {
            circuit: left(CIRCUIT),
            packet: left(packets),
            night: NIGHT,
        };
        let limits = Limits {
            shortest: Time(13_000_000),
            packet: PACKET,
        };
        let plan = plan_within(&demand, &network, &limits).expect("a plan");
        let took = took(
            &demand,
            &json!({"packet_rate": "1 Gb/s", "header": "100 B", "shortest_slot": "13 us"}),
        );
        let sums = |of: Vec<i64>| {
            network
                .packet
                .time_for(of.into_iter().max().unwrap() as u64)
        };
        let residual = &plan.residual;
        let both = sums(residual.row_sums()) + sums(residual.column_sums());
        let bound = plan.total.max(both) + network.packet.time_for(2 * PACKET as u64);
        assert!(took <= bound, "{seed}: {took}, {bound}");
    }
    let equal = json!({
        "stack_rate": "5 Gb/s", "packet_rate": "5 Gb/s", "header": "43 B", "shortest_slot": "16 us",
    });
    assert!(took(&drawn(1, 4), &equal) > Time::ZERO);
}

/// If a schedule by bytes leaves a part of a packet in every day, the packet switch carries these
/// packets at once, instead of the repetitions of the schedule one after another.
#[test]
fn the_packet_switch_carries_what_days_leave() {
    let policy = json!({
        "policy": {"kind": "solstice", "packet": "1 B"}, "packet_rate": "1 Gb/s",
    });
    let rate = Rate(Rate::GBPS.0);
    for seed in 0..40 {
        let demand = drawn(seed, 3 + seed as usize % 6);
        let plan = promised(&demand, 1, rate);
        let took = took(&demand, &policy);
        // One packet for each slot, at a source and at a destination, plus two packets that are
        // stored.
        let packets = 2 * plan.schedule.slots.len() as u64 + 2;
        let line = plan.residual.line_max() as u64;
        let rests = rate.time_for(2 * line + packets * PACKET as u64);
        let bound = plan
            .total
            .max(rests)
            .max(plan.schedule.period() + rate.time_for(packets * PACKET as u64));
        assert!(took <= bound, "{seed}: {took}, {}, {bound}", plan.total);
    }
}
