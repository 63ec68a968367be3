//! The host of the controller: hands it what happens, and carries out what it asks for,
//! at once or in the time that the [`Switch`](super::switch::Switch) says.

use super::kernel::{ends, Context, Event, Hybrid};
use super::trouble::could_not;
use lightloom_control::circuits::Circuits;
use lightloom_control::controller::{Action, Found, Input};
use lightloom_control::demand::Report;
use lightloom_control::log::{Header, Hosting, Log, FORMAT};
use lightloom_control::policy::Target;
use lightloom_control::routes::Routes;
use lightloom_engine::kernel::flow::{Net, Todo};
use lightloom_engine::{ControlRecord, FlowId, Flows, Io, Time};
use std::collections::VecDeque;

impl Hybrid {
    /// Hands an input to the controller, unless it is down, and carries out what it
    /// asks for, and so on until it asks for nothing that is done at once.
    pub(super) fn tell(&mut self, input: Input, context: &mut Context) {
        let mut inputs = VecDeque::from([input]);
        let mut actions = Vec::new();
        while let Some(input) = inputs.pop_front() {
            if !self.controller_works || self.trouble.is_some() {
                return;
            }
            if let Some(log) = &mut self.log {
                log.input(context.now, &input);
            }
            if let Err(refusal) = self.controller.on(context.now, input, &mut actions) {
                self.trouble = Some(could_not(&self.policy, refusal, context.now));
            }
            for action in actions.drain(..) {
                if let Some(log) = &mut self.log {
                    log.action(context.now, &action);
                }
                inputs.extend(self.carry_out(action, context));
            }
        }
    }

    /// Carries out an action, at once or in its time; returns the answer to one that
    /// takes none.
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
                self.do_now(action, context);
                Some(Input::Done(step))
            }
        }
    }

    pub(super) fn do_now(&mut self, action: Action, context: &mut Context) {
        match action {
            Action::Drain(_, pairs, staying) => self.drain(&pairs, &staying, context),
            Action::Dark(_, circuits) => {
                self.switch.darken(&circuits, context.now);
                self.leave_the_dark(context);
            }
            Action::Light(_, circuits) => self.switch.light(&circuits, context.now),
            Action::Enter(_, pairs, routes) => self.let_in(&pairs, routes, context),
            Action::Follow(_, schedule) => self.follow(schedule, context),
            Action::Route(..) | Action::Measure | Action::WakeAt(_) => {}
        }
    }

    pub(super) fn measure(&mut self, context: &Context) -> Report {
        #[cfg(test)]
        if let Some(told) = &self.told {
            return told.lock().expect("nobody panics with it").clone();
        }
        let mut flows = Vec::new();
        for rack in 0..self.cluster.racks {
            self.flows_of(rack, context, |flow, _| flows.push(flow));
        }
        let (io, net) = (context.io, &*context.net);
        let row = |flow: FlowId| {
            let (src, dst) = ends(flow, io);
            (flow, src, dst, net.remaining(flow))
        };
        self.meter.report(flows.into_iter().map(row))
    }

    pub(super) fn set_controller(&mut self, works: bool, now: Time, todo: &mut Todo<Event>) {
        if works == self.controller_works {
            return;
        }
        self.controller_works = works;
        self.term += 1;
        self.given_up = false;
        if !works {
            if let Some(log) = &mut self.log {
                log.host(now, Hosting::Silent);
            }
            self.switch.forget();
            if let Some(give_up) = self.give_up {
                todo.schedule(now + give_up.after, Event::GiveUp(self.term));
            }
            return;
        }
        self.tell_at_once(Input::Silence(self.found()), now, todo);
    }

    /// Circuits are lit, or a schedule is followed, when the run begins; what the controller is
    /// told of it.
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
                self.enter(routes, context);
            }
            Target::Schedule(schedule) => self.follow(schedule, context),
        }
        Input::Silence(self.found())
    }

    /// The loop begins with what the controller hears first.
    pub(super) fn begin_loop(&mut self, opening: Input, todo: &mut Todo<Event>) {
        let actions = self.tell_at_once(opening.clone(), Time::ZERO, todo);
        self.opening = (opening, actions);
    }

    /// Hands over an input to which the controller answers nothing but when it wants to
    /// be woken; returns that.
    pub(super) fn tell_at_once(
        &mut self,
        input: Input,
        now: Time,
        todo: &mut Todo<Event>,
    ) -> Vec<Action> {
        if !self.controller_works || self.trouble.is_some() {
            return Vec::new();
        }
        if let Some(log) = &mut self.log {
            log.input(now, &input);
        }
        let mut actions = Vec::new();
        let heard = self.controller.on(now, input, &mut actions);
        debug_assert!(heard.is_ok(), "nothing is decided");
        for action in &actions {
            if let Some(log) = &mut self.log {
                log.action(now, action);
            }
            let Action::WakeAt(at) = *action else {
                unreachable!("nothing else is asked for")
            };
            todo.schedule(at, Event::Wake);
        }
        actions
    }

    /// Switch and servers as they are. Days of a schedule pass by themselves: none of
    /// their circuits is anybody's to keep.
    fn found(&self) -> Found {
        let (lit, routes) = match self.schedule {
            Some(_) => (Circuits::default(), Routes::default()),
            None => (self.switch.lit(), self.routes.clone()),
        };
        Found {
            lit,
            routes,
            drained: self.drained.iter().copied().collect(),
            schedule: self.schedule.clone(),
            works: self.switch.works().to_vec(),
        }
    }

    /// Servers leave the circuits, which may go dark then. Days of a schedule pass
    /// without them.
    pub(super) fn give_up(&mut self, context: &mut Context) {
        self.given_up = true;
        if self.give_up.is_some_and(|g| g.dark) {
            let lit = self.switch.lit();
            self.switch.darken(&lit, context.now);
        }
        let none = Routes::none(self.routes.directed());
        self.enter(none, context);
    }

    /// What the controller hears and asks for is kept, and how the loop began.
    pub(super) fn begin_log(&mut self, label: &str) {
        let mut log = Log::new(&Header {
            format: FORMAT.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            host: label.to_owned(),
            policy: self.policy.clone(),
            order: self.controller.order(),
            hardware: self.hardware,
            timing: *self.controller.timing(),
            estimation: *self.controller.estimator().rules(),
            shortest_slot: None,
            night: None,
        });
        let (input, actions) = &self.opening;
        log.input(Time::ZERO, input);
        for action in actions {
            log.action(Time::ZERO, action);
        }
        self.log = Some(log);
    }

    /// What was kept.
    pub(super) fn end_log(&mut self) -> ControlRecord {
        let times = self.times.as_ref().and_then(|times| times.lock().ok());
        ControlRecord {
            log: self.log.take().map(Log::finish),
            computed: times.map(|times| times.clone()),
        }
    }
}
