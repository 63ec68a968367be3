//! The pairs of racks that lit circuits connected, with the times.
//!
//! A fabric notifies the recorder when a circuit comes up or goes dark. Users see the record as the
//! circuit timeline, and tests check with it whether a port was lit. The recorder does not depend
//! on flows.

use lightloom_control::circuits as control;
use lightloom_engine::{Circuit, Time};

/// The record of all circuits.
#[derive(Clone, Debug)]
pub struct Recorder {
    racks: u32,
    /// In the order in which they came up; circuits that are still up have no end yet.
    circuits: Vec<Circuit>,
    /// Rows of `circuits` by plane and rack, in order of time.
    by_port: Vec<Vec<u32>>,
}

impl Recorder {
    /// No circuits yet between `racks` racks on `planes` planes.
    pub fn new(racks: u32, planes: u16) -> Recorder {
        Recorder {
            racks,
            circuits: Vec::new(),
            by_port: vec![Vec::new(); racks as usize * planes as usize],
        }
    }

    /// Records that a circuit carries light from `now` on; a directed one only from `a` to `b`.
    ///
    /// # Panics
    /// In debug builds, if one of its ports sends already.
    pub fn up(&mut self, circuit: control::Circuit, directed: bool, now: Time) {
        let control::Circuit { a, b, plane } = circuit;
        let plane = plane as u16;
        let row = self.circuits.len() as u32;
        self.circuits.push(Circuit {
            a,
            b,
            directed,
            plane,
            from: now,
            until: Time::NEVER,
        });
        let both = [a, b];
        for &rack in if directed { &both[..1] } else { &both[..] } {
            debug_assert!(self.peer(rack, plane).is_none());
            let port = self.port(rack, plane);
            self.by_port[port].push(row);
        }
    }

    /// Records that the circuit over which `rack` sends on `plane`, if any, is dark from `now` on.
    pub fn down(&mut self, rack: u32, plane: u16, now: Time) {
        if let Some(row) = self.lit_row(rack, plane) {
            self.circuits[row].until = now;
        }
    }

    /// The rack to which `rack` has a lit circuit.
    pub fn peer(&self, rack: u32, plane: u16) -> Option<u32> {
        let circuit = self.circuits[self.lit_row(rack, plane)?];
        Some(circuit.a + circuit.b - rack)
    }

    /// Whether `rack` had a lit circuit at `at`.
    pub fn was_lit(&self, rack: u32, plane: u16, at: Time) -> bool {
        let rows = &self.by_port[self.port(rack, plane)];
        let after = rows.partition_point(|&r| self.circuits[r as usize].from <= at);
        after > 0 && at < self.circuits[rows[after - 1] as usize].until
    }

    /// All circuits so far; those that are up end at `now`.
    pub fn circuits(&self, now: Time) -> Vec<Circuit> {
        let ended = self.circuits.iter().map(|c| Circuit {
            until: c.until.min(now),
            ..*c
        });
        ended.filter(|c| c.from < c.until).collect()
    }

    fn port(&self, rack: u32, plane: u16) -> usize {
        plane as usize * self.racks as usize + rack as usize
    }

    fn lit_row(&self, rack: u32, plane: u16) -> Option<usize> {
        let row = *self.by_port[self.port(rack, plane)].last()? as usize;
        (self.circuits[row].until == Time::NEVER).then_some(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn up(record: &mut Recorder, a: u32, b: u32, plane: u32, now: i64) {
        record.up(control::Circuit { a, b, plane }, false, Time(now));
    }

    #[test]
    fn a_port_is_lit_from_up_to_down() {
        let mut record = Recorder::new(4, 2);
        up(&mut record, 1, 3, 0, 10);
        up(&mut record, 1, 2, 1, 15);
        record.down(1, 0, Time(20));
        up(&mut record, 0, 3, 0, 30);
        let lit = |rack, plane, at| record.was_lit(rack, plane, Time(at));
        let seen: Vec<bool> = [9, 10, 19, 20, 29, 30].map(|at| lit(3, 0, at)).to_vec();
        assert_eq!(seen, [false, true, true, false, false, true]);
        assert!(!lit(1, 0, 30) && lit(1, 1, 30) && !lit(2, 0, 15));
        assert_eq!(record.peer(3, 0), Some(0));
        assert_eq!(record.peer(1, 0), None);
        let circuit = |a, b, plane, from, until| Circuit {
            a,
            b,
            directed: false,
            plane,
            from: Time(from),
            until: Time(until),
        };
        assert_eq!(
            record.circuits(Time(40)),
            [
                circuit(1, 3, 0, 10, 20),
                circuit(1, 2, 1, 15, 40),
                circuit(0, 3, 0, 30, 40),
            ]
        );
    }

    #[test]
    fn a_circuit_of_no_length_is_none() {
        let mut record = Recorder::new(2, 1);
        up(&mut record, 0, 1, 0, 5);
        assert!(record.circuits(Time(5)).is_empty());
        record.down(1, 0, Time(5));
        assert!(record.circuits(Time(9)).is_empty());
        assert!(!record.was_lit(0, 0, Time(5)));
    }

    #[test]
    fn a_directed_circuit_lights_its_sender() {
        let mut record = Recorder::new(3, 1);
        for (a, b) in [(2, 0), (0, 1)] {
            record.up(control::Circuit { a, b, plane: 0 }, true, Time(5));
        }
        assert_eq!((record.peer(2, 0), record.peer(1, 0)), (Some(0), None));
        assert!(record.was_lit(0, 0, Time(5)) && !record.was_lit(1, 0, Time(5)));
    }
}
