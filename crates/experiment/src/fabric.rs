//! `[[fabric]]`: a kind, a label, an optional preset, and the fabric's own keys.

use crate::ClusterTable;
use lightloom_engine::{config, Cluster, Refusal};
use lightloom_fabrics::physics::{Obeyed, Obeying};
use lightloom_fabrics::{Doubts, Ended, Entry, Facts, Finding, Physics, Ran, Site, Term, REGISTRY};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// One fabric of an experiment. Its own keys are read by its configuration.
#[derive(Clone, Debug, Serialize)]
pub struct FabricTable {
    /// The kind in the registry.
    pub kind: String,
    /// Name of its results, unique in the experiment; the kind unless given.
    pub label: Option<String>,
    /// A named configuration that the own keys override.
    pub preset: Option<String>,
    /// The fabric's own keys.
    #[serde(flatten)]
    pub own: Map<String, Value>,
}

/// The keys that every fabric has.
#[derive(Deserialize)]
struct Common {
    kind: String,
    label: Option<String>,
    preset: Option<String>,
}

impl<'de> Deserialize<'de> for FabricTable {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<FabricTable, D::Error> {
        let mut own = Map::deserialize(d)?;
        let common: Map<_, _> = ["kind", "label", "preset"]
            .into_iter()
            .filter_map(|key| Some((key.to_owned(), own.shift_remove(key)?)))
            .collect();
        let Common {
            kind,
            label,
            preset,
        } = config::nested(&Value::Object(common))?;
        Ok(FabricTable {
            kind,
            label,
            preset,
            own,
        })
    }
}

impl FabricTable {
    /// Name of its results.
    pub fn label(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.kind)
    }

    /// Its entry in the registry.
    pub(crate) fn entry(&self, at: &str) -> Result<&'static Entry, Refusal> {
        let kinds: Vec<&str> = REGISTRY.iter().map(|e| e.kind).collect();
        lightloom_fabrics::find(&self.kind).ok_or_else(|| {
            Refusal::new(
                format!("{at}.kind"),
                format!("\"{}\"", self.kind),
                "no such fabric",
                config::nearest(&self.kind, &kinds),
            )
        })
    }

    fn resolve(
        &self,
        at: &str,
        physics: &Physics,
        cluster: &Cluster,
    ) -> Result<FabricTable, Refusal> {
        let entry = self.entry(at)?;
        let own = match &self.preset {
            None => self.own.clone(),
            Some(name) => {
                let preset = preset(entry, name, at)?;
                let own = merged(preset.clone(), &self.own);
                let table = Value::Object(own.clone());
                let obeyed = (entry.obey)(&table, physics, cluster).map_err(|e| place(e, at))?;
                self.refuse_ignored_nic(&preset, &obeyed, physics)?;
                own
            }
        };
        let resolved = under(entry, physics, own, cluster).map_err(|e| place(e, at))?;
        let Value::Object(own) = resolved else {
            unreachable!("a fabric's configuration is a table")
        };
        Ok(FabricTable {
            kind: self.kind.clone(),
            label: Some(self.label().to_owned()),
            preset: None,
            own,
        })
    }

    /// Refuses a preset by which servers receive more than the rate of their link in the cluster,
    /// unless the fabric's own key does so, too.
    fn refuse_ignored_nic(
        &self,
        preset: &Map<String, Value>,
        obeyed: &Obeyed,
        physics: &Physics,
    ) -> Result<(), Refusal> {
        let ignored = |o: &&Obeying| o.term == Term::Nic && !self.own.contains_key(o.key);
        let (Some(nic), Some(Obeying { key, value, .. })) =
            (physics.nic, obeyed.keys.iter().find(ignored))
        else {
            return Ok(());
        };
        let Some(other) = preset.get(*key).filter(|other| *other != value) else {
            return Ok(());
        };
        let (label, name) = (self.label(), self.preset.as_deref().unwrap_or_default());
        Err(Refusal::new(
            Term::Nic.key(),
            nic,
            format!(
                "has no effect on what servers of {label} receive: preset \"{name}\" has \
                 {key} = {other}"
            ),
            format!("set fabric.{key} = {value} beside the preset, or {other} to keep it"),
        ))
    }

    /// Values of a resolved table that limit the results of a run that ended.
    ///
    /// # Errors
    /// A [`Refusal`] of a table that is not resolved.
    pub fn findings_of_run(&self, ended: &Ended) -> Result<Vec<Finding>, Refusal> {
        (self.entry("fabric")?.findings_of_run)(&self.table(), ended)
    }

    /// Doubts about the figures of a run of a resolved table.
    ///
    /// # Errors
    /// A [`Refusal`] of a table that is not resolved.
    pub fn doubts(&self, cluster: &ClusterTable, run: &Ran) -> Result<Doubts, Refusal> {
        (self.entry("fabric")?.doubts)(&self.table(), &cluster.resolve()?.1, run)
    }

    /// The values that follow from a resolved table before a run.
    pub(crate) fn facts(&self, site: &Site) -> Result<Facts, Refusal> {
        (self.entry("fabric")?.facts)(&self.table(), site)
    }

    /// The fabric's own table.
    pub(crate) fn table(&self) -> Value {
        Value::Object(self.own.clone())
    }
}

/// Completes a table; its keys override those through which it obeys the physics.
fn under(
    entry: &Entry,
    physics: &Physics,
    mut table: Map<String, Value>,
    cluster: &Cluster,
) -> Result<Value, Refusal> {
    if physics.is_empty() {
        return (entry.resolve)(&Value::Object(table), cluster);
    }
    let mut set: Vec<(String, Term)> = Vec::new();
    let obeyed = (entry.obey)(&Value::Object(table.clone()), physics, cluster)?;
    for obeying in obeyed.keys {
        if !table.contains_key(obeying.key) {
            set.push((format!("fabric.{}", obeying.key), obeying.term));
            table.insert(obeying.key.to_owned(), obeying.value);
        }
    }
    (entry.resolve)(&Value::Object(table), cluster).map_err(|refusal| {
        match set.iter().find(|(key, _)| *key == refusal.key) {
            None => refusal,
            Some((_, term)) => Refusal {
                limit: format!("as {} has it, {}", term.key(), refusal.limit),
                ..refusal
            },
        }
    })
}

/// Validates and completes all fabrics.
pub(crate) fn resolve_all(
    fabrics: &[FabricTable],
    physics: &Physics,
    cluster: &Cluster,
) -> Result<Vec<FabricTable>, Refusal> {
    if fabrics.is_empty() {
        let kinds: Vec<&str> = REGISTRY.iter().map(|e| e.kind).collect();
        return Err(Refusal::new(
            "fabric",
            "(missing)",
            "an experiment runs at least one fabric",
            format!("add [[fabric]] with a kind: {}", kinds.join(", ")),
        ));
    }
    check_labels(fabrics)?;
    let resolve = |f: &FabricTable| f.resolve(&path(f, fabrics), physics, cluster);
    fabrics.iter().map(resolve).collect()
}

/// The name of a fabric in messages: with its label if there is more than one.
pub(crate) fn path(fabric: &FabricTable, all: &[FabricTable]) -> String {
    if all.len() == 1 {
        "fabric".to_owned()
    } else {
        format!("fabric[{}]", fabric.label())
    }
}

/// Moves a refusal of `fabric.KEY` to the place of this fabric.
pub(crate) fn place(refusal: Refusal, at: &str) -> Refusal {
    match refusal.key.strip_prefix("fabric") {
        Some(rest) if rest.is_empty() || rest.starts_with(['.', '[']) => Refusal {
            key: format!("{at}{rest}"),
            ..refusal
        },
        _ => refusal,
    }
}

fn preset(entry: &Entry, name: &str, at: &str) -> Result<Map<String, Value>, Refusal> {
    let names: Vec<&str> = entry.presets.iter().map(|p| p.name).collect();
    let preset = entry
        .presets
        .iter()
        .find(|p| p.name == name)
        .ok_or_else(|| {
            Refusal::new(
                format!("{at}.preset"),
                format!("\"{name}\""),
                format!("{} has no such preset", entry.kind),
                config::nearest(name, &names),
            )
        })?;
    Ok(serde_json::from_str(preset.table).expect("presets are tables; a test reads them all"))
}

/// `over` upon `base`. Tables merge key by key, unless their `kind` differs, or `over`
/// names a `file` instead: then they have no keys in common.
fn merged(mut base: Map<String, Value>, over: &Map<String, Value>) -> Map<String, Value> {
    for (key, value) in over {
        let value = match (base.get(key), value) {
            (Some(Value::Object(b)), Value::Object(o))
                if ["kind", "file"]
                    .into_iter()
                    .all(|key| o.get(key).is_none_or(|of| b.get(key) == Some(of))) =>
            {
                Value::Object(merged(b.clone(), o))
            }
            _ => value.clone(),
        };
        base.insert(key.clone(), value);
    }
    base
}

/// Names of files and directories that are beside the directories named by labels.
const RESERVED: &[&str] = &[
    "bill.csv",
    "circuits.parquet",
    "comparison.json",
    "controller.jsonl",
    "costs.json",
    "decision.json",
    "decision.pdf",
    "experiment.toml",
    "figures",
    "flows.parquet",
    "inputs",
    "links.parquet",
    "loads.json",
    "record.json",
    "report.html",
    "resilience.json",
    "saturation.json",
    "summary.json",
    "timeseries.parquet",
];

/// Whether the name is that of the results of a seed, such as `seed-7`.
fn is_of_a_seed(label: &str) -> bool {
    let digits = label
        .get(..5)
        .filter(|start| start.eq_ignore_ascii_case("seed-"))
        .map(|_| &label[5..]);
    digits.is_some_and(|of| !of.is_empty() && of.bytes().all(|b| b.is_ascii_digit()))
}

/// The longest name of a directory, with room for the temporary names of files [B].
const LONGEST_NAME: usize = 200;

/// Refuses labels that cannot name directories on every system. Letters of any script are allowed
/// if they are precomposed, because some file systems separate a letter from its accent.
fn check_labels(fabrics: &[FabricTable]) -> Result<(), Refusal> {
    let safe = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | ' ' | '+');
    for (i, fabric) in fabrics.iter().enumerate() {
        let label = fabric.label();
        let refuse = |limit: &str, remedy: &str| {
            Err(Refusal::new(
                format!("fabric[{i}].label"),
                format!("\"{label}\""),
                limit,
                remedy,
            ))
        };
        let same = |other: &FabricTable| other.label().to_lowercase() == label.to_lowercase();
        if fabrics[..i].iter().any(same) {
            return refuse(
                "another fabric has this label",
                "give each a label of its own, like label = \"wide\"",
            );
        }
        if RESERVED.iter().any(|r| r.eq_ignore_ascii_case(label)) || is_of_a_seed(label) {
            return refuse("results have a file of this name", "choose another");
        }
        let ends = char::is_alphanumeric;
        if label.len() > LONGEST_NAME {
            let limit = format!("names a directory, and takes {} bytes", label.len());
            return refuse(&limit, &format!("shorten it to {LONGEST_NAME}"));
        }
        if label.chars().count() > 64
            || !label.starts_with(ends)
            || label.ends_with(['.', ' '])
            || !label.chars().all(safe)
        {
            return refuse(
                "names a directory: a letter or digit, then up to 63 letters, digits, spaces, . _ - +",
                "rename it",
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn table(json: Value) -> FabricTable {
        serde_json::from_value(json).unwrap()
    }

    fn map(json: Value) -> Map<String, Value> {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn own_keys_override_the_preset() {
        let base = map(json!({"a": 1, "b": {"kind": "x", "p": 1, "q": 2}, "c": {"p": 1}}));
        let over = map(json!({"a": 2, "b": {"kind": "x", "q": 3}, "c": {"kind": "y"}}));
        assert_eq!(
            Value::Object(merged(base, &over)),
            json!({"a": 2, "b": {"kind": "x", "p": 1, "q": 3}, "c": {"kind": "y"}})
        );
        let base = map(json!({"policy": {"kind": "rotation", "day": "1 ms"}}));
        let over = map(json!({"policy": {"file": "mine.py:Mine"}}));
        assert_eq!(merged(base, &over), over);
    }

    #[test]
    fn labels_are_unique_and_safe() {
        let check = |labels: &[&str]| {
            let fabrics: Vec<_> = labels
                .iter()
                .map(|l| table(json!({"kind": "clos", "label": l})))
                .collect();
            check_labels(&fabrics).map_err(|e| e.to_string())
        };
        assert_eq!(
            check(&["clos", "clos-3.1", "Sirius 1.5x", "seed-", "seed-a"]),
            Ok(())
        );
        assert_eq!(check(&["ünï", "Тополь 3", "光学", "שקע", "µ-1"]), Ok(()));
        assert!(check(&["光".repeat(64).as_str()]).is_ok());
        assert!(check(&["Ärger", "ärger"])
            .unwrap_err()
            .contains("another fabric has this label"));
        let wide = check(&["\u{20000}".repeat(51).as_str()]).unwrap_err();
        assert!(
            wide.ends_with("takes 204 bytes; shorten it to 200"),
            "{wide}"
        );
        for bad in [
            "",
            ".",
            "..",
            "a/b",
            "../a",
            "a\\b",
            ".hidden",
            "a\0",
            "a.",
            "-x",
            "u\u{308}ber",
            "a\u{202e}b",
            "a\u{a0}b",
            "figures",
            "Report.html",
            "saturation.json",
            "record.json",
            "Seed-12",
            &"x".repeat(65),
        ] {
            let e = check(&["clos", bad]).unwrap_err();
            assert!(e.starts_with("fabric[1].label = "), "{e}");
        }
        let e = check(&["Wide", "wide"]).unwrap_err();
        assert!(e.contains("another fabric has this label"), "{e}");
    }

    #[test]
    fn refusals_move_to_the_fabric_they_concern() {
        let moved = |key: &str| place(Refusal::new(key, 1, "", ""), "fabric[wide]").key;
        assert_eq!(moved("fabric.slot"), "fabric[wide].slot");
        assert_eq!(moved("fabric"), "fabric[wide]");
        assert_eq!(moved("cluster.racks"), "cluster.racks");
        let two = [
            table(json!({"kind": "clos"})),
            table(json!({"kind": "sirius"})),
        ];
        assert_eq!(path(&two[1], &two), "fabric[sirius]");
        assert_eq!(path(&two[1], &two[1..]), "fabric");
    }

    #[test]
    fn every_preset_is_a_table() {
        for entry in REGISTRY {
            for p in entry.presets {
                assert!(preset(entry, p.name, "fabric").is_ok());
            }
        }
    }
}
