//! Units by their names: how `"1.5 KB"` is read and written, without a float in between.

/// Names and their size in the base unit, largest first.
type Sizes = &'static [(&'static str, u128)];

/// Units of one kind of quantity.
#[derive(Clone, Copy)]
pub(crate) struct Units {
    /// Read and written.
    decimal: Sizes,
    /// Read only.
    binary: Sizes,
}

/// Units of time [ps].
pub(crate) const SPANS: Units = Units {
    decimal: &[
        ("s", 1_000_000_000_000),
        ("ms", 1_000_000_000),
        ("us", 1_000_000),
        ("ns", 1_000),
        ("ps", 1),
    ],
    binary: &[],
};
/// Units of data rates [b/s].
pub(crate) const RATES: Units = Units {
    decimal: &[
        ("Tb/s", 1_000_000_000_000),
        ("Gb/s", 1_000_000_000),
        ("Mb/s", 1_000_000),
        ("kb/s", 1_000),
        ("b/s", 1),
    ],
    binary: &[],
};
/// Units of data [B].
pub(crate) const BYTES: Units = Units {
    decimal: &[
        ("TB", 1_000_000_000_000),
        ("GB", 1_000_000_000),
        ("MB", 1_000_000),
        ("KB", 1_000),
        ("B", 1),
    ],
    binary: &[
        ("TiB", 1 << 40),
        ("GiB", 1 << 30),
        ("MiB", 1 << 20),
        ("KiB", 1 << 10),
    ],
};
/// Units of lengths [mm].
pub(crate) const LENGTHS: Units = Units {
    decimal: &[("km", 1_000_000), ("m", 1_000), ("cm", 10), ("mm", 1)],
    binary: &[],
};
/// Spellings that are read but not written.
const ALIASES: &[(&str, &str)] = &[
    ("µs", "us"),
    ("μs", "us"),
    ("Kb/s", "kb/s"),
    ("Tbps", "Tb/s"),
    ("Gbps", "Gb/s"),
    ("Mbps", "Mb/s"),
    ("kbps", "kb/s"),
    ("bps", "b/s"),
    ("Tbit/s", "Tb/s"),
    ("Gbit/s", "Gb/s"),
    ("Mbit/s", "Mb/s"),
    ("kbit/s", "kb/s"),
    // Rates of ports, as switches write them: 400G. Amounts of data and lengths have no such unit.
    ("T", "Tb/s"),
    ("G", "Gb/s"),
    ("M", "Mb/s"),
    ("kB", "KB"),
];

fn unit_size(name: &str, units: Units) -> Option<u128> {
    let canonical = ALIASES.iter().find(|a| a.0 == name).map_or(name, |a| a.1);
    let mut all = units.decimal.iter().chain(units.binary);
    all.find(|unit| unit.0 == canonical).map(|unit| unit.1)
}

/// Reads `"<decimal number> <unit>"` exactly (no binary float in between).
pub(crate) fn parse_with(
    text: &str,
    units: Units,
    what: &str,
    example: &str,
) -> Result<u128, String> {
    let names = || {
        units
            .decimal
            .iter()
            .map(|u| u.0)
            .collect::<Vec<_>>()
            .join(", ")
    };
    let text = text.trim();
    if text.strip_prefix(['-', '−']).is_some_and(is_number) {
        return Err(format!(
            "`{text}` is negative: write {what} like \"{example}\" ({})",
            names()
        ));
    }
    let split = text
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '_')))
        .unwrap_or(text.len());
    let (number, unit) = (text[..split].replace('_', ""), text[split..].trim());
    if unit.is_empty() {
        return Err(format!(
            "`{text}` has no unit: write {what} like \"{example}\" ({})",
            names()
        ));
    }
    if number.is_empty() {
        return Err(format!(
            "`{text}` is not {what}: write it like \"{example}\" ({})",
            names()
        ));
    }
    let size = unit_size(unit, units)
        .ok_or_else(|| format!("`{unit}` is not a unit of {what}: use one of {}", names()))?;
    let fraction = number.split_once('.').map_or("", |(_, fraction)| fraction);
    if size == 1 && fraction.contains(|c: char| matches!(c, '1'..='9')) {
        return Err(format!(
            "`{text}` is not a whole number of {unit}: write one, like \"{example}\""
        ));
    }
    decimal_times(&number, size).ok_or_else(|| {
        format!("`{text}` is not {what} that can be represented: write it like \"{example}\"")
    })
}

/// Whether a text begins as a number does.
fn is_number(text: &str) -> bool {
    let digits = text.trim_start().trim_start_matches('.');
    digits.starts_with(|c: char| c.is_ascii_digit())
}

fn decimal_times(number: &str, size: u128) -> Option<u128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) || fraction.len() > 15 {
        return None;
    }
    let whole: u128 = if whole.is_empty() {
        0
    } else {
        whole.parse().ok()?
    };
    let scale = 10u128.pow(fraction.len() as u32);
    let fraction: u128 = if fraction.is_empty() {
        0
    } else {
        fraction.parse().ok()?
    };
    whole
        .checked_mul(size)?
        .checked_add((fraction.checked_mul(size)? + scale / 2) / scale)
}

/// Writes the value in the largest unit in which it has at most three decimals.
pub(crate) fn format_with(value: u128, units: Units) -> String {
    for (name, size) in units.decimal {
        if value >= *size && (value * 1000).is_multiple_of(*size) {
            let milli = value * 1000 / size;
            let (whole, rest) = (milli / 1000, milli % 1000);
            if rest == 0 {
                return format!("{whole} {name}");
            }
            let fraction = format!("{rest:03}");
            return format!("{whole}.{} {name}", fraction.trim_end_matches('0'));
        }
    }
    format!("{value} {}", units.decimal[units.decimal.len() - 1].0)
}

/// Writes the value in the largest unit of which there is one or more, with all decimals.
pub(crate) fn format_whole(value: u128, units: Units) -> String {
    let all = units.decimal;
    let fits = all.iter().find(|(_, size)| value >= *size);
    let (name, size) = fits.unwrap_or(&all[all.len() - 1]);
    let (whole, rest) = (value / size, value % size);
    if rest == 0 {
        return format!("{whole} {name}");
    }
    let digits = size.ilog10() as usize;
    let fraction = format!("{rest:0digits$}");
    format!("{whole}.{} {name}", fraction.trim_end_matches('0'))
}
