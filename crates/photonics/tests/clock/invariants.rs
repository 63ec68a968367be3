//! Properties that hold for all configurations of clocks.

use crate::{quiet, spread};
use lightloom_photonics::clock::{extremes, run, ClockConfig, DayModel, Ensemble};
use proptest::prelude::*;
use serde_json::json;

/// A noisy configuration of `nodes` nodes.
fn noisy(nodes: usize, seed: u64, leader_epochs: u64) -> ClockConfig {
    let table = json!({
        "nodes": nodes, "seed": seed, "leader_epochs": leader_epochs, "settle": "0 s",
        "duration": "1 ms", "fibre": { "wavelengths": 4 },
    });
    ClockConfig::read(&table).unwrap()
}

fn advanced(mut clocks: Ensemble, epochs: usize) -> Vec<f64> {
    (0..epochs).for_each(|_| clocks.advance());
    clocks.time
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn nodes_may_be_named_in_any_order(
        (order, seed, turn) in (2usize..12).prop_flat_map(|nodes| {
            let numbers: Vec<u32> = (0..nodes as u32).collect();
            (Just(numbers).prop_shuffle(), any::<u64>(), 1u64..6)
        }),
    ) {
        let config = noisy(order.len(), seed, turn);
        let plain = advanced(Ensemble::new(&config), 500);
        // The columns have another order, but the turns of the leaders are the same.
        let column = |node: u32| order.iter().position(|&n| n == node).unwrap() as u32;
        let turns = (0..order.len() as u32).map(column).collect();
        let shuffled = advanced(Ensemble::of(&config, &order, turns), 500);
        for (at, &node) in order.iter().enumerate() {
            prop_assert_eq!(shuffled[at], plain[node as usize]);
        }
    }

    #[test]
    fn what_all_are_ahead_changes_nothing(
        (nodes, seed, ahead) in (2usize..12, any::<u64>(), -1e6f64..1e6),
    ) {
        let mut config = noisy(nodes, seed, 3);
        // Without quantisation, because rounding may fall on either side of a step.
        config.timestamps.quantisation.0 = 0.0;
        let plain = advanced(Ensemble::new(&config), 500);
        let mut clocks = Ensemble::new(&config);
        clocks.time.iter_mut().for_each(|time| *time += ahead);
        let moved = advanced(clocks, 500);
        for (plain, moved) in plain.iter().zip(&moved) {
            prop_assert!((moved - plain - ahead).abs() < 1e-5);
        }
    }

    #[test]
    fn the_largest_deviation_is_that_of_all_pairs(
        times in prop::collection::vec((-1e6f64..1e6, any::<bool>()), 2..40),
    ) {
        let (times, sound): (Vec<f64>, Vec<bool>) = times.into_iter().unzip();
        prop_assume!(sound.contains(&true));
        let (ahead, behind) = extremes(&times, &sound);
        prop_assert!(sound[ahead] && sound[behind]);
        let mut largest: f64 = 0.0;
        for i in (0..times.len()).filter(|&i| sound[i]) {
            for j in (0..times.len()).filter(|&j| sound[j]) {
                largest = largest.max((times[i] - times[j]).abs());
            }
        }
        prop_assert_eq!(times[ahead] - times[behind], largest);
    }

    #[test]
    fn the_judge_finds_what_all_pairs_of_all_samples_say(
        rows in (2usize..6).prop_flat_map(|nodes| {
            prop::collection::vec(prop::collection::vec(-100f32..100.0, nodes), 2..20)
        }),
    ) {
        use lightloom_engine::Time;
        use lightloom_photonics::clock::Judge;
        let nodes = rows[0].len();
        let mut judge = Judge::new(vec![true; nodes], Time(10), rows.len());
        let rows: Vec<Vec<f64>> =
            rows.iter().map(|row| row.iter().map(|&t| f64::from(t)).collect()).collect();
        for (at, row) in rows.iter().enumerate() {
            judge.sample(Time(10 * at as i64), row);
        }
        let verdict = judge.finish().verdict;
        let (mut deviation, mut wander, mut squares) = (0f64, 0f64, 0.0);
        for i in 0..nodes {
            for j in 0..i {
                let apart: Vec<f64> = rows.iter().map(|row| row[i] - row[j]).collect();
                let mean = apart.iter().sum::<f64>() / apart.len() as f64;
                for apart in &apart {
                    deviation = deviation.max(apart.abs());
                    wander = wander.max((apart - mean).abs());
                    squares += (apart - mean).powi(2);
                }
            }
        }
        let pairs = (rows.len() * nodes * (nodes - 1) / 2) as f64;
        prop_assert!((verdict.deviation_max_ps - deviation).abs() < 1e-9);
        prop_assert!((verdict.wander_max_ps - wander).abs() < 1e-3);
        prop_assert!((verdict.wander_rms_ps - (squares / pairs).sqrt()).abs() < 1e-3);
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let with = |seed| {
        let mut config = noisy(9, seed, 4);
        config.day = Some(Default::default());
        config.day.as_mut().unwrap().duration.0 /= 100;
        run(&config, &mut |_| true).unwrap()
    };
    assert_eq!(with(3), with(3));
    assert_ne!(with(3).epochs.samples, with(4).epochs.samples);
}

/// Compares averages of the fast loop over whole turns of all leaders with the mean of the slow
/// model.
#[test]
fn the_slow_model_has_the_means_of_the_fast_loop() {
    for nodes in [2u32, 3, 8, 40] {
        let config = quiet(json!({
            "nodes": nodes, "leader_epochs": 4, "loop": { "bandwidth": "1 kHz" },
            "fibre": { "asymmetry": "10 ps", "dispersion": "17 ps/nm/km", "table": false,
                       "wavelengths": 16, "length": "20 m" },
            "temperature": { "daily": "0 K", "cycle": "0 K" }, "day": {},
        }));
        let mut slow = DayModel::new(&config);
        slow.advance(lightloom_engine::Time::S, lightloom_engine::Time::S);
        let mut clocks = Ensemble::new(&config);
        let turns = u64::from(nodes) * 4;
        (0..turns * 400).for_each(|_| clocks.advance());
        let mut means = vec![0.0; nodes as usize];
        for _ in 0..turns * 10 {
            clocks.advance();
            let common = clocks.time.iter().sum::<f64>() / f64::from(nodes);
            for (mean, time) in means.iter_mut().zip(&clocks.time) {
                *mean += (time - common) / (turns * 10) as f64;
            }
        }
        let common = slow.time.iter().sum::<f64>() / f64::from(nodes);
        for (node, (fast, slow)) in means.iter().zip(&slow.time).enumerate() {
            let off = (fast - (slow - common)).abs();
            assert!(
                off < 0.02 * spread(&slow_times(&config)),
                "{nodes} {node}: {off}"
            );
        }
    }
}

fn slow_times(config: &ClockConfig) -> Vec<f64> {
    let mut slow = DayModel::new(config);
    slow.advance(lightloom_engine::Time::S, lightloom_engine::Time::S);
    slow.time
}
