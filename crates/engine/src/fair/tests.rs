//! Oracles of the solver.

use super::*;

#[test]
fn equal_flows_share_a_link_equally() {
    let mut fair = Fair::new();
    let link = fair.add_link(Rate(100));
    let flows: Vec<Slot> = (0..4).map(|_| fair.open(&[link], WEIGHT, None)).collect();
    fair.solve();
    assert!(flows.iter().all(|&f| fair.rate(f) == Rate(25)));
}
