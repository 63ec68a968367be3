//! Solstice: the shortest schedule of circuits that serves a demand together with a slower packet
//! network (Liu et al., "Scheduling techniques for hybrid circuit/packet networks", CoNEXT 2015).
//!
//! Demand is stuffed ([`crate::algorithms::quickstuff`]); then perfect matchings among entries of
//! at least r are added, each lit as long as its smallest entry needs, and r is halved when there
//! are none, until the packet network can carry the remaining demand in the same time. Unlike in
//! the paper, a slot ends with the largest real demand in it, and slots of stuffing alone are
//! omitted; the schedule may end with any of its slots, lit for as long as packets need it, and
//! ends where that is soonest.
//!
//! Circuits and packets are assumed to be used at the same time and fully; multihop circuits are
//! not planned. With [`Limits`], days hold whole packets and slots are at least the shortest slot
//! of a switch.
//!
//! | file | concept |
//! |---|---|
//! | this file | the search for the earliest end |
//! | `slices` | perfect matchings by halving thresholds |
//! | [`limits`] | whole packets, the shortest slot |
//! | `bound` | a lower bound on the time |

mod bound;
pub mod limits;
mod slices;

pub use bound::lower_bound;
pub use limits::Limits;

use crate::algorithms::quickstuff;
use crate::demand::Matrix;
use crate::schedule::{check_night, check_rate, Schedule, Slot};
use lightloom_engine::{Rate, Refusal, Time};
use slices::{Slice, Slices};

/// A circuit switch and its packet network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// r_c: rate of a circuit.
    pub circuit: Rate,
    /// r_p: rate of each port of the packet network, at most `circuit`; 0 for none.
    pub packet: Rate,
    /// δ: dark time at the start of every slot.
    pub night: Time,
}

impl Network {
    /// Refuses networks and demands whose schedules have no end.
    fn check(&self, demand: &Matrix, shortest: Time) -> Result<(), Refusal> {
        check_night(self.night)?;
        check_rate("circuit", self.circuit)?;
        check_packet_rate(self.packet, self.circuit)?;
        // Days sum up to the time of the busiest port; each slot empties a stuffed entry.
        let slots = demand.n() as u128 * demand.n() as u128 + 1;
        let least = self.night.max(shortest).0 as u128;
        let longest = picoseconds(demand.line_max(), self.circuit) + slots * (least + 1);
        match longest < i64::MAX as u128 {
            true => Ok(()),
            false => Err(Refusal::new(
                "demand",
                format!("{} B at one port", demand.line_max()),
                "its schedule could last longer than 106 days",
                "lower the demand or the night, or raise the circuits' rate",
            )),
        }
    }

    /// The time at which all demand is served if circuits end at `end` and leave `line` bytes at
    /// the busiest port; `None` if never.
    fn finish(&self, end: Time, line: i64) -> Option<Time> {
        match (line, self.packet.0) {
            (0, _) => Some(end),
            (_, 0) => None,
            _ => {
                let alone = picoseconds(line, self.packet);
                Some(end.max(Time(i64::try_from(alone).unwrap_or(i64::MAX))))
            }
        }
    }

    /// The time, in bytes of a circuit, that circuit and packets together need for `bytes`.
    fn shared(&self, bytes: i64) -> i64 {
        let (circuit, packet) = (u128::from(self.circuit.0), u128::from(self.packet.0));
        (bytes as u128 * circuit).div_ceil(circuit + packet) as i64
    }
}

/// Refuses a packet network that is faster than the circuits.
pub(crate) fn check_packet_rate(packet: Rate, circuit: Rate) -> Result<(), Refusal> {
    match packet > circuit {
        false => Ok(()),
        true => Err(Refusal::new(
            "packet_rate",
            packet,
            format!("faster than the circuits, {circuit}"),
            "lower it: a fast packet network needs no circuits",
        )),
    }
}

/// The time for `bytes`, rounded up.
fn picoseconds(bytes: i64, rate: Rate) -> u128 {
    (bytes as u128 * 8_000_000_000_000).div_ceil(rate.0 as u128)
}

/// Circuits, and the demand that they leave to packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The circuits.
    pub schedule: Schedule,
    /// Demand that the packet network carries [bytes].
    pub residual: Matrix,
    /// The time at which all demand is served.
    pub total: Time,
}

/// Solstice's schedule for `demand`; without slots if packets alone end earlier. O(N² · log(largest
/// entry) + slots · N²), in practice much less.
///
/// # Errors
/// A circuit rate of 0; packets faster than circuits; a negative night; demand that
/// would take longer than 106 days.
///
/// ```
/// use lightloom_control::demand::Matrix;
/// use lightloom_control::algorithms::solstice::{plan, Network};
/// use lightloom_engine::{Rate, Time};
/// let mb = 1_000_000;
/// let odd = 900_000;
/// let demand = Matrix::new(3, 3, vec![0, 9 * mb, odd, 0, 0, 8 * mb, 9 * mb, 0, 0]).unwrap();
/// let network = Network {
///     circuit: Rate(100 * Rate::GBPS.0),
///     packet: Rate(10 * Rate::GBPS.0),
///     night: Time::US * 20,
/// };
/// let plan = plan(&demand, &network).unwrap();
/// // One permutation for 9 MB at 100 Gb/s; meanwhile packets carry the remainder.
/// assert_eq!(plan.schedule.slots.len(), 1);
/// assert_eq!(plan.schedule.slots[0].permutation, [1, 2, 0]);
/// assert_eq!(plan.residual.get(0, 2), odd);
/// // They help with the rest, too: 9.9 MB less 25 kB at 110 Gb/s, after 20 µs.
/// assert_eq!(plan.total.0 / 1_000_000, 738);
/// ```
pub fn plan(demand: &Matrix, network: &Network) -> Result<Plan, Refusal> {
    plan_within(demand, network, &Limits::NONE)
}

/// Solstice's schedule in whole packets, with slots of at least the shortest length. `total` is
/// then the time at which the last packet has left, if each pair's demand is full packets and a
/// shorter last one.
///
/// # Errors
/// The errors of [`plan`], and a packet of 0 bytes.
pub fn plan_within(demand: &Matrix, network: &Network, limits: &Limits) -> Result<Plan, Refusal> {
    limits.check()?;
    network.check(demand, limits.shortest)?;
    let whole = limits.in_whole_packets(demand);
    network.check(&whole, limits.shortest)?;
    let mut search = Search::new(&whole, network, limits);
    search.run();
    let plan = search.best();
    Ok(match limits.packet {
        1 => plan,
        _ => limits.without_padding(plan, demand, network),
    })
}

/// The state of the planning.
struct Search<'a> {
    network: &'a Network,
    limits: &'a Limits,
    demand: &'a Matrix,
    slices: Slices,
    /// Sums of the demand that no circuit carries yet.
    rows: Vec<i64>,
    columns: Vec<i64>,
    slots: Vec<Slot>,
    end: Time,
    best: Option<Ending>,
}

/// A possible end of the schedule.
#[derive(Clone, Copy)]
struct Ending {
    total: Time,
    /// The number of slots and the day of the last one.
    slots: usize,
    last: Time,
}

impl<'a> Search<'a> {
    fn new(demand: &'a Matrix, network: &'a Network, limits: &'a Limits) -> Search<'a> {
        let (rows, columns) = demand.line_sums();
        let stuffed = quickstuff::stuff_lines(demand, rows.clone(), columns.clone());
        let mut search = Search {
            network,
            limits,
            demand,
            slices: Slices::new(stuffed.matrix, demand),
            rows,
            columns,
            slots: Vec::new(),
            end: Time::ZERO,
            best: None,
        };
        let packets = network.finish(Time::ZERO, search.line_max());
        search.judge(packets, 0, Time::ZERO);
        search
    }

    /// The largest remaining demand of a port.
    fn line_max(&self) -> i64 {
        let sums = self.rows.iter().chain(&self.columns);
        sums.copied().max().unwrap_or(0)
    }

    fn run(&mut self) {
        while self.line_max() as u64 > self.network.packet.bytes_in(self.end) {
            let slice = self.slices.next();
            self.light(slice.expect("stuffed demand covers what is left"));
        }
    }

    fn judge(&mut self, total: Option<Time>, slots: usize, last: Time) {
        if let Some(total) = total.filter(|&t| self.best.is_none_or(|best| t < best.total)) {
            self.best = Some(Ending { total, slots, last });
        }
    }

    /// Lights the present matching of the slices, at most for its smallest stuffed entry.
    fn light(&mut self, slice: Slice) {
        let bytes = slice.largest_real.min(slice.smallest);
        let mut sent = bytes;
        if bytes > 0 {
            self.judge_as_last(&slice);
            let (day, carries) = self.limits.day(bytes, self.network);
            sent = carries;
            self.slots.push(Slot {
                permutation: self.slices.permutation().to_vec(),
                day,
            });
            self.end += day + self.network.night;
        }
        let (rows, columns) = (&mut self.rows, &mut self.columns);
        self.slices.take(slice.smallest, sent, |row, column, sent| {
            rows[row] -= sent;
            columns[column] -= sent;
        });
    }

    /// Evaluates the present matching as the last slot: lit until packets can carry the rest of
    /// every port meanwhile, or until its pairs have sent all demand.
    fn judge_as_last(&mut self, slice: &Slice) {
        let begin = self.end + self.network.night;
        let by_packets = i64::try_from(self.network.packet.bytes_in(begin)).unwrap_or(i64::MAX);
        let over = self.line_max() - by_packets;
        if over <= 0 {
            return;
        }
        let shared = self.limits.round_up(self.network.shared(over));
        let bytes = shared.min(slice.largest_real);
        let (day, bytes) = self.limits.day(bytes, self.network);
        if self.best.is_some_and(|best| best.total <= begin + day) {
            return;
        }
        let left = self.slices.pairs().map(|(row, column, entry)| {
            self.rows[row].max(self.columns[column]) - bytes.min(entry)
        });
        let total = self.network.finish(begin + day, left.max().unwrap_or(0));
        self.judge(total, self.slots.len() + 1, day);
    }

    fn best(mut self) -> Plan {
        let best = self
            .best
            .expect("circuits alone serve everything in the end");
        self.slots.truncate(best.slots);
        if let Some(slot) = self.slots.last_mut() {
            slot.day = best.last;
        }
        let schedule = Schedule {
            ports: self.demand.n(),
            night: self.network.night,
            slots: self.slots,
        };
        Plan {
            residual: schedule.residual(self.demand, self.network.circuit),
            schedule,
            total: best.total,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demand::tests::demands;
    use proptest::prelude::*;

    /// A byte a nanosecond.
    const CIRCUIT: Rate = Rate(8_000_000_000);

    fn network(packet_share: u64, night: i64) -> Network {
        Network {
            circuit: CIRCUIT,
            packet: Rate(CIRCUIT.0 * packet_share / 100),
            night: Time::NS * night,
        }
    }

    proptest! {
        #[test]
        fn everything_is_served_in_time(
            demand in demands(12, 10_000), packet in 0u64..50, night in 0i64..2_000,
        ) {
            let network = network(packet, night);
            let plan = plan(&demand, &network).unwrap();
            prop_assert_eq!(plan.schedule.check(), Ok(()));
            prop_assert_eq!(&plan.schedule.residual(&demand, CIRCUIT), &plan.residual);
            prop_assert!(plan.schedule.period() <= plan.total);
            for line in plan.residual.row_sums().into_iter().chain(plan.residual.column_sums()) {
                prop_assert!(network.packet.bytes_in(plan.total) >= line as u64);
            }
            prop_assert!(lower_bound(&demand, &network).unwrap() <= plan.total);
            // Never worse than without circuits.
            if packet > 0 {
                let packets = network.packet.time_for(demand.line_max() as u64);
                prop_assert!(plan.total <= packets);
            }
        }

        /// Without nights and packets, stuffed demand is served in the time of the busiest port,
        /// which is optimal.
        #[test]
        fn without_nights_it_is_optimal(demand in demands(12, 10_000)) {
            let network = network(0, 0);
            let plan = plan(&demand, &network).unwrap();
            let least = Time::NS * demand.line_max();
            prop_assert_eq!(plan.total, least);
            prop_assert_eq!(lower_bound(&demand, &network).unwrap(), least);
        }
    }

    /// The shortest schedule of three ports without packets in days of whole nanoseconds, by trying
    /// all lengths of the five permutations. The last one has to serve the demand that the others
    /// leave.
    fn exhaustive(demand: &Matrix, night: i64) -> i64 {
        const PERMUTATIONS: [[usize; 3]; 5] =
            [[1, 2, 0], [2, 0, 1], [1, 0, 2], [2, 1, 0], [0, 2, 1]];
        fn best(left: [i64; 9], at: usize, night: i64) -> i64 {
            let needs = PERMUTATIONS[at].iter().enumerate();
            let longest = needs.map(|(i, &j)| left[i * 3 + j]).max().unwrap_or(0);
            let rest = |day: i64| {
                let mut left = left;
                for (i, &j) in PERMUTATIONS[at].iter().enumerate() {
                    left[i * 3 + j] = (left[i * 3 + j] - day).max(0);
                }
                left
            };
            let cost = |day: i64| if day > 0 { day + night } else { 0 };
            if at == 4 {
                let done = rest(longest).iter().all(|&left| left == 0);
                return if done { cost(longest) } else { i64::MAX / 2 };
            }
            let days = 0..=longest;
            days.map(|day| cost(day) + best(rest(day), at + 1, night))
                .min()
                .expect("a day")
        }
        let mut left = [0; 9];
        left.copy_from_slice(demand.cells());
        best(left, 0, night)
    }

    /// "Within 14 % of optimal" (its abstract); here on average over three ports.
    #[test]
    fn three_ports_are_served_nearly_as_fast_as_possible() {
        let mut rng = lightloom_engine::Stream::new(3, "optimum", 0);
        let (mut sum, mut cases) = (0.0, 0);
        while cases < 300 {
            let mut demand = Matrix::zeros(3);
            for (i, j) in [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)] {
                let (there, bytes) = rng.below2(4, 12);
                demand.set(i, j, if there > 0 { bytes.into() } else { 0 });
            }
            let night = i64::from(rng.below(4));
            let optimum = exhaustive(&demand, night);
            if optimum == 0 {
                continue;
            }
            let network = network(0, night);
            let total = plan(&demand, &network).unwrap().total;
            assert!(lower_bound(&demand, &network).unwrap() <= Time::NS * optimum);
            assert!(total >= Time::NS * optimum);
            sum += total.0 as f64 / (1000 * optimum) as f64;
            cases += 1;
        }
        let mean = sum / f64::from(cases);
        assert!(mean < 1.14, "{mean} times the optimum");
    }

    #[test]
    fn a_permutation_takes_one_slot() {
        let mut demand = Matrix::zeros(5);
        (0..5).for_each(|i| demand.set(i, (i + 2) % 5, 700));
        let plan = plan(&demand, &network(0, 100)).unwrap();
        assert_eq!(plan.schedule.slots.len(), 1);
        assert_eq!(plan.total, Time::NS * 800);
        assert!(plan.residual.is_zero());
        assert_eq!(lower_bound(&demand, &network(0, 100)), Ok(Time::NS * 800));
    }

    #[test]
    fn short_demand_is_left_to_packets() {
        let demand = Matrix::new(3, 3, vec![0, 50, 0, 0, 0, 0, 0, 0, 0]).unwrap();
        let with_long_nights = plan(&demand, &network(10, 5000)).unwrap();
        assert!(with_long_nights.schedule.slots.is_empty());
        assert_eq!(with_long_nights.total, Time::NS * 500);
        assert_eq!(lower_bound(&demand, &network(10, 5000)), Ok(Time::NS * 500));
        let nothing = plan(&Matrix::zeros(3), &network(0, 5)).unwrap();
        assert_eq!(
            (nothing.schedule.slots.len(), nothing.total),
            (0, Time::ZERO)
        );
    }

    #[test]
    fn bad_networks_are_refused_by_name() {
        let demand = Matrix::new(2, 2, vec![0, i64::MAX / 4, 9, 0]).unwrap();
        let good = network(10, 5);
        let refused = |network: Network| plan(&demand, &network).unwrap_err().key;
        assert_eq!(
            refused(Network {
                night: Time(-1),
                ..good
            }),
            "night"
        );
        assert_eq!(
            refused(Network {
                circuit: Rate(0),
                ..good
            }),
            "circuit"
        );
        assert_eq!(
            refused(Network {
                packet: Rate::GBPS,
                circuit: Rate(5),
                ..good
            }),
            "packet_rate"
        );
        assert_eq!(refused(good), "demand");
        assert_eq!(lower_bound(&demand, &good).unwrap_err().key, "demand");
    }
}
