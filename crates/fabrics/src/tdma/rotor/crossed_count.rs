//! Counts the bytes to relays that have crossed their circuit, for samples within a slot. Relays
//! hold these bytes only when the slot is over: [`super::relays`], [`super::per_host`].

use crate::tdma::burst::Wire;
use lightloom_engine::Time;

/// Bytes that are sent back to back.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    /// When the first byte leaves.
    from: Time,
    bytes: u64,
    /// Bytes that were counted as carried.
    counted: u64,
}

/// Bytes that cross in this slot, by plane.
#[derive(Clone, Debug)]
pub struct CrossedCount {
    planes: Vec<Vec<Stretch>>,
}

impl CrossedCount {
    /// Creates a count without bytes for a number of planes.
    pub fn new(planes: usize) -> CrossedCount {
        CrossedCount {
            planes: vec![Vec::new(); planes],
        }
    }

    /// Adds bytes that begin to cross.
    pub fn begin(&mut self, plane: usize, from: Time, bytes: u64) {
        let counted = 0;
        self.planes[plane].push(Stretch {
            from,
            bytes,
            counted,
        });
    }

    /// Returns the bytes that have crossed by `to` and were not counted before.
    pub fn crossed_by(&mut self, to: Time, wire: &Wire) -> u64 {
        let mut new = 0;
        for part in self.planes.iter_mut().flatten() {
            let crossed = wire.rate.bytes_in(to - part.from).min(part.bytes);
            new += crossed - part.counted;
            part.counted = crossed;
        }
        new
    }

    /// Ends the slot of a plane, whose bytes have all crossed. Returns those not counted before.
    pub fn end(&mut self, plane: usize) -> u64 {
        let parts = self.planes[plane].drain(..);
        parts.map(|part| part.bytes - part.counted).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_engine::Rate;

    /// One byte per nanosecond, from 10 ns on: 5 at 15 ns, 20 more by 35 ns, the rest of 60 at the
    /// end.
    #[test]
    fn crossed_bytes_count_once() {
        let wire = Wire {
            rate: Rate(8 * Rate::GBPS.0),
            packet: 1,
        };
        let mut crossed_count = CrossedCount::new(2);
        crossed_count.begin(1, Time::NS * 10, 60);
        assert_eq!(crossed_count.crossed_by(Time::NS * 5, &wire), 0);
        assert_eq!(crossed_count.crossed_by(Time::NS * 15, &wire), 5);
        assert_eq!(crossed_count.crossed_by(Time::NS * 35, &wire), 20);
        assert_eq!((crossed_count.end(0), crossed_count.end(1)), (0, 35));
        assert_eq!(crossed_count.crossed_by(Time::NS * 90, &wire), 0);
    }
}
