//! The time that a laser needs to tune between any two of its wavelengths.

use lightloom_engine::Time;
use serde::Serialize;

/// Tuning times of all ordered pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    /// Wavelengths, W.
    pub wavelengths: u32,
    /// W × W times, one row for each wavelength that is left; 0 on the diagonal.
    pub times: Vec<Time>,
}

/// A distribution of tuning times.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Distribution {
    /// Ordered pairs.
    pub pairs: usize,
    /// The shortest time.
    pub least: Time,
    /// The median.
    pub median: Time,
    /// The 99th percentile.
    pub p99: Time,
    /// The longest time.
    pub worst: Time,
}

/// The median and the longest time of all pairs at one distance in channels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AtDistance {
    /// The distance in channels.
    pub channels: u32,
    /// The median.
    pub median: Time,
    /// The longest time.
    pub worst: Time,
}

impl Tuning {
    /// The tuning times by a function of (from, to).
    pub fn by(wavelengths: u32, time: impl Fn(u32, u32) -> Time) -> Tuning {
        let pairs = (0..wavelengths).flat_map(|from| (0..wavelengths).map(move |to| (from, to)));
        let times = pairs.map(|(from, to)| {
            if from == to {
                Time::ZERO
            } else {
                time(from, to)
            }
        });
        Tuning {
            wavelengths,
            times: times.collect(),
        }
    }

    /// The time from one wavelength to another.
    pub fn between(&self, from: u32, to: u32) -> Time {
        self.times[(from * self.wavelengths + to) as usize]
    }

    /// All ordered pairs with their times.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32, Time)> + '_ {
        let w = self.wavelengths;
        let pairs = (0..w).flat_map(move |from| (0..w).map(move |to| (from, to)));
        pairs
            .filter(|(from, to)| from != to)
            .map(|(from, to)| (from, to, self.between(from, to)))
    }

    /// The distribution over all ordered pairs; `None` for a single wavelength.
    pub fn distribution(&self) -> Option<Distribution> {
        let mut times: Vec<Time> = self.pairs().map(|(_, _, time)| time).collect();
        times.sort_unstable();
        let at = |share: f64| times[((times.len() as f64 * share).ceil() as usize).max(1) - 1];
        (!times.is_empty()).then(|| Distribution {
            pairs: times.len(),
            least: times[0],
            median: at(0.5),
            p99: at(0.99),
            worst: at(1.0),
        })
    }

    /// The tuning times by the distance of pairs in channels.
    pub fn by_distance(&self) -> Vec<AtDistance> {
        let mut apart = vec![Vec::new(); self.wavelengths as usize];
        for (from, to, time) in self.pairs() {
            apart[from.abs_diff(to) as usize].push(time);
        }
        let sorted = apart
            .into_iter()
            .enumerate()
            .filter(|(_, times)| !times.is_empty());
        sorted
            .map(|(channels, mut times)| {
                times.sort_unstable();
                AtDistance {
                    channels: channels as u32,
                    median: times[(times.len() - 1) / 2],
                    worst: times[times.len() - 1],
                }
            })
            .collect()
    }

    /// The longest tuning time in a cyclic schedule over the first `ports` wavelengths: from each
    /// wavelength to the next and from the last to the first.
    pub fn in_turn(&self, ports: u32) -> Time {
        let turns = (0..ports).map(|w| self.between(w, (w + 1) % ports));
        turns.max().unwrap_or_default()
    }
}
