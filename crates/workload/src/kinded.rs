//! Tables that are distinguished by their `kind`, which users may shorten to a name.

use lightloom_engine::{config, Refusal};
use serde::de::{value::MapAccessDeserializer, MapAccess};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Declares an enum whose variants are tables with a `kind`. A bare string `s` is short for the
/// result of `$named`. Errors keep the path of the key.
macro_rules! kinded {
    (
        $(#[$doc:meta])*
        pub enum $name:ident, $what:literal, named by $named:path {
            $( $(#[$vdoc:meta])* $variant:ident($table:ty) = $kind:literal, )+
        }
    ) => {
        #[derive(Clone, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
        #[serde(tag = "kind")]
        $(#[$doc])*
        pub enum $name {
            $( $(#[$vdoc])* #[serde(rename = $kind)] $variant($table), )+
        }

        impl $name {
            /// The values of `kind`.
            pub const KINDS: &'static [&'static str] = &[$($kind),+];

            /// The value of `kind`.
            pub fn kind(&self) -> &'static str {
                match self { $( $name::$variant(_) => $kind, )+ }
            }

            fn from_table<E: serde::de::Error>(mut table: serde_json::Value) -> Result<Self, E> {
                let kind = $crate::kinded::take_kind(&mut table, Self::KINDS, $what)?;
                match kind.as_str() {
                    $( $kind => lightloom_engine::config::nested(&table).map($name::$variant), )+
                    _ => Err($crate::kinded::unknown_kind("kind", &kind, Self::KINDS)),
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                struct Visitor;
                impl<'de> serde::de::Visitor<'de> for Visitor {
                    type Value = $name;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str(concat!($what, ": a name, or a table with a `kind`"))
                    }
                    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<$name, E> {
                        $named(name)
                    }
                    fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<$name, A::Error> {
                        $name::from_table($crate::kinded::buffer(map)?)
                    }
                }
                d.deserialize_any(Visitor)
            }
        }
    };
}

/// A table without keys of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoKeys {}

pub(crate) fn buffer<'de, A: MapAccess<'de>>(map: A) -> Result<Value, A::Error> {
    Value::deserialize(MapAccessDeserializer::new(map))
}

pub(crate) fn take_kind<E: serde::de::Error>(
    table: &mut Value,
    kinds: &[&str],
    what: &str,
) -> Result<String, E> {
    match table.as_object_mut().and_then(|t| t.remove("kind")) {
        Some(Value::String(kind)) => Ok(kind),
        Some(other) => Err(unknown_kind("kind", &other.to_string(), kinds)),
        None => {
            let meant = kinds.iter().find(|kind| table.get(**kind).is_some());
            Err(config::nested_refusal(Refusal::new(
                "kind",
                "(missing)",
                format!("the table of {what} has no kind"),
                match meant {
                    Some(kind) => format!("write {{ kind = \"{kind}\", … }} with its keys"),
                    None => format!("add kind = {}", config::list(kinds)),
                },
            )))
        }
    }
}

/// The refusal of a name at `key` that is not in `known`.
pub(crate) fn unknown_kind<E: serde::de::Error>(key: &str, found: &str, known: &[&str]) -> E {
    config::nested_refusal(Refusal::new(
        key,
        format!("\"{}\"", found.trim_matches('"')),
        format!("must be one of {}", config::list(known)),
        config::nearest_listed(found.trim_matches('"'), known),
    ))
}

/// Reads a bare string as the table `{ kind = name }`, in which every other key has a default.
pub(crate) fn kind_alone<T: serde::de::DeserializeOwned, E: serde::de::Error>(
    name: &str,
    kinds: &[&str],
) -> Result<T, E> {
    if !kinds.contains(&name) {
        return Err(unknown_kind("", name, kinds));
    }
    config::nested(&serde_json::json!({ "kind": name }))
}

/// Adds the bare names to the schema of a table.
pub(crate) fn or_names(schema: &mut schemars::Schema, names: &[&str]) {
    let table = std::mem::take(schema);
    *schema = schemars::json_schema!({
        "anyOf": [{ "type": "string", "enum": names }, table]
    });
    for key in ["$schema", "title", "description", "$defs"] {
        let moved = schema
            .pointer_mut("/anyOf/1")
            .and_then(|t| t.as_object_mut()?.remove(key));
        if let Some(value) = moved {
            schema.insert(key.to_owned(), value);
        }
    }
}
