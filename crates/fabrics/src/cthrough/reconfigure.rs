//! The optical switch (§2, §4.3): any matching of the racks, and a time in the
//! dark between two of them.
//!
//! All circuits go dark together when the switch is told, and the new ones come
//! up together: so the manager of §5.1 does it. Mirrors that do not move could
//! stay lit; this is not modelled, nor is loss of light.

use super::manager::{pairs, ALONE};
use crate::hybrid::recorder::Recorder;
use lightloom_engine::{Circuit, Time};

/// Racks joined by light.
#[derive(Clone, Debug)]
pub struct Switch {
    /// The rack that each rack has a lit circuit to, or [`ALONE`].
    joined: Vec<u32>,
    works: Vec<bool>,
    record: Recorder,
}

impl Switch {
    /// All dark.
    pub fn new(racks: u32) -> Switch {
        Switch {
            joined: vec![ALONE; racks as usize],
            works: vec![true; racks as usize],
            record: Recorder::new(racks, 1),
        }
    }

    /// The rack that each rack has a lit circuit to, or [`ALONE`].
    pub fn joined(&self) -> &[u32] {
        &self.joined
    }

    /// Whether light leads from rack `a` to rack `b`.
    pub fn joins(&self, a: u32, b: u32) -> bool {
        self.joined[a as usize] == b
    }

    /// Which racks' ports work.
    pub fn works(&self) -> &[bool] {
        &self.works
    }

    /// Every circuit goes dark; returns those that were lit.
    pub fn darken(&mut self, now: Time) -> Vec<(u32, u32)> {
        let lit: Vec<(u32, u32)> = pairs(&self.joined).collect();
        lit.iter().for_each(|&(a, _)| self.darken_one(a, now));
        lit
    }

    /// From the dark, the circuits of `mates` come up whose ports work; returns
    /// them.
    pub fn light(&mut self, mates: &[u32], now: Time) -> Vec<(u32, u32)> {
        let works = |rack: u32| self.works[rack as usize];
        let new: Vec<(u32, u32)> = pairs(mates)
            .filter(|&(a, b)| works(a) && works(b))
            .collect();
        for &(a, b) in &new {
            self.joined[a as usize] = b;
            self.joined[b as usize] = a;
            self.record.up(a, b, 0, now);
        }
        new
    }

    /// The optical port of `rack` breaks; returns the circuit that it takes down.
    pub fn break_port(&mut self, rack: u32, now: Time) -> Option<(u32, u32)> {
        self.works[rack as usize] = false;
        let peer = self.joined[rack as usize];
        if peer == ALONE {
            return None;
        }
        self.darken_one(rack, now);
        Some((rack, peer))
    }

    /// The port works from the next reconfiguration on.
    pub fn mend_port(&mut self, rack: u32) {
        self.works[rack as usize] = true;
    }

    /// Whether the port of `rack` was lit at `at`.
    pub fn was_lit(&self, rack: u32, at: Time) -> bool {
        self.record.was_lit(rack, 0, at)
    }

    /// All circuits so far.
    pub fn circuits(&self, now: Time) -> Vec<Circuit> {
        self.record.circuits(now)
    }

    fn darken_one(&mut self, rack: u32, now: Time) {
        let peer = std::mem::replace(&mut self.joined[rack as usize], ALONE);
        self.joined[peer as usize] = ALONE;
        self.record.down(rack, 0, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circuits_come_up_together_and_a_broken_port_takes_one_down() {
        let mut switch = Switch::new(5);
        assert_eq!(
            switch.light(&[1, 0, 4, ALONE, 2], Time(10)),
            [(0, 1), (2, 4)]
        );
        assert!(switch.joins(4, 2) && switch.joins(1, 0) && !switch.joins(3, 0));
        assert_eq!(switch.break_port(4, Time(20)), Some((4, 2)));
        assert_eq!(switch.break_port(3, Time(20)), None);
        assert_eq!(switch.darken(Time(30)), [(0, 1)]);
        // Rack 4 is asked for and does not work.
        assert_eq!(switch.light(&[4, 2, 1, ALONE, 0], Time(40)), [(1, 2)]);
        switch.mend_port(4);
        assert_eq!(switch.darken(Time(50)), [(1, 2)]);
        assert_eq!(
            switch.light(&[4, ALONE, ALONE, ALONE, 0], Time(60)),
            [(0, 4)]
        );
        assert!(switch.was_lit(2, Time(19)) && !switch.was_lit(2, Time(20)));
        assert_eq!(switch.circuits(Time(70)).len(), 4);
    }
}
