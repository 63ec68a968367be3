//! Runs over circuits that take turns: a run that has to deliver everything is refused if and only
//! if it would not end, and so is a run with too many slots.

use lightloom_engine::run::Silent;
use lightloom_engine::{Flows, HostId, Time};
use lightloom_experiment::Experiment;
use proptest::prelude::*;
use serde_json::{json, Value};

const RACKS: u32 = 4;

/// Source and destination hosts; each rack has two hosts.
type Pair = (u32, u32);

fn flows(pairs: &[Pair]) -> Flows {
    let mut flows = Flows::new();
    for &(src, dst) in pairs {
        flows.push(HostId(src), HostId(dst), 3_000, Time::ZERO);
    }
    flows
}

fn raw(fabric: Value, stop: &str) -> Value {
    json!({
        "cluster": {"racks": RACKS, "servers_per_rack": 2, "server_rate": "10 Gb/s"},
        "workload": {"trace": "given.parquet"},
        "run": {"stop": stop, "limit": "1 s"},
        "fabric": [fabric],
    })
}

/// Whether a run over a second delivers everything, or its refusal.
fn run(fabric: &Value, stop: &str, pairs: &[Pair]) -> Result<bool, String> {
    let experiment = Experiment::read(&raw(fabric.clone(), stop)).expect("of this shape");
    let prepared = experiment.prepare(0, 1, Some(flows(pairs)));
    let ran = prepared
        .map_err(|refusal| refusal.to_string())?
        .run(&mut Silent);
    let finish = ran.expect("nothing fails").flows.finish;
    Ok(finish.iter().all(|&at| at < Time::NEVER))
}

/// Slots of 100 us.
fn schedule(permutations: &[Vec<u32>]) -> Value {
    let slot = |permutation| json!({"permutation": permutation, "day_ps": 88_500_000});
    json!({
        "kind": "fixed",
        "schedule": {
            "ports": RACKS,
            "night_ps": 11_500_000,
            "slots": permutations.iter().map(slot).collect::<Vec<Value>>(),
        },
    })
}

fn fabrics() -> impl Strategy<Value = Value> {
    let order = || Just((0..RACKS).collect::<Vec<u32>>()).prop_shuffle();
    let slots = prop::collection::vec(order(), 1..5);
    let hybrid = |policy| {
        json!({
            "kind": "hybrid", "electrical": false, "interval": "1 ms", "settle": "10 us",
            "ramp": "0 s", "policy": policy,
        })
    };
    prop_oneof![
        (slots.clone(), prop::option::of(Just("1 Gb/s"))).prop_map(|(slots, packets)| json!({
            "kind": "mordia", "policy": schedule(&slots), "packet_rate": packets,
        })),
        slots.prop_map(move |slots| hybrid(schedule(&slots))),
        (order(), 1usize..3, any::<bool>()).prop_map(move |(racks, circuits, directed)| {
            let pairs: Vec<&[u32]> = racks.chunks(2).take(circuits).collect();
            hybrid(json!({"kind": "fixed", "circuits": pairs, "directed": directed}))
        }),
    ]
}

proptest! {
    #[test]
    fn what_would_never_end_is_refused(
        fabric in fabrics(),
        pairs in prop::collection::vec((0..2 * RACKS, 0..2 * RACKS), 1..6),
    ) {
        let pairs: Vec<Pair> = pairs.into_iter().filter(|(a, b)| a != b).collect();
        let ends = run(&fabric, "1 s", &pairs).expect("it ends at a time");
        match run(&fabric, "drain", &pairs) {
            Ok(drained) => prop_assert!(ends && drained),
            Err(refusal) => prop_assert!(!ends, "{}", refusal),
        }
    }
}

/// Racks 0 and 1 are connected with their neighbours in turn; rack 1 has a flow for rack 3.
#[test]
fn the_first_pair_is_named() {
    let said = |fabric: Value, pairs: &[Pair]| run(&fabric, "drain", pairs).expect_err("refused");
    let ring = schedule(&[vec![1, 2, 3, 0]]);
    let mordia = json!({"kind": "mordia", "policy": ring});
    assert_eq!(
        said(mordia.clone(), &[(0, 2), (3, 7), (2, 3)]),
        "run.stop = \"drain\": fabric never joins rack 1 to rack 3, but has flows between them; \
         join them, set packet_rate, or end at a time, like \"1 s\""
    );
    let many = [(6, 2), (3, 7), (2, 6), (4, 0)];
    assert!(said(mordia, &many).contains("flows between them (the first of 3 such pairs);"));
    let alone = json!({"kind": "hybrid", "electrical": false, "policy": ring});
    assert!(said(alone, &[(3, 7)]).contains("join them, set electrical = true, or end"));
    // A policy that decides again may connect them later, and a round robin connects all racks.
    for policy in ["mordia", "rotation"] {
        let table = json!({"kind": "mordia", "policy": policy, "interval": "1 ms"});
        assert_eq!(run(&table, "drain", &[(3, 7)]), Ok(true));
    }
}

/// 10 s of slots of 4 ns are 2,500,000,000.
#[test]
fn too_many_slots_are_refused() {
    let prepare = |fabric: Value| {
        let mut raw = raw(fabric, "10 s");
        raw["run"]["limit"] = json!("10 s");
        let experiment = Experiment::read(&raw).expect("of this shape");
        experiment
            .prepare(0, 1, Some(flows(&[(0, 2)])))
            .map(|_| ())
            .map_err(|r| r.to_string())
    };
    let slots = |slot: &str| json!({"slot": slot, "night": "1 ns", "link_rate": "40 Gb/s", "packet": "1 B"});
    let with = |mut table: Value, more: Value| {
        let table_of = |v: Value| v.as_object().expect("a table").clone();
        table
            .as_object_mut()
            .expect("a table")
            .extend(table_of(more));
        table
    };
    let mordia = |slot: &str, policy: Value| {
        let own = json!({"kind": "mordia", "shortest_slot": slot, "policy": policy});
        with(slots(slot), own)
    };
    let rotornet = |slot: &str| with(slots(slot), json!({"kind": "rotornet"}));
    let hybrid = |day: &str| {
        let rotation = json!({"kind": "rotation", "night": "1 ns", "day": day});
        json!({"kind": "hybrid", "policy": rotation})
    };
    let given = |day_ps: u64| {
        let slot = json!({"permutation": [1, 0, 3, 2], "day_ps": day_ps});
        let slots = [slot.clone(), slot];
        let schedule = json!({"ports": RACKS, "night_ps": 1_000, "slots": slots});
        json!({"kind": "fixed", "schedule": schedule})
    };
    let round = json!("rotation");
    let too_many = [
        mordia("4 ns", round.clone()),
        mordia("4 ns", given(3_000)),
        rotornet("4 ns"),
        hybrid("3 ns"),
    ];
    for fabric in too_many {
        let Err(said) = prepare(fabric.clone()) else {
            panic!("{fabric}");
        };
        assert!(
            said.starts_with("run.stop = 10 s: takes 2500000000 slots of 4 ns in fabric"),
            "{fabric}: {said}"
        );
    }
    let few = [
        mordia("5 ns", round),
        mordia("5 ns", given(4_000)),
        rotornet("5 ns"),
        hybrid("4 ns"),
        // Its slots may be as long as its interval, of 12 ns.
        mordia("4 ns", json!("mordia")),
    ];
    for fabric in few {
        assert_eq!(prepare(fabric.clone()), Ok(()), "{fabric}");
    }
}
