//! The links from one server to another: the circuits of one of its rack's routes if there is any,
//! otherwise the electrical tree. `spreading` chooses among several routes.

use super::demultiplex::{Demultiplexer, Vlan};
use crate::hybrid::tree::Tree;
use lightloom_control::hardware::Hardware;
use lightloom_control::routes::{Pair, Routes};
use lightloom_engine::fair::LinkId;
use lightloom_engine::HostId;

/// Routes in force, as links.
#[derive(Clone, Debug)]
pub struct Forwarding {
    hardware: Hardware,
    /// The link of the first optical port.
    first_port: u32,
    /// By rack, in order of the racks that it reaches over circuits: the links of every route in
    /// the sending direction.
    reaches: Vec<Vec<(u32, Vec<Vec<LinkId>>)>>,
    /// By optical port: the pairs with several routes, one of which uses it.
    choosing: Vec<Vec<Pair>>,
    /// Number of pairs with several routes.
    choices: usize,
}

impl Forwarding {
    /// Creates tables without routes; ports are links from `first_port` on, plane by plane.
    pub fn new(hardware: Hardware, first_port: LinkId) -> Forwarding {
        Forwarding {
            hardware,
            first_port: first_port.0,
            reaches: vec![Vec::new(); hardware.racks as usize],
            choosing: vec![Vec::new(); hardware.columns()],
            choices: 0,
        }
    }

    /// The link of an optical port in the sending direction.
    pub fn port(&self, rack: u32, plane: u32) -> LinkId {
        LinkId(self.first_port + self.hardware.port(rack, plane) as u32)
    }

    /// The rack and the plane of a link, if it is that of an optical port.
    pub fn port_of(&self, link: LinkId) -> Option<(u32, u32)> {
        let port = link.0.checked_sub(self.first_port)?;
        let racks = self.hardware.racks;
        (port < racks * self.hardware.planes).then_some((port % racks, port / racks))
    }

    /// Replaces the routes of some pairs.
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
        let mut links: Vec<Vec<LinkId>> = Vec::new();
        for route in routes.between(from, to) {
            let route = route.ports(from).map(link).collect();
            // Several demands of a pair may use the same circuits, which are one route.
            if !links.contains(&route) {
                links.push(route);
            }
        }
        self.count_choice((from, to), false);
        let reaches = &mut self.reaches[from as usize];
        match (reaches.binary_search_by_key(&to, |r| r.0), links.is_empty()) {
            (Ok(at), true) => drop(reaches.remove(at)),
            (Ok(at), false) => reaches[at].1 = links,
            (Err(_), true) => {}
            (Err(at), false) => reaches.insert(at, (to, links)),
        }
        self.count_choice((from, to), true);
    }

    /// Adds or removes a pair with its present routes, if they are several.
    fn count_choice(&mut self, pair: Pair, begins: bool) {
        let Forwarding {
            first_port,
            reaches,
            choosing,
            choices,
            ..
        } = self;
        let of_rack = &reaches[pair.0 as usize];
        let Ok(at) = of_rack.binary_search_by_key(&pair.1, |r| r.0) else {
            return;
        };
        let routes = &of_rack[at].1;
        if routes.len() < 2 {
            return;
        }
        match begins {
            true => *choices += 1,
            false => *choices -= 1,
        }
        for link in routes.iter().flatten() {
            let pairs = &mut choosing[(link.0 - *first_port) as usize];
            match begins {
                true => pairs.push(pair),
                false => pairs.retain(|&other| other != pair),
            }
        }
    }

    /// Whether any pair has several routes.
    #[inline]
    pub fn has_choices(&self) -> bool {
        self.choices > 0
    }

    /// The pairs with several routes, one of which uses a link.
    pub fn choosing(&self, link: LinkId) -> impl Iterator<Item = Pair> + '_ {
        let port = link.0.checked_sub(self.first_port);
        let pairs = port.and_then(|port| self.choosing.get(port as usize));
        pairs.into_iter().flatten().copied()
    }

    /// The circuits of each route from rack `a` to rack `b`.
    #[inline]
    pub fn routes(&self, a: u32, b: u32) -> &[Vec<LinkId>] {
        let reaches = &self.reaches[a as usize];
        match reaches.binary_search_by_key(&b, |r| r.0) {
            Ok(at) => &reaches[at].1,
            Err(_) => &[],
        }
    }
}

/// Determines the path of a flow over the circuits of a route, or over the tree without a route.
#[inline]
pub fn lay(
    route: Option<&[LinkId]>,
    (src, a): (HostId, u32),
    (dst, b): (HostId, u32),
    tree: &Tree,
    servers: Option<&Demultiplexer>,
    path: &mut Vec<LinkId>,
) {
    path.clear();
    path.extend(tree.from_server(src));
    let vlan = match route {
        Some(_) => Vlan::Optical,
        None => Vlan::Electrical,
    };
    path.extend(servers.and_then(|s| s.bound(src, vlan)));
    match route {
        Some(links) => path.extend_from_slice(links),
        None => path.extend(tree.between(a, b)),
    }
    path.extend(tree.to_server(dst));
}
