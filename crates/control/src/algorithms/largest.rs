//! The few largest values of many.

/// The largest values above a minimum, in descending order; earlier ones first among equals.
#[derive(Clone, Debug, Default)]
pub(crate) struct Largest {
    pub kept: Vec<(i64, u32)>,
    most: usize,
    /// Values up to this are not stored; callers compare with it before they call `offer`.
    pub least: i64,
}

impl Largest {
    /// Stores the `most` largest values above `least`.
    pub fn new(most: usize, least: i64) -> Largest {
        Largest {
            kept: Vec::with_capacity(most),
            most,
            least,
        }
    }

    /// Removes all values, to store the `most` largest above `least`.
    pub fn restart(&mut self, most: usize, least: i64) {
        self.kept.clear();
        (self.most, self.least) = (most, least);
    }

    /// Stores a value if it is large enough.
    pub fn offer(&mut self, value: i64, of: u32) {
        if value <= self.least {
            return;
        }
        if self.kept.len() == self.most {
            self.kept.pop();
        }
        let before = self.kept.iter().rposition(|&(other, _)| other >= value);
        self.kept.insert(before.map_or(0, |at| at + 1), (value, of));
        if self.kept.len() == self.most {
            self.least = self.kept[self.most - 1].0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_largest_are_kept(values in proptest::collection::vec(-5i64..20, 0..60)) {
            let mut largest = Largest::new(7, 0);
            values.iter().zip(0..).for_each(|(&value, of)| largest.offer(value, of));
            let mut sorted: Vec<(i64, u32)> = values.iter().copied().zip(0..).collect();
            sorted.retain(|&(value, _)| value > 0);
            sorted.sort_by_key(|&(value, of)| (-value, of));
            sorted.truncate(7);
            prop_assert_eq!(largest.kept, sorted);
        }
    }
}
