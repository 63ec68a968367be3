//! How exact rates are.

/// How much of its capacity a full link may leave unused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Precision {
    /// In parts of 10^9; 0 is exact.
    billionths: u32,
}

impl Precision {
    /// Nothing, but for rounding rates to whole b/s.
    pub const EXACT: Precision = Precision { billionths: 0 };
    /// The coarsest: a tenth.
    pub const COARSEST: Precision = Precision {
        billionths: 100_000_000,
    };

    /// So many parts of 10^9, none of them [`Precision::EXACT`], at most a tenth.
    pub fn billionths(billionths: u32) -> Option<Precision> {
        let precision = Precision { billionths };
        (precision <= Precision::COARSEST).then_some(precision)
    }

    /// In parts of 2^64, rounded down.
    pub(super) fn share(self) -> u64 {
        (((self.billionths as u128) << 64) / 1_000_000_000) as u64
    }
}
