//! A policy that requests any circuits and routes that a switch can have, drawn at random for any
//! demand.

use lightloom_control::circuits::{Circuit, Circuits};
use lightloom_control::hardware::Hardware;
use lightloom_control::order::Order;
use lightloom_control::policy::{Demand, Policy, SwitchView, Target};
use lightloom_control::routes::{Route, Routes};
use lightloom_engine::{Rate, Refusal, Stream};
use proptest::prelude::*;
use serde_json::{json, Value};

/// Its name here.
pub const ANYTHING: &str = "anything";

pub fn tables() -> BoxedStrategy<(Hardware, Value)> {
    let switch = (2u32..7, 1u32..4, 1u32..4).prop_map(|(racks, planes, ports)| {
        let switch = Hardware::new(racks, planes, Rate(8 * Rate::GBPS.0));
        Hardware { ports, ..switch }
    });
    let table = (any::<u64>(), any::<bool>());
    let table = table.prop_map(|(seed, directed)| json!({ "seed": seed, "directed": directed }));
    (switch, table).boxed()
}

pub struct Anything {
    random: Stream,
    directed: bool,
    last: Option<Target>,
}

impl Anything {
    pub fn build(table: &Value) -> Anything {
        let seed = table["seed"].as_u64().expect("a seed");
        Anything {
            random: Stream::new(seed, ANYTHING, 0),
            directed: table["directed"] == true,
            last: None,
        }
    }

    fn below(&mut self, end: usize) -> usize {
        (self.random.draw() % end as u64) as usize
    }

    /// Some of the previous circuits and some others, as far as ports permit.
    fn circuits(&mut self, switch: &SwitchView) -> Circuits {
        let Hardware { racks, planes, .. } = switch.hardware;
        let mut tried: Vec<Circuit> = match &self.last {
            Some(Target::Network { circuits, .. }) => circuits.iter().collect(),
            _ => Vec::new(),
        };
        tried.retain(|_| self.below(4) > 0);
        for _ in 0..self.below(3 * racks as usize) {
            let [a, b] = [(); 2].map(|()| self.below(racks as usize) as u32);
            let plane = self.below(planes as usize) as u32;
            tried.push(Circuit { a, b, plane });
        }
        let mut circuits = Circuits::of(self.directed, []);
        for c in tried {
            let more = Circuits::of(self.directed, circuits.iter().chain([c]));
            let works = switch.works(c.a, c.plane) && switch.works(c.b, c.plane);
            if works && more.check(&switch.hardware).is_ok() {
                circuits = more;
            }
        }
        circuits
    }

    /// Walks over circuits that visit each rack once.
    fn routes(&mut self, circuits: &Circuits, racks: u32) -> Routes {
        let mut routes = Routes::none(self.directed);
        let ways = |c: Circuit| [(c.a, c.b, c.plane), (c.b, c.a, c.plane)];
        let ways = circuits.iter().map(ways);
        let both = if self.directed { 1 } else { 2 };
        let hops: Vec<_> = ways.flat_map(|w| w.into_iter().take(both)).collect();
        for _ in 0..self.below(8) {
            let mut visited = vec![self.below(racks as usize) as u32];
            let mut over = Vec::new();
            while self.below(4) > 0 {
                let here = visited[visited.len() - 1];
                let next = hops
                    .iter()
                    .filter(|h| h.0 == here && !visited.contains(&h.1));
                let next: Vec<_> = next.collect();
                if next.is_empty() {
                    break;
                }
                let &(_, there, plane) = next[self.below(next.len())];
                visited.push(there);
                over.push(plane);
            }
            if !over.is_empty() {
                routes.add(Route {
                    racks: visited,
                    planes: over,
                });
            }
        }
        routes
    }
}

impl Policy for Anything {
    fn decide(&mut self, _: &Demand, switch: &SwitchView) -> Result<Target, Refusal> {
        let circuits = self.circuits(switch);
        let routes = self.routes(&circuits, switch.hardware.racks);
        let target = Target::Network { circuits, routes };
        self.last = Some(target.clone());
        Ok(target)
    }

    fn order(&self) -> Order {
        Order::DELETE_CREATE
    }
}
