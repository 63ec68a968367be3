//! Complete runs: the results of the judge and of the terms.

use crate::quiet;
use lightloom_photonics::clock::{contributions, run, updates, updates_of_contributions};
use lightloom_photonics::clock::{ClockConfig, Term};
use serde_json::json;

#[test]
fn terms_that_are_independent_add_up_by_their_squares() {
    let config = quiet(json!({
        "nodes": 32, "duration": "100 ms", "settle": "5 ms",
        "timestamps": { "jitter": "1 ps" },
        "oscillator": { "white": "0.1 ppb", "walk": "1 ppb" },
    }));
    let all = run(&config, &mut |_| true).unwrap().epochs.verdict;
    let parts = contributions(&config, &mut |_| true).unwrap();
    let names: Vec<_> = parts.iter().map(|part| part.term).collect();
    assert_eq!(
        names,
        [
            Term::WhiteFrequency,
            Term::RandomWalk,
            Term::Jitter,
            Term::Dispersion
        ]
    );
    assert_eq!(
        parts[3].alone_ps, 0.0,
        "a table without errors leaves no dispersion"
    );
    let squares: f64 = parts
        .iter()
        .map(|part| part.alone_wander_rms_ps.powi(2))
        .sum();
    assert!(
        (squares.sqrt() / all.wander_rms_ps - 1.0).abs() < 0.05,
        "{parts:?} {all:?}"
    );
}

#[test]
fn what_is_left_out_is_missed_as_far_as_it_counts() {
    let config = quiet(json!({
        "nodes": 8, "duration": "10 ms", "settle": "5 ms",
        "fibre": { "asymmetry": "10 ps", "dispersion": "0 ps/nm/km" },
        "timestamps": { "jitter": "0.1 ps" },
    }));
    let parts = contributions(&config, &mut |_| true).unwrap();
    let [jitter, asymmetry] = &parts[..] else {
        panic!("{parts:?}")
    };
    assert!((jitter.without_ps - asymmetry.alone_ps).abs() < 1e-12);
    assert!((asymmetry.without_ps - jitter.alone_ps).abs() < 1e-12);
    assert!(asymmetry.alone_ps > 10.0 * jitter.alone_ps && jitter.alone_ps > 0.0);
}

/// Noise that is wide relative to a pole passes it like white noise: the loop is wide, and the
/// filter of the judge is narrow.
#[test]
fn a_judge_of_less_bandwidth_sees_less() {
    let with = |bandwidth: Option<&str>| {
        let mut judge = json!({ "sampling": "1.6 us" });
        if let Some(bandwidth) = bandwidth {
            judge["bandwidth"] = json!(bandwidth);
        }
        let config = quiet(json!({
            "nodes": 33, "duration": "100 ms", "settle": "5 ms", "judge": judge,
            "leader_epochs": 1_000_000, "timestamps": { "jitter": "1 ps" },
        }));
        let verdict = run(&config, &mut |_| true).unwrap().epochs.verdict;
        assert_eq!(verdict.sampling_s, 1.6e-6);
        (verdict, config.gains())
    };
    let (wide, gains) = with(None);
    let (narrow, _) = with(Some("100 Hz"));
    assert_eq!(
        (wide.bandwidth_hz, narrow.bandwidth_hz),
        (None, Some(100.0))
    );
    // At low frequencies a loop passes jitter unchanged: density σ²·2T, times π/2 · 100 Hz.
    let expected = 2.0 * (2.0 * 1.6e-6) * std::f64::consts::FRAC_PI_2 * 100.0;
    let found = narrow.wander_rms_ps.powi(2);
    assert!((found / expected - 1.0).abs() < 0.2, "{found} {expected}");
    // Followers differ by their jitter; the leader, one of 33 nodes, has none.
    let all = wide.wander_rms_ps.powi(2) / (2.0 * gains.of_jitter());
    assert!((all / (32.0 / 33.0) - 1.0).abs() < 0.03, "{all}");
}

#[test]
fn a_run_stops_when_it_is_told_to_and_says_how_far_it_came() {
    let table = json!({ "nodes": 4, "duration": "20 ms", "day": { "duration": "2048 s" } });
    let config = ClockConfig::read(&table).unwrap();
    let mut done = 0;
    run(&config, &mut |more| {
        done += more;
        true
    })
    .unwrap();
    let all = updates(&config);
    assert!(
        done <= all && done as f64 > 0.7 * all as f64,
        "{done} of {all}"
    );
    assert_eq!(updates_of_contributions(&config), 2 * 8 * all);
    assert!(run(&config, &mut |_| false).is_none());
    assert!(contributions(&config, &mut |_| false).is_none());
}

#[test]
fn a_day_hands_its_worst_moment_to_the_fast_loop() {
    let mut config = quiet(json!({
        "nodes": 8, "duration": "10 ms", "settle": "5 ms", "day": {},
        "loopback": { "every": "0 s" }, "oscillator": { "thermal": "0 ppm/K" },
    }));
    let warm = run(&config, &mut |_| true).unwrap();
    let day = warm.day.unwrap().verdict;
    // 250 m at 20 ps/km/K and up to 10 K since the start, of which 6/8 count.
    assert!(
        day.deviation_max_ps > 10.0 && day.deviation_max_ps < 40.0,
        "{day:?}"
    );
    let epochs = warm.epochs.verdict;
    assert!(
        epochs.deviation_mean_ps > 0.9 * day.deviation_max_ps,
        "{epochs:?}"
    );
    config.loopback.every.0 = 1_000_000_000_000;
    let measured = run(&config, &mut |_| true).unwrap().day.unwrap().verdict;
    // The change within a second of waves of 4.5 K per day and 0.5 K per 15 minutes: 3.8 mK.
    assert!(
        measured.deviation_max_ps < 2.0 * 0.25 * 20.0 * 0.0039,
        "{measured:?}"
    );
}
