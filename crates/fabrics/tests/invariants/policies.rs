//! Tables of hybrid networks: every policy of the registry, with and without a tree. Intervals,
//! days and delays are microseconds, so that circuits change within the short runs of these tests.

use crate::tables::{merged, nic, picoseconds, switches, Fitted};
use crate::trials::Trial;
use lightloom_control::policies::REGISTRY;
use lightloom_engine::run::Fault;
use lightloom_engine::{Cluster, Command, Element, Rate, Time};
use proptest::prelude::*;
use serde_json::{json, Map, Value};

/// `kind = "hybrid"`.
pub const TRIAL: Trial = Trial {
    kind: "hybrid",
    tables: || tables().boxed(),
    out_of_range,
};

/// Values that its keys may not have.
pub fn out_of_range() -> Vec<(&'static str, Value, &'static str)> {
    let same = |key: &'static str, value| (key, value, key);
    let policy = |table, named| ("policy", table, named);
    vec![
        same("policy", json!("no-such-policy")),
        policy(json!({"hops": 2}), "policy.kind"),
        policy(json!({"kind": 3}), "policy.kind"),
        policy(json!({"kind": "hydra", "file": "a.py:B"}), "policy.file"),
        policy(json!({"kind": "hydra", "hobs": 2}), "policy.hobs"),
        policy(json!({"kind": "hydra", "hops": 0}), "policy.hops"),
        policy(json!({"kind": "hydra", "hops": 13}), "policy.hops"),
        policy(
            json!({"kind": "hydra", "threshold": "2 TB"}),
            "policy.threshold",
        ),
        policy(json!({"kind": "fixed"}), "policy.circuits"),
        policy(
            json!({"kind": "fixed", "circuits": [[0]]}),
            "policy.circuits[0]",
        ),
        policy(
            json!({"kind": "fixed", "circuits": [[0, 1], [0, 1]]}),
            "policy.circuits[1]",
        ),
        policy(
            json!({"kind": "fixed", "circuits": [[0, 4_096]]}),
            "policy.circuits[0]",
        ),
        policy(
            json!({"kind": "fixed", "schedule": "no/such/plan.json"}),
            "policy.schedule",
        ),
        policy(
            json!({"kind": "fixed", "schedule": {"ports": 1_000_003, "night_ps": 0, "slots": []}}),
            "policy.schedule.slots",
        ),
        policy(
            json!({"kind": "fixed", "schedule": {"ports": 1, "night_ps": 0, "slots": [
                {"permutation": [0], "day_ps": 1}]}}),
            "policy.schedule.ports",
        ),
        policy(
            json!({"kind": "hydra", "schedule": "plan.json"}),
            "policy.schedule",
        ),
        same("oversubscription", json!(0.5)),
        same("oversubscription", json!(1001.0)),
        same("levels", json!(4)),
        same("racks_per_pod", json!(1_000_003)),
        same("planes", json!(0)),
        same("planes", json!(129)),
        same("circuit_rate", json!("0 b/s")),
        same("interval", json!("0 ps")),
        same("interval", json!("4000 s")),
        same("computation_delay", json!("4000 s")),
        same("socket_buffer", json!("0 B")),
        same("socket_buffer", json!("2 TB")),
        same("report_queue", json!("2 TB")),
        same("report_change", json!("2 TB")),
        same("smoothing", json!(0.0)),
        same("smoothing", json!(1.5)),
        same("settle", json!("4000 s")),
        same("link_up", json!("4000 s")),
        same("retag", json!("4000 s")),
        same("rule", json!("4000 s")),
        same("optical_weight", json!(0.3)),
        same("optical_weight", json!(1.0)),
        same("ramp", json!("4000 s")),
        same("dip", json!("4000 s")),
        same("controller_timeout", json!("4000 s")),
    ]
}

/// Microseconds, as users write them.
fn us(from: i64, to: i64) -> impl Strategy<Value = Value> {
    (from * 1_000_000..to * 1_000_000).prop_map(picoseconds)
}

fn bytes(below: u64) -> impl Strategy<Value = Value> {
    let amounts = prop_oneof![2 => Just(0), 1 => 0..below];
    amounts.prop_map(|bytes| json!(format!("{bytes} B")))
}

/// A policy with its keys, and the number of parallel switches that it can use.
#[derive(Clone, Debug)]
struct Chosen {
    policy: Value,
    planes: u32,
    /// Whether every pair of racks has its turn repeatedly.
    joins_all: bool,
}

/// Every policy of the registry, with equal probability.
fn policies(racks: u32) -> impl Strategy<Value = Chosen> {
    let each = REGISTRY.iter().map(|entry| one(entry.kind, racks));
    prop::strategy::Union::new(each.collect::<Vec<_>>())
}

/// Any valid keys of a policy for this number of racks.
fn one(kind: &'static str, racks: u32) -> BoxedStrategy<Chosen> {
    let night = || us(0, 2);
    let table = match kind {
        "assignment" => Just(json!({})).boxed(),
        "cthrough" => {
            let unrequested = prop::sample::select(vec!["rotate", "keep"]);
            (unrequested, bytes(9_000))
                .prop_map(|(rule, favour)| json!({"unrequested": rule, "hysteresis": favour}))
                .boxed()
        }
        "hydra" => return hydra(),
        "fixed" => return prop_oneof![2 => fixed(racks), 1 => planned(racks)].boxed(),
        "mordia" => {
            let scaling = prop::sample::select(vec!["sinkhorn", "quickstuff"]);
            (frames(), scaling)
                .prop_map(|(mut frame, scaling)| {
                    frame["scaling"] = json!(scaling);
                    frame
                })
                .boxed()
        }
        "eclipse" => (frames(), prop::sample::select(vec![0.05, 0.1, 1.0]))
            .prop_map(|(mut frame, step)| {
                frame["step"] = json!(step);
                frame
            })
            .boxed(),
        "solstice" => (us(1, 3), prop::sample::select(vec!["0 b/s", "500 Mb/s"]))
            .prop_map(|(night, rate)| json!({"night": night, "packet_rate": rate}))
            .boxed(),
        "rotation" => {
            let turns = i64::from(racks) - 1;
            let round = (4 * turns..20 * turns).prop_map(|us| picoseconds(us * 1_000_000));
            let day =
                (night(), us(2, 20)).prop_map(|(night, day)| json!({"night": night, "day": day}));
            let period = (night(), round).prop_map(|(n, p)| json!({"night": n, "period": p}));
            prop_oneof![2 => day, 1 => period, 1 => us(1, 3).prop_map(|n| json!({"night": n}))]
                .boxed()
        }
        new => panic!(
            "add a strategy of valid tables for the policy {new:?} to tests/invariants/policies.rs"
        ),
    };
    let choose = move |mut policy: Value| {
        policy["kind"] = json!(kind);
        // Otherwise it waits for demand, which may be too little to be reported.
        let sized = policy.get("day").or(policy.get("period")).is_some();
        Chosen {
            joins_all: kind == "rotation" && sized,
            policy,
            planes: 1,
        }
    };
    table.prop_map(choose).boxed()
}

/// Nights, and the other limits of a schedule.
fn frames() -> impl Strategy<Value = Value> {
    let least = prop::option::of(us(3, 8));
    let (period, slots) = (prop::option::of(us(15, 80)), 1u32..40);
    (us(1, 2), period, least, slots).prop_map(|(night, period, shortest, slots)| {
        let frame = json!({
            "night": night, "period": period, "shortest": shortest, "max_slots": slots,
        });
        merged(frame, Map::new())
    })
}

fn hydra() -> BoxedStrategy<Chosen> {
    let words = (
        prop::sample::select(vec!["rate", "circuit"]),
        prop::sample::select(vec!["partial", "whole"]),
    );
    let keys = (
        1u32..5,
        1u32..9,
        bytes(60_000),
        any::<bool>(),
        any::<bool>(),
    );
    (1u32..5, keys, words)
        .prop_map(
            |(planes, (hops, vlans, threshold, stop, split), words)| Chosen {
                policy: json!({
                    "kind": "hydra", "hops": hops, "vlans": vlans, "threshold": threshold,
                    "stop_at_ports": stop, "split": split, "need": words.0, "reconfigure": words.1,
                }),
                planes,
                joins_all: false,
            },
        )
        .boxed()
}

/// Circuits on some planes, at most one per port.
fn fixed(racks: u32) -> BoxedStrategy<Chosen> {
    let order = Just((0..racks).collect::<Vec<u32>>()).prop_shuffle();
    let planes = prop::collection::vec(order, 1..4);
    (planes, any::<bool>())
        .prop_map(|(orders, directed)| {
            let mut circuits = Vec::new();
            for (plane, order) in orders.iter().enumerate() {
                match directed {
                    // A cycle: each rack sends to the next.
                    true => circuits.extend(
                        (0..order.len())
                            .map(|i| json!([order[i], order[(i + 1) % order.len()], plane])),
                    ),
                    false => {
                        circuits.extend(order.chunks_exact(2).map(|p| json!([p[0], p[1], plane])))
                    }
                }
            }
            Chosen {
                planes: orders.len() as u32,
                policy: json!({"kind": "fixed", "circuits": circuits, "directed": directed}),
                joins_all: false,
            }
        })
        .boxed()
}

/// A schedule: racks in any orders, one after another.
fn planned(racks: u32) -> BoxedStrategy<Chosen> {
    let order = Just((0..racks).collect::<Vec<u32>>()).prop_shuffle();
    let slot = (order, 2_000_000i64..20_000_000)
        .prop_map(|(order, day)| json!({"permutation": order, "day_ps": day}));
    (0i64..2_000_000, prop::collection::vec(slot, 1..8))
        .prop_map(move |(night, slots)| {
            let schedule = json!({"ports": racks, "night_ps": night, "slots": slots});
            Chosen {
                policy: json!({ "kind": "fixed", "schedule": schedule }),
                planes: 1,
                joins_all: false,
            }
        })
        .boxed()
}

/// Keys of the tree beside the circuits, or none.
fn electrical() -> impl Strategy<Value = Value> {
    prop_oneof![
        2 => prop::sample::select(vec![1.0, 1.7, 4.0]).prop_map(|beta| json!({"oversubscription": beta})),
        1 => Just(json!({"levels": 3})),
        2 => Just(json!({"electrical": false})),
    ]
}

/// Any clusters, policies, networks, delays and failures.
pub fn tables() -> impl Strategy<Value = Fitted> {
    let cluster = (2u32..9, 1u32..5, 10u64..40, nic());
    let sized = cluster.prop_flat_map(|cluster| (Just(cluster), policies(cluster.0)));
    let demand = (
        prop::option::of(1u64..200_000),
        bytes(20_000),
        bytes(20_000),
        prop_oneof![2 => Just(1.0), 1 => Just(0.3)],
    );
    let order = prop::sample::select(vec!["all-dark", "three-substeps", "delete-create"]);
    let delays = (
        us(3, 60),
        us(0, 2),
        us(0, 4),
        us(0, 2),
        us(0, 4),
        0i64..300_000,
    );
    let servers = (
        prop::option::of(prop::sample::select(vec![0.5, 0.9])),
        us(0, 3),
        us(0, 3),
        prop::option::of(us(1, 200)),
    );
    let rest = (
        prop::option::of(order),
        servers,
        switches("hybrid", &[]),
        failures(),
    );
    (sized, electrical(), 1u64..60, demand, delays, rest).prop_map(
        |(
            (cluster, chosen),
            network,
            circuit,
            demand,
            delays,
            (order, servers, words, failures),
        )| {
            let (racks, servers_per_rack, gbps, nic) = cluster;
            let alone = network.get("electrical").is_some();
            let mut policy = chosen.policy;
            if alone {
                // Without a tree every pair needs circuits: a threshold is refused.
                policy.as_object_mut().expect("a table").remove("threshold");
            }
            let mut table = json!({
                "policy": policy, "planes": chosen.planes,
                "circuit_rate": format!("{circuit} Gb/s"),
                "interval": delays.0, "computation_delay": delays.1,
                "settle": delays.2, "link_up": delays.3, "retag": delays.4,
                "rule": picoseconds(delays.5), "order": order,
                "socket_buffer": demand.0.map(|b| format!("{b} B")),
                "report_queue": demand.1, "report_change": demand.2, "smoothing": demand.3,
                "optical_weight": servers.0, "ramp": servers.1, "dip": servers.2,
                "controller_timeout": servers.3,
            });
            let mut words = words;
            if alone {
                words.retain(|key, _| key != "demand");
                table["report_queue"] = json!("0 B");
                table["report_change"] = json!("0 B");
                if let Some(policy) = table["policy"].as_object_mut() {
                    policy.remove("hysteresis");
                }
            }
            let keys = network.as_object().expect("a table");
            keys.iter()
                .for_each(|(key, value)| table[key] = value.clone());
            Fitted {
                cluster: Cluster {
                    racks,
                    servers_per_rack,
                    server_rate: Rate(gbps * Rate::GBPS.0 + 7),
                    nic,
                },
                delivers: !alone || chosen.joins_all,
                table: merged(table, words),
                faults: faults(&failures, racks, chosen.planes),
            }
        },
    )
}

/// A part, the time of its failure, and the time until its repair, if it is repaired.
type Failure = (u32, i64, Option<i64>);

fn failures() -> impl Strategy<Value = Vec<Failure>> {
    let repair = prop_oneof![4 => (0i64..80_000_000).prop_map(Some), 1 => Just(None)];
    prop::collection::vec((any::<u32>(), 0i64..200_000_000, repair), 0..4)
}

/// The controller or a port.
fn faults(failures: &[Failure], racks: u32, planes: u32) -> Vec<Fault> {
    let mut faults = Vec::new();
    for &(part, at, after) in failures {
        let element = match part % 4 {
            0 => Element::Controller,
            _ => Element::Port {
                node: part % racks,
                plane: (part / 7) % planes,
            },
        };
        let mut push = |at, command| {
            faults.push(Fault {
                at: Time(at),
                command,
            })
        };
        push(at, Command::Fail { element, loss: 1.0 });
        if let Some(after) = after {
            push(at + after, Command::Repair(element));
        }
    }
    faults.sort_by_key(|f| f.at);
    faults
}
