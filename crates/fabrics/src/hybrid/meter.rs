//! The demand that servers report to the controller: the bytes that each server has for each rack
//! (c-Through §4.1; HydRA §III.B, step 1).
//!
//! Servers report the waiting bytes, for each flow at most the size of its buffer; or the network
//! measures the carried bytes. The bytes that a congested tree carries are a poor estimate of the
//! bytes that a circuit would carry; this is a limit of monitoring, not of the model.

use super::setup::{DemandFrom, Monitoring};
use lightloom_control::demand::{Queue, Report};
use lightloom_engine::{Cluster, FlowId, HostId};

/// Counts the remaining or carried bytes of flows.
#[derive(Clone, Debug)]
pub struct Meter {
    cluster: Cluster,
    buffer: u64,
    /// The bytes that each flow had left at the last report, if carried bytes are measured.
    left: Option<Vec<u64>>,
    /// Bytes that completed flows have sent since the last report.
    closed: Vec<Queue>,
}

impl Meter {
    /// A meter for `flows` flows.
    pub fn new(monitoring: &Monitoring, cluster: &Cluster, flows: usize) -> Meter {
        Meter {
            cluster: *cluster,
            buffer: monitoring.buffer,
            left: match monitoring.demand {
                DemandFrom::Announced => None,
                DemandFrom::Monitored => Some(vec![0; flows]),
            },
            closed: Vec::new(),
        }
    }

    /// Starts a flow of `bytes` bytes.
    pub fn begin(&mut self, flow: FlowId, bytes: u64) {
        if let Some(left) = &mut self.left {
            left[flow.index()] = bytes;
        }
    }

    /// Ends a flow, which has sent its last byte.
    pub fn end(&mut self, flow: FlowId, src: HostId, dst: HostId) {
        if let Some(left) = &self.left {
            let queue = self.queue(src, dst, left[flow.index()]);
            self.closed.push(queue);
        }
    }

    /// The report, given the flows between racks with their ends and the bytes that each
    /// has left.
    pub fn report(&mut self, flows: impl Iterator<Item = (FlowId, HostId, HostId, u64)>) -> Report {
        let mut queues = std::mem::take(&mut self.closed);
        for (flow, src, dst, left) in flows {
            let bytes = match &mut self.left {
                None => left.min(self.buffer),
                Some(before) => std::mem::replace(&mut before[flow.index()], left) - left,
            };
            if bytes > 0 {
                queues.push(self.queue(src, dst, bytes));
            }
        }
        Report { queues }
    }

    fn queue(&self, src: HostId, dst: HostId, bytes: u64) -> Queue {
        Queue {
            from: src.0,
            to: self.cluster.rack_of(dst),
            bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_engine::{Nic, Rate};

    fn meter(demand: DemandFrom, buffer: u64) -> Meter {
        let cluster = Cluster {
            racks: 4,
            servers_per_rack: 2,
            server_rate: Rate::GBPS,
            nic: Nic::Uncapped,
        };
        let monitoring = Monitoring {
            demand,
            buffer,
            thresholds: None,
            smoothing: 1.0,
            most: u64::MAX,
        };
        Meter::new(&monitoring, &cluster, 2)
    }

    /// (server, rack, bytes) of the report on flows with these bytes left.
    fn told(meter: &mut Meter, flows: &[(u32, u32, u32, u64)]) -> Vec<(u32, u32, u64)> {
        let flows = flows.iter();
        let report = meter.report(flows.map(|&(f, s, d, l)| (FlowId(f), HostId(s), HostId(d), l)));
        let queues = report.queues.iter();
        queues.map(|q| (q.from, q.to, q.bytes)).collect()
    }

    #[test]
    fn a_buffer_bounds_what_a_connection_shows() {
        let mut meter = meter(DemandFrom::Announced, 50);
        let flows = [(0, 0, 4, 900), (1, 1, 7, 20)];
        assert_eq!(told(&mut meter, &flows), [(0, 2, 50), (1, 3, 20)]);
        assert_eq!(told(&mut meter, &flows).len(), 2);
    }

    #[test]
    fn monitoring_counts_what_went_since_the_report_before() {
        let mut meter = meter(DemandFrom::Monitored, u64::MAX);
        meter.begin(FlowId(0), 100);
        meter.begin(FlowId(1), 50);
        let flows = |a, b| [(0, 0, 4, a), (1, 1, 7, b)];
        assert_eq!(told(&mut meter, &flows(70, 50)), [(0, 2, 30)]);
        assert_eq!(told(&mut meter, &flows(70, 20)), [(1, 3, 30)]);
        meter.end(FlowId(1), HostId(1), HostId(7));
        assert_eq!(told(&mut meter, &[(0, 0, 4, 70)]), [(1, 3, 20)]);
        assert_eq!(told(&mut meter, &[(0, 0, 4, 70)]), []);
    }
}
