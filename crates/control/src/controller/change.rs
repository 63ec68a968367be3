//! A change in progress: the steps that may begin, and whether the change has ended.

use super::messages::StepId;
use crate::circuits::Circuits;
use crate::order::Step;
use crate::policy::Target;
use crate::routes::{Pair, Routes};

/// A change in progress.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) target: Target,
    pub(super) order: &'static [(Step, &'static [usize])],
    /// The progress of the steps, by position in the order.
    pub(super) steps: Vec<Progress>,
    /// The remaining work of the steps in progress: pairs to drain, circuits to darken and to
    /// light.
    pub(super) drain: Vec<Pair>,
    pub(super) dark: Darkening,
    pub(super) light: Circuits,
    pub(super) failed: bool,
}

/// Circuits that were ordered to go dark, and the previous routes, which are valid again if that
/// step fails.
#[derive(Clone, Debug, Default)]
pub(super) struct Darkening {
    pub(super) circuits: Circuits,
    pub(super) routes: Routes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Waiting,
    UnderWay(StepId),
    Over,
}

impl Change {
    pub(super) fn of(
        target: Target,
        order: &'static [(Step, &'static [usize])],
        steps: Vec<Progress>,
    ) -> Change {
        Change {
            target,
            order,
            steps,
            drain: Vec::new(),
            dark: Darkening::default(),
            light: Circuits::default(),
            failed: false,
        }
    }

    /// Whether a step may begin; after a failure none may.
    pub(super) fn may_begin(&self, at: usize) -> bool {
        let over = |&before: &usize| self.steps[before] == Progress::Over;
        let waits = self.steps[at] == Progress::Waiting;
        waits && !self.failed && self.order[at].1.iter().all(over)
    }

    pub(super) fn is_over(&self) -> bool {
        let under_way = |p: &Progress| matches!(p, Progress::UnderWay(_));
        match self.failed {
            true => !self.steps.iter().any(under_way),
            false => self.steps.iter().all(|p| *p == Progress::Over),
        }
    }
}
