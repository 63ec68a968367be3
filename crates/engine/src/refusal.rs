//! The common form of errors about a configuration.

use std::borrow::Cow;
use std::fmt;
use std::ops::RangeInclusive;

/// A configuration that cannot run: the key, its value, the limit, the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Dotted path of the key, as the user wrote it: `fabric.slot`.
    pub key: String,
    /// The value found there.
    pub value: String,
    /// The rule that the value violates.
    pub limit: String,
    /// The change that the user should make.
    pub remedy: String,
}

impl Refusal {
    /// Returns the error of `key = value` with its limit and remedy.
    pub fn new(
        key: impl Into<String>,
        value: impl fmt::Display,
        limit: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Refusal {
        Refusal {
            key: key.into(),
            value: value.to_string(),
            limit: limit.into(),
            remedy: remedy.into(),
        }
    }
}

/// Returns an error if a value is not within `range`, both ends included.
///
/// # Errors
/// A [`Refusal`] of `key`, whose remedy is to raise or lower the value.
///
/// ```
/// use lightloom_engine::check_range;
/// assert!(check_range("fabric.planes", 128, 1..=128).is_ok());
/// let refusal = check_range("fabric.planes", 129, 1..=128).unwrap_err();
/// assert_eq!(refusal.to_string(), "fabric.planes = 129: must be from 1 to 128; lower it");
/// ```
pub fn check_range<T: PartialOrd + fmt::Display>(
    key: impl Into<String>,
    value: T,
    range: RangeInclusive<T>,
) -> Result<(), Refusal> {
    if range.contains(&value) {
        return Ok(());
    }
    let (least, most) = range.into_inner();
    let remedy = if value < least {
        "raise it"
    } else {
        "lower it"
    };
    let limit = format!("must be from {least} to {most}");
    Err(Refusal::new(key, value, limit, remedy))
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} = {}: {}; {}",
            shortened(&self.key),
            shortened(&self.value),
            shortened(&self.limit),
            shortened(&self.remedy)
        )
    }
}

/// Texts of a message with more characters than this are shortened.
const LONG: usize = 400;
/// Number of characters that remain of a shortened text.
const LEFT: usize = 60;

/// The text, or its beginning and its length if it is too long for a message.
///
/// ```
/// use lightloom_engine::refusal::shortened;
/// assert_eq!(shortened("100 Gb/s"), "100 Gb/s");
/// assert!(shortened(&"7".repeat(100_000)).ends_with("777… (100000 characters)"));
/// ```
pub fn shortened(text: &str) -> Cow<'_, str> {
    if text.len() <= LONG {
        return Cow::Borrowed(text);
    }
    let begin: String = text.chars().take(LEFT).collect();
    Cow::Owned(format!("{begin}… ({} characters)", text.chars().count()))
}

impl std::error::Error for Refusal {}
