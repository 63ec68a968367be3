//! Creates circuits and reserves capacity for one demand after another.

use super::ports::{Planes, Ports};
use super::search::Search;
use super::{Circuit, Demand, Hardware};

/// A circuit, seen from one of its racks.
#[derive(Clone, Copy)]
struct Link {
    residual: i64,
    to: u32,
    circuit: u32,
}

/// Ports, circuits and their free capacity.
pub(super) struct Router {
    pub ports: Ports,
    capacity: i64,
    /// The smallest capacity that a demand reserves.
    least: i64,
    circuits: Vec<Circuit>,
    /// The circuits of each rack with free capacity for some need, in the order in which they were
    /// created. Free capacity only decreases, so a removed circuit never returns.
    links: Vec<Vec<Link>>,
    search: Option<Search>,
}

impl Router {
    /// A router with free ports and remaining circuits, for these demands.
    pub fn new(
        hardware: &Hardware,
        ports: Ports,
        circuits: Vec<Circuit>,
        demands: &[Demand],
    ) -> Router {
        let mut router = Router {
            search: Some(Search::new(ports.words)),
            ports,
            capacity: hardware.capacity,
            least: { demands.iter() }
                .map(|demand| demand.need.min(hardware.capacity))
                .min()
                .unwrap_or(0),
            circuits: Vec::new(),
            links: vec![Vec::new(); hardware.racks as usize],
        };
        circuits.into_iter().for_each(|circuit| {
            router.add(circuit);
        });
        router
    }

    pub fn into_circuits(self) -> Vec<Circuit> {
        self.circuits
    }

    fn add(&mut self, circuit: Circuit) -> u32 {
        let at = self.circuits.len() as u32;
        if circuit.residual >= self.least {
            for (rack, to) in [(circuit.a, circuit.b), (circuit.b, circuit.a)] {
                self.links[rack as usize].push(Link {
                    residual: circuit.residual,
                    to,
                    circuit: at,
                });
            }
        }
        self.circuits.push(circuit);
        at
    }

    /// Creates a circuit on the lowest plane on which both racks have a free port; returns an empty
    /// route if there is none.
    pub fn connect_directly(&mut self, demand: &Demand) -> Vec<u32> {
        match self.ports.common(demand.a, demand.b) {
            0 => Vec::new(),
            planes => {
                let circuit = self.connect(demand.a, demand.b, planes.trailing_zeros());
                self.reserve(circuit, self.need(demand));
                vec![circuit]
            }
        }
    }

    fn connect(&mut self, a: u32, b: u32, plane: u32) -> u32 {
        self.ports.take(a, plane);
        self.ports.take(b, plane);
        self.add(Circuit {
            a: a.min(b),
            b: a.max(b),
            plane,
            residual: self.capacity,
        })
    }

    /// The capacity that a demand reserves: a demand larger than a circuit reserves a whole one.
    fn need(&self, demand: &Demand) -> i64 {
        demand.need.min(self.capacity)
    }

    fn reserve(&mut self, circuit: u32, need: i64) {
        let Circuit { a, b, residual, .. } = &mut self.circuits[circuit as usize];
        *residual -= need;
        for rack in [*a, *b] {
            let links = &mut self.links[rack as usize];
            if let Some(at) = links.iter().position(|link| link.circuit == circuit) {
                match *residual >= self.least {
                    true => links[at].residual = *residual,
                    false => drop(links.remove(at)),
                }
            }
        }
    }

    /// Finds a shortest path of at most `hops` hops and creates its missing circuits; returns an
    /// empty route if there is none.
    pub fn find(&mut self, demand: &Demand, hops: u32) -> Vec<u32> {
        // Taken out of `self`, so that the search can borrow the rest.
        let mut search = self.search.take().expect("there is one search");
        let need = self.need(demand);
        let neighbours = |rack: u32, set: &mut [u64]| self.add_neighbours(rack, need, set);
        let route = match search.run(demand.a, demand.b, hops, neighbours) {
            true => self.commit(&search.path, need),
            false => Vec::new(),
        };
        self.search = Some(search);
        route
    }

    /// Racks with a free port on a common plane, and those at the other end of a circuit with
    /// enough capacity.
    fn add_neighbours(&self, rack: u32, need: i64, set: &mut [u64]) {
        self.ports.add_neighbours(rack, set);
        for link in &self.links[rack as usize] {
            set[link.to as usize / 64] |= u64::from(link.residual >= need) << (link.to % 64);
        }
    }

    /// Reserves `need` along a shortest path: over circuits with enough capacity, otherwise over
    /// new ones on the lowest plane.
    ///
    /// No choice of planes has to be revised, although an intermediate rack uses two ports: if its
    /// two hops were on one plane, the racks before and after it would have free ports there too,
    /// and the path would not be a shortest one. The exception is that these racks are kept apart.
    /// Planes are then chosen with regard to the rest of the path, and the route is empty if there
    /// are too few.
    fn commit(&mut self, path: &[u32], need: i64) -> Vec<u32> {
        let Some(allowed) = self.allowed(path, need) else {
            return Vec::new();
        };
        let hops = path.windows(2).zip(allowed).map(|(pair, allowed)| {
            let (from, to) = (pair[0], pair[1]);
            let circuit = match self.with_room(from, to, need) {
                Some(circuit) => circuit,
                None => {
                    let planes = self.ports.common(from, to) & allowed;
                    self.connect(from, to, planes.trailing_zeros())
                }
            };
            self.reserve(circuit, need);
            circuit
        });
        hops.collect()
    }

    /// A circuit between two racks with enough capacity.
    fn with_room(&self, from: u32, to: u32, need: i64) -> Option<u32> {
        let mut links = self.links[from as usize].iter();
        let found = links.find(|link| link.to == to && link.residual >= need)?;
        Some(found.circuit)
    }

    /// For each hop of a path, the planes on which a new circuit leaves planes for the hops behind
    /// it; all planes if no racks are kept apart. `None` if some hop has no plane.
    fn allowed(&self, path: &[u32], need: i64) -> Option<Vec<Planes>> {
        let mut allowed = vec![Planes::MAX; path.len() - 1];
        if !self.ports.keeps_apart() {
            return Some(allowed);
        }
        // The planes of the hop behind; all if it needs no new circuit.
        let mut behind = Planes::MAX;
        for at in (0..allowed.len()).rev() {
            let (from, to) = (path[at], path[at + 1]);
            if self.with_room(from, to, need).is_some() {
                behind = Planes::MAX;
                continue;
            }
            let mut planes = self.ports.common(from, to);
            if behind.count_ones() == 1 && self.ports.single(to, behind.trailing_zeros()) {
                planes &= !behind;
            }
            if planes == 0 {
                return None;
            }
            (allowed[at], behind) = (planes, planes);
        }
        Some(allowed)
    }
}
