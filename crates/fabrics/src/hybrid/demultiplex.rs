//! Traffic demultiplexing on the servers (§4.2): packets for the connected rack
//! leave on the optical VLAN, all others on the electrical one.
//!
//! Each server's output scheduler gives the queue for the connected rack 0.9 of
//! its link and splits 0.1 over all other queues; what one side cannot use the
//! other may. Here that is a bound on all electrical flows of a server together:
//! its link's rate, less what its optical flows can use, but never less than the
//! tenth. What they *can* use is 0.9 of the link, or an even share of the circuit
//! (the circuits of its rack together, where it has several) where that is less: that a receiver may take less still is not seen, nor that
//! flows rise for some milliseconds after a change.
//!
//! The tenth, the rest of the link, and everything beyond is shared flow by flow,
//! as TCP does. So queues that are not connected split the tenth by their flows
//! rather than evenly, which matters only if the tree could carry more than the
//! tenths of all servers.
//!
//! Traffic within the rack counts as electrical. Broadcast and multicast are not
//! modelled. Where servers' links do not limit, nothing is scheduled.

use lightloom_engine::fair::LinkId;
use lightloom_engine::kernel::flow::Net;
use lightloom_engine::{HostId, Rate};

/// What a flow leaves its server by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vlan {
    /// VLAN-c: the circuit to the connected rack.
    Optical,
    /// VLAN-s: the tree.
    Electrical,
}

/// Open flows of a server.
#[derive(Clone, Copy, Debug, Default)]
struct Queues {
    optical: u32,
    electrical: u32,
}

/// The output schedulers of all servers.
#[derive(Clone, Debug)]
pub struct Demultiplexer {
    nic: Option<Rate>,
    circuit: Rate,
    /// Most that the optical queue may claim while others wait.
    claim: Rate,
    servers_per_rack: u32,
    /// The bound of server 0's electrical flows.
    first_bound: u32,
    queues: Vec<Queues>,
    /// Optical flows out of each rack.
    optical: Vec<u32>,
    /// Circuits that they share, at least 1.
    circuits: Vec<u32>,
}

impl Demultiplexer {
    /// `weight` of links of `nic` is for the connected rack.
    pub fn new(
        nic: Option<Rate>,
        circuit: Rate,
        weight: f64,
        racks: u32,
        servers_per_rack: u32,
    ) -> Demultiplexer {
        let link = nic.unwrap_or_default();
        Demultiplexer {
            nic,
            circuit,
            claim: Rate((link.0 as f64 * weight).floor() as u64),
            servers_per_rack,
            first_bound: 0,
            queues: vec![Queues::default(); (racks * servers_per_rack) as usize],
            optical: vec![0; racks as usize],
            circuits: vec![1; racks as usize],
        }
    }

    /// Numbers the bounds, one a server, from `first` on.
    pub fn lay(&mut self, first: LinkId) {
        self.first_bound = first.0;
    }

    /// How many bounds there are.
    pub fn bounds(&self) -> u32 {
        match self.nic {
            Some(_) => self.queues.len() as u32,
            None => 0,
        }
    }

    /// The rate of a server's link, which its bound never exceeds.
    pub fn link(&self) -> Rate {
        self.nic.unwrap_or_default()
    }

    /// The bound that electrical flows of `server` pass.
    pub fn bound(&self, server: HostId) -> Option<LinkId> {
        self.nic.map(|_| LinkId(self.first_bound + server.0))
    }

    /// `server` has one more flow on `vlan`.
    pub fn join(&mut self, server: HostId, vlan: Vlan, net: &mut Net) {
        *self.count(server, vlan) += 1;
        let rack = self.rack(server);
        self.optical[rack] += (vlan == Vlan::Optical) as u32;
        self.balance(server, vlan, net);
    }

    /// `server` has one flow less on `vlan`.
    pub fn leave(&mut self, server: HostId, vlan: Vlan, net: &mut Net) {
        *self.count(server, vlan) -= 1;
        let rack = self.rack(server);
        self.optical[rack] -= (vlan == Vlan::Optical) as u32;
        self.balance(server, vlan, net);
    }

    fn count(&mut self, server: HostId, vlan: Vlan) -> &mut u32 {
        let queues = &mut self.queues[server.index()];
        match vlan {
            Vlan::Optical => &mut queues.optical,
            Vlan::Electrical => &mut queues.electrical,
        }
    }

    fn rack(&self, server: HostId) -> usize {
        (server.0 / self.servers_per_rack) as usize
    }

    /// A rack has so many circuits now.
    pub fn circuits(&mut self, rack: u32, circuits: u32, net: &mut Net) {
        let circuits = circuits.max(1);
        if std::mem::replace(&mut self.circuits[rack as usize], circuits) != circuits {
            self.balance(HostId(rack * self.servers_per_rack), Vlan::Optical, net);
        }
    }

    /// Sets the bounds that a change at `server` moves: with the number of
    /// optical flows, everybody's share of the circuit does.
    fn balance(&mut self, server: HostId, vlan: Vlan, net: &mut Net) {
        if self.nic.is_none() {
            return;
        }
        let rack = self.rack(server) as u32;
        let all = rack * self.servers_per_rack..(rack + 1) * self.servers_per_rack;
        match vlan {
            Vlan::Electrical => self.set_bound(server, net),
            Vlan::Optical => all.for_each(|s| self.set_bound(HostId(s), net)),
        }
    }

    fn set_bound(&self, server: HostId, net: &mut Net) {
        let queues = self.queues[server.index()];
        let usable = match queues {
            Queues { optical: 0, .. } | Queues { electrical: 0, .. } => 0,
            Queues { optical, .. } => {
                let rack = self.rack(server);
                let circuits = self.circuit.0 as u128 * self.circuits[rack] as u128;
                circuits * optical as u128 / self.optical[rack].max(1) as u128
            }
        };
        let optical = usable.min(self.claim.0 as u128) as u64;
        if let Some(bound) = self.bound(server) {
            net.set_capacity(bound, Rate(self.link().0 - optical));
        }
    }
}
