//! A checked `[workload]` table: the distributions from which flows are drawn, and their number.

use crate::arrivals::{Arrivals, Clock, MAX_ARRIVAL};
use crate::config::WorkloadConfig;
use crate::memory::check_memory;
use crate::patterns::Pairs;
use crate::sizes::{Law, MeanRule};
use crate::sources::Sources;
use lightloom_engine::{Cluster, Refusal, Stream};

/// A workload that can be drawn: everything is checked, and nothing is allocated that grows with
/// the number of flows.
pub(crate) struct Plan {
    pub law: Box<dyn Law>,
    pub rule: MeanRule,
    pub pairs: Box<dyn Pairs>,
    pub pattern_rng: Stream,
    pub clock: Clock,
    /// Mean gap between flows, of all sources together [ps].
    pub gap: f64,
    /// Clocks of the servers; `None` if there is one clock for all.
    pub sources: Option<Sources>,
    pub flows: u64,
}

impl WorkloadConfig {
    /// The plan of a resolved workload; `part` numbers its random streams.
    pub(crate) fn plan(&self, cluster: &Cluster, seed: u64, part: u64) -> Result<Plan, Refusal> {
        let rule = self.mean_rule.unwrap_or_default();
        let law = self.law(rule)?;
        let mut pattern_rng = Stream::new(seed, "workload.pattern", part);
        let pattern = self.pattern.clone().unwrap_or_default();
        let mut pairs = pattern.pairs(cluster, &mut pattern_rng)?;
        let arrivals = self.arrivals.clone().unwrap_or_default();
        if matches!(arrivals, Arrivals::Poisson(_)) {
            pairs.draw_senders();
        }
        let times = arrivals.times()?;
        let flows = match &times {
            Some(times) => self.flows_at(times.len() as u64 * pairs.burst())?,
            None => self.checked_count(self.flows.or(pairs.round()))?,
        };
        let gap = arrivals.mean_gap(self.load, law.mean(), &*pairs, cluster)?;
        if gap * flows as f64 > MAX_ARRIVAL.0 as f64 {
            return Err(self.too_long(gap * flows as f64 * 1e-12));
        }
        let rng = Stream::new(seed, "workload.arrivals", part);
        let (load, name) = (self.load.unwrap_or(0.0), pattern.kind());
        let sources = Sources::new(&arrivals, load, gap, &*pairs, name, cluster, rng.clone())?;
        let between = match &sources {
            Some(sources) => gap * cluster.hosts() as f64 / sources.senders() as f64,
            None => gap / pairs.senders(),
        };
        let gap = gap * pairs.burst() as f64 / pairs.senders();
        let clock = match times {
            Some(times) => Clock::given(times, rng),
            None => Clock::new(&arrivals, gap, rng),
        };
        Ok(Plan {
            law,
            rule,
            pairs,
            pattern_rng,
            clock,
            gap: between,
            sources,
            flows,
        })
    }

    fn law(&self, rule: MeanRule) -> Result<Box<dyn Law>, Refusal> {
        match &self.sizes {
            Some(sizes) => sizes.law(rule),
            None => Err(Refusal::new(
                "workload.sizes",
                "(missing)",
                "required",
                "add it",
            )),
        }
    }

    /// The number of flows if a file has times for `most`.
    fn flows_at(&self, most: u64) -> Result<u64, Refusal> {
        match self.flows {
            Some(flows) if flows > most => Err(Refusal::new(
                "workload.flows",
                flows,
                format!("the file of workload.arrivals has times for {most}"),
                "lower it, or remove it to send that many",
            )),
            flows => self.checked_count(flows.or(Some(most))),
        }
    }

    fn checked_count(&self, flows: Option<u64>) -> Result<u64, Refusal> {
        let flows = flows.ok_or_else(|| {
            Refusal::new(
                "workload.flows",
                "(missing)",
                "this pattern does not determine the number of flows",
                "add it, such as flows = 200_000",
            )
        })?;
        if flows == 0 {
            return Err(Refusal::new(
                "workload.flows",
                0,
                "must be at least 1",
                "raise it",
            ));
        }
        check_memory("workload.flows", flows)?;
        Ok(flows)
    }

    /// The refusal of a workload whose last flow would arrive after the clock's range.
    pub(crate) fn too_long(&self, seconds: f64) -> Refusal {
        let days = seconds / 86_400.0;
        let (key, value, remedy) = match self.load {
            Some(load) => ("load", load.to_string(), "raise it, or send fewer flows"),
            None => (
                "arrivals",
                self.arrivals.clone().unwrap_or_default().kind().to_owned(),
                "shorten the gap",
            ),
        };
        Refusal::new(
            format!("workload.{key}"),
            value,
            format!("arrivals would last for {days:.0} days, but the clock ends after 53"),
            remedy,
        )
    }
}
