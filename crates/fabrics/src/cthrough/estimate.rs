//! Demand estimation (§4.1, §4.3): servers add up what waits in the buffers of
//! their connections, by destination rack, and report what matters.
//!
//! A connection shows at most the limit of its buffer. A queue that is no larger
//! than the first threshold counts as empty; one that has changed by no more than
//! the second since it was last reported is not reported, and the manager goes on
//! with what it knows.
//!
//! Reports take no time and no bandwidth; [`Estimator::reported`] counts them.

use super::config::BYTES_MAX;
use lightloom_control::demand::Matrix;
use lightloom_engine::{Cluster, HostId};

/// What one destination rack takes in a report [B] (§7.3).
pub const REPORT_BYTES: u64 = 4;

/// A server's queue for a rack: (server × racks + rack, bytes).
type Queue = (u64, u64);

/// What servers have reported, and by what rules.
#[derive(Clone, Debug)]
pub struct Estimator {
    buffer: u64,
    queue_above: u64,
    change_above: u64,
    racks: u64,
    servers_per_rack: u64,
    /// Queues as last reported, in order; no empty ones.
    known: Vec<Queue>,
    /// Queues as they are now; the connections, until they are added up.
    now: Vec<Queue>,
    merged: Vec<Queue>,
    reported: u64,
}

impl Estimator {
    /// Buffers of `buffer` bytes; thresholds for a queue and for its change.
    pub fn new(buffer: u64, queue_above: u64, change_above: u64, cluster: &Cluster) -> Estimator {
        Estimator {
            buffer,
            queue_above,
            change_above,
            racks: cluster.racks as u64,
            servers_per_rack: cluster.servers_per_rack as u64,
            known: Vec::new(),
            now: Vec::new(),
            merged: Vec::new(),
            reported: 0,
        }
    }

    /// A connection of `server` has `waiting` bytes for `rack`.
    pub fn connection(&mut self, server: HostId, rack: u32, waiting: u64) {
        let queue = server.0 as u64 * self.racks + rack as u64;
        self.now.push((queue, waiting.min(self.buffer)));
    }

    /// All connections have been named: servers report, and the manager has the
    /// demand between racks.
    pub fn report(&mut self) -> Matrix {
        self.add_up();
        let (now, known) = (
            std::mem::take(&mut self.now),
            std::mem::take(&mut self.known),
        );
        self.merged.clear();
        let (mut n, mut k) = (0, 0);
        while n < now.len() || k < known.len() {
            let next = |queues: &[Queue], at: usize| queues.get(at).map_or(u64::MAX, |q| q.0);
            let key = next(&now, n).min(next(&known, k));
            let waits = if next(&now, n) == key { now[n].1 } else { 0 };
            let before = if next(&known, k) == key {
                known[k].1
            } else {
                0
            };
            n += (next(&now, n) == key) as usize;
            k += (next(&known, k) == key) as usize;
            let after = self.known_after(before, waits);
            if after > 0 {
                self.merged.push((key, after));
            }
        }
        self.known = std::mem::replace(&mut self.merged, known);
        self.now = now;
        self.now.clear();
        self.demand()
    }

    /// How many queues were reported so far, [`REPORT_BYTES`] each.
    pub fn reported(&self) -> u64 {
        self.reported
    }

    /// Connections to queues.
    fn add_up(&mut self) {
        self.now.sort_unstable();
        self.now.dedup_by(|more, queue| {
            let same = more.0 == queue.0;
            queue.1 += if same { more.1 } else { 0 };
            same
        });
    }

    /// What the manager knows of a queue after this round.
    fn known_after(&mut self, before: u64, waits: u64) -> u64 {
        let shown = if waits > self.queue_above { waits } else { 0 };
        if shown.abs_diff(before) <= self.change_above {
            return before;
        }
        self.reported += 1;
        shown
    }

    fn demand(&self) -> Matrix {
        let mut demand = Matrix::zeros(self.racks as usize);
        for &(queue, bytes) in &self.known {
            let (server, to) = (queue / self.racks, (queue % self.racks) as usize);
            let from = (server / self.servers_per_rack) as usize;
            // So much for one pair is as good as more, and sums stay in range.
            let bytes = demand.get(from, to) + bytes.min(BYTES_MAX) as i64;
            demand.set(from, to, bytes.min(BYTES_MAX as i64));
        }
        demand
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_engine::{Nic, Rate};

    const MB: u64 = 1_000_000;

    fn estimator(buffer: u64, queue: u64, change: u64, racks: u32, servers: u32) -> Estimator {
        let cluster = Cluster {
            racks,
            servers_per_rack: servers,
            server_rate: Rate::GBPS,
            nic: Nic::Capped(Rate::GBPS),
        };
        Estimator::new(buffer, queue, change, &cluster)
    }

    fn report(e: &mut Estimator, connections: &[(u32, u32, u64)]) -> Vec<i64> {
        for &(server, rack, waiting) in connections {
            e.connection(HostId(server), rack, waiting);
        }
        e.report().cells().to_vec()
    }

    #[test]
    fn servers_of_a_rack_add_up_and_a_buffer_bounds_what_a_connection_shows() {
        let mut e = estimator(50 * MB, MB, MB, 3, 2);
        // Two connections of server 0, one of server 1 (rack 0); one of rack 2.
        let seen = report(
            &mut e,
            &[
                (0, 2, 900 * MB),
                (1, 2, 20 * MB),
                (5, 0, 60 * MB),
                (0, 2, 7 * MB),
            ],
        );
        let mb = MB as i64;
        assert_eq!(seen, [0, 0, 77 * mb, 0, 0, 0, 50 * mb, 0, 0]);
        assert_eq!(e.reported(), 3);
    }

    #[test]
    fn small_queues_count_as_empty_and_small_changes_are_not_told() {
        let mut e = estimator(300 * MB, MB, MB, 2, 1);
        let seen: Vec<i64> = [
            1_000_000, 1_000_001, 1_999_999, 2_000_002, 1_500_000, 900_000, 0,
        ]
        .map(|waits| report(&mut e, &[(0, 1, waits)])[1])
        .to_vec();
        // At 900 KB the queue counts as empty, a change of 2 MB.
        let told = [0, 1_000_001, 1_000_001, 2_000_002, 2_000_002, 0, 0];
        assert_eq!(seen, told);
        assert_eq!(e.reported(), 3);
    }

    #[test]
    fn a_queue_that_is_gone_is_reported_once() {
        let mut e = estimator(300 * MB, MB, MB, 2, 1);
        assert_eq!(report(&mut e, &[(0, 1, 5 * MB)])[1], 5 * MB as i64);
        assert_eq!(report(&mut e, &[])[1], 0);
        assert_eq!(report(&mut e, &[])[1], 0);
        assert_eq!(e.reported(), 2);
    }

    /// §7.3: when every server has something for every rack, 1,000 racks of 40
    /// servers report 4 B for each of 1,000 racks: 160 MB. Here a tenth of each.
    #[test]
    fn at_worst_every_server_reports_every_rack() {
        let (racks, servers) = (100, 4);
        let mut e = estimator(300 * MB, MB, MB, racks, servers);
        for server in 0..racks * servers {
            for rack in 0..racks {
                if server / servers != rack {
                    e.connection(HostId(server), rack, 2 * MB);
                }
            }
        }
        let demand = e.report();
        let told = e.reported() * REPORT_BYTES;
        // But for a server's own rack, to which no circuit leads.
        assert_eq!(told, 100 * 4 * 99 * 4);
        assert_eq!(demand.total() as u64, 2 * MB * 100 * 4 * 99);
        let scaled = (told + 100 * 4 * 4) * 10 * 10 * 10;
        assert_eq!(scaled, 160 * MB);
    }

    #[test]
    fn demand_beyond_all_measure_stays_in_range() {
        let mut e = estimator(u64::MAX, 0, 0, 2, 1);
        let many = [(0, 1, BYTES_MAX), (0, 1, BYTES_MAX)];
        assert_eq!(report(&mut e, &many)[1], BYTES_MAX as i64);
    }
}
