//! What a change does to light and routes: circuits come up and go dark, routes end and
//! begin, and a schedule that the switch follows goes from night to day.

use super::days::Days;
use super::kernel::{Context, Event, Hybrid};
use lightloom_control::controller::Input;
use lightloom_control::routes::{Pair, Routes};
use lightloom_control::schedule::Schedule;
use lightloom_engine::Time;

impl Hybrid {
    /// Rules lead these pairs to their routes that stay, or to the electrical network, until they
    /// are deleted.
    pub(super) fn drain(&mut self, pairs: &[Pair], staying: &Routes, context: &mut Context) {
        self.drained.extend(pairs);
        let mut moved = pairs.to_vec();
        moved.retain(|&pair| self.routes.narrow(pair, staying));
        self.reroute(&moved, context);
    }

    /// Routes over circuits that are dark end: their flows fall back.
    pub(super) fn leave_the_dark(&mut self, context: &mut Context) {
        let switch = &self.switch;
        let lost = self.routes.keep_lit(|hop| switch.is_lit(hop));
        self.reroute(&lost, context);
    }

    /// The rules of these pairs are deleted: traffic enters its new routes.
    pub(super) fn let_in(&mut self, pairs: &[Pair], routes: Routes, context: &mut Context) {
        for pair in pairs {
            self.drained.remove(pair);
        }
        self.enter(routes, context);
    }

    /// These routes are in force, as far as they are lit and nobody was drained.
    pub(super) fn enter(&mut self, mut routes: Routes, context: &mut Context) {
        let switch = &self.switch;
        routes.keep_lit(|hop| switch.is_lit(hop));
        for &pair in &self.drained {
            routes.drop_pair(pair);
        }
        let moved = self.routes.differing(&routes);
        self.routes = routes;
        self.reroute(&moved, context);
    }

    pub(super) fn break_port(&mut self, rack: u32, plane: u32, context: &mut Context) {
        self.switch.break_port(rack, plane, context.now);
        self.leave_the_dark(context);
        self.tell(Input::PortDown(rack, plane), context);
    }

    /// A schedule is followed from a night on.
    pub(super) fn follow(&mut self, schedule: Schedule, context: &mut Context) {
        self.schedules += 1;
        self.schedule = Some(schedule.clone());
        self.days = Days::new(schedule, self.schedules);
        self.night(self.schedules, context);
    }

    /// A day is over, once the flows that end with it have ended.
    pub(super) fn dusk(&mut self, number: u32, context: &mut Context) {
        let end = context.net.next_finish().filter(|&at| at > context.now);
        let covered = |&at: &Time| self.days.as_ref().is_some_and(|days| days.covers(at));
        match end.filter(covered) {
            Some(at) => context.todo.schedule(at, Event::Night(number)),
            None => self.night(number, context),
        }
    }

    fn night(&mut self, number: u32, context: &mut Context) {
        let lit = self.switch.lit();
        self.switch.darken(&lit, context.now);
        let Some(days) = self.days.as_ref().filter(|d| d.number() == number) else {
            return self.leave_the_dark(context);
        };
        let day = context.now + days.night();
        // Without a night nothing moves: what is dark is lit again, or others are.
        if days.night() > Time::ZERO {
            self.leave_the_dark(context);
        }
        context.todo.schedule(day, Event::Day(number));
    }

    pub(super) fn day(&mut self, number: u32, context: &mut Context) {
        let Some(days) = self.days.as_mut().filter(|d| d.number() == number) else {
            return;
        };
        let (circuits, dusk) = days.begin(context.now);
        context.todo.schedule(dusk, Event::Night(number));
        self.switch.light(&circuits, context.now);
        if !self.given_up {
            self.enter(Routes::direct(&circuits), context);
        }
    }
}
