//! The rules for the contents of a log: its first line, the lines that are consistent with it, and
//! their order.
//!
//! A controller is deterministic, so many lines of a log follow from earlier ones: the times of
//! requested ticks, the numbers of steps. Two things are not checked: whether its policy made these
//! decisions, and whether a switch carried out the steps as answered.

use super::{Entry, Event, Header, Hosting, Read};
use crate::controller::{Action, Input, StepId, Timing};
use lightloom_engine::{check_range, Refusal, Time};
use serde_json::Value;
use std::fmt::Display;

/// The latest time in a log, so that the sum of two times and an interval is still a time (53
/// days).
pub const LATEST: Time = Time(i64::MAX / 2 - 2 * 3_600 * Time::S.0);
/// The number of intervals after which a host that is not silent counts as stalled if it has not
/// woken its controller. A larger limit would allow a single wrong line to cause very many
/// decisions.
const LATE: i64 = 1_000;
const AGAIN: &str = "record the run again";

/// The refusal for line `at`, counted from 0.
pub fn of_line(at: usize, refusal: Refusal) -> Refusal {
    Refusal {
        key: format!("line {}: {}", at + 1, refusal.key),
        ..refusal
    }
}

fn below(table: &str, refusal: Refusal) -> Refusal {
    Refusal {
        key: format!("{table}.{}", refusal.key),
        ..refusal
    }
}

impl Header {
    /// Refuses a first line that no controller can have written: a policy without a name; or
    /// switch, times or estimation rules that are invalid or inconsistent.
    ///
    /// # Errors
    /// If a value is wrong; names the first key and its line.
    pub fn check(&self) -> Result<(), Refusal> {
        self.check_keys().map_err(|refusal| of_line(0, refusal))
    }

    fn check_keys(&self) -> Result<(), Refusal> {
        let Header {
            hardware,
            timing,
            estimation,
            ..
        } = self;
        self.check_policy()?;
        hardware.check().map_err(|r| below("hardware", r))?;
        timing.check().map_err(|r| below("timing", r))?;
        if estimation.racks != hardware.racks {
            let limit = format!("hardware.racks is {}", hardware.racks);
            let key = "estimation.racks";
            return refuse(key, estimation.racks, limit, "make them the same");
        }
        estimation.check().map_err(|r| below("estimation", r))?;
        if let Some(shortest) = self.shortest_slot {
            check_range("shortest_slot_ps", shortest.0, 1..=Timing::MOST.0)?;
        }
        if let Some(night) = self.night {
            check_range("night_ps", night.0, 0..=Timing::MOST.0)?;
        }
        if hardware.rate.bytes_in(timing.interval) == 0 {
            let limit = format!("a circuit carries no byte in {}", timing.interval);
            let key = "hardware.rate_bps";
            return refuse(key, hardware.rate.0, limit, "raise it, or the interval");
        }
        Ok(())
    }

    fn check_policy(&self) -> Result<(), Refusal> {
        let name = |key: &str| match self.policy.get(key) {
            None => Ok(false),
            Some(Value::String(name)) if !name.is_empty() => Ok(true),
            Some(other) => {
                let key = format!("policy.{key}");
                Err(Refusal::new(key, other, "not a name", AGAIN))
            }
        };
        match (name("kind")?, name("file")?) {
            (true, false) | (false, true) => Ok(()),
            _ => refuse(
                "policy",
                &self.policy,
                "not a table with a kind or a file",
                AGAIN,
            ),
        }
    }
}

fn refuse<T>(
    key: &str,
    value: impl Display,
    limit: impl Into<String>,
    remedy: &str,
) -> Result<T, Refusal> {
    Err(Refusal::new(key, value, limit, remedy))
}

impl Read {
    /// Refuses a log that the controller of its first line cannot have written. Such a log names a
    /// rack, plane or reporter that does not exist; requests circuits, routes or a schedule that
    /// the switch cannot have; has times that run backwards or do not fit the interval; has steps
    /// that are not numbered consecutively; requests actions without an input; or receives inputs
    /// during a silence.
    ///
    /// # Errors
    /// If there is such a line; names it.
    pub fn check(&self) -> Result<(), Refusal> {
        self.header.check()?;
        let mut course = Course::of(&self.header);
        for (at, entry) in self.entries.iter().enumerate() {
            let checked = course.follow(entry);
            checked.map_err(|refusal| of_line(at + 1, refusal))?;
        }
        Ok(())
    }
}

/// The state of a controller as far as it follows from its inputs.
struct Course<'a> {
    header: &'a Header,
    /// The previous line.
    last: Option<&'a Entry>,
    silent: bool,
    /// The start of the next interval; `None` until the first tick.
    next: Option<Time>,
    /// Whether the controller has not requested its first tick yet.
    opening: bool,
    /// Number of requested steps.
    steps: u64,
}

impl<'a> Course<'a> {
    fn of(header: &'a Header) -> Course<'a> {
        Course {
            header,
            last: None,
            silent: false,
            next: None,
            opening: false,
            steps: 0,
        }
    }

    fn follow(&mut self, entry: &'a Entry) -> Result<(), Refusal> {
        self.check_time(entry.at)?;
        match &entry.event {
            Event::Input(input) => self.hear(entry.at, input)?,
            Event::Action(action) => self.ask(entry.at, action)?,
            Event::Host(Hosting::Silent) if self.silent => {
                return refuse(
                    "host",
                    "silent",
                    "the log already has the silence of the controller",
                    AGAIN,
                )
            }
            Event::Host(Hosting::Silent) => self.silent = true,
        }
        self.last = Some(entry);
        Ok(())
    }

    fn check_time(&self, at: Time) -> Result<(), Refusal> {
        let before = self.last.map_or(Time::ZERO, |last| last.at);
        let limit = match at {
            _ if at < Time::ZERO => "below 0".to_owned(),
            _ if at < before => format!("the line before it is of {before}"),
            _ if at > LATEST => format!("later than {}, the latest time of a log", LATEST.0),
            _ => return Ok(()),
        };
        refuse("at_ps", at.0, limit, AGAIN)
    }

    fn hear(&mut self, at: Time, input: &Input) -> Result<(), Refusal> {
        if self.opening {
            return refuse(
                "input",
                "here",
                "the controller has not requested its first tick before it",
                AGAIN,
            );
        }
        let ends_silence = matches!(input, Input::Silence(_));
        if self.silent && !ends_silence {
            return refuse("input", "here", "the controller is silent", AGAIN);
        }
        self.check_heard(input).map_err(|r| below("input", r))?;
        self.silent = false;
        let interval = self.header.timing.interval;
        let due = |next: Time| (at - next).0.div_euclid(interval.0);
        self.next = match (input, self.next) {
            (Input::Tick | Input::Silence(_), None) => {
                self.opening = true;
                Some(at + interval)
            }
            (Input::Silence(_), Some(next)) if next < at => {
                Some(next + interval * (at - next).div_ceil(interval))
            }
            (_, Some(next)) if due(next) > LATE => {
                let limit = format!("the controller must get a tick at {next}");
                return refuse("at_ps", at.0, limit, AGAIN);
            }
            (Input::Tick, Some(next)) if next <= at => Some(next + interval * (due(next) + 1)),
            (_, next) => next,
        };
        Ok(())
    }

    /// Refuses inputs that do not fit this switch.
    fn check_heard(&self, input: &Input) -> Result<(), Refusal> {
        let Header {
            hardware,
            estimation,
            ..
        } = self.header;
        match input {
            Input::PortDown(rack, plane) | Input::PortUp(rack, plane) => {
                hardware.check_port(*rack, *plane)
            }
            Input::Demand(report) => report.check(estimation),
            Input::Silence(found) => found.check(hardware),
            // A controller ignores answers to steps that are not in progress.
            Input::Done(_) | Input::Failed(..) => Ok(()),
            Input::Tick => Ok(()),
        }
    }

    fn ask(&mut self, at: Time, action: &Action) -> Result<(), Refusal> {
        let heard = match self.last {
            None => return refuse("action", "the first", "no input precedes it", AGAIN),
            Some(last) => last,
        };
        if matches!(heard.event, Event::Host(_)) {
            return refuse("action", "here", "the controller is silent", AGAIN);
        }
        if at > heard.at {
            let limit = format!("it answers the input at {}", heard.at);
            return refuse("at_ps", at.0, limit, AGAIN);
        }
        if let Some(StepId(step)) = action.step() {
            self.steps += 1;
            if step != self.steps {
                let limit = format!("the next step has number {}", self.steps);
                return refuse("action", format!("step {step}"), limit, AGAIN);
            }
        }
        self.check_asked(at, action).map_err(|r| below("action", r))
    }

    fn check_asked(&mut self, at: Time, action: &Action) -> Result<(), Refusal> {
        let hardware = &self.header.hardware;
        if std::mem::take(&mut self.opening) && action != &Action::WakeAt(self.next.unwrap_or(at)) {
            let limit = format!(
                "after {at} and an interval of {} the first tick is at {}",
                self.header.timing.interval,
                self.next.unwrap_or(at)
            );
            return refuse("wake_at", crate::words::in_words(action), limit, AGAIN);
        }
        match action {
            Action::Light(_, circuits) | Action::Dark(_, circuits) => circuits.check(hardware),
            Action::Follow(_, schedule) => schedule.check_for(hardware),
            Action::Route(_, routes) => routes.check(hardware),
            Action::Enter(_, pairs, routes) => {
                hardware.check_pairs(pairs)?;
                routes.check(hardware)
            }
            Action::Drain(_, pairs, staying) => {
                hardware.check_pairs(pairs)?;
                staying.check(hardware)
            }
            Action::WakeAt(until) if *until < at => {
                refuse("wake_at", until.0, format!("{at} has passed"), AGAIN)
            }
            Action::WakeAt(until) if until.0 > LATEST.0 + 3_600 * Time::S.0 => {
                let limit = format!("later than {}, the latest time of a log", LATEST.0);
                refuse("wake_at", until.0, limit, AGAIN)
            }
            Action::WakeAt(_) | Action::Measure => Ok(()),
        }
    }
}
