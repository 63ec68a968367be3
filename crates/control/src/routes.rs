//! Routes: the circuits, rack by rack, over which two racks reach each other. A route uses the
//! pair's own circuit or several circuits in a row (HydRA, JOCN 7(3), 2015, §III.B.1: each path is
//! a VLAN or part of one).

use crate::circuits::{Circuit, Circuits};
use crate::hardware::Hardware;
pub use crate::hardware::Pair;
use lightloom_engine::{config, Refusal};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A path, from the first rack of its pair to the second.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// The racks on the path, both ends included.
    pub racks: Vec<u32>,
    /// The plane of each circuit; one entry less than `racks`.
    pub planes: Vec<u32>,
}

impl Route {
    /// The ports through which the path leaves racks if it is followed from `from`, one of its
    /// ends: (rack, plane).
    pub fn ports(&self, from: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let hops = self.planes.len();
        let forward = self.racks[0] == from;
        (0..hops).map(move |k| match forward {
            true => (self.racks[k], self.planes[k]),
            false => (self.racks[hops - k], self.planes[hops - 1 - k]),
        })
    }

    /// Refuses an invalid path: a path has at least two different racks and a plane between any two
    /// of them.
    ///
    /// # Errors
    /// If it is invalid; names `racks` or `planes`.
    pub fn check(&self) -> Result<(), Refusal> {
        let Route { racks, planes } = self;
        let refuse = |key, value, limit: &str, remedy| {
            let value = format!("{value:?}");
            Err(Refusal::new(key, value, limit, remedy))
        };
        if racks.len() < 2 {
            let remedy = "name both ends";
            return refuse("racks", racks, "a path visits two racks or more", remedy);
        }
        let again = |(at, rack)| racks[..at].contains(rack);
        if racks.iter().enumerate().any(again) {
            return refuse("racks", racks, "visits a rack twice", "leave the loop out");
        }
        if planes.len() != racks.len() - 1 {
            let limit = format!(
                "{} racks in a row have {} circuits",
                racks.len(),
                racks.len() - 1
            );
            return refuse("planes", planes, &limit, "name the plane of each circuit");
        }
        Ok(())
    }

    /// Its hops in its own direction.
    pub fn hops(&self) -> impl Iterator<Item = Circuit> + '_ {
        let pairs = self.racks.windows(2).zip(&self.planes);
        pairs.map(|(r, &plane)| Circuit {
            a: r[0],
            b: r[1],
            plane,
        })
    }
}

/// All routes by pair. Clones share the routes until one of them is changed, because a controller
/// stores the present and the previous routes and passes both on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(into = "Listed")]
pub struct Routes {
    directed: bool,
    by_pair: Arc<BTreeMap<Pair, Vec<Route>>>,
}

/// The serialised form.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    directed: bool,
    routes: Vec<Route>,
}

impl<'de> Deserialize<'de> for Routes {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Routes, D::Error> {
        let listed = Listed::deserialize(d)?;
        let mut routes = Routes::none(listed.directed);
        for (at, route) in listed.routes.into_iter().enumerate() {
            let checked = route.check();
            checked.map_err(|r| {
                let key = format!("routes[{at}].{}", r.key);
                config::nested_refusal(Refusal { key, ..r })
            })?;
            routes.add(route);
        }
        Ok(routes)
    }
}

impl From<Routes> for Listed {
    fn from(routes: Routes) -> Listed {
        Listed {
            directed: routes.directed,
            routes: routes.by_pair.values().flatten().cloned().collect(),
        }
    }
}

impl Routes {
    /// No routes, over directed or bidirectional circuits.
    pub fn none(directed: bool) -> Routes {
        Routes {
            directed,
            by_pair: Arc::default(),
        }
    }

    /// Routes in which each circuit connects only its own racks.
    ///
    /// ```
    /// use lightloom_control::{circuits::Circuits, routes::Routes};
    /// let routes = Routes::direct(&Circuits::both_ways([(0, 1), (2, 3)]));
    /// assert_eq!(routes.between(3, 2)[0].racks, [2, 3]);
    /// assert!(routes.between(0, 2).is_empty());
    /// ```
    pub fn direct(circuits: &Circuits) -> Routes {
        let mut routes = Routes::none(circuits.directed());
        for c in circuits.iter() {
            let (racks, planes) = (vec![c.a, c.b], vec![c.plane]);
            routes.add(Route { racks, planes });
        }
        routes
    }

    /// Refuses paths through racks or planes that a switch does not have.
    ///
    /// # Errors
    /// If there is such a path; names the first.
    pub fn check(&self, hardware: &Hardware) -> Result<(), Refusal> {
        let Hardware { racks, planes, .. } = *hardware;
        for ((a, b), route) in self.iter() {
            route.check()?;
            let odd = route.racks.iter().any(|&rack| rack >= racks);
            if odd || route.planes.iter().any(|&plane| plane >= planes) {
                let value = format!("over {:?} on planes {:?}", route.racks, route.planes);
                let limit = format!("racks are 0 to {}, planes 0 to {}", racks - 1, planes - 1);
                let key = format!("route of racks {a} and {b}");
                return Err(Refusal::new(key, value, limit, "join racks that exist"));
            }
        }
        Ok(())
    }

    /// Adds a route between the ends of `route`. Routes between the same racks are used in the
    /// order in which they were added.
    pub fn add(&mut self, mut route: Route) {
        let (first, last) = (route.racks[0], route.racks[route.racks.len() - 1]);
        if !self.directed && first > last {
            route.racks.reverse();
            route.planes.reverse();
        }
        let pair = self.pair(first, last);
        self.by_pair_mut().entry(pair).or_default().push(route);
    }

    /// Whether the routes are directed.
    pub fn directed(&self) -> bool {
        self.directed
    }

    /// The routes from rack `a` to rack `b`.
    pub fn between(&self, a: u32, b: u32) -> &[Route] {
        let found = self.by_pair.get(&self.pair(a, b));
        found.map_or(&[], |routes| routes.as_slice())
    }

    /// All routes in the order of their pairs.
    pub fn iter(&self) -> impl Iterator<Item = (Pair, &Route)> + '_ {
        let all = self.by_pair.iter();
        all.flat_map(|(&pair, routes)| routes.iter().map(move |route| (pair, route)))
    }

    /// Whether there are no routes.
    pub fn is_empty(&self) -> bool {
        self.by_pair.is_empty()
    }

    /// Pairs whose routes differ in `other`, in order.
    pub fn differing(&self, other: &Routes) -> Vec<Pair> {
        let pairs = self.by_pair.keys().chain(other.by_pair.keys());
        let mut pairs: Vec<_> = pairs
            .copied()
            .filter(|pair| self.by_pair.get(pair) != other.by_pair.get(pair))
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// Removes all routes of a pair; returns whether there were any.
    pub fn drop_pair(&mut self, pair: Pair) -> bool {
        self.by_pair.contains_key(&pair) && self.by_pair_mut().remove(&pair).is_some()
    }

    /// Removes the routes of a pair that are not in `staying`; returns whether there were any.
    pub fn narrow(&mut self, pair: Pair, staying: &Routes) -> bool {
        let key = self.pair(pair.0, pair.1);
        let stay = staying.between(pair.0, pair.1);
        let mut kept = self.between(pair.0, pair.1).to_vec();
        let before = kept.len();
        kept.retain(|route| stay.contains(route));
        let drops = kept.len() < before;
        if drops && kept.is_empty() {
            self.by_pair_mut().remove(&key);
        } else if drops {
            self.by_pair_mut().insert(key, kept);
        }
        drops
    }

    /// Keeps the routes whose hops all use circuits that are `lit`; returns the pairs that lose a
    /// route.
    pub fn keep_lit(&mut self, lit: impl Fn(Circuit) -> bool) -> Vec<Pair> {
        let is_lit = |route: &Route| route.hops().all(&lit);
        let loses = |routes: &Vec<Route>| !routes.iter().all(is_lit);
        let lost = { self.by_pair.iter() }.filter(|(_, routes)| loses(routes));
        let lost: Vec<Pair> = lost.map(|(&pair, _)| pair).collect();
        for &pair in &lost {
            let by_pair = self.by_pair_mut();
            let routes = by_pair.get_mut(&pair).expect("it loses some");
            routes.retain(is_lit);
            if routes.is_empty() {
                by_pair.remove(&pair);
            }
        }
        lost
    }

    fn by_pair_mut(&mut self) -> &mut BTreeMap<Pair, Vec<Route>> {
        Arc::make_mut(&mut self.by_pair)
    }

    fn pair(&self, a: u32, b: u32) -> Pair {
        match self.directed {
            true => (a, b),
            false => (a.min(b), a.max(b)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_is_walked_from_either_end() {
        let mut routes = Routes::none(false);
        routes.add(Route {
            racks: vec![3, 5, 1],
            planes: vec![7, 0],
        });
        let route = routes.between(3, 1)[0].clone();
        assert_eq!(route.ports(1).collect::<Vec<_>>(), [(1, 0), (5, 7)]);
        assert_eq!(route.ports(3).collect::<Vec<_>>(), [(3, 7), (5, 0)]);
        let hops: Vec<_> = route.hops().map(|c| (c.a, c.b, c.plane)).collect();
        assert_eq!(hops, [(1, 5, 0), (5, 3, 7)]);
        assert!(routes.keep_lit(|_| true).is_empty());
        assert_eq!(routes.keep_lit(|c| c.a != 5), [(1, 3)]);
        assert!(routes.between(1, 3).is_empty());
    }

    #[test]
    fn one_way_is_not_the_other() {
        let routes = Routes::direct(&Circuits::one_way([(2, 0), (0, 1)]));
        assert_eq!(routes.between(2, 0).len(), 1);
        assert!(routes.between(0, 2).is_empty());
        let other = Routes::direct(&Circuits::one_way([(2, 0), (1, 0)]));
        assert_eq!(routes.differing(&other), [(0, 1), (1, 0)]);
    }
}
