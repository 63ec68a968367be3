//! Designs: the arithmetic of the paper, and refusals that name the part that makes a design
//! impossible.

use lightloom_engine::{config, Length, Rate, Time};
use lightloom_photonics::design::{Design, PRESETS};
use lightloom_photonics::fec::Fec;
use lightloom_photonics::quantity::Decibel;
use lightloom_photonics::Derived;
use proptest::prelude::*;
use serde_json::{json, Value};

fn read(table: Value) -> Design {
    config::read(&table, "devices").unwrap()
}

fn derive(table: Value) -> Derived {
    read(table).derive().unwrap()
}

fn refused(table: Value) -> String {
    let design = config::read::<Design>(&table, "devices");
    design.and_then(|d| d.derive()).unwrap_err().to_string()
}

fn preset(name: &str) -> Derived {
    let preset = PRESETS.iter().find(|preset| preset.name == name).unwrap();
    (preset.design)().derive().unwrap()
}

#[test]
fn the_link_budget_is_the_papers() {
    // −8 + 6 + 7 + 2 = 7 dBm; 16 dBm feed 7.94, rounded to 8; 256 uplinks, 32 chips (§4.5).
    let found = preset("sirius-100");
    assert!((found.link.required.0 - 7.0).abs() < 1e-12);
    assert!((found.link.feeds - 7.943282347242816).abs() < 1e-12);
    assert_eq!((found.link.share, found.sources), (8, 32));
    // Without rounding, 7 transceivers share a laser, and a node has 37 chips.
    let exact = json!({"grating": {"ports": 100}, "link": {"rounding": "0 dB"}});
    let exact = derive(exact);
    assert_eq!((exact.link.share, exact.sources), (7, 37));
    // Three halvings that lose 0.3 dB each, and a penalty.
    let lossy = json!({"grating": {"ports": 100}, "link": {"splitter_excess": "0.3 dB"}});
    assert_eq!(derive(lossy).link.share, 6);
    let costly = json!({"grating": {"ports": 100}, "link": {"penalty": "1 dB"}});
    assert_eq!(derive(costly).link.share, 6);
}

#[test]
fn the_guardband_is_that_of_the_second_prototype() {
    let found = preset("sirius");
    assert_eq!(found.guardband.total, Time(3_840));
    assert_eq!(
        (found.guardband.symbols, found.guardband.symbol),
        (96, Time(40))
    );
    assert_eq!(found.slot, Time(38_400));
    assert_eq!(found.epoch, Time(16 * 38_400));
    assert_eq!(found.cell_bits, 1_728);
    // RS(172, 142) of 10 bits.
    assert_eq!(found.payload_bytes, 177);
}

#[test]
fn the_guardband_is_that_of_the_first_prototype() {
    let found = preset("sirius-v1");
    let nanoseconds = found.guardband.total.0 as f64 / 1e3;
    assert_eq!(nanoseconds.round(), 100.0);
    assert_eq!(found.phase_error_ps, None);
}

#[test]
fn a_bank_of_three_hides_the_tuning() {
    let found = preset("sirius-bank");
    assert_eq!(found.lasers, 3);
    assert_eq!(found.guardband.total, Time(3_840));
    // In slots of 38.4 ns the bank has 1 + 3 + 1 lasers.
    let short = derive(json!({"laser": {"kind": "tunable-bank"}}));
    assert_eq!(short.lasers, 5);
}

#[test]
fn a_schedules_own_changes_of_wavelength_may_take_less() {
    let all = json!({"laser": {"kind": "dsdbr"}, "slot": "300 ns"});
    let mut own = all.clone();
    own["guard"] = json!({"transitions": "schedule"});
    assert!(derive(own).guardband.total < derive(all).guardband.total);
}

#[test]
fn every_preset_can_be_built_and_is_read_back() {
    for preset in PRESETS {
        let design = (preset.design)();
        let table = serde_json::to_value(design).unwrap();
        assert_eq!(read(table), design, "{}", preset.name);
        let derived = design.derive().unwrap();
        assert!(derived.error_rate <= design.error_rate, "{}", preset.name);
        assert!(serde_json::to_string(&derived).is_ok());
    }
    assert_eq!(read(json!({})), Design::default());
}

#[test]
fn refusals_name_the_part_that_breaks_the_design() {
    let leaky = json!({"grating": {"ports": 100, "adjacent": "-30 dB"}});
    for (table, expect) in [
        (
            leaky,
            "devices.grating.ports = 100: at -30 dB adjacent crosstalk, -19.32 dB in total, the \
             PAM-4 penalty is unbounded: the bit error rate ",
        ),
        (
            json!({"grating": {"ports": 128}, "laser": {"kind": "dsdbr"}}),
            "devices.grating.ports = 128: the laser has 112 wavelengths, one for each",
        ),
        (
            json!({"grating": {"ports": 100}, "wavelengths": "out-of-band"}),
            "devices.grating.ports = 100: with an even number of ports, no schedule gives",
        ),
        (
            json!({"grating": {"ports": 100}, "laser": {"output": "6 dBm"}}),
            "devices.laser.output = 6 dBm: a transceiver needs 7 dBm, the largest loss is other, \
             7 dB; raise it by 1 dB",
        ),
        (
            json!({"grating": {"ports": 100}, "link": {"share": 9}}),
            "devices.link.share = 9: a laser of 16 dBm feeds 8 that need 7 dBm each; lower it",
        ),
        (
            json!({"grating": {"ports": 100}, "link": {"fibre": "20 km"}}),
            "devices.link.fibre = 20 km: 1.97 dB of margin carry 9.845 km at 0.2 dB/km",
        ),
        (
            json!({"laser": {"kind": "off-the-shelf"}, "slot": "100 ns"}),
            "devices.slot = 100 ns: not longer than the guardband of 10.00000296 ms, most of \
             which is devices.laser.kind: 10 ms for laser",
        ),
        (
            json!({"cdr": {"kind": "standard"}, "slot": "100 ns"}),
            "devices.slot = 100 ns: not longer than the guardband of 100.00284 us, most of which \
             is devices.cdr.kind: 100 us for clock recovery",
        ),
        (
            json!({"cdr": {"drift": "10 ppm"}}),
            "devices.cdr.drift = 10 ppm: a cached phase is 9.14 ps wrong after an epoch of",
        ),
        (
            json!({"amplitude": {"drift": "400000 dB/s"}}),
            "devices.amplitude.drift = 400000 dB/s: a cached gain is 0.246 dB wrong after an epoch \
             of 614.4 ns, but at most 0.2 dB is allowed; lower it, or take \
             devices.amplitude.kind = \"control\"",
        ),
        (
            json!({"amplitude": {"kind": "control"}, "slot": "20 ns"}),
            "devices.slot = 20 ns: not longer than the guardband of 28.68 ns, most of which is \
             devices.amplitude.kind: 25.79 ns for amplitude",
        ),
        (
            json!({"amplitude": {"tolerance": "0 dB"}}),
            "devices.amplitude.tolerance = 0 dB: ",
        ),
        (
            json!({"fec": "kp4", "slot": "100 ns"}),
            "devices.fec = \"kp4\": a codeword of 5440 bits does not fit into a cell of 4808 bits",
        ),
        (
            json!({"fec": "none"}),
            "devices.fec = \"none\": the bit error rate after it is 2.4e-4 at -8 dBm",
        ),
        (
            json!({"laser": {"kind": "comb", "spares": 1}}),
            "devices.laser.spares = (given): a laser of this kind has none",
        ),
        (
            json!({"laser": {"output": "16"}}),
            "devices.laser.output = \"16\": `16` has no unit: write a power like \"-8 dBm\" (dBm)",
        ),
        (
            json!({"laser": {"kind": "dsdbr", "drive": {"overshoot": "2.5 ns"}}}),
            "devices.laser.drive.overshoot = 2.5 ns: the drive's converter has a grid of 1 ns",
        ),
        (
            json!({"grating": {"non_adjacent": "-40 dB"}}),
            "devices.grating.non_adjacent = -40 dB: no crosstalk of neighbours is given",
        ),
        (
            json!({"gratings": {}}),
            "devices.gratings = {}: no such key",
        ),
    ] {
        let told = refused(table);
        assert!(told.starts_with(expect), "{told}");
    }
}

#[test]
fn the_remedy_for_crosstalk_is_one() {
    let told = refused(json!({"grating": {"ports": 100, "adjacent": "-30 dB"}}));
    let most = told.split("take at most ").nth(1).unwrap();
    let most: u32 = most.split(',').next().unwrap().parse().unwrap();
    let of = |ports: u32, more: Value| {
        let mut table = json!({"grating": {"ports": ports, "adjacent": "-30 dB"}});
        table
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        read(table)
    };
    let grating = |ports| of(ports, json!({})).grating;
    let penalty = |ports| {
        let design = of(ports, json!({}));
        let others = grating(ports).interference(design.wavelengths);
        design.receiver.penalty(design.modulation, &others)
    };
    assert!(
        penalty(most).is_some() && penalty(most + 1).is_none(),
        "{most}"
    );
    let odd = of(99, json!({"wavelengths": "out-of-band"}))
        .derive()
        .unwrap();
    assert!(odd.penalty < Decibel(0.1) && odd.crosstalk.is_none());
}

proptest! {
    #[test]
    fn what_is_derived_hangs_together(
        ports in 1u32..=112, gbps in 10u64..200, overhead in 0.01f64..0.5, uplinks in 1u32..1000
    ) {
        let mut design = Design { overhead, uplinks, fec: Fec::None, error_rate: 1e-3, ..Design::default() };
        design.grating.ports = ports;
        design.channel_rate = Rate(gbps * Rate::GBPS.0);
        design.cdr.tolerance = 0.5;
        design.cdr.jitter = Time::ZERO;
        let found = match design.derive() {
            Ok(found) => found,
            // Over long epochs, phases drift by more than the tolerance of short symbols.
            Err(refusal) => {
                prop_assert_eq!(refusal.key, "devices.cdr.drift");
                return Ok(());
            }
        };
        let parts = found.guardband.parts.iter().fold(Time::ZERO, |sum, part| sum + part.time);
        prop_assert!(found.guardband.total >= parts);
        prop_assert!(found.guardband.total < parts + found.guardband.symbol);
        prop_assert!(found.slot > found.guardband.total);
        prop_assert_eq!(found.epoch, found.slot * i64::from(ports));
        prop_assert!(found.sources * found.link.share >= uplinks);
        prop_assert!(found.wavelengths >= ports);
        prop_assert!(found.ber <= found.ber_without_margin * 1.02);
        prop_assert!(found.link.reach > Length(0));
        let sent = found.cell_bits as f64 / design.channel_rate.0 as f64;
        prop_assert!(sent <= (found.slot - found.guardband.total).as_secs_f64() + 1e-18);
    }
}
