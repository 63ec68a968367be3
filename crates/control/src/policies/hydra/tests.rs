use super::*;
use crate::demand::Matrix;
use lightloom_engine::{Rate, Time};

/// Circuits of 10 b/s, and an interval of one second: a demand of one byte needs 8 b/s.
const CIRCUIT: Rate = Rate(80);

fn controller(hardware: &Hardware, config: HydraPolicy) -> Controller {
    config.check(hardware).unwrap();
    Controller::new(config, hardware)
}

fn config(reconfigure: Reconfigure) -> HydraPolicy {
    HydraPolicy {
        reconfigure,
        threshold: Bytes(0),
        split: false,
        ..HydraPolicy::default()
    }
}

/// Circuits and routes for demand of (a, b, bytes from a to b, bytes from b to a).
fn decide(
    controller: &mut Controller,
    works: &[bool],
    demands: &[(usize, usize, i64, i64)],
) -> (Vec<(u32, u32)>, Routes) {
    let hardware = Hardware {
        rate: CIRCUIT,
        ..Hardware::new(
            controller.topology.hardware.racks,
            controller.topology.hardware.planes,
            CIRCUIT,
        )
    };
    let mut bytes = Matrix::zeros(hardware.racks as usize);
    for &(a, b, there, back) in demands {
        bytes.set(a, b, there);
        bytes.set(b, a, back);
    }
    let seen = Demand {
        bytes,
        over: Time::S,
    };
    let view = SwitchView {
        hardware,
        lit: &Circuits::default(),
        works,
        slots: None,
    };
    let target = controller.decide(&seen, &view).unwrap();
    target.check(&view).unwrap();
    let Target::Network { circuits, routes } = target else {
        panic!("circuits that stay");
    };
    let mut pairs = circuits.pairs();
    pairs.sort_unstable();
    (pairs, routes)
}

/// Three racks on three planes, connected pairwise: a triangle is a loop, so one VLAN holds the two
/// heaviest pairs, and the third circuit goes dark.
#[test]
fn paths_without_a_vlan_stay_electrical_the_lightest_first() {
    let demands = [(0, 1, 9, 9), (0, 2, 8, 8), (1, 2, 7, 7)];
    for (vlans, joined) in [(1, vec![(0, 1), (0, 2)]), (2, vec![(0, 1), (0, 2), (1, 2)])] {
        let hardware = Hardware::new(3, 3, CIRCUIT);
        let config = HydraPolicy {
            vlans,
            hops: 1,
            ..config(Reconfigure::Whole)
        };
        let mut controller = controller(&hardware, config);
        let (circuits, routes) = decide(&mut controller, &[true; 9], &demands);
        assert_eq!(circuits, joined);
        assert_eq!(routes.iter().count(), joined.len());
    }
}

#[test]
fn a_partial_change_leaves_what_is_still_wanted() {
    for (reconfigure, joined) in [
        (Reconfigure::Partial, [(0, 1), (2, 3)]),
        (Reconfigure::Whole, [(0, 2), (1, 3)]),
    ] {
        let mut controller = controller(&Hardware::new(4, 1, CIRCUIT), config(reconfigure));
        let works = [true; 4];
        let (_, first) = decide(&mut controller, &works, &[(0, 1, 5, 0), (2, 3, 4, 0)]);
        assert_eq!(first.between(1, 0).len(), 1);
        let more = [(0, 2, 9, 0), (0, 1, 5, 0), (1, 3, 7, 0), (2, 3, 4, 0)];
        assert_eq!(decide(&mut controller, &works, &more).0, joined);
    }
}

/// Pair 0-2 can use the circuits 0-1 and 1-2 only if the pairs 0-1 and 1-2 need less than before.
/// A reservation has the size of the present demand, not of the demand when the path was found.
#[test]
fn a_standing_path_reserves_what_it_needs_now() {
    for (now, hops) in [(2, Some(3)), (7, None)] {
        let config = HydraPolicy {
            hops: 2,
            ..config(Reconfigure::Partial)
        };
        let mut controller = controller(&Hardware::new(3, 2, CIRCUIT), config);
        // Rack 0 has no port on plane 1, rack 2 none on plane 0.
        let works = [true, true, false, false, true, true];
        decide(&mut controller, &works, &[(0, 1, 7, 7), (1, 2, 7, 6)]);
        let more = [(0, 1, now, now), (1, 2, now, now), (0, 2, 4, 0)];
        let (_, routes) = decide(&mut controller, &works, &more);
        let racks = routes.between(0, 2).first().map(|route| route.racks.len());
        assert_eq!(racks, hops);
    }
}

#[test]
fn broken_ports_are_left_out_until_they_work() {
    for reconfigure in [Reconfigure::Partial, Reconfigure::Whole] {
        let mut controller = controller(&Hardware::new(4, 1, CIRCUIT), config(reconfigure));
        let demands = [(0, 1, 5, 0), (2, 3, 4, 0)];
        let mut joined = |works: &[bool]| decide(&mut controller, works, &demands).0;
        assert_eq!(joined(&[true; 4]), [(0, 1), (2, 3)]);
        assert_eq!(joined(&[true, false, true, true]), [(2, 3)]);
        assert_eq!(joined(&[true; 4]), [(0, 1), (2, 3)]);
    }
}

/// Two consecutive circuits, 0-1 and 1-2, and no free port: the paper's listing stops, this
/// implementation finds free capacity.
#[test]
fn a_search_may_go_on_without_ports() {
    for (stop_at_ports, served) in [(false, 3), (true, 2)] {
        let config = HydraPolicy {
            stop_at_ports,
            ..config(Reconfigure::Whole)
        };
        let mut controller = controller(&Hardware::new(3, 2, CIRCUIT), config);
        let works = [true, true, false, false, true, true];
        let demands = [(0, 1, 5, 0), (1, 2, 4, 0), (0, 2, 3, 0)];
        let (_, routes) = decide(&mut controller, &works, &demands);
        assert_eq!(routes.iter().count(), served);
    }
}

#[test]
fn a_large_pair_may_have_several_paths() {
    for (split, paths) in [(true, 2), (false, 1)] {
        let config = HydraPolicy {
            split,
            ..config(Reconfigure::Whole)
        };
        let mut controller = controller(&Hardware::new(2, 3, CIRCUIT), config);
        let (_, routes) = decide(&mut controller, &[true; 6], &[(0, 1, 20, 0)]);
        assert_eq!(routes.between(0, 1).len(), paths);
    }
}

fn under(
    reconfigure: Reconfigure,
    racks: u32,
    planes: u32,
    pinned: &[(u32, u32, u32)],
    apart: &[(u32, u32)],
) -> Controller {
    let hardware = Hardware::new(racks, planes, CIRCUIT);
    let mut controller = controller(&hardware, config(reconfigure));
    let rules = Rules {
        pinned: pinned.iter().copied().map(Circuit::from).collect(),
        apart: apart.to_vec(),
    };
    assert!(controller.lay_down(&rules));
    controller
}

/// 0-2 is lit at every decision without demand for it; 0-1 and 2-3 are left without ports.
#[test]
fn a_pinned_circuit_stays_whatever_the_demand() {
    for reconfigure in [Reconfigure::Partial, Reconfigure::Whole] {
        let mut controller = under(reconfigure, 4, 1, &[(0, 2, 0)], &[]);
        for demands in [
            [(0, 1, 5, 0), (2, 3, 4, 0)],
            [(0, 2, 1, 0), (2, 3, 4, 0)],
            [(0, 1, 5, 0), (2, 3, 4, 0)],
        ] {
            let (circuits, routes) = decide(&mut controller, &[true; 4], &demands);
            assert_eq!(circuits, [(0, 2)]);
            let asked = demands[0].1 == 2;
            assert_eq!(routes.between(0, 2).len(), usize::from(asked));
        }
    }
}

/// Rack 0 has no other port, so its demand for 2 uses its pinned circuit with 1; and its demand for
/// 1 needs no second circuit on plane 1.
#[test]
fn paths_go_over_a_pinned_circuit() {
    for reconfigure in [Reconfigure::Partial, Reconfigure::Whole] {
        let mut controller = under(reconfigure, 3, 2, &[(0, 1, 0)], &[]);
        let works = [true, true, true, false, true, true];
        let (circuits, routes) = decide(&mut controller, &works, &[(0, 2, 4, 0), (0, 1, 3, 0)]);
        assert_eq!(circuits, [(0, 1), (1, 2)]);
        assert_eq!(routes.between(0, 2)[0].racks, [0, 1, 2]);
        assert_eq!(routes.between(0, 1)[0].racks, [0, 1]);
    }
}

/// Three racks on two planes: 0 and 1 reach each other over 2.
#[test]
fn no_circuit_joins_racks_that_are_kept_apart() {
    for reconfigure in [Reconfigure::Partial, Reconfigure::Whole] {
        let mut controller = under(reconfigure, 3, 2, &[], &[(0, 1)]);
        let demands = [(0, 1, 4, 0), (0, 2, 2, 0), (1, 2, 2, 0)];
        for _ in 0..2 {
            let (circuits, routes) = decide(&mut controller, &[true; 6], &demands);
            assert_eq!(circuits, [(0, 2), (1, 2)]);
            assert_eq!(routes.between(0, 1)[0].racks, [0, 2, 1]);
        }
    }
}
