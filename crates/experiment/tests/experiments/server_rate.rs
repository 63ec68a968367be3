//! No server sends or receives faster than the file states, on any fabric.

use crate::common::connects_single_nodes;
use lightloom_engine::run::Silent;
use lightloom_engine::{Flows, HostId, Rate, Time};
use lightloom_experiment::Experiment;
use lightloom_fabrics::REGISTRY;
use serde_json::{json, Value};

const RATE: Rate = Rate(25 * Rate::GBPS.0);
const BYTES: u64 = 2_000_000;

/// Sixteen hosts; each is a rack of its own if the fabric connects single nodes.
fn cluster(kind: &str) -> Value {
    match connects_single_nodes(kind) {
        true => json!({"hosts": 16, "server_rate": "25 Gb/s"}),
        false => json!({"racks": 8, "servers_per_rack": 2, "server_rate": "25 Gb/s"}),
    }
}

/// The duration of a flow that is alone in the network, from the first rack to the last.
fn alone(cluster: &Value, fabric: &Value) -> Result<Time, String> {
    let raw = json!({
        "cluster": cluster,
        "workload": {"trace": "given.parquet"},
        "run": {"stop": "drain", "limit": "100 s"},
        "fabric": [fabric],
    });
    let mut flows = Flows::new();
    flows.push(HostId(0), HostId(15), BYTES, Time::ZERO);
    let prepared = Experiment::read(&raw)
        .and_then(|experiment| experiment.prepare(0, 1, Some(flows)))
        .map_err(|refusal| refusal.to_string())?;
    let ran = prepared.run(&mut Silent).map_err(|e| e.to_string())?;
    Ok(ran.flows.finish[0] - ran.flows.arrival[0])
}

#[test]
fn a_lone_flow_takes_its_bytes_at_the_rate_of_a_server_on_every_fabric() {
    let least = RATE.time_for(BYTES);
    for entry in REGISTRY {
        let cluster = cluster(entry.kind);
        let presets = entry.presets.iter().map(|preset| Some(preset.name));
        for preset in presets.chain([None]) {
            let mut fabric = json!({"kind": entry.kind});
            if let Some(preset) = preset {
                fabric["preset"] = json!(preset);
            }
            match alone(&cluster, &fabric) {
                Ok(took) => assert!(took >= least, "{fabric}: {took}, not {least}"),
                Err(refusal) => panic!("{fabric}: {refusal}"),
            }
        }
    }
}

/// A rack of Sirius has 12 uplinks instead of 8: a flow that is alone has the cells of all of them.
#[test]
fn uncapped_servers_are_as_fast_as_their_racks() {
    for mode in ["request_grant", "ideal"] {
        let fabric = json!({"kind": "sirius", "mode": mode});
        let mut cluster = json!({"racks": 16, "servers_per_rack": 4, "server_rate": "100 Gb/s"});
        let capped = alone(&cluster, &fabric).unwrap();
        assert!(capped >= Time::US * 160, "{mode}: {capped}");
        cluster["nic"] = json!("uncapped");
        let uncapped = alone(&cluster, &fabric).unwrap();
        assert!(uncapped < Time::US * 50, "{mode}: {uncapped}");
    }
}

/// A table or preset with hosts faster than servers is refused with both remedies.
#[test]
fn hosts_that_would_be_faster_are_refused() {
    for kind in ["lions", "flattened-butterfly"] {
        let cluster = json!({"hosts": 16, "server_rate": "5 Gb/s"});
        let refused = alone(&cluster, &json!({"kind": kind, "rate": "10 Gb/s"})).unwrap_err();
        let said = "fabric.rate = 10 Gb/s: is faster than the server's link of 5 Gb/s \
                    (cluster.nic); lower it, or set cluster.nic = \"10 Gb/s\" or \"uncapped\"";
        assert_eq!(refused, said);
        let mut uncapped = cluster.clone();
        uncapped["nic"] = json!("uncapped");
        assert!(alone(&uncapped, &json!({"kind": kind, "rate": "10 Gb/s"})).is_ok());
    }
}

/// A preset by which servers receive faster than the link in the file is refused, unless the
/// fabric's own key decides; a completed file is read again as it is.
#[test]
fn a_link_that_a_preset_passes_over_is_refused() {
    let resolve = |nic: Option<&str>, keys: Value| {
        let mut fabric = json!({"kind": "lions", "label": "x", "preset": "dlb"});
        for (key, value) in keys.as_object().unwrap() {
            fabric[key] = value.clone();
        }
        let mut cluster = json!({"hosts": 16, "server_rate": "25 Gb/s"});
        if let Some(nic) = nic {
            cluster["nic"] = json!(nic);
        }
        let raw = json!({
            "cluster": cluster,
            "workload": {"load": 0.1, "flows": 10, "sizes": {"kind": "fixed", "size": "1 KB"}},
            "fabric": [fabric],
        });
        let resolved = Experiment::read(&raw).expect("of this shape").resolve();
        let table = resolved.map_err(|e| e.to_string())?.to_json();
        let again = Experiment::read(&table).expect("as written").resolve();
        assert_eq!(again.map(|e| e.to_json()), Ok(table.clone()));
        Ok::<_, String>(table["fabric"][0]["host_link"].clone())
    };
    let (heard, link) = (json!("receivers"), json!("nic"));
    for nic in ["10 Gb/s", "25 Gb/s", "40 Gb/s"] {
        assert_eq!(
            resolve(Some(nic), json!({})).unwrap_err(),
            format!(
                "cluster.nic = {nic}: has no effect on what servers of x receive: preset \"dlb\" \
                 has host_link = \"receivers\"; set fabric.host_link = \"nic\" beside the preset, \
                 or \"receivers\" to keep it"
            )
        );
        for own in [&heard, &link] {
            assert_eq!(
                resolve(Some(nic), json!({"host_link": own})).as_ref(),
                Ok(own)
            );
        }
    }
    // This follows the preset, and no host receives faster than its link.
    assert_eq!(resolve(None, json!({})).as_ref(), Ok(&heard));
    assert_eq!(resolve(Some("uncapped"), json!({})).as_ref(), Ok(&heard));
    for (nic, keys) in [
        ("25 Gb/s", json!({"preset": "test-bed"})),
        ("40 Gb/s", json!({"rate": "10 Gb/s"})),
    ] {
        assert_eq!(resolve(Some(nic), keys).as_ref(), Ok(&heard));
    }
    let narrow = resolve(Some("39 Gb/s"), json!({"rate": "10 Gb/s"}));
    assert!(narrow.is_err(), "four receivers of 10 Gb/s hear 40 Gb/s");
}

/// Fabrics whose links are always fair.
const FAIR: [&str; 5] = ["clos", "tree", "cthrough", "hydra", "hybrid"];

/// Every fabric obeys the order in which servers' links serve flows, or states that it has none;
/// the completed file has the order in force.
#[test]
fn every_fabric_obeys_the_discipline_or_says_that_it_has_none() {
    for entry in REGISTRY {
        let completed = |discipline: Option<&str>| {
            let mut cluster = cluster(entry.kind);
            if let Some(discipline) = discipline {
                cluster["discipline"] = json!(discipline);
            }
            let raw = json!({
                "cluster": cluster,
                "workload": {"load": 0.1, "flows": 10, "sizes": "web-search"},
                "fabric": [{"kind": entry.kind}],
            });
            Experiment::read(&raw)
                .and_then(|read| read.resolve())
                .expect("it can run")
        };
        for (given, recorded) in [
            (None, "fair"),
            (Some("fair"), "fair"),
            (Some("fifo"), "fifo"),
        ] {
            let resolved = completed(given);
            let missing = resolved.assumptions().expect("resolved").remove(0).missing;
            let missing = serde_json::to_value(missing).expect("plain data");
            let terms = missing.as_array().expect("a list").iter();
            let lacks = terms.into_iter().any(|m| m["term"] == "cluster.discipline");
            let json = resolved.to_json();
            assert_eq!(json["cluster"]["discipline"], recorded, "{}", entry.kind);
            let fifo = recorded == "fifo";
            assert_eq!(lacks, fifo && FAIR.contains(&entry.kind), "{}", entry.kind);
            let own = json["fabric"][0]["discipline"] == "fifo";
            assert_eq!(own, fifo && !lacks, "{}", entry.kind);
        }
    }
}
