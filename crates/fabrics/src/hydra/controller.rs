//! Step 2 of the control cycle (§III.B.2, §III.B.3): from demand to a topology,
//! with `control::multihop`, the same heuristic that `lightloom plan` offers.

use super::config::Reconfigure;
use super::routes::Routes;
use lightloom_control::multihop::{Circuit, Demand, Hardware, Options, Topology};
use lightloom_control::vlan;
use lightloom_engine::Refusal;
use std::collections::{BTreeMap, VecDeque};

/// What the controller knows and how it decides.
#[derive(Clone, Debug)]
pub struct Controller {
    hardware: Hardware,
    options: Options,
    reconfigure: Reconfigure,
    /// As many VLANs as paths may take.
    vlans: usize,
    /// As last decided.
    topology: Topology,
    /// Ports that are broken: plane × racks + rack.
    broken: Vec<bool>,
}

impl Controller {
    /// All dark.
    ///
    /// # Errors
    /// If there is no such hardware.
    pub fn new(
        hardware: Hardware,
        hops: u32,
        reconfigure: Reconfigure,
        vlans: usize,
    ) -> Result<Controller, Refusal> {
        let options = Options {
            hops,
            without_ports: true,
        };
        Ok(Controller {
            topology: Topology::dark(hardware)?,
            hardware,
            options,
            reconfigure,
            vlans,
            broken: vec![false; (hardware.racks * hardware.planes) as usize],
        })
    }

    /// A port breaks, or works again.
    pub fn port(&mut self, rack: u32, plane: u32, works: bool) {
        let port = self.index(rack, plane);
        self.broken[port] = !works;
    }

    /// Whether a port is broken.
    pub fn is_broken(&self, rack: u32, plane: u32) -> bool {
        self.broken[self.index(rack, plane)]
    }

    /// The topology for `demands`; its paths.
    pub fn decide(&mut self, demands: &[Demand]) -> Routes {
        let found = match self.reconfigure {
            Reconfigure::Whole => self.anew(demands),
            Reconfigure::Partial => self.changed(demands),
        };
        // Demands come from racks that exist, and ports are listed once.
        let found = found.expect("the controller asks for what there is");
        self.topology = self.within_vlans(found);
        Routes::of(&self.topology)
    }

    /// Circuits of the topology as last decided: two racks and a plane.
    pub fn circuits(&self) -> impl Iterator<Item = (u32, u32, u32)> + '_ {
        self.topology.circuits.iter().map(|c| (c.a, c.b, c.plane))
    }

    fn anew(&self, demands: &[Demand]) -> Result<Topology, Refusal> {
        let ports = self.ports(|_| false);
        Topology::dark(self.hardware)?.reconfigure(&ports, &[], demands, self.options)
    }

    /// Demands that are served and still there keep their paths, on which they
    /// reserve what they need now, or what is left; all other ports may be used anew.
    fn changed(&self, demands: &[Demand]) -> Result<Topology, Refusal> {
        let mut standing = self.standing();
        let mut of_pair = BTreeMap::<(u32, u32), VecDeque<usize>>::new();
        for (at, demand) in demands.iter().enumerate() {
            of_pair
                .entry((demand.a, demand.b))
                .or_default()
                .push_back(at);
        }
        let mut waiting = vec![true; demands.len()];
        let mut released = Vec::new();
        let mut taken = vec![false; self.broken.len()];
        for at in 0..standing.demands.len() {
            let old = standing.demands[at];
            let again = of_pair
                .get_mut(&(old.a, old.b))
                .and_then(VecDeque::pop_front);
            let Some(again) = again else {
                released.push(at);
                continue;
            };
            waiting[again] = false;
            reserve_anew(&mut standing, at, demands[again]);
            for &circuit in &standing.routes[at] {
                let c = standing.circuits[circuit as usize];
                taken[self.index(c.a, c.plane)] = true;
                taken[self.index(c.b, c.plane)] = true;
            }
        }
        let ports = self.ports(|port| taken[port]);
        let waiting: Vec<Demand> = { demands.iter().zip(waiting) }
            .filter_map(|(&demand, waits)| waits.then_some(demand))
            .collect();
        standing.reconfigure(&ports, &released, &waiting, self.options)
    }

    /// What is left of the topology when broken ports have taken their circuits,
    /// and the paths over those, away: demands that are served.
    fn standing(&self) -> Topology {
        let works = |c: &Circuit| !self.is_broken(c.a, c.plane) && !self.is_broken(c.b, c.plane);
        let circuits = self.topology.circuits.iter().map(works).collect::<Vec<_>>();
        let paths = vec![true; self.topology.routes.len()];
        part(&self.topology, &paths, &circuits)
    }

    /// The topology without the paths that no VLAN is left for, the lightest first,
    /// and without the circuits that only those need (§III.B.1: a path is a VLAN, or
    /// shares one).
    fn within_vlans(&self, found: Topology) -> Topology {
        let served = |at: &usize| !found.routes[*at].is_empty();
        let mut order: Vec<usize> = (0..found.routes.len()).filter(served).collect();
        if order.len() <= self.vlans {
            return found;
        }
        order.sort_by_key(|&at| std::cmp::Reverse(found.demands[at].weight));
        let pairs: Vec<(u32, u32)> = found.circuits.iter().map(|c| (c.a, c.b)).collect();
        let paths: Vec<Vec<u32>> = order.iter().map(|&at| found.routes[at].clone()).collect();
        let held = vlan::within(&pairs, &paths, self.vlans, VLAN_SEED)
            .expect("a topology's routes are paths");
        let mut kept = vec![false; found.routes.len()];
        let mut used = vec![false; found.circuits.len()];
        for (&at, _) in order.iter().zip(held).filter(|&(_, held)| held) {
            kept[at] = true;
            for &circuit in &found.routes[at] {
                used[circuit as usize] = true;
            }
        }
        part(&found, &kept, &used)
    }

    /// Ports that work and that are not `taken`: (rack, plane).
    fn ports(&self, taken: impl Fn(usize) -> bool) -> Vec<(u32, u32)> {
        let all =
            (0..self.hardware.planes).flat_map(|p| (0..self.hardware.racks).map(move |r| (r, p)));
        all.filter(|&(rack, plane)| {
            let port = self.index(rack, plane);
            !self.broken[port] && !taken(port)
        })
        .collect()
    }

    fn index(&self, rack: u32, plane: u32) -> usize {
        (plane * self.hardware.racks + rack) as usize
    }
}

/// A demand keeps its path and is now `demand`: it gives back what it reserved, and
/// takes what it needs, as far as every circuit has it.
fn reserve_anew(topology: &mut Topology, at: usize, demand: Demand) {
    let capacity = topology.hardware.capacity;
    let route = &topology.routes[at];
    let circuits = &mut topology.circuits;
    let before = topology.demands[at].need.min(capacity);
    for &circuit in route {
        circuits[circuit as usize].residual += before;
    }
    let left = route.iter().map(|&c| circuits[c as usize].residual).min();
    let need = demand.need.min(left.unwrap_or(0));
    for &circuit in route {
        circuits[circuit as usize].residual -= need;
    }
    topology.demands[at] = Demand { need, ..demand };
}

/// Decides which orders of paths are tried for few VLANs.
const VLAN_SEED: u64 = 1;

/// The part of a topology with these circuits, and those of these paths, by index,
/// that still have theirs.
fn part(whole: &Topology, paths: &[bool], circuits: &[bool]) -> Topology {
    let mut place = vec![None; whole.circuits.len()];
    let mut part = Topology {
        hardware: whole.hardware,
        demands: Vec::new(),
        circuits: Vec::new(),
        routes: Vec::new(),
    };
    for at in (0..circuits.len()).filter(|&at| circuits[at]) {
        place[at] = Some(part.circuits.len() as u32);
        part.circuits.push(Circuit {
            residual: whole.hardware.capacity,
            ..whole.circuits[at]
        });
    }
    for at in (0..paths.len()).filter(|&at| paths[at]) {
        let route = whole.routes[at].iter().map(|&c| place[c as usize]);
        let Some(route) = route
            .collect::<Option<Vec<u32>>>()
            .filter(|r| !r.is_empty())
        else {
            continue;
        };
        let demand = whole.demands[at];
        for &circuit in &route {
            let reserved = demand.need.min(whole.hardware.capacity);
            part.circuits[circuit as usize].residual -= reserved;
        }
        part.demands.push(demand);
        part.routes.push(route);
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand(a: u32, b: u32, weight: i64) -> Demand {
        Demand {
            a,
            b,
            weight,
            need: 6,
        }
    }

    fn controller(reconfigure: Reconfigure) -> Controller {
        Controller::new(Hardware::new(4, 1, 10), 4, reconfigure, vlan::MAX_VLANS).unwrap()
    }

    /// Three racks on two planes, joined pairwise: a triangle is a loop, so one VLAN
    /// holds the two heaviest pairs, and the third circuit goes dark.
    #[test]
    fn paths_without_a_vlan_stay_electrical_the_lightest_first() {
        let demands = [demand(0, 1, 5), demand(0, 2, 4), demand(1, 2, 3)];
        for (vlans, joined) in [(1, vec![(0, 1), (0, 2)]), (2, vec![(0, 1), (0, 2), (1, 2)])] {
            let hardware = Hardware::new(3, 3, 6);
            let mut controller = Controller::new(hardware, 1, Reconfigure::Whole, vlans).unwrap();
            let routes = controller.decide(&demands);
            let mut circuits: Vec<_> = controller.circuits().map(|(a, b, _)| (a, b)).collect();
            circuits.sort_unstable();
            assert_eq!(circuits, joined);
            assert_eq!(routes.racks().len(), joined.len());
        }
    }

    #[test]
    fn a_partial_change_leaves_what_is_still_wanted() {
        for (reconfigure, joined) in [
            (Reconfigure::Partial, [(0, 1, 0), (2, 3, 0)]),
            (Reconfigure::Whole, [(0, 2, 0), (1, 3, 0)]),
        ] {
            let mut controller = controller(reconfigure);
            let first = controller.decide(&[demand(0, 1, 5), demand(2, 3, 4)]);
            assert_eq!(first.between(1, 0).len(), 1);
            controller.decide(&[
                demand(0, 2, 9),
                demand(0, 1, 5),
                demand(1, 3, 7),
                demand(2, 3, 4),
            ]);
            let mut circuits: Vec<_> = controller.circuits().collect();
            circuits.sort_unstable();
            assert_eq!(circuits, joined);
        }
    }

    /// 0-2 can go over 0-1 and 1-2 only if these need less than before; reservations
    /// once stayed what they were when the path was found.
    #[test]
    fn a_standing_path_reserves_what_it_needs_now() {
        let need = |a, b, weight, need| Demand { a, b, weight, need };
        for (now, hops) in [(2, Some(3)), (7, None)] {
            let hardware = Hardware::new(3, 2, 10);
            let mut controller =
                Controller::new(hardware, 2, Reconfigure::Partial, vlan::MAX_VLANS).unwrap();
            controller.port(0, 1, false);
            controller.port(2, 0, false);
            controller.decide(&[need(0, 1, 9, 7), need(1, 2, 8, 7)]);
            let routes =
                controller.decide(&[need(0, 1, 9, now), need(1, 2, 8, now), need(0, 2, 1, 4)]);
            let racks = routes.between(0, 2).first().map(|route| route.racks.len());
            assert_eq!(racks, hops);
        }
    }

    #[test]
    fn broken_ports_are_left_out_until_they_work() {
        for reconfigure in [Reconfigure::Partial, Reconfigure::Whole] {
            let mut controller = controller(reconfigure);
            let demands = [demand(0, 1, 5), demand(2, 3, 4)];
            assert_eq!(controller.decide(&demands).racks().len(), 2);
            controller.port(1, 0, false);
            assert_eq!(controller.decide(&demands).racks(), [[2, 3]]);
            controller.port(1, 0, true);
            assert_eq!(controller.decide(&demands).racks(), [[0, 1], [2, 3]]);
        }
    }
}
