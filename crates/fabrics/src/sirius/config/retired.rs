//! Keys that the table of Sirius no longer has: alternative readings of the paper that no claim
//! compares.
//!
//! Tables that earlier versions completed contain these keys at their defaults and are still
//! accepted.

use lightloom_engine::Refusal;
use serde_json::{json, Value};

/// A key, the only value that it may still have, and the effect of another value (128 racks, the
/// paper's workload at L = 50 %, 60,000 flows).
type Retired = (&'static str, Value, &'static str);

fn retired() -> [Retired; 6] {
    [
        (
            "grant_delay_epochs",
            json!(1),
            "grants known at once made the median short flow 4 to 6 % faster",
        ),
        (
            "repeat_requests",
            json!("allowed"),
            "asking once for a cell made the 99th percentile of short flows 1.6 times as long",
        ),
        (
            "grant_serves",
            json!("fifo"),
            "serving any flow at random changed the 99th percentile of short flows by less than 2 %",
        ),
        (
            "request_draw",
            json!("flows"),
            "drawing cells made the 99th percentile of short flows 11 to 17 times as long",
        ),
        (
            "hop_order",
            json!("fifo"),
            "second hops before first hops starved short flows, whose 99th percentile was 11 to \
             15 times as long",
        ),
        (
            "queue_metric",
            json!("relay"),
            "counting LOCAL changed nothing but the figure, which is waiting_bytes in the time series",
        ),
    ]
}

/// The table without the keys that are retired.
///
/// # Errors
/// A [`Refusal`] of the first retired key that is not at its default.
pub(crate) fn without_retired(table: &Value) -> Result<Value, Refusal> {
    let mut table = table.clone();
    let Some(keys) = table.as_object_mut() else {
        return Ok(table);
    };
    for (key, default, changed) in retired() {
        match keys.remove(key) {
            Some(value) if value != default => {
                let limit = format!("was retired, and only {default} is in force: {changed}");
                return Err(Refusal::new(
                    format!("fabric.{key}"),
                    value,
                    limit,
                    "remove it",
                ));
            }
            _ => (),
        }
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::find;
    use lightloom_engine::{Cluster, Nic, Rate};

    fn resolved(table: &Value) -> Result<Value, String> {
        let cluster = Cluster {
            racks: 16,
            servers_per_rack: 1,
            server_rate: Rate(200 * Rate::GBPS.0),
            nic: Nic::Uncapped,
        };
        let sirius = find("sirius").expect("registered");
        (sirius.resolve)(table, &cluster).map_err(|refusal| refusal.to_string())
    }

    #[test]
    fn tables_of_earlier_versions_are_read() {
        for mode in ["request_grant", "ideal"] {
            let earlier = json!({
                "mode": mode, "grant_delay_epochs": 1, "repeat_requests": "allowed",
                "grant_serves": "fifo", "request_draw": "flows", "hop_order": "fifo",
                "queue_metric": "relay",
            });
            let now = resolved(&json!({ "mode": mode })).unwrap();
            assert_eq!(resolved(&earlier).unwrap(), now);
            let keys = now.as_object().unwrap();
            assert!(retired().iter().all(|(key, ..)| !keys.contains_key(*key)));
        }
    }

    #[test]
    fn what_is_no_longer_modelled_is_refused() {
        assert_eq!(
            resolved(&json!({"hop_order": "second_hop_first"})).unwrap_err(),
            "fabric.hop_order = \"second_hop_first\": was retired, and only \"fifo\" is in \
             force: second hops before first hops starved short flows, whose 99th percentile \
             was 11 to 15 times as long; remove it"
        );
        let e = resolved(&json!({"grant_delay_epochs": 0})).unwrap_err();
        assert!(
            e.starts_with("fabric.grant_delay_epochs = 0: was retired"),
            "{e}"
        );
        // A key with a similar name is still unknown.
        let e = resolved(&json!({"hop_orders": "fifo"})).unwrap_err();
        assert!(e.contains("no such key"), "{e}");
    }
}
