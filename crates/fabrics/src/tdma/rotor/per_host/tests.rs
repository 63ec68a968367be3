//! A case computed by hand, and the limits of the rule for random queues and circuits.

use super::steps::divide_both_ways;
use super::*;
use lightloom_engine::{Nic, Rate};
use proptest::prelude::*;

fn cluster(racks: u32, hosts: u32) -> Cluster {
    Cluster {
        racks,
        servers_per_rack: hosts,
        server_rate: Rate(8_000_000_000),
        nic: Nic::Uncapped,
    }
}

/// From, to, way, bytes.
type Row = (u32, u32, Way, u64);

/// All planned bytes of a line.
fn planned(rule: &PerHost, line: usize) -> Vec<Row> {
    { rule.plans[line].iter() }
        .map(|part| (part.from, part.to, part.way, part.bytes))
        .collect()
}

/// Two hosts per rack, a circuit of 8 packets of 10 B: a share is 40 B, half of it 20 B, and a
/// relay accepts 40 B for a destination.
#[test]
fn by_hand() {
    let mut rule = PerHost::new(&cluster(3, 2), 80, 10, 1, 3);
    // Host 0 has many bytes for host 2 of the connected rack, host 1 for host 4 of the third rack.
    rule.join(FlowId(0), 0, 2, 100);
    rule.join(FlowId(1), 1, 4, 100);
    // Host 1 relays for hosts 2 and 3.
    rule.relayed.push(rule.relayed.of(1, 2), FlowId(2), 30);
    rule.held[0] += 30;
    let circuit = Circuit {
        line: 0,
        from: 0,
        to: 1,
        bytes: 89,
    };
    rule.plan(&[circuit]);
    let mut all = planned(&rule, 0);
    all.sort_by_key(|&(from, to, _, bytes)| (from, to, bytes));
    // The second hop takes 20 B of the share of host 2, which leaves host 0 the same; the remaining
    // 20 B of host 1 go to host 3, because host 2 receives no more.
    assert_eq!(
        all,
        [
            (0, 2, Way::Direct, 20),
            (1, 2, Way::Second, 20),
            (1, 4, Way::First { relay: 3 }, 20),
        ]
    );
    // Unsent bytes wait at the front again.
    rule.return_planned(0);
    assert_eq!(rule.own.waiting(rule.own.of(0, 2)), 100);
    assert_eq!(rule.own.waiting(rule.own.of(1, 4)), 100);
    assert_eq!(rule.relayed.waiting(rule.relayed.of(1, 2)), 30);
    assert_eq!(rule.coming.iter().sum::<u64>(), 0);
}

/// No host exceeds its share, and no pair with further demand has both shares left.
fn is_feasible_and_whole(
    could_use: &[u64],
    got: &[u64],
    send: (&[u64], &[u64]),
    receive: (&[u64], &[u64]),
) -> Result<(), TestCaseError> {
    let h = send.0.len();
    for i in 0..h {
        let row: u64 = got[i * h..][..h].iter().sum();
        prop_assert_eq!(row + send.1[i], send.0[i]);
        let column: u64 = (0..h).map(|k| got[k * h + i]).sum();
        prop_assert_eq!(column + receive.1[i], receive.0[i]);
    }
    for (at, (&want, &bytes)) in could_use.iter().zip(got).enumerate() {
        prop_assert!(bytes <= want);
        let spare = send.1[at / h].min(receive.1[at % h]);
        prop_assert!(bytes == want || spare == 0, "pair {} of {}", at, h);
    }
    Ok(())
}

proptest! {
    #[test]
    fn both_sides_keep_to_what_they_may(
        wants in prop::collection::vec(0u64..60, 9),
        send in prop::collection::vec(0u64..80, 3),
        receive in prop::collection::vec(0u64..80, 3),
    ) {
        let (mut sent, mut received) = (send.clone(), receive.clone());
        let mut shares = Shares::default();
        let got = divide_both_ways(&wants, &mut sent, &mut received, &mut shares);
        is_feasible_and_whole(&wants, &got, (&send, &sent), (&receive, &received))?;
    }

    /// The rules of the module's documentation, for random queues and circuits.
    #[test]
    fn plans_keep_to_shares_and_rooms(
        own in prop::collection::vec((0u32..8, 0u32..8, 1u64..200), 0..40),
        relayed in prop::collection::vec((0u32..8, 0u32..8, 1u64..60), 0..20),
        packets in 4u64..30,
        turn in 1u32..4,
    ) {
        let (h, racks) = (2, 4);
        let mut rule = PerHost::new(&cluster(racks, h), packets * 10, 10, 1, 1);
        for &(from, to, bytes) in own.iter().filter(|row| row.0 / h != row.1 / h) {
            rule.join(FlowId(0), from, to, bytes);
        }
        for &(at, to, bytes) in relayed.iter().filter(|row| row.0 / h != row.1 / h) {
            rule.relayed.push(rule.relayed.of(at, to), FlowId(0), bytes);
            rule.held[(at / h) as usize] += bytes;
        }
        let before = (rule.own.clone(), rule.relayed.clone());
        let circuits: Vec<Circuit> = (0..racks)
            .map(|from| Circuit {
                line: from as usize,
                from,
                to: (from + turn) % racks,
                bytes: packets * 10 + 3,
            })
            .collect();
        rule.plan(&circuits);
        let share = packets / u64::from(h) * 10;
        for circuit in &circuits {
            let plan = planned(&rule, circuit.line);
            let sum = |keep: &dyn Fn(&Row) -> bool| -> u64 {
                plan.iter().filter(|part| keep(part)).map(|part| part.3).sum()
            };
            for host in circuit.from * h..(circuit.from + 1) * h {
                prop_assert!(sum(&|part| part.0 == host) <= share);
            }
            for host in circuit.to * h..(circuit.to + 1) * h {
                let hears = |part: &(u32, u32, Way, u64)| match part.2 {
                    Way::First { relay } => relay == host,
                    _ => part.1 == host,
                };
                prop_assert!(sum(&hears) <= share);
                for from in circuit.from * h..(circuit.from + 1) * h {
                    let second = sum(&|p| p.0 == from && p.1 == host && p.2 == Way::Second);
                    let waits = before.1.waiting(before.1.of(from, host));
                    let most = packets / u64::from(h) / u64::from(h) * 10;
                    prop_assert_eq!(second, waits.min(most));
                    // If both hosts have a part of their shares left, all direct bytes between them
                    // are planned.
                    let direct = sum(&|p| p.0 == from && p.1 == host && p.2 == Way::Direct);
                    let waits = before.0.waiting(before.0.of(from, host));
                    let idle = sum(&|p| p.0 == from && !matches!(p.2, Way::First { .. })) < share
                        && sum(&|p| p.1 == host && !matches!(p.2, Way::First { .. })) < share;
                    prop_assert!(direct == waits || !idle);
                }
                for to in 0..h * racks {
                    let accepted = sum(&|p| p.2 == Way::First { relay: host } && p.1 == to);
                    let held = before.0.waiting(before.0.of(host, to))
                        + before.1.waiting(before.1.of(host, to));
                    let room = (2 * share / u64::from(h) / 10 * 10).saturating_sub(
                        rule.own.waiting(rule.own.of(host, to)).min(held),
                    );
                    prop_assert!(accepted <= room);
                    prop_assert!(accepted == 0 || to / h != circuit.to && to / h != circuit.from);
                }
            }
        }
        // No bytes are lost, and returned bytes are where they were.
        (0..racks as usize).for_each(|line| rule.return_planned(line));
        for from in 0..h * racks {
            for to in 0..h * racks {
                let queue = rule.own.of(from, to);
                prop_assert_eq!(rule.own.waiting(queue), before.0.waiting(queue));
                prop_assert_eq!(rule.relayed.waiting(queue), before.1.waiting(queue));
            }
        }
    }
}
