//! The days to try, and upper bounds for every schedule.

use super::Options;
use crate::demand::Matrix;
use lightloom_engine::Time;

/// A day of the grid, and an upper bound on the bytes carried in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub day: Time,
    /// α · rate [bytes].
    pub cap: i64,
    /// Upper bound on the bytes that any matching of the remaining demand carries; it remains
    /// valid, because the remaining demand only falls.
    pub most: i64,
}

/// Days ηδ(1 + η)^k, from the shortest useful day to the first that carries the largest entry or
/// fills the window.
pub(super) fn grid(demand: &Matrix, options: &Options) -> Vec<Candidate> {
    let frame = &options.frame;
    let longest = frame.period - frame.night;
    let shortest = (frame.shortest - frame.night).max(options.rate.time_for(1));
    let mut day = shortest.max(Time((options.step * frame.night.0 as f64) as i64));
    let largest = demand.max();
    let mut grid = Vec::new();
    loop {
        day = day.min(longest);
        let cap = options.bytes(day);
        grid.push(Candidate {
            day,
            cap,
            most: i64::MAX,
        });
        if day == longest || cap >= largest {
            return grid;
        }
        day = Time(
            (day.0 as f64 * (1.0 + options.step))
                .ceil()
                .min(i64::MAX as f64) as i64,
        );
    }
}

/// An upper bound per port: with m slots a port is lit for the window less m nights and meets m
/// peers.
pub(super) fn port_bound(demand: &Matrix, options: &Options) -> i64 {
    let n = demand.n();
    let sorted = |entries: Vec<i64>| {
        let mut entries = entries;
        entries.sort_unstable_by(|a, b| b.cmp(a));
        entries
    };
    let rows: Vec<Vec<i64>> = (0..n).map(|i| sorted(demand.row(i).to_vec())).collect();
    let column = |j| (0..n).map(|i| demand.get(i, j)).collect();
    let columns: Vec<Vec<i64>> = (0..n).map(|j| sorted(column(j))).collect();
    let (mut of_rows, mut of_columns) = (vec![0; n], vec![0; n]);
    let mut best = 0;
    for slots in 1..=options.frame.most_slots().min(n) {
        let lit = options.frame.period - options.frame.night * slots as i64;
        let cap = options.bytes(lit);
        let within = |lines: &[Vec<i64>], sums: &mut [i64]| -> i64 {
            let lines = lines.iter().zip(sums);
            let served = lines.map(|(line, sum)| {
                *sum += line[slots - 1];
                cap.min(*sum)
            });
            served.sum()
        };
        let by_rows = within(&rows, &mut of_rows);
        best = best.max(by_rows.min(within(&columns, &mut of_columns)));
    }
    best
}
