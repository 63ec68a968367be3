use super::search::Search;
use super::*;
use lightloom_engine::Stream;
use proptest::prelude::*;

mod rounds;

/// Checks the properties of a topology.
fn check(topology: &Topology, hops: u32) {
    let Topology {
        hardware,
        demands,
        circuits,
        routes,
        apart,
    } = topology;
    // A circuit uses two ports, and no rack uses more ports on a plane than it has.
    let mut used = vec![0; (hardware.racks * hardware.planes) as usize];
    for circuit in circuits {
        assert!(circuit.a < circuit.b && circuit.plane < hardware.planes);
        assert!(!apart.contains(&(circuit.a, circuit.b)));
        for rack in [circuit.a, circuit.b] {
            used[(circuit.plane * hardware.racks + rack) as usize] += 1;
        }
    }
    assert!(used.iter().all(|&ports| ports <= hardware.ports));
    assert_eq!(used.iter().sum::<u32>(), 2 * circuits.len() as u32);
    // Paths are short, have circuits, visit each rack once and have reserved capacity.
    assert_eq!(routes.len(), demands.len());
    let mut reserved = vec![0; circuits.len()];
    for (at, demand) in demands.iter().enumerate() {
        assert!(routes[at].len() <= hops as usize);
        let mut racks = topology.racks(at);
        if !routes[at].is_empty() {
            assert_eq!((racks[0], racks[racks.len() - 1]), (demand.a, demand.b));
            for (pair, &circuit) in racks.windows(2).zip(&routes[at]) {
                let circuit = circuits[circuit as usize];
                let ends = [pair[0].min(pair[1]), pair[0].max(pair[1])];
                assert_eq!([circuit.a, circuit.b], ends);
            }
        }
        for &circuit in &routes[at] {
            reserved[circuit as usize] += demand.need.min(hardware.capacity);
        }
        racks.sort_unstable();
        assert!(racks.windows(2).all(|pair| pair[0] != pair[1]));
    }
    for (circuit, reserved) in circuits.iter().zip(reserved) {
        assert!(circuit.residual >= 0);
        assert_eq!(circuit.residual, hardware.capacity - reserved);
    }
    let unserved = routes.iter().filter(|route| route.is_empty()).count();
    assert_eq!(topology.served() + unserved, demands.len());
}

fn random_demands(racks: u32, count: usize, seed: u64) -> Vec<Demand> {
    let mut rng = Stream::new(seed, "demands", 0);
    let mut demand = || {
        let (a, step) = rng.below2(racks, racks - 1);
        let (weight, need) = rng.below2(50, 14);
        Demand {
            a,
            b: (a + 1 + step) % racks,
            weight: weight.into(),
            need: need.into(),
        }
    };
    (0..count).map(|_| demand()).collect()
}

fn hardware() -> impl Strategy<Value = Hardware> {
    (2u32..14, 1u32..6, 1u32..3).prop_map(|(racks, planes, ports)| Hardware {
        ports,
        radix: racks * ports,
        ..Hardware::new(racks, planes, 10)
    })
}

proptest! {
    #[test]
    fn invariants(
        hardware in hardware(), count in 0usize..60, hops in 1u32..6, without_ports: bool,
        seed: u64,
    ) {
        let demands = random_demands(hardware.racks, count, seed);
        let options = Options { hops, without_ports };
        check(&plan(hardware, &demands, options).unwrap(), hops);
    }

    /// Repeats round 1 by its definition: heaviest demand first, lowest plane first.
    #[test]
    fn the_first_round_is_greedy(hardware in hardware(), count in 0usize..60, seed: u64) {
        let demands = random_demands(hardware.racks, count, seed);
        let one = Options { hops: 1, without_ports: false };
        let topology = plan(hardware, &demands, one).unwrap();
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&at| (-demands[at].weight, demands[at].a, demands[at].b, at));
        let mut free = vec![hardware.ports; (hardware.racks * hardware.planes) as usize];
        let mut expected = vec![];
        for at in order {
            let Demand { a, b, need, .. } = demands[at];
            let index = |rack, plane| (plane * hardware.racks + rack) as usize;
            let both = |&plane: &u32| free[index(a, plane)] > 0 && free[index(b, plane)] > 0;
            if let Some(plane) = (0..hardware.planes).find(both) {
                free[index(a, plane)] -= 1;
                free[index(b, plane)] -= 1;
                let residual = (hardware.capacity - need).max(0);
                expected.push(Circuit { a: a.min(b), b: a.max(b), plane, residual });
            }
        }
        prop_assert_eq!(topology.circuits, expected);
    }

    /// Free ports only decrease: a pair that could still have its own circuit would have got one in
    /// round 1.
    #[test]
    fn nobody_is_left_with_a_plane_in_common(
        hardware in hardware(), count in 0usize..60, hops in 1u32..5, seed: u64,
    ) {
        let demands = random_demands(hardware.racks, count, seed);
        let topology = plan(hardware, &demands, Options { hops, without_ports: true }).unwrap();
        let mut free = vec![hardware.ports; (hardware.racks * hardware.planes) as usize];
        for circuit in &topology.circuits {
            free[(circuit.plane * hardware.racks + circuit.a) as usize] -= 1;
            free[(circuit.plane * hardware.racks + circuit.b) as usize] -= 1;
        }
        for (demand, route) in demands.iter().zip(&topology.routes) {
            for plane in (0..hardware.planes).filter(|_| route.is_empty()) {
                let of = |rack: u32| free[(plane * hardware.racks + rack) as usize];
                prop_assert!(of(demand.a) == 0 || of(demand.b) == 0);
            }
        }
    }

    /// The two-sided search against a plain one, on random graphs.
    #[test]
    fn the_search_finds_shortest_paths(racks in 2u32..150, degree in 0.5f64..6.0, seed: u64) {
        let mut rng = Stream::new(seed, "graph", 0);
        let mut rows = vec![vec![false; racks as usize]; racks as usize];
        for _ in 0..(f64::from(racks) * degree / 2.0) as usize {
            let (a, b) = rng.below2(racks, racks);
            rows[a as usize][b as usize] = true;
            rows[b as usize][a as usize] = true;
        }
        let neighbours = |rack: u32, set: &mut [u64]| {
            for (to, &joined) in rows[rack as usize].iter().enumerate() {
                set[to / 64] |= u64::from(joined) << (to % 64);
            }
        };
        let mut distance = vec![u32::MAX; racks as usize];
        let (from, step) = rng.below2(racks, racks - 1);
        let to = (from + 1 + step) % racks;
        distance[from as usize] = 0;
        let mut queue = std::collections::VecDeque::from([from]);
        while let Some(rack) = queue.pop_front() {
            for next in 0..racks {
                if rows[rack as usize][next as usize] && distance[next as usize] == u32::MAX {
                    distance[next as usize] = distance[rack as usize] + 1;
                    queue.push_back(next);
                }
            }
        }
        let mut search = Search::new(racks.div_ceil(64) as usize);
        for hops in 1..8 {
            let found = search.run(from, to, hops, neighbours);
            prop_assert_eq!(found, distance[to as usize] <= hops);
            if found {
                prop_assert_eq!(search.path.len() as u32, distance[to as usize] + 1);
                prop_assert_eq!((search.path[0], search.path[search.path.len() - 1]), (from, to));
                for edge in search.path.windows(2) {
                    prop_assert!(rows[edge[0] as usize][edge[1] as usize]);
                }
            }
        }
    }

    #[test]
    fn only_what_is_listed_changes(
        hardware in hardware(), count in 0usize..50, seed: u64, listed_share in 0.0f64..1.0,
        released_share in 0.0f64..1.0, without_ports: bool,
    ) {
        let options = Options { hops: 3, without_ports };
        let before = plan(hardware, &random_demands(hardware.racks, count, seed), options).unwrap();
        let mut rng = Stream::new(seed, "change", 0);
        let all = (0..hardware.racks).flat_map(|r| (0..hardware.planes).map(move |p| (r, p)));
        let ports: Vec<(u32, u32)> = all.filter(|_| rng.unit() < listed_share).collect();
        let released: Vec<usize> = (0..count).filter(|_| rng.unit() < released_share).collect();
        let new = random_demands(hardware.racks, 20, seed ^ 1);
        let after = before.reconfigure(&ports, &released, &new, options).unwrap();
        check(&after, 3);

        // Remaining demands have the same racks and planes on their paths.
        let staying: Vec<usize> = (0..count).filter(|at| !released.contains(at)).collect();
        prop_assert_eq!(after.demands.len(), staying.len() + new.len());
        prop_assert_eq!(&after.demands[staying.len()..], &new[..]);
        for (now, &was) in staying.iter().enumerate() {
            prop_assert_eq!(after.demands[now], before.demands[was]);
            prop_assert_eq!(after.racks(now), before.racks(was));
            let planes = |topology: &Topology, at: usize| -> Vec<u32> {
                let route = topology.routes[at].iter();
                route.map(|&circuit| topology.circuits[circuit as usize].plane).collect()
            };
            prop_assert_eq!(planes(&after, now), planes(&before, was));
        }
        // Both ports of an added or removed circuit are listed.
        let bag = |topology: &Topology| {
            let mut bag: Vec<_> =
                topology.circuits.iter().map(|c| (c.a, c.b, c.plane)).collect();
            bag.sort_unstable();
            bag
        };
        let (old, now) = (bag(&before), bag(&after));
        let count = |bag: &[(u32, u32, u32)], c| bag.iter().filter(|x| **x == c).count();
        for &(a, b, plane) in old.iter().chain(&now) {
            if count(&old, (a, b, plane)) != count(&now, (a, b, plane)) {
                prop_assert!(ports.contains(&(a, plane)) && ports.contains(&(b, plane)));
            }
        }
    }

    /// If everything is listed and released, the result is that of a new plan without circuits.
    #[test]
    fn a_whole_reconfiguration_is_a_new_plan(hardware in hardware(), seed: u64) {
        let options = Options::default();
        let before = plan(hardware, &random_demands(hardware.racks, 40, seed), options).unwrap();
        let all = (0..hardware.racks).flat_map(|r| (0..hardware.planes).map(move |p| (r, p)));
        let released: Vec<usize> = (0..40).collect();
        let new = random_demands(hardware.racks, 40, seed ^ 1);
        let after = before.reconfigure(&all.collect::<Vec<_>>(), &released, &new, options).unwrap();
        prop_assert_eq!(after, plan(hardware, &new, options).unwrap());
    }
}

fn demand(a: u32, b: u32, weight: i64, need: i64) -> Demand {
    Demand { a, b, weight, need }
}

proptest! {
    /// For any pairs that are kept apart: no circuit connects them, no port is used twice, and each
    /// other pair that has ports for a direct circuit gets one.
    #[test]
    fn racks_are_kept_apart(
        hardware in hardware(), count in 0usize..60, hops in 1u32..6, without_ports: bool,
        seed: u64, apart_share in 0.0f64..0.9,
    ) {
        let demands = random_demands(hardware.racks, count, seed);
        let mut rng = Stream::new(seed, "apart", 0);
        let pairs = (0..hardware.racks).flat_map(|a| (a + 1..hardware.racks).map(move |b| (a, b)));
        let apart: Vec<(u32, u32)> = pairs.filter(|_| rng.unit() < apart_share).collect();
        let dark = Topology { apart: apart.clone(), ..Topology::dark(hardware).unwrap() };
        let options = Options { hops, without_ports };
        let topology = dark.clone().change_everything(&demands, options).unwrap();
        check(&topology, hops);
        // As without the demands of pairs that are kept apart, in the first round.
        let is_apart = |d: &Demand| apart.contains(&(d.a.min(d.b), d.a.max(d.b)));
        let others: Vec<Demand> = demands.iter().copied().filter(|d| !is_apart(d)).collect();
        let first = Options { hops: 1, without_ports };
        let direct = dark.change_everything(&demands, first).unwrap();
        prop_assert_eq!(direct.circuits, plan(hardware, &others, first).unwrap().circuits);
    }
}

/// On one plane, rack 2 has one port for both hops, so no path over it connects 0 and 1, which are
/// kept apart. With a second plane there is a path, whichever plane the first hop uses.
#[test]
fn a_path_between_racks_that_are_kept_apart_needs_a_port_for_each_hop() {
    for (planes, served) in [(1, 0), (2, 1)] {
        let dark = Topology {
            apart: vec![(0, 1)],
            ..Topology::dark(Hardware::new(3, planes, 10)).unwrap()
        };
        let demands = [demand(0, 1, 9, 3)];
        let found = dark
            .change_everything(&demands, Options::default())
            .unwrap();
        check(&found, 4);
        assert_eq!(found.served(), served);
    }
}

#[test]
fn a_rack_in_between_spends_two_ports() {
    // Rack 0 has a port on plane 0, rack 2 has one on plane 1, rack 1 has one on each.
    let dark = Topology::dark(Hardware::new(4, 2, 10)).unwrap();
    let ports = [(0, 0), (1, 0), (1, 1), (2, 1)];
    let demands = [demand(0, 2, 9, 4), demand(2, 0, 8, 7), demand(0, 1, 7, 6)];
    let after = dark
        .reconfigure(&ports, &[], &demands, Options::default())
        .unwrap();
    // The third demand is served first, with a circuit of its own; the first demand uses its free
    // capacity.
    let planes: Vec<_> = after.circuits.iter().map(|c| (c.a, c.b, c.plane)).collect();
    assert_eq!(planes, [(0, 1, 0), (1, 2, 1)]);
    assert_eq!(after.racks(0), [0, 1, 2]);
    assert_eq!(
        after
            .circuits
            .iter()
            .map(|c| c.residual)
            .collect::<Vec<_>>(),
        [0, 6]
    );
    assert_eq!((after.served(), after.racks(1)), (2, vec![]));
    check(&after, 4);
}

#[test]
fn a_parallel_circuit_is_used_where_the_first_is_full() {
    let demands = [
        demand(0, 1, 9, 8),
        demand(0, 1, 8, 5),
        demand(0, 1, 7, 5),
        demand(1, 0, 6, 3),
    ];
    let options = Options {
        hops: 2,
        without_ports: true,
    };
    let topology = plan(Hardware::new(2, 2, 10), &demands, options).unwrap();
    assert_eq!(topology.routes, [vec![0], vec![1], vec![1], vec![]]);
    check(&topology, 2);
}

#[test]
fn rounds_go_by_length() {
    // One plane, four racks in a line 0-1, 2-3: no third circuit is possible.
    let hardware = Hardware::new(4, 2, 10);
    let demands = [
        demand(0, 1, 9, 3),
        demand(2, 3, 8, 3),
        demand(1, 2, 7, 3),
        demand(0, 3, 6, 3),
        demand(0, 2, 5, 3),
    ];
    let options = Options {
        hops: 4,
        without_ports: true,
    };
    let topology = plan(hardware, &demands, options).unwrap();
    // The first four demands form a ring on two planes; the fifth uses two circuits of the ring.
    assert_eq!(topology.circuits.len(), 4);
    assert_eq!(topology.served(), 5);
    assert_eq!(topology.racks(4), [0, 1, 2]);
    // The paper's rule stops as soon as no port is free.
    let paper = plan(hardware, &demands, Options::default()).unwrap();
    assert_eq!(paper.served(), 4);
    assert_eq!(paper.weight(), (30, 35));
}

#[test]
fn a_demand_beyond_a_circuit_takes_a_whole_one() {
    let demands = [demand(0, 1, 9, 25), demand(1, 0, 8, 1)];
    let topology = plan(Hardware::new(2, 3, 10), &demands, Options::default()).unwrap();
    assert_eq!(
        topology
            .circuits
            .iter()
            .map(|c| c.residual)
            .collect::<Vec<_>>(),
        [0, 9]
    );
    assert_eq!(topology.circuits[1].plane, 1);
    check(&topology, 4);
}

#[test]
fn bad_input_is_refused_by_name() {
    let good = Hardware::new(4, 2, 10);
    let key = |hardware: Hardware| hardware.check().unwrap_err().key;
    assert_eq!(key(Hardware { racks: 1, ..good }), "racks");
    assert_eq!(key(Hardware { planes: 0, ..good }), "planes");
    assert_eq!(
        key(Hardware {
            planes: 129,
            ..good
        }),
        "planes"
    );
    assert_eq!(key(Hardware { ports: 0, ..good }), "ports");
    assert_eq!(key(Hardware { ports: 2, ..good }), "ports");
    assert_eq!(
        key(Hardware {
            capacity: 0,
            ..good
        }),
        "capacity"
    );
    assert!(Hardware {
        ports: 2,
        radix: 8,
        ..good
    }
    .check()
    .is_ok());

    let refused = |demand: Demand| {
        let result = plan(
            good,
            &[self::demand(0, 1, 1, 1), demand],
            Options::default(),
        );
        result.unwrap_err().to_string()
    };
    assert_eq!(
        refused(demand(0, 4, 1, 1)),
        "demands[1].b = 4: the racks are 0 to 3; name a rack that exists"
    );
    assert!(refused(demand(2, 2, 1, 1)).contains("a rack has no demand for itself"));
    assert!(refused(demand(0, 1, -1, 1)).starts_with("demands[1].weight = -1"));
    assert!(refused(demand(0, 1, 1, -1)).starts_with("demands[1].need = -1"));
    let none = Options {
        hops: 0,
        ..Options::default()
    };
    assert_eq!(plan(good, &[], none).unwrap_err().key, "hops");

    let topology = plan(good, &[demand(0, 1, 1, 1)], Options::default()).unwrap();
    let refused = |ports: &[(u32, u32)], released: &[usize]| {
        topology
            .reconfigure(ports, released, &[], Options::default())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        refused(&[(3, 1), (3, 2)], &[]),
        "ports[1] = rack 3, plane 2: more ports than exist: there are 4 racks and 2 planes; \
         list ports that exist, each once"
    );
    assert!(refused(&[(3, 1), (3, 1)], &[]).contains("listed twice"));
    assert!(refused(&[], &[1]).contains("there are 1 demands"));
    assert!(refused(&[], &[0, 0]).contains("released twice"));
}
