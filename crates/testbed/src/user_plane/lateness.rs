//! How late the loop detects the start of each day, as a histogram that two threads can use.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Buckets per doubling: a percentile is at most one sixteenth too large.
const PARTS: u64 = 16;
const BUCKETS: usize = 64 * PARTS as usize;

/// The number of samples in each bucket.
pub struct Lateness(Vec<AtomicU64>);

impl Default for Lateness {
    fn default() -> Lateness {
        Lateness((0..BUCKETS).map(|_| AtomicU64::new(0)).collect())
    }
}

fn bucket(ns: u64) -> usize {
    if ns < PARTS {
        return ns as usize;
    }
    let doubling = u64::from(ns.ilog2());
    let part = (ns >> (doubling - 4)) - PARTS;
    ((doubling - 3) * PARTS + part) as usize
}

/// The largest value of a bucket.
fn end(bucket: usize) -> u64 {
    let (doubling, part) = (bucket as u64 / PARTS, bucket as u64 % PARTS);
    match doubling {
        0 => part,
        _ => (((PARTS + part + 1) as u128) << (doubling - 1)).min(u64::MAX as u128) as u64 - 1,
    }
}

impl Lateness {
    /// Counts one value.
    pub fn add(&self, ns: u64) {
        self.0[bucket(ns)].fetch_add(1, Relaxed);
    }

    /// The value that a share of all samples does not exceed, at most one sixteenth too large; 0
    /// without samples.
    pub fn percentile(&self, share: f64) -> u64 {
        let counts: Vec<u64> = self.0.iter().map(|count| count.load(Relaxed)).collect();
        let wanted = share * counts.iter().sum::<u64>() as f64;
        let mut below = 0.0;
        for (bucket, count) in counts.into_iter().enumerate() {
            below += count as f64;
            if count > 0 && below >= wanted {
                return end(bucket);
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_bucket_holds_what_is_within_one_in_sixteen(ns in 0u64..u64::MAX / 2) {
            let end = end(bucket(ns));
            prop_assert!(end >= ns && end - ns <= ns / 16, "{} {}", ns, end);
            prop_assert!(bucket(end) == bucket(ns) && bucket(end + 1) == bucket(ns) + 1);
        }

        #[test]
        fn percentiles_are_those_of_the_sorted_values(
            mut values in prop::collection::vec(0u64..1_000_000, 1..100), share in 0.01f64..1.0,
        ) {
            let lateness = Lateness::default();
            values.iter().for_each(|&ns| lateness.add(ns));
            values.sort_unstable();
            let rank = (share * values.len() as f64).ceil() as usize - 1;
            prop_assert_eq!(lateness.percentile(share), end(bucket(values[rank])));
        }
    }
}
