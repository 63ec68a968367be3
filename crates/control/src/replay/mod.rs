//! Replays a log: shows what another policy, or the same one, would have done.
//!
//! Until their first different action, the replayed policy receives exactly the inputs of the log,
//! including the answers to its steps; the same policy never differs. From then on a [fake
//! switch](crate::fake) carries out its actions. This switch reports the demand that the log
//! measured last, its ports break when they broke in the log, and its controller is silent when the
//! log's controller was. Its k-th step of a kind takes and fails as the k-th in the log. If that
//! step was never answered, or there is none, it takes the time of the last one before it; if none
//! was answered before, the median of its kind; and no time if the log has no such step.
//!
//! The effect of other circuits on traffic, and so on later demand, is not modelled.
//!
//! | file | concept |
//! |---|---|
//! | this file | both policies until they differ, then the replayed one alone |
//! | `past` | the environment of the controller, from its log |
//! | `account` | statistics of a controller |

mod account;
mod past;
#[cfg(test)]
mod tests;

use crate::controller::{Action, Controller, Input, StepId};
use crate::demand::Estimator;
use crate::fake::Fake;
use crate::host::{Driver, Host};
use crate::log::{Entry, Event, Read};
use crate::order::Order;
use crate::policy::Policy;
use crate::words::apart;
pub use crate::words::in_words;
use account::Bookkeeper;
use lightloom_engine::{Refusal, Time};
use past::{happenings, Paced, Past};
use serde::Serialize;
use std::collections::BTreeMap;

/// The result of replaying a log with a policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Replay {
    /// The first difference; `None` if both do the same.
    pub parted: Option<Parting>,
    /// The account of the controller in the log.
    pub recorded: Account,
    /// The account of the replayed controller.
    pub replayed: Account,
}

/// The first action that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Parting {
    /// Time of the action.
    #[serde(with = "crate::ps", rename = "at_ps")]
    pub at: Time,
    /// The line of the log, counted from 1, that contains the action, or the next input if there is
    /// none.
    pub line: usize,
    /// The action of the log's controller as text; `None` if the replayed controller performs an
    /// additional one.
    pub recorded: Option<String>,
    /// The action of the replayed controller as text.
    pub replayed: Option<String>,
}

/// Statistics of a controller from the first line of a log to its last.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Account {
    /// Its decisions.
    pub decisions: Vec<Decision>,
    /// Decisions that changed something.
    pub changes: u64,
    /// Steps that failed.
    pub failed_steps: u64,
    /// Schedules that were set. The fields below this one refer to static circuits.
    pub schedules: u64,
    /// Circuits that came up.
    pub made: u64,
    /// Circuits that were taken down.
    pub broken: u64,
    /// Circuits that were lost with a broken port or in a silence.
    pub lost: u64,
    /// By plane: total time for which circuits were lit [circuit-seconds], including the days of
    /// schedules.
    pub lit_circuit_s: Vec<f64>,
    /// By plane: total time for which ports had no light to send [port-seconds].
    pub dark_port_s: Vec<f64>,
}

/// A decision.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Decision {
    /// Time at which its demand was measured.
    #[serde(with = "crate::ps", rename = "at_ps")]
    pub at: Time,
    /// The demand that the policy saw [B].
    pub demand_bytes: u64,
    /// The part of this demand between racks that the decision connected, by a route or in any slot
    /// of a schedule [B].
    pub joined_bytes: u64,
    /// `joined_bytes` ÷ `demand_bytes`; `None` without demand.
    pub share: Option<f64>,
}

/// Replays a log with a policy that was built for `log.header.hardware`. Changes are carried out in
/// the policy's own order or, if given, in `order`. Timing and demand estimation are those of the
/// log.
///
/// The policy of the log itself is `policies::find(kind)?.build(table, &hardware)` of
/// `log.header.policy`, with `log.header.order`.
///
/// # Errors
/// If a line of the log is inconsistent with the others ([`Read::check`]); if the policy cannot
/// decide, or not for this switch: `policy`, with the time as its value.
pub fn replay(
    log: &Read,
    policy: Box<dyn Policy>,
    order: Option<Order>,
) -> Result<Replay, Refusal> {
    log.check()?;
    let past = Past::of(log);
    let mut together = Together::new(log, &past, policy, order);
    let parted = together.run()?;
    let end = log.entries.last().map_or(Time::ZERO, |e| e.at);
    let books = match &parted {
        None => together.books,
        Some((_, at, actions)) => together.part(*at, actions, &past, end)?,
    };
    Ok(Replay {
        parted: parted.map(|(parting, ..)| parting),
        recorded: Bookkeeper::new(&log.header).read(&log.entries).close(end),
        replayed: books.close(end),
    })
}

/// A policy that receives the slots of a log's switch and whose decisions take the times of the
/// log.
pub(crate) fn paced(log: &Read, policy: Box<dyn Policy>) -> Paced {
    Past::of(log).pace(policy)
}

/// The controller of the log and the replayed one, which receives the same inputs.
struct Together<'a> {
    log: &'a Read,
    other: Controller<Paced>,
    books: Bookkeeper,
    /// The switch of the replayed controller.
    switch: Fake,
    begun: Vec<Action>,
    /// Steps in progress and their ends.
    steps: BTreeMap<StepId, (Action, Time)>,
    measuring: Option<Time>,
    wakes: Vec<Time>,
}

/// The first difference: its text, the position of the input in the log, and the actions of the
/// replayed controller.
type Parted = (Parting, usize, Vec<Action>);

impl<'a> Together<'a> {
    fn new(log: &'a Read, past: &Past, policy: Box<dyn Policy>, order: Option<Order>) -> Self {
        let header = &log.header;
        let estimator = Estimator::new(header.estimation);
        let other = past.pace(policy);
        let other = Controller::new(other, header.hardware, header.timing, estimator);
        Together {
            log,
            other: match order {
                Some(order) => other.with_order(order),
                None => other,
            },
            books: Bookkeeper::new(header),
            switch: past.taking(Fake::new(header.hardware)),
            begun: Vec::new(),
            steps: BTreeMap::new(),
            measuring: None,
            wakes: Vec::new(),
        }
    }

    /// Passes the log's inputs to the replayed controller until its actions differ.
    fn run(&mut self) -> Result<Option<Parted>, Refusal> {
        let entries = &self.log.entries;
        let mut at = 0;
        while at < entries.len() {
            let Event::Input(input) = &entries[at].event else {
                // Events of the host are checked already, and actions follow inputs.
                at += 1;
                continue;
            };
            let now = entries[at].at;
            self.hear(now, input);
            let mut actions = Vec::new();
            let heard = self.other.on(now, input.clone(), &mut actions);
            heard.map_err(|refusal| undecided(refusal, now))?;
            let rest = entries[at + 1..].iter();
            let recorded: Vec<&Action> = rest.map_while(Entry::action).collect();
            if let Some(parting) = parting(now, at + 2, &recorded, &actions) {
                return Ok(Some((parting, at, actions)));
            }
            at += 1 + actions.len();
            actions.iter().for_each(|action| self.begin(action, now));
        }
        Ok(None)
    }

    fn hear(&mut self, now: Time, input: &Input) {
        self.books.hear(now, input);
        match input {
            Input::Done(step) => {
                if let Some((action, _)) = self.steps.remove(step) {
                    self.switch.carry_out(&action, now);
                }
            }
            Input::Failed(step, _) => _ = self.steps.remove(step),
            Input::Demand(_) => self.measuring = None,
            Input::PortDown(rack, plane) => self.switch.break_port(*rack, *plane, now),
            Input::PortUp(rack, plane) => self.switch.mend_port(*rack, *plane),
            Input::Silence(found) => {
                self.switch.set(found.clone());
                self.steps.clear();
                self.measuring = None;
            }
            Input::Tick => {}
        }
    }

    fn begin(&mut self, action: &Action, now: Time) {
        self.books.ask(action);
        self.begun.push(action.clone());
        if let Action::WakeAt(at) = action {
            return self.wakes.push(*at);
        }
        let end = now + self.switch.takes(action).unwrap_or(Time::ZERO);
        match action.step() {
            Some(step) => _ = self.steps.insert(step, (action.clone(), end)),
            None => self.measuring = Some(end),
        }
    }

    /// Replays the log from entry `at` on, with a separate switch for the replayed controller.
    fn part(
        mut self,
        at: usize,
        actions: &[Action],
        past: &Past,
        end: Time,
    ) -> Result<Bookkeeper, Refusal> {
        let now = self.log.entries[at].at;
        actions.iter().for_each(|action| self.books.ask(action));
        let mut host = Host::taken_over(self.other, self.switch, now);
        past.failures().into_iter().for_each(|f| host.fail(f));
        for (at, happening) in happenings(self.log, at) {
            host.plan_for(at, happening);
        }
        let measuring = self.measuring.map(|end| (Action::Measure, end));
        let under_way = self.steps.into_values().chain(measuring);
        let under_way: Vec<(Action, Time)> = under_way.collect();
        let is_over = |a: &&Action| !under_way.iter().any(|(action, _)| action == *a);
        self.begun
            .iter()
            .filter(is_over)
            .for_each(|a| host.count(a));
        for (action, end) in under_way {
            host.resume(action, end.max(now));
        }
        for at in self.wakes.into_iter().filter(|&at| at >= now) {
            host.resume(Action::WakeAt(at), at);
        }
        actions.iter().for_each(|action| host.ask(action.clone()));
        let ran = host.run(end);
        ran.map_err(|refusal| undecided(refusal, host.now()))?;
        Ok(self.books.read(host.log()))
    }
}

/// The first difference between the actions after a line of the log.
fn parting(at: Time, line: usize, recorded: &[&Action], replayed: &[Action]) -> Option<Parting> {
    let same = { recorded.iter().zip(replayed) }
        .take_while(|(a, b)| is_same(a, b))
        .count();
    let (here, there) = match (recorded.get(same), replayed.get(same)) {
        (None, None) => return None,
        (Some(a), Some(b)) => {
            let (a, b) = apart(a, b);
            (Some(a), Some(b))
        }
        (here, there) => (here.map(|a| in_words(a)), there.map(in_words)),
    };
    Some(Parting {
        at,
        line: line + 1 + same,
        recorded: here,
        replayed: there,
    })
}

/// Whether two actions have the same effect on a switch; schedules without slots have no night.
fn is_same(a: &Action, b: &Action) -> bool {
    match (a, b) {
        (Action::Follow(a, one), Action::Follow(b, other)) if one.slots.is_empty() => {
            a == b && other.slots.is_empty() && one.ports == other.ports
        }
        _ => a == b,
    }
}

/// The refusal of a policy that cannot decide, with the time of the decision.
fn undecided(refusal: Refusal, now: Time) -> Refusal {
    let limit = match refusal.value.is_empty() {
        true => refusal.limit,
        false => format!("{} = {}: {}", refusal.key, refusal.value, refusal.limit),
    };
    Refusal::new("policy", format!("at {now}"), limit, refusal.remedy)
}
