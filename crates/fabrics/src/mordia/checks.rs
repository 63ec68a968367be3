//! Limits of Mordia's table.

use super::config::MordiaConfig;
use super::control::LONGER;
use crate::hybrid::computation::Computation;
use crate::ranges::{self, refuse, RACKS_MAX};
use lightloom_control::policies::fixed;
use lightloom_control::schedule::{Schedule, Slot};
use lightloom_engine::{check_range, Cluster, Refusal, Time};

impl MordiaConfig {
    /// Refuses a schedule none of whose days can carry a packet.
    pub(super) fn refuse_days(
        &self,
        schedule: &Schedule,
        cluster: &Cluster,
    ) -> Result<(), Refusal> {
        let packet = self.wire(cluster).rate.time_for(self.packet.0);
        let sends = |slot: &Slot| schedule.night + slot.day - self.night - self.nic_delay;
        let is_short = |slot: &Slot| slot.day < self.night || sends(slot) < packet;
        let Some(at) = schedule.slots.iter().position(is_short) else {
            return Ok(());
        };
        let slot = &schedule.slots[at];
        let than = match slot.day < self.night {
            true => format!("the night, {}", self.night),
            false => format!("nic_delay, {}, and a packet, {packet}", self.nic_delay),
        };
        let limit = format!("slots[{at}] has a day of {}, shorter than {than}", slot.day);
        match self.policy.is_kind(fixed::ENTRY.kind) {
            true => refuse("schedule", "a schedule", limit, "plan longer slots"),
            false => refuse("policy", "a schedule", limit, LONGER),
        }
    }

    /// More racks than ports.
    pub(super) fn refuse_ports(&self, racks: u32) -> Result<(), Refusal> {
        for (key, value, least) in [
            ("wavelengths", self.wavelengths, 2),
            ("rings", self.rings, 1),
        ] {
            check_range(format!("fabric.{key}"), value, least..=RACKS_MAX)?;
        }
        ranges::racks(racks)?;
        let ports = self.wavelengths.saturating_mul(self.rings);
        if racks <= ports {
            return Ok(());
        }
        let limit = match (self.rings, self.wavelengths) {
            (1, wavelengths) => format!("a ring of {wavelengths} wavelengths has {ports} ports"),
            (rings, wavelengths) => format!("{rings} rings of {wavelengths} have {ports} ports"),
        };
        let remedy = "use fabric.wavelengths = 88 (50 GHz), or stack more fabric.rings";
        Err(Refusal::new("cluster.racks", racks, limit, remedy))
    }

    /// Refuses rates that are out of range or above the rate of the circuit.
    pub(super) fn refuse_rates(&self, cluster: &Cluster) -> Result<(), Refusal> {
        let link = self.link(cluster);
        let rates = [
            ("link_rate", Some(link)),
            ("stack_rate", self.stack_rate),
            ("packet_rate", self.packet_rate),
        ];
        for (key, rate) in rates {
            rate.map_or(Ok(()), |rate| ranges::rate(key, rate))?;
        }
        let within = [
            ("stack_rate", self.stack_rate, link),
            (
                "packet_rate",
                self.packet_rate,
                self.stack_rate.unwrap_or(link),
            ),
        ];
        for (key, rate, most) in within {
            if let Some(rate) = rate.filter(|&rate| rate > most) {
                let limit = format!("faster than circuits are used, {most}");
                return refuse(key, rate, limit, "lower it, or leave it out");
            }
        }
        Ok(())
    }

    /// Refuses times that contradict each other, in the order of the keys.
    pub(super) fn refuse_times(&self) -> Result<(), Refusal> {
        self.refuse_ranges()?;
        self.refuse_nights()?;
        self.refuse_slot()?;
        match self.interval {
            Some(interval) if interval < self.shortest_slot => {
                let limit = format!("shorter than the shortest slot, {}", self.shortest_slot);
                refuse("interval", interval, limit, "use 2 ms")
            }
            _ => Ok(()),
        }
    }

    /// Refuses times outside the ranges that they have in all fabrics.
    fn refuse_ranges(&self) -> Result<(), Refusal> {
        ranges::times(&[
            ("night", self.night),
            ("night_deviation", self.night_deviation),
            ("slot", self.slot),
            ("shortest_slot", self.shortest_slot),
            ("interval", self.interval.unwrap_or(Time(1))),
            ("computation_delay", self.computation_delay.given()),
            ("nic_delay", self.nic_delay),
            ("sync_jitter", self.sync_jitter),
            ("retransmit_after", self.retransmit_after),
            ("propagation", self.propagation),
            ("switch_latency", self.switch_latency),
            ("fec_latency", self.fec_latency),
        ])?;
        ranges::amounts(&[("header", self.header)], ranges::PACKET_MAX)?;
        if let Computation::Recorded(times) = &self.computation_delay {
            for (at, &time) in times.iter().enumerate() {
                ranges::times(&[(&format!("computation_delay[{at}]"), time)])?;
            }
        }
        Ok(())
    }

    /// Refuses nights that leave no day in a slot.
    fn refuse_nights(&self) -> Result<(), Refusal> {
        if self.night_deviation > self.night {
            let limit = format!("more than the night, {}", self.night);
            return refuse(
                "night_deviation",
                self.night_deviation,
                limit,
                "use 2.36 us",
            );
        }
        if self.night >= self.shortest_slot {
            let limit = format!("not shorter than the shortest slot, {}", self.shortest_slot);
            return refuse("night", self.night, limit, "raise fabric.shortest_slot");
        }
        if self.night + self.nic_delay >= self.shortest_slot {
            let limit = format!(
                "it and the night, {}, leave no time in the shortest slot, {}",
                self.night, self.shortest_slot
            );
            return refuse(
                "nic_delay",
                self.nic_delay,
                limit,
                "raise fabric.shortest_slot",
            );
        }
        Ok(())
    }

    /// Refuses a slot that is too short for the switch or that is mostly night.
    fn refuse_slot(&self) -> Result<(), Refusal> {
        if self.slot < self.shortest_slot {
            let limit = format!("shorter than the shortest slot, {}", self.shortest_slot);
            return refuse(
                "slot",
                self.slot,
                limit,
                "raise it, or lower fabric.shortest_slot",
            );
        }
        let day = self.slot - self.night;
        if day < self.night {
            let limit = format!("its day, {day}, is shorter than its night, {}", self.night);
            return refuse("slot", self.slot, limit, "raise it");
        }
        Ok(())
    }

    /// Refuses days in which no packet could be sent.
    pub(super) fn refuse_sending(&self, cluster: &Cluster) -> Result<(), Refusal> {
        ranges::packet(self.packet)?;
        let packet = self.wire(cluster).rate.time_for(self.packet.0);
        let day = self.slot - self.night - self.nic_delay;
        let left_out = "the night and nic_delay";
        ranges::day(("slot", self.slot), left_out, day, packet)?;
        let day = self.shortest_slot - self.night - self.nic_delay;
        ranges::day(("shortest_slot", self.shortest_slot), left_out, day, packet)?;
        if self.sync_jitter > self.slot {
            let limit = format!("longer than a slot, {}", self.slot);
            return refuse("sync_jitter", self.sync_jitter, limit, "use 1 us");
        }
        ranges::within(
            "late_sync_fraction",
            self.late_sync_fraction,
            0.0..=1.0,
            "use 0.01",
        )?;
        ranges::smoothing(self.smoothing)
    }
}
