//! Messages of serde about a value of the wrong type, in users' words: the value that is needed,
//! instead of the name of a Rust type.

/// A message of serde in plain words; unchanged if it is about something else.
///
/// ```
/// use lightloom_engine::mistyped::in_words;
/// assert_eq!(in_words("invalid type: boolean `true`, expected f64"), "must be a number");
/// let beyond = "invalid value: integer `-1`, expected u64";
/// assert_eq!(in_words(beyond), "must be a whole number, at least 0");
/// assert_eq!(in_words("no such fabric"), "no such fabric");
/// ```
pub fn in_words(message: &str) -> String {
    let kinds = ["invalid type: ", "invalid value: ", "invalid length "];
    let found = kinds.iter().find_map(|kind| message.strip_prefix(kind));
    // The value may be any text.
    let Some((found, name)) = found.and_then(|rest| rest.rsplit_once(", expected ")) else {
        return message.to_owned();
    };
    match integer(name) {
        None => format!("must be {}", named(name)),
        Some(range) => match whole(found).filter(|_| message.starts_with("invalid value")) {
            None => "must be a whole number".to_owned(),
            Some(n) if n < range.0 => format!("must be a whole number, at least {}", range.0),
            Some(_) => format!("must be a whole number, at most {}", grouped(range.1)),
        },
    }
}

/// The description of a type for users; the name of its reader, unless that is a Rust name.
fn named(name: &str) -> &str {
    match name {
        "f32" | "f64" => "a number",
        "a boolean" | "bool" => "true or false",
        "a string" | "str" | "string" | "borrowed string" | "string or map"
        | "variant identifier" | "field identifier" => "text",
        "a sequence" | "sequence" => "a list",
        "a map" | "map" => "a table",
        _ if name.starts_with("struct ") => "a table",
        _ if name.starts_with("enum ") => "text",
        _ => match name.strip_prefix("a tuple of size ") {
            Some("2") => "a list of two",
            Some("3") => "a list of three",
            Some(_) => "a list of as many",
            None => name,
        },
    }
}

/// The smallest and the largest value of an integer type.
fn integer(name: &str) -> Option<(i128, i128)> {
    let bits = match name.get(1..)? {
        "size" => 64,
        bits => bits.parse::<u32>().ok()?,
    };
    match (&name[..1], bits) {
        ("u", 8..=64) => Some((0, (1 << bits) - 1)),
        ("i", 8..=64) => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
        _ => None,
    }
}

/// The number in "integer `-129`".
fn whole(found: &str) -> Option<i128> {
    let number = found.strip_prefix("integer `")?.strip_suffix('`')?;
    number.parse().ok()
}

/// With commas between thousands.
fn grouped(number: i128) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::DeserializeOwned;
    use serde_json::{json, Value};

    /// The message of serde about a value that is not a `T`.
    fn said<T: DeserializeOwned>(value: Value) -> String {
        let refused = serde_json::from_value::<T>(value).err();
        in_words(&refused.expect("another type").to_string())
    }

    #[test]
    fn types_are_told_in_words() {
        #[derive(serde::Deserialize)]
        struct Table {}
        #[derive(serde::Deserialize)]
        enum Word {
            One,
        }
        assert!(serde_json::from_value::<Table>(json!({})).is_ok());
        assert!(matches!(
            serde_json::from_value(json!("One")),
            Ok(Word::One)
        ));
        assert_eq!(said::<f64>(json!("x")), "must be a number");
        assert_eq!(said::<bool>(json!(1)), "must be true or false");
        assert_eq!(said::<String>(json!([1])), "must be text");
        assert_eq!(said::<Word>(json!(1.5)), "must be text");
        assert_eq!(said::<Vec<u8>>(json!("x")), "must be a list");
        assert_eq!(said::<Table>(json!(7)), "must be a table");
        assert_eq!(said::<(u8, u8)>(json!(7)), "must be a list of two");
        assert_eq!(said::<(u8, u8)>(json!([7])), "must be a list of two");
        assert_eq!(
            said::<crate::Time>(json!(["1 ns"])),
            "must be a duration with its unit, like \"100 ns\""
        );
    }

    #[test]
    fn whole_numbers_are_told_the_end_that_they_missed() {
        assert_eq!(said::<u32>(json!(2.5)), "must be a whole number");
        assert_eq!(said::<usize>(json!(null)), "must be a whole number");
        assert_eq!(
            said::<u8>(json!(300)),
            "must be a whole number, at most 255"
        );
        assert_eq!(
            said::<i8>(json!(-129)),
            "must be a whole number, at least -128"
        );
        assert_eq!(said::<u64>(json!(-1)), "must be a whole number, at least 0");
        assert_eq!(
            said::<u32>(json!(u64::MAX)),
            "must be a whole number, at most 4,294,967,295"
        );
        assert_eq!(
            said::<i64>(json!(u64::MAX)),
            "must be a whole number, at most 9,223,372,036,854,775,807"
        );
    }

    #[test]
    fn what_users_write_is_not_taken_for_a_type() {
        let text = json!("a, expected u8");
        assert_eq!(said::<bool>(text), "must be true or false");
        assert_eq!(in_words("must be at least 4 B"), "must be at least 4 B");
    }
}
