//! Runs the bodies of the fuzz targets on a limited number of random and mutated inputs in every
//! run of the tests.

#[path = "../../../../fuzz/src/lib.rs"]
mod targets;

use lightloom_experiment::Experiment;
use lightloom_workload::times;
use lightloom_workload::trace::{self, Format};
use proptest::prelude::*;
use proptest::sample::{select, Index};
use serde_json::{json, Value};
use std::path::PathBuf;

const TRACES: [(Format, &str); 3] = [
    (Format::Csv, "trace_csv"),
    (Format::Cm, "trace_cm"),
    (Format::Ns, "trace_ns"),
];

/// The seeds of a fuzz target.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    let mut paths: Vec<_> = std::fs::read_dir(root.join(target))
        .expect("a directory of seeds")
        .map(|entry| entry.expect("a seed").path())
        .collect();
    paths.sort();
    paths
        .iter()
        .map(|p| std::fs::read(p).expect("a seed"))
        .collect()
}

/// One change of an input.
#[derive(Clone, Debug)]
enum Change {
    Put(Index, u8),
    Insert(Index, Vec<u8>),
    Delete(Index, usize),
    Repeat(Index, usize),
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let piece = prop_oneof![
        prop::collection::vec(any::<u8>(), 1..6),
        select(vec![
            "\n",
            "\r\n",
            ",",
            "\"",
            "\"\"",
            "-1",
            "0",
            "1e308",
            "18446744073709551616",
            ".",
            "#",
            "\u{feff}",
            "é",
            "null",
            "{}",
            "[[]]",
            " ns",
            "->",
            " 7 ",
            "group",
        ])
        .prop_map(|s| s.as_bytes().to_vec()),
    ];
    let at = any::<Index>;
    let change = prop_oneof![
        (at(), any::<u8>()).prop_map(|(i, b)| Change::Put(i, b)),
        (at(), piece).prop_map(|(i, p)| Change::Insert(i, p)),
        (at(), 1usize..9).prop_map(|(i, n)| Change::Delete(i, n)),
        (at(), 1usize..30).prop_map(|(i, n)| Change::Repeat(i, n)),
    ];
    prop::collection::vec(change, 1..5)
}

fn changed(mut bytes: Vec<u8>, changes: &[Change]) -> Vec<u8> {
    for change in changes {
        let len = bytes.len();
        let place = |at: &Index| at.index(len + 1);
        let range = |at: &Index, n: usize| place(at)..(place(at) + n).min(len);
        match change {
            Change::Put(at, byte) if len > 0 => bytes[at.index(len)] = *byte,
            Change::Put(_, byte) => bytes.push(*byte),
            Change::Insert(at, piece) => {
                let place = place(at);
                bytes.splice(place..place, piece.iter().copied());
            }
            Change::Delete(at, n) => {
                bytes.drain(range(at, *n));
            }
            Change::Repeat(at, n) => {
                let piece = bytes[range(at, *n)].to_vec();
                let place = place(at);
                bytes.splice(place..place, piece);
            }
        }
    }
    bytes
}

/// Bytes that failures show as text.
#[derive(Clone)]
struct Input(Vec<u8>);

impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0.escape_ascii())
    }
}

fn mutated(target: &'static str) -> impl Strategy<Value = Input> {
    let seeds = seeds(target);
    (any::<Index>(), changes())
        .prop_map(move |(seed, changes)| Input(changed(seed.get(&seeds).clone(), &changes)))
}

/// Valid JSON with unexpected contents, which is processed further than damaged text.
fn odd_experiments() -> impl Strategy<Value = Input> {
    let parse = |seed: Vec<u8>| serde_json::from_slice::<Value>(&seed).expect("seeds are JSON");
    let seeds: Vec<Value> = seeds("experiment").into_iter().map(parse).collect();
    let edits = prop::collection::vec((any::<Index>(), any::<Index>(), edit()), 1..4);
    (any::<Index>(), edits).prop_map(move |(seed, edits)| {
        let mut json = seed.get(&seeds).clone();
        for (place, other, edit) in edits {
            apply(&mut json, place, other, edit);
        }
        Input(json.to_string().into_bytes())
    })
}

/// Runs an eighth of the cases of `make test-long`, which sets `LIGHTLOOM_LONG`; `PROPTEST_CASES`
/// sets another number.
fn bounded() -> ProptestConfig {
    let set = |name| std::env::var_os(name).is_some();
    let cases = match (set("PROPTEST_CASES"), set("LIGHTLOOM_LONG")) {
        (true, _) => ProptestConfig::default().cases,
        (false, true) => 2_000,
        (false, false) => 250,
    };
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(bounded())]

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for (format, _) in TRACES {
            targets::trace(format, &bytes);
        }
        targets::arrivals(&bytes);
        targets::experiment(&bytes);
        targets::fabric(&bytes);
    }

    #[test]
    fn mutated_traces_are_read_or_refused(
        csv in mutated("trace_csv"), cm in mutated("trace_cm"), ns in mutated("trace_ns"),
    ) {
        targets::trace(Format::Csv, &csv.0);
        targets::trace(Format::Cm, &cm.0);
        targets::trace(Format::Ns, &ns.0);
    }

    #[test]
    fn mutated_arrivals_are_read_or_refused(arrivals in mutated("arrivals")) {
        targets::arrivals(&arrivals.0);
    }

    #[test]
    fn mutated_configurations_are_read_or_refused(
        experiment in mutated("experiment"), fabric in mutated("fabric"),
    ) {
        targets::experiment(&experiment.0);
        targets::fabric(&fabric.0);
    }

    #[test]
    fn odd_experiments_are_resolved_or_refused(json in odd_experiments()) {
        targets::experiment(&json.0);
    }
}

/// A change of a value of an experiment.
#[derive(Clone, Debug)]
enum Edit {
    Remove,
    Replace(Value),
    Exchange,
}

fn edit() -> impl Strategy<Value = Edit> {
    let units = select(vec![
        "ps", "ms", "s", "B", "TB", "b/s", "Gb/s", "Tb/s", "m", "",
    ]);
    let quantity = (any::<u64>(), 0u32..64, units)
        .prop_map(|(n, shift, unit)| json!(format!("{} {unit}", n >> shift)));
    let number = select(vec![
        json!(0),
        json!(1),
        json!(-1),
        json!(0.5),
        json!(1e-300),
        json!(1e308),
        json!(u64::MAX),
        json!(u32::MAX),
        json!(1u64 << 32),
        json!(1 << 30),
        json!(1_000_000),
        json!(2.5),
    ]);
    let shape = select(vec![
        json!(null),
        json!(true),
        json!({}),
        json!([]),
        json!([[]]),
        json!(""),
    ]);
    let value = prop_oneof![3 => quantity, 4 => number, 1 => shape];
    prop_oneof![
        1 => Just(Edit::Remove),
        5 => value.prop_map(Edit::Replace),
        2 => Just(Edit::Exchange),
    ]
}

/// Paths of all values below the root.
fn paths(json: &Value, at: &str, found: &mut Vec<String>) {
    let mut below = |key: &str, value: &Value| {
        let path = format!("{at}/{key}");
        found.push(path.clone());
        paths(value, &path, found);
    };
    match json {
        Value::Object(table) => table.iter().for_each(|(k, v)| below(k, v)),
        Value::Array(list) => (0..)
            .zip(list)
            .for_each(|(k, v): (usize, _)| below(&k.to_string(), v)),
        _ => {}
    }
}

fn apply(json: &mut Value, place: Index, other: Index, edit: Edit) {
    let mut all = Vec::new();
    paths(json, "", &mut all);
    if all.is_empty() {
        return;
    }
    let path = place.get(&all);
    let other = json.pointer(&all[other.index(all.len())]).cloned();
    let (parent, key) = path.rsplit_once('/').expect("a path");
    match edit {
        Edit::Replace(value) => *json.pointer_mut(path).expect("listed") = value,
        Edit::Exchange => *json.pointer_mut(path).expect("listed") = other.expect("listed"),
        Edit::Remove => match json.pointer_mut(parent).expect("listed") {
            Value::Object(table) => drop(table.shift_remove(key)),
            Value::Array(list) => drop(list.remove(key.parse().expect("an index"))),
            _ => unreachable!("only tables and lists have values below"),
        },
    }
}

/// A refused seed is of little use to a fuzzer.
#[test]
fn seeds_are_accepted() {
    for (format, target) in TRACES {
        for seed in seeds(target) {
            let text = String::from_utf8(seed).expect("text");
            trace::read(format, &text, target, 50).unwrap_or_else(|e| panic!("{e}"));
        }
    }
    for seed in seeds("arrivals") {
        let text = String::from_utf8(seed).expect("text");
        times::read_times(&text, "arrivals").unwrap_or_else(|e| panic!("{e}"));
    }
    for seed in seeds("experiment") {
        let json = serde_json::from_slice(&seed).expect("JSON");
        let resolved = Experiment::read(&json).and_then(|e| e.resolve());
        resolved.unwrap_or_else(|e| panic!("{e}"));
    }
    for seed in seeds("fabric") {
        targets::fabric(&seed);
    }
}
