//! Sirius: no relay queue ever holds more than Q cells (§4.3), for any plan, keys, fibre length and
//! failures.

use crate::scenario::{scenarios, Scenario};
use crate::verdict::{ensure, Checked};
use lightloom_engine::kernel::slot::Slotted;
use lightloom_engine::{config, Fabric, Io, Time};
use lightloom_fabrics::sirius::config::{Mode, SiriusConfig};
use lightloom_fabrics::sirius::kernel::Sirius;
use lightloom_fabrics::Site;

/// The number of slots after each of which the queues are checked, busy or not.
const SLOTS: i64 = 20_000;

fn bounded(scenario: &Scenario) -> Checked {
    let (cluster, flows) = (&scenario.cluster, scenario.flows());
    let mut config: SiriusConfig = config::read(&scenario.table, "fabric").expect("a valid table");
    // The ideal mode has no Q, and request/grant has no window.
    config.mode = Mode::RequestGrant;
    config.ideal_window = SiriusConfig::default().ideal_window;
    let derived = config.derive(cluster).expect("a valid table");
    let site = Site {
        cluster,
        flows: &flows,
        seed: scenario.seed,
        threads: 1,
        library: None,
    };
    // Records the longest queue that any Q allows.
    let mut fabric = Slotted::new(Sirius::new(&config, derived, &site));
    let mut io = Io::new(flows);
    let mut faults = scenario.faults.iter().peekable();
    let mut now = Time::ZERO;
    for _ in 0..SLOTS {
        if fabric.idle() {
            let fault = faults.peek().map(|f| f.at);
            let Some(next) = io.next_arrival().into_iter().chain(fault).min() else {
                break;
            };
            now = now.max(config.slot * (next.0 / config.slot.0));
        }
        now += config.slot;
        while let Some(fault) = faults.next_if(|f| f.at <= now) {
            fabric.advance(fault.at, &mut io);
            let taken = fabric.apply(fault.command);
            taken.expect("faults of this fabric's own elements");
        }
        fabric.advance(now, &mut io);
        let longest = fabric.kernel().longest_relay_queue();
        ensure(longest <= config.queue as usize, || {
            format!(
                "a relay queue holds {longest} cells at {now}, Q is {}",
                config.queue
            )
        })?;
    }
    Ok(())
}

#[test]
fn no_relay_queue_exceeds_q() {
    let outcome = crate::runner(128).run(&scenarios("sirius"), |s| bounded(&s));
    outcome.unwrap_or_else(|e| panic!("{e}"));
}
