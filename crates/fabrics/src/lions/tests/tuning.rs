//! The cost of tuning, below and above the guard of 13.6 ns: it adds latency, because the delay
//! line is longer, and it occupies hosts, but not receivers.

use super::super::theory::{fixed_service_wait, Uniform};
use super::traffic::poisson_in;
use super::*;
use lightloom_engine::HostId;

/// 256 B and 5 B of header at 10 Gb/s.
const WIRE: Time = Time(208_800);
/// 17 B.
const GUARD: Time = Time(13_600);

/// A table with defaults except the tuning time, and the time of a packet at its host.
fn tuned(architecture: &str, k: u32, tuning: Time) -> (Value, Time) {
    let table = json!({
        "architecture": architecture, "receivers": k, "tuning": tuning.to_string(),
    });
    (table, WIRE + GUARD.max(tuning))
}

fn nanoseconds<const N: usize>(ns: [i64; N]) -> [Time; N] {
    ns.map(|ns| Time::NS * ns)
}

/// If packets of hosts do not meet, each host is a queue with fixed service (M/D/1): latency is
/// transmission time, 10 m of fibre in each direction, delay line and wait.
#[test]
fn tuning_delays_and_takes_time_of_hosts() {
    for (architecture, hosts, load) in [("dlb", 16, 0.5), ("slb", 8, 0.6), ("ao-nack", 16, 0.4)] {
        for tuning in nanoseconds([0, 4, 10, 50, 109]) {
            let (table, slot) = tuned(architecture, 4, tuning);
            // The same number of packets per second for every tuning time.
            let utilisation = load * slot.0 as f64 / (WIRE + GUARD).0 as f64;
            let slots = 480_000 / hosts as usize;
            let mut flows = poisson_in(slot, 256, hosts, utilisation, slots, 5);
            for f in 0..flows.len() {
                flows.dst[f] = HostId((flows.src[f].0 + 1) % hosts);
            }
            let (io, _) = simulate(hosts, &table, flows, Stop::Drain);
            let alone = (WIRE + Time::NS * 100 + tuning).0 as f64 / slot.0 as f64;
            let theory = alone + fixed_service_wait(utilisation);
            let got = Estimate::of(&latencies_in(slot, &io));
            got.agrees(
                theory,
                0.0,
                &format!("{architecture} N {hosts} p {load} {tuning}"),
            );
        }
    }
}

/// A receiver is occupied only for packet and guard: the throughput is K/(K + (wire + guard)/slot)
/// per slot of the host if losers are dropped. With AO-NACK losers return a slot later, to outputs
/// that are busier than others: the throughput equals the formula for tuning times up to the guard,
/// and is at most 6 % lower beyond.
#[test]
fn tuning_takes_no_time_of_receivers() {
    for (hosts, k) in [(64, 1), (64, 4), (16, 2)] {
        for tuning in nanoseconds([4, 50, 109]) {
            let slots = 256_000 / hosts as usize;
            let saturated = |architecture: &str| {
                let (table, slot) = tuned(architecture, k, tuning);
                let table = with(table, json!({"fibre": "0 m"}));
                let flows = poisson_in(slot, 256, hosts, 1.5, slots, 5);
                let (io, _) = simulate(hosts, &table, flows, Stop::At(slot * slots as i64));
                Estimate::of(&delivered_in(slot, &io, hosts, slots))
            };
            let heard = (WIRE + GUARD).0 as f64 / (WIRE + GUARD.max(tuning)).0 as f64;
            let theory = Uniform::new(hosts, k, 1.0).unslotted_saturation(heard);
            let what = format!("N {hosts} k {k} {tuning}");
            saturated("drop").agrees(theory, 0.002, &what);
            let nack = saturated("ao-nack");
            match tuning > GUARD {
                true => nack.is_from(0.94 * theory, theory, &what),
                false => nack.agrees(theory, 0.002, &what),
            }
        }
    }
}

/// Stored packets keep the receivers of a hot spot busy for any tuning time, because there are more
/// transmitters than receivers.
#[test]
fn a_hot_spot_does_not_feel_tuning() {
    let slot = WIRE + GUARD;
    for (hosts, k) in [(64, 4), (16, 2)] {
        for tuning in nanoseconds([4, 50, 109]) {
            let (table, _) = tuned("dlb", k, tuning);
            let mut flows = poisson_in(slot, 256, hosts, 1.5 * k as f64 / hosts as f64, 4_000, 3);
            flows.dst.fill(HostId(5));
            let (io, _) = simulate(hosts, &table, flows, Stop::At(slot * 4_000));
            let got = Estimate::of(&delivered_in(slot, &io, 1, 4_000));
            got.agrees(k as f64, 0.002, &format!("N {hosts} k {k} {tuning}"));
        }
    }
}
