//! Gain: the closed form of a gain control compared with a stepped loop, and the time that caching
//! saves.

use lightloom_engine::{config, Time};
use lightloom_photonics::amplitude::{Amplitude, Gain};
use lightloom_photonics::design::Design;
use lightloom_photonics::quantity::{Decibel, DriftOfLevel};
use lightloom_photonics::{Derived, Grating};
use proptest::prelude::*;
use serde_json::{json, Value};

fn derive(table: Value) -> Derived {
    let design: Design = config::read(&table, "devices").unwrap();
    design.derive().unwrap()
}

fn control(spread: f64, tolerance: f64, time_constant: Time) -> Amplitude {
    Amplitude {
        kind: Gain::Control,
        spread: Some(Decibel(spread)),
        tolerance: Decibel(tolerance),
        time_constant,
        ..Amplitude::default()
    }
}

/// Number of time constants until a first-order loop is within the tolerance, in steps of 1/5,000
/// of a time constant (Heun's method).
fn stepped(spread: f64, tolerance: f64) -> f64 {
    let step = 1.0 / 5_000.0;
    let (mut error, mut steps) = (spread, 0u32);
    while error > tolerance {
        let guess = error - step * error;
        error -= step * (error + guess) / 2.0;
        steps += 1;
    }
    f64::from(steps) * step
}

proptest! {
    #[test]
    fn a_control_takes_what_its_loop_does(
        spread in 0.01f64..20.0, tolerance in 0.01f64..1.0, ns in 1i64..1_000
    ) {
        let of = control(spread, tolerance, Time::NS * ns);
        let found = of.settles(&Grating::default(), Time(40)).0 as f64 / 1e3;
        let expected = stepped(spread, tolerance) * ns as f64;
        prop_assert!((found - expected).abs() <= 0.002 + ns as f64 / 4_000.0, "{found} {expected}");
    }

    #[test]
    fn a_kept_gain_is_refused_as_soon_as_its_drift_is_more_than_the_tolerance(
        tolerance in 0.01f64..1.0, age_ns in 1i64..1_000_000, times in 0.5f64..2.0
    ) {
        let age = Time::NS * age_ns;
        let drift = DriftOfLevel(times * tolerance / (age_ns as f64 * 1e-9));
        let of = Amplitude { tolerance: Decibel(tolerance), drift, ..Amplitude::default() };
        prop_assume!((times - 1.0).abs() > 1e-9);
        prop_assert_eq!(of.error_within("devices", age).is_err(), times > 1.0);
    }
}

#[test]
fn what_senders_are_apart_is_what_the_grating_does_to_them() {
    // 3 dB × (15/16)² between the best and the worst path of 16 ports; a tenth of it remains after
    // 2.303 time constants.
    let of = Amplitude {
        kind: Gain::Control,
        tolerance: Decibel(0.263_671_875),
        ..Amplitude::default()
    };
    let found = of.settles(&Grating::default(), Time(40));
    assert_eq!(found, Time(23_026));
    let alike = control(0.1, 0.2, Time::NS);
    assert_eq!(alike.settles(&Grating::default(), Time(40)), Time::ZERO);
}

#[test]
fn caching_saves_a_control_of_every_cell() {
    let cached = derive(json!({}));
    let anew = derive(json!({"amplitude": {"kind": "control"}}));
    assert_eq!(cached.guardband.total, Time(3_840));
    // 912 + 1,000 + 25,790 + 5 + 960 ps are 717 symbols.
    assert_eq!(anew.guardband.total, Time(717 * 40));
    assert_eq!(anew.amplitude_error_db, None);
    let error = cached.amplitude_error_db.unwrap();
    assert!((error - 0.1 * 614.4e-9).abs() < 1e-15);
    // If the time is given, the model is not used.
    let given = json!({"amplitude": {"kind": "control"}, "guard": {"amplitude": "960 ps"}});
    assert_eq!(derive(given).guardband.total, Time(3_840));
}
