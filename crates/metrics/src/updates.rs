//! Updates per second of jobs that count them (GUPS): `updates` of `summary.json`.

use crate::jobs::Jobs;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// A job that counts updates, and the limit that its servers' links impose.
#[derive(Clone, Debug, PartialEq)]
pub struct Counted {
    /// Name of the job.
    pub job: String,
    /// Its number of updates, local ones included.
    pub updates: u64,
    /// The largest number per second if only payload is sent.
    pub ceiling: f64,
    /// The largest number per second if each packet also has the fabric's framing; `None` if the
    /// framing is not known.
    pub ceiling_framed: Option<f64>,
}

/// Updates by job, in the order of the workload.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Updates(pub Vec<(String, UpdateRate)>);

/// The update rate of a job.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct UpdateRate {
    /// Its number of updates, local ones included.
    pub updates: u64,
    /// Updates per second from its start to its finish; null if it did not finish.
    pub per_s: Option<f64>,
    /// The largest number per second that the servers' links allow, for payload alone.
    pub ceiling_per_s: f64,
    /// `ceiling_per_s` with the framing of the fabric's packets: header, padding, gap; null for a
    /// fabric without packets.
    pub ceiling_framed_per_s: Option<f64>,
    /// The attained share of that limit, or of the other if there is none.
    pub efficiency: Option<f64>,
}

impl Updates {
    /// The updates of these jobs.
    pub fn of(counted: &[Counted], jobs: &Jobs) -> Updates {
        let rate = |c: &Counted| {
            let found = jobs.0.iter().find(|(name, _)| *name == c.job);
            let seconds = found.and_then(|(_, times)| times.seconds);
            let per_s = seconds.filter(|&s| s > 0.0).map(|s| c.updates as f64 / s);
            let most = c.ceiling_framed.unwrap_or(c.ceiling);
            UpdateRate {
                updates: c.updates,
                per_s,
                ceiling_per_s: c.ceiling,
                ceiling_framed_per_s: c.ceiling_framed,
                efficiency: per_s.map(|rate| rate / most),
            }
        };
        Updates(counted.iter().map(|c| (c.job.clone(), rate(c))).collect())
    }
}

impl Serialize for Updates {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, rate) in &self.0 {
            map.serialize_entry(name, rate)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::JobTimes;
    use serde_json::json;

    #[test]
    fn updates_relate_to_the_narrower_ceiling() {
        let times = |seconds| JobTimes {
            start_s: Some(1.0),
            finish_s: None,
            seconds,
        };
        let jobs = Jobs(vec![
            ("a".into(), times(Some(2.0))),
            ("b".into(), times(None)),
        ]);
        let counted = |job: &str, ceiling_framed| Counted {
            job: job.into(),
            updates: 100,
            ceiling: 100.0,
            ceiling_framed,
        };
        let found = Updates::of(&[counted("b", None), counted("a", Some(62.5))], &jobs);
        assert_eq!(
            serde_json::to_value(&found).unwrap(),
            json!({
                "b": {"updates": 100, "per_s": null, "ceiling_per_s": 100.0,
                      "ceiling_framed_per_s": null, "efficiency": null},
                "a": {"updates": 100, "per_s": 50.0, "ceiling_per_s": 100.0,
                      "ceiling_framed_per_s": 62.5, "efficiency": 0.8},
            })
        );
    }
}
