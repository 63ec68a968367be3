//! A policy, a switch, the durations of actions, and events.

use crate::anything::{Anything, ANYTHING};
use crate::mishaps::happenings;
use crate::policies::tables;
use lightloom_control::controller::{Controller, Kind, Timing};
use lightloom_control::demand::{Estimation, Estimator, Thresholds};
use lightloom_control::fake::Fake;
use lightloom_control::hardware::Hardware;
use lightloom_control::host::{Failure, Happening};
use lightloom_control::log::{Header, FORMAT};
use lightloom_control::order::Order;
use lightloom_control::policies::find;
use lightloom_control::policy::{Demand, Policy, SwitchView, Target};
use lightloom_engine::{Refusal, Time};
use proptest::prelude::*;
use serde_json::Value;
use std::sync::{Arc, Mutex};

/// One of them.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub kind: &'static str,
    pub table: Value,
    pub hardware: Hardware,
    pub order: Option<Order>,
    pub timing: Timing,
    pub estimation: Estimation,
    pub takes: Vec<(Kind, Vec<Option<Time>>)>,
    pub failures: Vec<Failure>,
    pub happenings: Vec<(Time, Happening)>,
    /// The last target of the policy.
    pub wanted: Wanted,
}

pub type Wanted = Arc<Mutex<Option<Target>>>;

/// A policy that reports its targets.
struct Watched {
    policy: Box<dyn Policy>,
    wanted: Wanted,
}

impl Policy for Watched {
    fn decide(&mut self, seen: &Demand, switch: &SwitchView) -> Result<Target, Refusal> {
        let target = self.policy.decide(seen, switch)?;
        *self.wanted.lock().expect("the lock is not poisoned") = Some(target.clone());
        Ok(target)
    }
    fn order(&self) -> Order {
        self.policy.order()
    }
}

/// From this time on no random event occurs.
pub const CALM: Time = Time(150 * Time::MS.0);
/// Long enough for two intervals, whatever step was in progress.
pub const END: Time = Time(450 * Time::MS.0);

pub const STEPS: [Kind; 6] = [
    Kind::Drain,
    Kind::Dark,
    Kind::Light,
    Kind::Route,
    Kind::Enter,
    Kind::Follow,
];

impl Scenario {
    pub fn policy(&self) -> Box<dyn Policy> {
        if self.kind == ANYTHING {
            return Box::new(Anything::build(&self.table));
        }
        let entry = find(self.kind, "policy").expect("registered");
        (entry.build)(&self.table, &self.hardware).expect("a table that fits")
    }

    pub fn controller(&self) -> Controller<Box<dyn Policy>> {
        let watched = Watched {
            policy: self.policy(),
            wanted: Arc::clone(&self.wanted),
        };
        let policy: Box<dyn Policy> = Box::new(watched);
        let estimator = Estimator::new(self.estimation);
        let controller = Controller::new(policy, self.hardware, self.timing, estimator);
        match self.order {
            Some(order) => controller.with_order(order),
            None => controller,
        }
    }

    /// The order of its changes.
    pub fn order(&self) -> Order {
        self.order.unwrap_or_else(|| self.policy().order())
    }

    pub fn fake(&self) -> Fake {
        let fake = Fake::new(self.hardware);
        { self.takes.iter() }.fold(fake, |fake, (kind, times)| {
            fake.taking(*kind, times.clone())
        })
    }

    pub fn header(&self) -> Header {
        let mut policy = self.table.clone();
        policy["kind"] = self.kind.into();
        Header {
            format: FORMAT.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            host: "a test".to_owned(),
            policy,
            order: self.order,
            hardware: self.hardware,
            timing: self.timing,
            estimation: self.estimation,
            shortest_slot: None,
            night: None,
        }
    }
}

/// Whole milliseconds, so that events coincide.
fn ms(most: i64) -> impl Strategy<Value = Time> {
    (0..most).prop_map(|ms| Time::MS * ms)
}

fn takes() -> impl Strategy<Value = Vec<(Kind, Vec<Option<Time>>)>> {
    let times = || prop::collection::vec(prop::option::weighted(0.8, ms(12)), 0..4);
    let kinds = STEPS.into_iter().chain([Kind::Measure]);
    kinds.map(|kind| (Just(kind), times())).collect::<Vec<_>>()
}

fn failures() -> impl Strategy<Value = Vec<Failure>> {
    let failure =
        (prop::sample::select(STEPS.to_vec()), 0usize..4).prop_map(|(kind, nth)| Failure {
            kind,
            nth,
            why: "a mirror sticks".to_owned(),
        });
    prop_oneof![Just(Vec::new()), prop::collection::vec(failure, 1..6)]
}

fn estimation(racks: u32) -> impl Strategy<Value = Estimation> {
    let thresholds = (0u64..200_000, 0u64..200_000);
    let thresholds = thresholds.prop_map(|(queue_above, change_above)| Thresholds {
        queue_above,
        change_above,
    });
    let smoothing = prop_oneof![Just(1.0), Just(0.3)];
    (prop::option::of(thresholds), smoothing).prop_map(move |(thresholds, smoothing)| Estimation {
        thresholds,
        smoothing,
        ..Estimation::plain(racks, 2)
    })
}

/// Scenarios of a policy.
pub fn scenarios(kind: &'static str) -> impl Strategy<Value = Scenario> {
    let orders = Order::NAMED.map(|(_, order)| order).to_vec();
    let fitted = tables(kind).prop_flat_map(|(hardware, table)| {
        let estimation = estimation(hardware.racks);
        (
            Just(hardware),
            Just(table),
            estimation,
            happenings(hardware),
        )
    });
    let times = (5i64..30, ms(20));
    let order = prop::option::of(prop::sample::select(orders));
    (fitted, order, times, takes(), failures()).prop_map(
        move |((hardware, table, estimation, happenings), order, times, takes, failures)| {
            Scenario {
                kind,
                table,
                hardware,
                order,
                timing: Timing {
                    interval: Time::MS * times.0,
                    computation_delay: times.1,
                },
                estimation,
                takes,
                failures,
                happenings,
                wanted: Wanted::default(),
            }
        },
    )
}
