//! Traffic for which rates are inaccurate. `lightloom reproduce sirius/flows` measures the
//! differences between rates and cells.

use super::{Derived, SiriusFlows};
use crate::doubts::{Doubt, Ran};
use lightloom_engine::Cluster;

/// Padding above this share of the bytes is a doubt.
const PADDED: f64 = 0.03;
/// A rack with less than this share of the busiest rack's demand is nearly silent.
const SILENT: f64 = 0.1;
/// The share of racks that may be nearly silent.
const SILENT_RACKS: f64 = 0.25;
/// Flows below this are short [B], as in the summary.
const SHORT: u64 = 100_000;
/// Share of the bytes in long flows above which short flows wait behind their cells.
const LONG_BYTES: f64 = 0.5;
/// Share of the racks' total capacity above which queues determine the durations of flows.
const BUSY: f64 = 0.25;

impl SiriusFlows {
    /// The doubts about a run with rates; none without traffic between racks.
    pub(in crate::sirius) fn doubts(derived: &Derived, cluster: &Cluster, run: &Ran) -> Vec<Doubt> {
        if run.between_racks(cluster).next().is_none() {
            return Vec::new();
        }
        let found = [
            padded(derived.cell, cluster, run),
            mixed(cluster, run),
            uneven(cluster, run),
            busy(derived, run),
        ];
        found.into_iter().flatten().collect()
    }
}

/// A large part of the cells would be padding.
fn padded(cell: u64, cluster: &Cluster, run: &Ran) -> Option<Doubt> {
    let (mut filled, mut all) = (0, 0);
    for (.., size) in run.between_racks(cluster) {
        filled += u128::from(size.div_ceil(cell)) * u128::from(cell);
        all += u128::from(size);
    }
    let padding = filled as f64 / all as f64 - 1.0;
    (padding > PADDED).then(|| Doubt {
        cause: "padding",
        value: padding,
        text: format!(
            "with rates (detail = \"flows\") cells have no padding, which would be {:.0}% of the \
             bytes: the fabric carries more than with cells; use detail = \"cells\"",
            padding * 100.0
        ),
    })
}

/// Short flows would wait behind cells of long ones.
fn mixed(cluster: &Cluster, run: &Ran) -> Option<Doubt> {
    let (mut short, mut long, mut all) = (false, 0, 0);
    for (.., size) in run.between_racks(cluster) {
        short |= size < SHORT;
        long += u128::from(size) * u128::from(size >= SHORT);
        all += u128::from(size);
    }
    let (long, all) = (long as f64, all as f64);
    (short && long > LONG_BYTES * all).then(|| Doubt {
        cause: "long flows",
        value: long / all,
        text: "with rates (detail = \"flows\") short flows do not wait behind the cells of long \
               ones, so the 99th percentile is not that of cells; use detail = \"cells\""
            .to_owned(),
    })
}

/// Many racks are nearly silent.
fn uneven(cluster: &Cluster, run: &Ran) -> Option<Doubt> {
    let racks = cluster.racks;
    let mut demand = vec![(0.0, 0.0); racks as usize];
    for (src, dst, size) in run.between_racks(cluster) {
        demand[src as usize].0 += size as f64;
        demand[dst as usize].1 += size as f64;
    }
    let most: Vec<f64> = demand.iter().map(|(out, into)| out.max(*into)).collect();
    let busiest = most.iter().copied().fold(0.0, f64::max);
    let few = most.iter().filter(|&&has| has < SILENT * busiest).count();
    (few as f64 > SILENT_RACKS * f64::from(racks)).then(|| Doubt {
        cause: "silent racks",
        value: few as f64,
        text: format!(
            "{few} of {racks} racks are nearly silent: with rates (detail = \"flows\") they relay \
             no more than the others, but with cells they do; compare with detail = \"cells\""
        ),
    })
}

/// Flows would wait in queues.
fn busy(derived: &Derived, run: &Ran) -> Option<Doubt> {
    let speedup = f64::from(derived.uplinks) / f64::from(derived.base);
    let loaded = run.load.is_some_and(|load| load != 0.0);
    let goodput = run.goodput.filter(|goodput| *goodput > BUSY * speedup);
    goodput.filter(|_| loaded).map(|goodput| Doubt {
        cause: "queues",
        value: goodput,
        text: "with rates (detail = \"flows\") there are no queues; at this goodput flows wait in \
               queues and take longer with cells (detail = \"cells\")"
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::config::SiriusConfig;
    use super::*;
    use lightloom_engine::{Nic, Rate};

    /// Cause and value of the doubts about flows between the servers of 16 racks of two.
    fn doubts(flows: &[(u32, u32, u64)], goodput: f64, load: Option<f64>) -> Vec<(String, f64)> {
        let cluster = Cluster {
            racks: 16,
            servers_per_rack: 2,
            server_rate: Rate(200 * Rate::GBPS.0),
            nic: Nic::Uncapped,
        };
        let derived = SiriusConfig::default().derive(&cluster).unwrap();
        let of = |at: fn(&(u32, u32, u64)) -> u32| flows.iter().map(at).collect::<Vec<u32>>();
        let (src, dst) = (of(|flow| flow.0), of(|flow| flow.1));
        let bytes: Vec<u64> = flows.iter().map(|flow| flow.2).collect();
        let run = Ran {
            src: &src,
            dst: &dst,
            bytes: &bytes,
            goodput: Some(goodput),
            load,
        };
        let found = SiriusFlows::doubts(&derived, &cluster, &run);
        found
            .into_iter()
            .map(|doubt| (doubt.cause.to_owned(), doubt.value))
            .collect()
    }

    /// A flow of each size from each rack to the next.
    fn ring(sizes: &[u64]) -> Vec<(u32, u32, u64)> {
        let each = |rack: u32| {
            sizes
                .iter()
                .map(move |&size| (2 * rack, (2 * rack + 2) % 32, size))
        };
        (0..16).flat_map(each).collect()
    }

    #[test]
    fn long_even_flows_of_a_low_load_are_beyond_doubt() {
        assert_eq!(doubts(&ring(&[1_000_000]), 0.1, Some(0.1)), []);
    }

    /// A cell of 562 B carries 100 B.
    #[test]
    fn padding_is_a_share_of_the_bytes() {
        let found = doubts(&ring(&[100]), 0.1, Some(0.1));
        assert_eq!(found, [("padding".to_owned(), 562.0 / 100.0 - 1.0)]);
    }

    #[test]
    fn short_flows_wait_if_most_bytes_are_in_long_ones() {
        let found = doubts(&ring(&[99_000, 300_000]), 0.1, Some(0.1));
        assert_eq!(found, [("long flows".to_owned(), 300.0 / 399.0)]);
        assert_eq!(
            doubts(&ring(&[99_000, 90_000, 100_000]), 0.1, Some(0.1)),
            []
        );
    }

    /// The first four racks send 1 MB, and 12 of 16 racks neither send nor receive.
    #[test]
    fn racks_without_demand_are_silent() {
        let four: Vec<_> = (0..4)
            .map(|k| (2 * k, 2 * ((k + 1) % 4), 1_000_000))
            .collect();
        assert_eq!(
            doubts(&four, 0.1, None),
            [("silent racks".to_owned(), 12.0)]
        );
    }

    /// The network has 1.5 times the base uplinks, so a quarter of its capacity is a goodput of
    /// 0.375.
    #[test]
    fn flows_wait_above_a_quarter_of_the_capacity() {
        let flows = ring(&[1_000_000]);
        assert_eq!(doubts(&flows, 0.37, Some(0.4)), []);
        assert_eq!(
            doubts(&flows, 0.38, Some(0.4)),
            [("queues".to_owned(), 0.38)]
        );
        assert_eq!(doubts(&flows, 0.38, None), []);
    }

    #[test]
    fn flows_within_a_rack_are_ignored() {
        assert_eq!(doubts(&[(0, 1, 100)], 0.9, Some(0.9)), []);
    }
}
