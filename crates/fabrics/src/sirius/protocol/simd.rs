//! The requests of a block for a given destination, as bits.

/// Intermediates are handled in blocks of this many: one cache line of requests.
pub const BLOCK: usize = 32;

/// A bit for each lane that equals `value`.
#[inline(always)]
#[allow(unsafe_code)]
pub fn equal(lanes: &[u16; BLOCK], value: u16) -> u32 {
    // SAFETY: every x86-64 processor has SSE2.
    #[cfg(target_arch = "x86_64")]
    return unsafe { sse2(lanes, value) };
    #[cfg(not(target_arch = "x86_64"))]
    portable(lanes, value)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse2")]
#[inline]
fn sse2(lanes: &[u16; BLOCK], value: u16) -> u32 {
    use std::arch::x86_64::{
        __m128i, _mm_cmpeq_epi16, _mm_movemask_epi8, _mm_packs_epi16, _mm_set1_epi16,
    };
    let wanted = _mm_set1_epi16(value as i16);
    let [a, b, c, d]: [__m128i; 4] = bytemuck::cast(*lanes);
    let low = _mm_packs_epi16(_mm_cmpeq_epi16(a, wanted), _mm_cmpeq_epi16(b, wanted));
    let high = _mm_packs_epi16(_mm_cmpeq_epi16(c, wanted), _mm_cmpeq_epi16(d, wanted));
    _mm_movemask_epi8(low) as u32 | (_mm_movemask_epi8(high) as u32) << 16
}

#[allow(dead_code)]
fn portable(lanes: &[u16; BLOCK], value: u16) -> u32 {
    (0..BLOCK).fold(0, |bits, k| bits | ((lanes[k] == value) as u32) << k)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_ways_agree(lanes in prop::array::uniform32(0u16..4), value in 0u16..4) {
            prop_assert_eq!(equal(&lanes, value), portable(&lanes, value));
        }
    }
}
