//! Order statistics by nearest rank: a percentile is always an observed value, never an
//! interpolated one.

/// The `p`-th percentile (0 < `p` ≤ 100) of `sorted` by nearest rank: the smallest value that at
/// least `p` % of the values do not exceed. `None` for an empty slice.
pub fn percentile<T: Copy>(sorted: &[T], p: u32) -> Option<T> {
    // In integers: 99 % of 100 values is the 99th, regardless of the rounding of 0.99.
    let rank = (sorted.len() * p as usize).div_ceil(100);
    sorted.get(rank.max(1) - 1).copied()
}

/// The arithmetic mean; `None` without values.
pub fn mean(values: impl ExactSizeIterator<Item = f64>) -> Option<f64> {
    let n = values.len();
    (n > 0).then(|| values.sum::<f64>() / n as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition itself, in quadratic time.
    fn by_definition(values: &[i64], p: u32) -> Option<i64> {
        let enough = |v: i64| {
            let within = values.iter().filter(|&&x| x <= v).count();
            within * 100 >= values.len() * p as usize
        };
        values.iter().copied().filter(|&v| enough(v)).min()
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(mut values in prop::collection::vec(-50i64..50, 0..120), p in 1u32..=100) {
            let expect = by_definition(&values, p);
            values.sort_unstable();
            prop_assert_eq!(percentile(&values, p), expect);
        }
    }

    #[test]
    fn the_textbook_example() {
        let v = [15, 20, 35, 40, 50];
        let got: Vec<_> = [5, 30, 40, 50, 100].map(|p| percentile(&v, p)).into();
        assert_eq!(got, [Some(15), Some(20), Some(20), Some(35), Some(50)]);
        let hundred: Vec<u32> = (1..=100).collect();
        assert_eq!(percentile(&hundred, 99), Some(99));
    }

    #[test]
    fn of_nothing_there_is_none() {
        assert_eq!(percentile::<u8>(&[], 50), None);
        assert_eq!(mean([].into_iter()), None);
        assert_eq!(mean([1.0, 4.0].into_iter()), Some(2.5));
    }
}
