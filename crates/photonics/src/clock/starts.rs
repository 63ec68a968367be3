//! The start of epochs (Sirius A.2): with fibres of different lengths, all cells of a slot reach
//! the grating at the same time.
//!
//! A cell that a node sends to itself returns after twice its delay to the grating if both of its
//! fibres are alike. A cell between two nodes gives the offset of their clocks. Nodes that are
//! farther away start earlier. All values are in picoseconds or another whole unit.

use lightloom_engine::Time;

/// Delay to the grating: half of a cell's round trip to the grating [ps].
pub fn delay_to_grating(sent: Time, received: Time) -> f64 {
    (received - sent).0 as f64 / 2.0
}

/// How far the clock of j is ahead of the clock of i: o_ij = T_j − T_i − (d_i + d_j) [ps].
///
/// `sent` is T_i on i's clock, `received` T_j on j's; `delays` are those of both to the grating.
pub fn offset(sent: Time, received: Time, delays: (f64, f64)) -> f64 {
    (received - sent).0 as f64 - (delays.0 + delays.1)
}

/// When each node starts its first epoch: max d − d_i.
pub fn epoch_starts(delays: &[Time]) -> Vec<Time> {
    let farthest = delays.iter().copied().max().unwrap_or(Time::ZERO);
    delays.iter().map(|&delay| farthest - delay).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn times(units: &[i64]) -> Vec<Time> {
        units.iter().copied().map(Time).collect()
    }

    /// Fig 14 of the paper: a unit of time through the grating.
    #[test]
    fn the_worked_example_of_the_paper() {
        let delays = times(&[2, 5, 3]);
        let starts = epoch_starts(&delays);
        assert_eq!(starts, times(&[3, 0, 2]));
        let at_grating: Vec<_> = starts.iter().zip(&delays).map(|(&s, &d)| s + d).collect();
        assert_eq!(at_grating, times(&[5, 5, 5]));
        let out: Vec<_> = at_grating.iter().map(|&t| t + Time(1)).collect();
        assert_eq!(out, times(&[6, 6, 6]));
        let delivered: Vec<_> = out.iter().zip(&delays).map(|(&t, &d)| t + d).collect();
        assert_eq!(delivered, times(&[8, 11, 9]));
    }

    proptest! {
        #[test]
        fn cells_of_a_slot_are_at_the_grating_together(
            delays in prop::collection::vec(0i64..5_000_000, 1..64),
        ) {
            let delays = times(&delays);
            let starts = epoch_starts(&delays);
            let at: Vec<_> = starts.iter().zip(&delays).map(|(&s, &d)| s + d).collect();
            prop_assert!(at.iter().all(|&t| t == at[0]));
            prop_assert!(starts.contains(&Time::ZERO), "a node starts at once");
            prop_assert!(starts.iter().all(|&start| start >= Time::ZERO));
        }

        /// A cell is sent over true fibres, and each end timestamps it with its own clock.
        #[test]
        fn offsets_are_found_but_for_half_the_difference_of_asymmetries(
            (up_i, down_i) in (0i64..3_000_000, 0i64..3_000_000),
            (up_j, down_j) in (0i64..3_000_000, 0i64..3_000_000),
            (ahead_i, ahead_j) in (-1_000_000i64..1_000_000, -1_000_000i64..1_000_000),
        ) {
            let loop_back = |up, down| delay_to_grating(Time(7), Time(7 + up + down));
            let delays = (loop_back(up_i, down_i), loop_back(up_j, down_j));
            let sent = Time(100 + ahead_i);
            let received = Time(100 + up_i + down_j + ahead_j);
            let error = offset(sent, received, delays) - (ahead_j - ahead_i) as f64;
            let (a_i, a_j) = ((up_i - down_i) as f64, (up_j - down_j) as f64);
            prop_assert_eq!(error, (a_i - a_j) / 2.0);
        }
    }
}
