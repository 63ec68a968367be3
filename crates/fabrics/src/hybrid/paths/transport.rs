//! The reaction of TCP to a path that changes during a flow (c-Through §5.2.1, Fig 5).
//!
//! A flow that is moved to a circuit fills it within `ramp`. A flow that returns to the tree loses
//! packets and has its share again after `dip`. In both cases its rate rises linearly from 0 to an
//! equal part of the fullest link on the new path, in steps that carry the same bytes as the slope.
//! If other flows are limited elsewhere, max-min fairness may give more than an equal part; a flow
//! gets this rate after the rise. The start of flows and all other changes of rate are ideal.

use lightloom_engine::kernel::flow::Net;
use lightloom_engine::{FlowId, Rate, Time};

/// Steps of a rise.
const STEPS: u32 = 4;

/// Flows that were moved together.
#[derive(Clone, Debug, Default)]
struct Batch {
    flows: Vec<FlowId>,
    /// The rate to which each flow rises.
    parts: Vec<Rate>,
    span: Time,
    step: u32,
}

/// The number of a batch, which is reused after the rise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchId(u32);

/// Flows that rise after a move.
#[derive(Clone, Debug)]
pub struct Transport {
    batches: Vec<Batch>,
    unused: Vec<BatchId>,
    /// The batch of each rising flow.
    of: Vec<Option<BatchId>>,
}

impl Transport {
    /// For `flows` flows.
    pub fn new(flows: usize) -> Transport {
        Transport {
            batches: Vec::new(),
            unused: Vec::new(),
            of: vec![None; flows],
        }
    }

    /// Starts the rise of `flows`, which have been moved to their present paths, within `span`.
    /// Returns the batch, and the time at which [`Transport::rise`] is due for it.
    pub fn moved(
        &mut self,
        flows: Vec<FlowId>,
        span: Time,
        now: Time,
        net: &mut Net,
    ) -> Option<(BatchId, Time)> {
        if flows.is_empty() {
            return None;
        }
        if span == Time::ZERO {
            flows.iter().for_each(|&flow| self.let_go(flow, net));
            return None;
        }
        let id = self
            .unused
            .pop()
            .unwrap_or(BatchId(self.batches.len() as u32));
        if id.0 as usize == self.batches.len() {
            self.batches.push(Batch::default());
        }
        flows
            .iter()
            .for_each(|flow| self.of[flow.index()] = Some(id));
        self.batches[id.0 as usize] = Batch {
            parts: flows.iter().map(|&flow| equal_part(flow, net)).collect(),
            flows,
            span,
            step: 0,
        };
        self.limit(id, net);
        Some((id, now + self.until_next(id)))
    }

    /// Carries out the next step of a batch; returns the time of the step after it.
    pub fn rise(&mut self, id: BatchId, now: Time, net: &mut Net) -> Option<Time> {
        let batch = &mut self.batches[id.0 as usize];
        batch.step += 1;
        if batch.step < STEPS {
            self.limit(id, net);
            return Some(now + self.until_next(id));
        }
        for flow in std::mem::take(&mut batch.flows) {
            if self.of[flow.index()] == Some(id) && net.is_open(flow) {
                self.let_go(flow, net);
            }
        }
        self.unused.push(id);
        None
    }

    fn let_go(&mut self, flow: FlowId, net: &mut Net) {
        self.of[flow.index()] = None;
        net.set_limit(flow, None);
    }

    /// The steps' lengths add up to the span.
    fn until_next(&self, id: BatchId) -> Time {
        let batch = &self.batches[id.0 as usize];
        let at = |step: u32| Time((batch.span.0 as i128 * step as i128 / STEPS as i128) as i64);
        at(batch.step + 1) - at(batch.step)
    }

    /// In step k of s a flow has (2k + 1) / 2s of the final rate, the mean of the slope in this
    /// step.
    fn limit(&mut self, id: BatchId, net: &mut Net) {
        let batch = &self.batches[id.0 as usize];
        for (&flow, part) in batch.flows.iter().zip(&batch.parts) {
            if self.of[flow.index()] == Some(id) && net.is_open(flow) {
                let now = part.0 as u128 * (2 * batch.step + 1) as u128 / (2 * STEPS) as u128;
                net.set_limit(flow, Some(Rate((now as u64).max(1))));
            }
        }
    }
}

/// The rate of a flow if all flows on the fullest link of its path have equal rates.
fn equal_part(flow: FlowId, net: &Net) -> Rate {
    let part = |&link| net.capacity(link).0 / net.flows_over(link).len() as u64;
    Rate(net.path(flow).iter().map(part).min().unwrap_or(u64::MAX))
}
