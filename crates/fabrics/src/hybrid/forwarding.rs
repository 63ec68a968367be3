//! Which links lead from a server to another: the circuits of its rack's route while
//! there is one, the electrical tree otherwise.
//!
//! A pair of racks with several routes spreads its flows over them by their numbers.

use super::demultiplex::Demultiplexer;
use super::tree::Tree;
use lightloom_control::hardware::Hardware;
use lightloom_control::routes::{Pair, Routes};
use lightloom_engine::fair::LinkId;
use lightloom_engine::{FlowId, HostId};

/// Routes in force, as links.
#[derive(Clone, Debug)]
pub struct Forwarding {
    hardware: Hardware,
    /// The link of the first optical port.
    first_port: u32,
    /// By rack, in the order of the racks that it reaches over circuits: the links of
    /// every route, outwards.
    reaches: Vec<Vec<(u32, Vec<Vec<LinkId>>)>>,
}

impl Forwarding {
    /// No routes; ports are links from `first_port` on, plane by plane.
    pub fn new(hardware: Hardware, first_port: LinkId) -> Forwarding {
        Forwarding {
            hardware,
            first_port: first_port.0,
            reaches: vec![Vec::new(); hardware.racks as usize],
        }
    }

    /// The link of an optical port, outwards.
    pub fn port(&self, rack: u32, plane: u32) -> LinkId {
        LinkId(self.first_port + self.hardware.port(rack, plane) as u32)
    }

    /// The rack and the plane of a link, if it is that of an optical port.
    pub fn port_of(&self, link: LinkId) -> Option<(u32, u32)> {
        let port = link.0.checked_sub(self.first_port)?;
        let racks = self.hardware.racks;
        (port < racks * self.hardware.planes).then_some((port % racks, port / racks))
    }

    /// The routes of some pairs are now these.
    pub fn update(&mut self, pairs: &[Pair], routes: &Routes) {
        for &(a, b) in pairs {
            self.set(a, b, routes);
            if !routes.directed() {
                self.set(b, a, routes);
            }
        }
    }

    fn set(&mut self, from: u32, to: u32, routes: &Routes) {
        let link = |(rack, plane)| self.port(rack, plane);
        let routes = routes.between(from, to).iter();
        let links: Vec<Vec<LinkId>> = routes.map(|r| r.ports(from).map(link).collect()).collect();
        let reaches = &mut self.reaches[from as usize];
        match (reaches.binary_search_by_key(&to, |r| r.0), links.is_empty()) {
            (Ok(at), true) => drop(reaches.remove(at)),
            (Ok(at), false) => reaches[at].1 = links,
            (Err(_), true) => {}
            (Err(at), false) => reaches.insert(at, (to, links)),
        }
    }

    /// The circuits that `flow` takes from rack `a` to rack `b`; none if there is no
    /// route.
    #[inline]
    fn circuits(&self, flow: FlowId, a: u32, b: u32) -> Option<&[LinkId]> {
        let reaches = &self.reaches[a as usize];
        let at = reaches.binary_search_by_key(&b, |r| r.0).ok()?;
        let routes = &reaches[at].1;
        Some(&routes[flow.index() % routes.len()])
    }

    /// Lays out the path of a flow; returns whether it is over circuits.
    #[inline]
    pub fn lay_path(
        &self,
        flow: FlowId,
        (src, a): (HostId, u32),
        (dst, b): (HostId, u32),
        tree: &Tree,
        servers: Option<&Demultiplexer>,
        path: &mut Vec<LinkId>,
    ) -> bool {
        path.clear();
        path.extend(tree.from_server(src));
        let circuits = self.circuits(flow, a, b);
        match circuits {
            Some(links) => path.extend_from_slice(links),
            None => {
                path.extend(servers.and_then(|s| s.bound(src)));
                path.extend(tree.between(a, b));
            }
        }
        path.extend(tree.to_server(dst));
        circuits.is_some()
    }
}
