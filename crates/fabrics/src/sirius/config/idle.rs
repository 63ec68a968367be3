//! Keys that have no effect in a `mode` or at a `detail`.

use super::{Detail, Mode, SiriusConfig};
use lightloom_engine::Refusal;

/// Keys of the protocol of §4.3 and the detection of §4.5, which SIRIUS (IDEAL) does not have.
const OF_THE_PROTOCOL: &[&str] = &[
    "epoch_slots",
    "queue",
    "grant_rule",
    "detection_epochs",
    "recovery",
];

/// Keys that only SIRIUS (IDEAL) uses (§7).
const OF_THE_IDEAL: &[&str] = &["ideal_window"];

/// Keys that only the simulation of cells uses: for failures and for queues at links.
const OF_THE_CELLS: &[&str] = &["detection_epochs", "recovery", "discipline"];

impl SiriusConfig {
    /// Refuses keys that were set and have no effect; the default is always accepted.
    ///
    /// # Errors
    /// A [`Refusal`] for the first of them.
    pub(crate) fn refuse_idle_keys(&self) -> Result<(), Refusal> {
        let mut without = match self.mode {
            Mode::Ideal => vec![(OF_THE_PROTOCOL, "mode = \"request_grant\"")],
            Mode::RequestGrant => vec![(OF_THE_IDEAL, "mode = \"ideal\"")],
        };
        if self.detail == Detail::Flows {
            without.push((OF_THE_CELLS, "detail = \"cells\""));
        }
        let plain = |config: &SiriusConfig| {
            serde_json::to_value(config).expect("configurations are plain data")
        };
        let (set, default) = (plain(self), plain(&SiriusConfig::default()));
        let mut idle = without
            .iter()
            .flat_map(|(keys, works)| keys.iter().map(move |key| (*key, works)));
        match idle.find(|(key, _)| set[*key] != default[*key]) {
            None => Ok(()),
            Some((key, works)) => Err(Refusal::new(
                format!("fabric.{key}"),
                &set[key],
                format!("has no effect without fabric.{works}"),
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
        for (mode, detail) in [
            ("ideal", "cells"),
            ("request_grant", "cells"),
            ("request_grant", "flows"),
        ] {
            // A completed table is accepted as input.
            let once = resolved(json!({ "mode": mode, "detail": detail })).unwrap();
            assert_eq!(resolved(once.clone()), Ok(once));
        }
    }
}
