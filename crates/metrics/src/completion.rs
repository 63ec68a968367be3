//! Completion times and slowdowns: of the delivered flows, and bounds on those of all offered
//! flows.

use crate::bounds::{micros, taken, Bound, Bounded, FctBound, Taken};
use crate::percentile::{mean, percentile};
use crate::room::Room;
use lightloom_engine::{Cluster, Flows, Nic, Rate, Time};
use serde::Serialize;

/// Flows below this size are short [B] (Sirius §7).
pub const SHORT_BYTES: u64 = 100_000;

/// Completion times of all flows, the short ones (under 100 KB) and the long ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FctClasses {
    /// Every completed flow.
    pub all: Fct,
    /// Completed flows under [`SHORT_BYTES`].
    pub short: Fct,
    /// The other completed flows.
    pub long: Fct,
}

/// Completion times of a class [µs]; null if none of its flows completed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Fct {
    /// Median.
    pub p50_us: Option<f64>,
    /// 99th percentile.
    pub p99_us: Option<f64>,
    /// Mean.
    pub mean_us: Option<f64>,
}

/// Slowdowns of completed flows; null if none completed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Slowdown {
    /// Median.
    pub p50: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
}

/// Bounds on the completion times of all offered flows, finished or not.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FctBounds {
    /// Every flow.
    pub all: FctBound,
    /// Flows under [`SHORT_BYTES`].
    pub short: FctBound,
    /// All other flows.
    pub long: FctBound,
}

/// Bounds on the slowdowns of all offered flows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SlowdownBound {
    /// Median.
    pub p50: Bound,
    /// 99th percentile.
    pub p99: Bound,
}

impl FctClasses {
    /// The classes of the completely delivered flows.
    pub(crate) fn of(flows: &Flows) -> FctClasses {
        let (mut short, mut long) = (Vec::new(), Vec::new());
        for (f, fct) in completed(flows) {
            let class = if flows.bytes[f] < SHORT_BYTES {
                &mut short
            } else {
                &mut long
            };
            class.push(fct);
        }
        let mut all = [short.as_slice(), &long].concat();
        FctClasses {
            all: Fct::of(&mut all),
            short: Fct::of(&mut short),
            long: Fct::of(&mut long),
        }
    }
}

impl Fct {
    /// The statistics of these times, which are sorted in place.
    pub(crate) fn of(times: &mut [Time]) -> Fct {
        times.sort_unstable();
        Fct {
            p50_us: percentile(times, 50).map(micros),
            p99_us: percentile(times, 99).map(micros),
            mean_us: mean(times.iter().map(|&t| micros(t))),
        }
    }
}

impl Slowdown {
    /// The slowdowns of the completely delivered flows.
    pub(crate) fn of(cluster: &Cluster, flows: &Flows) -> Slowdown {
        let mut ratios: Vec<f64> = completed(flows)
            .map(|(f, fct)| fct.0 as f64 / ideal(cluster, flows.bytes[f]).0 as f64)
            .collect();
        ratios.sort_unstable_by(f64::total_cmp);
        Slowdown {
            p50: percentile(&ratios, 50),
            p99: percentile(&ratios, 99),
        }
    }
}

impl FctBounds {
    /// The bounds for the `offered` flows, as known when the run `ended`.
    pub(crate) fn of(flows: &Flows, offered: &[usize], ended: Time, room: Room) -> FctBounds {
        let class = |belongs: &dyn Fn(u64) -> bool| {
            let rows = offered.iter().filter(|&&f| belongs(flows.bytes[f]));
            let times: Vec<Taken> = rows.map(|&f| taken(flows, f, ended)).collect();
            FctBound::of(&times, room)
        };
        FctBounds {
            all: class(&|_| true),
            short: class(&|bytes| bytes < SHORT_BYTES),
            long: class(&|bytes| bytes >= SHORT_BYTES),
        }
    }
}

impl SlowdownBound {
    /// The same for slowdowns.
    pub(crate) fn of(
        cluster: &Cluster,
        flows: &Flows,
        offered: &[usize],
        ended: Time,
        room: Room,
    ) -> SlowdownBound {
        let ratio = |&f: &usize| {
            let Taken { least, done } = taken(flows, f, ended);
            let least = least / micros(ideal(cluster, flows.bytes[f]));
            Taken { least, done }
        };
        let ratios: Vec<Taken> = offered.iter().map(ratio).collect();
        let ratios = Bounded::of(&ratios, room);
        SlowdownBound {
            p50: ratios.percentile(50),
            p99: ratios.percentile(99),
        }
    }
}

/// The completion time that slowdown is relative to: all bytes at the rate of the server's link; if
/// the NIC is uncapped, at the rate of its rack's base uplinks. It is the same for every fabric, so
/// that slowdowns are comparable. It includes no propagation and no switching, and a fabric with
/// more uplinks than the base can be faster.
pub fn ideal(cluster: &Cluster, bytes: u64) -> Time {
    let rate = match cluster.nic {
        Nic::Uncapped => cluster.rack_rate(),
        Nic::Capped(rate) => Rate(rate.0.min(cluster.rack_rate().0)),
    };
    rate.time_for(bytes)
}

/// Completed flows with their completion times.
fn completed(flows: &Flows) -> impl Iterator<Item = (usize, Time)> + '_ {
    (0..flows.len())
        .filter(|&f| flows.finish[f] != Time::NEVER)
        .map(|f| (f, flows.finish[f] - flows.arrival[f]))
}
