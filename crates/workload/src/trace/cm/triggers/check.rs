//! Checks that triggers are fired as their kinds require, and that every flow starts.

use super::{Kind, Tie, Trigger, Triggers};
use crate::text::TextError;
use std::collections::BTreeMap;

/// Number of flows of a cycle that a message names.
const SHOWN: usize = 6;

/// The ties of each trigger, in the order of the file.
pub(super) type ByTrigger<'t> = BTreeMap<u32, Vec<&'t Tie>>;

fn by_trigger(ties: &[Tie]) -> ByTrigger<'_> {
    let mut found = ByTrigger::new();
    for tie in ties {
        found.entry(tie.trigger).or_default().push(tie);
    }
    found
}

impl Triggers<'_> {
    /// Refuses triggers that are not declared, or not fired as often as required; returns the flows
    /// that fire each.
    pub(super) fn check_counts(&self) -> Result<ByTrigger<'_>, TextError> {
        for tie in self.waiting.iter().chain(&self.firing) {
            if !self.declared.contains_key(&tie.trigger) {
                let problem = format!("trigger {} is not declared", tie.trigger);
                let remedy = format!("add a line `trigger id {} oneshot`", tie.trigger);
                return Err(tie.place.error(self.file, problem, remedy));
            }
        }
        let (fired, waiting) = (by_trigger(&self.firing), by_trigger(&self.waiting));
        for (&id, &trigger) in &self.declared {
            let fired = fired.get(&id).map_or(&[][..], Vec::as_slice);
            let waiting = waiting.get(&id).map_or(&[][..], Vec::as_slice);
            self.check_count(id, trigger, fired, waiting)?;
        }
        Ok(fired)
    }

    fn check_count(
        &self,
        id: u32,
        trigger: Trigger,
        fired: &[&Tie],
        waiting: &[&Tie],
    ) -> Result<(), TextError> {
        let times = fired.len();
        if let (0, Some(first)) = (times, waiting.first()) {
            return Err(first.place.error(
                self.file,
                format!("trigger {id} never fires, as no flow names it when it is done"),
                format!("add `send_done_trigger {id}` to a flow, or give this one a start"),
            ));
        }
        match trigger.kind {
            Kind::OneShot if times > 1 => Err(fired[1].place.error(
                self.file,
                format!("trigger {id} is oneshot, and {times} flows fire it"),
                format!("make it a barrier with `count {times}`, or multishot"),
            )),
            Kind::MultiShot if waiting.len() > times => Err(waiting[times].place.error(
                self.file,
                format!(
                    "trigger {id} is fired {times} times, each for one flow, and {} wait for it",
                    waiting.len()
                ),
                "let more flows fire it, or make it oneshot or a barrier, which start all",
            )),
            Kind::Barrier(count) if count as usize != times => Err(trigger.place.error(
                self.file,
                format!(
                    "trigger {id} has count {count}, and {times} {} it",
                    if times == 1 {
                        "flow fires"
                    } else {
                        "flows fire"
                    }
                ),
                format!("write `count {times}`, or correct the flows"),
            )),
            _ => Ok(()),
        }
    }

    /// Refuses flows that never start because they wait for each other. `fired` is the result of
    /// [`Triggers::check_counts`].
    pub(super) fn check_starts(
        &self,
        flows: usize,
        fired: &ByTrigger<'_>,
    ) -> Result<(), TextError> {
        let started = self.started(flows);
        match self.waiting.iter().find(|tie| !started[tie.flow as usize]) {
            None => Ok(()),
            Some(tie) => Err(self.circle(tie, &started, fired)),
        }
    }

    /// Whether each of these flows starts, independently of durations.
    fn started(&self, flows: usize) -> Vec<bool> {
        let waiting = by_trigger(&self.waiting);
        let mut fires: Vec<Vec<u32>> = vec![Vec::new(); flows];
        for tie in &self.firing {
            fires[tie.flow as usize].push(tie.trigger);
        }
        let mut started = vec![true; flows];
        for tie in &self.waiting {
            started[tie.flow as usize] = false;
        }
        let mut todo: Vec<u32> = (0..flows as u32).filter(|&f| started[f as usize]).collect();
        let mut times: BTreeMap<u32, usize> = BTreeMap::new();
        while let Some(flow) = todo.pop() {
            for id in &fires[flow as usize] {
                let times = times.entry(*id).or_default();
                *times += 1;
                let all = waiting.get(id).map_or(&[][..], Vec::as_slice);
                let go = match self.declared[id].kind {
                    Kind::OneShot => all,
                    Kind::MultiShot => all.get(*times - 1..*times).unwrap_or(&[]),
                    Kind::Barrier(count) if *times == count as usize => all,
                    Kind::Barrier(_) => &[],
                };
                for tie in go {
                    started[tie.flow as usize] = true;
                    todo.push(tie.flow);
                }
            }
        }
        started
    }

    /// The refusal of `tie`, whose flow never starts: the chain from trigger to flow leads back to
    /// itself.
    fn circle(&self, tie: &Tie, started: &[bool], fired: &ByTrigger<'_>) -> TextError {
        let of_flow: BTreeMap<u32, &Tie> = self.waiting.iter().map(|t| (t.flow, t)).collect();
        let (mut path, mut at) = (Vec::new(), tie);
        while !path.contains(&at.flow) {
            path.push(at.flow);
            let Some(before) = fired.get(&at.trigger) else {
                break;
            };
            let Some(next) = before.iter().find(|f| !started[f.flow as usize]) else {
                break;
            };
            at = of_flow[&next.flow];
        }
        let begin = path.iter().position(|&f| f == at.flow).unwrap_or(0);
        let lines: Vec<u32> = path[begin..]
            .iter()
            .map(|f| of_flow[f].place.line)
            .collect();
        let shown: Vec<String> = lines.iter().take(SHOWN).map(u32::to_string).collect();
        let more = match lines.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let problem = match lines.len() {
            1 => format!("the flow of line {} waits for itself", shown[0]),
            _ => format!(
                "the flows of lines {}{more} wait for each other",
                shown.join(", ")
            ),
        };
        let problem = format!(
            "trigger {} never fires often enough: {problem}",
            tie.trigger
        );
        tie.place
            .error(self.file, problem, "give one of them a start")
    }
}
