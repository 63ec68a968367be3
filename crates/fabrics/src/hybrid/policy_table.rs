//! The `policy` of a hybrid network: from the registry, or from a user's file.
//!
//! The schedule of the policy `fixed` may be in a file, too. Policies read no files, so its path
//! and digest are stored here, and the contents of the file are passed to the policy.

use super::schedule_file::{read_schedule, ScheduleFile};
use lightloom_control::hardware::Hardware;
use lightloom_control::policies::library::Library;
use lightloom_control::policies::{
    assignment, eclipse, find, fixed, mordia, rotation, solstice, Built, Entry,
};
use lightloom_engine::{config, Refusal};
use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// A policy and its own keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyTable {
    source: Source,
    own: Map<String, Value>,
}

/// The key of `fixed` that may name a file.
const SCHEDULE: &str = "schedule";
/// The key of `fixed` that makes its circuits lead one way.
const DIRECTED: &str = "directed";
/// The key of the digest of that file, in hexadecimal; no key of the policy.
const DIGEST: &str = "sha256";
/// Number of digits of a digest in messages.
const SHOWN: usize = 12;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Source {
    /// A policy of the registry, by its kind.
    Kind(String),
    /// `PATH:NAME`.
    File(String),
}

impl PolicyTable {
    /// A policy of the registry, with its defaults.
    pub fn kind(kind: &str) -> PolicyTable {
        PolicyTable {
            source: Source::Kind(kind.to_owned()),
            own: Map::new(),
        }
    }

    /// The policy that follows the schedule of a file.
    pub fn following(path: &str) -> PolicyTable {
        PolicyTable {
            source: Source::Kind(fixed::ENTRY.kind.to_owned()),
            own: Map::from_iter([(SCHEDULE.to_owned(), Value::from(path))]),
        }
    }

    /// The policy that lights these circuits, of one direction or of both.
    pub fn lighting(circuits: &[Vec<u32>], directed: bool) -> PolicyTable {
        let rows = Value::from_iter(circuits.iter().map(|row| Value::from(row.clone())));
        let own = [("circuits", rows), (DIRECTED, directed.into())];
        PolicyTable {
            source: Source::Kind(fixed::ENTRY.kind.to_owned()),
            own: Map::from_iter(own.map(|(key, value)| (key.to_owned(), value))),
        }
    }

    /// Whether its circuits lead one way and stay until the next decision.
    pub fn directs(&self) -> bool {
        self.is_kind(assignment::ENTRY.kind) || self.own(DIRECTED) == Some(&Value::Bool(true))
    }

    /// Whether it decides on a schedule.
    pub fn takes_turns(&self) -> bool {
        let kinds = [
            mordia::ENTRY,
            solstice::ENTRY,
            eclipse::ENTRY,
            rotation::ENTRY,
        ];
        kinds.iter().any(|entry| self.is_kind(entry.kind)) || self.names(SCHEDULE)
    }

    /// Whether it is that policy of the registry.
    pub fn is_kind(&self, kind: &str) -> bool {
        matches!(&self.source, Source::Kind(own) if own == kind)
    }

    /// Whether it is a policy of the registry, and not one in a user's file.
    pub fn is_of_registry(&self) -> bool {
        matches!(&self.source, Source::Kind(_))
    }

    /// Whether a key was given.
    pub fn names(&self, key: &str) -> bool {
        self.own.contains_key(key)
    }

    /// A key that was given.
    pub fn own(&self, key: &str) -> Option<&Value> {
        self.own.get(key)
    }

    /// Sets a key of the policy to the value of the fabric's switch, unless its table gives the
    /// key.
    pub fn fill(&mut self, key: &str, value: &impl Serialize) {
        let Source::Kind(kind) = &self.source else {
            return;
        };
        let takes = |entry: &Entry| (entry.schema)()["properties"].get(key).is_some();
        if !self.names(key) && find(kind, "fabric.policy").is_ok_and(takes) {
            let value = serde_json::to_value(value).expect("plain data");
            self.own.insert(key.to_owned(), value);
        }
    }

    /// The table with the defaults of its keys, checked for a switch; the contents of a file are
    /// checked when the policy is built.
    ///
    /// # Errors
    /// If the kind does not exist, or if one of its keys is refused.
    pub fn resolve(&self, hardware: &Hardware) -> Result<PolicyTable, Refusal> {
        let Source::Kind(kind) = &self.source else {
            return Ok(self.clone());
        };
        let entry = find(kind, "fabric.policy")?;
        let file = self.read(hardware)?;
        let table = Value::Object(self.with(file.as_ref()).own);
        let Value::Object(mut own) = (entry.resolve)(&table, hardware).map_err(below_fabric)?
        else {
            unreachable!("a policy's configuration is a table");
        };
        if let (Some(path), Some(file)) = (self.schedule_file(), file) {
            own.insert(SCHEDULE.to_owned(), path.into());
            own.insert(DIGEST.to_owned(), file.sha256.into());
        }
        Ok(PolicyTable {
            source: Source::Kind(entry.kind.to_owned()),
            own,
        })
    }

    /// The same with the schedule of a named file in place of its path, so that the table has the
    /// same meaning everywhere; the contents of a user's policy file are not included.
    ///
    /// # Errors
    /// As [`read_schedule`], for `fabric.policy.schedule`; also if the digest of the file differs
    /// from the given one.
    pub fn with_files_read(&self, hardware: &Hardware) -> Result<PolicyTable, Refusal> {
        Ok(self.with(self.read(hardware)?.as_ref()))
    }

    fn with(&self, file: Option<&ScheduleFile>) -> PolicyTable {
        let mut read = self.clone();
        if let Some(file) = file {
            let table = serde_json::to_value(&file.schedule).expect("schedules are plain data");
            read.own.insert(SCHEDULE.to_owned(), table);
            read.own.remove(DIGEST);
        }
        read
    }

    /// The file of the schedule that is to be followed, if it is in one.
    fn read(&self, hardware: &Hardware) -> Result<Option<ScheduleFile>, Refusal> {
        let Some(path) = self.schedule_file() else {
            return Ok(None);
        };
        let file = read_schedule(path, hardware, "fabric.policy.schedule")?;
        match self.own.get(DIGEST) {
            Some(wanted) if *wanted != file.sha256 => Err(another(path, wanted, &file.sha256)),
            _ => Ok(Some(file)),
        }
    }

    /// The path of the schedule that is to be followed, if it is in a file.
    fn schedule_file(&self) -> Option<&str> {
        match &self.source {
            Source::Kind(kind) if kind == fixed::ENTRY.kind => self.own.get(SCHEDULE)?.as_str(),
            _ => None,
        }
    }

    /// Builds the policy, with the contents of files that its keys name.
    ///
    /// # Errors
    /// As [`PolicyTable::resolve`]; also if a user's file is invalid.
    pub fn build(&self, hardware: &Hardware, library: &dyn Library) -> Built {
        match &self.source {
            Source::Kind(kind) => {
                let table = Value::Object(self.own.clone());
                (find(kind, "fabric.policy")?.build)(&table, hardware)
            }
            Source::File(file) => library.policy(file, &self.own, hardware),
        }
        .map_err(below_fabric)
    }
}

/// Prefixes the key of a refusal: the policy's keys are below `fabric.policy`, those of its switch
/// are keys of the fabric.
fn below_fabric(refusal: Refusal) -> Refusal {
    match refusal.key.starts_with("fabric") {
        true => refusal,
        false => Refusal {
            key: format!("fabric.{}", refusal.key),
            ..refusal
        },
    }
}

/// The refusal of a file whose contents differ from those of the recorded digest.
fn another(path: &str, wanted: &Value, found: &str) -> Refusal {
    let shown = match wanted.as_str() {
        Some(digest) if digest.chars().count() > SHOWN => {
            format!("\"{}…\"", digest.chars().take(SHOWN).collect::<String>())
        }
        _ => wanted.to_string(),
    };
    let limit = format!("{path} has changed, its digest is now {}…", &found[..SHOWN]);
    let remedy = format!("restore it, or remove {DIGEST}");
    Refusal::new(format!("fabric.policy.{DIGEST}"), shown, limit, remedy)
}

impl Serialize for PolicyTable {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let (key, name) = match &self.source {
            Source::Kind(kind) => ("kind", kind),
            Source::File(file) => ("file", file),
        };
        let mut table = Map::from_iter([(key.to_owned(), Value::from(name.as_str()))]);
        table.extend(self.own.clone());
        table.serialize(s)
    }
}

impl<'de> Deserialize<'de> for PolicyTable {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<PolicyTable, D::Error> {
        let refuse = |key: &str, value: &Value, limit: &str, remedy: &str| {
            let refusal = Refusal::new(key, value, limit, remedy);
            Err(config::nested_refusal::<D::Error>(refusal))
        };
        let remedy = "write a name like \"rotation\", or { kind = \"hydra\", hops = 2 }";
        let mut own = match Value::deserialize(d).map_err(Error::custom)? {
            Value::String(name) => {
                return Ok(PolicyTable {
                    source: source(name),
                    own: Map::new(),
                })
            }
            Value::Object(own) => own,
            other => return refuse("", &other, "neither a name nor a table", remedy),
        };
        let source = match (own.remove("kind"), own.remove("file")) {
            (Some(Value::String(kind)), None) => Source::Kind(kind),
            (None, Some(Value::String(file))) => Source::File(file),
            (None, None) => return refuse("kind", &Value::Null, "which policy?", remedy),
            (Some(kind), None) => return refuse("kind", &kind, "not a name", remedy),
            (None, Some(file)) => return refuse("file", &file, "not a name", remedy),
            (Some(_), Some(file)) => {
                return refuse("file", &file, "it also has a kind", "remove one of them")
            }
        };
        Ok(PolicyTable { source, own })
    }
}

/// A name with a colon consists of a file and a class in it.
fn source(name: String) -> Source {
    match name.contains(':') {
        true => Source::File(name),
        false => Source::Kind(name),
    }
}

impl JsonSchema for PolicyTable {
    fn schema_name() -> Cow<'static, str> {
        "Policy".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "object"] })
    }
}
