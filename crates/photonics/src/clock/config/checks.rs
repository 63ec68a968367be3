//! Refuses configurations that cannot run, with the name of the key.

use super::{ClockConfig, Death};
use crate::clock::pll::Gains;
use crate::clock::quantity::{Dispersion, Hertz, Kelvin, Nanometres, Picoseconds, Ppm};
use crate::clock::quantity::{ThermalDelay, ThermalDrift};
use lightloom_engine::{check_range, Length, Refusal, Time};

/// The largest number of updates of one clock in a run: about an hour.
const UPDATES_MAX: u64 = 100_000_000_000;
/// The largest number of values that are stored for the judge [count]: 256 MB.
const SAMPLES_MAX: u64 = 1 << 26;
/// The longest time: a month.
const TIME_MAX: Time = Time(30 * 86_400 * Time::S.0);

/// Checks each value on its own.
pub(super) fn ranges(config: &ClockConfig) -> Result<(), Refusal> {
    check_range("nodes", config.nodes, 2..=65_536)?;
    check_range("epoch", config.epoch, Time::NS..=Time::S)?;
    check_range("leader_epochs", config.leader_epochs, 1..=1_000_000)?;
    check_range("duration", config.duration, config.epoch..=TIME_MAX)?;
    if let Some(settle) = config.settle {
        check_range("settle", settle, Time::ZERO..=TIME_MAX)?;
    }
    check_loop(config)?;
    let oscillator = &config.oscillator;
    let fast = Ppm(0.0)..=Ppm(10_000.0);
    check_range("oscillator.tolerance", oscillator.tolerance, fast.clone())?;
    check_range("oscillator.white", oscillator.white, Ppm(0.0)..=Ppm(1.0))?;
    check_range("oscillator.walk", oscillator.walk, Ppm(0.0)..=Ppm(1.0))?;
    let drift = ThermalDrift(0.0)..=ThermalDrift(100.0);
    check_range("oscillator.thermal", oscillator.thermal, drift)?;
    let short = Picoseconds(0.0)..=Picoseconds(1e6);
    let stamps = &config.timestamps;
    check_range("timestamps.jitter", stamps.jitter, short.clone())?;
    check_range("timestamps.quantisation", stamps.quantisation, short)?;
    check_fibre(config)?;
    check_temperature(config)
}

fn check_loop(config: &ClockConfig) -> Result<(), Refusal> {
    let pll = &config.pll;
    within("loop.damping", pll.damping, 0.1, 10.0)?;
    let highest = Gains::highest_bandwidth(pll.damping, config.epoch);
    check_range("loop.bandwidth", pll.bandwidth, Hertz(1e-3)..=Hertz(1e9))?;
    if pll.bandwidth > highest {
        let limit = format!(
            "a loop with an update every {} overshoots beyond {highest}",
            config.epoch
        );
        let remedy = "lower it, or shorten epoch";
        return Err(Refusal::new("loop.bandwidth", pll.bandwidth, limit, remedy));
    }
    check_range("loop.clip", pll.clip, Ppm(1e-6)..=Ppm(1e6))
}

fn check_fibre(config: &ClockConfig) -> Result<(), Refusal> {
    let fibre = &config.fibre;
    check_range(
        "fibre.length",
        fibre.length,
        Length(0)..=Length(100_000_000),
    )?;
    check_range("fibre.spread", fibre.spread, Length(0)..=fibre.length)?;
    let asymmetry = Picoseconds(0.0)..=Picoseconds(1e6);
    check_range("fibre.asymmetry", fibre.asymmetry, asymmetry)?;
    let thermal = ThermalDelay(0.0)..=ThermalDelay(1_000.0);
    check_range("fibre.thermal", fibre.thermal, thermal)?;
    let dispersion = Dispersion(-200.0)..=Dispersion(200.0);
    check_range("fibre.dispersion", fibre.dispersion, dispersion)?;
    check_range("fibre.wavelengths", fibre.wavelengths, 1..=65_536)?;
    let spacing = Nanometres(0.0)..=Nanometres(100.0);
    check_range("fibre.spacing", fibre.spacing, spacing)?;
    within("fibre.table_error", fibre.table_error, 0.0, 1.0)
}

fn check_temperature(config: &ClockConfig) -> Result<(), Refusal> {
    let temperature = &config.temperature;
    let waves = Kelvin(0.0)..=Kelvin(100.0);
    check_range("temperature.daily", temperature.daily, waves.clone())?;
    check_range("temperature.cycle", temperature.cycle, waves)?;
    let periods = Time::S..=TIME_MAX;
    check_range(
        "temperature.cycle_period",
        temperature.cycle_period,
        periods,
    )?;
    within("temperature.own", temperature.own, 0.0, 1.0)?;
    check_range(
        "loopback.every",
        config.loopback.every,
        Time::ZERO..=TIME_MAX,
    )?;
    check_range("loopback.averaged", config.loopback.averaged, 1..=1_000_000)?;
    if let Some(noise) = config.loopback.noise {
        let range = Picoseconds(0.0)..=Picoseconds(1e6);
        check_range("loopback.noise", noise, range)?;
    }
    if let Some(day) = &config.day {
        check_range("day.step", day.step, Time::MS..=Time::S * 3_600)?;
        check_range("day.duration", day.duration, day.step..=TIME_MAX)?;
    }
    Ok(())
}

/// Checks a plain number; NaN is in no range.
fn within(key: &str, value: f64, least: f64, most: f64) -> Result<(), Refusal> {
    check_range(key, value, least..=most)
}

/// Checks values that depend on each other.
pub(super) fn together(config: &ClockConfig) -> Result<(), Refusal> {
    check_judge(config)?;
    let nodes = u64::from(config.nodes);
    let epochs = config.epochs(config.duration) + config.epochs(config.settle());
    if epochs * nodes > UPDATES_MAX {
        let limit =
            format!("{epochs} epochs of {nodes} clocks are more than {UPDATES_MAX} updates");
        let remedy = "shorten duration or settle, or take fewer nodes";
        return Err(Refusal::new("duration", config.duration, limit, remedy));
    }
    check_failures(config)
}

fn check_judge(config: &ClockConfig) -> Result<(), Refusal> {
    let sampling = config.judge.sampling.unwrap_or(config.epoch);
    check_range("judge.sampling", sampling, config.epoch..=config.duration).map_err(|refusal| {
        let remedy = "take a whole number of epochs, up to duration".to_owned();
        Refusal { remedy, ..refusal }
    })?;
    let nodes = u64::from(config.nodes);
    if config.epochs(config.duration) / config.epochs(sampling) * nodes > SAMPLES_MAX {
        let limit = format!("more than {SAMPLES_MAX} samples of a clock");
        let remedy = "raise it, or shorten duration";
        return Err(Refusal::new("judge.sampling", sampling, limit, remedy));
    }
    if let Some(bandwidth) = config.judge.bandwidth {
        let highest = Hertz(0.5 / config.epoch.as_secs_f64());
        check_range("judge.bandwidth", bandwidth, Hertz(1e-3)..=highest)?;
    }
    if let Some(day) = &config.day {
        if (day.duration.0 / day.step.0) as u64 * nodes > SAMPLES_MAX {
            let limit = format!("more than {SAMPLES_MAX} steps of a clock");
            return Err(Refusal::new("day.step", day.step, limit, "raise it"));
        }
    }
    Ok(())
}

fn check_failures(config: &ClockConfig) -> Result<(), Refusal> {
    let mut failed = vec![false; config.nodes as usize];
    for (at, death) in config.die.iter().enumerate() {
        let Death { node, missed, .. } = *death;
        check_node(&format!("die[{at}].node"), node, config)?;
        check_moment(&format!("die[{at}].at"), death.at, config)?;
        check_range(format!("die[{at}].missed"), missed, 1..=1_000_000)?;
        if std::mem::replace(&mut failed[node as usize], true) {
            let (limit, remedy) = ("dies twice", "name every node once");
            return Err(Refusal::new(format!("die[{at}].node"), node, limit, remedy));
        }
    }
    if let Some(byzantine) = &config.byzantine {
        for (at, &node) in byzantine.nodes.iter().enumerate() {
            check_node(&format!("byzantine.nodes[{at}]"), node, config)?;
            failed[node as usize] = true;
        }
        check_moment("byzantine.at", byzantine.at, config)?;
        let sizes = Picoseconds(-1e9)..=Picoseconds(1e9);
        check_range("byzantine.size", byzantine.size, sizes)?;
        check_range("byzantine.speed", byzantine.speed, Ppm(-1e6)..=Ppm(1e6))?;
    }
    let sound = failed.iter().filter(|&&failed| !failed).count();
    if sound < 2 {
        let key = if config.die.is_empty() {
            "byzantine.nodes"
        } else {
            "die"
        };
        let limit = "fewer than two fault-free nodes are left to be compared";
        return Err(Refusal::new(
            key,
            format!("{} failed", failed.len() - sound),
            limit,
            "spare two",
        ));
    }
    Ok(())
}

fn check_node(key: &str, node: u32, config: &ClockConfig) -> Result<(), Refusal> {
    if node < config.nodes {
        return Ok(());
    }
    let limit = format!("nodes are numbered from 0 to {}", config.nodes - 1);
    Err(Refusal::new(key, node, limit, "name one of them"))
}

fn check_moment(key: &str, at: Time, config: &ClockConfig) -> Result<(), Refusal> {
    if at < config.duration {
        return Ok(());
    }
    let limit = format!(
        "the run ends {} after the clocks have settled",
        config.duration
    );
    Err(Refusal::new(
        key,
        at,
        limit,
        "let it be earlier, or raise duration",
    ))
}
