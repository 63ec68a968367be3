//! Random events, and checks that enough of them occur.

use crate::checks::Ran;
use crate::scenario::CALM;
use lightloom_control::controller::{Action, Input, Kind, StepId};
use lightloom_control::demand::{Queue, Report};
use lightloom_control::hardware::Hardware;
use lightloom_control::host::{Happening, UnderWay};
use lightloom_control::log::Event;
use lightloom_engine::Time;
use proptest::prelude::*;

/// Demand changes, ports break and are repaired, the controller falls silent, and unsolicited
/// answers arrive.
pub fn happenings(hardware: Hardware) -> impl Strategy<Value = Vec<(Time, Happening)>> {
    let last = CALM.0 / Time::MS.0;
    let at = || (0..last).prop_map(|ms| Time::MS * ms);
    let demand = (at(), report(hardware).prop_map(Happening::Demand));
    let mishap = (at(), mishap(hardware));
    let demands = prop::collection::vec(demand, 1..6);
    let mishaps = prop_oneof![Just(Vec::new()), prop::collection::vec(mishap, 1..10)];
    (report(hardware), demands, mishaps).prop_map(|(first, demands, mishaps)| {
        let mut all = vec![(Time::ZERO, Happening::Demand(first))];
        all.extend(demands);
        all.extend(mishaps);
        // At the end the controller receives inputs again.
        all.push((CALM, Happening::Hears));
        all
    })
}

fn mishap(hardware: Hardware) -> impl Strategy<Value = Happening> {
    let port = move || (0..hardware.racks, 0..hardware.planes);
    let fate = prop::sample::select(vec![UnderWay::Lost, UnderWay::CarriedOut]);
    prop_oneof![
        3 => port().prop_map(|(rack, plane)| Happening::PortDown(rack, plane)),
        3 => port().prop_map(|(rack, plane)| Happening::PortUp(rack, plane)),
        1 => fate.prop_map(Happening::Silent),
        2 => Just(Happening::Hears),
        1 => report(hardware).prop_map(Happening::Report),
        2 => (0u64..30, any::<bool>()).prop_map(|(step, done)| Happening::Stray(StepId(step), done)),
    ]
}

/// Two reporters in each rack.
fn report(hardware: Hardware) -> impl Strategy<Value = Report> {
    let racks = hardware.racks;
    let bytes = prop_oneof![0u64..2_000_000, 0u64..40_000_000];
    let queue = (0..2 * racks, 0..racks, bytes);
    let queue = queue.prop_map(|(from, to, bytes)| Queue { from, to, bytes });
    prop::collection::vec(queue, 0..12).prop_map(|queues| Report { queues })
}

/// The number of scenarios with each kind of event.
#[derive(Debug, Default)]
pub struct Seen {
    steps: u32,
    failures: u32,
    ports: u32,
    silences: u32,
    reordered: u32,
}

impl Seen {
    pub fn count(&mut self, ran: &Ran) {
        let inputs = || {
            { ran.log.iter() }.filter_map(|e| match &e.event {
                Event::Input(input) => Some(input),
                Event::Action(_) | Event::Host(_) => None,
            })
        };
        let steps = |e: &Event| matches!(e, Event::Action(a) if a.step().is_some());
        self.steps += u32::from(ran.log.iter().any(|e| steps(&e.event)));
        self.failures +=
            u32::from(inputs().any(|i| matches!(i, Input::Failed(_, why) if why != "stray")));
        self.ports += u32::from(inputs().any(|i| matches!(i, Input::PortDown(..))));
        self.silences += u32::from(inputs().any(|i| matches!(i, Input::Silence(_))));
        self.reordered += u32::from(is_reordered(ran));
    }

    /// Checks the counts of 128 cases.
    pub fn assert_enough(&self, kind: &str) {
        let few = [
            self.steps < 64,
            self.failures < 8,
            self.ports < 16,
            self.silences < 8,
        ];
        assert!(few == [false; 4], "{kind}: {self:?} of 128");
        assert!(
            kind != "hydra" || self.reordered >= 4,
            "{kind}: {self:?} of 128"
        );
    }
}

/// Whether routes were installed before circuits came up whose step had begun earlier.
fn is_reordered(ran: &Ran) -> bool {
    let answered = |kind: Kind| {
        let of = |a: &Action| a.kind() == kind;
        let steps = { ran.log.iter() }.filter_map(move |e| match &e.event {
            Event::Action(action) if of(action) => action.step(),
            _ => None,
        });
        steps.collect::<Vec<StepId>>()
    };
    let (lights, routes) = (answered(Kind::Light), answered(Kind::Route));
    let when = |step: StepId| {
        ran.log
            .iter()
            .position(|e| e.event == Event::Input(Input::Done(step)))
    };
    { lights.iter().zip(&routes) }.any(|(&light, &route)| {
        light < route && matches!((when(light), when(route)), (Some(l), Some(r)) if r < l)
    })
}
