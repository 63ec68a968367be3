//! Warns if guardband and header take too much of a slot to leave room for payload.

use super::SiriusConfig;
use crate::findings::Finding;
use lightloom_engine::Time;

/// Recommended ratio of a slot to its guardband and header together: the paper's guardband is a
/// tenth of its slot (§7).
const PAPERS: i64 = 10;

/// Ratio of a slot to its guardband and header together at or below which a note is printed.
const MOST: i64 = 3;

impl SiriusConfig {
    /// Time of a slot without payload: guardband, and the header of a cell.
    fn overhead(&self) -> Time {
        self.guardband + self.channel_rate.time_for(self.header.0)
    }

    /// The finding that guardband and header take at least a third of the slot; `None` otherwise.
    /// At low rates a header takes long, while slot and guardband keep their defaults.
    pub(crate) fn short_slot(&self) -> Option<Finding> {
        let overhead = self.overhead();
        let share = overhead.0 as f64 / self.slot.0 as f64;
        (overhead * MOST >= self.slot).then(|| Finding {
            parameter: "slot",
            value: self.slot.to_string(),
            effect: format!(
                "guardband ({}) and header ({}) take {:.0} % of it at {}, so that uplinks carry \
                 payload only in the rest",
                self.guardband,
                self.header,
                100.0 * share,
                self.channel_rate
            ),
            remedy: format!(
                "raise it to {}, of which they take a tenth, and remove cell",
                overhead * PAPERS
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_engine::{Bytes, Rate};

    fn table(gbps: u64, header: u64) -> SiriusConfig {
        SiriusConfig {
            channel_rate: Rate(gbps * 1_000_000_000),
            header: Bytes(header),
            ..SiriusConfig::default()
        }
    }

    /// 50 B at 10 Gb/s are 40 ns, half of a slot of 100 ns with the guardband of 10 ns; at
    /// 50 Gb/s they are 8 ns. 30 B are 24 ns, 29 B are 23.2: above and below a third.
    #[test]
    fn a_header_at_a_low_rate_takes_much_of_a_slot() {
        let found = table(10, 50).short_slot().expect("half of the slot");
        assert_eq!((found.parameter, &*found.value), ("slot", "100 ns"));
        assert!(found.effect.contains("take 50 % of it at 10 Gb/s"));
        assert!(found.remedy.starts_with("raise it to 500 ns,"));
        assert!(table(10, 30).short_slot().is_some());
        assert_eq!(table(10, 29).short_slot(), None);
        assert_eq!(table(50, 50).short_slot(), None);
    }

    #[test]
    fn the_remedy_removes_the_note() {
        let long = SiriusConfig {
            slot: Time(500_000),
            ..table(10, 50)
        };
        assert_eq!(long.short_slot(), None);
        assert_eq!(long.overhead() * PAPERS, long.slot);
    }
}
