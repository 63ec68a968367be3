//! Tuning times: the two values of the paper, other solvers of the same equation, and invariants.

use lightloom_engine::Time;
use lightloom_photonics::laser::damped::Mismatch;
use lightloom_photonics::laser::{Drive, Gates, Laser, LaserKind};
use proptest::prelude::*;

const NS: f64 = 1e3;

fn dsdbr() -> Laser {
    Laser::of(LaserKind::Dsdbr)
}

#[test]
fn the_damped_laser_has_the_papers_median_and_worst() {
    let found = dsdbr().tuning(16).distribution().unwrap();
    assert_eq!(found.pairs, 12_432);
    // 14 ns and 92 ns, rounded as in the paper (Sirius §3.2).
    assert_eq!(
        (found.median.0 as f64 / NS).round(),
        14.0,
        "{}",
        found.median
    );
    assert_eq!((found.worst.0 as f64 / NS).round(), 92.0, "{}", found.worst);
}

#[test]
fn other_chips_are_alike() {
    for seed in 1..6 {
        let drive = Some(Drive {
            seed,
            ..Drive::default()
        });
        let found = Laser { drive, ..dsdbr() }
            .tuning(16)
            .distribution()
            .unwrap();
        let range = |t: Time, low: i64, high: i64| (Time::NS * low..Time::NS * high).contains(&t);
        assert!(range(found.median, 13, 16), "{seed}: {}", found.median);
        assert!(range(found.worst, 83, 97), "{seed}: {}", found.worst);
    }
}

#[test]
fn it_takes_longer_the_farther_it_tunes() {
    // Groups of 16 channels, so that each group has hundreds of pairs.
    let tuning = dsdbr().tuning(16);
    let mut groups = vec![Vec::new(); 7];
    for (from, to, time) in tuning.pairs() {
        groups[((from.abs_diff(to) - 1) / 16) as usize].push(time);
    }
    let median = |times: &mut Vec<Time>| {
        times.sort_unstable();
        times[times.len() / 2]
    };
    let medians: Vec<Time> = groups.iter_mut().map(median).collect();
    assert!(
        medians.windows(2).all(|pair| pair[0] <= pair[1]),
        "{medians:?}"
    );
    assert!(medians[6] > medians[0] * 4);
    let apart = tuning.by_distance();
    assert_eq!((apart.len(), apart[0].channels), (111, 1));
    assert_eq!(
        apart[110].worst,
        tuning.between(0, 111).max(tuning.between(111, 0))
    );
}

#[test]
fn damping_saves_most_of_the_time() {
    let undamped = Laser::of(LaserKind::DsdbrUndamped)
        .tuning(16)
        .distribution()
        .unwrap();
    let damped = dsdbr().tuning(16).distribution().unwrap();
    assert!(undamped.median > damped.median * 8, "{undamped:?}");
    assert!(undamped.worst > damped.worst * 2);
    let sold = Laser::of(LaserKind::OffTheShelf)
        .tuning(16)
        .distribution()
        .unwrap();
    assert_eq!((sold.least, sold.worst), (Time::MS * 10, Time::MS * 10));
}

#[test]
fn settling_times_are_those_of_an_integrator() {
    // scipy.integrate.solve_ivp of x'' + 2ax' + (a² + w²)x = (a² + w²)u, rtol 1e-11, a = 1/29.2 ns,
    // w = 2π/20 ns·(1 + f), u = 1 + (step − 1)(1 + g); the last time out of 0.1 channels [ns].
    let drive = Drive::default();
    let steps = drive.steps().unwrap();
    for (value, expect) in [(steps.over, OVER), (steps.under, UNDER)] {
        assert!((value - expect).abs() < 1e-8, "{value}");
    }
    for (frequency, gain, channels, expect) in DRIVEN {
        let found = drive.settles(Some(steps), Mismatch { frequency, gain }, channels);
        assert!(
            (found.0 as f64 / NS - expect).abs() < 0.01,
            "{found} {expect}"
        );
    }
    for (frequency, channels, expect) in SINGLE {
        let mismatch = Mismatch {
            frequency,
            gain: 0.0,
        };
        let found = drive.settles(None, mismatch, channels);
        assert!(
            (found.0 as f64 / NS - expect).abs() < 0.01,
            "{found} {expect}"
        );
    }
}

const OVER: f64 = 1.3271983074763476;
const UNDER: f64 = -0.0806802809199647;
/// Frequency f, gain g, channels, time [ns].
const DRIVEN: [(f64, f64, u32, f64); 7] = [
    (0.0, 0.0, 50, 6.0),
    (0.0038, 0.0, 111, 55.329),
    (-0.0038, 0.0076, 33, 18.766),
    (0.0114, -0.0114, 111, 85.533),
    (0.0, 0.0038, 5, 6.0),
    (0.0114, 0.0114, 60, 82.899),
    (-0.0114, 0.0114, 111, 87.05),
];
/// Frequency f, channels, time of a single step [ns].
const SINGLE: [(f64, u32, f64); 3] = [(0.0, 1, 62.192), (0.0, 33, 162.468), (0.0038, 111, 201.16)];

#[test]
fn the_drive_overshoots_then_undershoots_and_leaves_nothing_to_ring() {
    let drive = Drive::default();
    let steps = drive.steps().unwrap();
    assert!(steps.over > 1.0 && steps.under < 1.0, "{steps:?}");
    let driven = drive.overshoot + drive.undershoot;
    for channels in [1, 50, 111] {
        let exact = drive.settles(Some(steps), Mismatch::default(), channels);
        assert_eq!(exact, driven);
    }
    // Steps of half a period each cannot be distinguished.
    let half = Drive {
        overshoot: Time::NS * 10,
        undershoot: Time::NS * 10,
        ..drive
    };
    assert!(half.check("devices.laser.drive").is_ok() == half.steps().is_some());
}

#[test]
fn gates_are_as_slow_as_the_slower_of_two_whatever_the_distance() {
    let laser = Laser::of(LaserKind::FixedBank);
    let tuning = laser.tuning(19);
    let found = tuning.distribution().unwrap();
    assert_eq!((found.pairs, found.worst), (19 * 18, Time(912)));
    let near: Vec<_> = tuning
        .pairs()
        .filter(|(a, b, _)| a.abs_diff(*b) == 1)
        .collect();
    let far: Vec<_> = tuning
        .pairs()
        .filter(|(a, b, _)| a.abs_diff(*b) > 9)
        .collect();
    for some in [near, far] {
        let worst = some.iter().map(|(_, _, time)| *time).max().unwrap();
        assert!(worst > Time(800) && worst <= Time(912), "{worst}");
    }
    // The tuning time is the closing time if closing is slower than opening.
    let gates = Gates {
        best: 1.0,
        ..Gates::default()
    };
    let alike = Laser {
        gates: Some(gates),
        ..laser
    }
    .tuning(19)
    .distribution()
    .unwrap();
    assert_eq!((alike.least, alike.worst), (Time(912), Time(912)));
    assert_eq!(
        (Gates::default().chips(19), Gates::default().chips(20)),
        (1, 2)
    );
}

proptest! {
    #[test]
    fn a_chip_is_the_same_each_time_and_its_worst_bounds_any_schedule(seed: u64, ports in 2u32..20) {
        let drive = Some(Drive { seed, ..Drive::default() });
        let laser = Laser { drive, wavelengths: Some(20), ..dsdbr() };
        let tuning = laser.tuning(ports);
        prop_assert_eq!(&tuning, &laser.tuning(ports));
        let worst = tuning.distribution().unwrap().worst;
        prop_assert!(tuning.in_turn(ports) <= worst);
        let driven = Time::NS * 6;
        prop_assert!(tuning.pairs().all(|(_, _, time)| time >= driven));
    }

    #[test]
    fn a_nearer_target_is_reached_no_later(
        frequency in -0.02f64..0.02, gain in -0.02f64..0.02, channels in 1u32..111
    ) {
        let drive = Drive::default();
        for steps in [None, drive.steps()] {
            let mismatch = Mismatch { frequency, gain };
            let near = drive.settles(steps, mismatch, channels);
            prop_assert!(near <= drive.settles(steps, mismatch, channels + 1));
        }
    }
}
