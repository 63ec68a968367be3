//! The number of decisions on circuits in a run, and notes on the controller's interval once the
//! end of the run is known.

use crate::findings::{about, Ended, Finding};
use lightloom_engine::Time;

/// The times of a fabric controller's decisions.
pub struct Decisions {
    /// From one decision to the next, and from the start to the first.
    pub interval: Time,
    /// Duration of a decision.
    pub takes: Time,
    /// Whether flows without a circuit wait for one, because there is no other network.
    pub waits: bool,
}

/// A flow of a job is assumed to have waited for circuits if it lasts longer than an interval,
/// although alone it would take at most this part of the interval.
const SHORT: i64 = 10;

impl Decisions {
    /// Findings on settings that limit the results of a completed run.
    pub fn findings(&self, ended: &Ended) -> Vec<Finding> {
        let finding = |effect, remedy| Finding {
            parameter: "interval",
            value: self.interval.to_string(),
            effect,
            remedy,
        };
        let longer = || format!("shorten it, or {}", ended.longer);
        let waited = { self.waited(ended) }.map(|effect| finding(effect, "shorten it".to_owned()));
        let found = waited.or_else(|| self.rare(ended).map(|effect| finding(effect, longer())));
        found.into_iter().collect()
    }

    /// The number of decisions that take effect before a time.
    pub fn before(&self, end: Time) -> i64 {
        let first = self.first();
        if end <= first {
            return 0;
        }
        // A decision that takes longer than the interval delays the next.
        let apart = self.interval.max(self.takes).0.max(1);
        1 + (end - first - Time(1)).0 / apart
    }

    fn first(&self) -> Time {
        self.interval + self.takes
    }

    fn rare(&self, ended: &Ended) -> Option<String> {
        let (count, end) = (self.before(ended.at), about(ended.at));
        let late = ended.arrived.filter(|&arrived| arrived <= self.first());
        match (count, late) {
            (0, _) => Some(format!(
                "the run ends after {end}, before the policy decides on circuits"
            )),
            (_, Some(arrived)) => Some(format!(
                "the policy first decides on circuits when all flows have arrived, the last after \
                 {}",
                about(arrived)
            )),
            (1, None) => Some(format!(
                "the policy decides on circuits once, and the run ends after {end}"
            )),
            _ => None,
        }
    }

    fn waited(&self, ended: &Ended) -> Option<String> {
        let flow = ended.job_flow.filter(|_| self.waits)?;
        let short = flow.alone.0 <= self.interval.0 / SHORT;
        (short && flow.took - flow.alone >= self.interval).then(|| {
            format!(
                "flows between racks that no circuit joins wait for the next decision: one of a \
                 job took {}, and {} alone",
                about(flow.took),
                about(flow.alone)
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::JobFlow;

    fn decisions(interval: i64, takes: i64) -> Decisions {
        Decisions {
            interval: Time(interval),
            takes: Time(takes),
            waits: true,
        }
    }

    /// Decisions at 10, 20 and 30 with a computation time of 3; at 10, 27 and 44 with 17.
    #[test]
    fn decisions_are_in_force_after_the_time_that_they_take() {
        let short = [12, 13, 14, 23, 24, 33, 34].map(|end| decisions(10, 3).before(Time(end)));
        assert_eq!(short, [0, 0, 1, 1, 2, 2, 3]);
        let long = [27, 28, 44, 45, 61, 62].map(|end| decisions(10, 17).before(Time(end)));
        assert_eq!(long, [0, 1, 1, 2, 2, 3]);
    }

    fn effects(
        decisions: &Decisions,
        at: Time,
        arrived: Option<Time>,
        flow: Option<JobFlow>,
    ) -> Vec<String> {
        let ended = Ended {
            at,
            arrived,
            job_flow: flow,
            longer: "wait".to_owned(),
        };
        decisions
            .findings(&ended)
            .into_iter()
            .map(|f| f.effect)
            .collect()
    }

    #[test]
    fn the_reason_is_that_of_the_run() {
        let of = |at, arrived| effects(&decisions(Time::MS.0, 0), at, arrived, None);
        let ms = |count: i64| Time::MS * count;
        assert_eq!(
            of(ms(1), None),
            ["the run ends after 1.00 ms, before the policy decides on circuits"]
        );
        assert_eq!(
            of(ms(2), None),
            ["the policy decides on circuits once, and the run ends after 2.00 ms"]
        );
        assert_eq!(of(ms(2) + Time(1), None), [""; 0]);
        assert_eq!(
            of(ms(9), Some(Time::US * 999)),
            ["the policy first decides on circuits when all flows have arrived, the last after 999 µs"]
        );
        assert_eq!(of(ms(9), Some(ms(1) + Time(1))), [""; 0]);
    }

    #[test]
    fn a_flow_of_a_job_waits_if_it_is_short_and_no_other_network_takes_it() {
        let flow = |took, alone| {
            Some(JobFlow {
                took: Time::MS * took,
                alone: Time::MS * alone,
            })
        };
        let of = |waits, flow| {
            let decisions = Decisions {
                waits,
                ..decisions(Time::MS.0 * 100, 0)
            };
            effects(&decisions, Time::S * 9, None, flow).len()
        };
        assert_eq!(of(true, flow(110, 10)), 1);
        assert_eq!(of(true, flow(109, 10)), 0);
        // The interval need not be the reason for this duration, because other flows share the
        // circuit.
        assert_eq!(of(true, flow(500, 11)), 0);
        assert_eq!(of(false, flow(110, 10)), 0);
        assert_eq!(of(true, None), 0);
    }
}
