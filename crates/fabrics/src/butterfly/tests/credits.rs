//! Conservation of credits: for every virtual channel of a wire, each place in the buffer at its
//! end is free, taken by a flit on the wire or in the buffer, or represented by a returning credit.

use super::super::hosts::NONE;
use super::traffic::{packets, Pattern};
use super::*;

impl Network {
    /// Checks every virtual channel of every wire, those of hosts included.
    pub fn check_credits(&self) -> Result<(), String> {
        let mut places: Vec<u32> = self.credits.iter().map(|&c| c as u32).collect();
        let upstream = |vc: usize| {
            let (channel, number) = self.bits.parts(vc);
            (self.peer[channel] as usize) << self.bits.vc | number
        };
        for flit in self.flits.items() {
            places[upstream(flit.to as usize)] += 1;
        }
        for (_, flit) in self.output_queues.items().filter(|of| of.1.to != NONE) {
            places[upstream(flit.to as usize)] += 1;
        }
        for vc in self.returning.items() {
            places[vc as usize] += 1;
        }
        for (vc, lane) in self.lanes.iter().enumerate() {
            let (channel, _) = self.bits.parts(vc);
            if self.peer[channel] != NONE {
                places[upstream(vc)] += lane.buffered as u32;
            }
        }
        for (vc, &places) in places.iter().enumerate() {
            if places != self.vc_buffer as u32 {
                return Err(format!(
                    "virtual channel {vc}: {places} of {}",
                    self.vc_buffer
                ));
            }
        }
        self.check_queues()
    }

    /// Checks the redundant counts: flits of routers, and queues of outputs.
    fn check_queues(&self) -> Result<(), String> {
        let mut held = vec![0; self.held.len()];
        let mut queue = vec![0; self.queue.len()];
        for (out, queue) in queue.iter_mut().enumerate() {
            let (_, port) = self.bits.ends(out);
            if (self.topology.concentration..self.topology.radix).contains(&port) {
                let vcs = 0..self.classes[0].count_ones() as usize;
                let used = |v| (self.vc_buffer - self.credits[out << self.bits.vc | v]) as u32;
                *queue = vcs.map(used).sum();
            }
        }
        for (vc, lane) in self.lanes.iter().enumerate() {
            let (channel, _) = self.bits.parts(vc);
            let (router, _) = self.bits.ends(channel);
            held[router] += lane.buffered as u32;
            if lane.packets > 0 {
                queue[router << self.bits.port | lane.output as usize] += lane.left as u32;
            }
        }
        for (out, _) in self.output_queues.items() {
            held[self.bits.ends(out).0] += 1;
        }
        match held == self.held && queue == self.queue {
            true => Ok(()),
            false => Err("flits of routers or queues of outputs".to_owned()),
        }
    }
}

/// Checks often during the run, and at its end, when all credits have returned.
#[test]
fn credits_are_conserved() {
    for (hosts, routing, keys) in [
        (64, "dimension-order", json!({})),
        (64, "valiant", json!({"vcs": 3, "vc_buffer": 3})),
        (
            64,
            "ugal",
            json!({"spacing": "5 m", "router_latency": "100 ns", "input_speedup": 2}),
        ),
        (
            48,
            "ugal",
            json!({"routers": [2, 3, 4], "concentration": 2, "host_wire": "30 m"}),
        ),
        (
            12,
            "valiant",
            json!({"flow_control": "virtual-cut-through", "vc_buffer": 8}),
        ),
        (64, "ugal", json!({"speedup": 2, "output_buffer": 3})),
        (64, "valiant", json!({"speedup": 3, "input_speedup": 2})),
    ] {
        let table = bare(routing, keys);
        let flows = packets(Pattern::Uniform, hosts, 1.2, (64, 8), 400);
        let mut fabric = network(hosts, &table, &flows);
        let mut io = Io::new(flows);
        let mut now = Time::ZERO;
        while !(fabric.idle() && io.exhausted()) {
            now += Time(7 * CYCLE.0 + 1);
            fabric.advance(now, &mut io);
            let checked = fabric.kernel().check_credits();
            checked.unwrap_or_else(|e| panic!("{routing} at {now}: {e}"));
            assert!(now < Time::MS, "{routing} stands still");
        }
        fabric.advance(now + Time::US * 10, &mut io);
        let network = fabric.kernel();
        assert!(network.credits.iter().all(|&c| c == network.vc_buffer));
    }
}

/// The check detects a lost credit, an additional credit and an additional flit.
#[test]
fn the_check_of_credits_can_fail() {
    let flows = packets(Pattern::Uniform, 16, 0.5, (64, 8), 50);
    let mut fabric = network(16, &bare("ugal", json!({})), &flows);
    let mut io = Io::new(flows.clone());
    fabric.advance(CYCLE * 30, &mut io);
    assert_eq!(fabric.kernel().check_credits(), Ok(()));
    let cluster = cluster(16);
    let table = (ENTRY.resolve)(&bare("ugal", json!({})), &cluster).expect("good");
    let config: ButterflyConfig = config::read(&table, "fabric").expect("reads back");
    let site = Site {
        cluster: &cluster,
        flows: &flows,
        seed: 1,
        threads: 1,
        library: None,
    };
    let empty = || Network::new(&config, Bound::new(&config, &cluster), &site);
    assert_eq!(empty().check_credits(), Ok(()));
    let spoil: [fn(&mut Network); 3] = [
        |n| n.credits[17] -= 1,
        |n| n.credits[17] += 1,
        |n| n.lanes[0].buffered += 1,
    ];
    for spoil in spoil {
        let mut network = empty();
        spoil(&mut network);
        assert!(network.check_credits().is_err());
    }
}
