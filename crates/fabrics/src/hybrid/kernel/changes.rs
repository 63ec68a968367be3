//! Actions of the controller, carried out at once or in the time that the [`Switch`] takes: circuits
//! are lit and go dark, routes end and begin, a schedule goes from night to day.
//!
//! [`Switch`]: crate::hybrid::switch::Switch

use super::Hybrid;
use crate::hybrid::event::{Context, Event};
use crate::hybrid::paths::ends;
use lightloom_control::circuits::Circuits;
use lightloom_control::controller::{Action, Found, Input};
use lightloom_control::demand::Report;
use lightloom_control::policy::Target;
use lightloom_control::routes::Routes;
use lightloom_control::schedule::Schedule;
use lightloom_engine::kernel::flow::{Net, Todo};
use lightloom_engine::{FlowId, Flows, Io, Time};
use std::collections::VecDeque;

impl Hybrid {
    /// Passes an input to the controller and carries out its actions, repeatedly, until no action
    /// is left that completes at once.
    pub(super) fn tell(&mut self, input: Input, context: &mut Context) {
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            for action in self.host.hear(input, context.now) {
                inputs.extend(self.carry_out(action, context));
            }
        }
    }

    /// Carries out an action, or schedules its end; returns the answer to an action that takes no
    /// time.
    fn carry_out(&mut self, action: Action, context: &mut Context) -> Option<Input> {
        let Some(step) = action.step() else {
            return match action {
                Action::WakeAt(at) => {
                    context.todo.schedule(at, Event::Wake);
                    None
                }
                _ => Some(Input::Demand(self.measure(context))),
            };
        };
        match self.switch.takes(&action) {
            Some(time) => {
                let at = context.now + time;
                self.switch.begin(step, action);
                context.todo.schedule(at, Event::Ends(step));
                None
            }
            None => {
                self.complete_action(action, context);
                Some(Input::Done(step))
            }
        }
    }

    /// An action takes effect.
    pub(super) fn complete_action(&mut self, action: Action, context: &mut Context) {
        let (paths, switch) = (&mut self.paths, &mut self.switch);
        match action {
            Action::Drain(_, pairs, staying) => paths.drain(&pairs, &staying, switch, context),
            Action::Dark(_, circuits) => {
                switch.darken(&circuits, context.now);
                paths.drop_dark_routes(switch, context);
            }
            Action::Light(_, circuits) => switch.light(&circuits, context.now),
            Action::Enter(_, pairs, routes) => paths.admit(&pairs, routes, switch, context),
            Action::Follow(_, schedule) => self.follow(schedule, context),
            Action::Route(..) | Action::Measure | Action::WakeAt(_) => {}
        }
    }

    /// The demand that servers report.
    fn measure(&mut self, context: &Context) -> Report {
        #[cfg(test)]
        if let Some(told) = &self.told {
            return told.lock().expect("the lock is not poisoned").clone();
        }
        let flows = self.paths.flows(context);
        let (io, net) = (context.io, &*context.net);
        let row = |flow: FlowId| {
            let (src, dst) = ends(flow, io);
            (flow, src, dst, net.remaining(flow))
        };
        self.meter.report(flows.into_iter().map(row))
    }

    /// Lets the controller fail or repairs it.
    pub(super) fn set_controller(&mut self, works: bool, now: Time, todo: &mut Todo<Event>) {
        if !self.host.set_works(works, now) {
            return;
        }
        if works {
            return self.tell_at_once(Input::Silence(self.found()), now, todo);
        }
        self.switch.forget();
        if let Some(after) = self.host.patience() {
            todo.schedule(now + after, Event::GiveUp(self.host.term()));
        }
    }

    /// Lights circuits, or starts a schedule, at the start of the run. Returns the input for the
    /// controller.
    pub(super) fn begin_with(
        &mut self,
        initial: Target,
        net: &mut Net,
        todo: &mut Todo<Event>,
    ) -> Input {
        let context = &mut Context {
            now: Time::ZERO,
            io: &Io::new(Flows::new()),
            net,
            todo,
        };
        match initial {
            Target::Network { circuits, routes } => {
                self.switch.light(&circuits, Time::ZERO);
                self.paths.enter(routes, &self.switch, context);
            }
            Target::Schedule(schedule) => self.follow(schedule, context),
        }
        Input::Silence(self.found())
    }

    /// Starts the control loop with its first input.
    pub(super) fn begin_loop(&mut self, opening: Input, todo: &mut Todo<Event>) {
        schedule_wakes(&self.host.hear_first(opening), todo);
    }

    /// Passes an input to which the controller answers only with ticks.
    pub(super) fn tell_at_once(&mut self, input: Input, now: Time, todo: &mut Todo<Event>) {
        schedule_wakes(&self.host.hear(input, now), todo);
    }

    /// The present state of switch and servers. The switch changes days of a schedule by itself, so
    /// none of their circuits can be kept.
    fn found(&self) -> Found {
        let schedule = self.followed.schedule().cloned();
        let (lit, routes) = match schedule {
            Some(_) => (Circuits::default(), Routes::default()),
            None => (self.switch.lit(), self.paths.routes().clone()),
        };
        Found {
            lit,
            routes,
            drained: self.paths.drained(),
            schedule,
            works: self.switch.works().to_vec(),
        }
    }

    /// Makes servers leave the circuits, which may then go dark. A schedule continues without them.
    pub(super) fn give_up(&mut self, context: &mut Context) {
        if self.host.give_up() {
            let lit = self.switch.lit();
            self.switch.darken(&lit, context.now);
        }
        let none = Routes::none(self.paths.routes().directed());
        self.paths.enter(none, &self.switch, context);
    }

    pub(super) fn break_port(&mut self, rack: u32, plane: u32, context: &mut Context) {
        self.switch.break_port(rack, plane, context.now);
        self.paths.drop_dark_routes(&self.switch, context);
        self.tell(Input::PortDown(rack, plane), context);
    }

    /// Starts a schedule with a night.
    fn follow(&mut self, schedule: Schedule, context: &mut Context) {
        let number = self.followed.follow(schedule);
        self.night(number, context);
    }

    /// Ends a day, after the flows that end with it have ended.
    pub(super) fn end_day(&mut self, number: u32, context: &mut Context) {
        let end = context.net.next_finish().filter(|&at| at > context.now);
        let covered = |&at: &Time| self.followed.days(number).is_some_and(|d| d.covers(at));
        match end.filter(covered) {
            Some(at) => context.todo.schedule(at, Event::Night(number)),
            None => self.night(number, context),
        }
    }

    fn night(&mut self, number: u32, context: &mut Context) {
        let lit = self.switch.lit();
        self.switch.darken(&lit, context.now);
        let night = self.followed.days(number).map(|days| days.night());
        // If the night is zero, dark routes stay: ports are lit again at the same instant.
        if night.is_none_or(|night| night > Time::ZERO) {
            self.paths.drop_dark_routes(&self.switch, context);
        }
        if let Some(night) = night {
            let day = context.now + night;
            context.todo.schedule(day, Event::Day(number));
        }
    }

    pub(super) fn begin_day(&mut self, number: u32, context: &mut Context) {
        let Some(days) = self.followed.days(number) else {
            return;
        };
        let (circuits, end) = days.begin(context.now);
        context.todo.schedule(end, Event::Night(number));
        self.switch.light(&circuits, context.now);
        if !self.host.has_given_up() {
            let routes = Routes::direct(&circuits);
            self.paths.enter(routes, &self.switch, context);
        }
    }
}

/// Schedules the ticks that the controller requested; it requests nothing else.
fn schedule_wakes(actions: &[Action], todo: &mut Todo<Event>) {
    for action in actions {
        let Action::WakeAt(at) = *action else {
            unreachable!("nothing else is asked for")
        };
        todo.schedule(at, Event::Wake);
    }
}
