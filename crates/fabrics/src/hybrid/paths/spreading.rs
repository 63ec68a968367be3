//! Spreads the flows of a pair of racks over its routes, as rack switches spread flows over
//! parallel links: one route per flow, and no route is idle while flows share another.
//!
//! The load of a route is that of its busiest circuit, in open flows of all pairs. An arriving flow
//! takes the least busy route of its pair, the first of equals. When flows arrive, end or are
//! rerouted, every pair with several routes over the affected circuits is rebalanced at that
//! instant: while a flow's route has at least two flows more than another route of its pair, the
//! flow with the highest number on the busiest route moves to the least busy one. If N flows have M
//! circuits of their own, each circuit therefore has at most ⌈N/M⌉ flows.
//!
//! If the rate of such a flow is rising, it continues to rise after the move, because both routes
//! are lit.

use super::demultiplex::Vlan;
use super::forwarding::Forwarding;
use super::Paths;
use crate::hybrid::event::{Context, Event};
use lightloom_control::routes::Pair;
use lightloom_engine::fair::LinkId;
use lightloom_engine::kernel::flow::Net;
use lightloom_engine::FlowId;
use std::collections::BTreeSet;

/// Flows over the busiest circuit of a route.
fn busy(route: &[LinkId], net: &Net) -> usize {
    let flows = route.iter().map(|&link| net.flows_over(link).len());
    flows.max().unwrap_or(0)
}

/// The least busy route, the first of equals; there is one.
fn least_busy(routes: &[Vec<LinkId>], net: &Net) -> usize {
    let busy = |&at: &usize| busy(&routes[at], net);
    (0..routes.len()).min_by_key(busy).expect("a pair's routes")
}

/// Whether a path uses a route.
fn leads_over(path: &[LinkId], route: &[LinkId]) -> bool {
    path.windows(route.len()).any(|part| part == route)
}

/// The route of a flow. An open flow, whose path was `path`, keeps its route if possible.
#[inline]
pub fn choose<'a>(
    routes: &'a [Vec<LinkId>],
    path: Option<&[LinkId]>,
    net: &Net,
) -> Option<&'a [LinkId]> {
    let at = match routes {
        [] => return None,
        [_] => 0,
        _ => {
            let stays = |path| routes.iter().position(|route| leads_over(path, route));
            path.and_then(stays)
                .unwrap_or_else(|| least_busy(routes, net))
        }
    };
    Some(&routes[at])
}

/// The flows of a pair on each of its routes, by their numbers.
struct Spread {
    routes: Vec<Vec<LinkId>>,
    flows: Vec<Vec<FlowId>>,
}

impl Spread {
    /// The next flow to move, and its new route; `None` if the routes are evenly loaded.
    fn next(&mut self, net: &Net) -> Option<(FlowId, usize)> {
        let to = least_busy(&self.routes, net);
        let used = (0..self.routes.len()).filter(|&at| !self.flows[at].is_empty());
        let from = used.max_by_key(|&at| busy(&self.routes[at], net))?;
        if busy(&self.routes[from], net) < busy(&self.routes[to], net) + 2 {
            return None;
        }
        let flow = self.flows[from].pop()?;
        self.flows[to].push(flow);
        self.flows[to].sort_unstable();
        Some((flow, to))
    }
}

impl Paths {
    /// When a flow arrives or leaves, schedules a rebalancing at this instant for the pairs with
    /// several routes over its circuits.
    #[inline]
    pub(super) fn unsettle(&mut self, flow: FlowId, context: &mut Context) {
        if self.forwarding.has_choices() {
            let is_due = !self.unsettled.is_empty();
            let path = context.net.path(flow);
            unsettle_path(&self.forwarding, &mut self.unsettled, path);
            if !is_due && !self.unsettled.is_empty() {
                context.todo.schedule(context.now, Event::Spread);
            }
        }
    }

    /// Spreads the flows of pairs whose routes are no longer evenly loaded.
    pub fn spread(&mut self, context: &mut Context) {
        while let Some(pair) = self.unsettled.pop_first() {
            let Some(mut spread) = self.uneven(pair, context) else {
                continue;
            };
            while let Some((flow, to)) = spread.next(context.net) {
                self.lead_over(flow, &spread.routes[to], context);
            }
        }
    }

    /// The flows of a pair by its routes, if any may have to move.
    fn uneven(&self, (a, b): Pair, context: &Context) -> Option<Spread> {
        let (routes, net) = (self.forwarding.routes(a, b), &*context.net);
        let least = routes.iter().map(|route| busy(route, net)).min()?;
        if routes.iter().all(|route| busy(route, net) < least + 2) {
            return None;
        }
        let on = |route: &Vec<LinkId>| {
            let own = |&flow: &FlowId| {
                self.racks(flow, context.io) == (a, b) && leads_over(net.path(flow), route)
            };
            let mut flows: Vec<FlowId> = net.flows_over(route[0]).filter(own).collect();
            flows.sort_unstable();
            flows
        };
        Some(Spread {
            flows: routes.iter().map(on).collect(),
            routes: routes.to_vec(),
        })
    }

    /// Moves an open flow to another route of its pair.
    fn lead_over(&mut self, flow: FlowId, route: &[LinkId], context: &mut Context) {
        self.lay_path_over(flow, route, context.io);
        unsettle_path(
            &self.forwarding,
            &mut self.unsettled,
            context.net.path(flow),
        );
        unsettle_path(&self.forwarding, &mut self.unsettled, &self.path);
        context.net.reroute(flow, &self.path);
        self.delay(flow, Vlan::Optical, context.io, context.net);
    }
}

/// Marks pairs with several routes over the circuits of a path for rebalancing.
pub fn unsettle_path(forwarding: &Forwarding, unsettled: &mut BTreeSet<Pair>, path: &[LinkId]) {
    if forwarding.has_choices() {
        let pairs = path.iter().flat_map(|&link| forwarding.choosing(link));
        unsettled.extend(pairs);
    }
}
