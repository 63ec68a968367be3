//! HydRA's topology: the racks to connect on each optical plane, and the circuits, possibly several
//! in a row, that each demand uses (Christodoulopoulos et al., "Performance evaluation of a hybrid
//! optical/electrical interconnect", JOCN 7(3), 2015, §III.B.3).
//!
//! N racks have Z ports each on K parallel switches ("planes"); a circuit connects two ports of one
//! plane and carries both directions. Demands are served heaviest first, in rounds of paths of one,
//! two, … H hops. In round 1 a demand gets a new circuit of its own. Later, a breadth-first search
//! over pairs of racks that have free ports on a common plane, or a circuit with enough capacity,
//! finds a shortest path, and its missing circuits are created. Demands that remain after H rounds
//! use the electrical network.
//!
//! A demand is undirected: it reserves its need on a circuit once, for its larger direction.
//! Demands are not split over paths; one that exceeds a circuit takes a whole circuit. The caller
//! accounts for switching delays.

mod change;
mod demands;
mod hardware;
mod ports;
mod route;
mod search;

#[cfg(test)]
mod tests;

pub use demands::{demands, Demand, Need};
pub use hardware::{Hardware, MAX_PLANES};

use demands::check_demands;
use lightloom_engine::Refusal;
use ports::Ports;
use route::Router;

/// Two racks connected on a plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Circuit {
    /// The lower of the two racks.
    pub a: u32,
    /// The higher.
    pub b: u32,
    /// The switch that connects them.
    pub plane: u32,
    /// Capacity that no path has reserved.
    pub residual: i64,
}

impl Circuit {
    /// The rack at the other end.
    ///
    /// ```
    /// use lightloom_control::algorithms::multihop::Circuit;
    /// let circuit = Circuit { a: 2, b: 7, plane: 0, residual: 10 };
    /// assert_eq!((circuit.other(2), circuit.other(7)), (7, 2));
    /// ```
    pub fn other(&self, rack: u32) -> u32 {
        self.a ^ self.b ^ rack
    }
}

/// The limits of the heuristic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// H: the largest number of circuits in a path.
    pub hops: u32,
    /// Whether rounds continue when no port is free, over circuits with free capacity. The paper
    /// stops.
    pub without_ports: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            hops: 4,
            without_ports: false,
        }
    }
}

/// Circuits, and the demands that use them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// The switches for which it was built.
    pub hardware: Hardware,
    /// All demands, served or not.
    pub demands: Vec<Demand>,
    /// Circuits in the order in which they were created.
    pub circuits: Vec<Circuit>,
    /// The circuits (by index) of each demand's path from `a` to `b`; empty if it
    /// is not served.
    pub routes: Vec<Vec<u32>>,
    /// Pairs of racks that no new circuit connects. Paths over other racks are allowed.
    pub apart: Vec<(u32, u32)>,
}

/// The topology for `demands` if everything may be configured.
///
/// # Errors
/// Those of [`Hardware::check`]; if there are no hops; if a demand is of a rack that does not
/// exist, of a rack with itself, or has a negative weight or need.
///
/// ```
/// use lightloom_control::algorithms::multihop::{plan, Demand, Hardware, Options};
/// // Three racks on one plane: one circuit, and a port that is left over.
/// let demand = |a, b, weight| Demand { a, b, weight, need: 2 };
/// let demands = [demand(0, 1, 5), demand(1, 2, 9), demand(0, 2, 7)];
/// let one = plan(Hardware::new(3, 1, 10), &demands, Options::default()).unwrap();
/// assert_eq!((one.circuits.len(), one.served()), (1, 1));
/// assert_eq!(one.racks(1), [1, 2]); // the heaviest
/// // With two planes the third demand uses the circuits of the other two.
/// let options = Options { without_ports: true, ..Options::default() };
/// let two = plan(Hardware::new(3, 2, 10), &demands, options).unwrap();
/// assert_eq!((two.circuits.len(), two.served()), (2, 3));
/// assert_eq!(two.racks(0), [0, 2, 1]);
/// ```
pub fn plan(hardware: Hardware, demands: &[Demand], options: Options) -> Result<Topology, Refusal> {
    Topology::dark(hardware)?.change_everything(demands, options)
}

impl Topology {
    /// No circuits and no demands.
    ///
    /// # Errors
    /// As [`Hardware::check`].
    ///
    /// ```
    /// use lightloom_control::algorithms::multihop::{Hardware, Topology};
    /// let dark = Topology::dark(Hardware::new(320, 32, 10_000_000_000)).unwrap();
    /// assert_eq!((dark.circuits.len(), dark.served()), (0, 0));
    /// ```
    pub fn dark(hardware: Hardware) -> Result<Topology, Refusal> {
        hardware.check()?;
        Ok(Topology {
            hardware,
            demands: Vec::new(),
            circuits: Vec::new(),
            routes: Vec::new(),
            apart: Vec::new(),
        })
    }

    /// The number of served demands.
    pub fn served(&self) -> usize {
        self.routes.iter().filter(|route| !route.is_empty()).count()
    }

    /// The racks of a demand's path from `a` to `b`; none if it is not served.
    pub fn racks(&self, demand: usize) -> Vec<u32> {
        let route = &self.routes[demand];
        let start = (!route.is_empty()).then_some(self.demands[demand].a);
        let mut at = self.demands[demand].a;
        let hops = route.iter().map(|&circuit| {
            at = self.circuits[circuit as usize].other(at);
            at
        });
        start.into_iter().chain(hops).collect()
    }

    /// The weight of the served demands and of all demands: the share by which the optical network
    /// relieves the electrical one.
    ///
    /// ```
    /// use lightloom_control::algorithms::multihop::{plan, Demand, Hardware, Options};
    /// let demand = |a, b, weight| Demand { a, b, weight, need: 2 };
    /// let demands = [demand(0, 1, 5), demand(1, 2, 9)];
    /// let topology = plan(Hardware::new(3, 1, 10), &demands, Options::default()).unwrap();
    /// assert_eq!(topology.weight(), (9, 14));
    /// ```
    pub fn weight(&self) -> (i128, i128) {
        let weights = self.demands.iter().zip(&self.routes);
        weights.fold((0, 0), |(served, all), (demand, route)| {
            let weight = i128::from(demand.weight);
            let of_served = if route.is_empty() { 0 } else { weight };
            (served + of_served, all + weight)
        })
    }

    fn change_everything(self, demands: &[Demand], options: Options) -> Result<Topology, Refusal> {
        check_demands(&self.hardware, demands)?;
        let mut ports = Ports::new(&self.hardware);
        ports.free_all(self.hardware.ports);
        ports.keep_apart(&self.apart);
        let mut router = Router::new(&self.hardware, ports, self.circuits, demands);
        let routes = serve(&mut router, demands, options)?;
        Ok(Topology {
            demands: demands.to_vec(),
            circuits: router.into_circuits(),
            routes,
            ..self
        })
    }
}

/// Performs the rounds; returns a route for each demand.
fn serve(
    router: &mut Router,
    demands: &[Demand],
    options: Options,
) -> Result<Vec<Vec<u32>>, Refusal> {
    if options.hops == 0 {
        return Err(Refusal::new(
            "hops",
            0,
            "a path has at least 1",
            "give 1 or more",
        ));
    }
    let mut waiting: Vec<u32> = (0..demands.len() as u32).collect();
    waiting.sort_by_key(|&at| {
        let demand = &demands[at as usize];
        (std::cmp::Reverse(demand.weight), demand.a, demand.b)
    });
    let mut routes = vec![Vec::new(); demands.len()];
    for hops in 1..=options.hops {
        if waiting.is_empty() || (!options.without_ports && !router.ports.any_free()) {
            break;
        }
        waiting.retain(|&at| {
            let demand = &demands[at as usize];
            let route = match hops {
                1 => router.connect_directly(demand),
                _ => router.find(demand, hops),
            };
            routes[at as usize] = route;
            routes[at as usize].is_empty()
        });
    }
    Ok(routes)
}
