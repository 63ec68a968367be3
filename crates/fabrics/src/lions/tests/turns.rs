//! If all inputs of a wavegroup request the same output, each is served equally often.

use super::*;
use lightloom_engine::HostId;

/// Packets of each host that its hot spot has received, if each host sends one in every slot.
fn heard_of_each(table: &Value, hosts: u32, slots: u32) -> Vec<u32> {
    let mut flows = Flows::new();
    for slot in 0..slots as i64 {
        for host in 0..hosts {
            flows.push(HostId(host), HostId(hosts - 1), PACKET, SLOT * slot);
        }
    }
    // Packets that end with the last slot are received.
    let until = SLOT * slots as i64 + Time(1);
    let (io, _) = simulate(hosts, table, flows, Stop::At(until));
    let mut heard = vec![0; hosts as usize];
    for f in (0..io.flows.len()).filter(|&f| io.flows.finish[f] != Time::NEVER) {
        heard[io.flows.src[f].index()] += 1;
    }
    heard
}

/// k receivers serve N hosts: N/k hosts take turns at each receiver, so each host is served in 4 of
/// 4 N/k slots. Retransmitted packets arrive at the receiver of their host, stored packets at the
/// receiver of their queue; the first packets were not stored.
#[test]
fn a_hot_spot_hears_every_host_as_often() {
    for (architecture, timing, stored) in [
        ("drop", "slotted", 0),
        ("ao-nack", "slotted", 0),
        ("dlb", "slotted", 1),
        ("mlb", "slotted", 1),
        ("dlb", "unslotted", 1),
    ] {
        for (hosts, k) in [(16, 1), (16, 2), (16, 4), (130, 1)] {
            let rounds = 4;
            let table = with(bare(architecture, timing, k), hosts_per_queue(architecture));
            let heard = heard_of_each(&table, hosts, rounds * hosts / k);
            let what = format!("{architecture} {timing} N {hosts} k {k}: {heard:?}");
            let even = |&n: &u32| n.abs_diff(rounds) <= stored;
            assert!(heard.iter().all(even), "{what}");
            assert_eq!(heard.iter().sum::<u32>(), rounds * hosts, "{what}");
        }
    }
}

/// A slot is as long as a packet; 10 m of fibre take 50 ns in each direction.
#[test]
fn slots_are_judged_where_they_arrive() {
    for architecture in ["drop", "ao-nack", "slb", "mlb", "dlb"] {
        let table = with(bare(architecture, "slotted", 1), json!({"fibre": "10 m"}));
        let mut flows = Flows::new();
        for (host, slot) in [(0, 0), (3, 4)] {
            flows.push(HostId(host), HostId(9), PACKET, SLOT * slot);
        }
        let (io, _) = simulate(16, &table, flows, Stop::Drain);
        let expected = [SLOT + Time::NS * 100, SLOT * 5 + Time::NS * 100];
        assert_eq!(io.flows.finish, expected, "{architecture}");
    }
}

/// Each host has one packet, and no more arrive: a receiver receives one packet per slot until none
/// is left.
#[test]
fn what_waits_is_heard_one_by_one() {
    for architecture in ["ao-nack", "slb", "mlb", "dlb"] {
        for (hosts, k) in [(16, 1), (16, 2), (130, 1)] {
            let mut flows = Flows::new();
            for host in 0..hosts {
                flows.push(HostId(host), HostId(hosts - 1), PACKET, Time::ZERO);
            }
            let table = with(
                bare(architecture, "slotted", k),
                hosts_per_queue(architecture),
            );
            let (io, _) = simulate(hosts, &table, flows, Stop::Drain);
            let mut finish = io.flows.finish.clone();
            finish.sort();
            let shared = |slot: i64| if slot == 1 { k as i64 } else { 1 };
            let mut expected = Vec::new();
            for slot in 1.. {
                let heard = match architecture {
                    "slb" => shared(slot),
                    _ => k as i64,
                };
                expected.extend((0..heard).map(|_| SLOT * slot));
                if expected.len() >= hosts as usize {
                    break;
                }
            }
            expected.truncate(hosts as usize);
            assert_eq!(finish, expected, "{architecture} N {hosts} k {k}");
        }
    }
}

/// A mixed buffer with one host per queue, because turns are fair among queues, not among hosts.
fn hosts_per_queue(architecture: &str) -> Value {
    match architecture {
        "mlb" => json!({"hosts_per_queue": 1}),
        _ => json!({}),
    }
}
