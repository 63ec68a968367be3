//! Clock and data recovery: the time that a receiver needs before it samples another sender
//! correctly.
//!
//! With phase caching (Sirius §4.5, A.1) the receiver stores the phase of every sender, updates it
//! at every visit and starts with it; its error is drift × age plus jitter. A change of leader
//! moves all phases, and a missed visit doubles the age. The stored phase is then invalid, and the
//! receiver locks again like a burst-mode receiver.
//!
//! **Calibration**: less than 1 ns with a valid cache, modelled as 1 ns; 8 ns in burst mode;
//! hundreds of microseconds off the shelf, modelled as 100 µs. All three are bounds of the paper
//! (§4.5, A.1). Drift, jitter and tolerance are assumed; the paper states none.

use crate::quantity::Drift;
use lightloom_engine::{check_range, Refusal, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Method by which a receiver recovers the clock of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// The receiver stores the phase of every sender: less than 1 ns (Sirius §4.5).
    #[default]
    PhaseCaching,
    /// The receiver locks anew for every cell: 8 ns or longer (A.1).
    BurstMode,
    /// An off-the-shelf receiver: hundreds of microseconds (A.1).
    Standard,
}

impl Recovery {
    /// The lock time of the paper.
    pub fn usual(self) -> Time {
        match self {
            Recovery::PhaseCaching => Time::NS,
            Recovery::BurstMode => Time::NS * 8,
            Recovery::Standard => Time::US * 100,
        }
    }
}

/// Clock and data recovery of a design.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Cdr {
    /// Method of clock recovery.
    pub kind: Recovery,
    /// Time of clock recovery in the guardband [time]. Default: 1 ns, 8 ns or 100 us, by `kind`.
    pub lock: Option<Time>,
    /// Drift of a sender's phase between its cells [ppm]; assumed.
    pub drift: Drift,
    /// Jitter of a stored phase, as standard deviation [time]; assumed.
    pub jitter: Time,
    /// Largest tolerated error of the phase [symbols]; assumed.
    pub tolerance: f64,
}

impl Default for Cdr {
    fn default() -> Self {
        Cdr {
            kind: Recovery::PhaseCaching,
            lock: None,
            drift: Drift(0.1),
            jitter: Time(1),
            tolerance: 0.1,
        }
    }
}

/// The multiple of the jitter's standard deviation that is counted.
const SIGMAS: f64 = 3.0;

impl Cdr {
    /// The lock time in the guardband.
    pub fn lock(&self) -> Time {
        self.lock.unwrap_or(self.kind.usual())
    }

    /// The error of a cached phase of this age, including three standard deviations of the jitter
    /// [ps].
    pub fn error(&self, age: Time) -> f64 {
        self.drift.0 * 1e-6 * age.0 as f64 + SIGMAS * self.jitter.0 as f64
    }

    /// The greatest age at which a phase is accurate enough; `None` if jitter alone is too large.
    pub fn oldest(&self, symbol: Time) -> Option<Time> {
        let left = self.tolerance * symbol.0 as f64 - SIGMAS * self.jitter.0 as f64;
        let age = left / (self.drift.0 * 1e-6);
        // A phase that does not drift has no greatest age.
        (left >= 0.0).then(|| {
            if age.is_finite() {
                Time(age as i64)
            } else {
                Time::NEVER
            }
        })
    }

    /// Refuses impossible values.
    ///
    /// # Errors
    /// Names keys below `at`.
    pub fn check(&self, at: &str) -> Result<(), Refusal> {
        check_range(format!("{at}.cdr.lock"), self.lock(), Time::ZERO..=Time::MS)?;
        check_range(
            format!("{at}.cdr.drift"),
            self.drift,
            Drift(0.0)..=Drift(1000.0),
        )?;
        check_range(
            format!("{at}.cdr.jitter"),
            self.jitter,
            Time::ZERO..=Time::NS,
        )?;
        check_range(format!("{at}.cdr.tolerance"), self.tolerance, 0.0..=0.5)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Kept {
    phase: f64,
    at: Time,
}

/// The phases that a receiver stores, one for each sender and wavelength.
#[derive(Clone, Debug)]
pub struct PhaseCache {
    wavelengths: u32,
    kept: Vec<Option<Kept>>,
}

impl PhaseCache {
    /// An empty cache.
    pub fn new(sources: u32, wavelengths: u32) -> PhaseCache {
        let size = (sources * wavelengths) as usize;
        PhaseCache {
            wavelengths,
            kept: vec![None; size],
        }
    }

    fn index(&self, source: u32, wavelength: u32) -> usize {
        (source * self.wavelengths + wavelength) as usize
    }

    /// Stores the phase of a cell [ps], measured when it arrived.
    pub fn visit(&mut self, source: u32, wavelength: u32, at: Time, phase: f64) {
        let index = self.index(source, wavelength);
        self.kept[index] = Some(Kept { phase, at });
    }

    /// Discards the stored phase after a missed visit, because it is one visit too old.
    pub fn missed(&mut self, source: u32, wavelength: u32) {
        let index = self.index(source, wavelength);
        self.kept[index] = None;
    }

    /// Discards all stored phases, because all nodes follow another clock.
    pub fn leader_changed(&mut self) {
        self.kept.fill(None);
    }

    /// The stored phase [ps] for a cell and its age; `None` if no valid phase is stored.
    pub fn recall(&self, source: u32, wavelength: u32, now: Time) -> Option<(f64, Time)> {
        let kept = self.kept[self.index(source, wavelength)]?;
        Some((kept.phase, now - kept.at))
    }

    /// Time in which a receiver locks to a cell: its own time if the stored phase is accurate
    /// enough, otherwise that of a burst-mode receiver.
    pub fn lock(&self, cdr: &Cdr, symbol: Time, visit: (u32, u32, Time)) -> Time {
        let (source, wavelength, now) = visit;
        let valid = self
            .recall(source, wavelength, now)
            .zip(cdr.oldest(symbol))
            .is_some_and(|((_, age), oldest)| age <= oldest);
        if valid {
            cdr.lock()
        } else {
            Recovery::BurstMode.usual().max(cdr.lock())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYMBOL: Time = Time(40);

    #[test]
    fn error_is_drift_times_age_and_jitter() {
        let cdr = Cdr::default();
        // 0.1 ppm of 1.6 us, plus three times 1 ps.
        assert!((cdr.error(Time(1_600_000)) - 3.16).abs() < 1e-12);
        // 0.1 of 40 ps minus 3 ps, at 0.1 ps per microsecond.
        assert_eq!(cdr.oldest(SYMBOL), Some(Time::US * 10));
        assert_eq!(
            Cdr {
                jitter: Time(2),
                ..cdr
            }
            .oldest(SYMBOL),
            None
        );
        let still = Cdr {
            drift: Drift(0.0),
            ..cdr
        };
        assert_eq!(still.oldest(SYMBOL), Some(Time::NEVER));
    }

    #[test]
    fn a_phase_is_kept_until_the_leader_changes_or_a_visit_is_missed() {
        let cdr = Cdr::default();
        let mut cache = PhaseCache::new(4, 4);
        let epoch = Time(1_600_000);
        let lock = |cache: &PhaseCache, n: i64| cache.lock(&cdr, SYMBOL, (2, 3, epoch * n));
        assert_eq!(lock(&cache, 0), Time::NS * 8);
        cache.visit(2, 3, Time::ZERO, 11.5);
        assert_eq!(cache.recall(2, 3, epoch), Some((11.5, epoch)));
        assert_eq!(cache.recall(3, 2, epoch), None);
        assert_eq!(lock(&cache, 1), Time::NS);
        assert_eq!(lock(&cache, 7), Time::NS * 8, "older than 10 us");
        cache.missed(2, 3);
        assert_eq!(lock(&cache, 1), Time::NS * 8);
        cache.visit(2, 3, epoch, 11.6);
        cache.leader_changed();
        assert_eq!(lock(&cache, 2), Time::NS * 8);
    }
}
