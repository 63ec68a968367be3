//! The number of uplinks of a node, and the schedule by which nodes meet.

use super::{Intermediates, SiriusConfig};
use crate::sirius::schedule::plan::{gratings, Unwirable, UplinkPlan};
use crate::sirius::schedule::Schedule;
use lightloom_control::algorithms::cyclic::RoundRobin;
use lightloom_engine::{Cluster, Refusal};

impl SiriusConfig {
    pub(super) fn base_uplinks(&self, cluster: &Cluster) -> Result<u32, Refusal> {
        // A server rate such as 400 Gb/s ÷ 24 is not an integer: round to the nearest number of
        // uplinks.
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
            let limit = "with two nodes, there is no third node to relay";
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

/// The refusal of a number of uplinks that the `mixed` plan cannot wire because of the `rest`
/// beyond whole banks of `bank`; it suggests the nearest number, up to `most`, that the plan can
/// wire.
fn untiled(uplinks: u32, bank: u32, rest: u32, most: u32) -> Refusal {
    let matrices = |u: &u32| u.is_multiple_of(bank) || bank.is_multiple_of(u % bank);
    let nearest = (1..uplinks).rev().find(matrices);
    let nearest = nearest.into_iter().chain((uplinks..=most).find(matrices));
    let nearest: Vec<String> = nearest.map(|u| u.to_string()).collect();
    Refusal::new(
        "fabric.uplinks",
        uplinks,
        format!(
            "with uplink_plan = \"mixed\" the uplinks beyond whole banks of {bank} must divide \
             {bank}, but {rest} do not"
        ),
        format!(
            "use {}, or fabric.uplink_plan = \"wide\" or \"rotor\"",
            nearest.join(" or ")
        ),
    )
}

/// The largest divisor of `n` that is at most `limit`.
fn largest_divisor(n: u32, limit: u32) -> u32 {
    (1..=limit.min(n))
        .rev()
        .find(|d| n.is_multiple_of(*d))
        .unwrap_or(1)
}
