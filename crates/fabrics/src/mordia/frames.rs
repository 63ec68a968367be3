//! The set-up times of circuits, and the times at which racks assume that circuits are set up
//! (Mordia, SIGCOMM 2013, §5.2.1, §6.1, §6.2).
//!
//! A synchronisation frame informs every rack that its circuit has been set up, and for how long.
//! Frames arrive early or late by a jitter, and a few are received at the wrong time. A rack counts
//! its day from the frame. It passes packets to its interface until the end of the day minus the
//! delay of the interface, so that the last packet has left when the day ends. If the frame was
//! late, the rack is stopped by the frame that announces the next night; packets that are then in
//! its interface are sent while the circuit is dark.
//!
//! Assumed where the paper is silent: jitter is normally distributed about the right time; a frame
//! at the wrong time is late by up to one day; the frame of the tear-down is on time.

use crate::tdma::burst::Window;
use crate::tdma::days::SlotTimes;
use lightloom_engine::rng::Stream;
use lightloom_engine::Time;
use rand_distr::{Distribution, StandardNormal};

/// The distributions of set-up times and frame times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Punctuality {
    /// t_setup: from the tear-down to first light, on average.
    pub night: Time,
    /// Its standard deviation.
    pub night_deviation: Time,
    /// Mean absolute deviation of a frame from its right time.
    pub sync_jitter: Time,
    /// Share of frames that are received at the wrong time.
    pub late_sync_fraction: f64,
    /// Time that a packet spends in a rack's interface.
    pub nic_delay: Time,
}

impl Punctuality {
    /// Equal nights, frames on time, interfaces without delay.
    pub fn exact(night: Time) -> Punctuality {
        Punctuality {
            night,
            night_deviation: Time::ZERO,
            sync_jitter: Time::ZERO,
            late_sync_fraction: 0.0,
            nic_delay: Time::ZERO,
        }
    }
}

/// Draws the time of first light and the times of synchronisation frames.
#[derive(Clone, Debug)]
pub struct Frames {
    /// How punctual they are.
    pub law: Punctuality,
    nights: Stream,
    racks: Vec<Stream>,
}

impl Frames {
    /// For `racks` racks.
    pub fn new(law: Punctuality, racks: u32, seed: u64) -> Frames {
        let frames = |rack| Stream::new(seed, "synchronisation frames", u64::from(rack));
        Frames {
            law,
            nights: Stream::new(seed, "nights", 0),
            racks: (0..racks).map(frames).collect(),
        }
    }

    /// The time of first light in a slot; the end of the slot if the night is longer.
    pub fn light(&mut self, slot: &SlotTimes) -> Time {
        let deviation = self.law.night_deviation;
        let more = match deviation {
            Time::ZERO => Time::ZERO,
            _ => normal(&mut self.nights, deviation),
        };
        let night = (self.law.night + more).max(Time::ZERO);
        (slot.begins + night).min(slot.ends)
    }

    /// Whether the frames reach all racks on time, so that all send during the same window.
    pub fn are_punctual(&self) -> bool {
        self.law.sync_jitter == Time::ZERO && self.law.late_sync_fraction == 0.0
    }

    /// Draws the lateness of a rack's next frame, and returns the window in which the rack sends in
    /// a slot that is lit from `light` on.
    pub fn window(&mut self, rack: u32, slot: &SlotTimes, light: Time) -> Window {
        let day = slot.ends - slot.first_light;
        let told = (slot.first_light + self.lateness(rack, day)).max(slot.begins);
        let delay = self.law.nic_delay;
        Window {
            from: told + delay,
            until: (told + day).min(slot.ends + delay),
            light,
            dark: slot.ends,
        }
    }

    fn lateness(&mut self, rack: u32, day: Time) -> Time {
        if self.are_punctual() {
            return Time::ZERO;
        }
        // The mean absolute deviation of a normal distribution is σ √(2/π).
        let sigma = self.law.sync_jitter.0 as f64 * (std::f64::consts::PI / 2.0).sqrt();
        let stream = &mut self.racks[rack as usize];
        match stream.unit() < self.law.late_sync_fraction {
            true => Time((stream.unit() * day.0 as f64) as i64),
            false => normal(stream, Time(sigma as i64)),
        }
    }
}

fn normal(stream: &mut Stream, sigma: Time) -> Time {
    let z: f64 = StandardNormal.sample(stream);
    Time((z * sigma.0 as f64) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOT: SlotTimes = SlotTimes {
        begins: Time(1_000_000_000),
        first_light: Time(1_011_500_000),
        ends: Time(1_106_000_000),
    };

    fn law() -> Punctuality {
        Punctuality::exact(Time(11_500_000))
    }

    #[test]
    fn on_time_the_window_is_the_day_less_the_delay_of_the_interface() {
        let nic_delay = Time::US * 23;
        let mut frames = Frames::new(Punctuality { nic_delay, ..law() }, 2, 1);
        let light = frames.light(&SLOT);
        assert_eq!(light, SLOT.first_light);
        let window = frames.window(1, &SLOT, light);
        assert_eq!(
            (window.from, window.until),
            (SLOT.first_light + nic_delay, SLOT.ends)
        );
        assert!(window.is_lit());
    }

    /// 20,000 nights: the mean is accurate to 0.1 σ √(1/200), the standard deviation to 2 %.
    #[test]
    fn nights_are_normal() {
        let night_deviation = Time(2_360_000);
        let mut frames = Frames::new(
            Punctuality {
                night_deviation,
                ..law()
            },
            1,
            7,
        );
        let nights: Vec<f64> = (0..20_000)
            .map(|_| (frames.light(&SLOT) - SLOT.begins).0 as f64 * 1e-6)
            .collect();
        let mean = nights.iter().sum::<f64>() / 2e4;
        let spread = nights.iter().map(|n| (n - mean).powi(2)).sum::<f64>() / 2e4;
        assert!((mean - 11.5).abs() < 0.05, "{mean}");
        assert!((spread.sqrt() - 2.36).abs() < 0.05, "{}", spread.sqrt());
    }

    /// Half of the frames are late: a window that is late by x loses x at its end, so E max(x, 0) =
    /// 0.5 µs of 94.5 µs are lost. A frame at the wrong time loses at most the contents of the
    /// interface.
    #[test]
    fn late_frames_end_in_the_dark() {
        let mean_overrun = |law: Punctuality| {
            let mut frames = Frames::new(law, 1, 3);
            let over = (0..20_000).map(|_| {
                let window = frames.window(0, &SLOT, SLOT.first_light);
                assert!(window.until <= SLOT.ends + law.nic_delay);
                (window.until - SLOT.ends).max(Time::ZERO).0 as f64 * 1e-6
            });
            over.sum::<f64>() / 2e4
        };
        let nic_delay = Time::US * 23;
        let jitter = Punctuality {
            sync_jitter: Time::US,
            nic_delay,
            ..law()
        };
        let over = mean_overrun(jitter);
        assert!((over - 0.5).abs() < 0.02, "{over}");
        // Late by u in (0, 94.5): min(u, 23) is 23 - 23²/(2 · 94.5) = 20.2 µs on average.
        let late = Punctuality {
            late_sync_fraction: 1.0,
            nic_delay,
            ..law()
        };
        let over = mean_overrun(late);
        assert!((over - 20.2).abs() < 0.2, "{over}");
    }
}
