//! What a `[[fabric]]` table of Sirius must meet, and what follows from it.

use super::{Derived, Detail, Intermediates, Mode, Recovery, SiriusConfig};
use crate::ranges::propagation;
use crate::sirius::cell::Cell;
use crate::sirius::schedule::plan::{gratings, Unwirable, UplinkPlan};
use crate::sirius::schedule::Schedule;
use lightloom_control::algorithms::cyclic::RoundRobin;
use lightloom_engine::{check_range, Bytes, Cluster, Flows, Refusal, Time};

/// What a relay queue for one cell does.
const STALLS: &str =
    "below 2 a node cannot take the next cell before it has sent the last: Sirius §4.3";

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
        // As good as it is printed.
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
                "slots beyond 1 ms are another fabric".into(),
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

    /// The refusal of slot and guardband together, by the one that is not the default.
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

    /// Refuses flows of more cells than a cell's number can say.
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
        check_range("fabric.queue", self.queue, 2..=64).map_err(|refusal| Refusal {
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
            return refuse("the wiring of gratings leaves no schedule without a node: only uplink_plan = \"rotor\" has one");
        }
        if cluster.racks > 1024 {
            return refuse("schedules without a node are kept for at most 1024 nodes");
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
            let limit = format!("leaves nothing of the {carried} B that a slot carries");
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

    pub(super) fn base_uplinks(&self, cluster: &Cluster) -> Result<u32, Refusal> {
        // A server rate such as 400 Gb/s ÷ 24 is not whole: round to the nearest uplink.
        let rack = cluster.rack_rate().0 as f64 / self.channel_rate.0 as f64;
        let base = rack.round();
        if base < 1.0 || (rack - base).abs() > 1e-6 * rack {
            return Err(Refusal::new(
                "fabric.channel_rate",
                self.channel_rate,
                format!(
                    "the rack rate {} is not a whole number of channels",
                    cluster.rack_rate()
                ),
                "choose cluster.rack_rate as a multiple of fabric.channel_rate",
            ));
        }
        Ok(base as u32)
    }

    pub(super) fn check_uplinks(&self, cluster: &Cluster, base: u32) -> Result<u32, Refusal> {
        let uplinks = self
            .uplinks
            .unwrap_or_else(|| (base * 3).div_ceil(2).min(cluster.racks));
        if uplinks == 0 || uplinks > cluster.racks {
            let limit = format!(
                "must be from 1 to the {} nodes: a pair meets at most once a slot",
                cluster.racks
            );
            let remedy = if uplinks == 0 {
                "raise fabric.uplinks"
            } else {
                "lower fabric.uplinks or add racks"
            };
            return Err(Refusal::new("fabric.uplinks", uplinks, limit, remedy));
        }
        if cluster.racks == 2 && self.intermediates == Intermediates::Others {
            let limit = "between two nodes there is no other to relay";
            let remedy = "use fabric.intermediates = \"all\", or add racks";
            return Err(Refusal::new(
                "fabric.intermediates",
                "others",
                limit,
                remedy,
            ));
        }
        if !(2..=32_000).contains(&cluster.racks) {
            let limit = "Sirius connects 2 to 32000 nodes";
            return Err(Refusal::new(
                "cluster.racks",
                cluster.racks,
                limit,
                "change cluster.racks",
            ));
        }
        Ok(uplinks)
    }

    pub(super) fn schedule(
        &self,
        cluster: &Cluster,
        base: u32,
        uplinks: u32,
    ) -> Result<Schedule, Refusal> {
        let nodes = cluster.racks;
        if let Some(ports) = self
            .grating_ports
            .filter(|&p| p == 0 || !nodes.is_multiple_of(p))
        {
            let limit = format!("{nodes} nodes do not divide into groups of {ports}");
            let remedy = format!(
                "use a divisor of {nodes}, such as {}",
                largest_divisor(nodes, ports.max(1))
            );
            return Err(Refusal::new("fabric.grating_ports", ports, limit, remedy));
        }
        if self.uplink_plan == UplinkPlan::Rotor {
            return Ok(Schedule::Rotor(RoundRobin { nodes, uplinks }));
        }
        let ports = match self.grating_ports {
            Some(ports) => ports,
            None if nodes.is_multiple_of(base) => nodes / base,
            None => {
                let limit =
                    format!("{nodes} nodes ÷ {base} base uplinks is not a whole number of ports");
                let remedy = "set fabric.grating_ports, or uplink_plan = \"rotor\"";
                return Err(Refusal::new(
                    "fabric.grating_ports",
                    "(default)",
                    limit,
                    remedy,
                ));
            }
        };
        gratings(self.uplink_plan, nodes, ports, uplinks)
            .map(Schedule::Gratings)
            .map_err(|e| match e {
                Unwirable::Nodes => unreachable!("checked above"),
                Unwirable::Remainder(rest) => untiled(uplinks, nodes / ports, rest, nodes),
            })
    }
}

/// The refusal of uplinks that the `mixed` plan cannot wire, for the `rest` beyond whole
/// banks of `bank`; with the nearest, up to `most`, that it can.
fn untiled(uplinks: u32, bank: u32, rest: u32, most: u32) -> Refusal {
    let matrices = |u: &u32| u.is_multiple_of(bank) || bank.is_multiple_of(u % bank);
    let nearest = (1..uplinks).rev().find(matrices);
    let nearest = nearest.into_iter().chain((uplinks..=most).find(matrices));
    let nearest: Vec<String> = nearest.map(|u| u.to_string()).collect();
    Refusal::new(
        "fabric.uplinks",
        uplinks,
        format!(
            "with uplink_plan = \"mixed\" those beyond whole banks of {bank} must divide {bank}, \
             and {rest} do not"
        ),
        format!(
            "use {}, or fabric.uplink_plan = \"wide\" or \"rotor\"",
            nearest.join(" or ")
        ),
    )
}

/// A figure as `run` prints it.
fn four_figures(value: f64) -> String {
    let whole = value.log10().floor().max(0.0) as usize;
    format!("{value:.*}", 3usize.saturating_sub(whole))
}

/// The largest divisor of `n` that is at most `limit`.
fn largest_divisor(n: u32, limit: u32) -> u32 {
    (1..=limit.min(n))
        .rev()
        .find(|d| n.is_multiple_of(*d))
        .unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sirius::config::Mode;
    use lightloom_engine::{Nic, Rate};

    fn cluster(racks: u32) -> Cluster {
        let server_rate = Rate(400 * Rate::GBPS.0 / 24);
        Cluster {
            racks,
            servers_per_rack: 24,
            server_rate,
            nic: Nic::Uncapped,
        }
    }

    fn refused(config: SiriusConfig) -> String {
        config.derive(&cluster(128)).unwrap_err().to_string()
    }

    #[test]
    fn the_papers_set_up_is_the_default() {
        let d = SiriusConfig::default().derive(&cluster(128)).unwrap();
        assert_eq!((d.base, d.uplinks, d.cell), (8, 12, 562));
    }

    #[test]
    fn flows_beyond_the_cell_numbers_are_refused() {
        let ideal = SiriusConfig {
            mode: Mode::Ideal,
            ..SiriusConfig::default()
        };
        let mut flows = Flows::new();
        let host = lightloom_engine::HostId;
        flows.push(host(0), host(30), 562 * Cell::SEQ_MAX, Time::ZERO);
        assert!(ideal.check_flows(562, &flows).is_ok());
        flows.push(host(0), host(30), 562 * Cell::SEQ_MAX + 1, Time::ZERO);
        let e = ideal.check_flows(562, &flows).unwrap_err().to_string();
        assert!(e.starts_with("fabric.cell = 562 B: a flow of"), "{e}");
    }

    #[test]
    fn two_nodes_have_no_others() {
        let uplinks = Some(1);
        let others = SiriusConfig {
            intermediates: Intermediates::Others,
            uplinks,
            ..SiriusConfig::default()
        };
        let e = others.derive(&cluster(2)).unwrap_err().to_string();
        assert!(
            e.starts_with("fabric.intermediates = others: between two nodes"),
            "{e}"
        );
        assert!(others.derive(&cluster(3)).is_ok());
    }

    #[test]
    fn a_request_is_never_answered_before_it_has_arrived() {
        // Twelve uplinks of 128 nodes: epochs of 11, 11 and 10 slots.
        let at = |ns| {
            let c = SiriusConfig {
                propagation: Time::NS * ns,
                ..SiriusConfig::default()
            };
            c.derive(&cluster(128)).unwrap().lag(&c)
        };
        assert_eq!(
            (at(0), at(1), at(1000), at(1001), at(2500)),
            (1, 2, 2, 3, 4)
        );
    }

    #[test]
    fn a_slot_without_room_is_put_down_to_what_was_set() {
        let of = |slot_ps, guardband_ps| {
            let c = SiriusConfig {
                slot: Time(slot_ps),
                guardband: Time(guardband_ps),
                ..SiriusConfig::default()
            };
            refused(c)
        };
        let e = of(100_000, 200_000);
        assert!(
            e.starts_with("fabric.guardband = 200 ns: leaves no time to send in a slot of 100 ns"),
            "{e}"
        );
        let e = of(10_000, 10_000);
        assert!(e.starts_with("fabric.slot = 10 ns: leaves no time"), "{e}");
        // 10 ps at 50 Gb/s are half a bit.
        let e = of(100_000, 99_990);
        assert!(
            e.starts_with("fabric.guardband = 99.99 ns: leaves no time to send a byte in"),
            "{e}"
        );
    }

    /// Twelve uplinks of 128 nodes meet a pair every 32/3 slots; eight every 16.
    #[test]
    fn the_epoch_in_force_can_be_written_as_it_is_shown() {
        let of = |uplinks, slots| {
            let c = SiriusConfig {
                uplinks: Some(uplinks),
                epoch_slots: Some(slots),
                ..SiriusConfig::default()
            };
            let derived = c.derive(&cluster(128)).map_err(|e| e.to_string())?;
            Ok::<_, String>(derived.epoch)
        };
        for shown in [128.0 / 12.0, 10.67, 10.667] {
            assert_eq!(of(12, shown), Ok((128, 12)));
        }
        assert_eq!(of(12, 11.0), Ok((11, 1)));
        assert_eq!(of(12, 1100.0), Ok((1100, 1)));
        assert_eq!(of(8, 16.0), Ok((16, 1)));
        for (uplinks, slots) in [(12, 10.0), (12, 10.7), (12, 11.5), (12, 1101.0), (8, 15.9)] {
            let e = of(uplinks, slots).unwrap_err();
            assert!(e.starts_with(&format!("fabric.epoch_slots = {slots}: must be a whole")));
            assert_eq!(
                e.contains("; or nodes ÷ uplinks, 10.67; use"),
                uplinks == 12,
                "{e}"
            );
        }
        let shown: Vec<String> = [1.0 / 0.75, 32.0 / 3.0, 385.0 / 3.0, 12_345.6]
            .map(four_figures)
            .to_vec();
        assert_eq!(shown, ["1.333", "10.67", "128.3", "12346"]);
    }

    #[test]
    fn uplinks_that_do_not_tile_are_told_the_nearest_that_do() {
        let mixed = |uplinks| SiriusConfig {
            uplinks: Some(uplinks),
            uplink_plan: UplinkPlan::Mixed,
            ..SiriusConfig::default()
        };
        for (uplinks, nearest) in [(3, "2 or 4"), (7, "4 or 8"), (127, "124 or 128")] {
            let e = refused(mixed(uplinks));
            assert!(
                e.contains(&format!("; use {nearest}, or fabric.uplink_plan")),
                "{e}"
            );
            for u in nearest.split(" or ") {
                let works = mixed(u.parse().unwrap());
                assert!(works.derive(&cluster(128)).is_ok(), "{u}");
            }
        }
    }

    #[test]
    fn what_cannot_run_is_refused_by_name() {
        let c = SiriusConfig::default;
        let e = refused(SiriusConfig {
            slot: Time::NS * 40,
            guardband: Time::NS * 50,
            ..c()
        });
        assert_eq!(
            e,
            "fabric.slot = 40 ns: leaves no time to send beside a guardband of 50 ns \
             (fabric.guardband); raise fabric.slot or lower fabric.guardband"
        );
        let e = refused(SiriusConfig { queue: 1, ..c() });
        assert!(
            e.starts_with("fabric.queue = 1: must be from 2 to 64"),
            "{e}"
        );
        let e = refused(SiriusConfig {
            grating_ports: Some(24),
            ..c()
        });
        assert!(
            e.contains("128 nodes do not divide into groups of 24") && e.contains("such as 16"),
            "{e}"
        );
        let e = refused(SiriusConfig {
            uplinks: Some(13),
            uplink_plan: UplinkPlan::Mixed,
            ..c()
        });
        assert_eq!(
            e,
            "fabric.uplinks = 13: with uplink_plan = \"mixed\" those beyond whole banks of 8 must \
             divide 8, and 5 do not; use 12 or 16, or fabric.uplink_plan = \"wide\" or \"rotor\""
        );
        let e = refused(SiriusConfig {
            uplinks: Some(129),
            ..c()
        });
        assert!(e.starts_with("fabric.uplinks = 129"), "{e}");
        let e = refused(SiriusConfig {
            uplinks: Some(0),
            ..c()
        });
        assert!(e.ends_with("; raise fabric.uplinks"), "{e}");
        let e = refused(SiriusConfig {
            cell: Some(Bytes(563)),
            ..c()
        });
        assert!(e.contains("at most 562 B"), "{e}");
        let e = refused(SiriusConfig {
            channel_rate: Rate(33 * Rate::GBPS.0),
            ..c()
        });
        assert!(e.starts_with("fabric.channel_rate = 33 Gb/s"), "{e}");
        let e = refused(SiriusConfig {
            recovery: Recovery::Reschedule,
            uplink_plan: UplinkPlan::Wide,
            ..c()
        });
        assert!(
            e.starts_with("fabric.recovery = \"reschedule\": the wiring"),
            "{e}"
        );
        let many = SiriusConfig {
            recovery: Recovery::Reschedule,
            ..c()
        };
        let e = many.derive(&cluster(2048)).unwrap_err().to_string();
        assert!(e.contains("at most 1024 nodes"), "{e}");
    }
}
