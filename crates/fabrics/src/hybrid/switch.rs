//! The simulated optical switches: lit circuits, working ports, and the duration of each step of a
//! change.
//!
//! It carries out the actions of a [`Controller`](lightloom_control::controller) on light and
//! rules, and does not depend on flows. Circuits whose mirrors do not move stay lit. Loss of light,
//! and mirrors that stick, are not modelled.

use super::recorder::Recorder;
use super::setup::{Delays, Pushing};
use lightloom_control::algorithms::vlan::Rules;
use lightloom_control::circuits::{Circuit, Circuits};
use lightloom_control::controller::{Action, StepId};
use lightloom_control::hardware::Hardware;
use lightloom_control::routes::{Pair, Routes};
use lightloom_engine::{Circuit as Lit, Time};

/// The switches of all planes.
#[derive(Clone, Debug)]
pub struct Switch {
    hardware: Hardware,
    delays: Delays,
    servers_per_rack: u64,
    works: Vec<bool>,
    /// Whether the circuits that came up last carry one direction only.
    directed: bool,
    record: Recorder,
    /// Steps in progress.
    pending: Vec<(StepId, Action)>,
}

impl Switch {
    /// All dark, all ports working.
    pub fn new(hardware: Hardware, delays: Delays, servers_per_rack: u32) -> Switch {
        Switch {
            hardware,
            delays,
            servers_per_rack: servers_per_rack.into(),
            works: vec![true; hardware.columns()],
            directed: false,
            record: Recorder::new(hardware.racks, hardware.planes as u16),
            pending: Vec::new(),
        }
    }

    /// Duration of a step; `None` for a step without a duration, which is carried out at once.
    pub fn takes(&self, action: &Action) -> Option<Time> {
        match action {
            Action::Drain(_, pairs, _) => Some(self.toggle(pairs)),
            Action::Light(..) => Some(self.delays.settle + self.delays.link_up),
            Action::Route(_, routes) => Some(self.delays.retag.max(self.install(routes))),
            Action::Enter(_, pairs, _) => Some(self.toggle(pairs)).filter(|&t| t > Time::ZERO),
            _ => None,
        }
    }

    /// Time to install or delete the rules that move pairs to the electrical network: one on each
    /// server of their racks (HydRA §III.B.1, substeps 3-1 and 3-3).
    fn toggle(&self, pairs: &[Pair]) -> Time {
        let rules = Rules::of(pairs.iter().copied(), self.servers_per_rack).leave;
        self.push(rules, rules.min(1))
    }

    /// Time to install the rules of routes: one for each route on each server of both racks.
    fn install(&self, routes: &Routes) -> Time {
        if let Some(rules) = self.delays.rules {
            let servers = self.servers_per_rack * u64::from(self.hardware.racks);
            return self.push(rules, rules.div_ceil(servers));
        }
        let mut of_rack = vec![0; self.hardware.racks as usize];
        let pairs: Vec<Pair> = routes.iter().map(|(pair, _)| pair).collect();
        for &(a, b) in &pairs {
            of_rack[a as usize] += 1;
            of_rack[b as usize] += 1;
        }
        let rules = Rules::of(pairs, self.servers_per_rack).install;
        self.push(rules, of_rack.into_iter().max().unwrap_or(0))
    }

    /// The time to install `rules` rules, of which no server gets more than `most`.
    fn push(&self, rules: u64, most: u64) -> Time {
        let rules = match self.delays.pushing {
            Pushing::Sequential => rules,
            Pushing::Parallel => most,
        };
        let ps = (self.delays.rule.0 as i128).saturating_mul(rules as i128);
        Time(i64::try_from(ps).unwrap_or(i64::MAX / 4).min(i64::MAX / 4))
    }

    /// A step is under way.
    pub fn begin(&mut self, step: StepId, action: Action) {
        self.pending.push((step, action));
    }

    /// Removes and returns the step that ends now; `None` if it was cancelled.
    pub fn end(&mut self, step: StepId) -> Option<Action> {
        let at = self.pending.iter().position(|(s, _)| *s == step)?;
        Some(self.pending.remove(at).1)
    }

    /// Cancels pending changes: mirrors that were moving stay dark.
    pub fn forget(&mut self) {
        self.pending.clear();
    }

    /// Lights circuits whose ports work.
    pub fn light(&mut self, circuits: &Circuits, now: Time) {
        if !circuits.is_empty() {
            self.directed = circuits.directed();
        }
        for circuit in circuits.iter() {
            let works = |rack| self.works[self.hardware.port(rack, circuit.plane)];
            if works(circuit.a) && works(circuit.b) && !self.is_lit(circuit) {
                self.record.up(circuit, circuits.directed(), now);
            }
        }
    }

    /// Circuits go dark.
    pub fn darken(&mut self, circuits: &Circuits, now: Time) {
        for circuit in circuits.iter() {
            if self.is_lit(circuit) {
                self.record.down(circuit.a, circuit.plane as u16, now);
            }
        }
    }

    /// Breaks the port of a rack; circuits that send or receive over it go dark.
    pub fn break_port(&mut self, rack: u32, plane: u32, now: Time) {
        let port = self.hardware.port(rack, plane);
        self.works[port] = false;
        let hit = self.lit_of(plane).into_iter();
        for circuit in hit.filter(|c| c.a == rack || c.b == rack) {
            self.record.down(circuit.a, plane as u16, now);
        }
    }

    /// Repairs a port; its circuit stays dark until it is lit again.
    pub fn mend_port(&mut self, rack: u32, plane: u32) {
        let port = self.hardware.port(rack, plane);
        self.works[port] = true;
    }

    /// Whether each port works.
    pub fn works(&self) -> &[bool] {
        &self.works
    }

    /// Whether light passes from `a` to `b` of a circuit.
    pub fn is_lit(&self, circuit: Circuit) -> bool {
        self.record.peer(circuit.a, circuit.plane as u16) == Some(circuit.b)
    }

    /// All circuits that are lit.
    pub fn lit(&self) -> Circuits {
        let all = (0..self.hardware.planes).flat_map(|plane| self.lit_of(plane));
        let once = |c: &Circuit| self.directed || c.a < c.b;
        Circuits::of(self.directed, all.filter(once))
    }

    /// Circuits of a plane by their sending rack; a bidirectional one occurs twice.
    fn lit_of(&self, plane: u32) -> Vec<Circuit> {
        let peer = |a: u32| Some((a, self.record.peer(a, plane as u16)?));
        let pairs = (0..self.hardware.racks).filter_map(peer);
        pairs.map(|(a, b)| Circuit { a, b, plane }).collect()
    }

    /// Number of circuits over which a rack sends.
    pub fn circuits_of(&self, rack: u32) -> u32 {
        let planes = 0..self.hardware.planes as u16;
        planes
            .filter(|&p| self.record.peer(rack, p).is_some())
            .count() as u32
    }

    /// Whether a port sent light at `at`.
    pub fn was_lit(&self, rack: u32, plane: u32, at: Time) -> bool {
        self.record.was_lit(rack, plane as u16, at)
    }

    /// All circuits so far.
    pub fn circuits(&self, now: Time) -> Vec<Lit> {
        self.record.circuits(now)
    }
}
