//! Devices in a fabric's table, and the keys of the table that follow from them.
//!
//! A fabric derives values from its devices ([`Following`]), and [`lay`] writes them into the table
//! before the table is resolved. A run with devices therefore equals a run with the same values
//! written by hand, and a completed table, which contains both, can be read again.

pub mod switch;

use lightloom_engine::{config, Refusal};
use serde::de::DeserializeOwned;
use serde::Serialize;
use serde_json::Value;

/// Prefix of the keys in refusals of devices.
pub const AT: &str = "fabric.devices";

/// A key of a fabric's table that follows from its devices.
#[derive(Clone, Debug, PartialEq)]
pub struct Following {
    /// The key.
    pub key: &'static str,
    /// Its value, as the table holds it.
    pub value: Value,
    /// The key below `fabric.devices` that sets it.
    pub by: &'static str,
}

impl Following {
    /// A key, its value, and the device that sets it.
    pub fn new(key: &'static str, value: impl Serialize, by: &'static str) -> Following {
        let value = serde_json::to_value(value).expect("quantities are plain data");
        Following { key, value, by }
    }
}

/// Writes the derived values into a table.
///
/// # Errors
/// If the table gives a key another value; names the first such key.
pub fn lay<C: DeserializeOwned + Serialize>(
    table: &Value,
    follows: &[Following],
) -> Result<Value, Refusal> {
    let mut laid = table.clone();
    for Following { key, value, .. } in follows {
        laid[*key] = value.clone();
    }
    let (given, followed) = (plain::<C>(table)?, plain::<C>(&laid)?);
    let contradicts = |following: &&Following| {
        let key = following.key;
        let is_given = table.get(key).is_some_and(|value| !value.is_null());
        is_given && given.get(key) != followed.get(key)
    };
    match follows.iter().find(contradicts) {
        None => Ok(laid),
        Some(following) => Err(following.contradicted_by(&table[following.key])),
    }
}

fn plain<C: DeserializeOwned + Serialize>(table: &Value) -> Result<Value, Refusal> {
    let read = config::read::<C>(table, "fabric")?;
    Ok(serde_json::to_value(read).expect("configurations are plain data"))
}

impl Following {
    fn contradicted_by(&self, given: &Value) -> Refusal {
        let Following { key, by, value } = self;
        let limit = format!("{AT} give {}", text(value));
        let remedy = format!("leave it out (a preset may set it), or change {AT}.{by}");
        Refusal::new(format!("fabric.{key}"), text(given), limit, remedy)
    }
}

/// The text of a value in messages.
fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// Adds to the refusal of a derived key the origin of its value and the remedy.
pub fn explained(refusal: Refusal, table: &Value, follows: &[Following]) -> Refusal {
    let followed = |f: &&Following| format!("fabric.{}", f.key) == refusal.key;
    let given = |key: &str| table.get(key).is_some_and(|value| !value.is_null());
    match follows.iter().find(followed) {
        Some(following) if !given(following.key) => Refusal {
            limit: format!("as {AT} have it, {}", refusal.limit),
            remedy: format!("{}, or change {AT}.{}", refusal.remedy, following.by),
            ..refusal
        },
        _ => refusal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_engine::Time;
    use serde::Deserialize;
    use serde_json::json;

    #[derive(Debug, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    struct Table {
        slot: Time,
        #[serde(skip_serializing_if = "Option::is_none")]
        wait: Option<Time>,
    }

    impl Default for Table {
        fn default() -> Table {
            Table {
                slot: Time::NS * 100,
                wait: None,
            }
        }
    }

    fn follows() -> [Following; 1] {
        [Following::new("slot", Time::NS * 40, "slot")]
    }

    #[test]
    fn what_follows_stands_in_the_table_unless_that_says_otherwise() {
        let laid = |table: Value| lay::<Table>(&table, &follows());
        assert_eq!(laid(json!({})), Ok(json!({"slot": "40 ns"})));
        // The same value in another notation is no contradiction: a completed table can be read
        // back.
        assert_eq!(
            laid(json!({"slot": "0.04 us"})),
            Ok(json!({"slot": "40 ns"}))
        );
        // A written value is a contradiction even if it equals the default.
        assert_eq!(
            laid(json!({"slot": "100 ns"})).unwrap_err().to_string(),
            "fabric.slot = 100 ns: fabric.devices give 40 ns; leave it out (a preset may set it), \
             or change fabric.devices.slot"
        );
        let e = laid(json!({"slot": "100"})).unwrap_err().to_string();
        assert!(
            e.starts_with("fabric.slot = \"100\": `100` has no unit"),
            "{e}"
        );
    }

    #[test]
    fn a_refused_key_says_that_it_followed() {
        let refusal = || Refusal::new("fabric.slot", 1, "too short", "raise it");
        let told = explained(refusal(), &json!({}), &follows());
        assert_eq!(
            told.to_string(),
            "fabric.slot = 1: as fabric.devices have it, too short; raise it, or change \
             fabric.devices.slot"
        );
        assert_eq!(
            explained(refusal(), &json!({"slot": "1 ns"}), &follows()),
            refusal()
        );
        assert_eq!(explained(refusal(), &json!({}), &[]), refusal());
    }
}
