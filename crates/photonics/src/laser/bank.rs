//! A bank of tunable lasers that are used in turn: while one sends, the others tune (Sirius §3.3,
//! §4.5).
//!
//! Each of N lasers sends in one slot of N and has N − 1 slots to tune, so N = 1 + ⌈T ÷ slot⌉.
//! Combining their lights costs at least 10·log₁₀ N dB. The paper's output power already includes
//! the amplifiers that compensate for it.

use crate::quantity::Decibel;
use lightloom_engine::Time;

/// The number of lasers that hide a tuning time, without spares.
pub fn lasers(tuning: Time, slot: Time) -> i64 {
    1 + tuning.div_ceil(slot)
}

/// Loss of combining the lights of `lasers` lasers without excess loss.
pub fn combining(lasers: i64) -> Decibel {
    Decibel::of(lasers as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Whether every laser of a bank is tuned when its slot begins.
    fn keeps_up(lasers: i64, tuning: Time, slot: Time) -> bool {
        let mut ready = vec![Time::ZERO; lasers as usize];
        (0..4 * lasers).all(|n| {
            let laser = &mut ready[(n % lasers) as usize];
            let begins = slot * n;
            let in_time = *laser <= begins;
            *laser = begins + slot + tuning;
            in_time
        })
    }

    #[test]
    fn the_paper_needs_two_and_a_spare() {
        assert_eq!(lasers(Time::NS * 92, Time::NS * 100), 2);
        assert!((combining(2).0 - 3.0103).abs() < 1e-4);
    }

    proptest! {
        #[test]
        fn as_many_as_needed_and_no_more(tuning in 1i64..5_000, slot in 1i64..1_000) {
            let (tuning, slot) = (Time(tuning), Time(slot));
            let n = lasers(tuning, slot);
            prop_assert!(keeps_up(n, tuning, slot));
            prop_assert!(!keeps_up(n - 1, tuning, slot));
        }
    }
}
