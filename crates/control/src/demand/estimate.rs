//! Estimates a demand matrix from reports: servers, or switches on their behalf, report the bytes
//! that they hold for each rack, and the controller adds them.
//!
//! With thresholds (c-Through, SIGCOMM 2010, §4.1, §4.3) a queue up to the first threshold counts
//! as empty. A queue whose change since its last report is at most the second threshold is not
//! reported; the controller then uses the last report. With smoothing the controller uses a moving
//! average over its reports.
//!
//! The time and bandwidth of reports are not modelled; [`Estimator::reported`] counts them.

use super::Matrix;
use lightloom_engine::Refusal;
use serde::{Deserialize, Serialize};

/// The bytes that one reporter holds for one rack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "(u32, u32, u64)", into = "(u32, u32, u64)")]
pub struct Queue {
    /// The reporter: a server, or a rack if racks report.
    pub from: u32,
    /// The destination rack.
    pub to: u32,
    /// The length of the queue [B]. Queues that occur twice are added.
    pub bytes: u64,
}

impl From<(u32, u32, u64)> for Queue {
    fn from((from, to, bytes): (u32, u32, u64)) -> Queue {
        Queue { from, to, bytes }
    }
}

impl From<Queue> for (u32, u32, u64) {
    fn from(Queue { from, to, bytes }: Queue) -> (u32, u32, u64) {
        (from, to, bytes)
    }
}

/// The bytes that all reporters hold at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Report {
    /// The queues that are not empty, in any order.
    pub queues: Vec<Queue>,
}

impl Report {
    /// The demand between racks, reported by the racks.
    pub fn of(demand: &Matrix) -> Report {
        let queue = |(from, to, bytes): (usize, usize, i64)| Queue {
            from: from as u32,
            to: to as u32,
            bytes: bytes as u64,
        };
        Report {
            queues: demand.entries().map(queue).collect(),
        }
    }
}

impl Report {
    /// Refuses a queue whose reporter or rack does not exist.
    ///
    /// # Errors
    /// If there is such a queue; names it.
    pub fn check(&self, rules: &Estimation) -> Result<(), Refusal> {
        let reporters = u64::from(rules.racks) * u64::from(rules.reporters_per_rack);
        let is_odd = |q: &&Queue| u64::from(q.from) >= reporters || q.to >= rules.racks;
        let Some(Queue { from, to, .. }) = self.queues.iter().find(is_odd) else {
            return Ok(());
        };
        let limit = format!(
            "{reporters} report, for {} racks, counted from 0",
            rules.racks
        );
        let value = format!("of {from} for {to}");
        Err(Refusal::new(
            "demand",
            value,
            limit,
            "name reporters and racks that exist",
        ))
    }
}

/// The conditions for a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thresholds {
    /// A queue that is no larger than this counts as empty [B].
    pub queue_above: u64,
    /// A queue whose change is at most this is not reported [B].
    pub change_above: u64,
}

/// A queue from a reporter to a rack: (reporter × racks + rack, bytes).
type Told = (u64, u64);

/// The rules that turn reports into demand.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Estimation {
    /// Racks.
    pub racks: u32,
    /// The number of reporters of each rack: its servers, or 1 if racks report.
    pub reporters_per_rack: u32,
    /// The conditions for a report; without them everything is reported.
    pub thresholds: Option<Thresholds>,
    /// The weight of a new report in the estimate, above 0 and at most 1; the rest is the previous
    /// estimate.
    pub smoothing: f64,
    /// The largest demand that counts for a pair [B].
    pub most: u64,
}

impl Estimation {
    /// Every report is used unchanged.
    ///
    /// ```
    /// use lightloom_control::demand::{Estimation, Estimator, Queue, Report};
    /// let mut estimator = Estimator::new(Estimation::plain(3, 2));
    /// // Servers 0 and 1 are in rack 0.
    /// let queue = |from, bytes| Queue { from, to: 2, bytes };
    /// let seen = estimator.update(&Report { queues: vec![queue(0, 20), queue(1, 5)] });
    /// assert_eq!(seen.get(0, 2), 25);
    /// ```
    pub fn plain(racks: u32, reporters_per_rack: u32) -> Estimation {
        Estimation {
            racks,
            reporters_per_rack,
            thresholds: None,
            smoothing: 1.0,
            most: u64::MAX,
        }
    }

    /// Refuses rules without reporters, or in which reports have no weight.
    ///
    /// # Errors
    /// If a value is out of range; names `reporters_per_rack`, `smoothing` or `most`.
    pub fn check(&self) -> Result<(), Refusal> {
        let refuse =
            |key, value: String, limit, remedy| Err(Refusal::new(key, value, limit, remedy));
        let reporters = self.reporters_per_rack;
        if reporters == 0 {
            return refuse("reporters_per_rack", "0".into(), "must be above 0", "use 1");
        }
        if self.racks.checked_mul(reporters).is_none() {
            let limit = "more reporters than can be counted in 32 bits";
            return refuse(
                "reporters_per_rack",
                reporters.to_string(),
                limit,
                "lower it",
            );
        }
        if !(self.smoothing > 0.0 && self.smoothing <= 1.0) {
            let limit = "must be above 0 and at most 1";
            let remedy = "use 1 to average nothing";
            return refuse("smoothing", self.smoothing.to_string(), limit, remedy);
        }
        match self.most {
            0 => refuse("most", "0".into(), "must be above 0", "raise it"),
            _ => Ok(()),
        }
    }
}

/// The reports that have been received.
#[derive(Clone, Debug)]
pub struct Estimator {
    rules: Estimation,
    racks: u64,
    /// The largest demand that counts for a pair, so that sums stay in range [B].
    most: u64,
    /// Queues as last reported, in order and without empty ones.
    known: Vec<Told>,
    average: Option<Vec<f64>>,
    reported: u64,
}

impl Estimator {
    /// An estimator without reports.
    pub fn new(rules: Estimation) -> Estimator {
        let pairs = u64::from(rules.racks) * u64::from(rules.racks);
        Estimator {
            rules,
            racks: u64::from(rules.racks),
            most: rules.most.min(i64::MAX as u64 / pairs.max(1)),
            known: Vec::new(),
            average: None,
            reported: 0,
        }
    }

    /// The rules.
    pub fn rules(&self) -> &Estimation {
        &self.rules
    }

    /// The number of queues reported so far; not counted without thresholds.
    pub fn reported(&self) -> u64 {
        self.reported
    }

    /// Adds a report of all reporters and returns the estimated demand between racks.
    pub fn update(&mut self, report: &Report) -> Matrix {
        let mut demand = Matrix::zeros(self.racks as usize);
        match self.rules.thresholds {
            None => {
                for queue in &report.queues {
                    self.add(u64::from(queue.from), queue.to, queue.bytes, &mut demand);
                }
            }
            Some(thresholds) => {
                self.tell(&report.queues, thresholds);
                let known = std::mem::take(&mut self.known);
                for &(queue, bytes) in &known {
                    let (from, to) = (queue / self.racks, (queue % self.racks) as u32);
                    self.add(from, to, bytes, &mut demand);
                }
                self.known = known;
            }
        }
        self.smooth(demand)
    }

    /// Adds demand up to the largest that counts for a pair; traffic within a rack needs no
    /// circuit.
    fn add(&self, from: u64, to: u32, bytes: u64, demand: &mut Matrix) {
        let (from, to) = (
            (from / u64::from(self.rules.reporters_per_rack)) as usize,
            to as usize,
        );
        if from != to {
            let before = demand.get(from, to) as u64;
            let sum = before.saturating_add(bytes).min(self.most);
            demand.set(from, to, sum as i64);
        }
    }

    /// Compares the present bytes of the reporters with their last report.
    fn tell(&mut self, queues: &[Queue], thresholds: Thresholds) {
        let now = added_up(queues, self.racks);
        let known = std::mem::take(&mut self.known);
        let mut merged = Vec::with_capacity(now.len().max(known.len()));
        let (mut n, mut k) = (0, 0);
        while n < now.len() || k < known.len() {
            let next = |told: &[Told], at: usize| told.get(at).map_or(u64::MAX, |q| q.0);
            let queue = next(&now, n).min(next(&known, k));
            let bytes = |told: &[Told], at: usize| match next(told, at) == queue {
                true => told[at].1,
                false => 0,
            };
            let (waits, before) = (bytes(&now, n), bytes(&known, k));
            n += (next(&now, n) == queue) as usize;
            k += (next(&known, k) == queue) as usize;
            let shown = if waits > thresholds.queue_above {
                waits
            } else {
                0
            };
            let is_told = shown.abs_diff(before) > thresholds.change_above;
            self.reported += is_told as u64;
            let after = if is_told { shown } else { before };
            if after > 0 {
                merged.push((queue, after));
            }
        }
        self.known = merged;
    }

    fn smooth(&mut self, demand: Matrix) -> Matrix {
        let share = self.rules.smoothing;
        if share >= 1.0 {
            return demand;
        }
        let mix = |old: f64, new: &i64| old + share * (*new as f64 - old);
        let average = match self.average.take() {
            None => demand.cells().iter().map(|&c| c as f64).collect(),
            Some(old) => { old.iter().zip(demand.cells()) }
                .map(|(&old, new)| mix(old, new))
                .collect::<Vec<f64>>(),
        };
        let cells = average.iter().map(|x| x.round() as i64).collect();
        self.average = Some(average);
        Matrix::from_cells(demand.n(), cells)
    }
}

/// The queues in order, each once.
fn added_up(queues: &[Queue], racks: u64) -> Vec<Told> {
    let told = |q: &Queue| (u64::from(q.from) * racks + u64::from(q.to), q.bytes);
    let mut now: Vec<Told> = queues.iter().map(told).collect();
    now.sort_unstable();
    now.dedup_by(|more, queue| {
        let same = more.0 == queue.0;
        if same {
            queue.1 = queue.1.saturating_add(more.1);
        }
        same
    });
    now
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1_000_000;

    fn estimator(queue_above: u64, change_above: u64, racks: u32, servers: u32) -> Estimator {
        let thresholds = Thresholds {
            queue_above,
            change_above,
        };
        Estimator::new(Estimation {
            thresholds: Some(thresholds),
            ..Estimation::plain(racks, servers)
        })
    }

    fn report(queues: &[(u32, u32, u64)]) -> Report {
        let queue = |&(from, to, bytes): &(u32, u32, u64)| Queue { from, to, bytes };
        Report {
            queues: queues.iter().map(queue).collect(),
        }
    }

    fn seen(e: &mut Estimator, queues: &[(u32, u32, u64)]) -> Vec<i64> {
        e.update(&report(queues)).cells().to_vec()
    }

    #[test]
    fn servers_of_a_rack_add_up() {
        // Server 0 has two connections and server 1 one (both rack 0); rack 2 has one.
        let queues = [
            (0, 2, 50 * MB),
            (1, 2, 20 * MB),
            (5, 0, 50 * MB),
            (0, 2, 7 * MB),
            (0, 0, 9 * MB),
        ];
        let mb = MB as i64;
        let expected = [0, 0, 77 * mb, 0, 0, 0, 50 * mb, 0, 0];
        let mut e = estimator(MB, MB, 3, 2);
        assert_eq!(seen(&mut e, &queues[..4]), expected);
        assert_eq!(e.reported(), 3);
        assert_eq!(
            seen(&mut Estimator::new(Estimation::plain(3, 2)), &queues),
            expected
        );
    }

    #[test]
    fn small_queues_count_as_empty_and_small_changes_are_not_told() {
        let mut e = estimator(MB, MB, 2, 1);
        let seen: Vec<i64> = [
            1_000_000, 1_000_001, 1_999_999, 2_000_002, 1_500_000, 900_000, 0,
        ]
        .map(|waits| seen(&mut e, &[(0, 1, waits)])[1])
        .to_vec();
        // At 900 KB the queue counts as empty, a change of 2 MB.
        let told = [0, 1_000_001, 1_000_001, 2_000_002, 2_000_002, 0, 0];
        assert_eq!(seen, told);
        assert_eq!(e.reported(), 3);
    }

    #[test]
    fn a_queue_that_is_gone_is_reported_once() {
        let mut e = estimator(MB, MB, 2, 1);
        assert_eq!(seen(&mut e, &[(0, 1, 5 * MB)])[1], 5 * MB as i64);
        assert_eq!(seen(&mut e, &[])[1], 0);
        assert_eq!(seen(&mut e, &[])[1], 0);
        assert_eq!(e.reported(), 2);
    }

    /// c-Through §7.3: if every server has bytes for every rack, 1,000 racks of 40 servers report 4
    /// B for each of 1,000 racks: 160 MB. The test uses a tenth of each number.
    #[test]
    fn at_worst_every_server_reports_every_rack() {
        const REPORT_BYTES: u64 = 4;
        let (racks, servers) = (100, 4);
        let mut e = estimator(MB, MB, racks, servers);
        let all = (0..racks * servers).flat_map(|s| (0..racks).map(move |r| (s, r, 2 * MB)));
        let queues: Vec<_> = all.filter(|&(s, r, _)| s / servers != r).collect();
        let demand = e.update(&report(&queues));
        let told = e.reported() * REPORT_BYTES;
        // Except for a server's own rack, to which no circuit leads.
        assert_eq!(told, 100 * 4 * 99 * 4);
        assert_eq!(demand.total() as u64, 2 * MB * 100 * 4 * 99);
        let scaled = (told + 100 * 4 * 4) * 10 * 10 * 10;
        assert_eq!(scaled, 160 * MB);
    }

    #[test]
    fn demand_beyond_all_measure_stays_in_range() {
        let many = [(0, 1, u64::MAX / 4), (0, 1, u64::MAX / 4)];
        let mut e = Estimator::new(Estimation {
            most: 7 * MB,
            ..Estimation::plain(2, 1)
        });
        assert_eq!(seen(&mut e, &many)[1], 7 * MB as i64);
        let mut e = Estimator::new(Estimation::plain(2, 1));
        assert_eq!(seen(&mut e, &many)[1], i64::MAX / 4);
    }

    /// 100, then 0 in all later reports: a quarter is forgotten each time.
    #[test]
    fn smoothing_forgets_geometrically() {
        let mut e = Estimator::new(Estimation {
            smoothing: 0.25,
            ..Estimation::plain(2, 1)
        });
        let first = seen(&mut e, &[(0, 1, 1_000_000)])[1];
        let then: Vec<i64> = (0..3).map(|_| seen(&mut e, &[])[1]).collect();
        assert_eq!((first, then), (1_000_000, vec![750_000, 562_500, 421_875]));
    }
}
