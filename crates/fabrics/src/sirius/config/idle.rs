//! Keys that have no effect in a mode.

use super::{Mode, SiriusConfig};
use lightloom_engine::Refusal;

/// What the protocol of §4.3 and the detection of §4.5 need, and SIRIUS (IDEAL) has not.
const OF_THE_PROTOCOL: &[&str] = &[
    "epoch_slots",
    "queue",
    "grant_rule",
    "detection_epochs",
    "recovery",
];

/// What SIRIUS (IDEAL) alone has (§7).
const OF_THE_IDEAL: &[&str] = &["ideal_window"];

impl SiriusConfig {
    /// Refuses keys that were set and do nothing; the default may always stand.
    ///
    /// # Errors
    /// A [`Refusal`] of the first of them.
    pub(crate) fn refuse_idle_keys(&self) -> Result<(), Refusal> {
        let (idle, works) = match self.mode {
            Mode::Ideal => (OF_THE_PROTOCOL, "request_grant"),
            Mode::RequestGrant => (OF_THE_IDEAL, "ideal"),
        };
        let plain = |config: &SiriusConfig| {
            serde_json::to_value(config).expect("configurations are plain data")
        };
        let (set, default) = (plain(self), plain(&SiriusConfig::default()));
        match idle.iter().find(|key| set[**key] != default[**key]) {
            None => Ok(()),
            Some(key) => Err(Refusal::new(
                format!("fabric.{key}"),
                &set[*key],
                format!("has no effect without fabric.mode = \"{works}\""),
                "leave it out here",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::registry::find;
    use lightloom_engine::{Cluster, Nic, Rate};
    use serde_json::{json, Value};

    fn resolved(table: Value) -> Result<Value, String> {
        let cluster = Cluster {
            racks: 16,
            servers_per_rack: 1,
            server_rate: Rate(200 * Rate::GBPS.0),
            nic: Nic::Uncapped,
        };
        let sirius = find("sirius").expect("registered");
        (sirius.resolve)(&table, &cluster).map_err(|refusal| refusal.to_string())
    }

    #[test]
    fn what_does_nothing_is_refused_but_for_its_default() {
        for (table, said) in [
            (
                json!({"mode": "ideal", "queue": 8}),
                "fabric.queue = 8: has no effect without fabric.mode = \"request_grant\"; \
                 leave it out here",
            ),
            (
                json!({"mode": "ideal", "recovery": "reschedule"}),
                "fabric.recovery = \"reschedule\": has no effect without \
                 fabric.mode = \"request_grant\"; leave it out here",
            ),
            (
                json!({"ideal_window": 3}),
                "fabric.ideal_window = 3: has no effect without fabric.mode = \"ideal\"; \
                 leave it out here",
            ),
        ] {
            assert_eq!(resolved(table), Err(said.to_owned()));
        }
        for mode in ["ideal", "request_grant"] {
            // A table that was completed can be run again.
            let once = resolved(json!({ "mode": mode })).unwrap();
            assert_eq!(resolved(once.clone()), Ok(once));
        }
    }
}
