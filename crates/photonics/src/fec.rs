//! Forward error correction by Reed–Solomon codes, and how their codewords fit into cells.
//!
//! A codeword is lost if more symbols are wrong than the code corrects: a tail of the binomial
//! distribution, for independent bit errors. Bursts are not modelled, nor is decoding time except
//! the wait for bits. KP4 is RS(544, 514) and KR4 RS(528, 514) over symbols of 10 bits (IEEE
//! 802.3-2018, clause 91).

use lightloom_engine::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A Reed–Solomon code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Code {
    /// Symbols of a codeword.
    pub symbols: u32,
    /// Symbols that carry data.
    pub data: u32,
    /// Bits of a symbol.
    pub bits: u32,
}

impl Code {
    /// RS(544, 514): 5,440 bits, for PAM-4.
    pub const KP4: Code = Code {
        symbols: 544,
        data: 514,
        bits: 10,
    };
    /// RS(528, 514): for NRZ.
    pub const KR4: Code = Code {
        symbols: 528,
        data: 514,
        bits: 10,
    };

    /// The code shortened to `bits`: the same parity, less data.
    pub fn shortened(self, bits: u64) -> Option<Code> {
        let symbols = (bits / u64::from(self.bits)).min(u64::from(self.symbols)) as u32;
        let parity = self.symbols - self.data;
        let data = symbols.checked_sub(parity).filter(|&data| data > 0)?;
        Some(Code {
            symbols,
            data,
            ..self
        })
    }

    /// Bits of a codeword.
    pub fn codeword_bits(&self) -> u64 {
        u64::from(self.symbols) * u64::from(self.bits)
    }

    /// The number of symbols that it corrects.
    pub fn corrects(&self) -> u32 {
        (self.symbols - self.data) / 2
    }

    /// The symbol error rate at a bit error rate.
    fn symbol_errors(&self, ber: f64) -> f64 {
        -(f64::from(self.bits) * (-ber).ln_1p()).exp_m1()
    }

    /// The probability of each number of wrong symbols that exceeds the code's limit.
    fn too_many(&self, ber: f64) -> impl Iterator<Item = (u32, f64)> {
        let (n, p) = (f64::from(self.symbols), self.symbol_errors(ber));
        let wrong = self.corrects() + 1..=self.symbols;
        wrong.map(move |k| {
            let x = f64::from(k);
            let ways = libm::lgamma(n + 1.0) - libm::lgamma(x + 1.0) - libm::lgamma(n - x + 1.0);
            // 0 · ln 0 counts as 0: all symbols are wrong with certainty.
            let right = if x == n { 0.0 } else { (n - x) * (-p).ln_1p() };
            (
                k,
                if p > 0.0 {
                    (ways + x * p.ln() + right).exp()
                } else {
                    0.0
                },
            )
        })
    }

    /// The probability that a codeword cannot be corrected, at a bit error rate.
    pub fn failure(&self, ber: f64) -> f64 {
        self.too_many(ber)
            .map(|(_, chance)| chance)
            .sum::<f64>()
            .min(1.0)
    }

    /// The bit error rate after correction: the original errors of the codewords that failed.
    pub fn post_ber(&self, ber: f64) -> f64 {
        if ber <= 0.0 {
            return 0.0;
        }
        let symbols = self.too_many(ber).map(|(k, chance)| f64::from(k) * chance);
        let share = symbols.sum::<f64>() / f64::from(self.symbols);
        share * ber / self.symbol_errors(ber)
    }
}

/// Forward error correction of cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fec {
    /// KP4, shortened so that a codeword fits into a cell: the same parity, less data.
    #[default]
    Shortened,
    /// KP4 over consecutive cells of one sender: decoding waits for the epochs that a codeword
    /// spans.
    CrossCell,
    /// As many whole KP4 codewords as fit into a cell.
    Kp4,
    /// No error correction.
    None,
}

/// The results of one way to protect cells.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Protection {
    /// The method.
    pub fec: Fec,
    /// Its code, if one fits.
    pub code: Option<Code>,
    /// Whether the code fits into the cells.
    pub fits: bool,
    /// Bits of a cell that carry data, on average.
    pub data_bits: f64,
    /// The largest number of cells over which a codeword is spread.
    pub cells: u64,
    /// Decoding delay after the cell itself.
    pub waits: Time,
    /// Bit error rate after correction, at the given rate before it.
    pub post_ber: f64,
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 {
        a
    } else {
        gcd(b, a % b)
    }
}

/// The largest number of cells that a codeword of `word` bits overlaps in an endless sequence of
/// cells.
pub fn cells_of_codeword(word: u64, cell: u64) -> u64 {
    // Codewords begin at all multiples of the common divisor; the last of these is the worst case.
    let latest = cell - gcd(word, cell);
    (latest + word - 1) / cell + 1
}

impl Fec {
    /// All ways.
    pub const ALL: [Fec; 4] = [Fec::Shortened, Fec::CrossCell, Fec::Kp4, Fec::None];

    /// The results for cells of `cell` bits, one per epoch, with a bit error rate of `ber`.
    pub fn protect(self, cell: u64, epoch: Time, ber: f64) -> Protection {
        let whole = cell / Code::KP4.codeword_bits();
        let words = cell.div_ceil(Code::KP4.codeword_bits()).max(1);
        let code = match self {
            Fec::Shortened => Code::KP4.shortened(cell / words),
            Fec::CrossCell => Some(Code::KP4),
            Fec::Kp4 => Some(Code::KP4).filter(|_| whole > 0),
            Fec::None => None,
        };
        let data_of = |code: Code| f64::from(code.data * code.bits);
        let data_bits = match (self, code) {
            (Fec::None, _) => cell as f64,
            (_, None) => 0.0,
            (Fec::CrossCell, Some(code)) => {
                cell as f64 * data_of(code) / code.codeword_bits() as f64
            }
            (Fec::Kp4, Some(code)) => whole as f64 * data_of(code),
            (Fec::Shortened, Some(code)) => words as f64 * data_of(code),
        };
        let cells = match self {
            Fec::CrossCell if cell > 0 => cells_of_codeword(Code::KP4.codeword_bits(), cell),
            _ => 1,
        };
        Protection {
            fec: self,
            code,
            fits: (self == Fec::None || code.is_some()) && cell > 0,
            data_bits,
            cells,
            waits: epoch * (cells as i64 - 1),
            post_ber: code.map_or(ber, |code| code.post_ber(ber)),
        }
    }
}
