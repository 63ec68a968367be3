//! A switch that carries out all actions in given times, for tests and replays and as an example of
//! a driver.
//!
//! It models the physical state: the lit circuits, the routes in force, the pairs that rules drain,
//! and the working ports. It records violations: a port in two circuits, or traffic on a circuit
//! that goes dark. For a schedule it records only that it is followed.
//!
//! Moving times of mirrors during a step, and flows, are not modelled.

use crate::circuits::{Circuit, Circuits};
use crate::controller::{Action, Found, Kind};
use crate::hardware::Hardware;
use crate::host::Driver;
use crate::routes::{Pair, Routes};
use crate::schedule::Schedule;
use lightloom_engine::Time;
use std::collections::{BTreeMap, BTreeSet};

/// The switch.
#[derive(Clone, Debug)]
pub struct Fake {
    hardware: Hardware,
    /// Durations by kind of action; the last of a kind applies to all later actions.
    takes: BTreeMap<Kind, Vec<Option<Time>>>,
    begun: BTreeMap<Kind, usize>,
    lit: Circuits,
    routes: Routes,
    drained: BTreeSet<Pair>,
    schedule: Option<Schedule>,
    works: Vec<bool>,
    breaches: Vec<Breach>,
}

/// A violation that must never happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breach {
    /// A circuit should be lit on a port that already has one; it stays dark.
    PortTaken(Circuit),
    /// A circuit that was taken down carried traffic between two racks. This is no violation in
    /// orders without a drain step.
    Undrained(Pair),
}

impl Fake {
    /// A dark switch whose ports all work and whose actions take no time.
    pub fn new(hardware: Hardware) -> Fake {
        Fake {
            hardware,
            takes: BTreeMap::new(),
            begun: BTreeMap::new(),
            lit: Circuits::default(),
            routes: Routes::default(),
            drained: BTreeSet::new(),
            schedule: None,
            works: vec![true; hardware.columns()],
            breaches: Vec::new(),
        }
    }

    /// The k-th action of a kind takes the k-th of these times; later ones take the last. `None`
    /// means at once, before any other event.
    pub fn taking(mut self, kind: Kind, times: Vec<Option<Time>>) -> Fake {
        self.takes.insert(kind, times);
        self
    }

    /// Sets the state of the switch as it was found.
    pub fn set(&mut self, found: Found) {
        self.lit = found.lit;
        self.routes = found.routes;
        self.drained = found.drained.into_iter().collect();
        self.schedule = found.schedule;
        self.works = found.works;
    }

    /// The lit circuits.
    pub fn lit(&self) -> &Circuits {
        &self.lit
    }

    /// Whether light leads from `a` to `b` of a circuit.
    pub fn is_lit(&self, hop: Circuit) -> bool {
        let back = |c: Circuit| (c.b, c.a, c.plane) == hop.into();
        { self.lit.iter() }.any(|c| c == hop || (!self.lit.directed() && back(c)))
    }

    /// Whether the port of a rack on a plane works.
    pub fn works(&self, rack: u32, plane: u32) -> bool {
        self.works[self.hardware.port(rack, plane)]
    }

    /// The routes in force.
    pub fn routes(&self) -> &Routes {
        &self.routes
    }

    /// The schedule that is followed.
    pub fn schedule(&self) -> Option<&Schedule> {
        self.schedule.as_ref()
    }

    /// The violations so far.
    pub fn breaches(&self) -> &[Breach] {
        &self.breaches
    }

    fn darken(&mut self, circuits: &Circuits) {
        let undrained = self.leave_lit(self.lit.without(circuits));
        self.breaches
            .extend(undrained.into_iter().map(Breach::Undrained));
    }

    fn light(&mut self, circuits: &Circuits) {
        for circuit in circuits.iter() {
            let works = |rack| self.works[self.hardware.port(rack, circuit.plane)];
            if !works(circuit.a) || !works(circuit.b) {
                continue;
            }
            let directed = circuits.directed();
            let more = Circuits::of(directed, self.lit.iter().chain([circuit]));
            match more.check(&self.hardware) {
                Ok(()) => self.lit = more,
                Err(_) => self.breaches.push(Breach::PortTaken(circuit)),
            }
        }
    }

    /// Keeps only these circuits lit; returns the pairs whose routes end with the others.
    fn keep(&mut self, keep: impl Fn(Circuit) -> bool) -> Vec<Pair> {
        self.leave_lit(self.lit.filtered(keep))
    }

    fn leave_lit(&mut self, lit: Circuits) -> Vec<Pair> {
        self.lit = lit;
        self.drop_dark_routes()
    }

    fn drop_dark_routes(&mut self) -> Vec<Pair> {
        let mut routes = std::mem::take(&mut self.routes);
        let lost = routes.keep_lit(|hop| self.is_lit(hop));
        self.routes = routes;
        lost
    }

    fn enter(&mut self, pairs: &[Pair], routes: &Routes) {
        for pair in pairs {
            self.drained.remove(pair);
        }
        self.routes = routes.clone();
        for &pair in &self.drained {
            self.routes.drop_pair(pair);
        }
        self.drop_dark_routes();
    }
}

impl Driver for Fake {
    fn takes(&mut self, action: &Action) -> Option<Time> {
        let kind = action.kind();
        let nth = self.begun.entry(kind).or_default();
        let times = self.takes.get(&kind)?;
        let time = times.get(*nth).or(times.last()).copied().flatten();
        *nth += 1;
        time
    }

    fn carry_out(&mut self, action: &Action, _: Time) {
        match action {
            Action::Drain(_, pairs, staying) => {
                for &pair in pairs {
                    self.routes.narrow(pair, staying);
                    self.drained.insert(pair);
                }
            }
            Action::Dark(_, circuits) => self.darken(circuits),
            Action::Light(_, circuits) => self.light(circuits),
            Action::Enter(_, pairs, routes) => self.enter(pairs, routes),
            Action::Follow(_, schedule) => {
                self.keep(|_| false);
                self.schedule = Some(schedule.clone());
            }
            Action::Route(..) | Action::Measure | Action::WakeAt(_) => {}
        }
    }

    fn break_port(&mut self, rack: u32, plane: u32, _: Time) {
        self.works[self.hardware.port(rack, plane)] = false;
        self.keep(|c| c.plane != plane || (c.a != rack && c.b != rack));
    }

    fn mend_port(&mut self, rack: u32, plane: u32) {
        self.works[self.hardware.port(rack, plane)] = true;
    }

    fn found(&self) -> Found {
        Found {
            lit: self.lit.clone(),
            routes: self.routes.clone(),
            drained: self.drained.iter().copied().collect(),
            schedule: self.schedule.clone(),
            works: self.works.clone(),
        }
    }
}
