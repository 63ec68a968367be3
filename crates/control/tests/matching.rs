//! Matching against an exhaustive oracle for small numbers of racks, and against
//! its own certificate for larger ones.

mod matching_cases;

use lightloom_control::matching::*;
use matching_cases::{Draws, Family, EXTREMES, FAMILIES};
use proptest::prelude::*;

/// The weight of the best perfect matching (one rack alone if `n` is odd), over
/// all sets of racks: O(2ⁿ n).
fn best_by_subsets(weights: &Weights) -> i64 {
    let n = weights.n();
    let even = n + n % 2;
    let mut best = vec![0; 1 << even];
    for racks in 1usize..1 << even {
        if racks.count_ones() % 2 == 1 {
            continue;
        }
        let i = racks.trailing_zeros() as usize;
        let rest = racks & !(1 << i);
        let others = (i + 1..even).filter(|j| rest >> j & 1 == 1);
        let totals = others.map(|j| {
            let weight = if j < n { weights.get(i, j) } else { 0 };
            weight + best[rest & !(1 << j)]
        });
        best[racks] = totals.max().expect("an even number of racks");
    }
    best[(1 << even) - 1]
}

fn symmetric(n: usize, mut weight: impl FnMut(usize, usize) -> i64) -> Weights {
    let mut cells = vec![0; n * n];
    for i in 0..n {
        for j in 0..i {
            let w = weight(j, i);
            (cells[i * n + j], cells[j * n + i]) = (w, w);
        }
    }
    Weights::new(n, cells).expect("symmetric weights")
}

fn of_family(family: Family, n: usize, seed: u64) -> Weights {
    let demand = family.demand(n, seed);
    symmetric(n, |i, j| demand[i * n + j] + demand[j * n + i])
}

fn any_family() -> impl Strategy<Value = Family> {
    proptest::sample::select(FAMILIES.into_iter().chain(EXTREMES).collect::<Vec<_>>())
}

/// Weights of few or many distinct values, with more or fewer zeros.
fn any_weights(most: usize) -> impl Strategy<Value = Weights> {
    (0..=most, any::<u64>(), 0..5u32, 0..4u64).prop_map(|(n, seed, digits, zeros)| {
        let mut draws = Draws::new(seed);
        let range = 10u64.pow(3 * digits);
        symmetric(n, |_, _| match draws.below(4) {
            draw if draw < zeros => 0,
            _ => draws.below(range + 1) as i64,
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() })]

    #[test]
    fn as_heavy_as_the_best_of_all_subsets(weights in any_weights(12)) {
        let found = maximum_weight_perfect(&weights);
        prop_assert_eq!(found.verify(&weights), Ok(()));
        prop_assert_eq!(found.weight, best_by_subsets(&weights));
    }

    #[test]
    fn as_heavy_as_the_best_of_all_subsets_in_every_family(
        family in any_family(), n in 0usize..=14, seed in any::<u64>(),
    ) {
        let weights = of_family(family, n, seed);
        let found = maximum_weight_perfect(&weights);
        prop_assert_eq!(found.verify(&weights), Ok(()));
        prop_assert_eq!(found.weight, best_by_subsets(&weights));
    }

    #[test]
    fn the_certificate_holds(weights in any_weights(90)) {
        prop_assert_eq!(maximum_weight_perfect(&weights).verify(&weights), Ok(()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..Default::default() })]

    #[test]
    fn the_certificate_holds_in_every_family(
        family in any_family(), n in 0usize..=400, seed in any::<u64>(),
    ) {
        let weights = of_family(family, n, seed);
        let found = maximum_weight_perfect(&weights);
        prop_assert_eq!(found.verify(&weights), Ok(()));
        prop_assert_eq!(maximum_weight_perfect(&weights), found);
    }
}
