//! A lower bound on the time that a demand takes.

use super::{picoseconds, Network};
use crate::demand::Matrix;
use lightloom_engine::{Refusal, Time};

/// Returns a time below which no schedule of direct circuits and packets can serve `demand`.
///
/// With m slots a port serves at best its m largest peers over circuits, during the time less m
/// nights; packets carry the rest. The bound is the minimum over m of the time that the worst port
/// then needs. O(N² log N).
///
/// # Errors
/// As [`super::plan`].
///
/// ```
/// use lightloom_control::demand::Matrix;
/// use lightloom_control::algorithms::solstice::{lower_bound, Network};
/// use lightloom_engine::{Rate, Time};
/// let demand = Matrix::new(3, 3, vec![0, 9000, 1000, 0, 0, 8000, 9000, 0, 0]).unwrap();
/// let network = Network { circuit: Rate(8_000_000_000), packet: Rate(0), night: Time::US };
/// // Port 0 has two peers: 10 kB at 1 byte a nanosecond, and two nights.
/// assert_eq!(lower_bound(&demand, &network), Ok(Time::US * 12));
/// ```
pub fn lower_bound(demand: &Matrix, network: &Network) -> Result<Time, Refusal> {
    network.check(demand, Time::ZERO)?;
    let n = demand.n();
    let mut lines: Vec<Line> = Vec::new();
    for k in 0..n {
        lines.push(Line::new(demand.row(k).iter().copied()));
        lines.push(Line::new((0..n).map(|i| demand.get(i, k))));
    }
    let mut best = u128::MAX;
    for slots in 0..=n {
        let with_circuits = lines.iter().map(|line| line.shared(slots, network)).max();
        let by_packets = lines.iter().map(|line| line.alone(slots, network)).max();
        best = best.min(with_circuits.max(by_packets).unwrap_or(0));
    }
    Ok(Time(i64::try_from(best).unwrap_or(i64::MAX)))
}

/// The demand of a port for its peers.
struct Line {
    total: i64,
    /// The demand without that of the 0, 1, 2, … largest peers.
    rest: Vec<i64>,
}

impl Line {
    fn new(entries: impl Iterator<Item = i64>) -> Line {
        let mut entries: Vec<i64> = entries.filter(|&entry| entry > 0).collect();
        entries.sort_unstable_by(|a, b| b.cmp(a));
        let total = entries.iter().sum();
        let left = entries.iter().scan(total, |left, entry| {
            *left -= entry;
            Some(*left)
        });
        Line {
            total,
            rest: std::iter::once(total).chain(left).collect(),
        }
    }

    /// Circuits and packets together, during all the time except nights [ps].
    fn shared(&self, slots: usize, network: &Network) -> u128 {
        let nights = slots as u128 * network.night.0 as u128;
        let (circuit, packet) = (network.circuit.0 as u128, network.packet.0 as u128);
        match slots {
            0 => 0, // `alone` covers this case
            _ => (self.total as u128 * 8_000_000_000_000 + circuit * nights)
                .div_ceil(circuit + packet)
                .max(nights),
        }
    }

    /// Packets for the peers without a circuit [ps].
    fn alone(&self, slots: usize, network: &Network) -> u128 {
        match self.rest.get(slots).copied().unwrap_or(0) {
            0 => 0,
            _ if network.packet.0 == 0 => u128::MAX,
            rest => picoseconds(rest, network.packet),
        }
    }
}
