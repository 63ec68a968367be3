//! Flows that send until the run stops (`size 0` of htsim), and flows of a trace that wait for
//! others: the requirements that they impose on the end of a run.
//!
//! No kernel supports a flow without a size. Such a flow gets one byte more than the link of its
//! server carries from its start to the end of the run (from 0 if it waits for a trigger), so that
//! no fabric delivers all of it. It takes no more memory than another flow of this size.

use crate::stop_rule::StopRule;
use crate::Experiment;
use lightloom_engine::{Cluster, FlowId, Flows, Nic, Rate, Refusal, Time};
use lightloom_workload::sizes::MAX_BYTES;

/// Picoseconds in a second, times bits in a byte.
const PS_BITS: u128 = 8_000_000_000_000;

impl Experiment {
    /// The flows of this resolved experiment with a size each, if the time at which its run ends
    /// can be known.
    ///
    /// # Errors
    /// If the run would never stop, or ends at the last arrival and that is not known.
    pub(crate) fn ending(&self, flows: Flows, cluster: &Cluster) -> Result<Flows, Refusal> {
        self.check_waiting(&flows)?;
        match flows.bytes.contains(&0) {
            false => Ok(flows),
            true => self.sized(flows, cluster),
        }
    }

    /// Refuses ends that depend on the arrivals of flows, if some flows wait for others.
    fn check_waiting(&self, flows: &Flows) -> Result<(), Refusal> {
        if flows.after.is_empty() || self.workload.has_jobs() {
            return Ok(());
        }
        if let Some(span) = self.run.span() {
            return Err(Refusal::new(
                "run.measure",
                span.until - span.from,
                "flows of the trace wait for triggers, so the load is not constant during a window",
                "remove it",
            ));
        }
        match self.run.stop {
            Some(StopRule::LastArrival) => Err(Refusal::new(
                "run.stop",
                "\"last-arrival\"",
                "flows of the trace wait for triggers, so the last arrival is not known",
                "write \"drain\" or a time, or remove it",
            )),
            _ => Ok(()),
        }
    }

    fn sized(&self, mut flows: Flows, cluster: &Cluster) -> Result<Flows, Refusal> {
        let end = self.end(&flows)?;
        let rate = self.link(cluster)?;
        let mut sum: u128 = flows.bytes.iter().map(|&b| b as u128).sum();
        for f in (0..flows.len())
            .filter(|&f| flows.bytes[f] == 0)
            .collect::<Vec<_>>()
        {
            let start = Some(flows.arrival[f]).filter(|&at| at != Time::NEVER);
            let span = (end - start.unwrap_or(Time::ZERO)).max(Time::ZERO);
            let bytes = span.0 as u128 * rate.0 as u128 / PS_BITS + 1;
            sum += bytes;
            if bytes > MAX_BYTES as u128 || sum > u64::MAX as u128 {
                return Err(self.refuse_end(
                    "flows that send until then would send more bytes than 64 bits can count",
                    "end earlier",
                ));
            }
            flows.bytes[f] = bytes as u64;
            flows.endless.push(FlowId(f as u32));
        }
        Ok(flows)
    }

    /// The fixed end of the run, regardless of delivered bytes.
    fn end(&self, flows: &Flows) -> Result<Time, Refusal> {
        let limit = self.run.limit.unwrap_or(Time::NEVER);
        match self.run.stop {
            Some(StopRule::At(time)) => Ok(time.min(limit)),
            Some(StopRule::LastArrival) => Ok(flows.last_arrival().min(limit)),
            Some(StopRule::Drain | StopRule::Measured) | None => Err(self.refuse_end(
                "flows of the trace have size 0 and send until the run stops, so the run would \
                 never end",
                "end at a time, like \"1 ms\"",
            )),
        }
    }

    fn refuse_end(&self, limit: &str, remedy: &str) -> Refusal {
        let value = match self.run.stop {
            Some(StopRule::At(time)) => time.to_string(),
            Some(word) => format!("\"{}\"", String::from(word)),
            None => "(missing)".to_owned(),
        };
        Refusal::new("run.stop", value, limit, remedy)
    }

    /// The highest rate at which a server sends.
    fn link(&self, cluster: &Cluster) -> Result<Rate, Refusal> {
        match cluster.nic {
            Nic::Capped(rate) => Ok(rate),
            Nic::Uncapped => Err(Refusal::new(
                "cluster.nic",
                "\"uncapped\"",
                "flows of the trace have size 0 and send as fast as their servers' links, which \
                 have no rate",
                "give them one, like \"100 Gb/s\"",
            )),
        }
    }
}
