//! How many of the bytes that go to relays have crossed their circuit, for samples within a slot.
//! Relays hold these bytes when the slot is over, not before: [`super::relays`], [`super::per_host`].

use crate::tdma::burst::Wire;
use lightloom_engine::Time;

/// Bytes sent back to back.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// When the first leaves.
    from: Time,
    bytes: u64,
    /// How many of the bytes were counted as carried.
    counted: u64,
}

/// Bytes that cross in this slot, by plane.
#[derive(Clone, Debug)]
pub struct Crossings {
    planes: Vec<Vec<Part>>,
}

impl Crossings {
    /// Nothing, on so many planes.
    pub fn new(planes: usize) -> Crossings {
        Crossings {
            planes: vec![Vec::new(); planes],
        }
    }

    /// Bytes begin to cross.
    pub fn begin(&mut self, plane: usize, from: Time, bytes: u64) {
        let counted = 0;
        self.planes[plane].push(Part {
            from,
            bytes,
            counted,
        });
    }

    /// Bytes that have crossed by `to` and were not counted before.
    pub fn crossed_by(&mut self, to: Time, wire: &Wire) -> u64 {
        let mut new = 0;
        for part in self.planes.iter_mut().flatten() {
            let crossed = wire.rate.bytes_in(to - part.from).min(part.bytes);
            new += crossed - part.counted;
            part.counted = crossed;
        }
        new
    }

    /// A plane turns: all have crossed it. Returns how many were not counted before.
    pub fn end(&mut self, plane: usize) -> u64 {
        let parts = self.planes[plane].drain(..);
        parts.map(|part| part.bytes - part.counted).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_engine::Rate;

    /// A byte a nanosecond, from 10 ns on: 5 at 15 ns, 20 more by 35 ns, the rest of 60 at the end.
    #[test]
    fn what_has_crossed_counts_once() {
        let wire = Wire {
            rate: Rate(8 * Rate::GBPS.0),
            packet: 1,
        };
        let mut crossings = Crossings::new(2);
        crossings.begin(1, Time::NS * 10, 60);
        assert_eq!(crossings.crossed_by(Time::NS * 5, &wire), 0);
        assert_eq!(crossings.crossed_by(Time::NS * 15, &wire), 5);
        assert_eq!(crossings.crossed_by(Time::NS * 35, &wire), 20);
        assert_eq!((crossings.end(0), crossings.end(1)), (0, 35));
        assert_eq!(crossings.crossed_by(Time::NS * 90, &wire), 0);
    }
}
