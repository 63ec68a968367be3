//! Reads text files by line and column: the common part of the readers of traces, matrices and
//! distributions.
//!
//! Blank lines and lines that begin with `#` are skipped, a byte-order mark and
//! Windows line ends are accepted.

use lightloom_engine::Refusal;
use std::fmt;
use std::io::Read;
use std::ops::RangeInclusive;

/// The longest file that is read [B].
const FILE_LIMIT: u64 = 8 << 30;

/// An error in a text: position, problem and remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// The file's name.
    pub file: String,
    /// The line, from 1; 0 for the file as a whole.
    pub line: usize,
    /// The column in characters, from 1; 0 for the line as a whole.
    pub column: usize,
    /// The error.
    pub problem: String,
    /// The change that the user should make.
    pub remedy: String,
}

impl TextError {
    /// An error of the file as a whole.
    pub fn whole(file: &str, problem: impl Into<String>, remedy: impl Into<String>) -> TextError {
        TextError {
            file: file.to_owned(),
            line: 0,
            column: 0,
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }

    /// The error as a refusal of the configuration key that names the file.
    pub fn refusal(self, key: &str) -> Refusal {
        let place = self.place();
        let limit = match place.is_empty() {
            true => self.problem,
            false => format!("{place}: {}", self.problem),
        };
        Refusal::new(key, format!("\"{}\"", self.file), limit, self.remedy)
    }

    fn place(&self) -> String {
        match (self.line, self.column) {
            (0, _) => String::new(),
            (line, 0) => format!("line {line}"),
            (line, column) => format!("line {line}, column {column}"),
        }
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.place();
        let comma = if place.is_empty() { "" } else { ", " };
        write!(
            f,
            "{}{comma}{place}: {}; {}",
            self.file, self.problem, self.remedy
        )
    }
}

impl std::error::Error for TextError {}

/// The file as text.
///
/// # Errors
/// If it cannot be opened, is too large, or is not UTF-8 (with line and column).
pub fn load(path: &str) -> Result<String, TextError> {
    let unreadable = |e: std::io::Error| {
        let remedy = "check the path (relative to the experiment's file, or with --set to where the command runs)";
        TextError::whole(path, format!("cannot be read ({e})"), remedy)
    };
    let found = std::fs::metadata(path).map_err(unreadable)?.file_type();
    if let Some(other) = endless(found) {
        return Err(TextError::whole(
            path,
            format!("is {other}, not a file"),
            "name a file (or a pipe, which is read to its end)",
        ));
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|f| f.take(FILE_LIMIT + 1).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    if bytes.len() as u64 > FILE_LIMIT {
        return Err(TextError::whole(
            path,
            "is longer than 8 GiB",
            "split it, or convert it to Parquet",
        ));
    }
    decode(path, bytes)
}

/// The kind of a file that has no end and therefore cannot be read completely; `None` for files and
/// pipes.
fn endless(found: std::fs::FileType) -> Option<&'static str> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if found.is_char_device() || found.is_block_device() {
            return Some("a device");
        }
        if found.is_socket() {
            return Some("a socket");
        }
    }
    found.is_dir().then_some("a folder")
}

/// Bytes as text; an error at the first position that is not UTF-8.
pub fn decode(file: &str, bytes: Vec<u8>) -> Result<String, TextError> {
    String::from_utf8(bytes).map_err(|e| {
        let good = e.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(&e.as_bytes()[..good]);
        let row = before.rsplit('\n').next().unwrap_or("");
        TextError {
            line: before.matches('\n').count() + 1,
            column: row.chars().count() + 1,
            ..TextError::whole(file, "is not UTF-8 text", "save it as plain UTF-8 text")
        }
    })
}

/// A line that is neither blank nor a comment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    file: &'a str,
    pub text: &'a str,
    pub line: usize,
}

/// A position in a file: line and column, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub line: u32,
    pub column: u32,
}

impl Place {
    pub fn error(
        self,
        file: &str,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> TextError {
        TextError {
            line: self.line as usize,
            column: self.column as usize,
            ..TextError::whole(file, problem, remedy)
        }
    }
}

/// A piece of a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<'a> {
    row: Row<'a>,
    at: usize,
    pub text: &'a str,
}

pub(crate) fn rows<'a>(file: &'a str, text: &'a str) -> impl Iterator<Item = Row<'a>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.lines()
        .enumerate()
        .map(move |(i, text)| Row {
            file,
            text,
            line: i + 1,
        })
        .filter(|r| !r.text.trim().is_empty() && !r.text.trim_start().starts_with('#'))
}

impl<'a> Row<'a> {
    /// The field of this line that is `text`, a slice of it.
    fn field(self, start: usize, end: usize) -> Field<'a> {
        let raw = &self.text[start..end];
        let text = raw.trim();
        let at = start + (raw.len() - raw.trim_start().len());
        Field {
            row: self,
            at,
            text,
        }
    }

    /// Pieces between runs of white space.
    pub fn words(self) -> impl Iterator<Item = Field<'a>> {
        let base = self.text.as_ptr() as usize;
        self.text.split_whitespace().map(move |word| Field {
            row: self,
            at: word.as_ptr() as usize - base,
            text: word,
        })
    }

    /// Pieces between commas, outside double quotes.
    pub fn cells(self) -> impl Iterator<Item = Field<'a>> {
        let mut next = Some(0);
        std::iter::from_fn(move || {
            let start = next?;
            let mut quoted = false;
            let comma = self.text[start..].find(|c| {
                quoted ^= c == '"';
                c == ',' && !quoted
            });
            next = comma.map(|c| start + c + 1);
            let end = comma.map_or(self.text.len(), |c| start + c);
            Some(self.field(start, end))
        })
    }

    /// An error of the line as a whole.
    pub fn error(self, problem: impl Into<String>, remedy: impl Into<String>) -> TextError {
        TextError {
            line: self.line,
            ..TextError::whole(self.file, problem, remedy)
        }
    }

    /// The position after the last character.
    pub fn end(self) -> Field<'a> {
        let at = self.text.trim_end().len();
        Field {
            row: self,
            at,
            text: "",
        }
    }
}

impl<'a> Field<'a> {
    pub fn error(self, problem: impl Into<String>, remedy: impl Into<String>) -> TextError {
        self.place().error(self.row.file, problem, remedy)
    }

    /// The position of its first character.
    pub fn place(self) -> Place {
        Place {
            line: self.row.line as u32,
            column: self.row.text[..self.at].chars().count() as u32 + 1,
        }
    }

    /// The text as a message shows it, shortened and on one line.
    pub fn shown(self) -> String {
        let short: String = self.text.chars().take(30).collect();
        let dots = if short.len() < self.text.len() {
            "…"
        } else {
            ""
        };
        format!("`{}{dots}`", short.escape_debug())
    }

    /// A piece of this field, `end` bytes from its start on.
    pub fn part(self, start: usize, end: usize) -> Field<'a> {
        self.row.field(self.at + start, self.at + end)
    }

    /// A whole number in `range`.
    pub fn whole(self, what: &str, range: RangeInclusive<u64>) -> Result<u64, TextError> {
        let number = self.unquoted();
        let digits = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        if !digits {
            return Err(self.error(
                format!("{what} is {}, not a whole number", self.shown()),
                format!("write {what} as digits"),
            ));
        }
        match number.parse() {
            Ok(n) if range.contains(&n) => Ok(n),
            _ => Err(self.error(
                format!(
                    "{what} is {}, outside {} to {}",
                    self.shown(),
                    range.start(),
                    range.end()
                ),
                format!("correct {what}"),
            )),
        }
    }

    /// A finite number that is not negative.
    pub fn number(self, what: &str) -> Result<f64, TextError> {
        match self.unquoted().parse::<f64>() {
            Ok(x) if x.is_finite() && x >= 0.0 => Ok(x),
            Ok(_) => Err(self.error(
                format!("{what} is {}, not a number from 0 upwards", self.shown()),
                format!("correct {what}"),
            )),
            Err(_) => Err(self.error(
                format!("{what} is {}, not a number", self.shown()),
                format!("write {what} as a number"),
            )),
        }
    }

    /// The text without the quotes around it.
    pub fn unquoted(self) -> &'a str {
        self.text
            .strip_prefix('"')
            .and_then(|t| t.strip_suffix('"'))
            .unwrap_or(self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_from_one() {
        let row = rows("f", "\u{feff}# note\n\n  é , x,\"a,b\" \r\n")
            .next()
            .unwrap();
        let cells: Vec<_> = row.cells().collect();
        let texts: Vec<_> = cells.iter().map(|c| c.text).collect();
        assert_eq!(texts, ["é", "x", "\"a,b\""]);
        let e = cells[1].whole("bytes", 1..=9).unwrap_err();
        assert_eq!(
            e.to_string(),
            "f, line 3, column 7: bytes is `x`, not a whole number; write bytes as digits"
        );
        let columns: Vec<_> = row.words().map(|w| w.error("", "").column).collect();
        assert_eq!(columns, [3, 5, 7]);
    }

    #[test]
    fn text_that_is_not_utf8_is_located() {
        let e = decode("f", b"ab\nc\xc3\xa9\xff".to_vec()).unwrap_err();
        assert_eq!((e.line, e.column), (2, 3));
    }

    #[test]
    fn a_missing_file_is_a_refusal_of_its_key() {
        let e = load("no/such/file").unwrap_err().refusal("workload.trace");
        let text = e.to_string();
        assert!(
            text.starts_with("workload.trace = \"no/such/file\": cannot be read ("),
            "{text}"
        );
    }
}
