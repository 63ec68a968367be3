//! Properties that all kernels of Sirius share: servers, racks and links; the shortest possible
//! time of a flow; the times at which light passes.

use super::config::{Derived, SiriusConfig};
use super::schedule::Schedule;
use super::servers::rack::rate;
use lightloom_engine::{Cluster, HostId, Nic, PortId, Rate, Shape, Time};

/// Servers, racks, and the capacity of all uplinks.
pub fn shape(cluster: &Cluster, config: &SiriusConfig, derived: &Derived) -> Shape {
    let uplinks = derived.uplinks as u64 * cluster.racks as u64;
    Shape {
        hosts: cluster.hosts(),
        racks: cluster.racks,
        host_rate: cluster.server_rate,
        link_capacity: Rate(config.channel_rate.0 * uplinks),
    }
}

/// No flow can be faster than one cell a slot on every uplink of its source.
pub fn soonest(
    cluster: &Cluster,
    config: &SiriusConfig,
    derived: &Derived,
    src: HostId,
    dst: HostId,
    bytes: u64,
) -> Time {
    // Its own rack's switch.
    let entrance = config.switch_latency;
    if cluster.rack_of(src) == cluster.rack_of(dst) {
        return entrance + rate(cluster).time_for(bytes);
    }
    let cells = bytes.div_ceil(derived.cell) as i64;
    let slots = (cells + derived.uplinks as i64 - 1) / derived.uplinks as i64;
    let optics = entrance + config.slot * slots + config.crossing();
    let Nic::Capped(rate) = cluster.nic else {
        return optics;
    };
    // The server sends the last cell after all others; the cell then needs at least one slot and
    // the link to its destination.
    let last = (bytes - 1) % derived.cell + 1;
    let servers = rate.time_for(bytes) + config.slot + config.crossing() + rate.time_for(last);
    (entrance + servers).max(optics)
}

/// Light passes between the guardband and the end of a slot, to the receiver that the wiring and
/// the wavelength determine.
pub fn lit(config: &SiriusConfig, schedule: &Schedule, tx: PortId, rx: PortId, at: Time) -> bool {
    let (slot, u) = (at.0.div_euclid(config.slot.0), schedule.uplinks());
    let (peer, port) = schedule.peer(tx.0 / u, tx.0 % u, slot);
    at % config.slot >= config.guardband && rx == PortId(peer * u + port)
}
