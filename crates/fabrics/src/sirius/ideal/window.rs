//! Whether `ideal_window` is large enough for a single flow to reach the rate of its links.

use crate::findings::Finding;
use crate::sirius::config::{Derived, SiriusConfig};
use lightloom_engine::{Cluster, Nic};

/// The smallest window with which a single flow reaches the rate of its uplinks. An intermediate
/// gets one cell of the flow per epoch; a cell takes a crossing, then waits there for up to an
/// epoch. The window is the number of epochs that begin until the cell has left.
pub fn covering(config: &SiriusConfig, derived: &Derived) -> i64 {
    let (slots, of) = derived.epoch;
    (config.crossing() * of).div_ceil(config.slot * slots) + 2
}

/// The smallest window with which a single flow reaches the rate of its server's link, if that is
/// lower. In each epoch one cell goes directly to its destination and uses no window; each other
/// node gets `window` cells in `covering` epochs.
fn filling(config: &SiriusConfig, derived: &Derived, nodes: u32, link: Nic) -> i64 {
    let covering = covering(config, derived);
    let Nic::Capped(rate) = link else {
        return covering;
    };
    let wires = f64::from(derived.uplinks) * derived.cell as f64 / config.slot.as_secs_f64();
    let cells = f64::from(nodes) * (rate.0 as f64 / 8.0) / wires;
    let window = covering as f64 * (cells - 1.0) / f64::from(nodes.max(2) - 1);
    (window.ceil() as i64).clamp(1, covering)
}

/// The finding that the window of a table is smaller than needed; `None` otherwise.
pub fn narrow(config: &SiriusConfig, derived: &Derived, cluster: &Cluster) -> Option<Finding> {
    let covering = covering(config, derived);
    let filling = filling(config, derived, cluster.racks, cluster.nic);
    let wires = match filling < covering {
        true => "its server's link",
        false => "its wires",
    };
    (i64::from(config.ideal_window) < filling).then(|| Finding {
        parameter: "ideal_window",
        value: config.ideal_window.to_string(),
        effect: format!(
            "a single flow does not fill {wires}, because an intermediate frees the place of its \
             cell only after up to {covering} epochs"
        ),
        remedy: format!("raise it to {filling}"),
    })
}
