//! Step 2 of the control cycle (§III.B.2, §III.B.3): from demand to a topology,
//! with `control::multihop`, the same heuristic that `lightloom plan` offers.

use super::config::Reconfigure;
use super::routes::Routes;
use lightloom_control::multihop::{Circuit, Demand, Hardware, Options, Topology};
use lightloom_engine::Refusal;

/// What the controller knows and how it decides.
#[derive(Clone, Debug)]
pub struct Controller {
    hardware: Hardware,
    options: Options,
    reconfigure: Reconfigure,
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
        self.topology = found.expect("the controller asks for what there is");
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

    /// Demands that are served and still there keep their paths; all other ports
    /// may be used anew.
    fn changed(&self, demands: &[Demand]) -> Result<Topology, Refusal> {
        let standing = self.standing();
        let mut waiting = demands.to_vec();
        let mut released = Vec::new();
        let mut taken = vec![false; self.broken.len()];
        for (at, old) in standing.demands.iter().enumerate() {
            let again = waiting.iter().position(|d| (d.a, d.b) == (old.a, old.b));
            let Some(place) = again else {
                released.push(at);
                continue;
            };
            waiting.remove(place);
            for &circuit in &standing.routes[at] {
                let c = standing.circuits[circuit as usize];
                taken[self.index(c.a, c.plane)] = true;
                taken[self.index(c.b, c.plane)] = true;
            }
        }
        let ports = self.ports(|port| taken[port]);
        standing.reconfigure(&ports, &released, &waiting, self.options)
    }

    /// What is left of the topology when broken ports have taken their circuits,
    /// and the paths over those, away: demands that are served.
    fn standing(&self) -> Topology {
        let old = &self.topology;
        let works = |c: &Circuit| !self.is_broken(c.a, c.plane) && !self.is_broken(c.b, c.plane);
        let mut place = vec![None; old.circuits.len()];
        let mut standing = Topology {
            hardware: old.hardware,
            demands: Vec::new(),
            circuits: Vec::new(),
            routes: Vec::new(),
        };
        for (at, circuit) in old.circuits.iter().enumerate().filter(|(_, c)| works(c)) {
            place[at] = Some(standing.circuits.len() as u32);
            standing.circuits.push(Circuit {
                residual: old.hardware.capacity,
                ..*circuit
            });
        }
        for (demand, route) in old.demands.iter().zip(&old.routes) {
            let moved: Option<Vec<u32>> = route.iter().map(|&c| place[c as usize]).collect();
            let Some(route) = moved.filter(|r| !r.is_empty()) else {
                continue;
            };
            for &circuit in &route {
                let reserved = demand.need.min(old.hardware.capacity);
                standing.circuits[circuit as usize].residual -= reserved;
            }
            standing.demands.push(*demand);
            standing.routes.push(route);
        }
        standing
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
        Controller::new(Hardware::new(4, 1, 10), 4, reconfigure).unwrap()
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
