//! Oracles of the solver: the definition, a plain reference, closed forms.

use super::reference;
use super::*;
use proptest::prelude::*;
use std::collections::HashMap;

/// A change, by numbers that are taken modulo the number of objects.
#[derive(Clone, Debug)]
enum Change {
    Open(Vec<usize>, u32, Option<u64>),
    Close(usize),
    Reroute(usize, Vec<usize>),
    Weight(usize, u32),
    Limit(usize, Option<u64>),
    Capacity(usize, u64),
    Solve,
    /// Merge all equal flows.
    Merge,
}

fn path() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(any::<usize>(), 0..6)
}

/// Limits and capacities up to `most` [b/s], some of them equal.
fn changes(most: u64) -> impl Strategy<Value = Vec<Change>> {
    let amount = move || prop_oneof![3 => 0..most, 1 => Just(most / 2), 1 => Just(most / 8)];
    let weight = || prop_oneof![3 => Just(WEIGHT), 1 => Just(WEIGHT / 10 * 9), 1 => 1u32..1_000];
    let limit = move || prop_oneof![3 => Just(None), 1 => amount().prop_map(Some)];
    let change = prop_oneof![
        6 => (path(), weight(), limit()).prop_map(|(p, w, l)| Change::Open(p, w, l)),
        4 => any::<usize>().prop_map(Change::Close),
        1 => (any::<usize>(), path()).prop_map(|(f, p)| Change::Reroute(f, p)),
        1 => (any::<usize>(), weight()).prop_map(|(f, w)| Change::Weight(f, w)),
        1 => (any::<usize>(), limit()).prop_map(|(f, l)| Change::Limit(f, l)),
        2 => (any::<usize>(), amount()).prop_map(|(l, c)| Change::Capacity(l, c)),
        5 => Just(Change::Solve),
        3 => Just(Change::Merge),
    ];
    prop::collection::vec(change, 1..120)
}

/// From a millionth to a tenth.
fn precisions() -> impl Strategy<Value = u32> {
    prop_oneof![1_000u32..=100_000_000, Just(1_000_000), Just(10_000_000)]
}

/// The solver and its expected state.
struct Pair {
    fair: Fair,
    /// Permitted relative shortfall of a rate.
    slack: f64,
    capacity: Vec<u64>,
    flows: Vec<(Slot, reference::Flow)>,
    /// Rates that `changed` has reported, by flow, since the flow was opened.
    told: HashMap<Slot, u64>,
}

impl Pair {
    fn new(capacity: Vec<u64>) -> Pair {
        let mut fair = Fair::new();
        for &c in &capacity {
            fair.add_link(Rate(c));
        }
        Pair {
            fair,
            slack: 0.0,
            capacity,
            flows: Vec::new(),
            told: HashMap::new(),
        }
    }

    fn at(mut self, billionths: u32) -> Pair {
        let precision = Precision::billionths(billionths).unwrap();
        self.fair.set_precision(precision);
        self.slack = billionths as f64 * 1e-9;
        self
    }

    /// The path that the numbers stand for; not empty if the flow has no limit.
    fn links(&self, path: &[usize], limit: Option<u64>) -> (Vec<usize>, Vec<LinkId>) {
        let path = match (path, limit) {
            ([], None) => &[0],
            (path, _) => path,
        };
        let mut links: Vec<usize> = path.iter().map(|l| l % self.capacity.len()).collect();
        links.sort();
        links.dedup();
        let ids = links.iter().map(|&l| LinkId(l as u32)).collect();
        (links, ids)
    }

    fn change(&mut self, change: &Change) {
        let count = self.flows.len();
        match change {
            Change::Open(path, weight, limit) => {
                let (links, ids) = self.links(path, *limit);
                let slot = self.fair.open(&ids, *weight, limit.map(Rate));
                self.told.remove(&slot);
                let flow = reference::Flow {
                    path: links,
                    weight: *weight,
                    limit: *limit,
                };
                self.flows.push((slot, flow));
            }
            Change::Capacity(l, c) => {
                let l = l % self.capacity.len();
                self.capacity[l] = *c;
                self.fair.set_capacity(LinkId(l as u32), Rate(*c));
            }
            Change::Solve => self.check(),
            Change::Merge => self.merge(),
            _ if count == 0 => {}
            Change::Close(f) => {
                let (slot, _) = self.flows.swap_remove(f % count);
                self.fair.close(slot);
            }
            Change::Reroute(f, path) if self.is_alone(*f) => {
                let (links, ids) = self.links(path, self.flows[f % count].1.limit);
                let (slot, flow) = &mut self.flows[f % count];
                self.fair.reroute(*slot, &ids);
                self.told.remove(slot);
                flow.path = links;
            }
            Change::Weight(f, weight) if self.is_alone(*f) => {
                let (slot, flow) = &mut self.flows[f % count];
                self.fair.set_weight(*slot, *weight);
                if std::mem::replace(&mut flow.weight, *weight) != *weight {
                    self.told.remove(slot);
                }
            }
            Change::Limit(f, limit) if self.is_alone(*f) => {
                let (slot, flow) = &mut self.flows[f % count];
                if limit.is_some() || !flow.path.is_empty() {
                    self.fair.set_limit(*slot, limit.map(Rate));
                    if std::mem::replace(&mut flow.limit, *limit) != *limit {
                        self.told.remove(slot);
                    }
                }
            }
            Change::Reroute(..) | Change::Weight(..) | Change::Limit(..) => {}
        }
    }

    fn is_alone(&self, flow: usize) -> bool {
        let (slot, _) = self.flows[flow % self.flows.len()];
        self.fair.count(slot) == 1
    }

    fn merge(&mut self) {
        for a in 0..self.flows.len() {
            for b in a + 1..self.flows.len() {
                let (into, from) = (self.flows[a].0, self.flows[b].0);
                if into != from && self.fair.merge(into, from) {
                    let moved = self.flows.iter_mut().filter(|f| f.0 == from);
                    moved.for_each(|f| f.0 = into);
                }
            }
        }
    }

    fn solve(&mut self) -> Vec<u64> {
        let rate = |fair: &Fair, s: Slot| fair.rate(s).0;
        for slot in self.fair.solve().to_vec() {
            let rate = rate(&self.fair, slot);
            let before = self.told.insert(slot, rate);
            assert_ne!(before, Some(rate), "{slot:?} has the rate that it had");
        }
        let told = |s: &Slot| self.told.get(s).copied();
        let untold = |s: &Slot| told(s) != Some(rate(&self.fair, *s));
        let untold = self.flows.iter().map(|f| f.0).find(untold);
        assert_eq!(untold, None, "has another rate");
        self.fair.books_hold();
        assert!(!self.fair.is_dirty() && self.fair.solve().is_empty());
        self.flows.iter().map(|f| rate(&self.fair, f.0)).collect()
    }

    /// Solves, and checks the rates against the definition of max-min fairness.
    fn check(&mut self) {
        let rates = self.solve();
        let mut load = vec![0; self.capacity.len()];
        let mut count = vec![0; self.capacity.len()];
        for ((_, flow), rate) in self.flows.iter().zip(&rates) {
            for &l in &flow.path {
                load[l] += rate;
                count[l] += 1;
            }
        }
        for l in 0..load.len() {
            let id = LinkId(l as u32);
            assert!(load[l] <= self.capacity[l], "link {l} carries {}", load[l]);
            assert_eq!(self.fair.load(id), Rate(load[l]), "books of link {l}");
            let over = self.fair.flows_over(id).map(|s| self.fair.count(s));
            assert_eq!(over.sum::<u32>(), count[l]);
        }
        for (f, (_, flow)) in self.flows.iter().enumerate() {
            // Each flow of a link may lose less than 1 b/s to rounding.
            let full = |l: &usize| {
                let unused = (self.capacity[*l] - load[*l]) as f64;
                let rounding = count[*l] as f64 + 1e-9 * self.capacity[*l] as f64;
                unused <= rounding + self.slack * self.capacity[*l] as f64
            };
            let highest = |l: &usize| {
                let over = self
                    .flows
                    .iter()
                    .zip(&rates)
                    .filter(|((_, g), _)| g.path.contains(l));
                over.map(|((_, g), &r)| (r as f64 - 1.0) / g.weight as f64)
                    .fold(0.0, f64::max)
            };
            let level = (rates[f] + 1) as f64 / flow.weight as f64 * (1.0 + 1e-9);
            let bottleneck = flow.path.iter().any(|l| full(l) && level >= highest(l));
            let limited = flow.limit == Some(rates[f]);
            assert!(flow.limit.is_none_or(|l| rates[f] <= l));
            assert!(
                limited || bottleneck,
                "flow {f} of {rates:?} is held by nothing"
            );
        }
    }

    /// The load of a link if it is full within the precision, otherwise its capacity.
    fn in_use(&self, link: usize) -> u64 {
        let (all, load) = (self.capacity[link], self.fair.load(LinkId(link as u32)).0);
        let over = self.fair.flows_over(LinkId(link as u32));
        let rounding = over.map(|s| self.fair.count(s)).sum::<u32>() as f64;
        let within = (all - load) as f64 <= self.slack * all as f64 + rounding;
        match within && self.slack > 0.0 {
            true => load,
            false => all,
        }
    }

    /// Solves, and compares the rates with a solution from scratch by the reference.
    fn compare(&mut self) {
        let rates = self.solve();
        let flows: Vec<reference::Flow> = self.flows.iter().map(|f| f.1.clone()).collect();
        let capacity: Vec<u64> = (0..self.capacity.len()).map(|l| self.in_use(l)).collect();
        let expected = reference::rates(&capacity, &flows);
        for (f, (rate, expected)) in rates.iter().zip(&expected).enumerate() {
            let slack = 1e-6 * expected + 200.0;
            let off = (*rate as f64 - expected).abs();
            assert!(
                off <= slack,
                "flow {f}: {rate}, reference {expected}\n{flows:?}\n{:?}",
                self.capacity
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn every_flow_has_its_limit_or_a_bottleneck(
        links in prop::collection::vec(0u64..50, 1..10),
        changes in changes(50),
    ) {
        let mut pair = Pair::new(links);
        changes.iter().for_each(|c| pair.change(c));
        pair.check();
    }

    #[test]
    fn full_links_are_full_within_the_precision(
        links in prop::collection::vec(0u64..1_000_000_000_000, 1..10),
        changes in changes(1_000_000_000_000),
        precision in precisions(),
    ) {
        let mut pair = Pair::new(links).at(precision);
        changes.iter().for_each(|c| pair.change(c));
        pair.check();
    }

    /// The guarantee to users: rates equal the reference's for links whose capacity is replaced by
    /// their load if they are full within the precision.
    #[test]
    fn rates_are_fair_for_links_within_the_precision(
        links in prop::collection::vec(0u64..1_000_000_000_000, 1..12),
        changes in changes(1_000_000_000_000),
        precision in precisions(),
    ) {
        let mut pair = Pair::new(links).at(precision);
        for change in &changes {
            pair.change(change);
            if matches!(change, Change::Solve) {
                pair.compare();
            }
        }
        pair.compare();
    }

    #[test]
    fn what_is_solved_in_parts_is_what_is_solved_anew(
        links in prop::collection::vec(0u64..1_000_000_000_000, 1..12),
        changes in changes(1_000_000_000_000),
    ) {
        let mut pair = Pair::new(links);
        pair.fair.age(u32::MAX - 2);
        for change in &changes {
            pair.change(change);
            if matches!(change, Change::Solve) {
                pair.compare();
            }
        }
        pair.check();
        pair.compare();
    }
}

/// Three flows share 100 b/s; two are merged, and one of these leaves.
#[test]
fn flows_that_are_alike_count_as_one() {
    let mut fair = Fair::new();
    let (a, b) = (fair.add_link(Rate(100)), fair.add_link(Rate(1_000)));
    let mut open = |path: &[LinkId]| fair.open(path, WEIGHT, None);
    let (first, second, other) = (open(&[a, b]), open(&[a, b]), open(&[a]));
    assert!(!fair.merge(first, second), "neither has a rate");
    fair.solve();
    assert!(!fair.merge(first, other), "paths differ");
    assert!(fair.merge(first, second));
    assert_eq!((fair.count(first), fair.load(b)), (2, Rate(66)));
    fair.close(first);
    fair.solve();
    assert_eq!((fair.count(first), fair.rate(first)), (1, Rate(50)));
    assert_eq!((fair.rate(other), fair.load(b)), (Rate(50), Rate(50)));
}

#[test]
fn equal_flows_share_a_link_equally() {
    let mut fair = Fair::new();
    let link = fair.add_link(Rate(100));
    let flows: Vec<Slot> = (0..4).map(|_| fair.open(&[link], WEIGHT, None)).collect();
    fair.solve();
    assert!(flows.iter().all(|&f| fair.rate(f) == Rate(25)));
}

/// Two flows over a dark link have equal rates, but only one has been solved.
#[test]
fn a_flow_without_a_rate_yet_is_like_no_other() {
    let mut fair = Fair::new();
    let dark = fair.add_link(Rate(0));
    let settled = fair.open(&[dark], WEIGHT, None);
    fair.solve();
    let new = fair.open(&[dark], WEIGHT, None);
    assert!(!fair.merge(settled, new) && !fair.merge(new, settled));
    fair.solve();
    assert!(fair.merge(settled, new));
}

/// Flows at their limits leave a tenth of the link unused: the link is the bottleneck of none.
#[test]
fn a_link_that_limits_fill_to_the_last_bit_is_not_overfull() {
    let mut fair = Fair::new();
    fair.set_precision(Precision::COARSEST);
    let link = fair.add_link(Rate(2_000));
    let flow = fair.open(&[link], WEIGHT, Some(Rate(1_000)));
    fair.solve();
    fair.set_capacity(link, Rate(1_000));
    let elsewhere = fair.add_link(Rate(5_000));
    let new = fair.open(&[elsewhere], WEIGHT, None);
    assert_eq!(fair.solve(), [new]);
    assert_eq!(fair.rate(flow), Rate(1_000));
}

/// A link of 1,000 b/s may leave 99 b/s unused (a tenth, rounded down) and is filled to 988 at
/// first. Three flows over it are then limited elsewhere, one after another. After the first two
/// the load is 901, and the link keeps its level; after the third it is 900, and the link is no
/// longer full enough.
#[test]
fn a_full_link_loses_no_more_than_the_precision() {
    let mut fair = Fair::new();
    fair.set_precision(Precision::COARSEST);
    let link = fair.add_link(Rate(1_000));
    let own = fair.open(&[link], WEIGHT, None);
    let stops = [40, 47, 1].map(|limit| fair.add_link(Rate(limit)));
    let held = stops.map(|stop| fair.open(&[link, stop], WEIGHT, None));
    fair.solve();
    assert_eq!(held.map(|flow| fair.rate(flow).0), [40, 47, 1]);
    assert_eq!(fair.load(link), Rate(988));
    for (stop, load) in stops.into_iter().zip([948, 901, 988]) {
        fair.set_capacity(stop, Rate(0));
        fair.solve();
        assert_eq!(fair.load(link), Rate(load));
    }
    assert_eq!(fair.rate(own), Rate(988));
}

/// When the limited flows leave, a link of 1,000 b/s that was filled to 988 keeps its level with 99
/// unused, a tenth rounded down, and with 100 it does not. The same flow has 901 or 900 there.
#[test]
fn a_link_keeps_its_level_with_the_precision_unused_and_no_more() {
    for (limit, then) in [(87, 901), (88, 988)] {
        let mut fair = Fair::new();
        fair.set_precision(Precision::COARSEST);
        let link = fair.add_link(Rate(1_000));
        let own = fair.open(&[link], WEIGHT, None);
        let limited = fair.open(&[link], WEIGHT, Some(Rate(limit)));
        fair.solve();
        assert_eq!(fair.rate(own), Rate(988 - limit));
        fair.close(limited);
        fair.solve();
        assert_eq!(fair.rate(own), Rate(then));
    }
}

/// The link carries 988 of 1,000 b/s, then 988 of 988, and is then filled to an eightieth below its
/// capacity.
#[test]
fn a_link_that_is_full_to_the_last_bit_is_filled_anew() {
    let mut fair = Fair::new();
    fair.set_precision(Precision::COARSEST);
    let link = fair.add_link(Rate(1_000));
    let own = fair.open(&[link], WEIGHT, None);
    for (capacity, rate) in [(1_000, 988), (988, 976)] {
        fair.set_capacity(link, Rate(capacity));
        fair.solve();
        assert_eq!(fair.rate(own), Rate(rate));
    }
}

/// Three flows have 3 b/s each on a link of 11. Then another link, shared with a new flow, limits
/// one of them to 3 b/s as well: its rate is unchanged, so the others keep theirs.
#[test]
fn another_bottleneck_at_the_same_rate_moves_nobody() {
    let mut fair = Fair::new();
    let (a, b) = (fair.add_link(Rate(11)), fair.add_link(Rate(6)));
    let flows = [&[a, b][..], &[a], &[a]].map(|path| fair.open(path, WEIGHT, None));
    fair.solve();
    let new = fair.open(&[b], WEIGHT, None);
    assert_eq!(fair.solve(), [new]);
    assert_eq!(fair.held_elsewhere(), [flows[0]]);
    assert_eq!(flows.map(|flow| fair.rate(flow).0), [3, 3, 3]);
    assert_eq!(fair.rate(new), Rate(3));
    // Each link reports the flows whose bottleneck it is.
    assert_eq!(fair.held_by(b).len(), 2);
    let mut held: Vec<_> = fair.held_by(a).collect();
    held.sort();
    assert_eq!(held, flows[1..]);
}

/// Two links are filled at the same level, with a precision of a tenth and thus to an eightieth:
/// one of 38,480 b/s to 38,000 for two flows, one of 38,560 b/s to 38,079 for the first of these,
/// another flow and a small one. When the second and the small flow leave, the larger link is still
/// full within a tenth and keeps its level; the other is not, and its flow now has its bottleneck
/// at the larger link. Flows that share that link have equal rates. (Regression: the flow had all
/// capacity that the precision left there.)
#[test]
fn a_link_that_has_kept_its_level_is_shared_by_who_comes_at_the_same_level() {
    const LIKE: u32 = 1_000;
    let mut fair = Fair::new();
    fair.set_precision(Precision::COARSEST);
    let (large, small) = (fair.add_link(Rate(38_560)), fair.add_link(Rate(38_480)));
    let over_both = fair.open(&[large, small], LIKE, None);
    let over_one = fair.open(&[large], LIKE, None);
    let limited = fair.open(&[large], LIKE, Some(Rate(79)));
    fair.solve();
    let leaves = fair.open(&[small], LIKE, None);
    fair.solve();
    let rates = [over_both, over_one, leaves, limited].map(|f| fair.rate(f).0);
    assert_eq!(rates, [19_000, 19_000, 19_000, 79]);
    fair.close(leaves);
    fair.close(limited);
    fair.solve();
    let rates = [over_both, over_one].map(|f| fair.rate(f).0);
    assert_eq!(rates, [19_000, 19_000]);
    assert_eq!(fair.load(large), Rate(38_000));
}

/// Both links are at a level of 10.5: one of 42 b/s, of which 11 go to flows that leave and arrive,
/// and one whose capacity rises. The first keeps its level and settles the new flow; then the
/// second loosens, a flow over both is open, and the first, which is exactly full, is visited
/// again.
#[test]
fn who_was_taken_in_settles_again_at_a_link_that_is_looked_at_again() {
    let mut fair = Fair::new();
    fair.set_precision(Precision::COARSEST);
    let (first, second) = (fair.add_link(Rate(42)), fair.add_link(Rate(15)));
    let over_both = fair.open(&[first, second], 1, None);
    let beside = fair.open(&[second], 1, None);
    fair.solve();
    let own = fair.open(&[first], 2, None);
    let limited = fair.open(&[first], 14, Some(Rate(14)));
    fair.solve();
    fair.set_capacity(second, Rate(21));
    fair.set_limit(limited, Some(Rate(10)));
    fair.solve();
    let rates = [own, over_both, beside, limited].map(|f| fair.rate(f).0);
    assert_eq!(rates, [21, 10, 10, 10]);
    fair.close(limited);
    fair.set_capacity(second, Rate(30));
    let new = fair.open(&[first], 1, None);
    fair.solve();
    let rates = [own, over_both, beside, new].map(|f| fair.rate(f).0);
    assert_eq!(rates, [21, 10, 20, 10]);
    fair.books_hold();
}

/// Regression test: flows within a rack never had a rate, because the sweep ended when no link had
/// an open flow.
#[test]
fn a_flow_without_links_has_its_limit() {
    let mut fair = Fair::new();
    fair.add_link(Rate(100));
    let flow = fair.open(&[], WEIGHT, Some(Rate(7)));
    assert_eq!(fair.solve(), [flow]);
    assert_eq!(fair.rate(flow), Rate(7));
    fair.set_limit(flow, Some(Rate(9)));
    assert_eq!(fair.solve(), [flow]);
    assert_eq!(fair.rate(flow), Rate(9));
}

/// Weighted water-filling of one link by classes with equal flows: the part of `capacity` of each
/// class.
fn schedule(capacity: f64, weight: &[f64], want: &[f64]) -> Vec<f64> {
    let mut got = vec![None; weight.len()];
    loop {
        let left = capacity - got.iter().flatten().sum::<f64>();
        let open = || (0..weight.len()).filter(|&c| got[c].is_none());
        let level = left / open().map(|c| weight[c]).sum::<f64>();
        let Some(c) = open().find(|&c| want[c] <= level * weight[c]) else {
            let share = |c: usize| got[c].unwrap_or(level * weight[c]);
            return (0..weight.len()).map(share).collect();
        };
        got[c] = Some(want[c]);
        if got.iter().all(Option::is_some) {
            return got.into_iter().flatten().collect();
        }
    }
}

proptest! {
    /// If either every flow of a class can use its share or none can, the class gets the rate of a
    /// two-level scheduler, and its flows get equal rates.
    #[test]
    fn weights_of_classes_are_a_two_level_scheduler(
        classes in prop::collection::vec((1u32..1_000, 1u32..6, prop::option::of(1u64..500_000_000)), 1..5),
    ) {
        let mut fair = Fair::new();
        let link = fair.add_link(Rate(1_000_000_000));
        let open = |&(millis, flows, limit): &(u32, u32, Option<u64>)| -> Vec<Slot> {
            let weight = classes::share(millis, flows);
            (0..flows).map(|_| fair.open(&[link], weight, limit.map(Rate))).collect()
        };
        let slots: Vec<Vec<Slot>> = classes.iter().map(open).collect();
        fair.solve();
        let weights: Vec<f64> = classes.iter().map(|c| c.0 as f64).collect();
        let wants = classes.iter().map(|c| c.2.map_or(f64::INFINITY, |l| l as f64 * c.1 as f64));
        let expected = schedule(1e9, &weights, &wants.collect::<Vec<f64>>());
        for (slots, expected) in slots.iter().zip(expected) {
            let rates: Vec<u64> = slots.iter().map(|&s| fair.rate(s).0).collect();
            prop_assert!(rates.iter().all(|r| *r == rates[0]));
            let sum = rates.iter().sum::<u64>() as f64;
            // Weights are whole: a thousandth of the link shared by 5 is 3,355 ± 1.
            prop_assert!((sum - expected).abs() <= 1e-3 * expected + 10.0, "{sum} for {expected}");
        }
    }
}
