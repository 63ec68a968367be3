//! Errors of a policy and of its decisions, as a refusal of a user's key.

use super::computation::DELAY;
use lightloom_engine::{Refusal, Time};
use serde_json::Value;

/// The refusal of a decision at `now` by a policy with this table.
pub fn could_not(policy: &Value, refusal: Refusal, now: Time) -> Refusal {
    if refusal.key == DELAY {
        return Refusal {
            key: format!("fabric.{DELAY}"),
            value: format!("{} at {now}", refusal.value),
            ..refusal
        };
    }
    let refusal = of_policy(policy, refusal);
    Refusal {
        value: format!("{} at {now}", refusal.value),
        ..refusal
    }
}

/// The refusal of a decision that the policy made before the run.
pub fn of_policy(policy: &Value, refusal: Refusal) -> Refusal {
    let name = ["file", "kind"].iter().find_map(|key| policy[key].as_str());
    let limit = match refusal.value.is_empty() {
        true => refusal.limit,
        false => format!("{} = {}: {}", refusal.key, refusal.value, refusal.limit),
    };
    Refusal {
        key: "fabric.policy".to_owned(),
        value: format!("\"{}\"", name.unwrap_or_default()),
        limit,
        remedy: refusal.remedy,
    }
}
