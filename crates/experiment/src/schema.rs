//! The JSON Schema of an experiment, assembled from those of its parts.

use crate::{ClusterTable, CompareTable, FaultTable, PhysicsTable, RunTable};
use lightloom_engine::Refusal;
use lightloom_fabrics::{Entry, REGISTRY};
use lightloom_workload::WorkloadConfig;
use schemars::{generate::SchemaSettings, JsonSchema, SchemaGenerator};
use serde_json::{json, Map, Value};

/// The refusal of a key in the wrong table, with its right table: `workload.sizes.load` belongs to
/// `[workload]`, and `workload.sizes.mean_rul` is nearest to another key.
pub(crate) fn misplaced(refusal: Refusal) -> Refusal {
    let path: Vec<&str> = refusal.key.split('.').collect();
    let [table, _, .., key] = path[..] else {
        return refusal;
    };
    if refusal.limit != "no such key" {
        return refusal;
    }
    let keys = keys_of(table);
    let remedy = match keys
        .iter()
        .max_by(|a, b| alike(key, a).total_cmp(&alike(key, b)))
    {
        Some(same) if same == key => format!("it is a key of [{table}]: write {table}.{key}"),
        Some(near) if alike(key, near) > NEARLY_THE_SAME && !refusal.remedy.contains(near) => {
            format!("did you mean {table}.{near}, a key of [{table}]?")
        }
        _ => return refusal,
    };
    Refusal { remedy, ..refusal }
}

/// Similarity of two keys that differ by one missing letter or two exchanged letters; other keys
/// are not so similar by chance.
const NEARLY_THE_SAME: f64 = 0.95;

fn alike(a: &str, b: &str) -> f64 {
    strsim::jaro_winkler(a, b)
}

/// The keys of a table of the experiment; none of fabrics, which have their own.
fn keys_of(table: &str) -> Vec<String> {
    let schema = schema();
    let part = &schema["properties"][table];
    let name = part["$ref"].as_str().and_then(|r| r.strip_prefix('#'));
    let properties = name.and_then(|pointer| schema.pointer(pointer)?["properties"].as_object());
    properties.map_or_else(Vec::new, |p| p.keys().cloned().collect())
}

/// JSON Schema (draft 2020-12) of an experiment with every registered fabric.
pub fn schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let properties = json!({
        "name": { "type": "string", "description": "Name of the experiment in reports." },
        "version": {
            "type": "string",
            "description": "Version of Lightloom that resolved the file; a run replaces it.",
        },
        "cluster": part::<ClusterTable>(&mut generator),
        "physics": part::<PhysicsTable>(&mut generator),
        "workload": part::<WorkloadConfig>(&mut generator),
        "inputs": inputs(),
        "run": part::<RunTable>(&mut generator),
        "compare": part::<CompareTable>(&mut generator),
        "fabric": {
            "type": "array",
            "minItems": 1,
            "description": "The fabrics to run.",
            "items": { "anyOf": REGISTRY.iter().map(reference).collect::<Vec<_>>() },
        },
        "fault": {
            "type": "array",
            "description": "Failures of parts, each with its time.",
            "items": part::<FaultTable>(&mut generator),
        },
    });
    let mut definitions = generator.take_definitions(true);
    for entry in REGISTRY {
        definitions.extend(fabric_definitions(entry));
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Lightloom experiment",
        "type": "object",
        "properties": properties,
        "required": ["cluster", "workload", "fabric"],
        "additionalProperties": false,
        "$defs": definitions,
    })
}

/// Digests of files, by the keys that name them; policies have keys of their own.
fn inputs() -> Value {
    let digest = |what: &str| {
        json!({
            "type": "string",
            "pattern": "^sha256:[0-9a-f]{64}$",
            "description": format!("Digest of {what}: \"sha256:\" and 64 hexadecimal digits."),
        })
    };
    json!({
        "type": "object",
        "description": "SHA-256 digests of the files that the experiment reads, by the keys that \
            name them. The resolved experiment in results contains them; the digest of a policy's \
            file is next to its key `file`. A file with another digest is refused.",
        "properties": {
            "workload.trace": digest("the trace"),
            "workload.sizes.file": digest("the distribution of sizes"),
            "workload.arrivals.file": digest("the arrival times"),
            "workload.pattern.file": digest("the matrix of weights"),
        },
        "patternProperties": {
            "^workload\\.mix\\[[0-9]+\\]\\.(sizes|arrivals|pattern)\\.file$": digest("a file of a part"),
        },
        "additionalProperties": false,
    })
}

fn part<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    generator.subschema_for::<T>().to_value()
}

/// The prefix of the names of a fabric's definitions.
fn prefix(entry: &Entry) -> String {
    format!("fabric-{}", entry.kind)
}

fn reference(entry: &Entry) -> Value {
    json!({ "$ref": format!("#/$defs/{}", prefix(entry)) })
}

/// A fabric's schema and the definitions that it refers to, under separate names.
fn fabric_definitions(entry: &Entry) -> Map<String, Value> {
    let prefix = prefix(entry);
    let mut schema = (entry.schema)();
    rename_references(&mut schema, &prefix);
    let mut definitions = Map::new();
    let Value::Object(table) = &mut schema else {
        return definitions;
    };
    table.remove("$schema");
    if let Some(Value::Object(own)) = table.remove("$defs") {
        definitions.extend(own.into_iter().map(|(k, v)| (format!("{prefix}-{k}"), v)));
    }
    add_common_keys(table, entry);
    definitions.insert(prefix, schema);
    definitions
}

fn rename_references(schema: &mut Value, prefix: &str) {
    match schema {
        Value::Object(table) => {
            if let Some(Value::String(target)) = table.get_mut("$ref") {
                if let Some(name) = target.strip_prefix("#/$defs/") {
                    *target = format!("#/$defs/{prefix}-{name}");
                }
            }
            table
                .values_mut()
                .for_each(|v| rename_references(v, prefix));
        }
        Value::Array(list) => list.iter_mut().for_each(|v| rename_references(v, prefix)),
        _ => {}
    }
}

fn add_common_keys(table: &mut Map<String, Value>, entry: &Entry) {
    let presets: Vec<&str> = entry.presets.iter().map(|p| p.name).collect();
    let own = table.remove("properties").unwrap_or_else(|| json!({}));
    let mut properties = json!({
        "kind": { "const": entry.kind, "description": entry.title },
        "label": {
            "type": "string",
            "description": "Name of the fabric in results, unique in the experiment. Default: \
                its kind.",
        },
        "preset": {
            "enum": presets,
            "description": "A named configuration that the other keys override.",
        },
    });
    if let (Value::Object(all), Value::Object(own)) = (&mut properties, own) {
        all.extend(own);
    }
    table.insert("properties".into(), properties);
    let required = table.entry("required").or_insert_with(|| json!([]));
    if let Value::Array(required) = required {
        required.insert(0, json!("kind"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn references<'a>(schema: &'a Value, found: &mut Vec<&'a str>) {
        match schema {
            Value::Object(table) => {
                if let Some(Value::String(target)) = table.get("$ref") {
                    found.push(target);
                }
                table.values().for_each(|v| references(v, found));
            }
            Value::Array(list) => list.iter().for_each(|v| references(v, found)),
            _ => {}
        }
    }

    #[test]
    fn every_reference_leads_somewhere() {
        let schema = schema();
        let mut found = Vec::new();
        references(&schema, &mut found);
        assert!(found.len() >= REGISTRY.len());
        for target in found {
            let pointer = target.strip_prefix('#').unwrap();
            assert!(schema.pointer(pointer).is_some(), "{target}");
        }
    }

    #[test]
    fn a_key_that_stands_too_deep_is_told_where_it_belongs() {
        let told = |key: &str| misplaced(Refusal::new(key, 1, "no such key", "known: …")).remedy;
        assert_eq!(
            told("workload.sizes.mean_rule"),
            "it is a key of [workload]: write workload.mean_rule"
        );
        assert_eq!(
            told("workload.sizes.mean_rul"),
            "did you mean workload.mean_rule, a key of [workload]?"
        );
        assert_eq!(told("workload.sizes.men"), "known: …");
        assert_eq!(told("workload.mean_rules"), "known: …");
        assert_eq!(told("fabric.policy.load"), "known: …");
    }

    #[test]
    fn each_fabric_has_the_common_keys_and_its_own() {
        let schema = schema();
        for entry in REGISTRY {
            let fabric = &schema["$defs"][prefix(entry)];
            assert_eq!(fabric["properties"]["kind"]["const"], entry.kind);
            assert_eq!(fabric["required"][0], "kind");
            assert!(fabric["properties"].as_object().unwrap().len() > 3);
        }
    }
}
