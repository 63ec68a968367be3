//! The limits of a `[[fabric]]` table of Sirius, and the values that follow from it.

use super::queue::MOST;
use super::{Derived, Detail, Mode, Recovery, SiriusConfig};
use crate::ranges::propagation;
use crate::sirius::cell::Cell;
use crate::sirius::schedule::plan::UplinkPlan;
use crate::sirius::schedule::Schedule;
use lightloom_engine::{check_range, Bytes, Cluster, Flows, Refusal, Time};

/// The effect of a relay queue that holds one cell.
const STALLS: &str =
    "below 2, a node can accept the next cell only after it has sent the last one: Sirius §4.3";

impl SiriusConfig {
    /// Completes and checks the table.
    ///
    /// # Errors
    /// A [`Refusal`] of the first key that cannot be met.
    pub fn derive(&self, cluster: &Cluster) -> Result<Derived, Refusal> {
        self.refuse_idle_keys()?;
        self.check_timing()?;
        self.check_protocol()?;
        self.check_mode()?;
        let base = self.base_uplinks(cluster)?;
        let uplinks = self.check_uplinks(cluster, base)?;
        self.check_recovery(cluster)?;
        let schedule = self.schedule(cluster, base, uplinks)?;
        Ok(Derived {
            uplinks,
            base,
            cell: self.check_cell()?,
            epoch: self.check_epoch(&schedule)?,
            schedule,
        })
    }

    fn check_epoch(&self, schedule: &Schedule) -> Result<(i64, i64), Refusal> {
        let (usual, Some(slots)) = (schedule.epoch(), self.epoch_slots) else {
            return Ok(schedule.epoch());
        };
        let least = schedule.epoch_slots();
        let most = 100 * least;
        if slots.fract() == 0.0 && (least as f64..=most as f64).contains(&slots) {
            return Ok((slots as i64, 1));
        }
        let in_force = usual.0 as f64 / usual.1 as f64;
        // The two values are equal at the printed precision.
        if (slots - in_force).abs() <= 5e-4 * in_force {
            return Ok(usual);
        }
        let mut limit = format!(
            "must be a whole number from {least}, within which every pair meets, to {most}"
        );
        if in_force.fract() != 0.0 {
            limit += &format!("; or nodes ÷ uplinks, {}", four_figures(in_force));
        }
        let remedy = format!("use {least} to {most}, or leave it out");
        Err(Refusal::new("fabric.epoch_slots", slots, limit, remedy))
    }

    fn check_timing(&self) -> Result<(), Refusal> {
        let refuse = |key: &str, value: Time, limit: String, remedy: &str| {
            Err(Refusal::new(format!("fabric.{key}"), value, limit, remedy))
        };
        if self.guardband < Time::ZERO {
            return refuse(
                "guardband",
                self.guardband,
                "a guardband is not negative".into(),
                "use 0 ns or more",
            );
        }
        if self.slot <= self.guardband {
            return Err(self.no_room("to send"));
        }
        if self.slot > Time::MS {
            return refuse(
                "slot",
                self.slot,
                "must be at most 1 ms".into(),
                "lower fabric.slot",
            );
        }
        propagation("propagation", self.propagation, Time::MS)?;
        for (key, value) in [
            ("fabric.switch_latency", self.switch_latency),
            ("fabric.fec_latency", self.fec_latency),
            ("fabric.codeword_wait", self.codeword_wait),
        ] {
            check_range(key, value, Time::ZERO..=Time::MS)?;
        }
        if self.channel_rate.0 == 0 {
            return Err(Refusal::new(
                "fabric.channel_rate",
                self.channel_rate,
                "carries nothing",
                "use e.g. \"50 Gb/s\"",
            ));
        }
        Ok(())
    }

    /// The refusal of a slot that its guardband fills; it names the key that is not at its default.
    fn no_room(&self, to_send: &str) -> Refusal {
        let (slot, guardband) = (self.slot, self.guardband);
        let remedy = "raise fabric.slot or lower fabric.guardband";
        if slot == SiriusConfig::default().slot {
            let limit = format!("leaves no time {to_send} in a slot of {slot} (fabric.slot)");
            return Refusal::new("fabric.guardband", guardband, limit, remedy);
        }
        let limit = format!(
            "leaves no time {to_send} beside a guardband of {guardband} (fabric.guardband)"
        );
        Refusal::new("fabric.slot", slot, limit, remedy)
    }

    fn check_mode(&self) -> Result<(), Refusal> {
        if self.mode == Mode::Ideal && self.detail == Detail::Flows {
            return Err(Refusal::new(
                "fabric.mode",
                "ideal",
                "SIRIUS (IDEAL) is modelled by cells only, and fabric.detail is \"flows\"",
                "set fabric.detail = \"cells\", or use mode = \"request_grant\"",
            ));
        }
        Ok(())
    }

    /// Refuses flows with more cells than a cell's number can represent.
    pub(crate) fn check_flows(&self, cell: u64, flows: &Flows) -> Result<(), Refusal> {
        let largest = flows.bytes.iter().copied().max().unwrap_or(0);
        if largest.div_ceil(cell.max(1)) <= Cell::SEQ_MAX {
            return Ok(());
        }
        Err(Refusal::new(
            "fabric.cell",
            Bytes(cell),
            format!(
                "a flow of {} is more than {} cells",
                Bytes(largest),
                Cell::SEQ_MAX
            ),
            "use fabric.detail = \"flows\", raise fabric.cell and fabric.slot, or split the flow",
        ))
    }

    fn check_protocol(&self) -> Result<(), Refusal> {
        check_range("fabric.queue", self.queue, 2..=MOST).map_err(|refusal| Refusal {
            limit: match self.queue {
                0..2 => format!("{} ({STALLS})", refusal.limit),
                _ => refusal.limit,
            },
            ..refusal
        })?;
        check_range("fabric.ideal_window", self.ideal_window, 1..=255)?;
        check_range("fabric.detection_epochs", self.detection_epochs, 1..=255)
    }

    fn check_recovery(&self, cluster: &Cluster) -> Result<(), Refusal> {
        if self.recovery != Recovery::Reschedule {
            return Ok(());
        }
        let refuse = |limit: &str| {
            let remedy = "use recovery = \"degrade\"";
            Err(Refusal::new(
                "fabric.recovery",
                "\"reschedule\"",
                limit,
                remedy,
            ))
        };
        if self.uplink_plan != UplinkPlan::Rotor {
            return refuse(
                "gratings have no schedule that omits a failed node: only uplink_plan = \"rotor\" \
                 has one",
            );
        }
        if cluster.racks > 1024 {
            return refuse(
                "schedules that omit a failed node are supported for at most 1024 nodes",
            );
        }
        Ok(())
    }

    fn check_cell(&self) -> Result<u64, Refusal> {
        let carried = self.channel_rate.bytes_in(self.slot - self.guardband);
        if carried == 0 {
            return Err(self.no_room("to send a byte"));
        }
        let fits = carried.saturating_sub(self.header.0);
        if fits == 0 {
            let limit = format!("leaves no room in the {carried} B that a slot carries");
            let remedy = "lower it, or raise fabric.slot";
            return Err(Refusal::new("fabric.header", self.header, limit, remedy));
        }
        let cell = self.cell.map_or(fits, |c| c.0);
        if cell == 0 || cell > fits {
            let beside = match self.header {
                Bytes(0) => String::new(),
                header => format!(" beside a header of {header}"),
            };
            let limit = format!(
                "{} carries at most {fits} B in slot − guardband{beside}",
                self.channel_rate
            );
            return Err(Refusal::new(
                "fabric.cell",
                Bytes(cell),
                limit,
                "lower fabric.cell or raise fabric.slot",
            ));
        }
        Ok(cell)
    }
}

/// A figure as `run` prints it.
fn four_figures(value: f64) -> String {
    let whole = value.log10().floor().max(0.0) as usize;
    format!("{value:.*}", 3usize.saturating_sub(whole))
}

#[cfg(test)]
mod tests;
