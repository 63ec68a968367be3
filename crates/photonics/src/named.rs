//! Devices in a fabric's table, given by the name of a preset or by a table of their own keys.

use lightloom_engine::{config, Refusal};
use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{json, Map, Value};
use std::borrow::Cow;

/// Devices that have presets.
pub trait Preset: Serialize + DeserializeOwned + JsonSchema {
    /// The name, the summary and the keys of each preset.
    fn presets() -> Vec<(&'static str, &'static str, Self)>;
}

/// Devices that are read from the name of a preset or from a table; the table may name a `preset`,
/// whose keys its own keys override. It is written as a complete table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Named<T>(pub T);

impl<T: Preset> Named<T> {
    /// Reads a table, `at` its path.
    ///
    /// # Errors
    /// Names keys below `at`.
    pub fn read(table: &Value, at: &str) -> Result<Named<T>, Refusal> {
        match table {
            Value::String(name) => of(name).map(Named).map_err(|refusal| below(refusal, at)),
            Value::Object(own) => {
                let table = whole::<T>(own).map_err(|refusal| below(refusal, at))?;
                config::read(&table, at).map(Named)
            }
            _ => {
                let limit = "must be the name of a preset, or a table";
                Err(Refusal::new(at, table, limit, choose::<T>()))
            }
        }
    }
}

fn below(refusal: Refusal, at: &str) -> Refusal {
    let key = match (at, refusal.key.as_str()) {
        (_, "") => at.to_owned(),
        ("", key) => key.to_owned(),
        (_, key) => format!("{at}.{key}"),
    };
    Refusal { key, ..refusal }
}

fn names<T: Preset>() -> Vec<&'static str> {
    T::presets().iter().map(|preset| preset.0).collect()
}

fn choose<T: Preset>() -> String {
    format!("use one of {}", config::list(&names::<T>()))
}

fn of<T: Preset>(name: &str) -> Result<T, Refusal> {
    let found = T::presets().into_iter().find(|preset| preset.0 == name);
    found.map(|preset| preset.2).ok_or_else(|| {
        let names = names::<T>();
        let limit = format!("must be one of {}", config::list(&names));
        let remedy = config::nearest_listed(name, &names);
        Refusal::new("", format!("\"{name}\""), limit, remedy)
    })
}

/// The table, completed by the keys of its preset.
fn whole<T: Preset>(own: &Map<String, Value>) -> Result<Value, Refusal> {
    let mut own = own.clone();
    let preset = match own.remove("preset") {
        None | Some(Value::Null) => return Ok(Value::Object(own)),
        Some(Value::String(name)) => of::<T>(&name),
        Some(other) => {
            let limit = "must be the name of a preset";
            Err(Refusal::new("", other, limit, choose::<T>()))
        }
    };
    let devices = preset.map_err(|refusal| below(refusal, "preset"))?;
    let mut table = serde_json::to_value(devices).expect("configurations are plain data");
    lay_over(&mut table, Value::Object(own));
    Ok(table)
}

/// Replaces keys of `table` by those of `over`; nested tables are merged key by key.
fn lay_over(table: &mut Value, over: Value) {
    match (table, over) {
        (Value::Object(table), Value::Object(over)) => {
            for (key, value) in over {
                lay_over(table.entry(key).or_insert(Value::Null), value);
            }
        }
        (table, over) => *table = over,
    }
}

impl<'de, T: Preset> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Named::read(&Value::deserialize(d)?, "").map_err(config::nested_refusal::<D::Error>)
    }
}

impl<T: Preset> JsonSchema for Named<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("Named{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let presets: Vec<Value> = T::presets()
            .into_iter()
            .map(|(name, summary, _)| {
                json!({ "type": "string", "const": name, "description": summary })
            })
            .collect();
        let mut table = T::json_schema(generator).to_value();
        table["properties"]["preset"] = json!({
            "description": "A named set of devices, which the other keys of this table override.",
            "type": "string",
            "enum": names::<T>(),
        });
        if let Some(table) = table.as_object_mut() {
            // A preset supplies the keys that a table without a preset must have.
            table.remove("required");
        }
        json_schema!({ "anyOf": [{ "oneOf": presets }, table] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit_switch::SwitchDesign;
    use crate::Design;

    fn read(table: Value) -> Result<Design, String> {
        let named = Named::<Design>::read(&table, "fabric.devices");
        named.map(|named| named.0).map_err(|e| e.to_string())
    }

    #[test]
    fn a_preset_stands_below_the_tables_own_keys() {
        let v1 = read(json!("sirius-v1")).unwrap();
        assert_eq!(read(json!({"preset": "sirius-v1"})), Ok(v1));
        let mut larger = v1;
        larger.grating.ports = 8;
        let table = json!({"preset": "sirius-v1", "grating": {"ports": 8}});
        assert_eq!(read(table), Ok(larger));
        assert_eq!(read(json!({})), Ok(Design::default()));
        let written = serde_json::to_value(Named(larger)).unwrap();
        assert_eq!(read(written), Ok(larger));
    }

    #[test]
    fn what_is_no_design_is_refused_by_its_key() {
        for (table, expect) in [
            (
                json!("sirius-2"),
                "fabric.devices = \"sirius-2\": must be one of \"sirius\", ",
            ),
            (
                json!("zzz"),
                "fabric.devices = \"zzz\": must be one of \"sirius\", \"sirius-100\", \"sirius-bank\", \
                 \"sirius-v1\"; choose one of them",
            ),
            (
                json!({"preset": "sirius-2"}),
                "fabric.devices.preset = \"sirius-2\": must be one of ",
            ),
            (
                json!({"preset": 3}),
                "fabric.devices.preset = 3: must be the name of a preset; use one of \"sirius\"",
            ),
            (
                json!(["sirius"]),
                "fabric.devices = [\"sirius\"]: must be the name of a preset, or a table",
            ),
            (
                json!({"preset": "sirius", "laser": {"knd": 1}}),
                "fabric.devices.laser.knd = 1: no such key; did you mean \"kind\"?",
            ),
        ] {
            let told = read(table).unwrap_err();
            assert!(told.starts_with(expect), "{told}");
        }
    }

    #[test]
    fn a_slip_within_a_fabric_is_told_by_its_whole_path() {
        #[derive(Debug, Deserialize)]
        struct Table {
            #[allow(dead_code)]
            devices: Named<Design>,
        }
        let table = json!({"devices": {"preset": "sirius-2"}});
        let told = config::read::<Table>(&table, "fabric")
            .unwrap_err()
            .to_string();
        assert!(told.starts_with("fabric.devices.preset = "), "{told}");
    }

    #[test]
    fn the_schema_of_a_table_takes_a_preset_in_place_of_what_it_must_give() {
        let schema = schemars::schema_for!(Named<SwitchDesign>).to_value();
        let table = &schema["anyOf"][1];
        let names = crate::circuit_switch::SWITCHES.map(|switch| switch.name);
        assert_eq!(table["properties"]["preset"]["enum"], json!(names));
        assert!(table["properties"]["settle"].is_object() && table.get("required").is_none());
        assert_eq!(schema["anyOf"][0]["oneOf"][0]["const"], "wss-ring");
    }

    #[test]
    fn keys_are_named_inside_another_table() {
        #[derive(Debug, Deserialize)]
        #[allow(dead_code)]
        struct Fabric {
            devices: Option<Named<Design>>,
        }
        let told = |devices: Value| {
            let table = json!({ "devices": devices });
            config::read::<Fabric>(&table, "fabric")
                .unwrap_err()
                .to_string()
        };
        assert!(told(json!("x")).starts_with("fabric.devices = \"x\": "));
        let e = told(json!({"laser": {"output": "16"}}));
        assert!(
            e.starts_with("fabric.devices.laser.output = \"16\": `16` has no unit"),
            "{e}"
        );
    }
}
