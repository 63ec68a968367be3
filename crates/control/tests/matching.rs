//! Matching against an exhaustive oracle for small numbers of racks, and against
//! its own certificate for larger ones.

mod matching_cases;

use lightloom_control::algorithms::matching::*;
use lightloom_control::circuits::Circuits;
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
    (0..=most, any::<u64>(), 0..6u32, 0..4u64).prop_map(|(n, seed, digits, zeros)| {
        let mut draws = Draws::new(seed);
        // Up to 10¹⁷: near the largest that is allowed.
        let range = 10u64.pow((3 * digits + 2).min(17) * u32::from(digits > 0));
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
        prop_assert!(found.rounds > 0);
        prop_assert!(found.certificate.blossoms.iter().all(|blossom| blossom.z > 0));
        prop_assert_eq!(maximum_weight_perfect(&weights), found);
    }
}

#[test]
fn a_thousand_racks_of_every_family_are_proven() {
    for family in FAMILIES.into_iter().chain(EXTREMES) {
        let weights = of_family(family, 1_000, 7);
        let found = maximum_weight_perfect(&weights);
        assert_eq!(found.verify(&weights), Ok(()), "{}", family.name());
        assert_eq!(found.pairs().count(), 500);
    }
}

#[test]
fn one_of_an_odd_number_stays_alone() {
    // In a triangle, the heaviest edge is chosen.
    let weights = symmetric(3, |i, j| [[0, 4, 7], [0, 0, 5], [0, 0, 0]][i][j]);
    let found = maximum_weight_perfect(&weights);
    assert_eq!((found.circuits.pairs(), found.weight), (vec![(0, 2)], 7));
    assert_eq!(found.verify(&weights), Ok(()));
}

#[test]
fn sizes_without_a_choice() {
    for (n, pairs) in [(0, vec![]), (1, vec![]), (2, vec![(0, 1)])] {
        let found = maximum_weight_perfect(&symmetric(n, |_, _| 0));
        assert_eq!((found.circuits.pairs(), found.weight), (pairs, 0));
    }
}

#[test]
fn odd_sets_are_part_of_the_proof() {
    // Two triangles of weight 10 and one edge of 1 between them: 10 + 1 + 10. Duals
    // of vertices alone would prove no less than 30.
    let weights = symmetric(6, |i, j| match (i, j) {
        (2, 3) => 1,
        _ if i / 3 == j / 3 => 10,
        _ => 0,
    });
    let found = maximum_weight_perfect(&weights);
    assert_eq!(
        (found.circuits.pairs(), found.weight),
        (vec![(0, 1), (2, 3), (4, 5)], 21)
    );
    assert_eq!(found.verify(&weights), Ok(()));
    assert_eq!(found.certificate.bound(&weights), Ok(2 * 21));
    assert_eq!(found.certificate.blossoms.len(), 2);
}

#[test]
fn a_forged_proof_is_seen_through() {
    let weights = of_family(Family::OddClique, 60, 1);
    let found = maximum_weight_perfect(&weights);
    let forged = |change: &dyn Fn(&mut Matching)| {
        let mut forged = found.clone();
        change(&mut forged);
        forged.verify(&weights)
    };
    assert_eq!(forged(&|_| ()), Ok(()));
    type Pairs = Vec<(u32, u32)>;
    let joined = |change: &dyn Fn(&mut Pairs)| {
        forged(&|f| {
            let mut pairs = f.circuits.pairs();
            change(&mut pairs);
            f.circuits = Circuits::both_ways(pairs);
        })
    };
    assert_eq!(joined(&|p| p.truncate(29)), Err(Violation::Shape));
    assert_eq!(
        forged(&|f| f.certificate.y.truncate(59)),
        Err(Violation::Shape)
    );
    assert_eq!(joined(&|p| p[0].1 = 0), Err(Violation::Circuit(0)));
    assert_eq!(joined(&|p| p[0].1 = 60), Err(Violation::Circuit(0)));
    assert_eq!(joined(&|p| p[7] = p[3]), Err(Violation::Circuit(7)));
    assert_eq!(forged(&|f| f.weight += 1), Err(Violation::Weight));
    assert_eq!(
        forged(&|f| f.certificate.y[5] = -1),
        Err(Violation::Negative(5))
    );
    assert_eq!(forged(&|f| f.certificate.y[5] += 1), Err(Violation::Gap(1)));
    assert!(matches!(
        forged(&|f| f.certificate.y[5] -= 1),
        Err(Violation::Uncovered(_, _))
    ));
    assert!(matches!(
        forged(&|f| f.certificate.blossoms[0].z -= 2),
        Err(Violation::Uncovered(_, _))
    ));
    type Change<'a> = &'a dyn Fn(&mut Blossom);
    let of_blossom = |change: Change| forged(&|f| change(&mut f.certificate.blossoms[0]));
    for change in [
        &|b: &mut Blossom| b.z = -1,
        &|b: &mut Blossom| b.members.truncate(2),
        &|b: &mut Blossom| b.members.truncate(1),
        &|b: &mut Blossom| b.members[0] = b.members[1],
        &|b: &mut Blossom| b.members[0] = 60,
    ] as [Change; 5]
    {
        assert_eq!(of_blossom(change), Err(Violation::Blossom(0)));
    }
}

#[test]
fn a_worse_matching_is_not_proven() {
    let weights = symmetric(4, |i, j| {
        [[0, 5, 3, 1], [0, 0, 1, 3], [0, 0, 0, 5], [0; 4]][i][j]
    });
    let found = maximum_weight_perfect(&weights);
    assert_eq!(
        (found.circuits.pairs(), found.weight),
        (vec![(0, 1), (2, 3)], 10)
    );
    // 0–2 and 1–3 weigh 6, so the gap is twice 10 − 6.
    let worse = Circuits::both_ways([(0, 2), (1, 3)]);
    let verdict = found.certificate.verify(&worse, 6, &weights);
    assert_eq!(verdict, Err(Violation::Gap(8)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..Default::default() })]

    #[test]
    fn among_equals_circuits_stay_up(n in 2usize..=12, seed in any::<u64>()) {
        // Few distinct weights: many matchings weigh the same.
        let mut draws = Draws::new(seed);
        let weights = symmetric(n, |_, _| draws.below(3) as i64);
        let up: Vec<(u32, u32)> = (0..n as u32 / 2).map(|k| (k, n as u32 - 1 - k)).collect();
        let favoured = weights.clone().favour(&up, Hysteresis::Ties).unwrap();
        let found = maximum_weight_perfect(&favoured);
        prop_assert_eq!(found.verify(&favoured), Ok(()));
        // The result of an exhaustive search: the largest total, then the most kept circuits.
        prop_assert_eq!(weights.total(&found.circuits), best_by_subsets(&weights));
        let kept = found.pairs().filter(|pair| up.contains(pair)).count() as i64;
        let bonus = symmetric(n, |i, j| {
            weights.get(i, j) * 1_000 + i64::from(up.contains(&(i as u32, j as u32)))
        });
        prop_assert_eq!(best_by_subsets(&bonus) % 1_000, kept);
    }

    #[test]
    fn a_bonus_is_what_a_change_must_gain(
        n in 2usize..=12, seed in any::<u64>(), bonus in 0i64..2_000,
    ) {
        let mut draws = Draws::new(seed);
        let weights = symmetric(n, |_, _| draws.below(1_000) as i64);
        let up: Vec<(u32, u32)> = (0..n as u32 / 2).map(|k| (k, n as u32 - 1 - k)).collect();
        let favoured = weights.clone().favour(&up, Hysteresis::Bonus(bonus)).unwrap();
        let found = maximum_weight_perfect(&favoured);
        let with_bonus = symmetric(n, |i, j| {
            weights.get(i, j) + bonus * i64::from(up.contains(&(i as u32, j as u32)))
        });
        prop_assert_eq!(found.weight, best_by_subsets(&with_bonus));
        prop_assert_eq!(favoured, with_bonus);
    }
}

#[test]
fn weights_that_cannot_be_are_refused_by_name() {
    let refused = |n, cells: &[i64]| Weights::new(n, cells.to_vec()).unwrap_err().to_string();
    assert!(refused(2, &[0, 1, 1]).starts_with("weights = 3 numbers: weights between 2 racks"));
    assert!(refused(2, &[0, 1, 2, 0]).starts_with("weights[1][0] = 2: a circuit has both"));
    assert!(refused(2, &[0, -1, -1, 0]).starts_with("weights[1][0] = -1: a weight is at least 0"));
    assert!(refused(2, &[0, -1, 5, 0]).starts_with("weights[0][1] = -1: a weight is at least 0"));
    assert!(refused(2, &[0, 5, -1, 0]).starts_with("weights[1][0] = -1: a weight is at least 0"));
    assert!(refused(2, &[0, 1, 1, 3]).starts_with("weights[1][1] = 3: no circuit joins a rack"));
    let most = i64::MAX / 64;
    assert_eq!(
        refused(3, &[0, 0, 7, 0, 0, most + 1, 7, most + 1, 0]),
        "weights[1][2] = 144115188075855872: a circuit weighs at most 144115188075855871, \
         of 57 bits; divide all of them by the same number"
    );
    assert!(Weights::new(2, vec![0, most, most, 0]).is_ok());
    let many: Vec<i64> = (0..200 * 200)
        .map(|at| most * i64::from(at / 200 != at % 200))
        .collect();
    assert!(refused(200, &many)
        .starts_with("weights = 14411518807585587100: the weight of a matching must fit 63 bits"));
}

/// 64 pairs of the largest weight and one of 63 weigh 2⁶³ − 1.
#[test]
fn a_matching_may_weigh_all_that_fits() {
    let pairs_and = |last: i64| {
        let mut cells = vec![0; 130 * 130];
        for i in (0..130).step_by(2) {
            let weight = if i < 128 { i64::MAX / 64 } else { last };
            (cells[130 * i + i + 1], cells[130 * (i + 1) + i]) = (weight, weight);
        }
        Weights::new(130, cells)
    };
    let weights = pairs_and(63).unwrap();
    let found = maximum_weight_perfect(&weights);
    assert_eq!(found.verify(&weights), Ok(()));
    assert_eq!(found.weight, i64::MAX);
    assert!(pairs_and(64).is_err());
}

/// The mean dual comes from a sum of 64 bits, and the limit of a search from this mean.
#[test]
fn of_many_heavy_racks_the_last_stays_alone() {
    let (n, weight) = (2_101, i64::MAX / 1_050);
    let mut cells = vec![0; n * n];
    for i in (0..n - 1).step_by(2) {
        (cells[n * i + i + 1], cells[n * (i + 1) + i]) = (weight, weight);
    }
    let weights = Weights::new(n, cells).unwrap();
    let found = maximum_weight_perfect(&weights);
    assert_eq!(found.verify(&weights), Ok(()));
    assert_eq!(found.weight, 1_050 * weight);
}

#[test]
fn demand_adds_up_both_ways_or_is_refused() {
    use lightloom_control::demand::Matrix;
    let n = 70;
    let demand = Matrix::new(n, n, Family::Heavy.demand(n, 3)).unwrap();
    let weights = Weights::symmetrise(&demand).unwrap();
    for i in 0..n {
        for j in 0..n {
            assert_eq!(weights.get(i, j), demand.get(i, j) + demand.get(j, i));
            assert_eq!(weights.cells()[n * i + j], weights.get(i, j));
        }
    }
    let most = i64::MAX / 64;
    let largest = Matrix::new(2, 2, vec![0, most - 3, 3, 0]).unwrap();
    assert_eq!(Weights::symmetrise(&largest).unwrap().get(0, 1), most);
    let large = Matrix::new(2, 2, vec![0, i64::MAX - 5, 3, 0]).unwrap();
    let refusal = Weights::symmetrise(&large).unwrap_err().to_string();
    assert!(refusal.starts_with(
        "demand[0][1] + demand[1][0] = 9223372036854775805: a circuit weighs at most"
    ));
}

#[test]
fn circuits_that_cannot_be_up_are_refused_by_name() {
    let weights = symmetric(4, |_, _| 3);
    let refused = |up: &[(u32, u32)], how| weights.clone().favour(up, how).unwrap_err().to_string();
    let ties = Hysteresis::Ties;
    assert!(refused(&[(1, 4)], ties).starts_with("up = (1, 4): a circuit joins two of the 4 racks"));
    assert!(refused(&[(2, 2)], ties).starts_with("up = (2, 2)"));
    assert!(refused(&[(0, 1), (1, 2)], ties).starts_with("up = (1, 2)"));
    assert!(refused(&[], Hysteresis::Bonus(-1)).starts_with("bonus = -1"));
    let most = i64::MAX / 64;
    assert!(refused(&[], Hysteresis::Bonus(i64::MAX))
        .starts_with("bonus = 9223372036854775807: at most 144115188075855871"));
    assert_eq!(
        weights.clone().favour(&[], Hysteresis::Bonus(0)),
        Ok(weights.clone())
    );
    let beside = symmetric(4, |_, _| (most - 1) / 3 + 1).favour(&[], ties);
    assert!(beside.unwrap_err().to_string().starts_with(
        "weights[0][1] = 48038396025285291: at most 48038396025285290, so that lit circuits can \
         have a higher weight"
    ));
    let named = |weight: i64, how| {
        let large = symmetric(4, |i, j| weight * i64::from((i, j) != (0, 1)));
        large
            .clone()
            .favour(&[], how)
            .err()
            .map(|refusal| refusal.key)
    };
    // With four nodes, ties are broken by threefold weights.
    for (largest, how) in [
        ((most - 1) / 3, ties),
        (most - 5, Hysteresis::Bonus(5)),
        (0, Hysteresis::Bonus(most)),
    ] {
        assert_eq!(named(largest, how), None);
        assert_eq!(named(largest + 1, how).as_deref(), Some("weights[0][2]"));
    }
}
