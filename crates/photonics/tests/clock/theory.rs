//! The loop against its linear theory. Figures of scipy 1.17.1, with A = [[1−kp, 1−kp],
//! [−ki, 1−ki]]: `solve_discrete_lyapunov(A, b @ b.T)[0, 0]`, b = [[kp], [ki]] for jitter and
//! [[1−kp], [−ki]] for white frequency noise; and the step response
//! `lfilter([0, kp, ki−kp], [1, kp+ki−2, 1−kp], ones(401))`.

use crate::{quiet, spread};
use lightloom_engine::Time;
use lightloom_photonics::clock::quantity::Hertz;
use lightloom_photonics::clock::{ClockConfig, Ensemble, Gains};
use serde_json::json;

/// Bandwidth [Hz], damping, epoch [ps]; of jitter, of white noise; the response to a step
/// after 1, 2, 10, 50, 100 and 400 epochs.
type Case = (f64, f64, i64, f64, f64, [f64; 6]);
const SCIPY: [Case; 3] = [
    (
        5e3,
        0.707,
        1_600_000,
        0.01600088544366178,
        22.69386030910744,
        [
            0.02133118534531619,
            0.04243007516683915,
            0.20288710465175847,
            0.7942765209072454,
            1.1335860390594754,
            0.9936751130200981,
        ],
    ),
    (
        50e3,
        1.0,
        1_600_000,
        0.17019393850011064,
        1.245673484625028,
        [
            0.256,
            0.45865369600000006,
            1.0701410803118032,
            1.0071081402306756,
            1.0000654915491494,
            1.0000000000000036,
        ],
    ),
    (
        1e3,
        0.5,
        10_000_000,
        0.01990100010102029,
        24.254975250025275,
        [
            0.02,
            0.039992,
            0.19873376777012597,
            0.8729031001300557,
            1.2651323023961834,
            0.9924062603345557,
        ],
    ),
];

#[test]
fn closed_forms_are_what_scipy_finds() {
    for (bandwidth, damping, epoch, jitter, white, _) in SCIPY {
        let gains = Gains::new(Hertz(bandwidth), damping, Time(epoch));
        assert!((gains.of_jitter() / jitter - 1.0).abs() < 1e-9, "{gains:?}");
        assert!((gains.of_white() / white - 1.0).abs() < 1e-9, "{gains:?}");
        // For a loop that is slow relative to its epochs, only 2·B·T matters.
        let slow = Gains::new(Hertz(bandwidth / 1e4), damping, Time(epoch));
        let passes = 2.0 * bandwidth / 1e4 * epoch as f64 * 1e-12;
        assert!((slow.of_jitter() / passes - 1.0).abs() < 1e-3);
    }
}

#[test]
fn a_clock_follows_a_step_as_scipy_says() {
    for (bandwidth, damping, epoch, _, _, response) in SCIPY {
        let mut clocks = Ensemble::new(&quiet(json!({
            "nodes": 2, "epoch": format!("{epoch} ps"), "leader_epochs": 1_000_000,
            "loop": { "bandwidth": format!("{bandwidth} Hz"), "damping": damping },
        })));
        clocks.time[0] = 1.0;
        let mut expected = response.into_iter();
        for after in 1..=400 {
            clocks.advance();
            if [1, 2, 10, 50, 100, 400].contains(&after) {
                let found = clocks.time[1];
                assert!(
                    (found - expected.next().unwrap()).abs() < 1e-11,
                    "{after}: {found}"
                );
            }
        }
    }
}

/// Half the variance of the difference between two followers of one leader, whose noise is common
/// to both.
fn variance_of_followers(config: &ClockConfig, epochs: usize) -> f64 {
    let mut clocks = Ensemble::new(config);
    let (mut sum, mut count) = (0.0, 0);
    for epoch in 0..epochs + 2_000 {
        clocks.advance();
        if epoch >= 2_000 {
            for pair in clocks.time[1..].chunks_exact(2) {
                sum += (pair[0] - pair[1]).powi(2) / 2.0;
                count += 1;
            }
        }
    }
    sum / f64::from(count)
}

#[test]
fn noise_of_followers_is_what_theory_says() {
    // The kind of noise; the factor of its variance is of_jitter or of_white.
    let per_epoch = 1e-10 * 1.6e-6f64.sqrt() * 1e12;
    let cases = [
        (json!({ "timestamps": { "jitter": "1 ps" } }), 1.0, 0.0),
        (
            json!({ "oscillator": { "white": "0.1 ppb" } }),
            0.0,
            per_epoch.powi(2),
        ),
        // A quantisation of 0.625 ps, below a jitter of 1 ps, adds a variance of a twelfth of its
        // square.
        (
            json!({ "timestamps": { "jitter": "1 ps", "quantisation": "0.625 ps" } }),
            1.0 + 0.625f64.powi(2) / 12.0,
            0.0,
        ),
    ];
    for (with, jitter, white) in cases {
        let mut table = json!({ "nodes": 65, "leader_epochs": 1_000_000 });
        crate::lay_over(&mut table, with);
        let config = quiet(table);
        let gains = config.gains();
        let expected = gains.of_jitter() * jitter + gains.of_white() * white;
        let found = variance_of_followers(&config, 100_000);
        // 32 pairs, each over some thousand time constants.
        assert!((found / expected - 1.0).abs() < 0.02, "{found} {expected}");
    }
}

/// A naive model of the clocks: cells are sent over fibres and timestamped at both ends.
fn naive(config: &ClockConfig, clocks: &Ensemble, epochs: u64) -> Vec<f64> {
    let gains = config.gains();
    let fibres = &clocks.fibres;
    let nodes = clocks.time.len();
    let (mut time, mut steer) = (clocks.time.clone(), clocks.steer.clone());
    for epoch in 0..epochs {
        for node in 0..nodes {
            time[node] += clocks.rate[node] + steer[node];
        }
        let leader = (epoch / config.leader_epochs) as usize % nodes;
        let mut after = time.clone();
        for node in (0..nodes).filter(|&node| node != leader) {
            let delay = |n: usize| 5_000.0 * fibres.length[n] * 1e3;
            let there = delay(leader) + fibres.shift[leader] + fibres.asymmetry[leader] / 2.0;
            let back = delay(node) + fibres.shift[node] - fibres.asymmetry[node] / 2.0;
            let (sent, received) = (time[leader], time[node] + there + back);
            let believed = delay(leader) + delay(node);
            let behind = -(received - sent - believed);
            after[node] += gains.time * behind;
            steer[node] += gains.frequency * behind;
        }
        time = after;
    }
    time
}

#[test]
fn few_clocks_move_as_naive_ones_do() {
    for nodes in [2, 3, 5] {
        let config = quiet(json!({
            "nodes": nodes, "leader_epochs": 3, "fibre": { "dispersion": "0 ps/nm/km" },
            "loop": { "clip": "1000 ppm" },
        }));
        let mut clocks = Ensemble::new(&config);
        for node in 0..nodes {
            let n = node as f64;
            clocks.time[node] = 2.0 - n * n;
            clocks.rate[node] = 0.01 * n;
            clocks.steer[node] = 0.02 - 0.01 * n;
            clocks.fibres.asymmetry[node] = 3.0 * (n - 1.3);
            clocks.fibres.shift[node] = 0.2 * n * n;
        }
        let expected = naive(&config, &clocks, 2_000);
        for _ in 0..2_000 {
            clocks.advance();
        }
        for (found, expected) in clocks.time.iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        }
    }
}

#[test]
fn clocks_from_cold_come_together_before_errors_are_clipped() {
    let config = quiet(json!({
        "nodes": 16, "settle": "64 ms", "loop": { "start": "cold" }, "oscillator": { "tolerance": "100 ppm" },
    }));
    let mut clocks = Ensemble::new(&config);
    clocks.advance();
    assert!(
        spread(&clocks.time) > 100.0,
        "apart by up to 320 ps at first"
    );
    for _ in 0..40_000 {
        clocks.advance();
    }
    assert!(spread(&clocks.time) < 1e-3, "{}", spread(&clocks.time));
}

#[test]
fn asymmetry_parts_clocks_by_half_its_difference_whoever_leads() {
    let config = quiet(json!({ "nodes": 7, "fibre": { "asymmetry": "10 ps" } }));
    let mut clocks = Ensemble::new(&config);
    for _ in 0..20_000 {
        clocks.advance();
    }
    let asymmetry = clocks.fibres.asymmetry.clone();
    for _ in 0..28 {
        clocks.advance();
        for i in 0..7 {
            for j in 0..7 {
                let expected = (asymmetry[i] - asymmetry[j]) / 2.0;
                assert!((clocks.time[i] - clocks.time[j] - expected).abs() < 1e-6);
            }
        }
    }
}
