//! Partial reconfiguration: some ports and some demands may change; all others stay unchanged.

use super::{check_demands, serve, Circuit, Demand, Options, Ports, Router, Topology};
use lightloom_engine::Refusal;

impl Topology {
    /// A topology that differs from this one only in the ports `ports`, each (rack, plane), and in
    /// the demands: `released` (by index) are removed and `demands` are added.
    ///
    /// A circuit is taken down if both its ports are listed and no remaining demand uses it. New
    /// demands may use the ports that become free, and free capacity on any circuit. Remaining
    /// demands and circuits come first, in their order.
    ///
    /// # Errors
    /// If there are no hops; if a port, rack or demand does not exist, or is listed twice; if
    /// demands are invalid as in [`super::plan`].
    ///
    /// ```
    /// use lightloom_control::algorithms::multihop::{plan, Demand, Hardware, Options};
    /// let demand = |a, b| Demand { a, b, weight: 1, need: 1 };
    /// let hardware = Hardware::new(4, 1, 10);
    /// let before = plan(hardware, &[demand(0, 1), demand(2, 3)], Options::default()).unwrap();
    /// // Racks 2 and 3 change; the ports of 0 and 1 are not listed and stay.
    /// let after = before
    ///     .reconfigure(&[(2, 0), (3, 0)], &[1], &[demand(0, 2)], Options::default())
    ///     .unwrap();
    /// assert_eq!(after.circuits[..], before.circuits[..1]);
    /// assert_eq!(after.served(), 1);
    /// ```
    pub fn reconfigure(
        &self,
        ports: &[(u32, u32)],
        released: &[usize],
        demands: &[Demand],
        options: Options,
    ) -> Result<Topology, Refusal> {
        check_demands(&self.hardware, demands)?;
        let listed = self.listed(ports)?;
        let goes = self.going(released)?;
        let (circuits, place) = self.staying(&listed, &goes);
        let free = self.free_ports(&listed, &circuits);
        let mut router = Router::new(&self.hardware, free, circuits, demands);
        let found = serve(&mut router, demands, options)?;
        let mut after = Topology {
            hardware: self.hardware,
            demands: Vec::new(),
            circuits: router.into_circuits(),
            routes: Vec::new(),
            apart: self.apart.clone(),
        };
        for at in (0..self.demands.len()).filter(|&at| !goes[at]) {
            let route = self.routes[at]
                .iter()
                .map(|&circuit| place[circuit as usize]);
            after.demands.push(self.demands[at]);
            after.routes.push(route.collect());
        }
        after.demands.extend(demands);
        after.routes.extend(found);
        Ok(after)
    }

    /// For each port of each plane, whether it may change.
    fn listed(&self, ports: &[(u32, u32)]) -> Result<Vec<bool>, Refusal> {
        let (racks, planes) = (self.hardware.racks, self.hardware.planes);
        let mut listed = vec![false; (racks * planes) as usize];
        for (at, &(rack, plane)) in ports.iter().enumerate() {
            let refuse = |limit: String| {
                let value = format!("rack {rack}, plane {plane}");
                let remedy = "list ports that exist, each once";
                Err(Refusal::new(format!("ports[{at}]"), value, limit, remedy))
            };
            if rack >= racks || plane >= planes {
                return refuse(format!(
                    "more ports than exist: there are {racks} racks and {planes} planes"
                ));
            }
            let port = &mut listed[(plane * racks + rack) as usize];
            if std::mem::replace(port, true) {
                return refuse("listed twice".to_owned());
            }
        }
        Ok(listed)
    }

    /// For each demand, whether it is removed.
    fn going(&self, released: &[usize]) -> Result<Vec<bool>, Refusal> {
        let mut goes = vec![false; self.demands.len()];
        for (at, &demand) in released.iter().enumerate() {
            let limit = match goes.get_mut(demand) {
                Some(goes) if !*goes => {
                    *goes = true;
                    continue;
                }
                Some(_) => "released twice".to_owned(),
                None => format!("there are {} demands", self.demands.len()),
            };
            return Err(Refusal::new(
                format!("released[{at}]"),
                demand,
                limit,
                "release demands that exist, each once",
            ));
        }
        Ok(goes)
    }

    /// The remaining circuits with their free capacity, and the new index of each.
    fn staying(&self, listed: &[bool], goes: &[bool]) -> (Vec<Circuit>, Vec<u32>) {
        let mut reserved = vec![0i64; self.circuits.len()];
        let mut needed = vec![false; self.circuits.len()];
        for (at, route) in self.routes.iter().enumerate().filter(|&(at, _)| !goes[at]) {
            for &circuit in route {
                let need = self.demands[at].need.min(self.hardware.capacity);
                reserved[circuit as usize] += need;
                needed[circuit as usize] = true;
            }
        }
        let is_listed =
            |rack: u32, plane: u32| listed[(plane * self.hardware.racks + rack) as usize];
        let mut staying = Vec::new();
        let mut place = vec![u32::MAX; self.circuits.len()];
        for (at, circuit) in self.circuits.iter().enumerate() {
            let may_go = is_listed(circuit.a, circuit.plane) && is_listed(circuit.b, circuit.plane);
            if needed[at] || !may_go {
                place[at] = staying.len() as u32;
                staying.push(Circuit {
                    residual: self.hardware.capacity - reserved[at],
                    ..*circuit
                });
            }
        }
        (staying, place)
    }

    /// Listed ports that no remaining circuit uses.
    fn free_ports(&self, listed: &[bool], staying: &[Circuit]) -> Ports {
        let racks = self.hardware.racks;
        let mut used = vec![0; listed.len()];
        for circuit in staying {
            for rack in [circuit.a, circuit.b] {
                used[(circuit.plane * racks + rack) as usize] += 1;
            }
        }
        let mut ports = Ports::new(&self.hardware);
        ports.keep_apart(&self.apart);
        for at in (0..listed.len()).filter(|&at| listed[at]) {
            for _ in used[at]..self.hardware.ports {
                ports.free(at as u32 % racks, at as u32 / racks);
            }
        }
        ports
    }
}
