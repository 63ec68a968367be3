//! Settings of a hybrid network that leave its circuits, or the transport over them, too little
//! time. They are noted before a run.

use crate::findings::Finding;
use lightloom_control::policy::Target;
use lightloom_engine::Time;

/// The times of a table that are compared, by their keys.
pub struct Times {
    /// Time from one decision to the next.
    pub interval: Time,
    /// The time for which a circuit is dark before it is lit, and the keys that set it.
    pub dark: (Time, &'static str),
    /// Time from first light of a circuit until a flow fills it, and the key.
    pub ramp: (Time, &'static str),
    /// Time from a circuit's going dark until its flows fill the electrical network, and the key;
    /// `None` without an electrical network.
    pub dip: Option<(Time, &'static str)>,
    /// Time for which the circuits of a schedule are lit in each slot, if they take turns.
    pub day: Option<Time>,
}

impl Times {
    /// Notes on settings that limit the results of a network whose circuits change.
    pub fn findings(&self) -> Vec<Finding> {
        let (dark, by) = self.dark;
        if self.day.is_none() && self.interval <= dark {
            return vec![Finding {
                parameter: "interval",
                value: self.interval.to_string(),
                effect: format!(
                    "a circuit that changes at every decision is never lit, because it is dark for \
                     {dark}"
                ),
                remedy: format!("raise it above {dark}, or lower {by}"),
            }];
        }
        let lit = self.day.unwrap_or(self.interval - dark);
        self.ramps(lit).into_iter().chain(self.dips()).collect()
    }

    fn ramps(&self, lit: Time) -> Option<Finding> {
        let (ramp, parameter) = self.ramp;
        let longer = match self.day {
            Some(_) => "lengthen the days of the policy".to_owned(),
            None => format!("raise fabric.interval above {}", self.dark.0 + ramp),
        };
        (ramp > lit).then(|| Finding {
            parameter,
            value: ramp.to_string(),
            effect: format!(
                "a circuit is lit for {lit} at a time and goes dark before a flow reaches its rate"
            ),
            remedy: format!("{longer}, or lower it; 0 s is ideal"),
        })
    }

    fn dips(&self) -> Option<Finding> {
        let (dip, parameter) = self.dip?;
        (self.day.is_none() && dip > self.interval).then(|| Finding {
            parameter,
            value: dip.to_string(),
            effect: format!(
                "a flow whose circuit goes dark has no share of the electrical network before the \
                 next decision, {} later",
                self.interval
            ),
            remedy: format!("raise fabric.interval above {dip}, or lower it; 0 s is ideal"),
        })
    }
}

/// Time for which the circuits of a target are lit in each slot; `None` for permanent circuits.
pub fn shortest_day(target: &Target) -> Option<Time> {
    match target {
        Target::Schedule(schedule) => schedule.slots.iter().map(|slot| slot.day).min(),
        Target::Network { .. } => None,
    }
}
