//! A controller in real time. Its host provides the clock and the switch. All inputs and actions
//! are stored in a log with the format of a simulated controller's log.
//!
//! The controller is built from the first lines of such a log (policy, switch, timing, first
//! input), so the loop of a simulated fabric runs unchanged on a testbed or a real switch.

use crate::controller::{Action, Controller, Input};
use crate::demand::Estimator;
use crate::log::{Event, Header, Hosting, Log, Read};
use crate::policy::Policy;
use crate::replay::paced;
use lightloom_engine::{Refusal, Time};

/// A controller and the log of its inputs and actions.
pub struct Live {
    controller: Controller<Box<dyn Policy>>,
    header: Header,
    opening: Vec<Input>,
    log: Log,
}

impl Live {
    /// The loop of a log, with a policy that was built for its header.
    pub fn new(read: &Read, policy: Box<dyn Policy>, host: &str) -> Live {
        let header = Header {
            host: host.to_owned(),
            ..read.header.clone()
        };
        let estimator = Estimator::new(header.estimation);
        let policy: Box<dyn Policy> = Box::new(paced(read, policy));
        let controller = Controller::new(policy, header.hardware, header.timing, estimator);
        let controller = match header.order {
            Some(order) => controller.with_order(order),
            None => controller,
        };
        let heard = read.entries.iter().filter(|entry| entry.at == Time::ZERO);
        let opening = heard.filter_map(|entry| match &entry.event {
            Event::Input(input) => Some(input.clone()),
            Event::Action(_) | Event::Host(_) => None,
        });
        Live {
            controller,
            opening: opening.collect(),
            log: Log::new(&header),
            header,
        }
    }

    /// Policy, switch and timing: the first line of the log.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The inputs that start the loop.
    pub fn opening(&self) -> &[Input] {
        &self.opening
    }

    /// Passes an input to the controller; returns the actions to carry out, in order.
    ///
    /// # Errors
    /// Those of [`Controller::on`]; the input and the actions so far are in the log.
    pub fn on(&mut self, now: Time, input: Input) -> Result<Vec<Action>, Refusal> {
        self.log.input(now, &input);
        let mut actions = Vec::new();
        let heard = self.controller.on(now, input, &mut actions);
        for action in &actions {
            self.log.action(now, action);
        }
        heard.map(|()| actions)
    }

    /// Makes the controller silent until [`Input::Silence`].
    pub fn silent(&mut self, now: Time) {
        self.log.host(now, Hosting::Silent);
    }

    /// The log so far, as a complete log.
    pub fn log(&self) -> String {
        self.log.clone().finish()
    }
}
