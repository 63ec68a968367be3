//! The fibres between nodes: true delays and the nodes' estimates.
//!
//! A cell from i to j travels the forward fibre of i and the return fibre of j. Nodes assume that
//! each takes half of a measured loop-back. Their error consists of half of the asymmetries, the
//! change of temperature since the measurement, the noise of the measurement, and dispersion,
//! because the loop-back has another wavelength than the cell. Polarisation mode dispersion, delays
//! inside transceivers and the grating's own delay, which is the same for all cells of a
//! wavelength, are not modelled.

use super::config::ClockConfig;
use super::noise::Noise;
use crate::Awgr;

/// The fibres of each node, in columns by node.
#[derive(Clone, Debug)]
pub struct Fibres {
    /// Length [km].
    pub length: Vec<f64>,
    /// Delay to the grating minus the delay from it [ps].
    pub asymmetry: Vec<f64>,
    /// Dispersion that the table of wavelengths does not correct [ps/nm].
    pub slope: Vec<f64>,
    /// Error of the measured delay [ps]; positive if it is too long.
    pub mismeasured: Vec<f64>,
    /// Change of the delay since it was measured [ps].
    pub shift: Vec<f64>,
    /// Input and output of the gratings to which the node is connected.
    place: Vec<u32>,
    /// Difference of each wavelength from that of the loop-back [nm].
    detour: Vec<f64>,
}

impl Fibres {
    /// Draws the fibres of the nodes with these numbers.
    pub fn draw(config: &ClockConfig, nodes: &[u32]) -> Fibres {
        let fibre = &config.fibre;
        let normal = |purpose, sigma| Noise::new(config.seed, purpose, nodes, sigma).draw();
        let (mean, spread) = (fibre.length.0 as f64 * 1e-6, fibre.spread.0 as f64 * 1e-6);
        let length: Vec<f64> = normal("clock.length", spread)
            .iter()
            .map(|off| (mean + off).max(0.0))
            .collect();
        let off = normal("clock.dispersion", fibre.table_error);
        let slope = length.iter().zip(&off).map(|(&length, &off)| {
            let left = if fibre.table { off } else { 1.0 };
            fibre.dispersion.0 * length * left
        });
        let detours = 0..fibre.wavelengths;
        let noise = config.loopback.noise.unwrap_or_default().0;
        Fibres {
            slope: slope.collect(),
            asymmetry: normal("clock.asymmetry", fibre.asymmetry.0),
            mismeasured: normal("clock.loopback", noise),
            shift: vec![0.0; nodes.len()],
            place: nodes.iter().map(|node| node % fibre.wavelengths).collect(),
            detour: detours.map(|w| f64::from(w) * fibre.spacing.0).collect(),
            length,
        }
    }

    /// Writes each node's error in its estimate of the clock of `leader` [ps]: estimated delay
    /// minus true delay.
    pub fn bias(&self, leader: usize, bias: &mut [f64]) {
        let sent = self.asymmetry[leader] / 2.0 + self.late(leader);
        for (j, bias) in bias.iter_mut().enumerate() {
            let arrives = self.late(j) - self.asymmetry[j] / 2.0;
            *bias = -(sent + arrives + self.dispersed(leader, j));
        }
    }

    /// True mean delay of a node minus its estimate [ps].
    pub(super) fn late(&self, node: usize) -> f64 {
        self.shift[node] - self.mismeasured[node]
    }

    /// Delay by dispersion of a cell from one node to another, after the correction of the table
    /// [ps].
    pub(super) fn dispersed(&self, from: usize, to: usize) -> f64 {
        let grating = Awgr {
            ports: self.detour.len() as u32,
        };
        let wavelength = grating.wavelength(self.place[from], self.place[to]);
        self.detour[wavelength as usize] * (self.slope[from] + self.slope[to])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::starts::{delay_to_grating, offset};
    use lightloom_engine::Time;

    fn bias_of(fibres: &Fibres, leader: usize) -> Vec<f64> {
        let mut bias = vec![0.0; fibres.length.len()];
        fibres.bias(leader, &mut bias);
        bias
    }

    #[test]
    fn dispersion_follows_the_wavelength_that_the_grating_asks_for() {
        let mut config = ClockConfig::default();
        (config.fibre.asymmetry.0, config.fibre.table) = (0.0, false);
        config.loopback.noise = Some(Default::default());
        config.fibre.spread.0 = 0;
        let fibres = Fibres::draw(&config, &[0, 1, 17, 16]);
        // Twice 250 m at 17 ps/nm/km: one step of 0.402 nm from input 0 to output 1, 15 steps back.
        let step = 2.0 * 0.25 * 17.0 * 0.402;
        let close = |found: f64, expected: f64| (found - expected).abs() < 1e-9;
        let from_0 = bias_of(&fibres, 0);
        assert!(
            close(from_0[1], -step) && close(from_0[2], -step),
            "{from_0:?}"
        );
        assert!(close(from_0[3], 0.0), "{from_0:?}");
        assert!(close(bias_of(&fibres, 1)[0], -15.0 * step));
    }

    /// The cell is sent over the true fibres; the formula of A.2 gives the nodes' result.
    #[test]
    fn the_bias_is_what_the_formulas_of_the_appendix_leave() {
        let nodes = [0, 1];
        let mut fibres = Fibres::draw(&ClockConfig::default(), &nodes);
        fibres.slope.fill(0.0);
        fibres.mismeasured.fill(0.0);
        let (ways, later) = ([(1_250_040, 1_249_990), (1_250_510, 1_250_530)], [6i64, -4]);
        let believed = ways.map(|(up, down)| delay_to_grating(Time(0), Time(up + down)));
        for node in nodes {
            let (up, down) = ways[node as usize];
            fibres.asymmetry[node as usize] = (up - down) as f64;
            fibres.shift[node as usize] = later[node as usize] as f64;
        }
        let arrives = ways[0].0 + later[0] + ways[1].1 + later[1];
        let found = offset(Time(0), Time(arrives), (believed[0], believed[1]));
        assert_eq!(bias_of(&fibres, 0)[1], -found);
    }
}
