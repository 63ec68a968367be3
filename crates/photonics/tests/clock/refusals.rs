//! Configurations that cannot run are refused with the key, its value, the limit and the remedy.

use lightloom_photonics::clock::ClockConfig;
use serde_json::{json, Value};

fn refusal(table: Value) -> String {
    let config = ClockConfig::read(&table);
    config.expect_err(&table.to_string()).to_string()
}

#[test]
fn bad_values_are_refused_by_name() {
    let cases = [
        (
            json!({ "nodes": 1 }),
            "nodes = 1: must be from 2 to 65536; raise it",
        ),
        (
            json!({ "epoch": "1.6" }),
            "epoch = \"1.6\": `1.6` has no unit",
        ),
        (
            json!({ "epohc": "1 us" }),
            "epohc = \"1 us\": no such key; did you mean \"epoch\"?",
        ),
        (
            json!({ "leader_epochs": 0 }),
            "leader_epochs = 0: must be from 1",
        ),
        (
            json!({ "duration": "1 ns" }),
            "duration = 1 ns: must be from 1.6 us",
        ),
        (
            json!({ "loop": { "bandwidth": "1 MHz" } }),
            "loop.bandwidth = 1000000 Hz: a loop with an update every 1.6 us overshoots",
        ),
        (
            json!({ "loop": { "damping": 0.0 } }),
            "loop.damping = 0: must be from 0.1 to 10",
        ),
        (
            json!({ "loop": { "filter": "clop" } }),
            "loop.filter = \"clop\": must be one of",
        ),
        (
            json!({ "loop": { "clip": "0 ppm" } }),
            "loop.clip = 0 ppm: must be from",
        ),
        (
            json!({ "timestamps": { "jitter": "-1 ps" } }),
            "timestamps.jitter = -1 ps: must be from 0 ps",
        ),
        (
            json!({ "timestamps": { "jitter": 1 } }),
            "timestamps.jitter = 1: `1` has no unit",
        ),
        (
            json!({ "fibre": { "spread": "1 km" } }),
            "fibre.spread = 1 km: must be from",
        ),
        (
            json!({ "fibre": { "wavelengths": 0 } }),
            "fibre.wavelengths = 0: must be from 1",
        ),
        (
            json!({ "temperature": { "own": 1.5 } }),
            "temperature.own = 1.5: must be from 0 to 1",
        ),
        (
            json!({ "judge": { "sampling": "1 s" } }),
            "judge.sampling = 1 s: must be from 1.6 us",
        ),
        (
            json!({ "judge": { "bandwidth": "1 MHz" } }),
            "judge.bandwidth = 1000000 Hz: must be from 0.001 Hz to 312500 Hz; lower it",
        ),
        (
            json!({ "nodes": 65_536, "duration": "1 s", "judge": { "sampling": "16 us" } }),
            "judge.sampling = 16 us: more than 67108864 samples of a clock; raise it",
        ),
        (
            json!({ "duration": "86400 s", "judge": { "sampling": "1 s" } }),
            "duration = 86400 s: 54000001024 epochs of 128 clocks are more than",
        ),
        (
            json!({ "die": [{ "node": 128 }] }),
            "die[0].node = 128: nodes are numbered from 0 to 127",
        ),
        (
            json!({ "die": [{ "node": 1 }, { "node": 1 }] }),
            "die[1].node = 1: dies twice",
        ),
        (
            json!({ "die": [{ "node": 1, "at": "1 s" }] }),
            "die[0].at = 1 s: the run ends 100 ms after the clocks have settled",
        ),
        (
            json!({ "nodes": 2, "byzantine": { "nodes": [1] } }),
            "byzantine.nodes = 1 failed: fewer than two fault-free nodes",
        ),
        (
            json!({ "day": { "step": "2 us" } }),
            "day.step = 2 us: must be from 1 ms",
        ),
        (
            json!({ "nodes": 1_000, "day": { "duration": "86400 s" } }),
            "day.step = 1 s: more than 67108864 steps of a clock; raise it",
        ),
    ];
    for (table, expected) in cases {
        let found = refusal(table);
        assert!(
            found.starts_with(expected),
            "{found}\ninstead of\n{expected}"
        );
        assert!(found.contains("; "), "no remedy: {found}");
    }
}

#[test]
fn what_is_resolved_stays_as_it_is() {
    let table = json!({
        "nodes": 12, "die": [{ "node": 3, "at": "1 ms" }], "day": { "step": "2 s" },
        "byzantine": { "nodes": [4], "lie": "run" }, "judge": { "bandwidth": "1 kHz" },
    });
    let resolved = ClockConfig::read(&table).unwrap();
    let written = serde_json::to_value(&resolved).unwrap();
    assert_eq!(ClockConfig::read(&written).unwrap(), resolved);
    // Ten time constants of (0.707 + 0.25 ÷ 0.707) ÷ (2 · 5 kHz).
    assert_eq!(written["settle"], "1.060606789 ms", "{written}");
    // 11 epochs, because 10 has a common divisor with 12 turns of 4 epochs.
    assert_eq!(written["judge"]["sampling"], "17.6 us");
}
