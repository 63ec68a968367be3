//! Tests assignment with the demand of the matching tests, against its certificate.

mod matching_cases;

use lightloom_control::algorithms::assignment::{maximum, Solver, Weights};
use matching_cases::{EXTREMES, FAMILIES};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..Default::default() })]

    #[test]
    fn the_certificate_holds_in_every_family(
        family in proptest::sample::select([&FAMILIES[..], &EXTREMES].concat()),
        n in 0usize..=400,
        seed in any::<u64>(),
        part in 0.0f64..1.0,
    ) {
        let demand = family.demand(n, seed);
        let most = demand.iter().copied().max().unwrap_or(0);
        let weights = Weights::new(n, &demand);
        let mut solver = Solver::new();
        for weights in [weights, weights.capped((most as f64 * part.powi(4)) as i64)] {
            let found = solver.maximum(&weights).unwrap();
            prop_assert_eq!(found.verify(&weights), Ok(()));
            prop_assert_eq!(maximum(&weights).unwrap(), found);
        }
    }
}

#[test]
fn a_thousand_columns_of_every_family_are_proven() {
    for family in FAMILIES.into_iter().chain(EXTREMES) {
        let demand = family.demand(1_000, 7);
        let weights = Weights::new(1_000, &demand);
        let found = maximum(&weights).unwrap();
        assert_eq!(found.verify(&weights), Ok(()), "{}", family.name());
    }
}
