//! The paths in force: over which circuits, rack by rack, two racks reach each
//! other (§III.B.1: each is a VLAN, or part of one).

use lightloom_control::multihop::Topology;
use std::collections::BTreeMap;

/// A path from the lower rack to the higher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The racks that it visits, both ends included.
    pub racks: Vec<u32>,
    /// The plane of each circuit, one less.
    pub planes: Vec<u32>,
}

impl Route {
    /// The ports through which it leaves racks when walked from `from`, one of its
    /// ends: (rack, plane).
    pub fn ports(&self, from: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let hops = self.planes.len();
        let forward = self.racks[0] == from;
        (0..hops).map(move |k| match forward {
            true => (self.racks[k], self.planes[k]),
            false => (self.racks[hops - k], self.planes[hops - 1 - k]),
        })
    }

    /// Its circuits: two racks (the lower first) and a plane.
    pub fn circuits(&self) -> impl Iterator<Item = (u32, u32, u32)> + '_ {
        let pairs = self.racks.windows(2).zip(&self.planes);
        pairs.map(|(r, &plane)| (r[0].min(r[1]), r[0].max(r[1]), plane))
    }
}

/// All paths by pair of racks (the lower first).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Routes {
    by_pair: BTreeMap<(u32, u32), Vec<Route>>,
}

impl Routes {
    /// Those of a topology.
    pub fn of(topology: &Topology) -> Routes {
        let mut routes = Routes::default();
        for (at, circuits) in topology.routes.iter().enumerate() {
            if circuits.is_empty() {
                continue;
            }
            let demand = topology.demands[at];
            let plane = |&c: &u32| topology.circuits[c as usize].plane;
            let route = Route {
                racks: topology.racks(at),
                planes: circuits.iter().map(plane).collect(),
            };
            debug_assert!(demand.a < demand.b);
            let pair = (demand.a, demand.b);
            routes.by_pair.entry(pair).or_default().push(route);
        }
        routes
    }

    /// The paths between two racks, whichever way.
    pub fn between(&self, a: u32, b: u32) -> &[Route] {
        let found = self.by_pair.get(&(a.min(b), a.max(b)));
        found.map_or(&[], |routes| routes.as_slice())
    }

    /// Pairs whose paths are not the same in `other`.
    pub fn differing(&self, other: &Routes) -> Vec<(u32, u32)> {
        let pairs = self.by_pair.keys().chain(other.by_pair.keys());
        let mut pairs: Vec<_> = pairs
            .copied()
            .filter(|pair| self.by_pair.get(pair) != other.by_pair.get(pair))
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// Drops all paths of a pair; returns whether there were any.
    pub fn drop_pair(&mut self, pair: (u32, u32)) -> bool {
        self.by_pair.remove(&pair).is_some()
    }

    /// Keeps the paths whose every circuit is `lit`; returns the pairs that lose
    /// some.
    pub fn keep_lit(&mut self, lit: impl Fn(u32, u32, u32) -> bool) -> Vec<(u32, u32)> {
        let mut lost = Vec::new();
        for (&pair, routes) in &mut self.by_pair {
            let before = routes.len();
            routes.retain(|route| route.circuits().all(|(a, b, plane)| lit(a, b, plane)));
            if routes.len() < before {
                lost.push(pair);
            }
        }
        self.by_pair.retain(|_, routes| !routes.is_empty());
        lost
    }

    /// Every path's racks.
    pub fn racks(&self) -> Vec<Vec<u32>> {
        let all = self.by_pair.values().flatten();
        all.map(|route| route.racks.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_walked_from_either_end() {
        let route = Route {
            racks: vec![1, 5, 3],
            planes: vec![0, 7],
        };
        assert_eq!(route.ports(1).collect::<Vec<_>>(), [(1, 0), (5, 7)]);
        assert_eq!(route.ports(3).collect::<Vec<_>>(), [(3, 7), (5, 0)]);
        assert_eq!(route.circuits().collect::<Vec<_>>(), [(1, 5, 0), (3, 5, 7)]);
        let mut routes = Routes::default();
        routes.by_pair.insert((1, 3), vec![route]);
        assert_eq!(routes.between(3, 1).len(), 1);
        assert!(routes.keep_lit(|_, _, _| true).is_empty());
        assert_eq!(routes.keep_lit(|a, _, _| a != 3), [(1, 3)]);
        assert!(routes.between(1, 3).is_empty());
    }
}
