//! Fabrics with devices: the same bytes as with the derived values, and refusals.

use crate::tables::*;
use serde_json::{json, Value};

fn sirius(more: Value) -> Value {
    with(&json!({"kind": "sirius"}), &more)
}

/// The figures are computed by hand: the papers' guardbands (§6), RS(544, 514) of 10 bits shortened
/// to the whole symbols of a cell, and the epochs that a codeword goes over.
fn by_hand() -> [(Value, Value); 6] {
    [
        (
            // 34.56 ns are 1,728 bits or 172 symbols, of which 142 carry 1,420 bits.
            json!({"devices": "sirius"}),
            json!({"slot": "38.4 ns", "guardband": "3.84 ns", "cell": "177 B"}),
        ),
        (
            // 92 ns of tuning and 8 ns to lock; 898.56 ns are 22,464 bits, 5 words of 449 symbols.
            json!({"devices": "sirius-v1"}),
            json!({"channel_rate": "25 Gb/s", "slot": "998.4 ns", "guardband": "99.84 ns",
                   "cell": "2618 B"}),
        ),
        (
            // 96.16 ns are 4,808 bits or 480 symbols, of which 450 carry 4,500 bits.
            json!({"devices": {"preset": "sirius-bank"}, "detail": "flows"}),
            json!({"slot": "100 ns", "guardband": "3.84 ns", "cell": "562 B", "detail": "flows"}),
        ),
        (
            // 514/544 of 1,728 bits are data. Words of 5,440 bits begin at multiples of 64 bits in
            // a cell, the last at 1,664: they end 1,663 + 5,440 bits later, in the fifth cell. An
            // uplink meets 16/6 nodes, 3 slots: 4 · 3 · 38.4 ns.
            json!({"devices": {"fec": "cross-cell"}}),
            json!({"slot": "38.4 ns", "guardband": "3.84 ns", "cell": "204 B",
                   "codeword_wait": "460.8 ns"}),
        ),
        (
            json!({"devices": "sirius", "header": "20 B", "fec_latency": "100 ns"}),
            json!({"slot": "38.4 ns", "guardband": "3.84 ns", "cell": "157 B", "header": "20 B",
                   "fec_latency": "100 ns"}),
        ),
        (
            // The fabric needs gratings of 4 ports; these have 16 more.
            json!({"devices": {"grating": {"ports": 20}}, "uplink_plan": "wide", "mode": "ideal"}),
            json!({"slot": "38.4 ns", "guardband": "3.84 ns", "cell": "177 B",
                   "uplink_plan": "wide", "mode": "ideal"}),
        ),
    ]
}

#[test]
fn sirius_by_its_devices_is_sirius_by_their_figures() {
    for (devices, figures) in by_hand() {
        let (named, written) = (raw(sirius(devices.clone())), raw(sirius(figures.clone())));
        assert_eq!(columns(&named), columns(&written), "{devices}");
        let (mut table, other) = (resolved(&named), resolved(&written));
        let own = table["fabric"][0].as_object_mut().unwrap();
        assert!(own.remove("devices").is_some());
        assert_eq!(table["fabric"], other["fabric"], "{devices}");
    }
}

#[test]
fn a_completed_table_holds_devices_and_figures_and_runs_the_same() {
    for (devices, _) in by_hand() {
        let raw = raw(sirius(devices));
        let once = resolved(&raw);
        assert_eq!(resolved(&once), once);
        assert_eq!(columns(&once), columns(&raw));
    }
    let table = resolved(&raw(sirius(json!({"devices": "sirius"}))));
    let devices = &table["fabric"][0]["devices"];
    assert_eq!(devices["uplinks"], 6);
    assert_eq!(devices["laser"]["kind"], "fixed-bank");
}

#[test]
fn a_summary_says_what_followed() {
    let summary = run(&raw(sirius(json!({"devices": "sirius"})))).summary;
    let devices = summary.devices.expect("named");
    let parts = devices["guardband"]["parts"].as_array().unwrap();
    let names: Vec<_> = parts
        .iter()
        .map(|part| part["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "laser",
            "clock recovery",
            "amplitude",
            "synchronisation",
            "preamble"
        ]
    );
    assert_eq!(devices["guardband"]["total"], "3.84 ns");
    assert_eq!(
        (&devices["ports"], &devices["slot"]),
        (&json!(16), &json!("38.4 ns"))
    );
    // 6 uplinks share a laser that feeds 8.
    assert_eq!(devices["laser_chips"], 1);
    assert!(devices["error_rate"].as_f64().unwrap() < 1e-12);
    assert_eq!(run(&raw(sirius(json!({})))).summary.devices, None);
}

#[test]
fn what_contradicts_the_devices_is_refused() {
    for (keys, expect) in [
        (
            json!({"guardband": "10 ns"}),
            "fabric.guardband = 10 ns: fabric.devices give 3.84 ns; leave it out (a preset may set \
             it), or change fabric.devices.cdr.kind",
        ),
        (
            json!({"slot": "100 ns"}),
            "fabric.slot = 100 ns: fabric.devices give 38.4 ns; leave it out (a preset may set it), \
             or change fabric.devices.slot",
        ),
        (
            json!({"preset": "paper"}),
            "fabric.guardband = 10 ns: fabric.devices give 3.84 ns; leave it out (a preset may",
        ),
        (
            json!({"cell": "216 B"}),
            "fabric.cell = 216 B: fabric.devices give 177 B",
        ),
        (
            json!({"channel_rate": "100 Gb/s"}),
            "fabric.channel_rate = 100 Gb/s: fabric.devices give 50 Gb/s",
        ),
        (
            json!({"codeword_wait": "1 us"}),
            "fabric.codeword_wait = 1 us: fabric.devices give 0 ps",
        ),
        (
            json!({"header": "177 B"}),
            "fabric.header = 177 B: leaves nothing of the 177 B that fabric.devices leave for data",
        ),
        (
            json!({"propagation": "100 us"}),
            "fabric.propagation = 100 us: light passes 20 km of fibre, but fabric.devices reach 1",
        ),
        (
            json!({"devices": {"uplinks": 256}}),
            "fabric.devices.uplinks = 256: a node of this fabric has 6 (fabric.uplinks)",
        ),
        (
            json!({"devices": {"channel_rate": "30 Gb/s"}}),
            "fabric.channel_rate = 30 Gb/s: as fabric.devices have it, the rack rate 200 Gb/s is \
             not a whole number of channels",
        ),
    ] {
        let told = refused(&raw(sirius(with(&json!({"devices": "sirius"}), &keys))));
        assert!(told.starts_with(expect), "{told}");
    }
}

#[test]
fn an_impossible_design_is_refused_by_the_part_that_breaks_it() {
    let leaky = json!({"devices": {"grating": {"ports": 100, "adjacent": "-30 dB"}}});
    let told = "grating.ports = 100: at -30 dB adjacent crosstalk, -19.32 dB in total, the PAM-4 \
                penalty is unbounded: the bit error rate ";
    let refusal = refused(&raw(sirius(leaky.clone())));
    assert!(
        refusal.starts_with(&format!("fabric.devices.{told}")),
        "{refusal}"
    );
    assert!(
        refusal.contains("or fabric.devices.wavelengths = \"out-of-band\""),
        "{refusal}"
    );
    let mut two = raw(sirius(leaky));
    two["fabric"]
        .as_array_mut()
        .unwrap()
        .push(json!({"kind": "clos"}));
    let refusal = refused(&two);
    assert!(
        refusal.starts_with(&format!("fabric[sirius].devices.{told}")),
        "{refusal}"
    );
    for (devices, expect) in [
        (
            json!("sirius-2"),
            "fabric.devices = \"sirius-2\": must be one of \"sirius\", ",
        ),
        (
            json!(["x"]),
            "fabric.devices = [\"x\"]: must be the name of a preset, or a table",
        ),
        (
            json!({"laser": {"kind": "off-the-shelf"}, "slot": "100 ns"}),
            "fabric.devices.slot = 100 ns: not longer than the guardband of 10.00000296 ms, most \
             of which is fabric.devices.laser.kind",
        ),
    ] {
        let refusal = refused(&raw(sirius(json!({ "devices": devices }))));
        assert!(refusal.starts_with(expect), "{refusal}");
    }
}

/// 16 nodes with one uplink each give 16 nodes for an uplink; 128 nodes with 12 uplinks need
/// gratings of one size, 32 ports (banks of 4).
#[test]
fn gratings_reach_as_many_nodes_as_the_fabric_needs() {
    let one = json!({"devices": {"grating": {"ports": 15}}, "uplinks": 1});
    let told = refused(&raw(sirius(one)));
    let expect =
        "fabric.devices.grating.ports = 15: an uplink reaches 15 nodes, one for each port, \
                  but 16 are needed";
    assert!(told.starts_with(expect), "{told}");
    let mut wide = raw(sirius(json!({"devices": "sirius", "uplink_plan": "wide"})));
    wide["cluster"] = json!({"racks": 128, "servers_per_rack": 24, "rack_rate": "400 Gb/s"});
    let told = refused(&wide);
    assert!(told.contains("but 32 are needed"), "{told}");
    wide["fabric"][0]["devices"] = json!({"grating": {"ports": 32}});
    assert_eq!(resolved(&wide)["fabric"][0]["slot"], "38.4 ns");
}

#[test]
fn physics_of_the_experiment_stand_beside_the_devices() {
    let mut raw = raw(sirius(json!({"devices": {"fec": "cross-cell"}})));
    raw["physics"] = json!({"preset": "realistic"});
    let once = resolved(&raw);
    let table = &once["fabric"][0];
    // 18 of 204 B are the header; the waiting time for a codeword is not part of the coder's
    // latency.
    assert_eq!(
        (&table["cell"], &table["header"]),
        (&json!("186 B"), &json!("18 B"))
    );
    assert_eq!(table["codeword_wait"], "460.8 ns");
    assert_eq!(table["fec_latency"], "102.4 ns");
    assert_eq!(
        (&table["guardband"], &table["slot"]),
        (&json!("3.84 ns"), &json!("38.4 ns"))
    );
    assert_eq!(resolved(&once), once);
}
