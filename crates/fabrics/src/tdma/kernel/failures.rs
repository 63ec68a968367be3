//! Switches that die: a plane whose switch is dead lights no circuit from its next night on.
//!
//! What its last day carries arrives. All racks know at once who meets whom no more: nobody
//! relays for a rack that it would never meet. What a relay holds for such a rack waits for the
//! repair, and so does what a source has for a rack that it reaches over no relay either.

use super::{Tdma, Todo};
use lightloom_engine::{Command, Element, Rejected, Time};

impl Tdma {
    /// A part fails, or works again.
    pub(super) fn set(
        &mut self,
        command: Command,
        now: Time,
        todo: &mut Todo,
    ) -> Result<(), Rejected> {
        let (element, works) = match command {
            Command::Fail { element, .. } => (element, false),
            Command::Repair(element) => (element, true),
        };
        self.check(element)?;
        if let Command::Fail { loss, .. } = command {
            refuse_grey(element, loss)?;
        }
        match (&mut self.setup.control, element) {
            (Some(control), Element::Controller) => {
                let asked = control.set(works, now);
                self.ask(asked, now, todo);
            }
            (_, Element::Plane(plane)) => {
                self.planes[plane as usize].works = works;
                self.tell_relays();
            }
            _ => unreachable!("other parts were refused"),
        }
        Ok(())
    }

    /// Refuses parts that this network has not.
    fn check(&self, element: Element) -> Result<(), Rejected> {
        let title = self.setup.title;
        let planes = self.planes.len() as u32;
        match (&self.setup.control, element) {
            (Some(_), Element::Controller) => Ok(()),
            (Some(_), _) => Err(Rejected(format!(
                "in {title} the controller alone can fail; write element = \"controller\", or \
                 remove it"
            ))),
            (None, Element::Plane(plane)) if plane < planes => Ok(()),
            (None, Element::Plane(_)) => {
                let last = planes - 1;
                Err(Rejected(format!(
                    "{title} has planes 0 to {last}; lower it"
                )))
            }
            (None, Element::Controller) => {
                Err(Rejected(format!("{title} has no controller; remove it")))
            }
            (None, _) => Err(Rejected(format!(
                "in {title} the rotor switches alone can fail; write element = \"plane\", or \
                 remove it"
            ))),
        }
    }

    /// Tells relays which racks meet over the switches that work; nothing while all do.
    fn tell_relays(&mut self) {
        if self.relays.is_none() && self.hosts.is_none() {
            return;
        }
        let meet = match self.planes.iter().all(|plane| plane.works) {
            true => Vec::new(),
            false => self.who_meet(),
        };
        match (&mut self.relays, &mut self.hosts) {
            (Some(relays), _) => relays.meet(meet),
            (None, Some(hosts)) => hosts.meet(meet),
            (None, None) => {}
        }
    }

    /// By racks, whether they meet over a switch that works.
    fn who_meet(&self) -> Vec<bool> {
        let racks = self.racks as usize;
        let mut meet = vec![false; racks * racks];
        for plane in self.planes.iter().filter(|plane| plane.works) {
            let schedule = plane.next.as_ref().or(plane.schedule.as_ref());
            let slots = schedule.iter().flat_map(|schedule| &schedule.slots);
            for (from, &to) in slots.flat_map(|slot| slot.permutation.iter().enumerate()) {
                meet[from * racks + to as usize] |= from != to as usize;
            }
        }
        meet
    }
}

fn refuse_grey(element: Element, loss: f64) -> Result<(), Rejected> {
    let what = match element {
        Element::Controller => "the controller fails",
        _ => "switches fail",
    };
    match loss < 1.0 {
        true => Err(Rejected(format!(
            "{what} wholly, not with loss {loss}; set its loss to 1"
        ))),
        false => Ok(()),
    }
}
