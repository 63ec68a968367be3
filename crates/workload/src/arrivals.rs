//! Arrival times of flows.
//!
//! At load L, flows arrive every τ = F / (R · N · L) on average (Sirius §7, where the servers'
//! aggregate rate R · N at L = 1 gives τ = 15.6 ns): F is the mean of the size distribution in use,
//! not of the sample; R the server rate, N the number of servers. Times are integer picoseconds.
//! The remaining fraction is carried to the next gap, so that the rate does not drift for any τ.

use crate::patterns::Pairs;
use lightloom_engine::{Cluster, Refusal, Stream, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::kinded::NoKeys;
pub use crate::times::FromFile;

/// The latest arrival [ps], 53 days: half of the clock's range.
pub const MAX_ARRIVAL: Time = Time(1 << 62);

kinded! {
    /// Arrival process of flows: a name, or a table with a `kind`.
    #[schemars(transform = with_names)]
    pub enum Arrivals, "arrivals", named by by_name {
        /// A Poisson process with the rate of `workload.load` (Sirius §7), or with a given rate.
        Poisson(Poisson) = "poisson",
        /// All flows arrive at time zero.
        AtOnce(NoKeys) = "at-once",
        /// Flows arrive at equal intervals, the first at time zero.
        FixedGap(FixedGap) = "fixed-gap",
        /// In each slot every server sends a flow with a fixed probability (Bernoulli arrivals).
        Bernoulli(Bernoulli) = "bernoulli",
        /// Every server sends at equal intervals, with its own offset (LIONS §III: a fixed guard
        /// time between packets).
        Paced(NoKeys) = "paced",
        /// Arrival times from a file; sizes and destinations are drawn.
        File(FromFile) = "file",
    }
}

/// A Poisson process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Poisson {
    /// Mean time between events [s]; an event is a flow, or an incast with all its flows. Default:
    /// derived from the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Time>,
}

/// Flows arrive at equal intervals, the first at time zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixedGap {
    /// Time between flows [s]. Default: derived from `workload.load`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<Time>,
}

/// In each slot every server sends a flow with a probability that follows from
/// the load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bernoulli {
    /// Length of a slot [s], for example the transmission time of a packet.
    pub slot: Time,
}

fn with_names(schema: &mut schemars::Schema) {
    crate::kinded::or_names(schema, &["poisson", "at-once", "fixed-gap", "paced"]);
}

fn by_name<E: serde::de::Error>(name: &str) -> Result<Arrivals, E> {
    crate::kinded::kind_alone(name, Arrivals::KINDS)
}

impl Default for Arrivals {
    fn default() -> Arrivals {
        Arrivals::Poisson(Poisson::default())
    }
}

impl Arrivals {
    /// Whether the arrival rate follows from `workload.load`.
    pub fn needs_load(&self) -> bool {
        match self {
            Arrivals::Bernoulli(_) | Arrivals::Paced(_) => true,
            Arrivals::Poisson(p) => p.every.is_none(),
            Arrivals::AtOnce(_) | Arrivals::File(_) => false,
            Arrivals::FixedGap(g) => g.gap.is_none(),
        }
    }

    /// The times of all arrivals, in order, if a file holds them.
    ///
    /// # Errors
    /// If the file cannot be read, or contains anything but times.
    pub(crate) fn times(&self) -> Result<Option<Vec<Time>>, Refusal> {
        match self {
            Arrivals::File(from) => from.times().map(Some),
            _ => Ok(None),
        }
    }

    /// The mean gap between flows of `pairs` [ps] if sizes have `mean` bytes and every server
    /// sends; 0 if no distribution gives it.
    ///
    /// # Errors
    /// If the load is missing, out of range, or set without effect.
    pub fn mean_gap(
        &self,
        load: Option<f64>,
        mean: f64,
        pairs: &dyn Pairs,
        cluster: &Cluster,
    ) -> Result<f64, Refusal> {
        let load = self.checked(load)?;
        if matches!(self, Arrivals::Poisson(p) if p.every == Some(Time::ZERO)) {
            return Err(Refusal::new(
                "workload.arrivals.every",
                Time::ZERO,
                "must be longer than 0",
                "raise it, or use arrivals = \"at-once\"",
            ));
        }
        Ok(match self {
            Arrivals::AtOnce(_) | Arrivals::File(_) => 0.0,
            Arrivals::FixedGap(FixedGap { gap: Some(gap) }) => gap.0 as f64,
            Arrivals::Poisson(Poisson { every: Some(every) }) => {
                every.0 as f64 * pairs.senders() / pairs.burst() as f64
            }
            _ => tau(mean, cluster, load),
        })
    }

    /// Its kind, with the rate if it is a Poisson process with its own rate.
    fn with_its_rate(&self) -> String {
        match self {
            Arrivals::Poisson(Poisson { every: Some(every) }) => {
                format!("{} (every = {every})", self.kind())
            }
            _ => self.kind().to_owned(),
        }
    }

    fn checked(&self, load: Option<f64>) -> Result<f64, Refusal> {
        let refuse = |value: String, limit: String, remedy: &str| {
            Err(Refusal::new("workload.load", value, limit, remedy))
        };
        match (load, self.needs_load()) {
            (None, true) => refuse(
                "(missing)".to_owned(),
                format!("{} arrivals need a load", self.kind()),
                "add it, such as load = 0.5",
            ),
            (Some(load), true) => check_load(load).map(|()| load),
            (Some(load), false) => refuse(
                load.to_string(),
                format!("has no effect on {} arrivals", self.with_its_rate()),
                "remove it, or use arrivals = \"poisson\"",
            ),
            (load, _) => Ok(load.unwrap_or(0.0)),
        }
    }
}

/// Refuses a load that is not a positive number, or is too large.
pub(crate) fn check_load(load: f64) -> Result<(), Refusal> {
    let refuse =
        |limit: &str, remedy: &str| Err(Refusal::new("workload.load", load, limit, remedy));
    if !(load.is_finite() && load > 0.0) {
        return refuse(
            "must be a number above 0",
            "raise it: 0.5 is half of the servers' capacity",
        );
    }
    if load > 10.0 {
        return refuse(
            "must be at most 10, ten times the servers' capacity",
            "write a fraction (0.5, not 50), or use arrivals = \"at-once\"",
        );
    }
    Ok(())
}

/// τ = F / (R · N · L) [ps].
fn tau(mean: f64, cluster: &Cluster, load: f64) -> f64 {
    let capacity = cluster.server_rate.0 as f64 * cluster.hosts() as f64;
    mean * 8.0 * 1e12 / (capacity * load)
}

/// Yields arrival times.
#[derive(Debug)]
pub(crate) struct Clock {
    random: bool,
    gap: f64,
    now: i64,
    /// The fraction of a picosecond that remains from the last gap, in [0, 1).
    rest: f64,
    first: bool,
    rng: Stream,
    /// The remaining arrivals, if they are from a file.
    given: Option<std::vec::IntoIter<Time>>,
}

impl Clock {
    /// A clock whose gaps have the mean `gap` [ps].
    pub fn new(arrivals: &Arrivals, gap: f64, rng: Stream) -> Clock {
        Clock {
            random: matches!(arrivals, Arrivals::Poisson(_)),
            gap,
            now: 0,
            rest: 0.0,
            first: true,
            rng,
            given: None,
        }
    }

    /// A clock with these arrival times.
    pub fn given(times: Vec<Time>, rng: Stream) -> Clock {
        Clock {
            given: Some(times.into_iter()),
            ..Clock::new(&Arrivals::AtOnce(NoKeys {}), 0.0, rng)
        }
    }

    /// The next arrival; `None` if it is beyond [`MAX_ARRIVAL`] or after the last given time.
    pub fn next(&mut self) -> Option<Time> {
        if let Some(times) = &mut self.given {
            return times.next();
        }
        let gap = match (self.random, std::mem::take(&mut self.first)) {
            (true, _) => -self.gap * (-self.rng.unit()).ln_1p(),
            (false, true) => 0.0,
            (false, false) => self.gap,
        } + self.rest;
        if gap > (MAX_ARRIVAL.0 - self.now) as f64 {
            return None;
        }
        self.rest = gap.fract();
        self.now += gap as i64;
        Some(Time(self.now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_engine::{Nic, Rate};

    fn sirius() -> Cluster {
        Cluster {
            racks: 128,
            servers_per_rack: 24,
            server_rate: Rate(400_000_000_000 / 24),
            nic: Nic::Uncapped,
        }
    }

    fn any() -> Box<dyn Pairs> {
        let rng = &mut Stream::new(5, "p", 0);
        crate::Pattern::default().pairs(&sirius(), rng).unwrap()
    }

    fn times(arrivals: &Arrivals, gap: f64, n: usize) -> Vec<i64> {
        let mut clock = Clock::new(arrivals, gap, Stream::new(5, "t", 0));
        (0..n).map(|_| clock.next().unwrap().0).collect()
    }

    #[test]
    fn tau_is_the_papers() {
        let gap = Arrivals::default()
            .mean_gap(Some(1.0), 100_000.0, &*any(), &sirius())
            .unwrap();
        assert!((gap - 15_625.0).abs() < 0.01, "{gap}");
    }

    #[test]
    fn poisson_gaps_are_exponential_and_independent() {
        let (n, mean) = (200_000, 15_625.0);
        let at = times(&Arrivals::default(), mean, n);
        let gaps: Vec<f64> = at.windows(2).map(|w| (w[1] - w[0]) as f64 / mean).collect();
        let moment = |k: i32| gaps.iter().map(|g| g.powi(k)).sum::<f64>() / gaps.len() as f64;
        // Standard errors are 1/sqrt(n) of the mean and sqrt(20/n) of the second moment.
        assert!(
            (moment(1) - 1.0).abs() < 4.0 / (n as f64).sqrt(),
            "{}",
            moment(1)
        );
        assert!(
            (moment(2) - 2.0).abs() < 4.0 * (20.0 / n as f64).sqrt(),
            "{}",
            moment(2)
        );
        let lag: f64 = gaps.windows(2).map(|g| (g[0] - 1.0) * (g[1] - 1.0)).sum();
        assert!((lag / n as f64).abs() < 4.0 / (n as f64).sqrt());
        // Kolmogorov–Smirnov against 1 - exp(-x).
        let mut sorted = gaps;
        sorted.sort_by(f64::total_cmp);
        let gap = sorted
            .iter()
            .enumerate()
            .map(|(i, g)| ((i as f64 + 0.5) / sorted.len() as f64 - (1.0 - (-g).exp())).abs())
            .fold(0.0, f64::max);
        assert!(gap < 1.95 / (n as f64).sqrt(), "{gap}");
    }

    #[test]
    fn gaps_below_a_picosecond_do_not_drift() {
        for mean in [0.3, 1.0 / 3.0, 2.5, 15_625.25] {
            let gap = FixedGap { gap: Some(Time(1)) };
            let at = times(&Arrivals::FixedGap(gap), mean, 3_000_001);
            assert!((at[3_000_000] as f64 - 3e6 * mean).abs() <= 1.0, "{mean}");
            assert_eq!(at[0], 0);
        }
        let n = 1_000_000;
        let at = times(&Arrivals::default(), 0.3, n);
        let ratio = at[n - 1] as f64 / (0.3 * n as f64);
        assert!((ratio - 1.0).abs() < 4.0 / (n as f64).sqrt(), "{ratio}");
    }

    #[test]
    fn at_once_is_at_zero() {
        assert_eq!(times(&Arrivals::AtOnce(NoKeys {}), 0.0, 3), [0, 0, 0]);
    }

    #[test]
    fn the_clock_stops_before_it_overflows() {
        let mut clock = Clock::new(&Arrivals::default(), 1e18, Stream::new(5, "t", 0));
        let last = std::iter::from_fn(|| clock.next()).last().unwrap();
        assert!(last <= MAX_ARRIVAL);
    }

    #[test]
    fn loads_out_of_range_are_refused() {
        let poisson = Arrivals::default();
        for load in [0.0, -1.0, f64::NAN, f64::INFINITY, 50.0] {
            let e = poisson
                .mean_gap(Some(load), 1e5, &*any(), &sirius())
                .unwrap_err();
            assert_eq!(
                (e.key.as_str(), e.value),
                ("workload.load", load.to_string())
            );
        }
        assert_eq!(
            poisson
                .mean_gap(None, 1e5, &*any(), &sirius())
                .unwrap_err()
                .to_string(),
            "workload.load = (missing): poisson arrivals need a load; add it, such as load = 0.5"
        );
        let e = Arrivals::AtOnce(NoKeys {})
            .mean_gap(Some(0.5), 1e5, &*any(), &sirius())
            .unwrap_err();
        assert_eq!(e.limit, "has no effect on at-once arrivals");
        let file = "no/such".to_owned();
        let e = Arrivals::File(FromFile { file }).mean_gap(Some(0.5), 1e5, &*any(), &sirius());
        assert_eq!(e.unwrap_err().limit, "has no effect on file arrivals");
    }
}
