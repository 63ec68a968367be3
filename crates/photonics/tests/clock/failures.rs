//! Leaders that die, and leaders that send a false time.

use crate::{quiet, spread};
use lightloom_photonics::clock::Ensemble;
use serde_json::json;

#[test]
fn while_the_leader_is_dead_clocks_part_by_drift_times_time() {
    let config = quiet(json!({
        "nodes": 5, "leader_epochs": 1_000, "die": [{ "node": 0, "missed": 200 }],
    }));
    let mut clocks = Ensemble::new(&config);
    // The residual frequency error of each node [ps per epoch].
    let drifts = [0.0, 0.003, -0.001, 0.002, -0.004];
    clocks.steer = drifts.to_vec();
    for epoch in 1..=200 {
        clocks.advance();
        let parted = spread(&clocks.time[1..]);
        assert!((parted - 0.007 * f64::from(epoch)).abs() < 1e-9, "{parted}");
    }
    for _ in 0..900 {
        clocks.advance();
    }
    let parted = spread(&clocks.time[1..]);
    assert!(
        parted < 0.01,
        "the next leader brings them together: {parted}"
    );
}

/// Nodes 0 to 4 have been leaders; node 5 sends a false time.
fn lied_to(with: serde_json::Value) -> (Ensemble, f64) {
    let mut table = json!({
        "nodes": 6, "leader_epochs": 7,
        "byzantine": { "nodes": [5], "lie": "split", "size": "1 us" },
    });
    crate::lay_over(&mut table, with);
    let config = quiet(table);
    let gains = config.gains();
    let limit = config.pll.clip.0 * 1e-6 * config.epoch.0 as f64;
    let mut clocks = Ensemble::new(&config);
    (0..6 * 7).for_each(|_| clocks.advance());
    // Each of 7 errors moves the clock by kp, and every later epoch of the turn by ki.
    let moved = limit * (7.0 * gains.time + 21.0 * gains.frequency);
    (clocks, moved)
}

#[test]
fn a_leader_that_splits_the_nodes_parts_them_by_what_the_filter_lets_pass() {
    let (clocks, moved) = lied_to(json!({}));
    for (node, time) in clocks.time[..5].iter().enumerate() {
        let expected = if node % 2 == 0 { moved } else { -moved };
        assert!((time - expected).abs() < 1e-9, "{node}: {time} {expected}");
    }
    let (unfiltered, _) = lied_to(json!({ "loop": { "clip": "1000000 ppm" } }));
    assert!(spread(&unfiltered.time[..5]) > 1_000.0 * spread(&clocks.time[..5]));
}

#[test]
fn what_is_rejected_moves_nobody() {
    let (clocks, _) = lied_to(json!({ "loop": { "filter": "reject" } }));
    assert_eq!(spread(&clocks.time[..5]), 0.0);
}

#[test]
fn a_leader_that_runs_away_or_jumps_takes_all_with_it_no_faster_than_the_filter_lets_it() {
    for lie in ["run", "jump"] {
        let with = json!({ "byzantine": { "lie": lie, "speed": "1000000 ppm" } });
        let (clocks, moved) = lied_to(with);
        assert_eq!(spread(&clocks.time[..5]), 0.0);
        assert!(
            (clocks.time[0] - moved).abs() < 1e-9,
            "{lie}: {}",
            clocks.time[0]
        );
    }
}

#[test]
fn who_lies_later_is_believed_until_then() {
    let config = quiet(json!({
        "nodes": 3, "leader_epochs": 2, "byzantine": { "nodes": [2], "at": "16 us" },
    }));
    let mut clocks = Ensemble::new(&config);
    for epoch in 0..18 {
        clocks.advance();
        // Node 2 leads in epochs 4, 5, 10 and 11; its time begins with epoch 10.
        assert_eq!(spread(&clocks.time[..2]) > 0.0, epoch >= 10, "{epoch}");
    }
}
