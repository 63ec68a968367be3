//! Reports of the solver besides rates.

use super::{Fair, LinkId, Precision, Slot, WEIGHT};
use crate::time::Rate;

/// Two links of 100 and 30 b/s, and a flow over the first, over both, over none.
fn three() -> (Fair, [LinkId; 2], [Slot; 3]) {
    let mut fair = Fair::new();
    let [a, b] = [100, 30].map(|c| fair.add_link(Rate(c)));
    let first = fair.open(&[a], WEIGHT, None);
    let both = fair.open(&[a, b], WEIGHT / 2, Some(Rate(90)));
    let none = fair.open(&[], 0, Some(Rate(7)));
    (fair, [a, b], [first, both, none])
}

#[test]
fn links_and_flows_are_as_they_were_made() {
    let (mut fair, [a, b], [first, both, none]) = three();
    assert_eq!((fair.links(), Fair::new().links()), (2, 0));
    assert_eq!((fair.capacity(a), fair.capacity(b)), (Rate(100), Rate(30)));
    let weights = [first, both, none].map(|s| fair.weight(s));
    assert_eq!(weights, [WEIGHT, WEIGHT / 2, 1], "at least 1");
    let limits = [first, both, none].map(|s| fair.limit(s));
    assert_eq!(limits, [None, Some(Rate(90)), Some(Rate(7))]);
    assert_eq!(fair.path(first), [a]);
    assert_eq!(fair.path(both), [a, b]);
    assert_eq!(fair.path(none), []);
    fair.set_limit(both, None);
    fair.set_weight(both, 0);
    assert_eq!((fair.limit(both), fair.weight(both)), (None, 1));
    fair.set_capacity(b, Rate(31));
    assert_eq!(fair.capacity(b), Rate(31));
}

/// A flow is apart while no other flow uses some link of its path.
#[test]
fn a_flow_is_apart_on_a_link_of_its_own() {
    let (mut fair, [a, _], [first, both, none]) = three();
    let apart = |fair: &Fair| [first, both, none].map(|s| fair.is_apart(s));
    assert_eq!(apart(&fair), [false, true, false]);
    fair.reroute(both, &[a]);
    assert_eq!(apart(&fair), [false, false, false]);
    fair.close(both);
    assert!(fair.is_apart(first));
}

/// Flows with a new rate and new flows are reported, each once; no other flow is.
#[test]
fn what_changes_is_told() {
    let (mut fair, [_, b], [first, both, none]) = three();
    assert!(fair.is_dirty());
    let told = |fair: &mut Fair| {
        let mut told = fair.solve().to_vec();
        assert_eq!(told, fair.changed());
        told.sort();
        told
    };
    assert_eq!(told(&mut fair), [first, both, none]);
    assert_eq!(told(&mut fair), [], "nothing has changed");
    fair.set_capacity(b, Rate(20));
    assert!(fair.is_dirty());
    assert_eq!(told(&mut fair), [first, both]);
    // Setting the same values again is no change.
    fair.set_capacity(b, Rate(20));
    fair.set_limit(none, Some(Rate(7)));
    fair.set_weight(first, WEIGHT);
    assert!(!fair.is_dirty());
    fair.set_limit(none, Some(Rate(8)));
    assert_eq!(told(&mut fair), [none]);
    fair.close(none);
    let again = fair.open(&[b], WEIGHT, None);
    assert_eq!(again, none, "its slot is used again");
    assert!(told(&mut fair).contains(&again));
}

/// A slot that represents several flows has their total weight on every link, and loses them one at
/// a time.
#[test]
fn what_was_merged_can_be_closed_one_by_one() {
    let mut fair = Fair::new();
    let (a, b) = (fair.add_link(Rate(120)), fair.add_link(Rate(1_000)));
    let flows = [(); 4].map(|()| fair.open(&[b, a], WEIGHT, None));
    let rest = fair.open(&[b], WEIGHT, None);
    fair.solve();
    for &from in &flows[1..] {
        assert!(fair.merge(flows[0], from));
    }
    for left in (1..=4).rev() {
        assert_eq!(fair.count(flows[0]), left);
        let each = Rate(120 / left as u64);
        assert_eq!((fair.rate(flows[0]), fair.rate(rest)), (each, Rate(880)));
        assert_eq!((fair.load(a), fair.load(b)), (Rate(120), Rate(1_000)));
        fair.close(flows[0]);
        fair.solve();
        fair.books_hold();
    }
    assert_eq!((fair.rate(rest), fair.load(a)), (Rate(1_000), Rate(0)));
}

/// Links of 1 Gb/s and 400 Mb/s at a precision of a thousandth; a flow over the first, one
/// over both, and a small one over the first.
fn within_a_thousandth() -> (Fair, [LinkId; 2], [Slot; 3]) {
    let mut fair = Fair::new();
    fair.set_precision(Precision::billionths(1_000_000).expect("a precision"));
    let [a, b] = [1_000_000_000, 400_000_000].map(|c| fair.add_link(Rate(c)));
    let wide = fair.open(&[a], WEIGHT, None);
    let both = fair.open(&[a, b], WEIGHT, None);
    let small = fair.open(&[a], WEIGHT, Some(Rate(300_000)));
    fair.solve();
    (fair, [a, b], [wide, both, small])
}

/// An eighth of the permitted slack stays unused, as room for the next change.
#[test]
fn links_are_filled_to_an_eighth_of_the_precision() {
    let (fair, [a, b], [wide, both, small]) = within_a_thousandth();
    let near = |got: Rate, expected: u64| assert!(got.0.abs_diff(expected) <= 2, "{got:?}");
    near(fair.load(b), 400_000_000 - 50_000);
    near(fair.load(a), 1_000_000_000 - 125_000);
    near(fair.rate(both), 399_950_000);
    near(fair.rate(small), 300_000);
    near(
        fair.rate(wide),
        1_000_000_000 - 125_000 - 399_950_000 - 300_000,
    );
}

/// Changes of a link's load within the precision change no rate there.
#[test]
fn changes_within_the_precision_go_no_further() {
    for (capacity, felt) in [
        (400_000_000 - 100_000, false),
        (400_000_000 - 800_000, false),
        // A change by more than a thousandth of the first link, and by more than is unused there.
        (400_000_000 - 1_200_000, true),
        (400_000_000 + 500_000, true),
    ] {
        let (mut fair, [a, b], [wide, both, _]) = within_a_thousandth();
        fair.set_capacity(b, Rate(capacity));
        let mut told = fair.solve().to_vec();
        told.sort();
        let expected: &[Slot] = if felt { &[wide, both] } else { &[both] };
        assert_eq!(told, expected, "{capacity} b/s");
        assert!(fair.load(a) <= fair.capacity(a));
        fair.books_hold();
        if capacity == 400_000_000 - 800_000 {
            // More than before: too much for the second link, but not for the first, of which 125
            // kb/s were unused.
            fair.set_capacity(b, Rate(400_000_000 + 50_000));
            assert_eq!(fair.solve(), [both]);
            fair.books_hold();
        }
    }
}

/// A flow leaves and returns, and a link's capacity grows by less than the precision.
#[test]
fn a_link_keeps_its_level_within_the_precision() {
    let (mut fair, [a, _], [wide, _, small]) = within_a_thousandth();
    let rate = fair.rate(wide);
    fair.close(small);
    assert_eq!(fair.solve(), []);
    fair.set_capacity(a, Rate(1_000_300_000));
    assert_eq!(fair.solve(), []);
    fair.books_hold();
    let again = fair.open(&[a], WEIGHT, Some(Rate(200_000)));
    assert_eq!(fair.solve(), [again]);
    assert_eq!(fair.rate(wide), rate);
    fair.set_capacity(a, Rate(1_002_000_000));
    assert_eq!(fair.solve(), [wide]);
    assert!(fair.rate(wide) > rate);
    fair.books_hold();
}
