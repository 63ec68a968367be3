//! Solstice: the shortest schedule of circuits that, together with a slower packet
//! network beside it, serves a demand (Liu et al., "Scheduling techniques for
//! hybrid circuit/packet networks", CoNEXT 2015).
//!
//! Demand is stuffed ([`crate::quickstuff`]); then perfect matchings among entries
//! of at least r are taken, each lit as long as its smallest entry needs, and r is
//! halved when there are none, until the packet network can carry what is left
//! meanwhile. Unlike in the paper, a slot ends with the largest real demand in it,
//! slots of stuffing alone are left out, and so are the last ones where the packet
//! network alone ends sooner.
//!
//! Circuits and packets are taken to be used at once and fully; multihop circuits
//! are not planned.

use crate::demand::Matrix;
use crate::hopcroft_karp::{BitRows, HopcroftKarp, Pairing};
use crate::quickstuff;
use crate::schedule::{check_night, check_rate, Schedule, Slot};
use lightloom_engine::{Rate, Refusal, Time};

/// A circuit switch and the packet network beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// r_c: of a circuit.
    pub circuit: Rate,
    /// r_p: of each port of the packet network, at most `circuit`; 0 for none.
    pub packet: Rate,
    /// δ: darkness at the start of every slot.
    pub night: Time,
}

impl Network {
    /// Refuses networks and demands whose schedules have no end.
    fn check(&self, demand: &Matrix) -> Result<(), Refusal> {
        check_night(self.night)?;
        check_rate("circuit", self.circuit)?;
        if self.packet > self.circuit {
            return Err(Refusal::new(
                "packet",
                self.packet,
                format!("faster than the circuits, {}", self.circuit),
                "lower it: a fast packet network needs no circuits",
            ));
        }
        // Days sum up to the busiest port's time; each slot empties a stuffed entry.
        let slots = demand.n() as u128 * demand.n() as u128 + 1;
        let longest =
            picoseconds(demand.line_max(), self.circuit) + slots * (self.night.0 as u128 + 1);
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

    /// When everything is served, if circuits end at `end` and leave `line` bytes
    /// at the busiest port; `None` for never.
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
}

/// Time for `bytes`, rounded up.
fn picoseconds(bytes: i64, rate: Rate) -> u128 {
    (bytes as u128 * 8_000_000_000_000).div_ceil(rate.0 as u128)
}

/// Circuits, and what they leave to packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The circuits.
    pub schedule: Schedule,
    /// What the packet network carries [bytes].
    pub residual: Matrix,
    /// When all demand is served.
    pub total: Time,
}

/// Solstice's schedule for `demand`; without slots where packets alone end sooner.
/// O(N² · log(largest entry) + slots · N²), in practice much less.
///
/// # Errors
/// A circuit rate of 0; packets faster than circuits; a negative night; demand that
/// would take longer than 106 days.
///
/// ```
/// use lightloom_control::demand::Matrix;
/// use lightloom_control::solstice::{plan, Network};
/// use lightloom_engine::{Rate, Time};
/// let mb = 1_000_000;
/// let demand = Matrix::new(3, 3, vec![0, 9 * mb, mb, 0, 0, 8 * mb, 9 * mb, 0, 0]).unwrap();
/// let network = Network {
///     circuit: Rate(100 * Rate::GBPS.0),
///     packet: Rate(10 * Rate::GBPS.0),
///     night: Time::US * 20,
/// };
/// let plan = plan(&demand, &network).unwrap();
/// // One permutation for 9 MB at 100 Gb/s; the odd megabyte goes by packets.
/// assert_eq!(plan.schedule.slots.len(), 1);
/// assert_eq!(plan.schedule.slots[0].permutation, [1, 2, 0]);
/// assert_eq!(plan.residual.entries().collect::<Vec<_>>(), [(0, 2, mb)]);
/// assert_eq!(plan.total, Time::US * 800);
/// ```
pub fn plan(demand: &Matrix, network: &Network) -> Result<Plan, Refusal> {
    network.check(demand)?;
    let mut search = Search::new(demand, network);
    search.run();
    Ok(search.best())
}

/// Everything while it is being planned.
struct Search<'a> {
    network: &'a Network,
    demand: &'a Matrix,
    slices: Slices,
    /// Sums of the demand that no circuit carries yet.
    rows: Vec<i64>,
    columns: Vec<i64>,
    slots: Vec<Slot>,
    end: Time,
    /// When all would be served with so many slots, for the best so far.
    best: (Option<Time>, usize),
}

impl<'a> Search<'a> {
    fn new(demand: &'a Matrix, network: &'a Network) -> Search<'a> {
        let (rows, columns) = demand.line_sums();
        let stuffed = quickstuff::stuff_lines(demand, rows.clone(), columns.clone());
        let mut search = Search {
            network,
            demand,
            slices: Slices::new(stuffed.matrix, demand),
            rows,
            columns,
            slots: Vec::new(),
            end: Time::ZERO,
            best: (None, 0),
        };
        search.judge();
        search
    }

    /// The busiest port's demand that is left.
    fn line_max(&self) -> i64 {
        let sums = self.rows.iter().chain(&self.columns);
        sums.copied().max().unwrap_or(0)
    }

    /// Notes when all would be served if this were the last slot; returns whether
    /// packets can keep up.
    fn judge(&mut self) -> bool {
        let line = self.line_max();
        let finish = self.network.finish(self.end, line);
        let sooner = match (finish, self.best.0) {
            (Some(finish), Some(best)) => finish < best,
            (finish, None) => finish.is_some(),
            (None, _) => false,
        };
        if sooner {
            self.best = (finish, self.slots.len());
        }
        line as u64 <= self.network.packet.bytes_in(self.end)
    }

    fn run(&mut self) {
        while !self.judge() {
            let slice = self.slices.next();
            self.light(slice.expect("stuffed demand covers what is left"));
        }
    }

    /// Lights the slices' present matching, for its smallest stuffed entry at most.
    fn light(&mut self, slice: Slice) {
        let bytes = slice.largest_real.min(slice.smallest);
        if bytes > 0 {
            let day = self.network.circuit.time_for(bytes as u64);
            self.slots.push(Slot {
                permutation: self.slices.pairing.column_of().to_vec(),
                day,
            });
            self.end += day + self.network.night;
        }
        let (rows, columns) = (&mut self.rows, &mut self.columns);
        self.slices
            .take(slice.smallest, bytes, |row, column, sent| {
                rows[row] -= sent;
                columns[column] -= sent;
            });
    }

    fn best(mut self) -> Plan {
        let (total, count) = self.best;
        self.slots.truncate(count);
        let schedule = Schedule {
            ports: self.demand.n(),
            night: self.network.night,
            slots: self.slots,
        };
        Plan {
            residual: schedule.residual(self.demand, self.network.circuit),
            schedule,
            total: total.expect("circuits alone serve everything in the end"),
        }
    }
}

/// What is left of a pair's demand, with stuffing and without: side by side, since
/// they are read and written together.
#[derive(Clone, Copy)]
struct Entry {
    stuffed: i64,
    real: i64,
}

/// What matters of a matching.
struct Slice {
    /// Of the stuffed entries.
    smallest: i64,
    /// Of the real ones.
    largest_real: i64,
}

/// Perfect matchings of a matrix with equal line sums, of entries as large as can
/// be within a factor of two.
struct Slices {
    n: usize,
    entries: Vec<Entry>,
    /// The exponent of r: entries of at least 2^level are edges.
    level: usize,
    edges: BitRows,
    pairing: Pairing,
    search: HopcroftKarp,
    /// Entries that become edges at each level; some no longer do.
    waiting: Vec<Vec<u32>>,
}

/// ⌊log₂⌋ of an entry above 0.
fn level(entry: i64) -> usize {
    entry.ilog2() as usize
}

impl Slices {
    fn new(stuffed: Matrix, demand: &Matrix) -> Slices {
        let n = stuffed.n();
        let top = level(stuffed.max().max(1));
        let mut waiting = vec![Vec::new(); top + 1];
        for (at, &entry) in stuffed.cells().iter().enumerate() {
            if entry > 0 {
                waiting[level(entry)].push(at as u32);
            }
        }
        let mut slices = Slices {
            n,
            entries: stuffed
                .cells()
                .iter()
                .zip(demand.cells())
                .map(|(&stuffed, &real)| Entry { stuffed, real })
                .collect(),
            level: top,
            edges: BitRows::new(n, n),
            pairing: Pairing::new(n, n),
            search: HopcroftKarp::new(),
            waiting,
        };
        slices.admit();
        slices
    }

    /// Makes edges of the entries of this level.
    fn admit(&mut self) {
        for at in std::mem::take(&mut self.waiting[self.level]) {
            let at = at as usize;
            if self.entries[at].stuffed >> self.level > 0 {
                self.edges.set(at / self.n, at % self.n);
            }
        }
    }

    /// The next matching, which is in `pairing`; `None` when nothing is left.
    fn next(&mut self) -> Option<Slice> {
        loop {
            self.search.augment(&self.edges, &mut self.pairing);
            if self.pairing.is_perfect() {
                return Some(self.slice());
            }
            self.level = self.level.checked_sub(1)?;
            self.admit();
        }
    }

    fn slice(&self) -> Slice {
        let pairs = self.pairing.column_of().iter();
        let rows = self.entries.chunks_exact(self.n);
        let none = Slice {
            smallest: i64::MAX,
            largest_real: 0,
        };
        pairs.zip(rows).fold(none, |slice, (&column, row)| Slice {
            smallest: slice.smallest.min(row[column as usize].stuffed),
            largest_real: slice.largest_real.max(row[column as usize].real),
        })
    }

    /// Takes `stuffed` from every entry of the matching, and `bytes` from what is
    /// real of it; says where how much was.
    fn take(&mut self, stuffed: i64, bytes: i64, mut sent: impl FnMut(usize, usize, i64)) {
        for row in 0..self.n {
            let column = self.pairing.column_of()[row] as usize;
            let at = row * self.n + column;
            let entry = &mut self.entries[at];
            let real = bytes.min(entry.real);
            entry.real -= real;
            sent(row, column, real);
            entry.stuffed -= stuffed;
            let left = entry.stuffed;
            if left >> self.level == 0 {
                self.edges.clear(row, column);
                self.pairing.release(row);
                if left > 0 {
                    self.waiting[level(left)].push(at as u32);
                }
            }
        }
    }
}

/// No schedule of direct circuits, with packets beside it, serves `demand` sooner.
///
/// With m slots a port has its m largest peers over circuits at best, during the
/// time less m nights; packets carry the rest. The bound is the least over m of
/// what the worst port then needs. O(N² log N).
///
/// # Errors
/// As [`plan`].
///
/// ```
/// use lightloom_control::demand::Matrix;
/// use lightloom_control::solstice::{lower_bound, Network};
/// use lightloom_engine::{Rate, Time};
/// let demand = Matrix::new(3, 3, vec![0, 9000, 1000, 0, 0, 8000, 9000, 0, 0]).unwrap();
/// let network = Network { circuit: Rate(8_000_000_000), packet: Rate(0), night: Time::US };
/// // Port 0 has two peers: 10 kB at 1 byte a nanosecond, and two nights.
/// assert_eq!(lower_bound(&demand, &network), Ok(Time::US * 12));
/// ```
pub fn lower_bound(demand: &Matrix, network: &Network) -> Result<Time, Refusal> {
    network.check(demand)?;
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

/// What a port has for its peers.
struct Line {
    total: i64,
    /// Less that of the 0, 1, 2, … largest.
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

    /// Circuits and packets together, all the time but for the nights [ps].
    fn shared(&self, slots: usize, network: &Network) -> u128 {
        let nights = slots as u128 * network.night.0 as u128;
        let (circuit, packet) = (network.circuit.0 as u128, network.packet.0 as u128);
        match slots {
            0 => 0, // `alone` says it all
            _ => (self.total as u128 * 8_000_000_000_000 + circuit * nights)
                .div_ceil(circuit + packet)
                .max(nights),
        }
    }

    /// Packets for those who get no circuit [ps].
    fn alone(&self, slots: usize, network: &Network) -> u128 {
        match self.rest.get(slots).copied().unwrap_or(0) {
            0 => 0,
            _ if network.packet.0 == 0 => u128::MAX,
            rest => picoseconds(rest, network.packet),
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
            // Never worse than no circuits at all.
            if packet > 0 {
                let packets = network.packet.time_for(demand.line_max() as u64);
                prop_assert!(plan.total <= packets);
            }
        }

        /// Without nights and packets, stuffed demand is served in the time of the
        /// busiest port, the least that there is.
        #[test]
        fn without_nights_it_is_optimal(demand in demands(12, 10_000)) {
            let network = network(0, 0);
            let plan = plan(&demand, &network).unwrap();
            let least = Time::NS * demand.line_max();
            prop_assert_eq!(plan.total, least);
            prop_assert_eq!(lower_bound(&demand, &network).unwrap(), least);
        }

        #[test]
        fn slices_are_within_a_factor_of_two_of_the_bottleneck(demand in demands(12, 1000)) {
            let stuffed = quickstuff::stuff(&demand);
            let mut slices = Slices::new(stuffed.matrix, &demand);
            let mut taken = 0;
            while let Some(slice) = slices.next().filter(|_| taken < stuffed.line_sum) {
                let smallest = slice.smallest;
                let mut bottleneck = crate::birkhoff::Bottleneck::new(demand.n());
                let left: Vec<i64> = slices.entries.iter().map(|entry| entry.stuffed).collect();
                let widest = bottleneck.improve(&left, i64::MAX);
                prop_assert!(smallest <= widest && widest < 2 << slices.level);
                prop_assert!(smallest >= 1 << slices.level);
                slices.take(smallest, 0, |_, _, _| {});
                taken += smallest;
            }
            prop_assert_eq!(taken, stuffed.line_sum);
        }
    }

    /// The shortest schedule of three ports without packets in days of whole
    /// nanoseconds, by trying how long each of the five permutations is lit. The
    /// last one has to cover what the others leave.
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

    /// "Within 14 % of optimal" (its abstract), here on average over three ports.
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
            "packet"
        );
        assert_eq!(refused(good), "demand");
        assert_eq!(lower_bound(&demand, &good).unwrap_err().key, "demand");
    }
}
