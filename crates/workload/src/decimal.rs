//! Decimal numbers in text, held exactly: `12`, `12.5`, and the forms in which pandas and numpy
//! write small or large numbers, `1.2500001E-5`, `1e9`.

/// A number as written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decimal<'a> {
    whole: &'a str,
    decimals: &'a str,
    exponent: i32,
}

impl<'a> Decimal<'a> {
    /// Reads digits with an optional fraction and an optional exponent; `None` for anything else,
    /// such as a sign, `1.` or `.5`.
    pub fn read(text: &'a str) -> Option<Decimal<'a>> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, power(exponent)?),
            None => (text, 0),
        };
        let (whole, decimals) = match mantissa.split_once('.') {
            Some((whole, decimals)) if is_digits(decimals) => (whole, decimals),
            Some(_) => return None,
            None => (mantissa, ""),
        };
        is_digits(whole).then_some(Decimal {
            whole,
            decimals,
            exponent,
        })
    }

    /// The number times 10^`places`: its integer part, and whether it has a fraction; `None` if the
    /// integer part exceeds 64 bits.
    pub fn scaled(self, places: usize) -> Option<(u64, bool)> {
        let count = (self.whole.len() + self.decimals.len()) as i64;
        let kept = i64::from(self.exponent) + places as i64 + self.whole.len() as i64;
        let digits = || self.whole.bytes().chain(self.decimals.bytes());
        let mut number = 0u64;
        for digit in digits().take(kept.clamp(0, count) as usize) {
            number = times_ten(number)?.checked_add(u64::from(digit - b'0'))?;
        }
        if number > 0 {
            for _ in count..kept {
                number = times_ten(number)?;
            }
        }
        let left = digits()
            .skip(kept.max(0) as usize)
            .any(|digit| digit != b'0');
        Some((number, left))
    }
}

fn times_ten(number: u64) -> Option<u64> {
    number.checked_mul(10)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// An exponent; one that exceeds all numbers here is limited to the largest.
fn power(text: &str) -> Option<i32> {
    const LAST: i32 = 1_000_000;
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    is_digits(digits).then(|| sign * digits.parse().map_or(LAST, |n: i32| n.min(LAST)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn scaled(text: &str, places: usize) -> Option<(u64, bool)> {
        Decimal::read(text).and_then(|d| d.scaled(places))
    }

    #[test]
    fn numbers_are_exact() {
        for (text, places, expected) in [
            ("7", 0, (7, false)),
            ("1e9", 0, (1_000_000_000, false)),
            ("1.5e3", 0, (1_500, false)),
            ("1.2500001E-5", 12, (12_500_001, false)),
            ("1.2500001E-5", 11, (1_250_000, true)),
            ("1.5e-06", 12, (1_500_000, false)),
            ("0.1e+1", 12, (1_000_000_000_000, false)),
            ("5000e-3", 0, (5, false)),
            ("0.000e99", 3, (0, false)),
            ("1e-99999999999", 3, (0, true)),
            ("18446744073709551615", 0, (u64::MAX, false)),
        ] {
            assert_eq!(scaled(text, places), Some(expected), "{text}");
        }
        for text in ["18446744073709551616", "1e20", "1e99999999999", "2e18"] {
            assert_eq!(scaled(text, 3), None, "{text}");
        }
        for text in [
            "", "1.", ".5", "-1", "+1", "1e", "1e+", "e5", "1.5e2.0", "1e5e5", "1 e5",
        ] {
            assert!(Decimal::read(text).is_none(), "{text}");
        }
    }

    proptest! {
        /// The expected value comes from long division of a whole number, not from digits of text.
        #[test]
        fn any_place_of_the_point_is_read(n in 0u64..1_000_000_000_000, at in 0i32..12) {
            let text = format!("{n}e-{at}");
            let unit = 10u64.pow(at as u32);
            prop_assert_eq!(scaled(&text, 0), Some((n / unit, n % unit != 0)));
        }
    }
}
