//! Schedules compared with the wiring, with Fig 5 and with sizes in the paper.

use super::peer_order::PeerOrder;
use super::plan::{gratings, UplinkPlan};
use super::wiring::Wiring;
use super::Schedule;
use lightloom_control::algorithms::cyclic::RoundRobin;
use proptest::prelude::*;

fn base(nodes: u32, ports: u32) -> Wiring {
    gratings(UplinkPlan::Mixed, nodes, ports, nodes / ports).unwrap()
}

#[test]
fn figure_5_in_both_slots() {
    // Nodes, uplinks and gratings are numbered from 0 here, from 1 in the paper.
    let w = base(4, 2);
    assert_eq!(w.gratings(), 4);
    let meets = |node, wavelength| {
        let mut m: Vec<u32> = (0..2).map(|u| w.peer(node, u, wavelength).0 + 1).collect();
        m.sort();
        m
    };
    for (node, a, b) in [
        (0, [1, 3], [2, 4]),
        (1, [2, 4], [1, 3]),
        (2, [1, 3], [2, 4]),
        (3, [2, 4], [1, 3]),
    ] {
        assert_eq!(meets(node, 0), a, "slot A, node {}", node + 1);
        assert_eq!(meets(node, 1), b, "slot B, node {}", node + 1);
    }
}

#[test]
fn epochs_of_the_papers_twelve_uplinks() {
    let epoch =
        |plan, uplinks| Schedule::Gratings(gratings(plan, 128, 16, uplinks).unwrap()).epoch();
    assert_eq!(epoch(UplinkPlan::Mixed, 8), (128, 8));
    assert_eq!(epoch(UplinkPlan::Wide, 12), (128, 12));
    assert_eq!(epoch(UplinkPlan::Mixed, 16), (128, 16));
    // 8 uplinks meet a pair every 16 slots, 4 in every other of these.
    assert_eq!(epoch(UplinkPlan::Mixed, 12), (16, 1));
}

#[test]
fn sizes_of_the_core() {
    for (nodes, ports, gratings) in [
        (4, 2, 4),
        (128, 16, 64),
        (4096, 16, 65_536),
        (25_600, 100, 65_536),
    ] {
        assert_eq!(base(nodes, ports).gratings(), gratings, "{nodes} nodes");
    }
}

pub fn schedules() -> impl Strategy<Value = Schedule> {
    let rotor = (2u32..50)
        .prop_flat_map(|n| (Just(n), 1..=n))
        .prop_map(|(nodes, uplinks)| Schedule::Rotor(RoundRobin { nodes, uplinks }));
    let tiled = (1u32..5, 2u32..9, 1u32..9, any::<bool>()).prop_filter_map(
        "matrices",
        |(base, ports, extra, wide)| {
            let plan = if wide {
                UplinkPlan::Wide
            } else {
                UplinkPlan::Mixed
            };
            let (nodes, uplinks) = (base * ports, base + extra - 1);
            (uplinks <= nodes)
                .then(|| gratings(plan, nodes, ports, uplinks).ok())
                .flatten()
                .map(Schedule::Gratings)
        },
    );
    prop_oneof![rotor, tiled]
}

proptest! {
    #[test]
    fn no_receiver_hears_two_senders(s in schedules(), slot in 0i64..10_000) {
        let mut heard = std::collections::BTreeSet::new();
        for node in 0..s.nodes() {
            for uplink in 0..s.uplinks() {
                prop_assert!(heard.insert(s.peer(node, uplink, slot)));
            }
        }
        prop_assert!(heard.iter().all(|&(n, p)| n < s.nodes() && p < s.uplinks()));
    }

    #[test]
    fn a_pair_meets_at_most_once_a_slot(s in schedules(), slot in 0i64..10_000) {
        for node in 0..s.nodes() {
            let mut met = std::collections::BTreeSet::new();
            prop_assert!((0..s.uplinks()).all(|u| met.insert(s.peer(node, u, slot).0)));
        }
    }

    #[test]
    fn a_frame_brings_every_pair_together_equally_often(s in schedules(), start in 0i64..1000) {
        let frame = s.frame();
        for node in 0..s.nodes() {
            let mut met = vec![0u32; s.nodes() as usize];
            for slot in start..start + frame as i64 {
                for u in 0..s.uplinks() {
                    met[s.peer(node, u, slot).0 as usize] += 1;
                }
            }
            prop_assert!(met.iter().all(|&m| m == met[0] && m > 0), "{:?}", met);
        }
    }

    #[test]
    fn matchings_are_the_schedule(s in schedules(), slot in 0i64..10_000) {
        let peer_order = PeerOrder::new(&s);
        let mut met = std::collections::BTreeMap::new();
        for c in peer_order.matchings(slot) {
            for label in 0..s.nodes() {
                if c.labels.is_none_or(|l| l[label as usize / 64] >> (label % 64) & 1 == 1) {
                    let peer = s.node(peer_order.peer(label as usize, c.turn as usize) as u32);
                    prop_assert!(met.insert((s.node(label), c.uplink as u32), peer).is_none());
                }
            }
        }
        prop_assert_eq!(met.len() as u32, s.nodes() * s.uplinks());
        for ((node, uplink), peer) in met {
            prop_assert_eq!(peer, s.peer(node, uplink, slot).0);
        }
    }

    #[test]
    fn labels_and_turns_have_inverses(s in schedules()) {
        let peer_order = PeerOrder::new(&s);
        for node in 0..s.nodes() {
            let label = s.label(node);
            prop_assert_eq!(s.node(label), node);
            for peer in 0..s.nodes() as usize {
                let turn = peer_order.turn(label as usize, peer);
                prop_assert_eq!(peer_order.peer(label as usize, turn), peer);
            }
        }
    }

    #[test]
    fn every_pair_meets_in_every_epoch(s in schedules()) {
        let (slots, of) = s.epoch();
        let whole = s.epoch_slots() as i64;
        prop_assert!(slots * s.uplinks() as i64 >= of * s.nodes() as i64);
        // A meeting may deviate by up to a slot from the fraction.
        for node in 0..s.nodes() {
            for start in 0..2 * whole {
                let met: std::collections::BTreeSet<u32> = (start..start + whole)
                    .flat_map(|t| (0..s.uplinks()).map(move |u| (u, t)))
                    .map(|(u, t)| s.peer(node, u, t).0)
                    .collect();
                prop_assert_eq!(met.len() as u32, s.nodes());
            }
        }
    }
}
