//! Durations of jobs: `jobs` of `summary.json`.
//!
//! A job is a named group of flows. For a job of a job workload the start and the end of its last
//! computation are known. For a group of a trace only its flows are known, so it begins with the
//! first arrival and ends with the last delivery.

use lightloom_engine::{Io, Time};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// Jobs by name, in the order of the workload.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Jobs(pub Vec<(String, JobTimes)>);

/// Start and end of a job.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct JobTimes {
    /// Time of the start [s]; null if the job did not start.
    pub start_s: Option<f64>,
    /// Time at which all of it was finished [s]; null if it was not.
    pub finish_s: Option<f64>,
    /// From the start to the finish [s].
    pub seconds: Option<f64>,
}

impl Serialize for Jobs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, times) in &self.0 {
            map.serialize_entry(name, times)?;
        }
        map.end()
    }
}

impl Jobs {
    /// The jobs of a run that ended at `end`.
    pub fn of(io: &Io, end: Time) -> Jobs {
        match io.flows.after.jobs.is_empty() {
            true => Jobs(of_groups(io)),
            false => Jobs(of_jobs(io, end)),
        }
    }
}

fn of_jobs(io: &Io, end: Time) -> Vec<(String, JobTimes)> {
    // A computation that is in progress when the run ends is not finished.
    let by_end = |t: Time| Some(t).filter(|&t| t <= end);
    let times = |job: &lightloom_engine::Job| {
        let begun = job.begin.map_or(Time::ZERO, |b| io.completed(b));
        JobTimes::new(by_end(begun), by_end(io.completed(job.end)))
    };
    let jobs = io.flows.after.jobs.iter();
    jobs.map(|j| (j.name.clone(), times(j))).collect()
}

fn of_groups(io: &Io) -> Vec<(String, JobTimes)> {
    let flows = &io.flows;
    let mut spans = vec![(Time::NEVER, Time::ZERO); flows.groups.len()];
    for f in 0..flows.len() {
        let (first, last) = &mut spans[flows.group[f] as usize];
        *first = (*first).min(flows.arrival[f]);
        *last = (*last).max(flows.finish[f]);
    }
    let happened = |t: Time| Some(t).filter(|&t| t != Time::NEVER);
    let named = flows.groups.iter().zip(spans);
    named
        .filter(|(name, span)| !name.is_empty() && *span != (Time::NEVER, Time::ZERO))
        .map(|(name, (first, last))| (name.clone(), JobTimes::new(happened(first), happened(last))))
        .collect()
}

impl JobTimes {
    fn new(start: Option<Time>, finish: Option<Time>) -> JobTimes {
        let seconds = start.zip(finish).map(|(s, f)| (f - s).as_secs_f64());
        JobTimes {
            start_s: start.map(Time::as_secs_f64),
            finish_s: finish.map(Time::as_secs_f64),
            seconds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightloom_engine::{Dag, Flows, HostId, Task};
    use serde_json::json;

    fn task(compute: Time) -> Task {
        Task {
            src: HostId(0),
            dst: HostId(1),
            bytes: 10,
            compute,
        }
    }

    /// Runs all flows that arrive by `until`; each flow takes 1 s.
    fn run(flows: Flows, until: i64) -> serde_json::Value {
        let mut io = Io::new(flows);
        let until = Time::S * until;
        while let Some(f) = io.arrive(until) {
            let at = io.flows.arrival[f.index()] + Time::S;
            io.deliver(f, 10, at);
        }
        serde_json::to_value(Jobs::of(&io, until)).unwrap()
    }

    fn two_jobs() -> Flows {
        let mut dag = Dag::new();
        let a = dag.task(task(Time::S * 2), &[]);
        let a = dag.barrier(Time::S * 4, &[a]);
        let end = dag.end_job("a", None, &[a]);
        dag.begin_at(Some(end));
        let b = dag.task(task(Time::S), &[]);
        dag.end_job("b", Some(end), &[b]);
        dag.build()
    }

    #[test]
    fn jobs_take_from_their_beginning_to_the_end_of_their_computing() {
        let done = json!({"a": {"start_s": 0.0, "finish_s": 7.0, "seconds": 7.0},
                          "b": {"start_s": 7.0, "finish_s": 9.0, "seconds": 2.0}});
        assert_eq!(run(two_jobs(), 9), done);
    }

    #[test]
    fn what_has_not_happened_is_null() {
        let halfway = json!({"a": {"start_s": 0.0, "finish_s": null, "seconds": null},
                             "b": {"start_s": null, "finish_s": null, "seconds": null}});
        assert_eq!(run(two_jobs(), 6), halfway);
        assert_eq!(run(two_jobs(), 1), halfway);
        let begun = run(two_jobs(), 7);
        assert_eq!(
            begun["b"],
            json!({"start_s": 7.0, "finish_s": null, "seconds": null})
        );
    }

    #[test]
    fn groups_of_a_trace_are_jobs_too() {
        let mut flows = Flows::new();
        flows
            .groups
            .extend(["x".to_owned(), "y".to_owned(), "none".to_owned()]);
        for (group, at) in [(0, 0), (1, 3), (1, 5), (2, 4), (2, 90)] {
            let f = flows.push(HostId(0), HostId(1), 10, Time::S * at);
            flows.group[f.index()] = group;
        }
        let expected = json!({"x": {"start_s": 3.0, "finish_s": 6.0, "seconds": 3.0},
                              "y": {"start_s": 4.0, "finish_s": null, "seconds": null}});
        assert_eq!(run(flows, 50), expected);
        assert_eq!(run(Flows::new(), 50), json!({}));
    }
}
