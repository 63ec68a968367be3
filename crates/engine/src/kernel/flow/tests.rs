//! Oracles of the driver.

use super::*;
use crate::fair::{LinkId, WEIGHT};
use crate::flows::Flows;

/// All flows over one link of 8 Gb/s, dark from 2 s to 3 s.
struct Pipe;

#[derive(Clone, Copy)]
enum Light {
    Off,
    On,
}

impl FlowKernel for Pipe {
    type Event = Light;

    fn shape(&self) -> Shape {
        Shape {
            hosts: 2,
            racks: 2,
            host_rate: Rate(8_000_000_000),
            link_capacity: Rate(8_000_000_000),
        }
    }

    fn begin(&mut self, net: &mut Net, todo: &mut Todo<Light>) {
        net.add_link(Rate(8_000_000_000), LinkKind::Circuit);
        todo.schedule(Time::S * 2, Light::Off);
        todo.schedule(Time::S * 3, Light::On);
    }

    fn arrive(&mut self, flow: FlowId, _: Time, io: &mut Io, net: &mut Net, _: &mut Todo<Light>) {
        net.open(
            flow,
            io.flows.bytes[flow.index()],
            &[LinkId(0)],
            WEIGHT,
            None,
        );
        net.set_delay(flow, Time::MS);
    }

    fn handle(&mut self, _: Time, event: Light, _: &mut Io, net: &mut Net, _: &mut Todo<Light>) {
        let rate = match event {
            Light::Off => Rate(0),
            Light::On => Rate(8_000_000_000),
        };
        net.set_capacity(LinkId(0), rate);
    }

    fn apply(
        &mut self,
        _: Command,
        _: Time,
        _: &mut Net,
        _: &mut Todo<Light>,
    ) -> Result<(), Rejected> {
        Ok(())
    }

    fn soonest(&self, _: HostId, _: HostId, bytes: u64) -> Time {
        Rate(8_000_000_000).time_for(bytes) + Time::MS
    }

    fn port_rate(&self, _: PortId) -> Rate {
        Rate(8_000_000_000)
    }
}

/// 1 GB alone takes a second; two share; in the dark nothing moves.
#[test]
fn bytes_move_at_the_shared_rate_and_not_in_the_dark() {
    let mut flows = Flows::new();
    flows.push(HostId(0), HostId(1), 1_500_000_000, Time::ZERO);
    flows.push(HostId(0), HostId(1), 1_000_000_000, Time::S);
    let mut io = Io::new(flows);
    let mut fabric = FlowDriven::new(Pipe);
    fabric.advance(Time::MS * 1_500, &mut io);
    // 1 GB alone, 0.25 GB shared; 0.25 GB of the other.
    assert_eq!(io.ledger.delivered, 1_500_000_000);
    fabric.advance(Time::S * 10, &mut io);
    // Both have half a GB left at 2 s, but the first finishes just then.
    assert_eq!(io.flows.finish[0], Time::S * 2 + Time::MS);
    assert_eq!(io.flows.finish[1], Time::MS * 3_501);
    assert!(fabric.idle());
    assert_eq!(fabric.totals().circuit_bytes, Some(2_500_000_000));
}
