//! The fabric executes the timetables of `tests/policies`, like the fake switch, and logs the
//! expected actions.

#[path = "../../../../../tests/policies/script.rs"]
mod script;

use super::*;
use crate::hybrid::computation::Computation;
use crate::hybrid::kernel::Hybrid;
use crate::hybrid::setup::{Delays, DemandFrom, Monitoring, Pushing, Setup, Transport};
use crate::hybrid::tree::Tree;
use lightloom_control::host::Happening;
use lightloom_control::log;
use lightloom_control::words::in_words;
use lightloom_engine::kernel::flow::FlowDriven;
use lightloom_engine::Reports;
use script::Script;
use std::sync::{Arc, Mutex};

/// Steps of the simulated switch never fail.
const FAILS: [&str; 2] = ["cthrough-failed-light", "hydra-failed-light"];

#[test]
fn the_fabric_runs_every_script() {
    let (failing, scripts): (Vec<Script>, Vec<Script>) =
        { script::all().into_iter() }.partition(|script| script.fails().is_some());
    let names: Vec<&str> = failing.iter().map(|script| script.name.as_str()).collect();
    assert_eq!(names, FAILS);
    assert!(scripts.len() >= 9, "only {} scripts", scripts.len());
    for script in &scripts {
        script.compare(&actions(script));
    }
}

/// The actions of the fabric's controller.
fn actions(script: &Script) -> Vec<(Time, String)> {
    let told = Arc::new(Mutex::new(Default::default()));
    let kernel = Hybrid::new(setup(script), 0).reporting(Arc::clone(&told));
    let mut fabric = FlowDriven::new(kernel);
    fabric.record_control("a script");
    let mut io = Io::new(Flows::new());
    for (at, happening) in &script.given {
        fabric.advance(*at, &mut io);
        let port = |&node: &u32, &plane: &u32| Element::Port { node, plane };
        let fail = |element| Command::Fail { element, loss: 1.0 };
        let command = match happening {
            Happening::Demand(report) => {
                *told.lock().expect("the lock is not poisoned") = report.clone();
                continue;
            }
            Happening::PortDown(rack, plane) => fail(port(rack, plane)),
            Happening::PortUp(rack, plane) => Command::Repair(port(rack, plane)),
            Happening::Silent(_) => fail(Element::Controller),
            Happening::Hears => Command::Repair(Element::Controller),
            other => unreachable!("no script says {other:?}"),
        };
        fabric.apply(command).expect("the fabric has the part");
    }
    // Events at the end are included.
    fabric.advance(script.time("until") + Time(1), &mut io);
    let record = fabric.control_record().expect("a controller");
    let log = log::read(&record.log.expect("it was recorded")).expect("a whole log");
    let said = |e: &log::Entry| Some((e.at, in_words(e.action()?)));
    log.entries.iter().filter_map(said).collect()
}

fn setup(script: &Script) -> Setup {
    let cluster = Cluster {
        racks: script.hardware.racks,
        servers_per_rack: 1,
        ..FOUR
    };
    Setup {
        title: "a script",
        cluster,
        tree: Tree::of_servers(&cluster),
        hardware: script.hardware,
        policy: script.policy(),
        described: script.table(),
        order: script.order(),
        initial: None,
        timing: script.timing(),
        computation: Computation::Given(script.time("computing")),
        monitoring: Monitoring {
            demand: DemandFrom::Announced,
            buffer: u64::MAX,
            thresholds: None,
            smoothing: 1.0,
            most: u64::MAX,
        },
        delays: Delays {
            settle: script.time("settle"),
            link_up: Time::ZERO,
            retag: script.time("retag"),
            rule: script.time("rule"),
            rules: None,
            pushing: Pushing::Sequential,
        },
        transport: Transport {
            ramp: Time::ZERO,
            dip: Time::ZERO,
        },
        optical_weight: None,
        give_up: None,
    }
}
