//! Uplink plans: how the U uplinks of a node are connected to gratings if U is not N/G.
//!
//! The paper's default of 1.5 × the base uplinks does not fill gratings of one size evenly (12
//! uplinks, 128 racks, 16 ports), and the paper does not state its wiring. The plan is therefore a
//! key of the table.

use super::wiring::{Bank, Wiring};
use lightloom_photonics::Awgr;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the uplinks are arranged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum UplinkPlan {
    /// Idealised fractional round robin: a pair meets every N/U slots, evenly.
    #[default]
    Rotor,
    /// Whole banks on gratings of `grating_ports`, the rest on larger gratings
    /// (12 uplinks of 128 racks: 8 on 16 ports, 4 on 32).
    Mixed,
    /// All uplinks on gratings of one larger size (12 uplinks of 128 racks: three
    /// banks of 4 on 32 ports).
    Wide,
}

/// Why a plan cannot be wired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unwirable {
    /// N is not a multiple of G.
    Nodes,
    /// The uplinks beyond whole banks do not divide N/G.
    Remainder(u32),
}

/// Wires `uplinks` uplinks of each of `nodes` nodes; base gratings have `ports`.
///
/// # Errors
/// When the numbers do not divide evenly.
pub fn gratings(
    plan: UplinkPlan,
    nodes: u32,
    ports: u32,
    uplinks: u32,
) -> Result<Wiring, Unwirable> {
    if ports == 0 || !nodes.is_multiple_of(ports) {
        return Err(Unwirable::Nodes);
    }
    let base = nodes / ports;
    let sizes = match plan {
        UplinkPlan::Wide => {
            let each = gcd(uplinks, base);
            vec![each; (uplinks / each) as usize]
        }
        UplinkPlan::Mixed | UplinkPlan::Rotor => {
            let rest = uplinks % base;
            if rest > 0 && !base.is_multiple_of(rest) {
                return Err(Unwirable::Remainder(rest));
            }
            let mut sizes = vec![base; (uplinks / base) as usize];
            sizes.extend((rest > 0).then_some(rest));
            sizes
        }
    };
    Ok(Wiring {
        nodes,
        banks: staggered(nodes, &sizes),
    })
}

/// Banks with the given numbers of uplinks. Their inputs are rotated so that a pair meets at evenly
/// spaced times over the banks, and never over two banks in the same slot.
fn staggered(nodes: u32, sizes: &[u32]) -> Vec<Bank> {
    let finest = sizes.iter().map(|s| nodes / s).min().unwrap_or(1);
    let mut first_uplink = 0;
    let mut banks = Vec::new();
    for (j, &uplinks) in (0..).zip(sizes) {
        let awgr = Awgr {
            ports: nodes / uplinks,
        };
        let shift = j * finest / sizes.len() as u32;
        banks.push(Bank {
            awgr,
            first_uplink,
            uplinks,
            shift,
        });
        first_uplink += uplinks;
    }
    banks
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 {
        a
    } else {
        gcd(b, a % b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(plan: UplinkPlan, uplinks: u32) -> Vec<(u32, u32)> {
        let w = gratings(plan, 128, 16, uplinks).unwrap();
        assert_eq!(w.uplinks(), uplinks);
        w.banks.iter().map(|b| (b.uplinks, b.awgr.ports)).collect()
    }

    #[test]
    fn the_papers_twelve_uplinks() {
        assert_eq!(shape(UplinkPlan::Mixed, 12), [(8, 16), (4, 32)]);
        assert_eq!(shape(UplinkPlan::Wide, 12), [(4, 32); 3]);
        assert_eq!(shape(UplinkPlan::Mixed, 8), [(8, 16)]);
        assert_eq!(shape(UplinkPlan::Wide, 16), [(8, 16); 2]);
    }

    #[test]
    fn what_does_not_tile_is_refused() {
        assert_eq!(
            gratings(UplinkPlan::Mixed, 100, 16, 8),
            Err(Unwirable::Nodes)
        );
        assert_eq!(
            gratings(UplinkPlan::Mixed, 128, 16, 13),
            Err(Unwirable::Remainder(5))
        );
    }
}
