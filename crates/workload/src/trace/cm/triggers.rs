//! Triggers of a connection matrix: flows that start when others are done.
//!
//! `send_done_trigger T` and `recv_done_trigger T` state that a flow fires T when it is done;
//! `trigger T` states that a flow starts when T does:
//!
//! | | starts |
//! |---|---|
//! | `trigger id T oneshot` | all flows that wait for it, when it is fired; it is fired once |
//! | `trigger id T multishot` | the next that waits for it, in the order of the file, each time that it is fired; nothing when none is left |
//! | `trigger id T barrier count K` | all flows that wait for it, when it has been fired K times |
//!
//! In htsim, a sender is done when the last acknowledgement has returned, and a receiver when the
//! last byte has arrived. No fabric here has acknowledgements: both are the delivery of the last
//! byte.
//!
//! Whether a flow ever starts does not depend on durations, because a trigger can only be fired
//! more often as time passes. It is therefore known before the run, and a flow that never starts is
//! refused.

mod check;

use super::connection::Connection;
use crate::text::{Field, Place, Row, TextError};
use lightloom_engine::{config, Dependencies, FlowId, Time};
use std::collections::BTreeMap;

const WORDS: [&str; 5] = ["id", "oneshot", "multishot", "barrier", "count"];
const LINE: &str = "write it like `trigger id 1 oneshot`, `trigger id 2 multishot` or \
                    `trigger id 3 barrier count 4`";

/// The effect of a trigger when it is fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    OneShot,
    MultiShot,
    Barrier(u32),
}

/// A line that declares a trigger.
#[derive(Clone, Copy, Debug)]
struct Trigger {
    kind: Kind,
    place: Place,
}

/// A flow that waits for a trigger, or fires it.
#[derive(Clone, Copy, Debug)]
struct Tie {
    flow: u32,
    trigger: u32,
    place: Place,
}

/// All triggers of a file, and the flows that wait for them or fire them.
pub(super) struct Triggers<'a> {
    file: &'a str,
    declared: BTreeMap<u32, Trigger>,
    waiting: Vec<Tie>,
    firing: Vec<Tie>,
}

impl<'a> Triggers<'a> {
    pub fn new(file: &'a str) -> Triggers<'a> {
        Triggers {
            file,
            declared: BTreeMap::new(),
            waiting: Vec::new(),
            firing: Vec::new(),
        }
    }

    /// The number of declared triggers.
    pub fn len(&self) -> u64 {
        self.declared.len() as u64
    }

    /// Reads a line that begins with `trigger`.
    pub fn declare(&mut self, row: Row) -> Result<(), TextError> {
        let (mut id, mut kind, mut count) = (None, None, None);
        let mut words = row.words();
        let Some(title) = words.next() else {
            return Ok(());
        };
        while let Some(word) = words.next() {
            let mut value = || {
                let missing = || row.end().error(format!("{} has no value", word.text), LINE);
                words.next().ok_or_else(missing)
            };
            let before = match word.text {
                "id" => id.replace(value()?),
                "count" => count.replace(value()?),
                "oneshot" | "multishot" | "barrier" => kind.replace(word),
                _ => {
                    let problem = format!("{} is not part of a trigger", word.shown());
                    return Err(word.error(problem, config::nearest(word.text, &WORDS)));
                }
            };
            if before.is_some() {
                let problem = format!("{} is a second one of its kind", word.shown());
                return Err(word.error(problem, "remove one"));
            }
        }
        let missing = |what: &str| row.end().error(format!("has no {what}"), LINE);
        let id = id.ok_or_else(|| missing("id"))?;
        let kind = kind_of(kind.ok_or_else(|| missing("kind"))?, count, missing)?;
        let number = id.whole("id", 1..=u32::MAX as u64)? as u32;
        let place = title.place();
        match self.declared.insert(number, Trigger { kind, place }) {
            None => Ok(()),
            Some(_) => Err(id.error(format!("trigger {number} is there twice"), "remove one")),
        }
    }

    /// Records the triggers for which a flow, in the future row `flow`, waits, and those that it
    /// fires.
    pub fn name(&mut self, connection: &Connection, flow: u32) -> Result<(), TextError> {
        let tie = |(field, trigger): (Field, u32)| Tie {
            flow,
            trigger,
            place: field.place(),
        };
        let fires = connection.fires()?;
        if let (Some((field, _)), None) = (fires.first(), connection.bytes()?) {
            return Err(field.error(
                "a flow of size 0 sends until the run stops, so it is never done",
                "give it a size, or remove the trigger",
            ));
        }
        self.firing.extend(fires.into_iter().map(tie));
        self.waiting.extend(connection.trigger()?.map(tie));
        Ok(())
    }

    /// The dependencies among this number of flows; `None` if there are none. Call it after all
    /// lines of the file are read.
    ///
    /// # Errors
    /// If a trigger is not declared, is not fired as often as its kind requires, or a flow would
    /// never start.
    pub fn graph(&self, flows: usize) -> Result<Option<Dependencies>, TextError> {
        let fired = self.check_counts()?;
        if self.waiting.is_empty() {
            return Ok(None);
        }
        let (places, turnstiles) = self.places(flows as u32);
        let mut edges = Vec::with_capacity(self.waiting.len() + self.firing.len());
        for tie in &self.firing {
            edges.push((places[&tie.trigger], FlowId(tie.flow)));
        }
        for tie in &self.waiting {
            edges.push((FlowId(tie.flow), places[&tie.trigger]));
        }
        self.check_starts(flows, &fired)?;
        let nodes = flows + places.len();
        Ok(Some(Dependencies {
            turnstiles,
            ..Dependencies::of(vec![Time::ZERO; nodes], &edges)
        }))
    }

    /// The nodes of the triggers, which follow those of the flows, and the number of multishot
    /// triggers; these are last, as turnstiles.
    fn places(&self, flows: u32) -> (BTreeMap<u32, FlowId>, u32) {
        let in_turn = |trigger: &Trigger| trigger.kind == Kind::MultiShot;
        let barriers = self.declared.iter().filter(|t| !in_turn(t.1));
        let turnstiles = self.declared.iter().filter(|t| in_turn(t.1));
        let numbered = barriers.chain(turnstiles).zip(flows..);
        let places = numbered.map(|((&id, _), node)| (id, FlowId(node)));
        let count = self.declared.values().filter(|t| in_turn(t)).count();
        (places.collect(), count as u32)
    }
}

/// The kind that `word` names; `count` is for barriers, and ignored elsewhere as by htsim.
fn kind_of(
    word: Field,
    count: Option<Field>,
    missing: impl Fn(&str) -> TextError,
) -> Result<Kind, TextError> {
    Ok(match word.text {
        "oneshot" => Kind::OneShot,
        "multishot" => Kind::MultiShot,
        _ => {
            let count = count.ok_or_else(|| missing("count"))?;
            Kind::Barrier(count.whole("count", 1..=u32::MAX as u64)? as u32)
        }
    })
}
