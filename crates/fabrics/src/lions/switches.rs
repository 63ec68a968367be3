//! Keys that belong to one mechanism. A key that was set is refused if the table does not use the
//! mechanism; a key that was not set gets its default if it does.

use super::config::{Architecture, Detector, LionsConfig, Timing};
use lightloom_engine::Refusal;

/// The mechanisms of a switch that some keys configure.
struct Mechanisms {
    /// Loop-back queues compete with hosts.
    stores: bool,
    /// Loop-back queues with tunable transmitters.
    tunable: bool,
    /// Loop-back queues with cut-through: a packet may leave before it has fully arrived.
    cuts: bool,
    /// Whether the time at which a NACK arrives affects the sender.
    nacks: bool,
}

impl LionsConfig {
    fn mechanisms(&self) -> Mechanisms {
        let (unslotted, at) = (self.timing == Timing::Unslotted, self.architecture);
        let tunable = matches!(at, Architecture::Mlb | Architecture::Dlb);
        Mechanisms {
            stores: tunable || at == Architecture::Slb,
            tunable,
            cuts: unslotted && (tunable || at == Architecture::Slb),
            nacks: unslotted && at == Architecture::AoNack,
        }
    }

    /// Refuses keys that were set and have no effect.
    ///
    /// # Errors
    /// The first such key.
    pub(super) fn refuse_idle_keys(&self) -> Result<(), Refusal> {
        let Mechanisms {
            stores,
            tunable,
            cuts,
            nacks,
        } = self.mechanisms();
        let mixed = self.architecture == Architecture::Mlb;
        let queues = "fabric.architecture = \"dlb\" or \"mlb\"";
        let reflected = "fabric.architecture = \"ao-nack\" and fabric.timing = \"unslotted\"";
        // Keys that were not set are not serialized.
        let set = serde_json::to_value(self).expect("configurations are plain data");
        for (key, works, needs) in [
            ("hosts_per_queue", mixed, "fabric.architecture = \"mlb\""),
            ("transmitters", tunable, queues),
            ("transmitter_rule", tunable, queues),
            ("arbiter", stores, "a loop-back buffer"),
            (
                "cut_through",
                cuts,
                "a loop-back buffer and fabric.timing = \"unslotted\"",
            ),
            ("detector", nacks, reflected),
            ("abort_on_nack", nacks, reflected),
        ] {
            if let Some(value) = set.get(key).filter(|_| !works) {
                return Err(Refusal::new(
                    format!("fabric.{key}"),
                    value,
                    format!("has no effect without {needs}"),
                    "leave it out here",
                ));
            }
        }
        Ok(())
    }

    /// Sets the defaults of the keys whose mechanism is used.
    pub(super) fn resolve_switches(&mut self) {
        let has = self.mechanisms();
        if has.stores {
            self.arbiter = Some(self.arbiter_rule());
        }
        if has.tunable {
            self.transmitter_rule = Some(self.transmitter_order());
        }
        if has.cuts {
            self.cut_through = Some(self.cuts_through());
        }
        if has.nacks {
            self.detector.get_or_insert(Detector::Auto);
            self.abort_on_nack = Some(self.aborts());
        }
    }
}
