//! All rounds, replayed by a plain breadth-first search: every demand that is served takes a
//! shortest path when it is its turn, and no demand is skipped.

use super::*;
use std::collections::VecDeque;

/// The remaining capacity while demands are served one after another.
struct Replay<'a> {
    planned: &'a Topology,
    /// Free ports, by rack and plane.
    free: Vec<Vec<u32>>,
    /// The circuits so far.
    circuits: Vec<Circuit>,
}

impl Replay<'_> {
    fn any_free(&self) -> bool {
        self.free.iter().flatten().any(|&ports| ports > 0)
    }

    fn may_be_joined(&self, a: u32, b: u32) -> bool {
        let pairs = self.free[a as usize].iter().zip(&self.free[b as usize]);
        pairs.into_iter().any(|(&a, &b)| a > 0 && b > 0)
    }

    fn has_room(&self, a: u32, b: u32, need: i64) -> bool {
        let ends = (a.min(b), a.max(b));
        { self.circuits.iter() }.any(|c| (c.a, c.b) == ends && c.residual >= need)
    }

    /// Hops of a shortest path; none if there is no path.
    fn distance(&self, demand: &Demand) -> Option<usize> {
        let need = demand.need.min(self.planned.hardware.capacity);
        let racks = self.planned.hardware.racks;
        let mut hops = vec![None; racks as usize];
        hops[demand.a as usize] = Some(0);
        let mut queue = VecDeque::from([demand.a]);
        while let Some(at) = queue.pop_front() {
            for to in (0..racks).filter(|&to| to != at) {
                let edge = self.may_be_joined(at, to) || self.has_room(at, to, need);
                if edge && hops[to as usize].is_none() {
                    hops[to as usize] = hops[at as usize].map(|hops| hops + 1);
                    queue.push_back(to);
                }
            }
        }
        hops[demand.b as usize]
    }

    /// Takes the ports and capacity of a demand's route, and checks that each hop is available. In
    /// round 1 a hop is a new circuit, later only if no circuit has enough capacity.
    fn serve(&mut self, demand: &Demand, route: &[u32], round: u32) {
        let capacity = self.planned.hardware.capacity;
        let need = demand.need.min(capacity);
        for &index in route {
            let made = self.planned.circuits[index as usize];
            if index as usize == self.circuits.len() {
                assert!(round == 1 || !self.has_room(made.a, made.b, need));
                let both = |&plane: &usize| {
                    self.free[made.a as usize][plane] > 0 && self.free[made.b as usize][plane] > 0
                };
                let lowest = (0..self.planned.hardware.planes as usize).find(both);
                assert_eq!(lowest, Some(made.plane as usize));
                for rack in [made.a, made.b] {
                    self.free[rack as usize][made.plane as usize] -= 1;
                }
                self.circuits.push(Circuit {
                    residual: capacity,
                    ..made
                });
            }
            let circuit = &mut self.circuits[index as usize];
            assert!(round > 1 || circuit.residual == capacity);
            circuit.residual -= need;
            assert!(circuit.residual >= 0);
        }
    }

    /// The rounds of the demands from `first` on: each that can be served when it is
    /// its turn is, over a shortest path.
    fn rounds(&mut self, first: usize, options: Options) {
        let Topology {
            demands, routes, ..
        } = self.planned;
        let mut waiting: Vec<usize> = (first..demands.len()).collect();
        waiting.sort_by_key(|&at| (-demands[at].weight, demands[at].a, demands[at].b, at));
        for round in 1..=options.hops {
            if !options.without_ports && !self.any_free() {
                break;
            }
            waiting.retain(|&at| {
                let Demand { a, b, .. } = demands[at];
                let hops = match round {
                    1 => self.may_be_joined(a, b).then_some(1),
                    _ => self.distance(&demands[at]),
                };
                let hops = hops.filter(|&hops| hops <= round as usize);
                if let Some(hops) = hops {
                    assert_eq!(routes[at].len(), hops, "demand {at}, round {round}");
                    self.serve(&demands[at], &routes[at], round);
                }
                hops.is_none()
            });
        }
        assert!(waiting.iter().all(|&at| routes[at].is_empty()));
        assert_eq!(self.circuits, self.planned.circuits);
    }

    /// Whether an unserved demand could be served.
    fn passed_over(&self, hops: u32) -> bool {
        let all = self.planned.demands.iter().zip(&self.planned.routes);
        let mut unserved = all.filter(|(_, route)| route.is_empty());
        unserved.any(|(demand, _)| {
            self.distance(demand)
                .is_some_and(|far| far <= hops as usize)
        })
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn every_round_serves_whom_it_can(
        hardware in hardware(), count in 0usize..60, hops in 1u32..6, without_ports: bool,
        seed: u64,
    ) {
        let demands = random_demands(hardware.racks, count, seed);
        let options = Options { hops, without_ports };
        let topology = plan(hardware, &demands, options).unwrap();
        let free = vec![vec![hardware.ports; hardware.planes as usize]; hardware.racks as usize];
        let mut replay = Replay { planned: &topology, free, circuits: vec![] };
        replay.rounds(0, options);
        // Without free ports the paper stops, and in round 1 all circuits are new: in both cases
        // any circuit with enough capacity.
        if hops > 1 && (without_ports || replay.any_free()) {
            prop_assert!(!replay.passed_over(hops));
        }
    }

    /// Idle ports that remain after a change are used like new ones.
    #[test]
    fn every_round_of_a_change_serves_whom_it_can(
        hardware in hardware(), hops in 1u32..6, without_ports: bool, seed: u64,
        listed_share in 0.0f64..1.0, released_share in 0.0f64..1.0,
    ) {
        let options = Options { hops, without_ports };
        let before = plan(hardware, &random_demands(hardware.racks, 40, seed), options).unwrap();
        let mut rng = Stream::new(seed, "change", 0);
        let all = (0..hardware.racks).flat_map(|r| (0..hardware.planes).map(move |p| (r, p)));
        let ports: Vec<(u32, u32)> = all.filter(|_| rng.unit() < listed_share).collect();
        let released: Vec<usize> = (0..40).filter(|_| rng.unit() < released_share).collect();
        let new = random_demands(hardware.racks, 40, seed ^ 1);
        let stays = before.reconfigure(&ports, &released, &[], options).unwrap();
        let after = before.reconfigure(&ports, &released, &new, options).unwrap();
        let mut free = vec![vec![0; hardware.planes as usize]; hardware.racks as usize];
        for (rack, plane) in ports {
            let uses = |c: &&Circuit| c.plane == plane && (c.a == rack || c.b == rack);
            let used = stays.circuits.iter().filter(uses).count() as u32;
            free[rack as usize][plane as usize] = hardware.ports - used;
        }
        let mut replay = Replay { planned: &after, free, circuits: stays.circuits };
        replay.rounds(stays.demands.len(), options);
    }
}

/// A demand larger than a circuit takes a whole one, new or idle.
#[test]
fn an_idle_circuit_carries_what_a_new_one_would() {
    let demand = |need| [demand(0, 1, 9, need)];
    let options = Options {
        without_ports: true,
        ..Options::default()
    };
    let before = plan(Hardware::new(2, 1, 10), &demand(3), options).unwrap();
    // The circuit stays, since its ports are not listed.
    let after = before.reconfigure(&[], &[0], &demand(25), options).unwrap();
    assert_eq!(
        (after.racks(0), after.circuits[0].residual),
        (vec![0, 1], 0)
    );
}
