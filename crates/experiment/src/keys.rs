//! Keys that no table has, found before anything else is read; keys that an experiment still lacks
//! do not matter.

use crate::fabric::{place, FabricTable};
use crate::{fabric, schema, Cluster, ClusterTable, Physics};
use lightloom_engine::{config, Refusal};
use serde_json::{json, Value};

/// Limits in refusals of a key, or of the kind or preset that determines the keys.
const OF_KEYS: [&str; 2] = ["no such key", "no such fabric"];

/// Refuses the first key of an experiment that no table has, as [`crate::Experiment::resolve`]
/// does. Files are not read; values and missing keys are not checked.
///
/// # Errors
/// A [`Refusal`] of this key.
pub fn check_keys(json: &Value) -> Result<(), Refusal> {
    let Some(tables) = json.as_object() else {
        return Ok(());
    };
    for (name, table) in tables {
        // Each table alone, so that a missing key of another table does not hide an error in this
        // one.
        let alone = json!({ name: table });
        let read = config::read::<crate::Experiment>(&alone, "").map_err(schema::misplaced);
        of_keys(read.map(|_| ()))?;
    }
    of_keys(check_fabrics(json))
}

/// The refusal, if it concerns a key.
fn of_keys(checked: Result<(), Refusal>) -> Result<(), Refusal> {
    match checked {
        Err(refusal) if OF_KEYS.contains(&&*refusal.limit) => Err(refusal),
        _ => Ok(()),
    }
}

/// Reads the fabrics' own tables, which need the servers.
fn check_fabrics(json: &Value) -> Result<(), Refusal> {
    let (_, cluster) = config::read::<ClusterTable>(&json["cluster"], "cluster")?.resolve()?;
    let fabrics: Vec<FabricTable> = config::read(&json["fabric"], "fabric")?;
    for table in &fabrics {
        let at = fabric::path(table, &fabrics);
        of_keys(check_fabric(table, &at, &cluster))?;
    }
    Ok(())
}

fn check_fabric(table: &FabricTable, at: &str, cluster: &Cluster) -> Result<(), Refusal> {
    let entry = table.entry(at)?;
    let obeyed = (entry.obey)(&table.table(), &Physics::default(), cluster);
    obeyed.map(|_| ()).map_err(|refusal| place(refusal, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(experiment: Value) -> String {
        match check_keys(&experiment) {
            Ok(()) => String::new(),
            Err(refusal) => refusal.to_string(),
        }
    }

    #[test]
    fn a_key_is_refused_whatever_else_is_missing() {
        let typo = |json| refused(json);
        assert_eq!(
            typo(json!({"run": {"sed": 1}})),
            "run.sed = 1: no such key; did you mean \"seed\"?"
        );
        assert!(typo(json!({"cluster": {}, "workload": {"lod": 1}})).starts_with("workload.lod"));
        assert!(typo(json!({"fault": [{"nde": 1}]})).starts_with("fault[0].nde = 1: no such key"));
        let cluster = json!({"racks": 4, "servers_per_rack": 2, "server_rate": "10 Gb/s"});
        let two = json!([{"kind": "clos"}, {"kind": "sirius", "quee": 4}]);
        assert_eq!(
            typo(json!({"cluster": cluster, "fabric": two})),
            "fabric[sirius].quee = 4: no such key; did you mean \"queue\"?"
        );
        let unknown = json!([{"kind": "cls"}]);
        assert!(typo(json!({"cluster": cluster, "fabric": unknown})).contains("no such fabric"));
    }

    #[test]
    fn values_and_missing_keys_are_left_to_resolve() {
        for experiment in [
            json!({}),
            json!(1),
            json!({"workload": {"load": "x", "trace": "no/such.csv"}}),
            json!({"cluster": 3, "fabric": [{"kind": "clos"}]}),
            json!({"fabric": [{"kind": "clos", "upl": 1}]}),
        ] {
            assert_eq!(refused(experiment.clone()), "", "{experiment}");
        }
    }
}
