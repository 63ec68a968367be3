//! Error rates compared with scipy, with the closed form, and with a Monte Carlo simulation of the
//! channel.

use lightloom_engine::Stream;
use lightloom_photonics::fec::{cells_of_codeword, Code, Fec};
use lightloom_photonics::grating::{Grating, Interference, Wavelengths};
use lightloom_photonics::quantity::{Dbm, Decibel};
use lightloom_photonics::receiver::{q, Modulation, Polarisation, Receiver};
use proptest::prelude::*;
use rand_distr::{Distribution, StandardNormal};

const ALONE: Interference = Interference {
    in_band: 0.0,
    out_of_band_squares: 0.0,
};

fn near(found: f64, expect: f64, relative: f64) {
    let apart = (found - expect).abs() / expect.abs();
    assert!(apart <= relative, "{found} is not {expect}");
}

#[test]
fn the_tail_of_the_normal_distribution_is_scipys() {
    // scipy.stats.norm.sf(x)
    for (x, tail) in [
        (0.5, 0.3085375387259869),
        (1.0, 0.15865525393145707),
        (2.0, 0.022750131948179195),
        (3.4140705542274294, 0.00032),
        (6.0, 9.865876450376946e-10),
        (10.0, 7.61985302416047e-24),
    ] {
        near(q(x), tail, 1e-12);
    }
}

#[test]
fn codewords_fail_as_the_binomial_tail_says() {
    // p = 1-(1-b)**10; binom.sf(t, n, p); (k*binom.pmf(k, n, p)).sum()/n*b/p for k > t
    for (code, b, failure, post) in [
        (
            Code::KP4,
            2.4e-4,
            8.151573399341547e-13,
            2.41209388955883e-15,
        ),
        (
            Code::KP4,
            1e-3,
            0.0001530258592806005,
            4.6411915998320146e-07,
        ),
        (
            Code::KR4,
            2e-5,
            3.312933680800614e-13,
            5.027367491031386e-16,
        ),
        (
            Code::KP4.shortened(4_500).unwrap(),
            2e-3,
            0.019406994352682016,
            7.350979246452578e-05,
        ),
    ] {
        near(code.failure(b), failure, 1e-9);
        near(code.post_ber(b), post, 1e-9);
    }
    assert_eq!(Code::KP4.post_ber(0.0), 0.0);
}

#[test]
fn a_codeword_fails_as_often_as_one_that_is_drawn_bit_by_bit() {
    let code = Code::KP4.shortened(1_728).unwrap();
    assert_eq!((code.symbols, code.data), (172, 142));
    let (ber, words) = (6e-3, 20_000);
    let mut stream = Stream::new(7, "codewords", 0);
    let mut symbol_wrong = || (0..code.bits).fold(false, |wrong, _| wrong | (stream.unit() < ber));
    let failed = (0..words).filter(|_| {
        let wrong = (0..code.symbols).filter(|_| symbol_wrong()).count();
        wrong as u32 > code.corrects()
    });
    let (share, expect) = (failed.count() as f64 / words as f64, code.failure(ber));
    let deviation = (expect * (1.0 - expect) / words as f64).sqrt();
    assert!((share - expect).abs() < 4.0 * deviation, "{share} {expect}");
}

#[test]
fn a_kp4_codeword_does_not_fit_into_the_papers_cell() {
    assert_eq!(Code::KP4.codeword_bits(), 5_440);
    let epoch = lightloom_engine::Time(1_600_000);
    let [shortened, across, whole, none] = Fec::ALL.map(|fec| fec.protect(4_500, epoch, 2.4e-4));
    assert!(!whole.fits && whole.data_bits == 0.0);
    assert_eq!((shortened.data_bits, shortened.cells), (4_200.0, 1));
    near(across.data_bits, 4_500.0 * 514.0 / 544.0, 1e-12);
    assert_eq!((across.cells, across.waits), (3, epoch * 2));
    assert_eq!((none.data_bits, none.post_ber), (4_500.0, 2.4e-4));
    // The same parity corrects more in a shorter codeword.
    assert!(shortened.post_ber < across.post_ber && across.post_ber < 1e-12);
}

#[test]
fn kp4s_threshold_is_at_the_sensitivity_and_pam_4_needs_a_third_of_the_eye() {
    let receiver = Receiver::default();
    for modulation in [Modulation::Pam4, Modulation::Nrz] {
        let at = receiver.ber(modulation, Dbm(-8.0), &ALONE);
        near(at, 2.4e-4, 1e-9);
    }
    // The distance between levels in units of noise: scipy.stats.norm.isf(2.4e-4 / 0.75).
    let half = receiver.half_spacing(Modulation::Pam4) * Dbm(-8.0).milliwatts();
    near(
        half / receiver.noise(Modulation::Pam4),
        3.4140705542274294,
        1e-9,
    );
    // 3/4 Q(·), whose argument is linear in the power.
    let more = receiver.ber(Modulation::Pam4, Dbm(-7.0), &ALONE);
    near(more, 0.75 * q(3.4140705542274294 * 10f64.powf(0.1)), 1e-9);
    near(
        receiver.half_spacing(Modulation::Nrz) / receiver.half_spacing(Modulation::Pam4),
        3.0,
        1e-12,
    );
}

/// The bit error rate of a receiver that decides symbol by symbol: thermal noise, and `others`
/// inputs of power `leak`, each with its own symbols, phases and polarisations.
fn monte_carlo(
    modulation: Modulation,
    receiver: &Receiver,
    power: Dbm,
    (others, leak): (u32, f64),
    symbols: u32,
) -> f64 {
    let levels = 1u32 << modulation.bits();
    let noise = receiver.noise(modulation) / power.milliwatts();
    let half = receiver.half_spacing(modulation);
    let level = |k: u32| receiver.level(modulation, k as usize);
    let mut stream = Stream::new(11, "light", u64::from(others));
    let gray = |k: u32| k ^ (k >> 1);
    let mut wrong = 0;
    for _ in 0..symbols {
        let sent = stream.below(levels);
        let thermal: f64 = StandardNormal.sample(&mut stream);
        let mut current = level(sent) + noise * thermal;
        for _ in 0..others {
            let other = leak * level(stream.below(levels));
            let phase = std::f64::consts::TAU * stream.unit();
            let aligned = match receiver.polarisation {
                Polarisation::Random => (std::f64::consts::TAU * stream.unit()).cos(),
                Polarisation::Aligned => 1.0,
            };
            // The mean that the other inputs add is subtracted, as by an AC-coupled receiver.
            current += 2.0 * (level(sent) * other).sqrt() * phase.cos() * aligned;
        }
        let decided = ((current - level(0)) / (2.0 * half)).round();
        let decided = decided.clamp(0.0, f64::from(levels - 1)) as u32;
        wrong += (gray(sent) ^ gray(decided)).count_ones();
    }
    f64::from(wrong) / f64::from(symbols * modulation.bits())
}

#[test]
fn errors_without_crosstalk_are_those_of_the_channel() {
    let receiver = Receiver::default();
    for (modulation, power) in [
        (Modulation::Pam4, Dbm(-10.0)),
        (Modulation::Nrz, Dbm(-10.5)),
    ] {
        let symbols = 1_000_000;
        let expect = receiver.ber(modulation, power, &ALONE);
        let found = monte_carlo(modulation, &receiver, power, (0, 0.0), symbols);
        let bits = f64::from(symbols * modulation.bits());
        let deviation = (expect / bits).sqrt();
        // The formula counts only errors to the neighbouring level.
        assert!((found - expect).abs() < 4.0 * deviation, "{found} {expect}");
    }
}

#[test]
fn crosstalk_of_many_is_as_gaussian_as_the_formula_takes_it() {
    for polarisation in [Polarisation::Random, Polarisation::Aligned] {
        let receiver = Receiver {
            polarisation,
            ..Receiver::default()
        };
        let (others, leak) = (64, 1e-4);
        let all = Interference {
            in_band: f64::from(others) * leak,
            ..ALONE
        };
        let power = Dbm(-7.0);
        let expect = receiver.ber(Modulation::Pam4, power, &all);
        let found = monte_carlo(Modulation::Pam4, &receiver, power, (others, leak), 100_000);
        let without = receiver.ber(Modulation::Pam4, power, &ALONE);
        assert!(expect > 20.0 * without);
        near(found, expect, 0.06);
    }
}

#[test]
fn nrz_bears_9_db_more_crosstalk_than_pam_4() {
    // "9 dB more tolerant" (Optics Letters 44(24), 5965, 2019): an eye of a third is 9.54 dB of
    // amplitude; less at high error rates, because the levels of PAM-4 are not equally noisy. The
    // test compares the crosstalk at which the penalty becomes unbounded.
    let bearable = |threshold, modulation| {
        let receiver = Receiver {
            extinction: Decibel(60.0),
            threshold,
            ..Receiver::default()
        };
        let floor = |x: f64| {
            let others = Interference {
                in_band: x,
                ..ALONE
            };
            receiver.floor(modulation, &others)
        };
        let (mut least, mut most) = (1e-6, 1.0);
        for _ in 0..60 {
            let middle = f64::sqrt(least * most);
            if floor(middle) < threshold {
                least = middle
            } else {
                most = middle
            }
        }
        Decibel::of(least).0
    };
    let more =
        |threshold| bearable(threshold, Modulation::Nrz) - bearable(threshold, Modulation::Pam4);
    let (kp4, raw) = (more(2.4e-4), more(1e-9));
    assert_eq!((kp4.round(), raw.round()), (9.0, 9.0), "{kp4} {raw}");
    assert!(kp4 < raw && raw < 20.0 * 3f64.log10(), "{kp4} {raw}");
}

#[test]
fn the_penalty_is_below_that_of_the_noisiest_level_in_closed_form() {
    let receiver = Receiver::default();
    for x in [1e-4, 3e-4, 1e-3] {
        let others = Interference {
            in_band: x,
            ..ALONE
        };
        let penalty = receiver.penalty(Modulation::Pam4, &others).unwrap().0;
        // If all levels are as noisy as the highest: (half/Q)^2 = noise^2/P^2 + beat^2.
        let needed = 3.4140705542274294 / receiver.half_spacing(Modulation::Pam4);
        let beat = 2.0 * 0.5 * x * receiver.level(Modulation::Pam4, 3);
        let closed = -5.0 * (1.0 - needed.powi(2) * beat).log10();
        assert!(penalty > 0.0 && penalty < closed, "{x}: {penalty} {closed}");
        assert!(penalty > closed / 4.0, "{x}: {penalty} {closed}");
        let at = Dbm(receiver.sensitivity.0 + penalty);
        near(receiver.ber(Modulation::Pam4, at, &others), 2.4e-4, 1e-6);
    }
}

proptest! {
    #[test]
    fn more_ports_or_more_leakage_never_cost_less(
        ports in 2u32..120, adjacent in -45.0f64..-25.0, more in 0.1f64..3.0
    ) {
        let receiver = Receiver::default();
        // An unbounded penalty counts as greater than any other.
        let cost = |ports, adjacent| {
            let grating = Grating { ports, adjacent: Some(Decibel(adjacent)), ..Grating::default() };
            let others = grating.interference(Wavelengths::Common);
            receiver.penalty(Modulation::Pam4, &others).map_or(f64::INFINITY, |p| p.0)
        };
        prop_assert!(cost(ports, adjacent) >= 0.0);
        prop_assert!(cost(ports + 1, adjacent) >= cost(ports, adjacent));
        prop_assert!(cost(ports, adjacent + more) >= cost(ports, adjacent));
    }

    #[test]
    fn more_light_never_errs_more(power in -20.0f64..0.0, more in 0.01f64..5.0, x in 0.0f64..0.02) {
        let receiver = Receiver::default();
        let others = Interference { in_band: x, ..ALONE };
        let at = |p| receiver.ber(Modulation::Pam4, Dbm(p), &others);
        prop_assert!(at(power + more) <= at(power));
        prop_assert!(at(power) >= receiver.floor(Modulation::Pam4, &others));
    }

    #[test]
    fn out_of_band_light_costs_less_than_in_band(half in 2u32..50, adjacent in -40.0f64..-26.0) {
        let ports = 2 * half + 1;
        let grating = Grating { ports, adjacent: Some(Decibel(adjacent)), ..Grating::default() };
        let receiver = Receiver::default();
        let cost = |plan| {
            let others = grating.interference(plan);
            receiver.penalty(Modulation::Pam4, &others).map_or(f64::INFINITY, |p| p.0)
        };
        prop_assert!(cost(Wavelengths::OutOfBand) < cost(Wavelengths::Common));
    }

    #[test]
    fn a_codeword_touches_as_many_cells_as_counted(word in 1u64..800, cell in 1u64..800) {
        // Within `cell` consecutive codewords, every possible start position occurs.
        let touched = |k: u64| (k * word + word - 1) / cell - k * word / cell + 1;
        let worst = (0..cell).map(touched).max().unwrap();
        prop_assert_eq!(cells_of_codeword(word, cell), worst);
    }
}
