//! Mean sizes of flows by the distributions of a `[workload]` table: per flow, which determines the
//! rate of arrivals at a load, and per byte, which determines how long queues are correlated.

use crate::config::WorkloadConfig;
use lightloom_engine::{Cluster, Refusal};

impl WorkloadConfig {
    /// The mean size in use [B], which determines the arrival rate; `None` for a trace.
    ///
    /// # Errors
    /// If the sizes are not a distribution.
    pub fn mean_bytes(&self) -> Result<Option<f64>, Refusal> {
        let law = self
            .sizes
            .as_ref()
            .map(|s| s.law(self.mean_rule.unwrap_or_default()));
        Ok(law.transpose()?.map(|l| l.mean()))
    }

    /// The mean over bytes of the size of the flow that contains a byte [B]: E\[s²\] ÷ E\[s\] of
    /// the distribution in use. Flows of a burst count as one, because they go to one server at the
    /// same instant. Infinite for sizes without a variance; `None` for a trace, for jobs and
    /// without a rate.
    ///
    /// # Errors
    /// The errors of [`WorkloadConfig::resolve`].
    pub fn mean_bytes_by_byte(&self, cluster: &Cluster) -> Result<Option<f64>, Refusal> {
        if let Some(parts) = &self.mix {
            return self.mix_by_byte(parts, cluster);
        }
        if self.sizes.is_none() || !self.has_rate() {
            return Ok(None);
        }
        Ok(Some(self.rate_by_byte(cluster)?.1))
    }

    /// Bytes that arrive in a picosecond, and the mean over them of the size of their flow or
    /// burst [B].
    pub(crate) fn rate_by_byte(&self, cluster: &Cluster) -> Result<(f64, f64), Refusal> {
        let one = WorkloadConfig {
            flows: Some(1),
            ..self.clone()
        };
        let plan = one.with_defaults()?.plan(cluster, 0, 0)?;
        let (mean, burst) = (plan.law.mean(), plan.pairs.burst() as f64);
        let by_byte = plan.law.mean_square() / mean + (burst - 1.0) * mean;
        Ok((mean / plan.gap, by_byte))
    }
}
