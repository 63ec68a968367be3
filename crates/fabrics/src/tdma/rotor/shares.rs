//! Max-min fair shares of whole bytes.

/// Divides bytes, in memory that it uses again.
#[derive(Clone, Debug, Default)]
pub struct Shares {
    shares: Vec<u64>,
    order: Vec<usize>,
}

impl Shares {
    /// Divides `all` among users that could use these amounts. No user gets more than it could use,
    /// and no user gets less than another by more than one byte, unless it gets all that it could
    /// use.
    ///
    /// Remaining bytes go to the users that could use most; of equal users, to the last one first.
    pub fn divide(&mut self, all: u64, could_use: impl Iterator<Item = u64>) -> &[u64] {
        let Shares { shares, order } = self;
        shares.clear();
        shares.extend(could_use);
        if shares.iter().sum::<u64>() <= all {
            return shares;
        }
        order.clear();
        order.extend(0..shares.len());
        order.sort_unstable_by_key(|&at| (shares[at], at));
        let mut left = all;
        for (before, &at) in order.iter().enumerate() {
            let fair = left / (order.len() - before) as u64;
            shares[at] = shares[at].min(fair);
            left -= shares[at];
        }
        shares
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn by_hand() {
        let shares =
            |all, caps: &[u64]| Shares::default().divide(all, caps.iter().copied()).to_vec();
        assert_eq!(shares(30, &[5, 20, 5]), [5, 20, 5]);
        assert_eq!(shares(30, &[100, 4, 100]), [13, 4, 13]);
        assert_eq!(shares(8, &[9, 9, 9]), [2, 3, 3]);
        assert_eq!(shares(0, &[9, 9]), [0, 0]);
        assert_eq!(shares(7, &[]), [0u64; 0]);
    }

    proptest! {
        /// The definition of max-min fairness: all is given, and a user that gets less than it
        /// could use gets no less than any other, except for a remaining byte.
        #[test]
        fn nobody_can_have_more_at_the_cost_of_who_has_more(
            all in 0u64..300,
            caps in prop::collection::vec(0u64..100, 0..12),
        ) {
            let mut divider = Shares::default();
            let shares = divider.divide(all, caps.iter().copied());
            prop_assert_eq!(shares.iter().sum::<u64>(), all.min(caps.iter().sum()));
            let most = shares.iter().copied().max().unwrap_or(0);
            for (share, cap) in shares.iter().zip(&caps) {
                prop_assert!(share <= cap);
                prop_assert!(share == cap || share + 1 >= most);
            }
        }
    }
}
