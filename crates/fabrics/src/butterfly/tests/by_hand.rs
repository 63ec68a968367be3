//! Times that can be worked out by hand, on the network of LIONS: 4 × 4 routers
//! of 4 nodes, a cycle of 6.4 ns.
//!
//! A flit leaves the first router 1 + ⌈(8.75 ns + pipeline)/6.4 ns⌉ cycles after its host, and each
//! further router 1 + ⌈(25 ns per step + pipeline)/6.4 ns⌉ cycles after the previous one; it then
//! needs another cycle and 8.75 ns.

use super::*;
use lightloom_engine::HostId;

fn flows(rows: &[(u32, u32, u64)]) -> Flows {
    let mut flows = Flows::new();
    for &(src, dst, bytes) in rows {
        flows.push(HostId(src), HostId(dst), bytes, Time::ZERO);
    }
    flows
}

/// The time at which each flow ends [ps].
fn finishes(table: &Value, rows: &[(u32, u32, u64)]) -> Vec<i64> {
    let (io, _) = simulate(64, table, flows(rows), Time::MS);
    io.flows.finish.iter().map(|t| t.0).collect()
}

/// The delivery time if the last flit leaves the last router in that cycle.
fn delivered(cycle: i64) -> i64 {
    (cycle + 1) * CYCLE.0 + 8_750
}

/// From host 1: to its own router, a neighbour, the far end of the row, the far
/// end of the column, diagonally one step, and to the far corner.
const TO: [u32; 6] = [2, 4, 12, 48, 20, 63];

/// 256 B and 5 B of header are 33 flits, 64 B and 5 B are 9.
#[test]
fn zero_load() {
    // 18 cycles from the host; 21 for 5 m, 29 for 15 m.
    let basic = [18, 18 + 21, 18 + 29, 18 + 29, 18 + 42, 18 + 58];
    // 6 cycles from the host; 8 for 5 m, 16 for 15 m.
    let aggressive = [6, 6 + 8, 6 + 16, 6 + 16, 6 + 16, 6 + 32];
    for (name, heads) in [("basic", basic), ("aggressive", aggressive)] {
        for (packet, flits) in [(256, 33), (64, 9)] {
            for routing in ["dimension-order", "ugal"] {
                let keys = json!({"packet": format!("{packet} B"), "routing": routing});
                for (to, head) in TO.into_iter().zip(heads) {
                    let took = finishes(&preset(name, keys.clone()), &[(1, to, packet)]);
                    let expected = delivered(head + flits - 1);
                    assert_eq!(took, [expected], "{name} {packet} B to {to}");
                }
            }
        }
    }
}

/// The absolute values, computed without the formula.
#[test]
fn zero_load_in_nanoseconds() {
    let basic = preset("basic", json!({}));
    assert_eq!(finishes(&basic, &[(1, 2, 256)]), [335_150]);
    assert_eq!(finishes(&basic, &[(1, 63, 256)]), [706_350]);
    let aggressive = preset("aggressive", json!({}));
    assert_eq!(finishes(&aggressive, &[(1, 2, 256)]), [258_350]);
    assert_eq!(finishes(&aggressive, &[(1, 63, 256)]), [463_150]);
}

/// Three packets, the last of 88 B (12 flits), one behind the other.
#[test]
fn a_flow_is_sent_packet_by_packet() {
    let expected = delivered(18 + 21 + 33 + 33 + 12 - 1);
    let took = finishes(&preset("basic", json!({})), &[(1, 4, 600)]);
    assert_eq!(took, [expected]);
}

/// A host sends a packet that arrives within a cycle at the beginning of the next cycle.
#[test]
fn hosts_begin_with_a_cycle() {
    let mut late = flows(&[(1, 2, 64)]);
    late.arrival[0] = Time(10_000);
    let table = preset("basic", json!({"packet": "64 B"}));
    let (io, _) = simulate(64, &table, late, Time::MS);
    assert_eq!(io.flows.start[0], CYCLE * 2);
    assert_eq!(io.flows.finish[0].0, delivered(2 + 18 + 8));
}

/// Four places, and credits that are back after 18 + ⌈(8.75 + 6.4)/6.4⌉ = 21
/// cycles: flit i leaves its host in cycle 21⌊i/4⌋ + i mod 4.
#[test]
fn credits_hold_up_a_packet() {
    let table = preset("basic", json!({"vcs": 1, "vc_buffer": 4}));
    assert_eq!(finishes(&table, &[(1, 2, 256)]), [delivered(21 * 8 + 18)]);
    // Between routers it is 21 + ⌈31.4/6.4⌉ = 26 cycles, so the wire between routers is the
    // bottleneck.
    let expected = delivered(18 + 26 * 8 + 21);
    assert_eq!(finishes(&table, &[(1, 4, 256)]), [expected]);
    // A buffer of 26 flits is the smallest one with which a packet does not wait.
    for (buffer, extra) in [(25, 1), (26, 0), (27, 0)] {
        let table = preset("basic", json!({"vc_buffer": buffer}));
        let expected = delivered(18 + 21 + 32 + extra);
        assert_eq!(finishes(&table, &[(1, 4, 256)]), [expected], "{buffer}");
    }
}

/// Two packets for the same terminal share it flit by flit, or one waits for the other if there is
/// one virtual channel.
#[test]
fn packets_that_meet() {
    let rows = [(0, 2, 256), (1, 2, 256)];
    let mut took = finishes(&preset("basic", json!({})), &rows);
    took.sort_unstable();
    // The second packet gets its virtual channel a cycle later; from then on they alternate, and
    // the first ends one flit before the second.
    assert_eq!(took, [delivered(18 + 64), delivered(18 + 65)]);
    let mut took = finishes(&preset("basic", json!({"vcs": 1})), &rows);
    took.sort_unstable();
    assert_eq!(took, [delivered(18 + 32), delivered(18 + 65)]);
}

/// With cut-through a packet does not begin before there is room for all of it.
#[test]
fn cut_through_waits_for_room() {
    let keys = json!({"vcs": 1, "vc_buffer": 40, "flow_control": "virtual-cut-through"});
    let table = preset("basic", keys);
    // 7 places are free behind the first packet; 26 more are free when 26 of its flits have left
    // and their credits have reached the host, 3 cycles later.
    let begins = 18 + 25 + 3;
    let took = finishes(&table, &[(1, 2, 512)]);
    assert_eq!(took, [delivered(begins + 18 + 32)]);
}
