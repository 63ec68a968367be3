//! The arrayed waveguide grating router: passive, cyclic routing by wavelength.
//!
//! Loss, crosstalk and the dispersion of real gratings are not modelled here: light leaves only at
//! the port that its wavelength selects.

/// A grating with equally many input and output ports (Sirius §3.1, Fig 3a).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Awgr {
    /// Ports on each side; also the number of wavelengths of one cycle.
    pub ports: u32,
}

impl Awgr {
    /// The output of light of `wavelength` that enters at `input`. Wavelengths beyond one cycle are
    /// routed like their remainder.
    pub fn output(&self, input: u32, wavelength: u32) -> u32 {
        (input + wavelength) % self.ports
    }

    /// The wavelength that takes light from `input` to `output`.
    pub fn wavelength(&self, input: u32, output: u32) -> u32 {
        (output + self.ports - input % self.ports) % self.ports
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wavelength_is_a_permutation_and_has_an_inverse() {
        for ports in 1..=33 {
            let g = Awgr { ports };
            for w in 0..ports {
                let mut seen = vec![false; ports as usize];
                for i in 0..ports {
                    let out = g.output(i, w);
                    assert!(!std::mem::replace(&mut seen[out as usize], true));
                    assert_eq!(g.wavelength(i, out), w);
                }
            }
        }
    }
}
