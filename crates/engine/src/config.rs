//! Reads a table of a configuration into a type, or returns an error that names the key.
//!
//! Every configuration type derives `Deserialize` with `deny_unknown_fields`. This module turns
//! serde's errors into [`Refusal`]s with the key's path as the user wrote it, the value found, and
//! the nearest known key.

use crate::mistyped::in_words;
use crate::refusal::Refusal;
use serde::de::{self, DeserializeOwned, Deserializer};
use serde_json::Value;
use std::fmt;

/// Reads `table` as a `T`; `at` is the path of the table (`fabric`).
///
/// # Errors
/// A [`Refusal`] that names the key below `at`.
pub fn read<T: DeserializeOwned>(table: &Value, at: &str) -> Result<T, Refusal> {
    let fractions = with_fractions(table);
    serde_path_to_error::deserialize(fractions.as_ref().unwrap_or(table)).map_err(|e| {
        let path = match e.path().to_string() {
            p if p == "." => String::new(),
            p => p,
        };
        refuse(table, at, &path, &e.inner().to_string())
    })
}

/// Keys whose value remains text, even if it is `"50%"`.
const TEXTS: [&str; 4] = ["label", "name", "group", "rate_precision"];

/// Returns the table with numbers in place of texts such as `"50%"`; `None` if there are none.
fn with_fractions(value: &Value) -> Option<Value> {
    match value {
        Value::String(text) => fraction(text),
        Value::Array(items) => {
            let read: Vec<Option<Value>> = items.iter().map(with_fractions).collect();
            read.iter().any(Option::is_some).then(|| {
                let pairs = read.into_iter().zip(items);
                pairs
                    .map(|(new, old)| new.unwrap_or_else(|| old.clone()))
                    .collect()
            })
        }
        Value::Object(table) => {
            let mut read: Option<serde_json::Map<String, Value>> = None;
            for (key, inner) in table
                .iter()
                .filter(|(key, _)| !TEXTS.contains(&key.as_str()))
            {
                if let Some(new) = with_fractions(inner) {
                    read.get_or_insert_with(|| table.clone())
                        .insert(key.clone(), new);
                }
            }
            read.map(Value::Object)
        }
        _ => None,
    }
}

/// The number of a percentage, rounded once: `"12.5%"` is 0.125. A negative one is refused by the
/// range of its key.
fn fraction(text: &str) -> Option<Value> {
    let number = text.trim().strip_suffix('%')?.trim_end();
    let digits = number.strip_prefix('-').unwrap_or(number);
    let written = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let value = format!("{number}e-2")
        .parse::<f64>()
        .ok()
        .filter(|_| written)?;
    serde_json::Number::from_f64(value).map(Value::Number)
}

/// Reads a word or a quantity as text. A bare number is read as text as well; its reader then
/// reports that the unit is missing.
///
/// # Errors
/// A serde error for any other type.
pub fn word_or_quantity<'de, D: Deserializer<'de>>(d: D) -> Result<String, D::Error> {
    struct Visitor;
    impl de::Visitor<'_> for Visitor {
        type Value = String;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a word, or a quantity with its unit")
        }
        fn visit_str<E: de::Error>(self, v: &str) -> Result<String, E> {
            Ok(v.to_owned())
        }
        fn visit_u64<E: de::Error>(self, v: u64) -> Result<String, E> {
            Ok(v.to_string())
        }
        fn visit_i64<E: de::Error>(self, v: i64) -> Result<String, E> {
            Ok(v.to_string())
        }
        fn visit_f64<E: de::Error>(self, v: f64) -> Result<String, E> {
            Ok(v.to_string())
        }
    }
    d.deserialize_any(Visitor)
}

/// Whether a text begins like a quantity, and therefore is not a word.
pub fn is_quantity(text: &str) -> bool {
    let begins = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+');
    text.trim_start().starts_with(begins)
}

/// Separates the fields of a refusal that travels inside a serde error.
const MARK: char = '\u{2063}';

/// Reads a table inside a hand-written `Deserialize`, such as one whose keys depend on its `kind`.
/// The enclosing [`read`] reports its refusal with the full path; without this function, serde
/// would buffer the table and lose the path.
///
/// # Errors
/// A serde error that carries the [`Refusal`].
pub fn nested<T: DeserializeOwned, E: serde::de::Error>(table: &Value) -> Result<T, E> {
    read(table, "").map_err(nested_refusal)
}

/// Passes `refusal`, whose key is relative to the table being read, to the enclosing [`read`].
pub fn nested_refusal<E: serde::de::Error>(refusal: Refusal) -> E {
    let [key, value, limit, remedy] =
        [refusal.key, refusal.value, refusal.limit, refusal.remedy].map(|f| f.replace(MARK, ""));
    E::custom(format!(
        "{MARK}{key}{MARK} = {MARK}{value}{MARK}: {MARK}{limit}{MARK}; {MARK}{remedy}"
    ))
}

fn unpack(message: &str) -> Option<Refusal> {
    let fields: Vec<&str> = message.strip_prefix(MARK)?.split(MARK).step_by(2).collect();
    match fields[..] {
        [key, value, limit, remedy] => Some(Refusal::new(key, value, limit, remedy)),
        _ => None,
    }
}

fn refuse(table: &Value, at: &str, path: &str, message: &str) -> Refusal {
    if let Some(inner) = unpack(message) {
        let key = join(&join(at, path), &inner.key);
        return Refusal { key, ..inner };
    }
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let value_at = |path: &str| {
        let steps = path.replace('[', ".[").replace(['[', ']'], "");
        let steps = steps.split('.').filter(|step| !step.is_empty());
        // Without steps this is the whole value.
        let pointer: String = steps.map(|step| format!("/{step}")).collect();
        table
            .pointer(&pointer)
            .map_or_else(|| "(missing)".to_owned(), Value::to_string)
    };
    if message.starts_with("unknown field") {
        let (found, known) = (quoted[0], &quoted[1..]);
        // The path ends with the unknown key itself.
        let parent = path
            .strip_suffix(found)
            .unwrap_or(path)
            .trim_end_matches('.');
        let key = join(&join(at, parent), found);
        let value = value_at(&join(parent, found));
        return Refusal::new(key, value, "no such key", nearest(found, known));
    }
    if message.starts_with("unknown variant") {
        let (found, known) = (quoted[0], &quoted[1..]);
        return Refusal::new(
            join(at, path),
            format!("\"{found}\""),
            format!("must be one of {}", list(known)),
            nearest_listed(found, known),
        );
    }
    if message.starts_with("missing field") {
        let key = join(&join(at, path), quoted[0]);
        return Refusal::new(key, "(missing)", "required", "add it");
    }
    let limit = in_words(message);
    Refusal::new(join(at, path), value_at(path), limit, "correct the value")
}

fn join(a: &str, b: &str) -> String {
    match (a, b) {
        ("", b) => b.to_owned(),
        (a, "") => a.to_owned(),
        (a, b) if b.starts_with('[') => format!("{a}{b}"),
        (a, b) => format!("{a}.{b}"),
    }
}

/// The names as a message lists them: `"a", "b"`.
pub fn list(known: &[&str]) -> String {
    known
        .iter()
        .map(|k| format!("\"{k}\""))
        .collect::<Vec<_>>()
        .join(", ")
}

/// "did you mean …?", or the known keys if none is similar.
pub fn nearest(found: &str, known: &[&str]) -> String {
    match near(found, known) {
        Some(meant) => meant,
        None if known.is_empty() => "remove it".to_owned(),
        None => format!("known: {}", list(known)),
    }
}

/// "did you mean …?" for a message that already lists the known keys; "choose one of them" if none
/// is similar.
pub fn nearest_listed(found: &str, known: &[&str]) -> String {
    near(found, known).unwrap_or_else(|| "choose one of them".to_owned())
}

/// "did you mean …?" if one of the keys is similar.
fn near(found: &str, known: &[&str]) -> Option<String> {
    let likeness = |name: &str| strsim::jaro_winkler(found, name);
    let best = known
        .iter()
        .max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(best) > 0.75).then(|| format!("did you mean \"{best}\"?"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Time;
    use serde::Deserialize;
    use serde_json::json;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Table {
        slot: Time,
        #[serde(default)]
        rule: Option<Rule>,
        #[serde(default)]
        inner: Option<Inner>,
    }

    #[test]
    fn percentages_are_fractions() {
        let table = json!({"load": "50%", "label": "50%", "loads": ["12.5 %", 0.5, "100%"]});
        let read: Value = super::read(&table, "").unwrap();
        let expected = json!({"load": 0.5, "label": "50%", "loads": [0.125, 0.5, 1.0]});
        assert_eq!(read, expected);
        let precision: Value = super::read(&json!({"rate_precision": "1 %"}), "").unwrap();
        assert_eq!(precision, json!({"rate_precision": "1 %"}));
        let negative: Value = super::read(&json!({"load": "-5%"}), "").unwrap();
        assert_eq!(negative, json!({"load": -0.05}));
        for text in ["%", "-%", "a%", "1e3%", "5-%", "5 % of"] {
            assert_eq!(with_fractions(&json!(text)), None, "{text}");
        }
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Rule {
        Fifo,
        Random,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Inner {
        guardband: u32,
    }

    fn refusal(v: Value) -> String {
        read::<Table>(&v, "fabric").unwrap_err().to_string()
    }

    #[test]
    fn names_the_key_the_value_and_the_nearest() {
        let e = refusal(json!({"slot": "1 ns", "inner": {"guardbnad": 3}}));
        assert_eq!(
            e,
            "fabric.inner.guardbnad = 3: no such key; did you mean \"guardband\"?"
        );
        let e = refusal(json!({"slot": "1 ns", "rule": "ffio"}));
        assert!(
            e.starts_with("fabric.rule = \"ffio\": must be one of \"fifo\", \"random\""),
            "{e}"
        );
        // A key without a similar one is refused with the list of keys, once.
        let e = refusal(json!({"slot": "1 ns", "rule": "zzz"}));
        assert_eq!(
            e,
            "fabric.rule = \"zzz\": must be one of \"fifo\", \"random\"; choose one of them"
        );
        let e = refusal(json!({"slot": 100}));
        assert!(e.starts_with("fabric.slot = 100: `100` has no unit"), "{e}");
        let e = refusal(json!({}));
        assert_eq!(e, "fabric.slot = (missing): required; add it");
    }

    /// A table that buffers its content first, as a table selected by `kind` must.
    #[derive(Debug)]
    struct Buffered(#[allow(dead_code)] Inner);

    impl<'de> Deserialize<'de> for Buffered {
        fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
            nested(&Value::deserialize(d)?).map(Buffered)
        }
    }

    #[test]
    fn a_nested_refusal_keeps_its_path() {
        #[derive(Debug, Deserialize)]
        #[allow(dead_code)]
        struct Outer {
            list: Vec<Buffered>,
        }
        let e = |inner: Value| {
            read::<Outer>(&json!({ "list": [inner] }), "fabric")
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            e(json!({"guardbnad": 3})),
            "fabric.list[0].guardbnad = 3: no such key; did you mean \"guardband\"?"
        );
        let e = e(json!({"guardband": "\u{2063}x"}));
        assert!(
            e.starts_with("fabric.list[0].guardband = \"x\": must be a whole number"),
            "{e}"
        );
    }

    #[test]
    fn a_nested_value_that_is_no_table_is_shown() {
        #[derive(Debug, Deserialize)]
        #[allow(dead_code)]
        struct Outer {
            one: Buffered,
        }
        for (one, key, shown) in [
            (json!("x"), "fabric.one", "\"x\""),
            (json!([["x"], 3]), "fabric.one[0]", "[\"x\"]"),
        ] {
            let e = read::<Outer>(&json!({ "one": one }), "fabric").unwrap_err();
            assert_eq!((e.key.as_str(), e.value.as_str()), (key, shown));
        }
    }

    #[test]
    fn an_element_of_a_list_shows_its_value() {
        #[derive(Debug, Deserialize)]
        #[allow(dead_code)]
        struct Outer {
            list: Vec<Table>,
        }
        let e = read::<Outer>(&json!({"list": [{"slot": "1 ns"}, {"slot": "x"}]}), "").unwrap_err();
        assert_eq!(
            (e.key.as_str(), e.value.as_str()),
            ("list[1].slot", "\"x\"")
        );
    }

    #[test]
    fn a_good_table_is_read() {
        let t: Table = read(&json!({"slot": "100 ns", "rule": "fifo"}), "fabric").unwrap();
        assert_eq!(t.slot, Time::NS * 100);
    }
}
