//! Invariant 6: a table that cannot run is refused by name, before anything runs.

use crate::scenario::Scenario;
use crate::tables::words;
use crate::trials;
use crate::verdict::{ensure, equal, Checked};
use lightloom_engine::Refusal;
use lightloom_fabrics::{Entry, Site};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::TestCaseError;
use serde_json::{json, Value};

/// Makes every key of a valid table invalid, in every way that its schema implies.
pub fn check(entry: &Entry, scenario: &Scenario) -> Checked {
    let valid = Valid { entry, scenario };
    let schema = (entry.schema)();
    let properties = schema["properties"].as_object().expect("a table");
    for (key, property) in properties {
        valid.refuses(key, json!([["nonsense"]]), "nonsense")?;
        valid.refuses(&format!("{key}_"), json!(77), "77")?;
        if words(&schema, key).is_some() {
            valid.refuses(key, json!("no such word"), "no such word")?;
        }
        if property["format"] == "uint32" {
            for bad in [json!(-1), json!(1.5), json!(1u64 << 40), json!("4")] {
                valid.refuses(key, bad.clone(), &bad.to_string())?;
            }
        }
        if let Some(example) = property["examples"][0].as_str() {
            valid.refuses_quantities(key, example)?;
        }
    }
    for (key, value, named) in (trials::of(entry.kind).out_of_range)() {
        valid.refuses_value(key, value, named)?;
    }
    for table in [json!(3), json!("x"), json!([1])] {
        let refused = (entry.resolve)(&table, &scenario.cluster).is_err();
        ensure(refused, || {
            format!("refusal: {table} is accepted as a table")
        })?;
    }
    Ok(())
}

/// A valid table, which is refused only because of its invalid key.
struct Valid<'a> {
    entry: &'a Entry,
    scenario: &'a Scenario,
}

impl Valid<'_> {
    fn refusal(&self, key: &str, value: &Value) -> Result<Refusal, TestCaseError> {
        let mut table = self.scenario.table.clone();
        table[key] = value.clone();
        let Err(refusal) = (self.entry.resolve)(&table, &self.scenario.cluster) else {
            let message = format!("refusal: {key} = {value} is accepted");
            return Err(TestCaseError::fail(message));
        };
        let complete = !refusal.limit.is_empty() && !refusal.remedy.is_empty();
        ensure(complete, || {
            format!("refusal: no limit or remedy: {refusal}")
        })?;
        Ok(refusal)
    }

    /// Checks that `key = value` is refused under its name, with the given value.
    fn refuses(&self, key: &str, value: Value, shown: &str) -> Checked {
        let refusal = self.refusal(key, &value)?;
        let named = format!("fabric.{key}");
        let below = format!("{named}[");
        ensure(
            refusal.key == named || refusal.key.starts_with(&below),
            || format!("refusal: {named} is not named: {refusal}"),
        )?;
        ensure(refusal.value.contains(shown), || {
            format!("refusal: {value} is not shown: {refusal}")
        })
    }

    /// Checks values without a unit, with the unit of another quantity, below zero, beyond all
    /// bounds, and of another type.
    fn refuses_quantities(&self, key: &str, example: &str) -> Checked {
        let nonsense = ["ns", "", "1.2.3 B", "1e3 Gb/s"];
        let wrong = ["3 parsecs", "-5 ns", "99999999999999999999 s"];
        for bad in nonsense.into_iter().chain(wrong) {
            self.refuses(key, json!(bad), bad)?;
        }
        let number = example.split(' ').next().expect("a number");
        let whole: u64 = number.parse().expect("a whole number");
        for bare in [json!(whole), json!(number)] {
            let refusal = self.refusal(key, &bare)?;
            let told = refusal.limit.contains("has no unit");
            ensure(told, || {
                format!("refusal: the unit of {bare} is missing: {refusal}")
            })?;
        }
        Ok(())
    }

    /// A value of the right form and outside its range; the message may name
    /// another key that sets the range.
    fn refuses_value(&self, key: &str, value: Value, named: &str) -> Checked {
        let refusal = self.refusal(key, &value)?;
        let what = format!("refusal: key that is named for {key} = {value}");
        equal(
            refusal.key.as_str(),
            format!("fabric.{named}").as_str(),
            what,
        )?;
        if key != named {
            return Ok(());
        }
        let found = refusal.value.trim_matches('"');
        let written = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        let number = |text: &str| text.parse::<f64>().ok();
        let same = found == written || number(found).is_some_and(|n| number(&written) == Some(n));
        ensure(same, || {
            format!("refusal: {written} is not shown: {refusal}")
        })
    }
}

/// A value for the key at a random place.
pub type Odd = Vec<(Index, Value)>;

/// Values that a careless program might not handle.
pub fn odd() -> impl Strategy<Value = Odd> {
    let units = prop::sample::select(vec!["ps", "s", "B", "TiB", "b/s", "Tb/s"]);
    let quantity = (any::<u64>(), 0u32..64, units)
        .prop_map(|(n, shift, unit)| json!(format!("{} {unit}", n >> shift)));
    let edges = prop::sample::select(vec![
        0,
        1,
        2,
        255,
        256,
        65_535,
        65_536,
        1 << 31,
        1 << 32,
        -1,
        i64::MAX,
        i64::MIN,
    ]);
    let value = prop_oneof![
        3 => quantity,
        2 => edges.prop_map(Value::from),
        1 => any::<u64>().prop_map(Value::from),
        1 => any::<f64>().prop_map(Value::from),
        1 => ".{0,12}".prop_map(Value::from),
        1 => prop::sample::select(vec![json!(null), json!(true), json!({}), json!([])]),
    ];
    prop::collection::vec((any::<Index>(), value), 1..4)
}

/// Any value under any key is refused by name, or resolved to a table that resolves to itself and
/// whose memory can be estimated; if the memory is small, the fabric can be built.
pub fn check_odd(entry: &Entry, scenario: &Scenario, odd: &Odd) -> Checked {
    let schema = (entry.schema)();
    let properties = schema["properties"].as_object().expect("a table");
    let keys: Vec<&String> = properties.keys().collect();
    let mut table = scenario.table.clone();
    for (at, value) in odd {
        table[keys[at.index(keys.len())].as_str()] = value.clone();
    }
    let cluster = &scenario.cluster;
    let named = |refusal: Refusal| {
        let own = refusal.key.starts_with("fabric") || refusal.key.starts_with("cluster.");
        ensure(own, || {
            format!("refusal: of something else in {table}: {refusal}")
        })
    };
    let resolved = match (entry.resolve)(&table, cluster) {
        Ok(resolved) => resolved,
        Err(refusal) => return named(refusal),
    };
    let again = (entry.resolve)(&resolved, cluster);
    equal(
        again.as_ref(),
        Ok(&resolved),
        "refusal: resolved twice and once",
    )?;
    let flows = scenario.flows();
    let site = Site {
        cluster,
        flows: &flows,
        seed: 1,
        threads: 1,
        library: None,
    };
    match (entry.memory)(&resolved, &site) {
        Ok(memory) if memory.sound < 1 << 24 => {
            (entry.build)(&resolved, &site).err().map_or(Ok(()), named)
        }
        Ok(_) => Ok(()),
        Err(refusal) => named(refusal),
    }
}
