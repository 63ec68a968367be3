//! The columns of `timeseries.parquet`; each row is one sample.

use lightloom_engine::run::{Outcome, Sample};

/// Columns of equal length. Counters are cumulative. The two rates are over the interval that ends
/// at the row, and NaN if the interval has no length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Time of the sample [ps].
    pub time_ps: Vec<i64>,
    /// Bytes handed to the fabric so far.
    pub bytes_offered: Vec<u64>,
    /// Bytes delivered so far.
    pub bytes_delivered: Vec<u64>,
    /// Bytes dropped so far.
    pub bytes_dropped: Vec<u64>,
    /// Bytes inside the fabric.
    pub bytes_in_flight: Vec<u64>,
    /// Cells or packets lost so far.
    pub losses: Vec<u64>,
    /// Bytes that wait inside the network.
    pub queued_bytes: Vec<u64>,
    /// Bytes that wait at the node with the largest queue.
    pub queued_bytes_worst: Vec<u64>,
    /// Bytes that wait at their source servers.
    pub waiting_bytes: Vec<u64>,
    /// Bytes on links.
    pub on_links_bytes: Vec<u64>,
    /// Bytes × hops carried by links so far.
    pub carried_bytes: Vec<u64>,
    /// Bits delivered in the interval ÷ (servers × server rate × interval).
    pub goodput_normalized: Vec<f64>,
    /// Bits carried by links in the interval ÷ (their capacity × interval).
    pub utilisation: Vec<f64>,
    /// Flows handed to the fabric so far.
    pub flows_offered: Vec<u64>,
    /// Flows delivered completely so far.
    pub flows_completed: Vec<u64>,
}

impl Series {
    /// The time series of a run.
    pub fn of(outcome: &Outcome) -> Series {
        let shape = outcome.shape;
        let offered_rate = shape.hosts as f64 * shape.host_rate.0 as f64;
        let capacity = shape.link_capacity.0 as f64;
        let mut series = Series::default();
        let mut last: Option<&Sample> = None;
        for s in &outcome.samples {
            series.push(s);
            let span = last.map_or(0.0, |l| (s.at - l.at).as_secs_f64());
            let bits = |of: fn(&Sample) -> u64| {
                // Signed: a cell that is taken back is subtracted from its link's count.
                8.0 * (of(s) as f64 - last.map_or(0.0, |l| of(l) as f64))
            };
            series
                .goodput_normalized
                .push(bits(|s| s.ledger.delivered) / (offered_rate * span));
            series
                .utilisation
                .push(bits(|s| s.view.carried_bytes) / (capacity * span));
            last = Some(s);
        }
        for rates in [&mut series.goodput_normalized, &mut series.utilisation] {
            // If no time passed, or nothing is connected, the rate is NaN.
            rates
                .iter_mut()
                .filter(|r| !r.is_finite())
                .for_each(|r| *r = f64::NAN);
        }
        series
    }

    fn push(&mut self, s: &Sample) {
        self.time_ps.push(s.at.0);
        self.bytes_offered.push(s.ledger.offered);
        self.bytes_delivered.push(s.ledger.delivered);
        self.bytes_dropped.push(s.ledger.dropped);
        self.bytes_in_flight.push(s.ledger.in_flight());
        self.losses.push(s.ledger.losses);
        self.queued_bytes.push(s.view.queued_bytes);
        self.queued_bytes_worst.push(s.view.queued_bytes_worst);
        self.waiting_bytes.push(s.view.waiting_bytes);
        self.on_links_bytes.push(s.view.on_links_bytes);
        self.carried_bytes.push(s.view.carried_bytes);
        self.flows_offered.push(s.ledger.flows_offered);
        self.flows_completed.push(s.ledger.flows_completed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_engine::{Ledger, Rate, Shape, Time, Totals, View};

    fn sample(us: i64, delivered: u64, carried: u64) -> Sample {
        Sample {
            at: Time::US * us,
            ledger: Ledger {
                offered: 10_000,
                delivered,
                ..Ledger::default()
            },
            view: View {
                carried_bytes: carried,
                ..View::default()
            },
        }
    }

    #[test]
    fn rates_are_over_the_interval_that_ends_at_the_row() {
        let outcome = Outcome {
            simulated: Time::US * 3,
            // 2 hosts at 4 Gb/s receive 1,000 B in 1 µs; links of 16 Gb/s carry 2,000 B.
            samples: vec![
                sample(0, 0, 0),
                sample(1, 500, 500),
                sample(3, 2_500, 3_500),
            ],
            totals: Totals::default(),
            shape: Shape {
                hosts: 2,
                racks: 2,
                host_rate: Rate(4 * Rate::GBPS.0),
                link_capacity: Rate(16 * Rate::GBPS.0),
            },
            circuits: Vec::new(),
            links: Vec::new(),
            lit: None,
            at_last_arrival: None,
            kernel_s: 0.0,
            interrupted: false,
            still_since: None,
        };
        let series = Series::of(&outcome);
        assert_eq!(series.time_ps, [0, 1_000_000, 3_000_000]);
        assert_eq!(series.bytes_in_flight, [10_000, 9_500, 7_500]);
        assert!(series.goodput_normalized[0].is_nan());
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(near(series.goodput_normalized[1], 0.5) && near(series.goodput_normalized[2], 1.0));
        assert!(near(series.utilisation[1], 0.25) && near(series.utilisation[2], 0.75));
    }
}
