//! The derived values, and refusals.

use super::*;
use crate::sirius::config::Intermediates;
use lightloom_engine::{Nic, Rate};

fn cluster(racks: u32) -> Cluster {
    let server_rate = Rate(400 * Rate::GBPS.0 / 24);
    Cluster {
        racks,
        servers_per_rack: 24,
        server_rate,
        nic: Nic::Uncapped,
    }
}

fn refused(config: SiriusConfig) -> String {
    config.derive(&cluster(128)).unwrap_err().to_string()
}

#[test]
fn the_papers_set_up_is_the_default() {
    let d = SiriusConfig::default().derive(&cluster(128)).unwrap();
    assert_eq!((d.base, d.uplinks, d.cell), (8, 12, 562));
}

#[test]
fn flows_beyond_the_cell_numbers_are_refused() {
    let ideal = SiriusConfig {
        mode: Mode::Ideal,
        ..SiriusConfig::default()
    };
    let mut flows = Flows::new();
    let host = lightloom_engine::HostId;
    flows.push(host(0), host(30), 562 * Cell::SEQ_MAX, Time::ZERO);
    assert!(ideal.check_flows(562, &flows).is_ok());
    flows.push(host(0), host(30), 562 * Cell::SEQ_MAX + 1, Time::ZERO);
    let e = ideal.check_flows(562, &flows).unwrap_err().to_string();
    assert!(e.starts_with("fabric.cell = 562 B: a flow of"), "{e}");
}

#[test]
fn two_nodes_have_no_others() {
    let uplinks = Some(1);
    let others = SiriusConfig {
        intermediates: Intermediates::Others,
        uplinks,
        ..SiriusConfig::default()
    };
    let e = others.derive(&cluster(2)).unwrap_err().to_string();
    assert!(
        e.starts_with("fabric.intermediates = others: with two nodes"),
        "{e}"
    );
    assert!(others.derive(&cluster(3)).is_ok());
}

#[test]
fn a_request_is_never_answered_before_it_has_arrived() {
    // Twelve uplinks of 128 nodes: epochs of 11, 11 and 10 slots.
    let at = |ns| {
        let c = SiriusConfig {
            propagation: Time::NS * ns,
            ..SiriusConfig::default()
        };
        c.derive(&cluster(128)).unwrap().lag(&c)
    };
    assert_eq!(
        (at(0), at(1), at(1000), at(1001), at(2500)),
        (1, 2, 2, 3, 4)
    );
}

#[test]
fn a_slot_without_room_is_put_down_to_what_was_set() {
    let of = |slot_ps, guardband_ps| {
        let c = SiriusConfig {
            slot: Time(slot_ps),
            guardband: Time(guardband_ps),
            ..SiriusConfig::default()
        };
        refused(c)
    };
    let e = of(100_000, 200_000);
    assert!(
        e.starts_with("fabric.guardband = 200 ns: leaves no time to send in a slot of 100 ns"),
        "{e}"
    );
    let e = of(10_000, 10_000);
    assert!(e.starts_with("fabric.slot = 10 ns: leaves no time"), "{e}");
    // 10 ps at 50 Gb/s are half a bit.
    let e = of(100_000, 99_990);
    assert!(
        e.starts_with("fabric.guardband = 99.99 ns: leaves no time to send a byte in"),
        "{e}"
    );
}

/// Twelve uplinks of 128 nodes meet a pair every 32/3 slots; eight every 16.
#[test]
fn the_epoch_in_force_can_be_written_as_it_is_shown() {
    let of = |uplinks, slots| {
        let c = SiriusConfig {
            uplinks: Some(uplinks),
            epoch_slots: Some(slots),
            ..SiriusConfig::default()
        };
        let derived = c.derive(&cluster(128)).map_err(|e| e.to_string())?;
        Ok::<_, String>(derived.epoch)
    };
    for shown in [128.0 / 12.0, 10.67, 10.667] {
        assert_eq!(of(12, shown), Ok((128, 12)));
    }
    assert_eq!(of(12, 11.0), Ok((11, 1)));
    assert_eq!(of(12, 1100.0), Ok((1100, 1)));
    assert_eq!(of(8, 16.0), Ok((16, 1)));
    for (uplinks, slots) in [(12, 10.0), (12, 10.7), (12, 11.5), (12, 1101.0), (8, 15.9)] {
        let e = of(uplinks, slots).unwrap_err();
        assert!(e.starts_with(&format!("fabric.epoch_slots = {slots}: must be a whole")));
        assert_eq!(
            e.contains("; or nodes ÷ uplinks, 10.67; use"),
            uplinks == 12,
            "{e}"
        );
    }
    let shown: Vec<String> = [1.0 / 0.75, 32.0 / 3.0, 385.0 / 3.0, 12_345.6]
        .map(four_figures)
        .to_vec();
    assert_eq!(shown, ["1.333", "10.67", "128.3", "12346"]);
}

#[test]
fn uplinks_that_do_not_tile_are_told_the_nearest_that_do() {
    let mixed = |uplinks| SiriusConfig {
        uplinks: Some(uplinks),
        uplink_plan: UplinkPlan::Mixed,
        ..SiriusConfig::default()
    };
    for (uplinks, nearest) in [(3, "2 or 4"), (7, "4 or 8"), (127, "124 or 128")] {
        let e = refused(mixed(uplinks));
        assert!(
            e.contains(&format!("; use {nearest}, or fabric.uplink_plan")),
            "{e}"
        );
        for u in nearest.split(" or ") {
            let works = mixed(u.parse().unwrap());
            assert!(works.derive(&cluster(128)).is_ok(), "{u}");
        }
    }
}

#[test]
fn what_cannot_run_is_refused_by_name() {
    let c = SiriusConfig::default;
    let e = refused(SiriusConfig {
        slot: Time::NS * 40,
        guardband: Time::NS * 50,
        ..c()
    });
    assert_eq!(
        e,
        "fabric.slot = 40 ns: leaves no time to send beside a guardband of 50 ns \
         (fabric.guardband); raise fabric.slot or lower fabric.guardband"
    );
    let e = refused(SiriusConfig { queue: 1, ..c() });
    assert!(
        e.starts_with("fabric.queue = 1: must be from 2 to 64"),
        "{e}"
    );
    let e = refused(SiriusConfig {
        grating_ports: Some(24),
        ..c()
    });
    assert!(
        e.contains("128 nodes do not divide into groups of 24") && e.contains("such as 16"),
        "{e}"
    );
    let e = refused(SiriusConfig {
        uplinks: Some(13),
        uplink_plan: UplinkPlan::Mixed,
        ..c()
    });
    assert_eq!(
        e,
        "fabric.uplinks = 13: with uplink_plan = \"mixed\" the uplinks beyond whole banks of 8 \
         must divide 8, but 5 do not; use 12 or 16, or fabric.uplink_plan = \"wide\" or \"rotor\""
    );
    let e = refused(SiriusConfig {
        uplinks: Some(129),
        ..c()
    });
    assert!(e.starts_with("fabric.uplinks = 129"), "{e}");
    let e = refused(SiriusConfig {
        uplinks: Some(0),
        ..c()
    });
    assert!(e.ends_with("; raise fabric.uplinks"), "{e}");
    let e = refused(SiriusConfig {
        cell: Some(Bytes(563)),
        ..c()
    });
    assert!(e.contains("at most 562 B"), "{e}");
    let e = refused(SiriusConfig {
        channel_rate: Rate(33 * Rate::GBPS.0),
        ..c()
    });
    assert!(e.starts_with("fabric.channel_rate = 33 Gb/s"), "{e}");
    let e = refused(SiriusConfig {
        recovery: Recovery::Reschedule,
        uplink_plan: UplinkPlan::Wide,
        ..c()
    });
    assert!(
        e.starts_with("fabric.recovery = \"reschedule\": gratings"),
        "{e}"
    );
    let many = SiriusConfig {
        recovery: Recovery::Reschedule,
        ..c()
    };
    let e = many.derive(&cluster(2048)).unwrap_err().to_string();
    assert!(e.contains("at most 1024 nodes"), "{e}");
}
