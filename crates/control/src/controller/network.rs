//! The circuits and routes in force in a controller's state, and the effects of a change's steps on
//! them.

use super::change::{Change, Darkening};
use super::messages::{Action, StepId};
use crate::circuits::{Circuit, Circuits};
use crate::hardware::Hardware;
use crate::order::{Extent, Step};
use crate::policy::{SwitchView, Target};
use crate::routes::{Pair, Routes};
use crate::schedule::Schedule;
use lightloom_engine::Refusal;

/// The circuits and routes in force that are known.
#[derive(Clone, Debug)]
pub(super) struct Network {
    pub(super) lit: Circuits,
    pub(super) routes: Routes,
    /// Pairs that rules lead to the electrical network, in order.
    pub(super) drained: Vec<Pair>,
    pub(super) works: Vec<bool>,
    pub(super) schedule: Option<Schedule>,
}

impl Network {
    pub(super) fn view(&self, hardware: Hardware) -> SwitchView<'_> {
        SwitchView {
            hardware,
            lit: &self.lit,
            works: &self.works,
            slots: None,
        }
    }

    /// Whether any circuit has to change. Circuits that are not in the target do no harm and go
    /// dark with the next change.
    pub(super) fn needs(&self, target: &Target) -> bool {
        match target {
            Target::Schedule(schedule) => self.schedule.as_ref() != Some(schedule),
            Target::Network { circuits, routes } => {
                !self.routes.differing(routes).is_empty() || !circuits.without(&self.lit).is_empty()
            }
        }
    }

    /// Refuses to mix static and rotating circuits, or directed and bidirectional circuits.
    pub(super) fn check_kind(&self, target: &Target) -> Result<(), Refusal> {
        let ways = |directed| match directed {
            true => "circuits of one direction",
            false => "circuits of both directions",
        };
        let (found, before) = match target {
            Target::Network { .. } if self.schedule.is_some() => ("circuits", "a schedule"),
            Target::Schedule(_) if !self.lit.is_empty() => ("a schedule", "circuits"),
            Target::Network { circuits, .. } if self.mixes(circuits) => {
                (ways(circuits.directed()), ways(self.lit.directed()))
            }
            _ => return Ok(()),
        };
        Err(Refusal::new(
            "policy",
            found,
            format!("it decided earlier on {before}"),
            "answer with one kind of target",
        ))
    }

    pub(super) fn follows(&mut self, target: &Target) {
        if let Target::Schedule(schedule) = target {
            self.schedule = Some(schedule.clone());
        }
    }

    fn mixes(&self, wanted: &Circuits) -> bool {
        let some = !self.lit.is_empty() && !wanted.is_empty();
        some && self.lit.directed() != wanted.directed()
    }

    /// Keeps some circuits lit, and the routes over them.
    pub(super) fn retain(&mut self, keep: impl Fn(Circuit) -> bool) {
        self.set_lit(self.lit.filtered(keep));
    }

    fn set_lit(&mut self, lit: Circuits) {
        self.lit = lit;
        let lit = self.lit.index();
        self.routes.keep_lit(|hop| lit.holds(hop));
    }

    /// The action of a step of `change`. Circuits that are ordered to go dark no longer count as
    /// lit, and routes over them no longer count as in force.
    pub(super) fn begin(&mut self, id: StepId, step: Step, change: &mut Change) -> Action {
        let Target::Network { circuits, routes } = &change.target else {
            unreachable!("schedules have no steps");
        };
        match step {
            Step::Drain => {
                // A pair that keeps all of its routes sends nothing to a dark circuit.
                let loses = |&(a, b): &Pair| {
                    let wanted = routes.between(a, b);
                    let mut now = self.routes.between(a, b).iter();
                    now.any(|route| !wanted.contains(route))
                };
                change.drain = self.routes.differing(routes);
                change.drain.retain(loses);
                Action::Drain(
                    id,
                    change.drain.clone(),
                    self.staying(&change.drain, routes),
                )
            }
            Step::Dark(extent) => {
                let dark = match extent {
                    Extent::All => self.lit.clone(),
                    Extent::Removed => self.lit.without(circuits),
                };
                change.dark = Darkening {
                    circuits: dark.clone(),
                    routes: self.routes.clone(),
                };
                self.set_lit(self.lit.without(&dark));
                Action::Dark(id, dark)
            }
            Step::Light => {
                change.light = circuits.without(&self.lit);
                Action::Light(id, change.light.clone())
            }
            Step::Route => Action::Route(id, new_routes(&self.routes, routes)),
            Step::Enter => Action::Enter(id, self.drained.clone(), routes.clone()),
        }
    }

    pub(super) fn done(&mut self, step: Step, change: &mut Change, hardware: Hardware) {
        match step {
            Step::Drain => {
                let Target::Network { routes, .. } = &change.target else {
                    unreachable!("schedules have no steps");
                };
                for pair in std::mem::take(&mut change.drain) {
                    self.routes.narrow(pair, routes);
                    change.dark.routes.narrow(pair, routes);
                    self.drained.push(pair);
                }
                self.drained.sort_unstable();
                self.drained.dedup();
            }
            Step::Dark(_) => change.dark = Darkening::default(),
            Step::Light => {
                let light = std::mem::take(&mut change.light);
                self.light(&light, hardware);
            }
            Step::Route => {}
            Step::Enter => {
                if let Target::Network { routes, .. } = &change.target {
                    self.drained.clear();
                    self.routes = routes.clone();
                    self.retain(|_| true);
                }
            }
        }
    }

    /// Restores the state after a failed step: circuits that were to go dark are still lit.
    pub(super) fn failed(&mut self, step: Step, change: &mut Change, hardware: Hardware) {
        match step {
            Step::Dark(_) => {
                let Darkening { circuits, routes } = std::mem::take(&mut change.dark);
                self.light(&circuits, hardware);
                self.routes = routes;
                self.retain(|_| true);
            }
            Step::Light => change.light = Circuits::default(),
            Step::Drain | Step::Route | Step::Enter => {}
        }
    }

    /// The routes of some pairs that are in force and in the target.
    fn staying(&self, pairs: &[Pair], wanted: &Routes) -> Routes {
        let mut stay = Routes::none(self.routes.directed());
        for &(a, b) in pairs {
            let wanted = wanted.between(a, b);
            let now = self.routes.between(a, b).iter();
            now.filter(|route| wanted.contains(route))
                .for_each(|route| stay.add(route.clone()));
        }
        stay
    }

    /// Marks circuits as lit if their ports work.
    fn light(&mut self, circuits: &Circuits, hardware: Hardware) {
        let works = |c: &Circuit| [c.a, c.b].map(|r| self.works[hardware.port(r, c.plane)]);
        let new = circuits.iter().filter(|c| works(c) == [true, true]);
        let rows: Vec<Circuit> = self.lit.iter().chain(new).collect();
        let directed = match self.lit.is_empty() {
            true => circuits.directed(),
            false => self.lit.directed(),
        };
        self.lit = Circuits::of(directed, rows);
    }
}

/// Routes of pairs whose routes change or end.
fn new_routes(now: &Routes, wanted: &Routes) -> Routes {
    let mut new = Routes::none(wanted.directed());
    for (a, b) in now.differing(wanted) {
        for route in wanted.between(a, b) {
            new.add(route.clone());
        }
    }
    new
}
