//! Whether `ideal_window` lets a flow fill its wires.

use crate::findings::Finding;
use crate::sirius::config::{Derived, SiriusConfig};

/// The window of cells with which a lone flow has the rate of its wires: an intermediate gets a
/// cell of it in each epoch, and each takes a crossing, then waits for up to an epoch there. As many
/// epochs begin before its place is free again.
pub fn covering(config: &SiriusConfig, derived: &Derived) -> i64 {
    let (slots, of) = derived.epoch;
    (config.crossing() * of).div_ceil(config.slot * slots) + 2
}

/// The window of a table that is narrower; none otherwise.
pub fn narrow(config: &SiriusConfig, derived: &Derived) -> Option<Finding> {
    let covering = covering(config, derived);
    (i64::from(config.ideal_window) < covering).then(|| Finding {
        parameter: "ideal_window",
        value: config.ideal_window.to_string(),
        effect: format!(
            "a lone flow does not fill its wires, since an intermediate's place for a cell of it is \
             free again after up to {covering} epochs"
        ),
        remedy: format!("raise it to {covering}"),
    })
}
