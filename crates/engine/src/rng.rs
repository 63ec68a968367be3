//! Named random streams of a counter-based generator.
//!
//! A stream is identified by its seed, its purpose and an index. Its n-th draw is a function of
//! (key, n) alone (SplitMix64's finaliser over a Weyl sequence), so that an additional draw in one
//! place changes nothing elsewhere, and threads can own streams without coordination.

use rand_core::RngCore;

const WEYL: u64 = 0x9E37_79B9_7F4A_7C15;

#[inline(always)]
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A stream of random numbers; implements [`RngCore`], so every distribution of the `rand` family
/// can draw from it.
#[derive(Clone, Debug)]
pub struct Stream {
    state: u64,
}

impl Stream {
    /// The stream of `purpose` number `index` under `seed`.
    pub fn new(seed: u64, purpose: &str, index: u64) -> Stream {
        let mut key = mix(seed ^ 0x6C69_6768_746C_6F6F);
        for b in purpose.bytes() {
            key = mix(key.wrapping_add(WEYL) ^ b as u64);
        }
        Stream {
            state: mix(key.wrapping_add(WEYL) ^ mix(index.wrapping_add(WEYL))),
        }
    }

    /// The next 64 random bits.
    #[inline(always)]
    pub fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(WEYL);
        mix(self.state)
    }

    /// Uniform in `0..n` by multiply and shift; the bias is below n · 2⁻³².
    #[inline(always)]
    pub fn below(&mut self, n: u32) -> u32 {
        (((self.draw() >> 32) * n as u64) >> 32) as u32
    }

    /// Two independent uniforms, in `0..a` and `0..b`, from one draw.
    #[inline(always)]
    pub fn below2(&mut self, a: u32, b: u32) -> (u32, u32) {
        let z = self.draw();
        (
            (((z >> 32) * a as u64) >> 32) as u32,
            (((z & 0xFFFF_FFFF) * b as u64) >> 32) as u32,
        )
    }

    /// Uniform in [0, 1) with 53 bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.draw() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Shuffles `items` uniformly (Fisher–Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for k in (1..items.len()).rev() {
            items.swap(k, self.below(k as u32 + 1) as usize);
        }
    }
}

impl RngCore for Stream {
    fn next_u32(&mut self) -> u32 {
        (self.draw() >> 32) as u32
    }
    fn next_u64(&mut self) -> u64 {
        self.draw()
    }
    fn fill_bytes(&mut self, dst: &mut [u8]) {
        for chunk in dst.chunks_mut(8) {
            chunk.copy_from_slice(&self.draw().to_le_bytes()[..chunk.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_each_part_of_their_name() {
        let base = Stream::new(1, "sizes", 0).draw();
        assert_ne!(base, Stream::new(2, "sizes", 0).draw());
        assert_ne!(base, Stream::new(1, "arrivals", 0).draw());
        assert_ne!(base, Stream::new(1, "sizes", 1).draw());
        assert_eq!(base, Stream::new(1, "sizes", 0).draw());
    }

    #[test]
    fn below_is_uniform_by_chi_square() {
        let (n, draws) = (37u32, 370_000);
        let mut rng = Stream::new(7, "test", 3);
        let mut seen = vec![0f64; n as usize];
        for _ in 0..draws {
            seen[rng.below(n) as usize] += 1.0;
        }
        let expect = draws as f64 / n as f64;
        let chi2: f64 = seen.iter().map(|s| (s - expect).powi(2) / expect).sum();
        // 36 degrees of freedom: the 99.9th percentile is 68.0.
        assert!(chi2 < 68.0, "chi2 = {chi2}");
    }

    #[test]
    fn shuffle_gives_every_permutation_equally_often() {
        let mut rng = Stream::new(1, "perm", 0);
        let mut count = std::collections::BTreeMap::new();
        for _ in 0..60_000 {
            let mut p = [0, 1, 2, 3];
            rng.shuffle(&mut p);
            *count.entry(p).or_insert(0) += 1;
        }
        assert_eq!(count.len(), 24);
        assert!(
            count.values().all(|c| (2_200..2_800).contains(c)),
            "{count:?}"
        );
    }
}
