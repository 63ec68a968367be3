//! Whether a node has the uplinks beyond the base that two crossings of the network need.

use super::Derived;
use crate::doubts::Doubt;
use lightloom_engine::Cluster;

/// Uplinks ÷ base uplinks in the paper (§7).
const SPEEDUP: f64 = 1.5;

impl Derived {
    /// The doubt that a node has fewer uplinks than the base, or no more than the number of nodes
    /// allows and fewer than the paper has.
    pub(crate) fn few_uplinks(&self, cluster: &Cluster) -> Option<Doubt> {
        let (uplinks, base) = (self.uplinks, self.base);
        let ratio = f64::from(uplinks) / f64::from(base);
        let text = if uplinks < base {
            let remedy = match uplinks >= cluster.racks {
                true => "add racks (each allows one more uplink), or raise fabric.channel_rate",
                false => "raise fabric.uplinks",
            };
            format!(
                "uplinks = {uplinks} is less than the {base} base uplinks that carry a rack's \
                 rate once, but most bytes cross two uplinks; {remedy}"
            )
        } else if f64::from(uplinks) < SPEEDUP * f64::from(base) && uplinks == cluster.racks {
            format!(
                "{uplinks} racks have no more than {uplinks} uplinks each, {} times the base, \
                 where the paper has {SPEEDUP} times; add racks, or raise fabric.channel_rate",
                // Three digits, as the ratio is at least 1.
                format!("{ratio:.2}")
                    .trim_end_matches('0')
                    .trim_end_matches('.')
            )
        } else {
            return None;
        };
        Some(Doubt {
            cause: "few uplinks",
            value: ratio,
            text,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::sirius::config::SiriusConfig;
    use lightloom_engine::{Cluster, Nic, Rate};

    /// The ratio and the end of the sentence for racks of 400 Gb/s, whose base is 8 uplinks.
    fn found(racks: u32, uplinks: Option<u32>) -> Option<(f64, bool)> {
        let cluster = Cluster {
            racks,
            servers_per_rack: 2,
            server_rate: Rate(200 * Rate::GBPS.0),
            nic: Nic::Uncapped,
        };
        let config = SiriusConfig {
            uplinks,
            ..SiriusConfig::default()
        };
        let doubt = config.derive(&cluster).unwrap().few_uplinks(&cluster)?;
        Some((doubt.value, doubt.text.contains("add racks")))
    }

    #[test]
    fn uplinks_below_the_papers_are_doubted_only_if_racks_are_too_few_for_more() {
        assert_eq!(found(16, None), None);
        assert_eq!(found(16, Some(8)), None);
        assert_eq!(found(10, None), Some((1.25, true)));
        assert_eq!(found(8, None), Some((1.0, true)));
    }

    #[test]
    fn uplinks_below_the_base_are_doubted() {
        assert_eq!(found(16, Some(6)), Some((0.75, false)));
        assert_eq!(found(6, None), Some((0.75, true)));
    }
}
