//! Partial reconfiguration (§III.B.3): served demands that still exist keep their paths. On these
//! they reserve the capacity that they now need, or the remaining capacity if it is less. All other
//! ports are free for new circuits.

use crate::algorithms::multihop::{Circuit, Demand, Hardware, Options, Topology};
use crate::circuits;
use lightloom_engine::Refusal;
use std::collections::{BTreeMap, VecDeque};

/// The part of a topology that remains, and the part that may change.
pub struct Standing {
    topology: Topology,
    /// Working ports that no remaining path uses: (rack, plane).
    ports: Vec<(u32, u32)>,
    /// Demands of `topology` that no longer exist.
    released: Vec<usize>,
    /// Demands that `topology` does not serve.
    waiting: Vec<Demand>,
}

impl Standing {
    /// The part of a topology that remains for `demands` on a switch some of whose ports may not
    /// work. The `pinned` circuits always remain.
    pub fn new(
        before: &Topology,
        demands: &[Demand],
        works: &[bool],
        pinned: &[circuits::Circuit],
    ) -> Standing {
        let mut topology = lit(before, works);
        // Without paths there is nothing to look up: a complete reconfiguration needs no map.
        let mut of_pair = match topology.demands.is_empty() {
            true => BTreeMap::new(),
            false => by_pair(demands),
        };
        let mut waits = vec![true; demands.len()];
        let mut released = Vec::new();
        let mut free = works.to_vec();
        for c in pinned {
            free[port(&topology.hardware, c.a, c.plane)] = false;
            free[port(&topology.hardware, c.b, c.plane)] = false;
        }
        for at in 0..topology.demands.len() {
            let old = topology.demands[at];
            let again = of_pair.get_mut(&(old.a, old.b));
            let Some(again) = again.and_then(VecDeque::pop_front) else {
                released.push(at);
                continue;
            };
            waits[again] = false;
            reserve_anew(&mut topology, at, demands[again]);
            for &circuit in &topology.routes[at] {
                let c = topology.circuits[circuit as usize];
                free[port(&topology.hardware, c.a, c.plane)] = false;
                free[port(&topology.hardware, c.b, c.plane)] = false;
            }
        }
        let waiting = demands.iter().zip(waits);
        Standing {
            ports: ports(&topology.hardware, |port| free[port]),
            released,
            waiting: waiting
                .filter_map(|(&demand, waits)| waits.then_some(demand))
                .collect(),
            topology,
        }
    }

    /// The new topology. It keeps all parts of the remaining one that may not change.
    pub fn change(&self, options: Options) -> Result<Topology, Refusal> {
        self.topology
            .reconfigure(&self.ports, &self.released, &self.waiting, options)
    }
}

/// The demands of each pair, by index, in their order.
fn by_pair(demands: &[Demand]) -> BTreeMap<(u32, u32), VecDeque<usize>> {
    let mut of_pair = BTreeMap::<_, VecDeque<usize>>::new();
    for (at, demand) in demands.iter().enumerate() {
        let of_this = of_pair.entry((demand.a, demand.b)).or_default();
        of_this.push_back(at);
    }
    of_pair
}

/// Adds the pinned circuits that the topology lacks. A pair with demand uses its pinned circuit like
/// any other one.
pub fn light(pinned: &[circuits::Circuit], topology: &mut Topology) {
    for &circuits::Circuit { a, b, plane } in pinned {
        let joined = |c: &Circuit| (c.a, c.b, c.plane) == (a, b, plane);
        if topology.circuits.iter().any(joined) {
            continue;
        }
        let nothing = Demand {
            a,
            b,
            weight: 0,
            need: 0,
        };
        topology.routes.push(vec![topology.circuits.len() as u32]);
        topology.demands.push(nothing);
        topology.circuits.push(Circuit {
            a,
            b,
            plane,
            residual: topology.hardware.capacity,
        });
    }
}

/// Whether a circuit is pinned.
pub fn holds(pinned: &[circuits::Circuit], circuit: &Circuit) -> bool {
    let same = |p: &circuits::Circuit| (p.a, p.b, p.plane) == (circuit.a, circuit.b, circuit.plane);
    pinned.iter().any(same)
}

/// The selected ports of a switch, by the index plane × racks + rack: (rack, plane).
pub fn ports(hardware: &Hardware, wanted: impl Fn(usize) -> bool) -> Vec<(u32, u32)> {
    let all = (0..hardware.planes).flat_map(|p| (0..hardware.racks).map(move |r| (r, p)));
    all.filter(|&(rack, plane)| wanted(port(hardware, rack, plane)))
        .collect()
}

fn port(hardware: &Hardware, rack: u32, plane: u32) -> usize {
    (plane * hardware.racks + rack) as usize
}

/// The part of a topology, with its served demands, that remains after broken ports have removed
/// their circuits and the paths over them.
fn lit(before: &Topology, works: &[bool]) -> Topology {
    let works = |rack, plane| works[port(&before.hardware, rack, plane)];
    let lit = |c: &Circuit| works(c.a, c.plane) && works(c.b, c.plane);
    let circuits = before.circuits.iter().map(lit).collect::<Vec<_>>();
    part(before, &vec![true; before.routes.len()], &circuits)
}

/// Changes a demand that keeps its path to `demand`: releases its reservation, and reserves the
/// present need, or the capacity that every circuit of the path has if this is less.
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

/// A topology with only the kept paths and these circuits; the demands of the other paths become
/// unserved.
pub fn without_paths(whole: &Topology, kept: &[bool], circuits: &[bool]) -> Topology {
    let served = part(whole, kept, circuits);
    let mut routes = served.routes.into_iter();
    let route = |&kept: &bool| match kept {
        true => routes.next().expect("its circuits are there"),
        false => Vec::new(),
    };
    Topology {
        demands: whole.demands.clone(),
        routes: kept.iter().map(route).collect(),
        ..served
    }
}

/// Returns a topology with only the selected circuits, and with those of the selected paths (by
/// index) that use no other circuits.
pub fn part(whole: &Topology, paths: &[bool], circuits: &[bool]) -> Topology {
    let mut place = vec![None; whole.circuits.len()];
    let mut part = Topology {
        hardware: whole.hardware,
        demands: Vec::new(),
        circuits: Vec::new(),
        routes: Vec::new(),
        apart: whole.apart.clone(),
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
