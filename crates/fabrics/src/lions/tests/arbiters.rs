//! Each rule of an arbiter on the same packets, with results worked out by hand, slot by slot; and
//! AO-NACK, which has no turns, with two senders.

use super::*;
use lightloom_engine::HostId;

/// Finish times of two flows, in slots: host 0 sends four packets from slot 0 on, host 1 one packet
/// from slot `late` on, both to host 3, which has one receiver.
fn finishes(rule: &str, timing: &str, late: i64) -> [i64; 2] {
    let mut flows = Flows::new();
    flows.push(HostId(0), HostId(3), 4 * PACKET, Time::ZERO);
    flows.push(HostId(1), HostId(3), PACKET, SLOT * late);
    let table = with(bare("dlb", timing, 1), json!({"arbiter": rule}));
    let (io, _) = simulate(4, &table, flows, Stop::Drain);
    [0, 1].map(|f: usize| io.flows.finish[f].0 / SLOT.0)
}

/// Hosts 0 and 1 are on inputs 0 and 2, their queues on 5 and 7. Host 0 goes first, host 1's
/// packet is stored. From slot 1 on:
///
/// - loop-back first: host 1's packet, then host 0's, each of which is stored first; unslotted,
///   host 0's second packet goes before, because it requests as soon as it is stored and its queue
///   has the first turn;
/// - hosts first: the three packets of host 0, then the packet of host 1;
/// - in turn: host 1's packet (input 7); host 0's third (input 0); its stored second (input 5),
///   then its fourth;
/// - oldest first, host 1 a slot later: the packets of host 0.
#[test]
fn packets_leave_in_the_order_of_the_rule() {
    for timing in ["unslotted", "slotted"] {
        for (rule, late, expect) in [
            (
                "loop-back-first",
                0,
                [5, 2 + i64::from(timing == "unslotted")],
            ),
            ("hosts-first", 0, [4, 5]),
            ("round-robin", 0, [5, 2]),
            ("oldest-first", 1, [4, 5]),
            ("hosts-first", 1, [5, 2]),
        ] {
            let found = finishes(rule, timing, late);
            assert_eq!(found, expect, "{timing}, {rule}, {late}");
        }
    }
}

/// In the paper a host retransmits a returned packet without a pause (§IV: a NACK triggers the
/// retransmission). If two hosts send equal packets to one receiver, the second host therefore
/// always requests it while the first host's packet occupies it, and waits until the first host has
/// no more packets: while a host sends back to back, the others get no share.
#[test]
fn a_second_sender_of_one_receiver_waits_until_the_first_has_sent_all() {
    for detector in ["edge", "timers"] {
        for late in [1, 50_000, 100_000, 199_999].map(Time) {
            let mut flows = Flows::new();
            flows.push(HostId(0), HostId(3), 100 * PACKET, Time::ZERO);
            flows.push(HostId(1), HostId(3), PACKET, late);
            let table = with(
                bare("ao-nack", "unslotted", 1),
                json!({"detector": detector}),
            );
            let (io, _) = simulate(4, &table, flows, Stop::Drain);
            assert_eq!(io.flows.finish[0], SLOT * 100, "{detector}, {late}");
            assert_eq!(io.flows.finish[1], late + SLOT * 101, "{detector}, {late}");
        }
    }
}
